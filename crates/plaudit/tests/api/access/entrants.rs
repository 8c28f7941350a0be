//! What entrants see and write.

use serde_json::{Value, json};

use super::{Person, prepare, user_of};
use crate::both_engines;
use crate::harness::check::error_names;
use crate::harness::{Answer, JSON};

/// Every path of which an entrant's answer is compared.
const READS: &[&str] = &[
    "/entry",
    "/entry?season=all&include=entry_fields,contributors,attachments&per_page=2",
    "/entry?cursor=&per_page=1&order=title",
    "/entry?order=local_id&dir=desc",
    "/entry/summary?season=all",
    "/contributor?season=all",
    "/contributor?order=FieldHiC",
    "/attachment?season=all",
    "/order?season=all",
    "/user",
    "/user?entries=current_season",
    "/category?order=entry_count",
    "/field?season=all",
    "/entry/EntryHid",
    "/contributor/ContrHid",
    "/user/UserEntr",
    "/account",
    "/chapter/ChapterN",
];

/// The answers of reads, each with its tag.
async fn answers(person: &Person<'_>) -> Vec<(u16, String, Option<String>)> {
    let mut found = Vec::new();
    for path in READS {
        let answer = person.get(path).await;
        found.push((answer.status, answer.text().to_owned(), answer.header("etag").map(str::to_owned)));
    }
    found
}

fn fields_of(entry: &Value) -> Vec<&str> {
    let mut fields: Vec<&str> =
        entry["entry_fields"].as_array().unwrap().iter().map(|answer| answer["slug"].as_str().unwrap()).collect();
    fields.sort_unstable();
    fields
}

async fn tag(person: &Person<'_>, path: &str) -> String {
    person.get(path).await.expect(200).header("etag").unwrap().to_owned()
}

both_engines! {
    async fn an_entrant_sees_what_is_the_entrants(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        assert_eq!(person.list("/entry?season=all").await, ["EntryHid", "EntryOld", "EntryOne", "EntryTwo"]);
        assert_eq!(person.list("/contributor?season=all").await, ["ContrHid", "Contribu"]);
        assert_eq!(person.list("/attachment?season=all").await, ["TokenOfTheFirstFileOfAll"]);
        let orders = person.list("/order?season=all&deleted=included").await;
        assert_eq!(orders, ["OrderDel", "OrderOld", "OrderOne", "OrderTst", "OrderTwo"]);
        assert_eq!(person.list("/user").await, ["UserEntr"]);
        for path in ["/entry/EntryOne", "/contributor/Contribu", "/attachment/TokenOfTheFirstFileOfAll", "/user/UserEntr", "/user/ase@example.org", "/file/TokenOfTheFirstFileOfAll", "/file/TokenOfTheLogoFileOfAllX"] {
            person.get(path).await.expect(200);
        }
        let other = Person::of(&server, "UserOthe").await;
        assert_eq!(other.list("/entry?season=all").await, ["EntryOth"]);
        assert_eq!(other.list("/contributor?season=all").await, ["ContrOth"]);
        assert_eq!(other.list("/order?season=all").await, ["OrderMix", "OrderNor", "OrderOth"]);
        let unknown = other.get("/entry/NobodyAA").await.expect(404);
        for path in ["/entry/EntryOne", "/contributor/Contribu", "/attachment/TokenOfTheFirstFileOfAll", "/user/UserEntr", "/user/ase@example.org", "/file/TokenOfTheFirstFileOfAll", "/file/TokenOfTheLogoFileOfAllX"] {
            assert_eq!(other.get(path).await.expect(404).text(), unknown.text(), "{path}");
        }
        let summary = other.get("/entry/summary").await.expect(200).json();
        assert_eq!((&summary["total"], summary["chapters"].as_array().unwrap().len()), (&json!(1), 1));
        let categories = other.get("/category?per_page=100").await.expect(200).json();
        let count = |slug: &str| {
            let data = categories["data"].as_array().unwrap();
            data.iter().find(|category| category["slug"] == slug).unwrap()["entry_count"].clone()
        };
        assert_eq!((count("CategChi"), count("CategPar")), (json!(1), json!(0)));
    }

    async fn judges_without_assignments_and_guests_see_no_entries(server) {
        prepare(&server).await;
        for role in ["judge", "lead_judge", "voter"] {
            let person = Person::of(&server, &user_of(role)).await;
            assert_eq!(person.list("/entry?season=all").await, [""; 0], "{role}");
            person.get("/entry/EntryOne").await.expect(404);
        }
        for role in ["guest", "bookkeeper"] {
            Person::of(&server, &user_of(role)).await.get("/entry").await.expect(403);
        }
        let bookkeeper = Person::of(&server, &user_of("bookkeeper")).await;
        assert_eq!(bookkeeper.list("/order?season=all").await.len(), 7);
    }

    async fn answers_that_applicants_may_not_read_are_shown_to_others_alone(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        let whole = server.get("/entry/EntryHid").await.expect(200).json();
        assert_eq!(fields_of(&whole), ["FieldHid", "FieldRea", "FieldTxt", "FieldWri"]);
        let entry = person.get("/entry/EntryHid").await.expect(200);
        assert!(!entry.text().contains("secret") && !entry.text().contains("written"));
        assert_eq!(fields_of(&entry.json()), ["FieldRea", "FieldTxt"]);
        for path in ["/contributor/ContrHid", "/contributor?season=all", "/entry?include=entry_fields,contributors"] {
            let shown = person.get(path).await.expect(200);
            assert!(!shown.text().contains("secret") && shown.text().contains("shown"), "{path}");
        }
        assert_eq!(person.list("/field?season=all").await.iter().filter(|slug| slug.starts_with("FieldHi")).count(), 0);
        person.get("/field/FieldHid").await.expect(404);
        person.get("/field/FieldWri").await.expect(200);
        // An order by answers that are not shown is no order.
        let by = |order: &str| format!("/contributor?season=all&order={order}");
        let (hidden, none) = (person.get(&by("FieldHiC")).await.json(), person.get(&by("NobodyAA")).await.json());
        assert_eq!(hidden["data"], none["data"]);
    }

    async fn nothing_that_an_entrant_is_answered_tells_of_the_rest(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        let before = answers(&person).await;
        server.put("/entry/EntryOth", r#"{"title":"Another"}"#).await.expect(200);
        server.put("/entry/EntryHid/update-field/FieldHid", r#"{"value":"other secret"}"#).await.expect(200);
        server.post("/entry", r#"{"category":"CategPar","entrant":"UserOthe","season":"SeasonAc","title":"T"}"#).await.expect(201);
        server.post("/contributor", r#"{"entry":"EntryOth","tab":"TabContr"}"#).await.expect(201);
        server.post("/user", r#"{"first_name":"N","last_name":"N","email":"n@example.org","password":"long enough pass"}"#).await.expect(201);
        server.post("/chapter", r#"{"season":"SeasonOl","status":"active","translated":{"name":{"en_GB":"C"}}}"#).await.expect(201);
        let after = answers(&person).await;
        for (path, (before, after)) in READS.iter().zip(before.iter().zip(&after)) {
            // A hidden answer changes the time of its entry, which is shown.
            if (path.contains("summary") || !path.starts_with("/entry")) && !path.contains("/category") {
                assert_eq!(before, after, "{path}");
            }
        }
    }

    async fn a_tag_is_of_what_is_shown_in_its_format_and_languages(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        let get = async |headers: &[(&str, &str)]| {
            person.ask("GET", "/entry/EntryHid", None, headers).await.header("etag").unwrap().to_owned()
        };
        let json = get(&[]).await;
        assert_ne!(json, get(&[("accept", crate::harness::XML)]).await);
        assert_ne!(json, get(&[("x-api-language", "de_DE")]).await);
        assert_eq!(person.ask("GET", "/entry/EntryHid", None, &[("if-none-match", &json)]).await.status, 304);
        let list = tag(&person, "/entry").await;
        server.put("/entry/EntryOth", r#"{"title":"Another"}"#).await.expect(200);
        assert_eq!((tag(&person, "/entry/EntryHid").await, tag(&person, "/entry").await), (json.clone(), list.clone()));
        person.put("/entry/EntryHid", r#"{"title":"New"}"#).await.expect(200);
        assert_ne!(tag(&person, "/entry/EntryHid").await, json);
        assert_ne!(tag(&person, "/entry").await, list);
    }

    async fn a_condition_of_a_write_is_of_what_is_shown(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        for (path, first, second) in [
            ("/entry/EntryHid", r#"{"title":"A"}"#, r#"{"title":"B"}"#),
            ("/contributor/ContrHid", r#"{"fields":{"FieldCtr":"A"}}"#, r#"{"fields":{"FieldCtr":"B"}}"#),
            ("/attachment/TokenOfTheFirstFileOfAll", r#"{"order":7}"#, r#"{"order":8}"#),
        ] {
            let known = tag(&person, path).await;
            let xml = person.ask("GET", path, None, &[("accept", crate::harness::XML)]).await.header("etag").unwrap().to_owned();
            server.put("/entry/EntryOth", r#"{"title":"Another"}"#).await.expect(200);
            person.ask("PUT", path, Some(first), &[("if-match", &known)]).await.expect(200);
            for stale in [&known, &xml] {
                person.ask("PUT", path, Some(second), &[("if-match", stale)]).await.expect(412);
            }
            let now = person.put(path, first).await.expect(200).header("etag").unwrap().to_owned();
            assert_eq!(now, tag(&person, path).await, "{path}");
            person.ask("PUT", path, Some(second), &[("if-match", &now)]).await.expect(200);
            person.ask("PUT", path, Some(second), &[("if-match", "*")]).await.expect(200);
        }
    }

    async fn an_entrant_writes_what_is_for_applicants_to_write(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserEntr").await;
        let body = r#"{"title":"T","category":"CategPar","chapter":"ChapterN","entry_fields":{"FieldTxt":"x","FieldWri":"y"}}"#;
        let entry = person.put("/entry/EntryHid", body).await.expect(200).json();
        assert_eq!((&entry["title"], &entry["chapter"]["slug"]), (&json!("T"), &json!("ChapterN")));
        assert_eq!(fields_of(&entry), ["FieldRea", "FieldTxt"]);
        person.put("/entry/EntryHid/update-title", r#"{"title":"U"}"#).await.expect(200);
        person.put("/entry/EntryHid/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        person.put("/entry/EntryHid/update-category", r#"{"category":"CategChi"}"#).await.expect(200);
        person.put("/entry/EntryHid/update-field/FieldTxt", r#"{"value":"z"}"#).await.expect(200);
        let refused = r#"{"entrant":"UserEntr","moderation_status":"approved","custom_deadline":"2030-12-31 17:00","grant_status":"g","grant_end_date":"2030-01-01","status":"in_progress","entry_fields":{"FieldRea":"x","FieldHid":1,"NobodyAA":"x"}}"#;
        let errors = person.put("/entry/EntryHid", refused).await.expect(422).json()["errors"].clone();
        let mut names: Vec<&String> = errors.as_object().unwrap().keys().collect();
        names.sort_unstable();
        assert_eq!(names, ["custom_deadline", "entrant", "entry_fields.FieldHid", "entry_fields.FieldRea", "entry_fields.NobodyAA", "grant_end_date", "grant_status", "moderation_status", "status"]);
        assert_eq!(errors["entry_fields.FieldHid"], errors["entry_fields.NobodyAA"]);
        person.put("/entry/EntryHid/update-field/FieldRea", r#"{"value":"z"}"#).await.expect(422);
        person.put("/entry/EntryHid/update-field/FieldHid", r#"{"value":"z"}"#).await.expect(404);
        for path in ["/entry/EntryOth", "/entry/EntryOth/update-title", "/contributor/ContrOth"] {
            person.put(path, r#"{"title":"T"}"#).await.expect(404);
        }
        let other = r#"{"entry":"EntryOth","tab":"TabContr"}"#;
        let unknown = other.replace("EntryOth", "NobodyAA");
        let [other, unknown] = [person.post("/contributor", other).await.expect(422), person.post("/contributor", &unknown).await.expect(422)];
        assert_eq!(other.text().replace("EntryOth", "NobodyAA"), unknown.text());
        let made = person.post("/contributor", r#"{"entry":"EntryHid","tab":"TabContr","fields":{"FieldCtr":"x"}}"#).await.expect(201).json();
        let path = format!("/contributor/{}", made["slug"].as_str().unwrap());
        person.put(&path, r#"{"fields":{"FieldHiC":"x"}}"#).await.expect(422);
        person.ask("DELETE", &path, None, &[]).await.expect(204);
        person.ask("DELETE", "/entry/EntryHid", None, &[]).await.expect(403);
    }

    async fn an_entrant_submits_without_what_applicants_may_not_answer(server) {
        prepare(&server).await;
        server.import(&crate::harness::fixture::of_account_a(r#"{"kind":"field","slug":"FieldReq","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"R"},"required":true,"applicant_read_access":false,"applicant_write_access":false}"#)).await;
        let person = Person::of(&server, "UserEntr").await;
        server.put("/entry/EntryHid", r#"{"custom_deadline":"2030-12-31 17:00"}"#).await.expect(200);
        let refused = server.put("/entry/EntryHid", r#"{"status":"submitted"}"#).await.expect(422).json();
        assert!(refused["errors"]["entry_fields.FieldReq"].is_array(), "{refused}");
        let entry = person.put("/entry/EntryHid", r#"{"status":"submitted"}"#).await.expect(200).json();
        assert_eq!(entry["status"], "submitted");
    }

    async fn an_auditor_who_enters_changes_own_entries_alone(server) {
        prepare(&server).await;
        let roles = ["auditor", "entrant"].map(|role| user_of(role).replace("UserOf", "RoleOf"));
        server.put("/user/UserEntr", &json!({"roles": roles}).to_string()).await.expect(200);
        let person = Person::of(&server, "UserEntr").await;
        person.get("/entry/EntryOth").await.expect(200);
        person.put("/entry/EntryOth/update-title", r#"{"title":"T"}"#).await.expect(404);
        person.put("/contributor/ContrOth/update-field/FieldCtr", r#"{"value":"y"}"#).await.expect(404);
        person.ask("DELETE", "/contributor/ContrOth", None, &[]).await.expect(404);
        person.put("/entry/EntryHid/update-title", r#"{"title":"T"}"#).await.expect(200);
    }

    async fn an_entrant_makes_entries_of_the_entrants_own(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserOthe").await;
        let body = |entrant: &str| format!(r#"{{"category":"CategChi","entrant":"{entrant}","season":"SeasonAc","title":"T"}}"#);
        let made = person.post("/entry", &body("UserOthe")).await.expect(201).json();
        assert_eq!((&made["entrant"]["slug"], &made["status"]), (&json!("UserOthe"), &json!("in_progress")));
        let refused = body("UserOthe").replace('{', r#"{"status":"resubmission_required","#);
        person.post("/entry", &refused).await.expect(422);
        let [other, nobody] = [person.post("/entry", &body("UserEntr")).await.expect(422), person.post("/entry", &body("NobodyAA")).await.expect(422)];
        assert_eq!(other.text(), nobody.text());
        let wrong = |answer: &Answer| error_names(answer, JSON).unwrap();
        assert_eq!(wrong(&other), ["entrant"]);
        let nobody = r#"{"category":"CategChi","season":"SeasonAc","title":"T"}"#;
        assert_eq!(wrong(&person.post("/entry", nobody).await.expect(422)), ["entrant"]);
    }

    async fn what_an_entrant_names_wrongly_tells_nothing_of_fields_that_are_hidden(server) {
        prepare(&server).await;
        let field = |slug: &str, more: &str| format!(r#"{{"kind":"field","slug":"{slug}","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{{"en_GB":"R"}},{more}}}"#);
        server.import(&crate::harness::fixture::of_account_a(&field("FieldReq", r#""required":true,"applicant_read_access":false,"applicant_write_access":false"#))).await;
        let person = Person::of(&server, "UserOthe").await;
        let same = |errors: &Value, hidden: &str, unknown: &str| {
            assert!(errors[hidden].is_array(), "{errors}");
            assert_eq!(errors[hidden], errors[unknown]);
        };
        let body = r#"{"category":"CategChi","entrant":"UserEntr","season":"SeasonAc","title":"T","status":"submitted","entry_fields":{"FieldHid":"x","NobodyAA":"x"}}"#;
        let errors = person.post("/entry", body).await.expect(422).json()["errors"].clone();
        same(&errors, "entry_fields.FieldHid", "entry_fields.NobodyAA");
        assert!(errors["entrant"].is_array() && errors.get("entry_fields.FieldReq").is_none(), "{errors}");
        for (entry, tab) in [("NobodyAA", "TabContr"), ("EntryOth", "TabGener")] {
            let body = json!({ "entry": entry, "tab": tab, "fields": { "FieldHiC": "x", "NobodyAA": "x" } });
            let errors = person.post("/contributor", &body.to_string()).await.expect(422).json()["errors"].clone();
            same(&errors, "fields.FieldHiC", "fields.NobodyAA");
        }
    }

    async fn a_field_does_not_tell_the_hidden_one_that_its_condition_names(server) {
        prepare(&server).await;
        server.import(&crate::harness::fixture::of_account_a(r#"{"kind":"field","slug":"FieldOnH","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"R"},"conditional":{"field":"FieldHid","operator":"answered"},"applicant_read_access":true,"applicant_write_access":true}"#)).await;
        let person = Person::of(&server, "UserEntr").await;
        let path = "/field/FieldOnH?include=settings";
        assert_eq!(server.get(path).await.expect(200).json()["conditional_field"]["slug"], "FieldHid");
        for read in [person.get(path).await.expect(200).text(), person.get("/field?season=all").await.expect(200).text()] {
            assert!(read.contains("FieldOnH") && !read.contains("FieldHid"), "{read}");
        }
    }
}
