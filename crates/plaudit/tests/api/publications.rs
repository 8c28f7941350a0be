//! `PostLeaderboardPublishV23`, `GetLeaderboardPublicationV23`, `GetLeaderboardPublicationCollectionV23`,
//! `GetLeaderboardPublicationBundleV23` and `DeleteLeaderboardPublicationV23`.

use plaudit::records::publications::verify::verify;
use serde_json::{Value, json};

use crate::access::{Person, prepare, user_of};
use crate::both_engines;
use crate::harness::check::error_names;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, Server};
use crate::leaderboard::{prepared, sheet};

const LIST: &str = "/leaderboard/publication";

/// Publishes a score set; gives the path of the publication and its document.
async fn publish(server: &Server, body: Value) -> (String, Value) {
    let answer = server.post("/leaderboard/publish", &body.to_string()).await.expect(201);
    (answer.header("location").unwrap().strip_prefix(BASE).unwrap().to_owned(), answer.json())
}

/// Points of two judges for three entries: the first two are equal but for the idea.
async fn scored(server: &Server) {
    prepared(server).await;
    for (entry, judge, craft, idea, comment) in [
        ("BoardAAA", "UserJudA", 8, 2, "Solid."),
        ("BoardAAA", "UserJudB", 8, 2, "Craft without an idea."),
        ("BoardBBB", "UserJudA", 4, 6, "An idea."),
        ("BoardBBB", "UserJudB", 5, 5, ""),
        ("BoardCCC", "UserJudA", 10, 10, "The best."),
    ] {
        let mut body = json!({"criteria": {"CritCraf": craft, "CritIdea": idea}});
        if !comment.is_empty() {
            body["comment"] = json!(comment);
            body["comments"] = json!({"CritIdea": format!("{comment} Really.")});
        }
        sheet(server, entry, judge, "ScorePoi", body).await;
    }
}

fn places(publication: &Value) -> Vec<(&str, &Value)> {
    let of = publication["places"].as_array().unwrap().iter();
    of.map(|place| (place["entry"]["slug"].as_str().unwrap(), &place["rank"])).collect()
}

both_engines! {
    async fn a_published_result_stays_as_it_was(server) {
        scored(&server).await;
        let (path, made) = publish(&server, json!({"score_set": "ScorePoi"})).await;
        let (first, second, null) = (json!(1), json!(2), Value::Null);
        let expected = [("BoardBBB", &first), ("BoardAAA", &second), ("BoardCCC", &null)];
        assert_eq!(places(&made), expected);
        assert_eq!(made["places"][0]["entry"], json!({"slug": "BoardBBB", "link": format!("{BASE}/entry/BoardBBB"), "title": "B"}));
        assert_eq!((&made["embargo_until"], &made["feedback"], &made["comments"]), (&null, &json!(false), &json!([])));
        assert_eq!(made["bundle"], format!("{BASE}{path}/bundle"));
        let found = server.get(&path).await.expect(200);
        assert_eq!(found.json(), made);
        let bundle = server.get(&format!("{path}/bundle")).await.expect(200);
        assert_eq!(bundle.json()["bundle"]["head"], made["head"]);

        sheet(&server, "BoardCCC", "UserJudB", "ScorePoi", json!({"criteria": {"CritCraf": 10, "CritIdea": 10}})).await;
        server.put("/entry/BoardBBB/update-title", r#"{"title":"B and more"}"#).await.expect(200);
        let found = server.get(&path).await.expect(200).json();
        assert_eq!(places(&found), expected);
        assert_eq!(found["places"][0]["entry"]["title"], "B and more");
        assert_eq!(server.get(&format!("{path}/bundle")).await.expect(200).body, bundle.body);
        server.delete("/entry/BoardBBB").await.expect(204);
        assert_eq!(places(&server.get(&path).await.expect(200).json()), expected[1..], "a place that is left out is nobody else's");

        let (_, again) = publish(&server, json!({"score_set": "ScorePoi"})).await;
        assert_eq!(places(&again), [("BoardCCC", &first), ("BoardAAA", &second)]);
        let page = server.get(&format!("{LIST}?score_set=ScorePoi")).await.expect(200).json();
        assert_eq!((page["total"].as_u64(), page["data"].as_array().unwrap().len()), (Some(2), 2));
        let mut listed = made.clone();
        for name in ["places", "comments"] {
            listed.as_object_mut().unwrap().remove(name);
        }
        let item = page["data"].as_array().unwrap().iter().find(|item| item["slug"] == made["slug"]);
        assert_eq!(item, Some(&listed));
        assert_eq!(server.get(&format!("{LIST}?score_set=ScoreVot")).await.expect(200).json()["total"], 0);

        let etag = found_etag(&server, &path).await;
        server.delete_with(&path, &[("if-match", "\"1.1\"")]).await.expect(412);
        server.delete_with(&path, &[("if-match", &etag)]).await.expect(204);
        server.get(&path).await.expect(404);
        server.get(&format!("{path}/bundle")).await.expect(404);
        assert_eq!(server.get(LIST).await.expect(200).json()["total"], 1);
        let events = server.get("/event?kind=publication").await.expect(200).json();
        let actions: Vec<&Value> = events["data"].as_array().unwrap().iter().map(|event| &event["action"]).collect();
        assert_eq!(actions, ["created", "created", "trashed"]);
    }

    async fn a_bundle_is_verified_by_itself_and_has_no_names_and_no_comments(server) {
        scored(&server).await;
        for (entry, judge, decision) in [("BoardAAA", "UserJudA", "pass"), ("BoardAAA", "UserJudB", "fail"), ("BoardBBB", "UserJudA", "unsure")] {
            sheet(&server, entry, judge, "ScoreQua", json!({"decision": decision})).await;
        }
        for (entry, judge, number) in [("BoardAAA", "UserJudA", 1), ("BoardBBB", "UserJudA", 2), ("BoardBBB", "UserJudB", 1), ("BoardCCC", "UserJudB", 2)] {
            sheet(&server, entry, judge, "ScoreTop", json!({"preference": number})).await;
            sheet(&server, entry, judge, "ScoreVot", json!({"votes": number})).await;
            sheet(&server, entry, judge, "ScoreDen", json!({"votes": number})).await;
        }
        for set in ["ScorePoi", "ScoreQua", "ScoreTop", "ScoreVot", "ScoreDen"] {
            let (path, made) = publish(&server, json!({"score_set": set, "feedback": true})).await;
            let bundle = server.get(&format!("{path}/bundle")).await.expect(200);
            let verified = verify(&bundle.body, None).unwrap();
            assert_eq!(verified.entries, made["places"].as_array().unwrap().len(), "{set}");
            assert_eq!(verify(&bundle.body, Some(&verified.public_key)), Ok(verified));
            assert!(verify(&bundle.body, Some(&"0a".repeat(32))).unwrap_err().starts_with("signature.public_key is"));
            for word in ["Craft", "Grace", "Solid", "Final", "title", "comment"] {
                assert!(!bundle.text().contains(word), "{set} {word}");
            }
            // The board says the same.
            let board = server.get(&format!("/leaderboard?score_set={set}&order=rank")).await.expect(200).json();
            for item in board["data"].as_array().unwrap() {
                let place = made["places"].as_array().unwrap().iter().find(|place| place["entry"]["slug"] == item["slug"]).unwrap();
                assert_eq!(place["rank"], item["rank"], "{set} {item}");
            }
            let xml = server.get_with(&format!("{path}/bundle"), &[("accept", "application/vnd.service.v2.3+xml")]).await.expect(200);
            assert!(xml.text().contains("<public_key>"));
        }
    }

    async fn a_publication_survives_export_and_import_and_its_key_a_restart(server) {
        scored(&server).await;
        let (path, made) = publish(&server, json!({"score_set": "ScorePoi", "embargo_until": "2031-01-01T00:00:00Z", "feedback": true})).await;
        let bundle = server.get(&format!("{path}/bundle")).await.expect(200);
        let server = server.restart().await;
        assert_eq!(server.get(&path).await.expect(200).json(), made);
        let (again, _) = publish(&server, json!({"score_set": "ScorePoi"})).await;
        let other = server.get(&format!("{again}/bundle")).await.expect(200).json();
        assert_eq!(other["signature"]["public_key"], bundle.json()["signature"]["public_key"]);
        let lines = server.export("AccountA").await;
        let line = lines.lines().find(|line| line.contains("2031-01-01")).unwrap();
        assert!(line.starts_with(r#"{"kind":"publication","#));
        let wrong = line.replacen(r#""score_set":"ScorePoi""#, r#""score_set":"ScoreVot""#, 1);
        let faults = server.try_import(&of_account_a(&wrong)).await;
        assert!(faults.iter().any(|fault| fault.contains("must be that of the bundle")), "{faults:?}");
    }

    async fn what_cannot_be_published_is_told_at_once(server) {
        prepared(&server).await;
        let wrong = json!({"score_set": "NoSuchSc", "embargo_until": "tomorrow", "feedback": 1, "places": 3}).to_string();
        let answer = server.post("/leaderboard/publish", &wrong).await.expect(422);
        let mut names = error_names(&answer, JSON).unwrap();
        names.sort();
        assert_eq!(names, ["embargo_until", "feedback", "places", "score_set"]);
        server.post("/leaderboard/publish", r#"{"score_set":"ScoreGal"}"#).await.expect(422);
        let (_, nothing) = publish(&server, json!({"score_set": "ScorePoi"})).await;
        assert_eq!(nothing["places"], json!([]));
    }

    async fn under_an_embargo_a_publication_is_for_managers_and_auditors_alone(server) {
        prepare(&server).await;
        scored(&server).await;
        let end = server.clock.now().plus(std::time::Duration::from_hours(1)).to_string();
        let (path, made) = publish(&server, json!({"score_set": "ScorePoi", "embargo_until": end})).await;
        let roles = ["guest", "entrant", "judge", "lead_judge", "voter", "chapter_manager", "bookkeeper"];
        let mut tags = Vec::new();
        for role in roles {
            let person = Person::of(&server, &user_of(role)).await;
            person.get(&path).await.expect(404);
            assert_eq!(person.list(LIST).await, [""; 0], "{role}");
            person.get(&format!("{path}/bundle")).await.expect(403);
            tags.push(person.get(LIST).await.header("etag").map(str::to_owned));
        }
        for role in ["program_manager", "auditor"] {
            let person = Person::of(&server, &user_of(role)).await;
            assert_eq!(person.get(&path).await.expect(200).json(), made);
            assert_eq!(person.list(LIST).await.len(), 1);
            person.get(&format!("{path}/bundle")).await.expect(200);
        }
        publish(&server, json!({"score_set": "ScorePoi", "embargo_until": end})).await;
        for (role, before) in roles.into_iter().zip(tags) {
            let person = Person::of(&server, &user_of(role)).await;
            assert_eq!(person.get(LIST).await.header("etag").map(str::to_owned), before, "{role}");
        }
        server.clock.advance(3_600);
        for role in roles {
            let person = Person::of(&server, &user_of(role)).await;
            let seen = person.get(&path).await.expect(200).json();
            assert_eq!(seen["places"], made["places"], "{role}");
            assert_eq!((&seen["head"], &seen["bundle"], &seen["comments"]), (&Value::Null, &Value::Null, &json!([])), "{role}");
            assert_eq!(person.list(LIST).await.len(), 2, "{role}");
            person.get(&format!("{path}/bundle")).await.expect(403);
            person.ask("DELETE", &path, None, &[]).await.expect(403);
        }
    }

    async fn entrants_see_what_judges_wrote_about_their_own_entries(server) {
        prepare(&server).await;
        scored(&server).await;
        let entrant = Person::of(&server, "UserEntr").await;
        let other = Person::of(&server, "UserOthe").await;
        let (without, _) = publish(&server, json!({"score_set": "ScorePoi", "feedback": false})).await;
        assert_eq!(entrant.get(&without).await.expect(200).json()["comments"], json!([]));
        let (path, _) = publish(&server, json!({"score_set": "ScorePoi", "feedback": true})).await;
        let seen = entrant.get(&path).await.expect(200).json();
        let of_first = json!({
            "entry": {"slug": "BoardAAA", "link": format!("{BASE}/entry/BoardAAA"), "title": "A"},
            "comments": [
                {"criterion": null, "comment": "Craft without an idea."}, {"criterion": null, "comment": "Solid."},
                {"criterion": {"en_GB": "Idea"}, "comment": "Craft without an idea. Really."},
                {"criterion": {"en_GB": "Idea"}, "comment": "Solid. Really."},
            ],
        });
        assert_eq!(seen["comments"][0], of_first);
        assert_eq!(seen["comments"].as_array().unwrap().len(), 3);
        assert!(!seen.to_string().contains("UserJud") && !seen.to_string().contains("Grace"));
        assert_eq!(other.get(&path).await.expect(200).json()["comments"], json!([]));
        // What was written on sheets that do not count in the result is not a part of it.
        sheet(&server, "BoardCCC", "UserJudB", "ScorePoi", json!({"criteria": {"CritCraf": 1, "CritIdea": 1}, "comment": "Late."})).await;
        assert!(!entrant.get(&path).await.expect(200).text().contains("Late."));
    }
}

async fn found_etag(server: &Server, path: &str) -> String {
    server.get(path).await.expect(200).header("etag").unwrap().to_owned()
}
