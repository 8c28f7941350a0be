//! `DeleteEntryV23`, `PostEntryRestoreV23`.

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, Server};

async fn restore(server: &Server, slug: &str) -> Answer {
    server.send(server.request("POST", &format!("/entry/{slug}/restore"), &[], None)).await
}

both_engines! {
    async fn an_entry_goes_to_the_trash_and_comes_back_as_it_was(server) {
        let before = server.get("/entry/EntryTwo").await.expect(200);
        let changes = server.changes("AccountA").await.len();
        server.clock.advance(5);
        assert!(server.delete("/entry/EntryTwo").await.expect(204).body.is_empty());
        server.get("/entry/EntryTwo").await.expect(404);
        server.delete("/entry/EntryTwo").await.expect(404);
        server.put("/entry/EntryTwo/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(404);
        assert!(restore(&server, "EntryTwo").await.expect(204).body.is_empty());
        let after = server.get("/entry/EntryTwo").await.expect(200);
        assert_eq!(after.text(), before.text());
        assert_ne!(after.header("etag"), before.header("etag"));
        assert_eq!(
            server.changes("AccountA").await[changes..],
            ["entry EntryTwo trashed entry_deleted", "entry EntryTwo restored entry_updated"]
        );
    }

    async fn only_an_entry_of_the_trash_comes_back(server) {
        for format in FORMATS {
            let headers = [("accept", format)];
            let post = async |path: &str| server.send(server.request("POST", path, &headers, None)).await;
            let there = post("/entry/EntryOne/restore").await.expect(422);
            assert_eq!(error_names(&there, format), None);
            post("/entry/NoSuchEn/restore").await.expect(404);
            post("/entry/BEntryOn/restore").await.expect(404);
            post("/entry/Entry1/restore").await.expect(400);
        }
    }

    async fn an_entry_does_not_come_back_beyond_the_most_of_its_entrant(server) {
        server.delete("/entry/EntryTwo").await.expect(204);
        let category = |most: &str| {
            of_account_a(&format!(
                r#"{{"kind":"category","slug":"CategChi","season":"SeasonAc","form":"FormEntr","name":{{"en_GB":"Posters"}},"status":"active","entrant_max_entries":{most}}}"#
            ))
        };
        server.import(&category("1")).await;
        restore(&server, "EntryTwo").await.expect(422);
        server.import(&category("2")).await;
        restore(&server, "EntryTwo").await.expect(204);
    }

    async fn the_trash_obeys_if_match(server) {
        let tag = server.get("/entry/EntryOne").await.header("etag").unwrap().to_owned();
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        assert_eq!(server.delete_with("/entry/EntryOne", &[("if-match", &tag)]).await.status, 412);
        assert_eq!(server.delete_with("/entry/EntryOne", &[("if-match", "*")]).await.status, 204);
    }

    async fn an_entry_of_a_season_that_is_over_can_be_trashed_and_restored(server) {
        server.delete("/entry/EntryOld").await.expect(204);
        restore(&server, "EntryOld").await.expect(204);
        server.get("/entry/EntryOld").await.expect(200);
    }
}
