//! Rows 1 and 2: maintenance and the rate limit.

use db::{AccountId, DbError};
use futures_util::future::join_all;
use plaudit::program::keys;
use plaudit::services::store::set_maintenance;
use tower::ServiceExt as _;

use super::*;

/// A server whose first account has the default limit.
async fn limited(server: &Server) {
    server.import(&account_a("")).await;
}

async fn exhaust(server: &Server) {
    for _ in 0..60 {
        server.get("/order").await.expect(200);
    }
}

both_engines! {
    async fn sixty_requests_pass_and_the_next_is_refused_until_the_window_ends(server) {
        limited(&server).await;
        let reset = (server.clock.now().as_seconds() + 60).to_string();
        for remaining in (0..60).rev() {
            // Failures count like successes.
            let path = if remaining % 2 == 0 { "/order" } else { "/nothing" };
            let answer = server.get(path).await;
            assert_eq!(answer.header("x-ratelimit-limit"), Some("60"));
            assert_eq!(answer.header("x-ratelimit-remaining"), Some(remaining.to_string().as_str()));
            assert_eq!(answer.header("x-ratelimit-reset"), Some(reset.as_str()));
            if remaining % 6 == 0 {
                server.clock.advance(1);
            }
        }
        for format in FORMATS {
            let answer = server.get_with("/order", &[("accept", format)]).await.expect(429);
            assert_eq!(answer.header("retry-after"), Some("50"));
        }
        server.clock.advance(49);
        assert_eq!(server.get("/order").await.expect(429).header("retry-after"), Some("1"), "refusals extend nothing");
        server.clock.advance(1);
        assert_eq!(server.get("/order").await.expect(200).header("x-ratelimit-remaining"), Some("59"));
    }

    async fn keys_are_counted_apart(server) {
        limited(&server).await;
        exhaust(&server).await;
        server.get("/order").await.expect(429);
        let other = server.new_key("AccountA", Scope::Read).await;
        let answer = server.get_with("/order", &[("x-api-key", &other)]).await.expect(200);
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("59"));
    }

    async fn on_postgresql_a_key_has_one_window_across_the_nodes(server) {
        limited(&server).await;
        let nodes = [server.other_process().await, server.other_process().await, server.other_process().await];
        let all = (0..180).map(|number| nodes[number % 3].clone().oneshot(server.request("GET", "/order", &[], None)));
        let answers: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
        let mut left: Vec<i64> = answers
            .iter()
            .filter(|answer| answer.status() == 200)
            .map(|answer| answer.headers()["x-ratelimit-remaining"].to_str().unwrap().parse().unwrap())
            .collect();
        left.sort_unstable();
        // On SQLite there is one node, and whatever else opens its file counts for itself.
        let windows = if server.db.engine() == db::Engine::Postgres { 1 } else { 3 };
        assert!(left.into_iter().eq((0..60).flat_map(|left| vec![left; windows])));
        assert_eq!(answers.iter().filter(|answer| answer.status() == 429).count(), 180 - 60 * windows);
    }

    async fn a_key_is_counted_by_each_node_where_the_database_cannot_count(server) {
        limited(&server).await;
        let rename = "ALTER TABLE rate_windows RENAME TO gone";
        server
            .db
            .write(AccountId::NONE, rename, |tx, sql| Box::pin(async move { tx.execute(sql, &[]).await.map(drop) }))
            .await
            .map_err(|error: DbError| error)
            .unwrap();
        exhaust(&server).await;
        server.get("/order").await.expect(429);
        server.clock.advance(60);
        let answer = server.get("/order").await.expect(200);
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("59"));
    }

    async fn requests_without_a_known_key_count_per_address(server) {
        for index in 0..60 {
            let (key, status) = if index % 2 == 0 { ("", 401) } else { ("plaudit_unknown", 403) };
            let answer = server.get_with("/order", &[("x-api-key", key)]).await.expect(status);
            assert_eq!(answer.header("x-ratelimit-remaining"), Some((59 - index).to_string().as_str()));
        }
        for key in ["", "plaudit_unknown"] {
            server.get_with("/order", &[("x-api-key", key)]).await.expect(429);
        }
        server.get("/order").await.expect(200);
        let mut elsewhere = server.request("GET", "/order", &[("x-api-key", "")], None);
        elsewhere.extensions_mut().insert(ClientAddress(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))));
        assert_eq!(server.send(elsewhere).await.expect(401).header("x-ratelimit-remaining"), Some("59"));
    }

    async fn invented_keys_cost_nothing_beyond_twice_the_limit_of_their_address_and_a_good_key_is_found(server) {
        let guess = async || {
            let invented = keys::new_secret(&server.ids);
            server.get_with("/order", &[("x-api-key", &invented)]).await
        };
        for _ in 0..60 {
            guess().await.expect(403);
        }
        let good = server.new_key("AccountA", Scope::Read).await;
        server.get_with("/order", &[("x-api-key", &good)]).await.expect(200);
        for _ in 0..59 {
            guess().await.expect(429);
        }
        let before = server.db.statements();
        for _ in 0..10 {
            guess().await.expect(429);
        }
        assert_eq!(server.db.statements(), before);
        server.get_with("/order", &[("x-api-key", &good)]).await.expect(200);
    }

    async fn a_limit_that_is_raised_is_effective_on_the_next_request(server) {
        limited(&server).await;
        exhaust(&server).await;
        server.get("/order").await.expect(429);
        server.import(&account_a(r#","rate_limit":100"#)).await;
        let answer = server.get("/order").await.expect(200);
        assert_eq!(answer.header("x-ratelimit-limit"), Some("100"));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("39"));
    }

    async fn the_rate_limit_comes_before_everything_but_maintenance(server) {
        limited(&server).await;
        exhaust(&server).await;
        let keys = Keys { writes: server.key.clone(), reads: server.key.clone() };
        for (ask, ..) in LATER_ROWS {
            send(&server, &keys, *ask, JSON, &[]).await.expect(429);
        }
        for (name, value, _) in EARLIER_ROWS.iter().filter(|(name, ..)| *name != "x-api-key") {
            server.get_with("/order", &[(name, value)]).await.expect(429);
        }
    }

    async fn maintenance_comes_before_everything(server) {
        limited(&server).await;
        exhaust(&server).await;
        set_maintenance(&server.db, "eu", Some("Back <soon> & well")).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        let keys = Keys { writes: server.key.clone(), reads: server.key.clone() };
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
                   <root xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
                   <status>Back &lt;soon&gt; &amp; well</status></root>";
        for (format, body) in [(JSON, r#"{"status":"Back <soon> & well"}"#), (XML, xml)] {
            for (ask, ..) in LATER_ROWS {
                assert_eq!(send(&server, &keys, *ask, format, &[]).await.expect(503).text().replace('\n', ""), body);
            }
            for (name, value, _) in EARLIER_ROWS.iter().filter(|(name, ..)| *name != "accept") {
                let answer = server.get_with("/order", &[("accept", format), (name, value)]).await.expect(503);
                assert_eq!(answer.text().replace('\n', ""), body);
            }
        }
        assert_eq!(server.get_with("/order", &[("accept", "")]).await.expect(503).header("content-type"), Some(JSON));
        set_maintenance(&server.db, "eu", None).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        server.get("/order").await.expect(429);
    }

    async fn maintenance_of_another_region_changes_nothing(server) {
        set_maintenance(&server.db, "us", Some("away")).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        server.get("/order").await.expect(200);
    }
}
