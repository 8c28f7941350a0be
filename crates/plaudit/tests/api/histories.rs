//! A database that was put back to an earlier state and written to again, as after a restore or a failover: a running
//! server answers nothing from the history that was lost.

use db::tables::TABLES;
use db::{AccountId, DbError};
use plaudit::program::keys::{ApiKey, Scope};
use tower::ServiceExt;

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, Server};

/// Runs statements as another program would.
pub async fn execute(server: &Server, statements: Vec<String>) {
    let work = server.db.write(AccountId::NONE, statements, |tx, statements| {
        Box::pin(async move {
            for sql in statements {
                tx.execute(sql, &[]).await?;
            }
            Ok(())
        })
    });
    work.await.map_err(|error: DbError| error).unwrap();
}

/// Keeps the state of the whole database.
pub async fn keep(server: &Server) {
    let copies = TABLES.iter().flat_map(|table| {
        [format!("DROP TABLE IF EXISTS kept_{table}"), format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")]
    });
    execute(server, copies.collect()).await;
}

/// Puts the database back to the state that was kept.
pub async fn put_back(server: &Server) {
    let back = TABLES
        .iter()
        .flat_map(|table| [format!("DELETE FROM {table}"), format!("INSERT INTO {table} SELECT * FROM kept_{table}")]);
    execute(server, back.collect()).await;
}

/// How many changes the account's log has, and how many of them change what its program shows.
async fn counts(server: &Server) -> (usize, usize) {
    let changes = server.changes("AccountA").await;
    let of_people = ["entry ", "user ", "order ", "file "];
    let is_of_program = |change: &&String| !of_people.iter().any(|kind| change.starts_with(kind));
    (changes.len(), changes.iter().filter(is_of_program).count())
}

/// The body that names a chapter.
fn named(name: &str) -> String {
    format!(r#"{{"translated":{{"name":{{"en_GB":"{name}"}}}}}}"#)
}

/// Names two chapters and an entry by another process, and makes a key.
async fn write(server: &Server, other: &axum::Router, name: &str) -> String {
    for (path, body) in [
        ("/chapter/ChapterN", named(&format!("{name} north"))),
        ("/chapter/ChapterS", named(&format!("{name} south"))),
        ("/entry/EntryOne/update-title", format!(r#"{{"title":"{name} title"}}"#)),
    ] {
        let request = server.request("PUT", path, &[], Some(&body));
        assert_eq!(other.clone().oneshot(request).await.unwrap().status(), 200, "{path}");
    }
    server.new_key("AccountA", Scope::Read).await
}

/// What the server answers, and what one answers that was started just now.
async fn both(server: &Server, path: &str, headers: &[(&str, &str)]) -> [(u16, Option<String>, Vec<u8>); 2] {
    let answer = server.get_with(path, headers).await;
    let fresh = server.other_process().await.oneshot(server.request("GET", path, headers, None)).await.unwrap();
    let (parts, body) = fresh.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes().to_vec();
    let fresh = Answer { status: parts.status.as_u16(), headers: parts.headers, body };
    [answer, fresh].map(|answer| (answer.status, answer.header("etag").map(str::to_owned), answer.body))
}

const READS: &[&str] = &[
    "/account",
    "/chapter/ChapterN",
    "/chapter/ChapterS",
    "/chapter",
    "/category/CategChi",
    "/season",
    "/entry/EntryOne",
    "/entry",
    "/order",
];

both_engines! {
    async fn no_read_answers_from_a_history_that_was_lost(server) {
        let other = server.other_process().await;
        for (number, path) in READS.iter().enumerate() {
            for format in FORMATS {
                keep(&server).await;
                let before = counts(&server).await;
                let lost_key = write(&server, &other, "Lost").await;
                let lost_counts = counts(&server).await;
                let lost = server.get_with(path, &[("accept", format)]).await.expect(200);
                server.get_with(path, &[("accept", format)]).await.expect(200);
                server.get_with("/season", &[("x-api-key", &lost_key)]).await.expect(200);
                put_back(&server).await;
                assert_eq!(counts(&server).await, before);
                let key = write(&server, &other, &format!("{format} {number}")).await;
                assert_eq!(counts(&server).await, lost_counts, "as many changes as were lost");
                let tag = lost.header("etag").unwrap();
                let [answer, fresh] = both(&server, path, &[("accept", format), ("if-none-match", tag)]).await;
                assert_eq!(answer, fresh, "{path}");
                assert_eq!(answer.0, 200, "{path}");
                assert!(!String::from_utf8_lossy(&answer.2).contains("Lost"), "{path}");
                server.get_with("/season", &[("x-api-key", &lost_key)]).await.expect(403);
                server.get_with("/season", &[("x-api-key", &key)]).await.expect(200);
            }
        }
    }

    async fn a_key_that_was_revoked_in_a_history_that_was_lost_is_good(server) {
        let (secret, other) = (plaudit::program::keys::new_secret(&server.ids), "Other south");
        let mut key = ApiKey {
            slug: server.ids.slug(),
            name: "test".to_owned(),
            scope: Scope::Read,
            user: None,
            expires: None,
            revoked: None,
            rotated: None,
            notify: Vec::new(),
            created: server.clock.now(),
        };
        server.save_key("AccountA", &key, &secret).await;
        let status = async || server.get_with("/season", &[("x-api-key", &secret)]).await.status;
        assert_eq!(status().await, 200);
        keep(&server).await;
        key.revoked = Some(server.clock.now());
        server.save_key("AccountA", &key, &secret).await;
        assert_eq!(status().await, 403);
        put_back(&server).await;
        let line = r#"{"kind":"chapter","slug":"ChapterS","season":"SeasonAc","name":{"en_GB":"NAME"}}"#;
        server.import(&of_account_a(&line.replace("NAME", other))).await;
        assert_eq!(status().await, 200);
        assert_eq!(server.get("/chapter/ChapterS").await.expect(200).json()["name"]["en_GB"], other);
    }

    async fn a_tag_of_a_history_that_was_lost_is_good_for_no_other_document(server) {
        let other = server.other_process().await;
        for (path, change) in [
            ("/entry/EntryOne", r#"{"title":"NAME"}"#),
            ("/user/UserMana", r#"{"last_name":"NAME"}"#),
        ] {
            keep(&server).await;
            let write = async |name: &str| {
                let request = server.request("PUT", path, &[], Some(&change.replace("NAME", name)));
                assert_eq!(other.clone().oneshot(request).await.unwrap().status(), 200, "{path}");
            };
            write("Lost").await;
            let lost = server.get(path).await.expect(200).header("etag").unwrap().to_owned();
            put_back(&server).await;
            write("Other").await;
            let answer = server.get_with(path, &[("if-none-match", &lost)]).await;
            let (status, tag) = (answer.status, answer.header("etag").unwrap().to_owned());
            assert_eq!(status, 200, "{path}");
            assert_eq!(lost.split('.').next(), tag.split('.').next(), "{path}: as many changes as were lost");
        }
    }

    async fn a_write_is_not_judged_by_a_history_that_was_lost(server) {
        let fields = r#"{"entry_fields":{"FieldTxt":"Because"}}"#;
        let other = server.other_process().await;
        server.put("/entry/EntryOne", "{}").await.expect(200);
        keep(&server).await;
        server.delete("/field/FieldTxt").await.expect(204);
        server.put("/entry/EntryOne", fields).await.expect(422);
        put_back(&server).await;
        let request = server.request("PUT", "/chapter/ChapterS", &[], Some(&named("Other south")));
        assert_eq!(other.oneshot(request).await.unwrap().status(), 200);
        server.put("/entry/EntryOne", fields).await.expect(200);
    }
}
