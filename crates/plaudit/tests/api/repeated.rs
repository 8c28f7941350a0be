//! A read that is repeated is answered as it was, for as long as it would be answered so anew.

use plaudit::db::Engine;
use plaudit::program::keys::{self, ApiKey, Scope};
use plaudit::text::Timestamp;
use tower::ServiceExt;

use crate::both_engines;
use crate::harness::fixture::account_a;
use crate::harness::{NOW, Server, XML};

/// The statements of a repeated read, which on PostgreSQL are those of any read.
async fn repeated(server: &Server, path: &str) -> (u64, Vec<u8>) {
    let before = server.db.statements();
    let answer = server.get(path).await.expect(200);
    (server.db.statements() - before, answer.body)
}

both_engines! {
    async fn a_repeated_read_takes_no_statement_on_sqlite_until_something_is_committed(server) {
        let is_sqlite = server.db.engine() == Engine::Sqlite;
        for path in ["/entry/EntryOne", "/entry", "/order?per_page=5", "/season", "/chapter/ChapterN", "/user", "/account"] {
            let first = server.get(path).await.expect(200).body;
            assert!(repeated(&server, path).await.0 > 0, "{path} is kept when it is asked for again");
            let (statements, body) = repeated(&server, path).await;
            assert_eq!(body, first, "{path}");
            assert_eq!(statements == 0, is_sqlite, "{path}: {statements}");
        }
        // Another account's change leaves the answer as it is, but has to be looked at.
        let key = server.new_key("AccountB", Scope::ReadWrite).await;
        let (statements, before) = repeated(&server, "/entry/EntryOne").await;
        assert!(statements > 0);
        server.put_with("/user/UserOfBb", r#"{"first_name":"Other"}"#, &[("x-api-key", &key)]).await;
        assert_eq!(repeated(&server, "/entry/EntryOne").await.1, before);
        server.put("/entry/EntryOne/update-title", r#"{"title":"Another title"}"#).await.expect(200);
        let shown = server.get("/entry/EntryOne").await.json();
        assert_eq!(shown["title"], "Another title");
        server.get("/entry/EntryOne").await.expect(200);
        let (statements, body) = repeated(&server, "/entry/EntryOne").await;
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), shown);
        assert_eq!(statements == 0, is_sqlite);
    }

    async fn a_change_of_another_process_is_seen_by_the_next_repeated_read(server) {
        let other = server.other_process().await;
        for number in 0..50 {
            let title = format!("Title {number}");
            for _ in 0..3 {
                server.get("/entry/EntryOne").await.expect(200);
            }
            let body = format!(r#"{{"title":"{title}"}}"#);
            let request = server.request("PUT", "/entry/EntryOne/update-title", &[], Some(&body));
            assert_eq!(other.clone().oneshot(request).await.unwrap().status(), 200);
            assert_eq!(server.get("/entry/EntryOne").await.json()["title"], title);
            server.clock.advance(60);
        }
    }

    async fn a_repeated_read_is_counted_and_refused_like_any_other(server) {
        server.import(&account_a(r#","features":["api"],"rate_limit":60"#)).await;
        let get = async || server.get("/chapter/ChapterN").await;
        for remaining in (0..60).rev() {
            assert_eq!(get().await.expect(200).header("x-ratelimit-remaining").unwrap(), remaining.to_string());
        }
        let refused = get().await.expect(429);
        assert_eq!(refused.header("retry-after"), Some("60"));
        assert!(refused.header("x-ratelimit-remaining").is_none());
        server.clock.advance(60);
        assert_eq!(get().await.expect(200).header("x-ratelimit-remaining"), Some("59"));
    }

    async fn a_repeated_read_is_refused_once_its_key_has_expired_or_is_revoked(server) {
        let expires = Timestamp::from_seconds(Timestamp::parse(NOW).unwrap().as_seconds() + 10);
        let expiring = server.new_key_with("AccountA", Scope::Read, |key| key.expires = Some(expires)).await;
        let get = async |key: &str| server.get_with("/entry/EntryOne", &[("x-api-key", key)]).await.status;
        assert_eq!([get(&expiring).await, get(&expiring).await, get(&expiring).await], [200; 3]);
        server.clock.advance(9);
        assert_eq!(get(&expiring).await, 200);
        server.clock.advance(1);
        assert_eq!(get(&expiring).await, 403);

        let secret = keys::new_secret(&server.ids);
        let mut key = ApiKey {
            slug: server.ids.slug(),
            name: "test".to_owned(),
            scope: Scope::Read,
            expires: None,
            revoked: None,
            rotated: None,
            notify: Vec::new(),
            created: server.clock.now(),
        };
        server.save_key("AccountA", &key, &secret).await;
        assert_eq!([get(&secret).await, get(&secret).await, get(&secret).await], [200; 3]);
        key.revoked = Some(server.clock.now());
        server.save_key("AccountA", &key, &secret).await;
        assert_eq!(get(&secret).await, 403);
    }

    async fn an_answer_is_repeated_to_the_same_key_language_format_and_host_only(server) {
        let foreign = server.new_key("AccountB", Scope::ReadWrite).await;
        for _ in 0..3 {
            let own = server.get("/entry/EntryOne").await.expect(200);
            let xml = server.get_with("/entry/EntryOne", &[("accept", XML)]).await.expect(200);
            assert!(xml.text().starts_with("<?xml") && !own.text().starts_with("<?xml"));
            let languages = server.get_with("/entry/EntryOne", &[("x-api-language", "all")]).await.expect(200);
            assert_ne!(own.body, languages.body);
            server.get_with("/entry/EntryOne", &[("x-api-key", &foreign)]).await.expect(404);
            server.get_with("/entry/EntryOne", &[("x-api-key", "")]).await.expect(401);
            server.get_with("/entry/EntryOne", &[("accept", "")]).await.expect(400);
            server.get_with("/entry/EntryOne?a=b", &[]).await;
            let tag = own.header("etag").unwrap();
            let unchanged = server.get_with("/entry/EntryOne", &[("if-none-match", tag)]).await.expect(304);
            assert!(unchanged.body.is_empty());
            assert_eq!(unchanged.header("etag"), Some(tag));
            let mut twice = server.request("GET", "/entry/EntryOne", &[], None);
            twice.headers_mut().append("accept", XML.parse().unwrap());
            assert_eq!(server.send(twice).await.status, 400);
        }
    }

    async fn a_link_to_sign_in_is_never_repeated(server) {
        let first = server.get("/user/UserMana/auth-token").await.expect(200);
        let second = server.get("/user/UserMana/auth-token").await.expect(200);
        assert_ne!(first.body, second.body);
    }

    async fn addresses_of_files_are_as_fresh_in_a_repeated_read(server) {
        for seconds in [0, 1, 58, 1, 60, 3_600] {
            server.clock.advance(seconds);
            let shown = server.get("/file/TokenOfTheFirstFileOfAll").await.expect(200).text().to_owned();
            let anew = server.get_with("/file/TokenOfTheFirstFileOfAll", &[("accept", "Application/vnd.service.v2.3+json")]);
            assert_eq!(shown, anew.await.expect(200).text(), "after {seconds} seconds more");
        }
    }
}
