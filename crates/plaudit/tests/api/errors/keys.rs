//! Rows 4 and 5: keys, and what happens to them while the server runs.

use plaudit::program::keys::{ApiKey, new_secret};

use super::*;

/// A key that can be changed later.
async fn changeable_key(server: &Server) -> (ApiKey, String) {
    let key = ApiKey {
        slug: server.ids.slug(),
        name: "changes".to_owned(),
        scope: Scope::ReadWrite,
        user: None,
        expires: None,
        revoked: None,
        rotated: None,
        notify: Vec::new(),
        created: server.clock.now(),
    };
    let secret = new_secret(&server.ids);
    server.save_key("AccountA", &key, &secret).await;
    (key, secret)
}

/// Requests of every sort: reads, writes, and those that fail at a later row.
const REQUESTS: &[(&str, &str, Option<&str>)] = &[
    ("GET", "/order", None),
    ("GET", "/order?page=0", None),
    ("PUT", "/chapter/ChapterN", Some("{}")),
    ("PUT", "/chapter/ChapterN", Some("")),
    ("PUT", "/chapter/NoSuchCh", Some("{}")),
    ("PUT", "/chapter/ChapterN", Some(r#"{"status":"inactive"}"#)),
    ("PUT", "/entry/EntryOne/update-chapter", Some(r#"{"chapter":"ChapterS"}"#)),
    ("DELETE", "/chapter/ChapterN", None),
    ("DELETE", "/field/FieldTxt", None),
    ("PATCH", "/order", None),
    ("GET", "/nothing", None),
];

/// That a change is effective on the next request, whatever that is, though the snapshot is in memory.
async fn is_refused_at_once<C: AsyncFn(bool)>(server: &Server, key: &str, close: C) {
    for (method, path, body) in REQUESTS {
        server.get_with("/order", &[("x-api-key", key)]).await.expect(200);
        close(true).await;
        let request = server.request(method, path, &[("x-api-key", key)], *body);
        let answer = server.send(request).await;
        assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
        close(false).await;
    }
}

both_engines! {
    async fn every_cause_of_a_refused_key_gives_the_same_answer(server) {
        server.import(&account_a("")).await;
        let line = |slug: &str, members: &str| {
            format!(r#"{{"kind":"account","slug":"{slug}","name":"N","default_language":"de_DE","languages":["de_DE"]{members}}}"#)
        };
        for slug in ["AccountC", "AccountD", "AccountE"] {
            server.import(&line(slug, "")).await;
        }
        let good = |account: &'static str| server.new_key(account, Scope::ReadWrite);
        let revoked = server.new_key_with("AccountA", Scope::ReadWrite, |key| key.revoked = Some(key.created)).await;
        let expired = server.new_key_with("AccountA", Scope::ReadWrite, |key| key.expires = Some(key.created)).await;
        let (suspended, featureless, elsewhere) = (good("AccountC").await, good("AccountD").await, good("AccountE").await);
        server.import(&line("AccountC", r#","suspended":true"#)).await;
        server.import(&line("AccountD", r#","features":[]"#)).await;
        server.import(&line("AccountE", r#","region":"us""#)).await;
        let unknown = new_secret(&server.ids);
        for format in FORMATS {
            let mut answers = Vec::new();
            for (cause, key, host) in [
                ("unknown", unknown.as_str(), "api.example.org"),
                ("no key at all", "letters", "api.example.org"),
                ("revoked", &revoked, "api.example.org"),
                ("expired", &expired, "api.example.org"),
                ("suspended", &suspended, "api.example.org"),
                ("feature off", &featureless, "api.example.org"),
                ("another account's host", &server.key, "b.example.org"),
                ("another account's host with a port", &server.key, "B.example.org:8443"),
                ("another region", &elsewhere, "api.example.org"),
            ] {
                let headers = [("accept", format), ("x-api-key", key), ("host", host)];
                let answer = server.get_with("/order", &headers).await;
                assert_eq!(answer.status, 403, "{cause}: {}", answer.text());
                answers.push((cause, comparable_headers(&answer), answer.body));
            }
            for (cause, headers, body) in &answers {
                assert_eq!((headers, body), (&answers[0].1, &answers[0].2), "{cause}");
            }
        }
    }

    async fn a_key_works_at_its_own_host_and_at_that_of_the_deployment(server) {
        for host in ["a.example.org", "A.Example.org:443", "api.example.org", "nobodys.example.org", ""] {
            server.get_with("/order", &[("host", host)]).await.expect(200);
        }
        server.get_with("/order", &[("host", "b.example.org")]).await.expect(403);
        for host in ["b.example.org:abc", "b.example.org:80:80", "[::1]:80:80", "b.example.org:80:"] {
            server.get_with("/order", &[("host", host)]).await.expect(400);
        }
        server.get_with("/order", &[("host", "[::1]:8080")]).await.expect(200);
    }

    async fn a_revoked_key_is_refused_on_the_next_request(server) {
        let (key, secret) = changeable_key(&server).await;
        is_refused_at_once(&server, &secret, async |close: bool| {
            let revoked = close.then(|| server.clock.now());
            server.save_key("AccountA", &ApiKey { revoked, ..key.clone() }, &secret).await;
        })
        .await;
    }

    async fn a_suspended_account_is_refused_on_the_next_request(server) {
        is_refused_at_once(&server, &server.key, async |close: bool| {
            server.import(&account_a(&format!(r#","rate_limit":1000000,"suspended":{close}"#))).await;
        })
        .await;
    }

    async fn an_account_without_the_feature_is_refused_on_the_next_request(server) {
        is_refused_at_once(&server, &server.key, async |close: bool| {
            let features = if close { "[]" } else { r#"["api"]"# };
            server.import(&account_a(&format!(r#","rate_limit":1000000,"features":{features}"#))).await;
        })
        .await;
    }

    async fn a_key_that_expires_is_refused_from_that_time_on(server) {
        let key = server.new_key_with("AccountA", Scope::ReadWrite, |key| {
            key.expires = Some(kernel::text::Timestamp::from_seconds(key.created.as_seconds() + 10));
        })
        .await;
        let headers = [("x-api-key", key.as_str())];
        server.clock.advance(9);
        server.get_with("/order", &headers).await.expect(200);
        server.clock.advance(1);
        server.get_with("/order", &headers).await.expect(403);
    }

    async fn a_key_that_may_only_read_lists_orders_and_writes_nothing(server) {
        let key = server.new_key("AccountA", Scope::Read).await;
        let headers = [("x-api-key", key.as_str())];
        server.get_with("/order", &headers).await.expect(200);
        let before = server.changes("AccountA").await.len();
        server.put_with(CHAPTER, r#"{"status":"inactive"}"#, &headers).await.expect(403);
        server.put_with("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#, &headers).await.expect(403);
        server.delete_with(CHAPTER, &headers).await.expect(403);
        server.delete_with("/field/FieldTxt", &headers).await.expect(403);
        assert_eq!(server.changes("AccountA").await.len(), before);
    }
}
