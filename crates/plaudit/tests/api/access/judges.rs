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

/// A stage that asks a guest and the entrant of an entry, and one that names the guest's address as the name of somebody else.
const STAGES: &str = r#"{"kind":"review_stage","slug":"StageMin","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Mine"},"timing":"after_submission","start":"manual","reviewers":[{"name":"G","email":"userofrg@EXAMPLE.org"},{"name":"O","email":"other@example.org"}]}
{"kind":"review_stage","slug":"StageOth","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Other"},"timing":"after_submission","start":"manual","reviewers":[{"name":"userofrg@example.org","email":"other@example.org"}]}"#;

/// The assignments of the judge and of the lead judge to one entry.
const OWN: &str = "/assignment/EntryJudUserOfRDScorePoiJ";
const OTHER: &str = "/assignment/EntryJudUserOfREScorePoiJ";

/// Has the lead judge judge the same entry, and the judge another one in another score set.
async fn linked(server: &Server) {
    for (entry, judge, set) in [("EntryJud", "UserOfRE", "ScorePoi"), ("EntryOne", "UserOfRD", "ScoreQua")] {
        let body = format!(r#"{{"score_set":"{set}","entry":"{entry}","judge":"{judge}","rounds":["RoundJud"]}}"#);
        server.post("/assignment", &body).await.expect(201);
    }
}

/// The one sheet of another judge that a person is shown.
async fn of_others(person: &Person<'_>, query: &str) -> Value {
    let page = person.get(&format!("/assignment?score_set=ScorePoi{query}")).await.expect(200).json();
    let own = |item: &&Value| item["slug"] != "EntryJudUserOfRDScorePoiJ";
    let mut others = page["data"].as_array().unwrap().iter().filter(own);
    let found = others.next().unwrap().clone();
    assert!(others.next().is_none(), "{page}");
    found
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

    async fn sheets_of_others_are_shown_as_the_score_set_says(server) {
        prepared(&server).await;
        linked(&server).await;
        let [judge, other] = [user_of("judge"), user_of("lead_judge")];
        let [judge, other] = [Person::of(&server, &judge).await, Person::of(&server, &other).await];
        other.put(&format!("{OTHER}/score"), r#"{"criteria":{"CritCraf":7},"comment":"Fine"}"#).await.expect(200);
        assert_eq!(judge.list("/assignment").await.len(), 3);
        judge.get(OTHER).await.expect(404);
        show(&server, "ScorePoi", r#"{"others_scores":"always","others_comments":"after_own"}"#).await;
        let sheet = of_others(&judge, "").await;
        assert_eq!((&sheet["judge"], &sheet["slug"], &sheet["comments"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!(sheet["score"]["total_score"]["final_score"], "7/10");
        judge.get(OTHER).await.expect(404);
        for hidden in ["judge=UserOfRE", "slug=EntryJudUserOfREScorePoiJ", "order=status", "cursor=&per_page=1", "order=method"] {
            let page = judge.get(&format!("/assignment?state=all&{hidden}")).await.expect(200).text().to_owned();
            assert!(!page.contains("7/10") && !page.contains("UserOfRE\""), "{hidden} {page}");
        }
        for comments in ["always", "after_own"] {
            show(&server, "ScorePoi", &format!(r#"{{"others_comments":"{comments}","names_of_judges":true}}"#)).await;
            if comments == "after_own" {
                judge.get(OTHER).await.expect(404);
                assert_eq!(judge.list("/assignment").await.len(), 3);
                continue;
            }
            let sheet = judge.get(OTHER).await.expect(200).json();
            assert_eq!((&sheet["score"], &sheet["comments"]["judging"][0]["comment"]), (&Value::Null, &"Fine".into()));
            assert_eq!(of_others(&judge, "").await, sheet);
        }
        show(&server, "ScorePoi", r#"{"others_scores":"after_own","others_comments":"after_own","names_of_judges":true}"#).await;
        assert_eq!(judge.list("/assignment").await.len(), 3);
        judge.get(OTHER).await.expect(404);
        judge.put(&format!("{OWN}/score"), r#"{"criteria":{"CritCraf":1}}"#).await.expect(200);
        let sheet = of_others(&judge, "&judge=UserOfRE").await;
        assert_eq!((&sheet["judge"]["slug"], &sheet["slug"]), (&"UserOfRE".into(), &"EntryJudUserOfREScorePoiJ".into()));
        assert_eq!(sheet["comments"]["judging"][0]["comment"], "Fine");
        assert_eq!(judge.get(OTHER).await.expect(200).json()["score"], sheet["score"]);
        judge.put(&format!("{OTHER}/score"), r#"{"criteria":{"CritCraf":2}}"#).await.expect(404);
        judge.put(&format!("{OTHER}/abstain"), "{}").await.expect(404);
    }

    async fn a_complete_sheet_is_reopened_before_it_is_changed_where_it_has_shown_others(server) {
        prepared(&server).await;
        linked(&server).await;
        let [judge, lead] = [user_of("judge"), user_of("lead_judge")];
        let [judge, lead] = [Person::of(&server, &judge).await, Person::of(&server, &lead).await];
        show(&server, "ScorePoi", r#"{"others_scores":"after_own"}"#).await;
        let (path, low, high) = (format!("{OWN}/score"), r#"{"criteria":{"CritCraf":1}}"#, r#"{"criteria":{"CritCraf":9}}"#);
        judge.put(&path, high).await.expect(200);
        judge.put(&path, low).await.expect(200);
        let reopened = lead.post(&format!("{OWN}/reopen"), r#"{"reason":"x"}"#).await.expect(200).json();
        assert_eq!((&reopened["score"], &reopened["judge"], &reopened["comments"]), (&Value::Null, &Value::Null, &Value::Null));
        judge.put(&path, high).await.expect(200);
        lead.put(&format!("{OTHER}/score"), low).await.expect(200);
        let refused = judge.put(&path, low).await.expect(422).json();
        assert!(refused["errors"].is_null(), "{refused}");
        judge.put(&format!("{OWN}/abstain"), "{}").await.expect(422);
        judge.post(&format!("{OWN}/reopen"), r#"{"reason":"x"}"#).await.expect(403);
        lead.post(&format!("{OWN}/reopen"), r#"{"reason":"x"}"#).await.expect(200);
        judge.put(&path, low).await.expect(200);
        judge.put(&path, high).await.expect(422);
        lead.post(&format!("{OTHER}/reopen"), r#"{"reason":"x"}"#).await.expect(403);
    }

    async fn a_lead_judge_reopens_a_sheet_as_it_was_shown(server) {
        prepared(&server).await;
        linked(&server).await;
        let [judge, lead] = [user_of("judge"), user_of("lead_judge")];
        let [judge, lead] = [Person::of(&server, &judge).await, Person::of(&server, &lead).await];
        show(&server, "ScorePoi", r#"{"others_scores":"always","names_of_judges":true}"#).await;
        let sheet = r#"{"criteria":{"CritCraf":9},"comment":"Fine"}"#;
        judge.put(&format!("{OWN}/score"), sheet).await.expect(200);
        let seen = lead.get(OWN).await.expect(200);
        assert_eq!(seen.json()["comments"], Value::Null);
        let (path, body) = (format!("{OWN}/reopen"), Some(r#"{"reason":"x"}"#));
        lead.ask("POST", &path, body, &[("if-match", seen.header("etag").unwrap())]).await.expect(200);
    }

    async fn a_sheet_is_changed_only_while_it_is_as_the_judge_saw_it(server) {
        prepared(&server).await;
        let judge = user_of("judge");
        let judge = Person::of(&server, &judge).await;
        let tag = judge.get(OWN).await.expect(200).header("etag").unwrap().to_owned();
        let (path, body) = (format!("{OWN}/score"), r#"{"criteria":{"CritCraf":1}}"#);
        judge.ask("PUT", &path, Some(body), &[("if-match", &tag)]).await.expect(200);
        judge.ask("PUT", &path, Some(r#"{"criteria":{"CritCraf":2}}"#), &[("if-match", &tag)]).await.expect(412);
    }

    async fn who_declared_a_conflict_sees_neither_the_entry_nor_what_others_give(server) {
        prepared(&server).await;
        linked(&server).await;
        show(&server, "ScorePoi", r#"{"others_scores":"always","names_of_judges":true}"#).await;
        let judge = user_of("judge");
        let judge = Person::of(&server, &judge).await;
        assert_eq!(judge.list("/entry?category=CategChi").await, ["EntryJud", "EntryOne"]);
        judge.get(OTHER).await.expect(200);
        judge.post(&format!("{OWN}/conflict"), r#"{"comment":"A friend"}"#).await.expect(200);
        assert_eq!(judge.list("/entry?category=CategChi").await, ["EntryOne"]);
        judge.get("/entry/EntryJud").await.expect(404);
        judge.get(OTHER).await.expect(404);
        assert_eq!(judge.list("/assignment?score_set=ScorePoi").await, ["EntryJudUserOfRDScorePoiJ"]);
        server.put("/entry/EntryJud/unrecuse", r#"{"judge":"UserOfRD"}"#).await.expect(204);
        judge.get("/entry/EntryJud").await.expect(200);
    }

    async fn judges_see_no_entry_in_the_trash(server) {
        prepared(&server).await;
        let judge = user_of("judge");
        let judge = Person::of(&server, &judge).await;
        assert_eq!(judge.list("/entry").await, ["EntryJud"]);
        server.delete("/entry/EntryJud").await.expect(204);
        assert!(judge.list("/entry?deleted=only").await.is_empty());
        assert!(judge.list("/entry").await.is_empty());
    }

    async fn lead_judges_see_to_their_score_sets_alone(server) {
        prepared(&server).await;
        linked(&server).await;
        let lead = user_of("lead_judge");
        let lead = Person::of(&server, &lead).await;
        let progress = |set: &str| format!("/assignment/progress?score_set={set}");
        let seen = lead.get(&progress("ScorePoi")).await.expect(200).json();
        assert_eq!(seen, server.get(&progress("ScorePoi")).await.expect(200).json());
        let [other, none] = [lead.get(&progress("ScoreQua")).await.expect(404), lead.get(&progress("NobodyAA")).await.expect(404)];
        assert_eq!(other.text(), none.text());
        let path = "/assignment/EntryOneUserOfRDScoreQuaJ";
        server.put(&format!("{path}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let [other, none] = [path.to_owned(), path.replace("EntryOne", "NobodyAA")];
        let body = r#"{"reason":"x"}"#;
        let [other, none] = [lead.post(&format!("{other}/reopen"), body).await, lead.post(&format!("{none}/reopen"), body).await];
        assert_eq!((other.status, other.text()), (404, none.text()));
    }

    async fn managers_of_chapters_link_and_unlink_within_these(server) {
        prepared(&server).await;
        linked(&server).await;
        server.put("/chapter/ChapterN", r#"{"managers":["UserOfRB"]}"#).await.expect(200);
        let manager = user_of("chapter_manager");
        let manager = Person::of(&server, &manager).await;
        let body = |entry: &str| format!(r#"{{"score_set":"ScoreQua","entry":"{entry}","judge":"UserOfRE","rounds":["RoundJud"]}}"#);
        manager.post("/assignment", &body("EntryJud")).await.expect(201);
        let [other, none] = [manager.post("/assignment", &body("EntryHid")).await.expect(422), manager.post("/assignment", &body("NobodyAA")).await.expect(422)];
        assert_eq!(other.text().replace("EntryHid", "NobodyAA"), none.text());
        let many = |entries: &str| format!(r#"{{"score_set":"ScoreQua","entries":[{entries}],"judges":["UserOfRE"],"rounds":["RoundJud"]}}"#);
        manager.post("/assignment", &many(r#""EntryJud""#)).await.expect(202);
        manager.post("/assignment", &many(r#""EntryJud","EntryHid""#)).await.expect(422);
        manager.ask("DELETE", "/assignment/EntryJudUserOfREScoreQuaJ", None, &[]).await.expect(204);
        server.post("/assignment", &body("EntryHid")).await.expect(201);
        manager.ask("DELETE", "/assignment/EntryHidUserOfREScoreQuaJ", None, &[]).await.expect(404);
        let judge = r#"{"judge":"UserOfRE"}"#;
        for way in ["recuse", "unrecuse"] {
            let tag = manager.get("/entry/EntryJud").await.expect(200).header("etag").unwrap().to_owned();
            let path = format!("/entry/EntryJud/{way}");
            manager.ask("PUT", &path, Some(judge), &[("if-match", "\"s0\"")]).await.expect(412);
            manager.ask("PUT", &path, Some(judge), &[("if-match", &tag)]).await.expect(204);
            manager.put(&format!("/entry/EntryHid/{way}"), judge).await.expect(404);
        }
        server.put("/entry/EntryHid/recuse", judge).await.expect(204);
        let [other, none] = [manager.post("/assignment", &body("EntryHid")).await.expect(422), manager.post("/assignment", &body("NobodyAA")).await.expect(422)];
        assert_eq!(other.text().replace("EntryHid", "NobodyAA"), none.text(), "who was taken off is not told");
        let all = server.get("/assignment/progress?score_set=ScorePoi").await.expect(200).json();
        assert_eq!(manager.get("/assignment/progress?score_set=ScorePoi").await.expect(200).json(), all);
        let own = manager.get("/assignment/progress?score_set=ScoreQua").await.expect(200).json();
        assert!(!own.to_string().contains("EntryHid"), "{own}");
        manager.post("/assignment/plan", "{}").await.expect(403);
    }

    async fn who_reads_everything_fills_in_own_sheets_alone(server) {
        prepared(&server).await;
        linked(&server).await;
        server.put("/user/UserOfRD", r#"{"roles":["RoleOfRD","RoleOfRI"]}"#).await.expect(200);
        let both = user_of("judge");
        let both = Person::of(&server, &both).await;
        both.put(&format!("{OTHER}/score"), r#"{"criteria":{"CritCraf":2}}"#).await.expect(404);
        both.put(&format!("{OWN}/score"), r#"{"criteria":{"CritCraf":2}}"#).await.expect(200);
    }

    async fn what_a_role_does_not_allow_is_done_by_the_same_idempotency_key_once_it_does(server) {
        prepared(&server).await;
        server.import(&of_account_a(STAGES)).await;
        let task = server.post("/review-task", r#"{"review_stage":"StageMin","entry":"EntryJud"}"#).await.expect(200).json();
        let path = format!("/review-task/{}/decision", task["token"].as_str().unwrap());
        let entrant = Person::of(&server, "UserOthe").await;
        let (body, headers) = (Some(r#"{"decision":"proceed"}"#), [("idempotency-key", "one")]);
        entrant.ask("PUT", &path, body, &headers).await.expect(403);
        server.put("/user/UserOthe", r#"{"roles":["RoleOfRA"]}"#).await.expect(200);
        entrant.ask("PUT", &path, body, &headers).await.expect(200);
    }

    async fn nobody_is_asked_by_an_address_that_only_looks_like_the_own_one(server) {
        prepared(&server).await;
        server.import(&of_account_a(r#"{"kind":"review_stage","slug":"StageDot","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Dots"},"timing":"after_submission","start":"manual","reviewers":[{"name":"A","email":"ada@mail.example"}]}
{"kind":"user","slug":"UserDotl","first_name":"A","last_name":"B","email":"ada@ma\u0131l.example"}
{"kind":"user","slug":"UserDots","first_name":"A","last_name":"B","email":"ADA@mail.example"}"#)).await;
        let task = server.post("/review-task", r#"{"review_stage":"StageDot","entry":"EntryJud"}"#).await.expect(200).json();
        let token = task["token"].as_str().unwrap();
        let other = Person::of(&server, "UserDotl").await;
        assert!(other.list("/review-task").await.is_empty());
        other.get(&format!("/review-task/{token}")).await.expect(404);
        assert_eq!(Person::of(&server, "UserDots").await.list("/review-task").await, [token]);
    }

    async fn reviewers_see_and_decide_what_they_are_asked(server) {
        prepared(&server).await;
        server.import(&of_account_a(STAGES)).await;
        let ask = |stage: &str| format!(r#"{{"review_stage":"{stage}","entry":"EntryJud"}}"#);
        let mine = server.post("/review-task", &ask("StageMin")).await.expect(200).json()["token"].as_str().unwrap().to_owned();
        let other = server.post("/review-task", &ask("StageOth")).await.expect(200).json()["token"].as_str().unwrap().to_owned();
        let guest = user_of("guest");
        let guest = Person::of(&server, &guest).await;
        assert_eq!(guest.list("/review-task").await, [mine.as_str()]);
        let path = format!("/review-task/{mine}");
        let seen = guest.get(&path).await.expect(200).json();
        assert_eq!((&seen["token"], &seen["reviewer"]), (&mine.as_str().into(), &serde_json::json!([{"name": "G", "email": "userofrg@EXAMPLE.org"}])));
        assert!(guest.list("/review-task?reviewer=O").await.is_empty());
        assert_eq!(guest.list("/review-task?reviewer=USEROFRG@example.org").await, [mine.as_str()]);
        let [hidden, none] = [format!("/review-task/{other}"), "/review-task/NobodyNobodyNobodyNobody".to_owned()];
        let proceed = r#"{"decision":"proceed"}"#;
        for ask in ["", "/decision"] {
            let [hidden, none] = [format!("{hidden}{ask}"), format!("{none}{ask}")];
            let [hidden, none] = if ask.is_empty() {
                [guest.get(&hidden).await, guest.get(&none).await]
            } else {
                [guest.put(&hidden, proceed).await, guest.put(&none, proceed).await]
            };
            assert_eq!((hidden.status, hidden.text()), (404, none.text()));
        }
        server.put("/chapter/ChapterN", r#"{"managers":["UserOfRB"]}"#).await.expect(200);
        let manager = user_of("chapter_manager");
        let manager = Person::of(&server, &manager).await;
        assert_eq!(manager.get(&path).await.expect(200).json()["reviewer"][1]["name"], "O");
        assert_eq!(manager.list("/review-task?reviewer=other@example.org").await.len(), 2);
        manager.put(&format!("{path}/decision"), proceed).await.expect(403);
        let entrant = Person::of(&server, "UserOthe").await;
        assert!(entrant.list("/review-task").await.contains(&mine));
        entrant.put(&format!("{path}/decision"), proceed).await.expect(403);
        assert_eq!(guest.put(&format!("{path}/decision"), proceed).await.expect(200).json()["decision"], "proceed");
        guest.put(&format!("{path}/decision"), proceed).await.expect(422);
        guest.ask("DELETE", &path, None, &[]).await.expect(403);
        server.delete(&path).await.expect(204);
        assert!(guest.list("/review-task?deleted=only").await.is_empty());
    }
}
