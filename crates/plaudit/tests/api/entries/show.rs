//! `GetEntryV23`.

use serde_json::json;

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::{JSON, XML, tree};

both_engines! {
    async fn an_entry_is_shown_as_every_change_of_it_answers(server) {
        for slug in ["EntryOne", "EntryTwo"] {
            let written = server.put(&format!("/entry/{slug}/update-chapter"), r#"{"chapter":"ChapterS"}"#).await;
            let read = server.get(&format!("/entry/{slug}")).await.expect(200);
            assert_eq!(read.text(), written.expect(200).text());
        }
    }

    async fn the_xml_of_a_read_is_the_tree_of_its_json(server) {
        for language in ["", "all", "de_DE"] {
            let headers = |format| [("accept", format), ("x-api-language", language)];
            let json = server.get_with("/entry/EntryOne", &headers(JSON)).await.expect(200);
            let xml = server.get_with("/entry/EntryOne", &headers(XML)).await.expect(200);
            tree::assert_same(&json.body, &xml.body);
        }
    }

    async fn an_entry_is_read_with_one_statement(server) {
        server.get("/entry/EntryOne").await.expect(200);
        assert_eq!(server.statements_of("/entry/EntryOne").await, 1);
    }

    async fn an_entry_that_did_not_change_is_304(server) {
        let tag = server.get("/entry/EntryOne").await.header("etag").unwrap().to_owned();
        let get = async || server.get_with("/entry/EntryOne", &[("if-none-match", &tag)]).await.status;
        assert_eq!(get().await, 304);
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        assert_eq!(get().await, 200);
    }

    async fn unknown_trashed_and_foreign_entries_are_one(server) {
        server.delete("/entry/EntryTwo").await.expect(204);
        for format in FORMATS {
            let headers = [("accept", format)];
            let unknown = server.get_with("/entry/NoSuchEn", &headers).await.expect(404).body;
            for slug in ["EntryTwo", "BEntryOn"] {
                assert_eq!(server.get_with(&format!("/entry/{slug}"), &headers).await.expect(404).body, unknown);
            }
            server.get_with("/entry/Entry1", &headers).await.expect(400);
        }
    }

    async fn an_archived_entry_is_read_and_its_flag_is_not_shown(server) {
        let line = r#"{"kind":"entry","slug":"EntryAll","local_id":77,"title":"All","season":"SeasonAc","category":"CategPar","chapter":"ChapterN","form":"FormEntr","entrant":"UserMana","archived":true}"#;
        server.import(&crate::harness::fixture::of_account_a(line)).await;
        let changes = server.changes("AccountA").await;
        server.import(&crate::harness::fixture::of_account_a(line)).await;
        assert_eq!(server.changes("AccountA").await, changes, "nothing changed");
        let shown = server.get("/entry/EntryAll").await.expect(200).json();
        assert_eq!((&shown["local_id"], shown.get("archived")), (&json!(77), None));
        server.import(&crate::harness::fixture::of_account_a(&line.replace("true", "false"))).await;
        assert_eq!(server.changes("AccountA").await.len(), changes.len() + 1);
    }
}
