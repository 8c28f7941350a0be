//! A judge in conflict with an entry is never linked with it, in whatever way, by `PostAssignmentV23` and
//! `PostAssignmentReassignV23`; the conflict holds as long as the records tell it.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::error_names;
use crate::harness::fixture::of_account_a;
use crate::harness::{JSON, Server};

const SETUP: &str = r#"{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"field","slug":"FieldOrg","resource":"users","type":"text","title":{"en_GB":"Organisation"}}
{"kind":"field","slug":"FieldEma","season":"SeasonAc","form":"FormEntr","tab":"TabContr","resource":"contributors","type":"email","title":{"en_GB":"E-mail"}}
{"kind":"score_set","slug":"ScoreOrg","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"qualifying","organisation_field":"FieldOrg"}
{"kind":"score_set","slug":"ScoreAny","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}
{"kind":"user","slug":"UserEntr","first_name":"Ann","last_name":"Lister","email":"ase@example.org","roles":["RoleJury"],"user_fields":{"FieldOrg":"ACME"}}
{"kind":"user","slug":"UserCont","first_name":"Grace","last_name":"Hopper","email":"Grace@example.org","roles":["RoleJury"]}
{"kind":"user","slug":"UserOrga","first_name":"Edsger","last_name":"Dijkstra","email":"edsger@example.org","roles":["RoleJury"],"user_fields":{"FieldOrg":" acme "}}
{"kind":"user","slug":"UserFree","first_name":"Barbara","last_name":"Liskov","email":"barbara@example.org","roles":["RoleJury"],"user_fields":{"FieldOrg":"Other"}}
{"kind":"contributor","slug":"ContribB","entry":"EntryOne","tab":"TabContr","fields":{"FieldEma":"grace@EXAMPLE.org"}}"#;

fn body(set: &str, judge: &str) -> String {
    json!({"score_set": set, "entry": "EntryOne", "judge": judge, "rounds": ["RoundJud"]}).to_string()
}

/// The judges of the first entry in a score set who are linked with it.
async fn judges(server: &Server, set: &str) -> Vec<String> {
    let listed = server.get(&format!("/assignment?score_set={set}&per_page=100")).await.json();
    let linked = listed["data"].as_array().unwrap().iter().filter(|item| item["method"] != "recused");
    let mut judges: Vec<String> = linked.map(|item| item["judge"]["slug"].as_str().unwrap().to_owned()).collect();
    judges.sort();
    judges
}

both_engines! {
    async fn an_own_entry_a_contributor_and_an_organisation_are_refused_by_name(server) {
        server.import(&of_account_a(SETUP)).await;
        for (judge, reason) in [("UserEntr", "entrant"), ("UserCont", "contributor"), ("UserOrga", "organisation")] {
            let answer = server.post("/assignment", &body("ScoreOrg", judge)).await.expect(422);
            assert_eq!(error_names(&answer, JSON), Some(vec!["judge".to_owned()]));
            assert!(answer.json()["errors"]["judge"].to_string().contains(reason), "{judge}");
        }
        server.post("/assignment", &body("ScoreOrg", "UserFree")).await.expect(201);
        server.post("/assignment", &body("ScoreAny", "UserOrga")).await.expect(201);
    }

    async fn a_bulk_leaves_judges_in_conflict_out(server) {
        server.import(&of_account_a(SETUP)).await;
        let many = json!({"score_set": "ScoreOrg", "entries": ["EntryOne"], "rounds": ["RoundJud"],
            "judges": ["UserEntr", "UserCont", "UserOrga", "UserFree"]});
        let job = server.post("/assignment", &many.to_string()).await.expect(202);
        server.settle().await;
        assert_eq!(judges(&server, "ScoreOrg").await, ["UserFree"]);
        let path = job.header("location").unwrap().rsplit_once("/job/").unwrap().1.to_owned();
        let report: Value = server.get(&format!("/job/{path}")).await.json();
        assert_eq!(report["errors"].as_array().unwrap().len(), 3);
    }

    async fn an_open_sheet_goes_to_nobody_in_conflict(server) {
        server.import(&of_account_a(SETUP)).await;
        server.post("/assignment", &body("ScoreOrg", "UserFree")).await.expect(201);
        let other = json!({"score_set": "ScoreOrg", "entry": "EntryTwo", "judge": "UserCont", "rounds": ["RoundJud"]});
        server.post("/assignment", &other.to_string()).await.expect(201);
        server.post("/assignment/reassign", r#"{"judge":"UserFree","score_set":"ScoreOrg"}"#).await.expect(202);
        server.settle().await;
        assert_eq!(judges(&server, "ScoreOrg").await, ["UserCont"], "only the judge of the other entry is left");
    }

    async fn a_judge_is_linked_again_when_the_records_tell_of_no_conflict(server) {
        server.import(&of_account_a(SETUP)).await;
        server.post("/assignment", &body("ScoreAny", "UserCont")).await.expect(422);
        server.delete("/contributor/ContribB").await.expect(204);
        server.post("/assignment", &body("ScoreAny", "UserCont")).await.expect(201);
    }
}
