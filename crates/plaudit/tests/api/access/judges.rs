//! What judges see.

use serde_json::Value;

use super::{Person, prepare, user_of};
use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::of_account_a;

/// Score sets of two modes, and fields that are visible in one of them.
const JUDGING: &str = r#"{"kind":"score_set","slug":"ScorePoi","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging"}
{"kind":"criterion","slug":"CritCraf","score_set":"ScorePoi","name":{"en_GB":"Craft"},"maximum":10}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"field","slug":"FieldPoi","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Points"},"applicant_read_access":false,"visibility":["scoring"]}
{"kind":"field","slug":"FieldQua","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Pass"},"visibility":["qualifying"]}
{"kind":"field","slug":"FieldCoS","form":"FormEntr","tab":"TabContr","resource":"contributors","type":"text","title":{"en_GB":"Seen"},"visibility":["scoring"]}
{"kind":"entry","slug":"EntryJud","local_id":70,"title":"A judged one","status":"submitted","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserOthe","tags":"gold","entry_fields":{"FieldPoi":"p","FieldQua":"q","FieldHid":"h"}}
{"kind":"contributor","slug":"ContrJud","entry":"EntryJud","tab":"TabContr","fields":{"FieldCoS":"seen","FieldHiC":"secret"}}
{"kind":"assignment","entry":"EntryJud","judge":"UserOfRD","score_set":"ScorePoi","rounds":["RoundJud"]}
{"kind":"assignment","entry":"EntryHid","judge":"UserOfRD","score_set":"ScoreQua","method":"stray"}"#;

async fn prepared(server: &Server) {
    prepare(server).await;
    server.import(&of_account_a(JUDGING)).await;
}

/// Has a score set show what it says.
async fn show(server: &Server, set: &str, shows: &str) {
    let line = JUDGING.lines().find(|line| line.contains(&format!(r#""slug":"{set}""#))).unwrap();
    let line = format!("{},\"shows\":{shows}}}", line.strip_suffix('}').unwrap());
    server.import(&of_account_a(&line)).await;
}

fn members(entry: &Value) -> Vec<&str> {
    entry.as_object().unwrap().keys().map(String::as_str).filter(|name| *name != "status_code").collect()
}

fn slugs(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect()
}

both_engines! {
    async fn a_judge_sees_what_is_judged_of_the_entries_of_the_judge(server) {
        prepared(&server).await;
        let judge = Person::of(&server, &user_of("judge")).await;
        assert_eq!(judge.list("/entry").await, ["EntryJud"]);
        judge.get("/entry/EntryHid").await.expect(404);
        let entry = judge.get("/entry/EntryJud").await.expect(200).json();
        let mut seen = members(&entry);
        seen.retain(|name| !["status", "message"].contains(name) || entry[*name].is_string() && *name == "status");
        assert_eq!(seen, ["slug", "title", "entry_fields", "category", "chapter", "form", "season"]);
        assert_eq!(slugs(&entry["entry_fields"]), ["FieldPoi"]);
        let page = judge.get("/entry?include=entry_fields,contributors").await.expect(200).json();
        assert_eq!(members(&page["data"][0]), members(&entry));
        let plain = judge.get("/entry").await.expect(200).json();
        assert_eq!(members(&plain["data"][0]), ["slug", "title", "category", "chapter", "form", "season"]);
        judge.put("/entry/EntryJud", r#"{"title":"T"}"#).await.expect(403);
        server.delete("/assignment/EntryJudUserOfRDScorePoiJ").await.expect(204);
        judge.get("/entry/EntryJud").await.expect(404);
    }

    async fn entrants_are_shown_to_judges_where_the_score_set_says_so(server) {
        prepared(&server).await;
        let judge = Person::of(&server, &user_of("judge")).await;
        show(&server, "ScorePoi", r#"{"entrants":true}"#).await;
        let entry = judge.get("/entry/EntryJud").await.expect(200).json();
        assert_eq!(entry["entrant"]["slug"], "UserOthe");
        assert_eq!(slugs(&entry["contributors"]), ["ContrJud"]);
        assert!(!entry.to_string().contains("secret"), "{entry}");
        assert_eq!(judge.list("/entry?entrant=UserOthe&order=applicant").await, ["EntryJud"]);
    }

    async fn nothing_is_told_of_an_entry_that_its_judge_is_not_shown(server) {
        prepared(&server).await;
        let judge = Person::of(&server, &user_of("judge")).await;
        let paths = ["/entry/EntryJud", "/entry", "/entry?include=entry_fields", "/entry?cursor=&per_page=1", "/entry?order=title"];
        let mut before = Vec::new();
        for path in paths {
            before.push(judge.get(path).await.expect(200).header("etag").unwrap().to_owned());
        }
        server.put("/entry/EntryJud", r#"{"moderation_status":"approved","entry_fields":{"FieldQua":"other","FieldHid":"other"}}"#).await.expect(200);
        for (path, before) in paths.iter().zip(&before) {
            assert_eq!(judge.get(path).await.expect(200).header("etag"), Some(before.as_str()), "{path}");
        }
        for hidden in ["moderation=approved", "tag=gold", "entrant=UserOthe", "status=submitted", "updated_at[after]=2000-01-01",
            "order=updated", "order=applicant", "order=local_id"] {
            assert_eq!(judge.list(&format!("/entry?{hidden}")).await, [""; 0], "{hidden}");
        }
        for seen in ["title=judged", "category=CategChi", "chapter=ChapterN", "form=FormEntr", "season=SeasonAc", "order=category", "order=nothing"] {
            assert_eq!(judge.list(&format!("/entry?{seen}")).await, ["EntryJud"], "{seen}");
        }
    }

    async fn who_enters_and_judges_sees_both(server) {
        prepared(&server).await;
        server.put("/user/UserOfRD", r#"{"roles":["RoleOfRD","RoleOfRC","RoleOfRB"]}"#).await.expect(200);
        server.put("/entry/EntryOth", r#"{"entrant":"UserOfRD"}"#).await.expect(200);
        server.put("/chapter/ChapterN", r#"{"managers":["UserOfRD"]}"#).await.expect(200);
        let both = Person::of(&server, &user_of("judge")).await;
        assert!(both.list("/entry").await.contains(&"EntryOth".to_owned()));
        let entry = both.get("/entry/EntryJud").await.expect(200).json();
        assert_eq!(entry["tags"], "gold");
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        server.put("/entry/EntryJud", r#"{"entrant":"UserOfRD"}"#).await.expect(200);
        let entry = both.get("/entry/EntryJud").await.expect(200).json();
        assert_eq!((slugs(&entry["entry_fields"]), entry["tags"].is_string()), (vec!["FieldPoi", "FieldQua"], true));
    }

    async fn a_judge_costs_one_statement_more_however_many_entries_a_page_has(server) {
        prepared(&server).await;
        let [judge, entrant] = [user_of("judge"), user_of("entrant")];
        let [judge, entrant] = [Person::of(&server, &judge).await, Person::of(&server, &entrant).await];
        let mut counted = Vec::new();
        for person in [&judge, &entrant] {
            for _ in 0..2 {
                person.get("/entry").await.expect(200);
            }
            let before = server.db.statements();
            person.get("/entry").await.expect(200);
            counted.push(server.db.statements() - before);
        }
        assert!(counted[0] <= counted[1] + 2, "{counted:?}");
    }
}
