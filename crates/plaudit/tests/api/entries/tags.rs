//! `PutEntryTagV23`, `DeleteEntryTagV23`.

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::{Answer, JSON, Server};

async fn add(server: &Server, tags: &str) -> Answer {
    server.send(server.request("PUT", &format!("/entry/EntryOne/tag/{tags}"), &[], None)).await
}

async fn remove(server: &Server, tags: &str) -> Answer {
    server.delete(&format!("/entry/EntryOne/tag/{tags}")).await
}

fn tags(answer: Answer) -> String {
    let answer = answer.expect(201);
    assert_eq!(answer.header("location").unwrap().rsplit('/').next(), Some("EntryOne"));
    answer.json()["tags"].as_str().unwrap().to_owned()
}

both_engines! {
    async fn tags_are_added_and_taken_away(server) {
        assert_eq!(tags(add(&server, "green").await), "red,blue,green");
        assert_eq!(tags(add(&server, "%20a%20b%20,,red,%2C,a%20b").await), "red,blue,green,a b");
        assert_eq!(tags(remove(&server, "blue,%20a%20b,unknown").await), "red,green");
        assert_eq!(tags(remove(&server, "RED").await), "red,green");
        assert_eq!(tags(remove(&server, "red,green").await), "");
        assert_eq!(tags(add(&server, "b%C3%A4r%2Fx%22%3C").await), "bär/x\"<");
        assert_eq!(server.get("/entry/EntryOne").await.expect(200).json()["tags"], "bär/x\"<");
        let account = server.account("AccountA").await;
        let mut rows = Vec::new();
        server
            .db
            .each("SELECT tag, slug FROM entry_tags WHERE account = $1 ORDER BY tag", &[account.into()], |row| {
                rows.push(format!("{} {}", row.text(0)?, row.text(1)?));
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(rows, ["bär/x\"< EntryOne"]);
    }

    async fn a_tag_is_logged_once_and_nothing_else_is(server) {
        let changes = server.changes("AccountA").await.len();
        add(&server, "green").await.expect(201);
        let tag = add(&server, "green,red,,").await.expect(201).header("etag").unwrap().to_owned();
        remove(&server, "unknown").await.expect(201);
        assert_eq!(remove(&server, ",").await.expect(201).header("etag"), Some(tag.as_str()));
        remove(&server, "red").await.expect(201);
        assert_eq!(
            server.changes("AccountA").await[changes..],
            ["entry EntryOne updated entry_updated,entry_tagged", "entry EntryOne updated entry_updated"]
        );
    }

    async fn tags_that_are_none_are_refused(server) {
        for format in FORMATS {
            let headers = [("accept", format)];
            let put = async |path: &str| server.send(server.request("PUT", path, &headers, None)).await;
            let wild = put("/entry/EntryOne/tag/a%00b,c%1B").await.expect(422);
            assert_eq!(error_names(&wild, format).unwrap(), ["tags"]);
            let long = put(&format!("/entry/EntryOne/tag/{}", "x".repeat(101))).await.expect(422);
            assert_eq!(error_names(&long, format).unwrap(), ["tags"]);
            put("/entry/EntryOne/tag/%FF").await.expect(400);
            put("/entry/Entry1/tag/a").await.expect(400);
            put("/entry/EntryOne/tag/").await.expect(404);
            for unknown in ["NoSuchEn", "BEntryOn"] {
                put(&format!("/entry/{unknown}/tag/a")).await.expect(404);
                server.delete_with(&format!("/entry/{unknown}/tag/a"), &headers).await.expect(404);
            }
        }
    }

    async fn a_tag_obeys_if_match(server) {
        let tag = server.get("/entry/EntryOne").await.header("etag").unwrap().to_owned();
        let put = async |name: &str| {
            let path = format!("/entry/EntryOne/tag/{name}");
            server.send(server.request("PUT", &path, &[("if-match", &tag), ("accept", JSON)], None)).await.status
        };
        assert_eq!(put("one").await, 201);
        assert_eq!(put("two").await, 412);
    }
}
