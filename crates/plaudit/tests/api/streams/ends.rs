//! Streams that end by themselves.

use super::*;
use crate::histories;

/// Lets every stream give a sign of life.
fn beat(server: &Server) {
    (0..15).for_each(|_| server.app.tails.beat(false));
}

/// Both streams, of the server's key or another.
async fn both(server: &Server, key: &str) -> [Stream; 2] {
    let key = [("x-api-key", key)];
    [Stream::begin(server, ALL, &key).await.0, Stream::begin(server, ONE, &key).await.0]
}

async fn all_end(streams: [Stream; 2]) {
    for stream in streams {
        stream.end().await;
    }
}

/// A key that is known by its record, and its secret.
async fn key(server: &Server, expires: Option<Timestamp>) -> (ApiKey, String) {
    let secret = keys::new_secret(&server.ids);
    let key = ApiKey {
        slug: server.ids.slug(),
        name: "test".to_owned(),
        scope: Scope::Read,
        user: None,
        expires,
        revoked: None,
        rotated: None,
        notify: Vec::new(),
        created: server.clock.now(),
    };
    server.save_key("AccountA", &key, &secret).await;
    (key, secret)
}

both_engines! {
    async fn a_key_that_is_revoked_or_expires_ends_its_streams_and_no_others(server) {
        let mut others = both(&server, &server.key).await;
        let (record, secret) = key(&server, None).await;
        let streams = both(&server, &secret).await;
        let revoked = ApiKey { revoked: Some(server.clock.now()), ..record };
        server.save_key("AccountA", &revoked, &secret).await;
        all_end(streams).await;
        let (_, secret) = key(&server, Some(Timestamp::from_seconds(server.clock.now().as_seconds() + 60))).await;
        let mut streams = both(&server, &secret).await;
        server.clock.advance(59);
        beat(&server);
        for stream in &mut streams {
            assert!(stream.block().await.unwrap().is_comment);
        }
        server.clock.advance(1);
        beat(&server);
        all_end(streams).await;
        let (revision, _) = change(&server, "EntryOne").await;
        for stream in &mut others {
            assert_eq!(stream.event().await.id, Some(revision));
        }
    }

    async fn an_account_that_is_suspended_ends_its_streams_at_once(server) {
        let streams = both(&server, &server.key).await;
        server.import(&account_a(r#","features":["api"],"suspended":true"#)).await;
        all_end(streams).await;
    }

    async fn an_account_that_loses_the_feature_ends_its_streams_at_once(server) {
        let streams = both(&server, &server.key).await;
        server.import(&account_a(r#","features":[]"#)).await;
        all_end(streams).await;
        server.import(&account_a(r#","features":["api"],"rate_limit":1000000"#)).await;
        both(&server, &server.key).await;
    }

    async fn a_database_that_lost_what_was_streamed_ends_its_streams_and_begins_others(server) {
        // The log goes back; it gets as far as it was; it gets further; somebody comes back before it is looked at.
        for (later, is_looked_at) in [(0, true), (1, true), (3, true), (1, false)] {
            let streams = both(&server, &server.key).await;
            histories::keep(&server).await;
            let mut others = both(&server, &server.key).await;
            let lost = change(&server, "EntryOne").await.0;
            for stream in &mut others {
                assert_eq!(stream.event().await.id, Some(lost));
            }
            histories::put_back(&server).await;
            let other = server.other_process().await;
            for number in 0..later {
                let body = format!(r#"{{"title":"Of another history {number}"}}"#);
                let request = server.request("PUT", "/entry/EntryOne/update-title", &[], Some(&body));
                assert_eq!(other.clone().oneshot(request).await.unwrap().status(), 200);
            }
            if is_looked_at {
                server.app.db.look().await.unwrap();
            } else {
                let mut resumed = Stream::after(&server, ALL, lost - 1).await;
                assert_eq!(resumed.event().await.json()["entry"]["title"], "Of another history 0");
            }
            for mut stream in streams.into_iter().chain(others) {
                while stream.block().await.is_some() {}
            }
            let mut all = Stream::begin(&server, ALL, &[]).await.0;
            let (revision, shown) = change(&server, "EntryOne").await;
            let event = all.event().await;
            assert_eq!((event.id, &event.json()["entry"]), (Some(revision), &shown));
        }
    }

    async fn maintenance_ends_every_stream(server) {
        let streams = both(&server, &server.key).await;
        set_maintenance(&server.db, "eu", Some("Back soon")).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        server.app.tails.beat(server.app.maintenance().is_some());
        all_end(streams).await;
        server.get(ALL).await.expect(503);
    }

    async fn the_stream_of_an_entry_ends_with_its_deletion(server) {
        let [mut all, mut one] = both(&server, &server.key).await;
        change(&server, "EntryOne").await;
        server.delete("/entry/EntryOne").await.expect(204);
        for stream in [&mut all, &mut one] {
            assert_eq!(stream.event().await.event.as_deref(), Some("entry_updated"));
            let deletion = stream.event().await;
            assert_eq!(deletion.event.as_deref(), Some("entry_deleted"));
            assert_eq!(deletion.json()["events"], json!(["entry_deleted"]));
            assert_eq!(deletion.json()["entry"]["slug"], "EntryOne");
        }
        assert_eq!(one.block().await, None);
        server.get(ONE).await.expect(404);
        server.send(server.request("POST", "/entry/EntryOne/restore", &[], None)).await.expect(204);
        assert_eq!(all.event().await.event.as_deref(), Some("entry_updated"));
    }

    async fn an_entry_that_an_import_puts_into_the_trash_ends_its_streams_with_the_next_sign_of_life(server) {
        let [_, one] = both(&server, &server.key).await;
        let account = server.account("AccountA").await;
        server
            .db
            .write(account, account, |tx, account| {
                Box::pin(async move {
                    let sql = "UPDATE entries SET deleted = 1 WHERE account = $1 AND slug = 'EntryOne'";
                    tx.execute(sql, &[(*account).into()]).await
                })
            })
            .await
            .map_err(|error: db::DbError| error)
            .unwrap();
        beat(&server);
        one.end().await;
    }

    async fn a_server_that_stops_ends_every_stream_after_what_was_committed(server) {
        let streams = both(&server, &server.key).await;
        server.app.tails.stop();
        all_end(streams).await;
        Stream::open(&server, ALL, &[]).await.end().await;
        assert_eq!(server.app.tails.open(), 0);
    }
}
