//! What becomes of deliveries when the webhook, or the log that they are read from, is another one than before.

use plaudit::background;
use serde_json::json;
use tokio::sync::oneshot;

use crate::both_engines;
use crate::deliveries::{HOUR, deliveries, entitle, failed, states, titles, webhook};
use crate::harness::Server;
use crate::harness::receiver::Receiver;
use crate::histories::{keep, put_back};

/// Has a webhook sent what happened at these times again, and gives the path of the job.
async fn replay(server: &Server, hook: &str, [after, before]: [&str; 2]) -> String {
    let body = json!({ "after": after, "before": before }).to_string();
    let accepted = server.post(&format!("/webhook/{hook}/replay"), &body).await.expect(202);
    accepted.header("location").unwrap().to_owned()
}

both_engines! {
    async fn how_an_address_did_says_nothing_of_the_one_that_replaces_it(server) {
        let (endpoint, other) = (Receiver::start().await, Receiver::start().await);
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(429, &[("retry-after", "86400")])]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        server.put(&format!("/webhook/{hook}"), &json!({ "url": other.url }).to_string()).await.expect(200);
        entitle(&server, "EntryOne", "two").await;
        server.settle().await;
        // What waited is brought forward as soon as something arrives.
        assert_eq!(titles(&other.take()), ["two", "one"]);
    }

    async fn an_answer_of_an_address_that_was_replaced_neither_disables_the_webhook_nor_loses_what_was_sent(server) {
        let (endpoint, other) = (Receiver::start().await, Receiver::start().await);
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[failed(410)]);
        let gate = endpoint.hold();
        entitle(&server, "EntryTwo", "one").await;
        let replaced = async {
            endpoint.until(1).await;
            server.put(&format!("/webhook/{hook}"), &json!({ "url": other.url }).to_string()).await.expect(200);
            gate.add_permits(1);
        };
        tokio::join!(server.settle(), replaced);
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 2)]);
        assert_eq!((titles(&endpoint.take()), titles(&other.take())), (vec!["one".to_owned()], vec!["one".to_owned()]));
        assert_eq!(server.get(&format!("/webhook/{hook}")).await.expect(200).json()["status"], "enabled");
    }

    async fn changes_of_another_history_are_delivered_though_as_many_were_before(server) {
        let endpoint = Receiver::start().await;
        webhook(&server, &endpoint.url, json!({})).await;
        server.settle().await;
        keep(&server).await;
        let (stop, stopped) = oneshot::channel();
        let node = tokio::spawn(background::run(server.app.clone(), background::Works::ALL, stopped));
        for title in ["lost", "lost as well"] {
            entitle(&server, "EntryTwo", title).await;
        }
        endpoint.until(2).await;
        put_back(&server).await;
        server.db.look().await.unwrap();
        endpoint.take();
        for title in ["one", "two", "three"] {
            entitle(&server, "EntryTwo", title).await;
        }
        endpoint.until(3).await;
        stop.send(()).unwrap();
        node.await.unwrap();
        assert_eq!(titles(&endpoint.take()), ["one", "two", "three"]);
    }

    async fn a_stretch_of_time_has_what_happened_in_it_whatever_the_order_of_the_numbers(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        let mut times = Vec::new();
        // The clocks of nodes differ: what has the last number here happened second.
        for (title, seconds) in [("first", 0), ("third", 60), ("fourth", 60), ("second", -90), ("fifth", 180)] {
            server.clock.advance(seconds);
            times.push(server.clock.now().to_string());
            entitle(&server, "EntryTwo", title).await;
        }
        server.settle().await;
        endpoint.take();
        replay(&server, &hook, [&times[3], &times[2]]).await;
        server.settle().await;
        assert_eq!(titles(&endpoint.take()), ["third", "second"]);
    }

    async fn a_replay_tells_that_the_webhook_was_disabled_before_it_began(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        let after = server.clock.now().to_string();
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        server.clock.advance(60);
        let job = replay(&server, &hook, [&after, &server.clock.now().to_string()]).await;
        server.put(&format!("/webhook/{hook}"), r#"{"status":"disabled"}"#).await.expect(200);
        server.settle().await;
        let job = server.get(&job).await.expect(200).json();
        assert_eq!((&job["state"], &job["progress"]["failed"]), (&json!("done"), &json!(1)));
        assert_eq!(job["errors"].as_array().unwrap().len(), 1, "{job}");
    }

    async fn a_test_that_was_meant_for_another_revision_is_not_sent(server) {
        let endpoint = Receiver::start().await;
        let path = format!("/webhook/{}/test", webhook(&server, &endpoint.url, json!({})).await);
        let body = r#"{"event":"user_updated"}"#;
        server.post_with(&path, body, &[("if-match", "\"0\"")]).await.expect(412);
        assert!(endpoint.take().is_empty());
        server.post_with(&path, body, &[("if-match", "*")]).await.expect(200);
    }

    async fn an_account_has_at_most_twenty_notices_a_day_but_every_webhook_that_is_disabled_is_told(server) {
        let endpoint = Receiver::start().await;
        for _ in 0..22 {
            webhook(&server, &endpoint.url, json!({ "notification_emails": ["ada@example.org"] })).await;
        }
        endpoint.script(&[failed(400); 220]);
        entitle(&server, "EntryTwo", "one").await;
        for seconds in [5, 300, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR, 0] {
            server.settle().await;
            server.clock.advance(seconds * 6 / 5 + 1);
        }
        assert_eq!((endpoint.take().len(), server.messages().len()), (220, 20));
        endpoint.script(&[failed(410); 22]);
        entitle(&server, "EntryTwo", "two").await;
        server.settle().await;
        assert_eq!(server.messages().len(), 42);
    }
}
