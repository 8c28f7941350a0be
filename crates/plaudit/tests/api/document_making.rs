//! `PostDocumentV23`: documents that the typesetter makes of templates.

use serde_json::{Value, json};

use crate::access::{Person, prepare, user_of};
use crate::both_engines;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, Server};

/// Templates: a text about entries that fails for those without tags, one about users in two languages, and layouts of ours.
const TEMPLATES: &str = r##"{"kind":"user","slug":"UserDocJ","first_name":"Grace","last_name":"Hopper","email":"grace@example.org"}
{"kind":"score_set","slug":"ScoreDoc","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging"}
{"kind":"criterion","slug":"CritDocu","score_set":"ScoreDoc","name":{"en_GB":"Craft"},"maximum":10}
{"kind":"assignment","entry":"EntryOne","judge":"UserDocJ","score_set":"ScoreDoc","scores":[{"criterion":"CritDocu","value":7}]}
{"kind":"document_template","slug":"TmplEntr","name":{"en_GB":"Entry"},"resource":"entry","file_types":["PDF","Word"],"score_set":"ScoreDoc","body":{"en_GB":"= #entry.title\n\n#entry.category.name, #user.name, #account.name, #answers.at(\"FieldTxt\", default: \"none\"), #if scores != none { scores.rank }\n\n#if entry.tags == \"\" { panic(\"no tags\") }"}}
{"kind":"document_template","slug":"TmplPlai","name":{"en_GB":"Plain"},"resource":"entry","file_types":["PDF"],"body":{"en_GB":"= #entry.title\n\n#if \"FieldSec\" in answers { panic(\"a secret\") }"}}
{"kind":"field","slug":"FieldSec","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Secret"},"applicant_read_access":false,"applicant_write_access":false}
{"kind":"document_template","slug":"TmplUser","name":{"en_GB":"User"},"resource":"user","file_types":["PDF"],"body":{"en_GB":"Hello #user.name","de_DE":"#panic(\"auf Deutsch\")"}}
{"kind":"document_template","slug":"TmplOrde","name":{"en_GB":"Invoice"},"resource":"order","file_types":["PDF","accessible-pdf","Word"],"layout":"invoice"}
{"kind":"document_template","slug":"TmplShee","name":{"en_GB":"Sheet"},"resource":"assignment","file_types":["PDF"],"layout":"judge_sheet"}
{"kind":"document_template","slug":"TmplBook","name":{"en_GB":"Booklet"},"resource":"score_set","file_types":["PDF"],"layout":"booklet"}
{"kind":"document_template","slug":"TmplPack","name":{"en_GB":"Pack"},"resource":"entry","file_types":["accessible-pdf"],"layout":"entry_pack","pictures":true}"##;

/// A body with these members in place of others; null leaves one out.
fn body(members: &Value) -> String {
    let mut body = json!({
        "translated": {"name": {"en_GB": "Certificate"}}, "template": "TmplEntr", "fileType": "PDF", "shared": true,
        "resource": "entry", "selected": ["EntryOne"],
    });
    for (name, value) in members.as_object().unwrap() {
        if value.is_null() {
            body.as_object_mut().unwrap().remove(name);
        } else {
            body[name] = value.clone();
        }
    }
    body.to_string()
}

async fn with_templates(server: &Server) {
    server.import(&of_account_a(TEMPLATES)).await;
}

/// Makes documents, and gives what became of the job.
async fn made(server: &Server, members: Value) -> Value {
    let begun = server.post("/document", &body(&members)).await.expect(202);
    let job = begun.header("location").unwrap().strip_prefix(BASE).unwrap().to_owned();
    server.settle().await;
    server.get(&job).await.expect(200).json()
}

/// The bytes of a document.
async fn downloaded(server: &Server, document: &Value) -> Answer {
    let address = document["file"]["download"].as_str().unwrap().strip_prefix(BASE).unwrap().to_owned();
    server.send_anything(server.request("GET", &address, &[], None)).await.expect(200)
}

async fn documents(server: &Server) -> Vec<Value> {
    server.get("/document?order=created_at&dir=asc").await.expect(200).json()["data"].as_array().unwrap().clone()
}

both_engines! {
    async fn a_job_makes_a_document_of_each_selected_record(server) {
        with_templates(&server).await;
        let changes = server.changes("AccountA").await.len();
        let job = made(&server, json!({"translated": {"name": {"en_GB": "First/best"}, "description": {"en_GB": "Well done"}}})).await;
        assert_eq!((&job["kind"], &job["state"]), (&json!("documents"), &json!("done")), "{job}");
        assert_eq!(job["progress"], json!({"done": 1, "total": 1, "failed": 0}));
        let shown = documents(&server).await.remove(0);
        let slug = shown["slug"].as_str().unwrap();
        assert_eq!(job["results"], json!([{"slug": slug, "link": format!("{BASE}/document/{slug}"), "name": {}}]));
        let logged = server.changes("AccountA").await.split_off(changes);
        let token = shown["file"]["token"].as_str().unwrap();
        assert_eq!(logged, [format!("file {token} created"), format!("document {slug} created document_created")]);
        assert_eq!((&shown["name"], &shown["description"]), (&json!({"en_GB": "First/best"}), &json!({"en_GB": "Well done"})));
        assert_eq!((&shown["entry"]["slug"], &shown["user"], &shown["file_type"]), (&json!("EntryOne"), &Value::Null, &json!("PDF")));
        assert_eq!(shown["file"]["name"], "First-best EntryOne.pdf");
        let file = downloaded(&server, &shown).await;
        assert!(file.body.starts_with(b"%PDF-") && file.header("content-type") == Some("application/pdf"));
        let word = made(&server, json!({"fileType": "Word"})).await;
        assert_eq!(word["state"], "done", "{word}");
        let word = documents(&server).await.into_iter().find(|document| document["file_type"] == "Word").unwrap();
        assert!(downloaded(&server, &word).await.body.starts_with(b"PK"));
        assert!(word["file"]["name"].as_str().unwrap().rsplit('.').next() == Some("docx"));
        let export = server.export("AccountA").await;
        server.import(&export).await;
        assert_eq!(server.export("AccountA").await, export);
    }

    async fn a_fault_of_a_template_is_told_with_its_place_and_loses_no_other_document(server) {
        with_templates(&server).await;
        let job = made(&server, json!({"selected": ["EntryTwo", "EntryOne"]})).await;
        assert_eq!((&job["state"], &job["progress"]), (&json!("done"), &json!({"done": 1, "total": 2, "failed": 1})));
        let message = job["errors"][0]["message"].as_str().unwrap();
        assert_eq!(job["errors"][0]["item"], "EntryTwo");
        assert!(message.starts_with("line 5, column ") && message.contains("no tags"), "{message}");
        assert_eq!(documents(&server).await.len(), 1);
        // What the failed one would have been stored as is not left over.
        let left: i64 = server.db.first("SELECT count(*) FROM uploads", &[], |row| row.integer(0)).await.unwrap().unwrap();
        assert_eq!(left, 0);
    }

    async fn a_document_is_in_the_language_of_whom_it_is_for(server) {
        with_templates(&server).await;
        server.put("/user/UserEntr", r#"{"language":"de_DE"}"#).await.expect(200);
        let job = made(&server, json!({"template": "TmplUser", "resource": "user", "selected": ["UserEntr"]})).await;
        assert!(job["errors"][0]["message"].as_str().unwrap().contains("auf Deutsch"), "{job}");
        let job = made(&server, json!({"template": "TmplUser", "resource": "user", "selected": ["UserMana"]})).await;
        assert_eq!(job["progress"]["done"], 1, "{job}");
        let shown = documents(&server).await.remove(0);
        assert_eq!((&shown["user"]["slug"], &shown["entry"]), (&json!("UserMana"), &Value::Null));
    }

    async fn a_document_that_is_shared_shows_what_its_reader_sees(server) {
        with_templates(&server).await;
        server.put("/entry/EntryOne/update-field/FieldSec", r#"{"value":"for the jury"}"#).await.expect(200);
        let shared = made(&server, json!({"template": "TmplPlai"})).await;
        assert_eq!(shared["progress"]["done"], 1, "{shared}");
        let whole = made(&server, json!({"template": "TmplPlai", "shared": false})).await;
        assert!(whole["errors"][0]["message"].as_str().unwrap().contains("a secret"), "{whole}");
    }

    async fn orders_assignments_and_score_sets_have_documents(server) {
        with_templates(&server).await;
        for (template, resource, file_type, selected) in [
            ("TmplOrde", "order", "accessible-pdf", "OrderOne"),
            ("TmplOrde", "order", "Word", "OrderOne"),
            ("TmplShee", "assignment", "PDF", "EntryOneUserDocJScoreDocJ"),
            ("TmplBook", "score_set", "PDF", "ScoreDoc"),
            ("TmplPack", "entry", "accessible-pdf", "EntryOne"),
        ] {
            let members = json!({"template": template, "resource": resource, "fileType": file_type, "selected": [selected], "shared": false});
            let job = made(&server, members).await;
            assert_eq!(job["progress"]["done"], 1, "{template} {job}");
        }
        assert_eq!(documents(&server).await.len(), 5);
    }

    async fn what_is_wrong_with_a_body_is_told_at_once(server) {
        with_templates(&server).await;
        let all = server.post("/document", r#"{"selected":[],"fileType":"RTF","resource":"form","colour":1}"#).await.expect(422);
        let errors = all.json()["errors"].clone();
        let members: Vec<&str> = errors.as_object().unwrap().keys().map(String::as_str).collect();
        for member in ["translated", "template", "fileType", "shared", "resource", "selected", "colour"] {
            assert!(members.contains(&member), "{member} {errors}");
        }
        for (wrong, member, told) in [
            (json!({"template": "NobodyAA"}), "template", "NobodyAA is no document template"),
            (json!({"resource": "user", "selected": ["UserEntr"]}), "resource", "must be entry"),
            (json!({"fileType": "accessible-pdf"}), "fileType", "PDF, Word"),
            (json!({"selected": ["EntryOne", "NobodyAA"]}), "selected", "NobodyAA is no entry"),
            (json!({"selected": ["EntryOne", "EntryOne"]}), "selected", "EntryOne"),
            (json!({"selected": "EntryOne"}), "selected", "list"),
            (json!({"translated": {"name": {"en_GB": " "}}}), "translated.name", "en_GB must not be blank"),
            (json!({"translated": {"name": {"de_DE": "Urkunde"}}}), "translated.name", "en_GB is required"),
            (json!({"translated": {"name": {"en_GB": "A"}, "title": {}}}), "translated.title", ""),
            (json!({"shared": false, "notification": true}), "notification", "shared"),
            (json!({"template": "TmplShee", "resource": "assignment", "selected": ["EntryOneUserDocJScoreDocJ"]}), "shared", "judges"),
        ] {
            let told_of = server.post("/document", &body(&wrong)).await.expect(422).json();
            assert!(told_of["errors"][member].to_string().contains(told), "{wrong} {told_of}");
        }
        assert!(documents(&server).await.is_empty());
    }

    async fn without_a_typesetter_nothing_is_begun(server) {
        with_templates(&server).await;
        let server = server.restart_with(|settings| settings.typesetter.program = Some("no-such-program".into())).await;
        let refused = server.post("/document", &body(&json!({}))).await.expect(503);
        assert!(refused.text().contains("plaudit-typeset is not installed") && refused.header("retry-after").is_some());
        assert!(server.get("/job").await.expect(200).json()["data"].as_array().unwrap().is_empty());
    }

    async fn managers_of_chapters_make_documents_of_their_entries_alone(server) {
        prepare(&server).await;
        with_templates(&server).await;
        let manager = Person::of(&server, "UserMana").await;
        let plain = body(&json!({"template": "TmplPlai"}));
        manager.ask("POST", "/document", Some(&plain), &[]).await.expect(202);
        let placed = manager.ask("POST", "/document", Some(&body(&json!({}))), &[]).await.expect(422);
        assert!(placed.text().contains("program managers alone"), "{}", placed.text());
        let of_user = body(&json!({"template": "TmplUser", "resource": "user", "selected": ["UserEntr"]}));
        manager.ask("POST", "/document", Some(&of_user), &[]).await.expect(403);
        let other = server.get("/entry?per_page=100").await.expect(200).json();
        let other = other["data"].as_array().unwrap().iter().find(|entry| entry["chapter"]["slug"] != "ChapterN");
        if let Some(other) = other {
            let refused = manager.ask("POST", "/document", Some(&body(&json!({"template": "TmplPlai", "selected": [other["slug"]]}))), &[]).await;
            assert!(refused.expect(422).text().contains("is no entry"));
        }
        for role in ["entrant", "judge", "auditor"] {
            Person::of(&server, &user_of(role)).await.ask("POST", "/document", Some(&body(&json!({}))), &[]).await.expect(403);
        }
    }

    async fn whom_a_document_is_shared_with_is_written_to(server) {
        with_templates(&server).await;
        let job = made(&server, json!({"notification": true})).await;
        assert_eq!(job["state"], "done", "{job}");
        let sent: Vec<String> = server.messages().into_values().collect();
        assert_eq!(sent.len(), 1);
        assert!(sent[0].contains("To: ase@example.org") && sent[0].contains("Subject: Certificate"), "{}", sent[0]);
    }
}
