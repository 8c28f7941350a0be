//! What managers of chapters see and write.

use serde_json::json;

use super::{Person, prepare};
use crate::both_engines;

both_engines! {
    async fn a_manager_of_chapters_sees_what_is_of_the_chapters(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserMana").await;
        assert_eq!(person.list("/entry?season=all").await, ["EntryOne", "EntryTwo"]);
        assert_eq!(person.list("/contributor?season=all").await, ["Contribu"]);
        assert_eq!(person.list("/attachment?season=all").await, ["TokenOfTheFirstFileOfAll"]);
        let orders = person.list("/order?season=all").await;
        assert!(orders.contains(&"OrderNor".to_owned()) && !orders.contains(&"OrderMix".to_owned()), "{orders:?}");
        assert_eq!(person.list("/user").await, ["UserEntr", "UserMana"]);
        for path in ["/entry/EntryOne", "/user/UserEntr", "/user/ase@example.org", "/file/TokenOfTheFirstFileOfAll", "/file/TokenOfTheLogoFileOfAllX"] {
            person.get(path).await.expect(200);
        }
        for path in ["/entry/EntryHid", "/entry/EntryOld", "/user/UserOthe", "/contributor/ContrHid"] {
            person.get(path).await.expect(404);
        }
        let managers = async |path: &str| person.get(path).await.expect(200).json()["managers"].as_array().unwrap().len();
        assert_eq!((managers("/chapter/ChapterN").await, managers("/chapter/ChapterS").await), (1, 0));
        let entrant = Person::of(&server, "UserEntr").await;
        assert_eq!(entrant.get("/chapter/ChapterN").await.expect(200).json()["managers"], json!([]));
    }

    async fn seasons_of_users_are_those_of_entries_that_are_seen(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserMana").await;
        // The entry of the old season is of another chapter.
        assert_eq!(server.get("/user?entries=archived_season").await.expect(200).json()["total"], 1);
        assert_eq!(person.list("/user?entries=archived_season").await, [""; 0]);
        assert_eq!(person.list("/user?active_in_season=SeasonOl").await, [""; 0]);
        assert_eq!(person.list("/user?entries=current_season").await, ["UserEntr"]);
        assert_eq!(person.list("/user?entries=none").await, ["UserMana"]);
        assert_eq!(person.list("/user?entries=none_current_season").await, ["UserMana"]);
    }

    async fn a_chapter_that_is_given_or_taken_shows_at_once(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserMana").await;
        server.put("/chapter/ChapterS", r#"{"managers":["UserMana"]}"#).await.expect(200);
        assert_eq!(person.list("/entry?season=all").await, ["EntryHid", "EntryOne", "EntryOth", "EntryTwo"]);
        assert!(person.list("/order?season=all").await.contains(&"OrderMix".to_owned()));
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        assert_eq!(person.list("/entry?season=all").await, ["EntryHid", "EntryOth"]);
        person.put("/entry/EntryOne", r#"{"title":"T"}"#).await.expect(404);
        server.put("/entry/EntryOth/update-chapter", r#"{"chapter":"ChapterN"}"#).await.expect(200);
        assert_eq!(person.list("/user").await, ["UserEntr", "UserMana"]);
        assert_eq!(person.list("/order?season=all").await, [""; 0]);
    }

    async fn orders_are_seen_where_their_entries_are(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserMana").await;
        let sees = async || person.list("/order?season=all").await.contains(&"OrderNor".to_owned());
        assert!(sees().await);
        for (chapter, is_seen) in [("ChapterS", false), ("ChapterN", true)] {
            server.put("/entry/EntryTwo/update-chapter", &json!({"chapter": chapter}).to_string()).await.expect(200);
            assert_eq!(sees().await, is_seen, "moved to {chapter}");
            person.get("/order/OrderNor").await.expect(if is_seen { 200 } else { 404 });
        }
        let export = server.export("AccountA").await;
        let entry = export.lines().find(|line| line.contains(r#""slug":"EntryTwo""#) && line.contains(r#""kind":"entry""#)).unwrap();
        let account = export.lines().find(|line| line.contains(r#""kind":"account""#)).unwrap();
        server.import(&format!("{account}\n{}", entry.replace("ChapterN", "ChapterS"))).await;
        assert!(!sees().await, "moved by a file");
    }

    async fn a_manager_of_chapters_writes_everything_within_them(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserMana").await;
        let body = r#"{"moderation_status":"approved","grant_status":"g","custom_deadline":"2030-12-31 17:00","entry_fields":{"FieldHid":"x"}}"#;
        let entry = person.put("/entry/EntryTwo", body).await.expect(200).json();
        assert_eq!((&entry["moderation_status"], &entry["grant_status"]), (&json!("approved"), &json!("g")));
        person.ask("PUT", "/entry/EntryTwo/tag/a", None, &[]).await.expect(201);
        for (path, body) in [("/entry/EntryTwo", r#"{"chapter":"ChapterS"}"#), ("/entry/EntryTwo/update-chapter", r#"{"chapter":"ChapterS"}"#)] {
            let refused = person.put(path, body).await.expect(422).json();
            assert!(refused["errors"]["chapter"].is_array(), "{refused}");
        }
        let give = |entrant: &str| format!(r#"{{"entrant":"{entrant}"}}"#);
        let [other, nobody] = [person.put("/entry/EntryTwo", &give("UserOthe")).await.expect(422), person.put("/entry/EntryTwo", &give("NobodyAA")).await.expect(422)];
        assert_eq!(other.text(), nobody.text());
        let make = |chapter: &str| format!(r#"{{"category":"CategChi","entrant":"UserEntr","season":"SeasonAc","title":"T"{chapter}}}"#);
        person.post("/entry", &make(r#","chapter":"ChapterN""#)).await.expect(201);
        for chapter in ["", r#","chapter":"ChapterS""#] {
            let refused = person.post("/entry", &make(chapter)).await.expect(422).json();
            assert!(refused["errors"]["chapter"].is_array(), "{refused}");
        }
        let tag = person.get("/entry/EntryTwo").await.expect(200).header("etag").unwrap().to_owned();
        server.put("/entry/EntryHid", r#"{"title":"T"}"#).await.expect(200);
        person.ask("DELETE", "/entry/EntryTwo", None, &[("if-match", &tag)]).await.expect(204);
        person.get("/entry/EntryTwo").await.expect(404);
        assert!(person.list("/entry?deleted=only").await.contains(&"EntryTwo".to_owned()));
        person.post("/entry/EntryTwo/restore", "").await.expect(204);
        person.put("/entry/EntryHid", r#"{"title":"T"}"#).await.expect(404);
        person.ask("DELETE", "/entry/EntryHid", None, &[]).await.expect(404);
        person.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(403);
    }
}
