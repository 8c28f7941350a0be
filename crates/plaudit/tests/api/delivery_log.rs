//! The table of deliveries: what is found in it, and how long it is kept.

use db::{AccountId, DbError, Source};
use kernel::text::{Slug, Timestamp};
use plaudit::deliveries::store::{self, Delivery, Settled, State};
use serde_json::{Value, json};

use crate::both_engines;
use crate::deliveries::{deliveries, entitle, failed, now, put, states, webhook};
use crate::harness::Server;
use crate::harness::receiver::Receiver;

/// Puts so many deliveries of one change behind the service's back. The first three have an event of their own; the first one is
/// pending, and the others failed now.
async fn fill(server: &Server, account: AccountId, hook: Slug, sequence: i64, number: i64) {
    let state = (account, hook, sequence, number, server.clock.now());
    let write = server.db.write(account, state, |tx, (account, hook, sequence, number, now)| {
        Box::pin(async move {
            let sql = "WITH RECURSIVE n (i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $4) \
                       INSERT INTO deliveries (account, webhook, sequence, place, mark, event, kind, slug, at, state, due, \
                       started, tried, attempts) SELECT CAST($1 AS BIGINT), $2, CAST($3 AS BIGINT), i, '9f86d081884c', \
                       CASE WHEN i < 3 THEN 'entry_submitted' ELSE 'entry_updated' END, 'entry', 'EntryOne', CAST($5 AS BIGINT), \
                       CASE WHEN i = 0 THEN 'pending' ELSE 'failed' END, CAST($5 AS BIGINT), 0, 0, '[]' FROM n";
            let values = [(*account).into(), (*hook).into(), (*sequence).into(), (*number).into(), (*now).into()];
            tx.execute(sql, &values).await.map(drop)
        })
    });
    write.await.map_err(|error: DbError| error).unwrap();
}

both_engines! {
    async fn a_delivery_that_was_made_again_is_kept_from_its_last_attempt_on(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        server.clock.advance(60);
        let id = endpoint.take()[0].header("webhook-id").to_owned();
        server.post(&format!("/webhook/{hook}/delivery/{id}/replay"), "").await.expect(202);
        server.settle().await;
        let before = |seconds| Timestamp::from_seconds(now() + seconds);
        store::forget(&server.db, before(60)).await.unwrap();
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 2)]);
        store::forget(&server.db, before(61)).await.unwrap();
        assert_eq!(deliveries(&server, &hook).await, Vec::<Value>::new());
    }

    async fn a_pending_delivery_does_not_keep_the_old_ones_behind_it(server) {
        let hook = webhook(&server, "https://hooks.example/", json!({})).await;
        let account = server.account("AccountA").await;
        let slug = Slug::parse(&hook).unwrap();
        entitle(&server, "EntryTwo", "one").await;
        let last = server.db.latest(account);
        fill(&server, account, slug, last, 600).await;
        server.clock.advance(60);
        entitle(&server, "EntryTwo", "two").await;
        store::forget(&server.db, server.clock.now()).await.unwrap();
        let found = deliveries(&server, &hook).await;
        assert_eq!(states(&found), [("pending", 0)]);
    }

    async fn a_list_with_a_filter_shows_each_delivery_once_where_it_stops_looking(server) {
        let hook = webhook(&server, "https://hooks.example/", json!({})).await;
        let account = server.account("AccountA").await;
        fill(&server, account, Slug::parse(&hook).unwrap(), 5, 10_002).await;
        let (mut ids, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/webhook/{hook}/delivery?event=entry_submitted&cursor={cursor}");
            let page = server.get(&path).await.expect(200).json();
            ids.extend(page["data"].as_array().unwrap().iter().map(|delivery| delivery["id"].as_str().unwrap().to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        let expected = ["msg_5_2_9f86d081884c", "msg_5_1_9f86d081884c", "msg_5_0_9f86d081884c"];
        assert_eq!(ids, expected);
    }

    async fn what_was_asked_for_while_an_attempt_is_on_its_way_is_attempted_again(server) {
        let account = server.account("AccountA").await;
        put(&server).await;
        let hook = Slug::parse("HookOneA").unwrap();
        let key = (12, 0);
        let find = async || store::find(account, Source::Db(&server.db), hook, key).await.unwrap().unwrap().0;
        let (delivery, at) = (find().await, server.app.database_clock.now());
        let settled = Settled {
            delivery: Delivery { started: at, ..delivery },
            state: State::Delivered,
            due: at,
            tried: 2,
            attempts: "[]".to_owned(),
        };
        // A turn whose answer was lost is made again, and changes nothing then.
        for is_asked in [true, false] {
            let write = (account, hook, settled.clone(), is_asked);
            let write = server.db.write(account, write, |tx, (account, hook, settled, is_asked)| {
                Box::pin(async move {
                    if *is_asked {
                        store::begin_anew(tx, *account, *hook, (settled.delivery.key(), settled.due)).await?;
                    }
                    store::settle(tx, *account, *hook, settled).await
                })
            });
            write.await.map_err(|error: DbError| error).unwrap();
            let found = find().await;
            assert_eq!((found.state, found.tried, found.started), (State::Pending, 0, 0), "{is_asked}");
        }
    }

    async fn what_is_asked_for_anew_during_its_attempt_or_before_its_first_one_arrives(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        for (entry, title) in [("EntryOne", "a"), ("EntryTwo", "b"), ("EntryOne", "c"), ("EntryOne", "d")] {
            entitle(&server, entry, title).await;
        }
        let answers = endpoint.hold();
        answers.add_permits(1);
        let asked = async {
            // The first one, and then two at the same time, behind one of which the last one waits.
            endpoint.until(3).await;
            for delivery in &deliveries(&server, &hook).await[..3] {
                let id = delivery["id"].as_str().unwrap();
                server.post(&format!("/webhook/{hook}/delivery/{id}/replay"), "").await.expect(202);
            }
            answers.add_permits(1);
            endpoint.until(4).await;
            answers.add_permits(9);
        };
        tokio::join!(server.settle(), asked);
        let all = deliveries(&server, &hook).await;
        let expected = [("delivered", 1), ("delivered", 2), ("delivered", 2), ("delivered", 1)];
        assert_eq!(states(&all), expected);
    }

    async fn deliveries_are_forgotten_with_their_bodies_when_they_are_old_and_not_before_they_have_ended(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        entitle(&server, "EntryOne", "one").await;
        server.settle().await;
        server.clock.advance(60);
        endpoint.script(&[failed(500)]);
        entitle(&server, "EntryTwo", "two").await;
        entitle(&server, "EntryOne", "three").await;
        server.settle().await;
        let kept = endpoint.take();
        let before = |seconds| Timestamp::from_seconds(now() + seconds);
        let bytes = async || store::usage(&server.db).await.unwrap().bytes;
        store::forget(&server.db, before(0)).await.unwrap();
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 1), ("pending", 1), ("delivered", 1)]);
        store::forget(&server.db, before(1)).await.unwrap();
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 1), ("pending", 1)]);
        assert_eq!(bytes().await, i64::try_from(kept[1].body.len() + kept[2].body.len()).unwrap());
        store::forget(&server.db, before(61)).await.unwrap();
        assert_eq!(states(&deliveries(&server, &hook).await), [("pending", 1)]);
        server.put(&format!("/webhook/{hook}"), r#"{"status":"disabled"}"#).await.expect(200);
        store::forget(&server.db, before(67)).await.unwrap();
        assert_eq!((deliveries(&server, &hook).await, bytes().await), (Vec::new(), 0));
    }
}
