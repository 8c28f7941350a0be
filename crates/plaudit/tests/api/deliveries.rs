//! What webhooks are sent, in which order, how often, and what is told of it: `GetWebhookDeliveryCollectionV23`,
//! `GetWebhookDeliveryV23`, `PostWebhookDeliveryReplayV23`, `PostWebhookReplayV23`, `PostWebhookTestV23`.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Bytes;
use axum::http::Method;
use db::DbError;
use kernel::text::{Slug, Timestamp};
use plaudit::background;
use plaudit::deliveries::id::DeliveryId;
use plaudit::deliveries::store::{self, Delivery, State};
use plaudit::leases::LeaseName;
use plaudit::leases::store as leases;
use plaudit::log::Event;
use plaudit::program::keys::Scope;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use webhook_signing::{Key, Keys, StandardHeaders};

use crate::both_engines;
use crate::harness::fixture::{account_a, of_account_a};
use crate::harness::receiver::{Received, Receiver, Scripted};
use crate::harness::{NOW, Server};

/// Puts a delivery of the webhook `HookOneA` behind the service's back, which has failed once.
pub async fn put(server: &Server) {
    let account = server.account("AccountA").await;
    let attempt = r#"{"at":1769860800000000,"status":500,"duration_ms":12,"answer":"Not now","error":null}"#;
    let delivery = Delivery {
        id: DeliveryId::new(12, 0, "9f86d081884c").unwrap(),
        event: Event::EntrySubmitted,
        kind: "entry".to_owned(),
        slug: "EntryOne".to_owned(),
        at: server.clock.now(),
        state: State::Failed,
        due: server.app.database_clock.now(),
        started: 0,
        tried: 1,
        attempts: format!("[{attempt}]"),
    };
    let write = server.db.write(account, (account, delivery), |tx, (account, delivery)| {
        Box::pin(async move {
            let hook = Slug::parse("HookOneA").unwrap();
            store::insert(tx, *account, hook, delivery).await?;
            let body = Bytes::from_static(br#"{"slug":"EntryOne"}"#);
            store::insert_bodies(tx, *account, hook, &[(delivery.key(), body)]).await
        })
    });
    write.await.map_err(|error: DbError| error).unwrap();
}

/// Makes a webhook and gives its slug.
pub async fn webhook(server: &Server, url: &str, more: Value) -> String {
    let mut body = json!({ "name": "Hook", "method": "post", "url": url, "events": ["entry_updated"] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = server.post("/webhook", &body.to_string()).await.expect(201);
    made.json()["slug"].as_str().unwrap().to_owned()
}

/// Gives an entry another title.
pub async fn entitle(server: &Server, entry: &str, title: &str) {
    server.put(&format!("/entry/{entry}/update-title"), &json!({ "title": title }).to_string()).await.expect(200);
}

/// The deliveries of a webhook, the newest first.
pub async fn deliveries(server: &Server, webhook: &str) -> Vec<Value> {
    let page = server.get(&format!("/webhook/{webhook}/delivery?per_page=100")).await.expect(200).json();
    assert_eq!(page["next_cursor"], Value::Null);
    page["data"].as_array().unwrap().clone()
}

pub fn states(deliveries: &[Value]) -> Vec<(&str, usize)> {
    let attempts = |delivery: &Value| delivery["attempts"].as_array().unwrap().len();
    deliveries.iter().map(|delivery| (delivery["state"].as_str().unwrap(), attempts(delivery))).collect()
}

pub fn titles(received: &[Received]) -> Vec<String> {
    received.iter().map(|received| received.json()["title"].as_str().unwrap().to_owned()).collect()
}

fn seconds(time: &Value) -> i64 {
    Timestamp::parse(time.as_str().unwrap()).unwrap().as_seconds()
}

pub const HOUR: i64 = 3600;

pub fn failed(status: u16) -> Scripted {
    (status, &[])
}

pub fn now() -> i64 {
    Timestamp::parse(NOW).unwrap().as_seconds()
}

both_engines! {
    async fn a_delivery_is_the_record_as_a_single_read_shows_it_with_the_event_signed_in_both_ways(server) {
        let endpoint = Receiver::start().await;
        let more = json!({ "signing_key": "secret", "headers": { "X-Team": "awards" } });
        let hook = webhook(&server, &endpoint.url, more).await;
        entitle(&server, "EntryTwo", "Another <title>").await;
        server.settle().await;

        let [received]: [Received; 1] = endpoint.take().try_into().unwrap();
        let mut expected = server.get("/entry/EntryTwo").await.expect(200).json();
        let told = expected.as_object_mut().unwrap();
        told.extend(json!({ "event": "entry_updated", "timestamp": NOW, "source": "api" }).as_object().unwrap().clone());
        assert_eq!(received.json(), expected);
        assert_eq!(received.header("content-type"), "application/json");
        assert_eq!(received.header("x-team"), "awards");
        let keys = Keys::from(Key::new("secret").unwrap());
        keys.verify_hex(received.header("signature"), &received.body, now()).unwrap();
        let headers = StandardHeaders {
            id: received.header("webhook-id"),
            timestamp: received.header("webhook-timestamp"),
            signature: received.header("webhook-signature"),
        };
        keys.verify_standard(headers, &received.body, now()).unwrap();

        let found = deliveries(&server, &hook).await;
        assert_eq!(states(&found), [("delivered", 1)]);
        let delivery = &found[0];
        assert_eq!(delivery["id"], received.header("webhook-id"));
        let of_delivery = ["event", "kind", "slug", "next_attempt"].map(|name| delivery[name].clone());
        assert_eq!(of_delivery, [json!("entry_updated"), json!("entry"), json!("EntryTwo"), Value::Null]);
        let attempt = &delivery["attempts"][0];
        assert_eq!((&attempt["status"], &attempt["answer"], &attempt["error"]), (&json!(204), &json!(""), &Value::Null));
        let one = format!("/webhook/{hook}/delivery/{}", received.header("webhook-id"));
        let body = server.get(&one).await.expect(200).json()["body"].as_str().unwrap().to_owned();
        assert_eq!(body.as_bytes(), &received.body[..]);
    }

    async fn a_delivery_that_failed_is_sent_again_with_the_same_id_and_bytes_and_holds_its_record_alone(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(500, &[])]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        entitle(&server, "EntryTwo", "two").await;
        entitle(&server, "EntryOne", "of another entry").await;
        server.settle().await;
        let first = endpoint.take();
        assert_eq!(titles(&first), ["one", "of another entry"]);
        let found = deliveries(&server, &hook).await;
        assert_eq!(states(&found), [("delivered", 1), ("pending", 0), ("pending", 1)]);
        let wait = seconds(&found[2]["next_attempt"]) - now();
        assert!((4..=6).contains(&wait), "{wait}");

        server.clock.advance(7);
        server.settle().await;
        let second = endpoint.take();
        assert_eq!(titles(&second), ["one", "two"]);
        assert_eq!(second[0].header("webhook-id"), first[0].header("webhook-id"));
        assert_eq!(second[0].body, first[0].body);
        assert_ne!(second[0].header("webhook-timestamp"), first[0].header("webhook-timestamp"));
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 1), ("delivered", 1), ("delivered", 2)]);
    }

    async fn what_waits_for_a_retry_when_its_node_dies_is_sent_by_another_one(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(500, &[])]);
        entitle(&server, "EntryTwo", "one").await;
        let (_stop, stopped) = oneshot::channel();
        let node = tokio::spawn(background::run(server.app.clone(), background::Works::ALL, stopped));
        while states(&deliveries(&server, &hook).await) != [("pending", 1)] {}
        node.abort();
        assert!(node.await.unwrap_err().is_cancelled());
        server.clock.advance(60);
        server.settle().await;
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 2)]);
    }

    async fn after_ten_attempts_over_75_hours_a_delivery_has_failed_and_the_next_of_its_record_goes(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[failed(503); 10]);
        entitle(&server, "EntryTwo", "one").await;
        entitle(&server, "EntryTwo", "two").await;
        for seconds in [5, 300, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR, 0] {
            server.settle().await;
            server.clock.advance(seconds * 6 / 5 + 1);
        }
        server.settle().await;
        assert_eq!(titles(&endpoint.take()), [vec!["one"; 10], vec!["two"]].concat());
        let found = deliveries(&server, &hook).await;
        assert_eq!(states(&found), [("delivered", 1), ("failed", 10)]);
        assert_eq!(found[1]["attempts"][9]["status"], 503);
        assert_eq!(found[1]["attempts"][9]["answer"], "as it was told");
    }

    async fn retry_after_puts_the_next_attempt_off(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(429, &[("retry-after", "3600")])]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        let found = deliveries(&server, &hook).await;
        assert_eq!(seconds(&found[0]["next_attempt"]) - now(), 3600);
    }

    async fn a_redirect_is_a_failure_and_is_not_followed(server) {
        let (endpoint, other) = (Receiver::start().await, Receiver::start().await);
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(302, &[("location", "http://127.0.0.1:1/")])]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        assert_eq!(states(&deliveries(&server, &hook).await), [("pending", 1)]);
        assert!(other.take().is_empty());
    }

    async fn an_endpoint_that_answers_410_is_disabled_and_what_is_pending_has_failed(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[(410, &[])]);
        entitle(&server, "EntryTwo", "one").await;
        entitle(&server, "EntryTwo", "two").await;
        server.settle().await;
        assert_eq!(endpoint.take().len(), 1);
        assert_eq!(states(&deliveries(&server, &hook).await), [("failed", 0), ("failed", 1)]);
        let path = format!("/webhook/{hook}");
        let read = server.get(&path).await.expect(200).json();
        assert_eq!((&read["status"], &read["disabled_reason"]), (&json!("disabled"), &json!("The endpoint answered 410.")));
        let last = server.changes("AccountA").await.pop().unwrap();
        assert_eq!(last, format!("webhook {hook} updated"));

        // Enabled again, it is told of what comes after.
        entitle(&server, "EntryTwo", "three").await;
        let enabled = server.put(&path, r#"{"status":"enabled"}"#).await.expect(200).json();
        assert_eq!(enabled["disabled_reason"], Value::Null);
        entitle(&server, "EntryTwo", "four").await;
        server.settle().await;
        assert_eq!(titles(&endpoint.take()), ["four"]);
    }

    async fn that_a_webhook_was_disabled_is_told_once_a_day_however_often_it_is_enabled(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({ "notification_emails": ["ada@example.org"] })).await;
        for (title, told) in [("one", 1), ("two", 1), ("a day later", 2)] {
            endpoint.script(&[failed(410)]);
            server.clock.advance(if told == 2 { 24 * HOUR } else { 60 });
            server.put(&format!("/webhook/{hook}"), r#"{"status":"enabled"}"#).await.expect(200);
            entitle(&server, "EntryTwo", title).await;
            server.settle().await;
            assert_eq!(server.get(&format!("/webhook/{hook}")).await.json()["status"], "disabled");
            assert_eq!(server.messages().len(), told, "{title}");
        }
    }

    async fn five_days_of_failures_alone_disable_a_webhook(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[failed(500); 40]);
        for day in 0..6 {
            assert_eq!(server.get(&format!("/webhook/{hook}")).await.json()["status"], "enabled", "{day}");
            entitle(&server, "EntryOne", &format!("day {day}")).await;
            entitle(&server, "EntryTwo", &format!("day {day}")).await;
            server.settle().await;
            server.clock.advance(24 * HOUR);
        }
        let read = server.get(&format!("/webhook/{hook}")).await.json();
        assert_eq!(read["disabled_reason"], "Every attempt has failed for 5 days.");
        let found = deliveries(&server, &hook).await;
        assert!(found.iter().all(|delivery| delivery["state"] == "failed"));
    }

    async fn nothing_more_is_sent_for_an_account_that_was_suspended(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[failed(500)]);
        entitle(&server, "EntryTwo", "one").await;
        let (stop, stopped) = oneshot::channel();
        let node = tokio::spawn(background::run(server.app.clone(), background::Works::ALL, stopped));
        while states(&deliveries(&server, &hook).await) != [("pending", 1)] {
            tokio::task::yield_now().await;
        }
        server.import(&account_a(r#","features":["api"],"suspended":true"#)).await;
        server.clock.advance(7);
        drop(stop);
        node.await.unwrap();
        server.settle().await;
        assert_eq!(endpoint.take().len(), 1);
    }

    async fn disabling_and_trashing_fail_what_is_pending(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        let other = webhook(&server, &endpoint.url, json!({})).await;
        endpoint.script(&[failed(500); 2]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        server.put(&format!("/webhook/{hook}"), r#"{"status":"disabled"}"#).await.expect(200);
        assert_eq!(states(&deliveries(&server, &hook).await), [("failed", 1)]);
        assert_eq!(states(&deliveries(&server, &other).await), [("pending", 1)]);
        server.delete(&format!("/webhook/{other}")).await.expect(204);
        server.get(&format!("/webhook/{other}/delivery")).await.expect(404);
        endpoint.take();
        server.clock.advance(HOUR);
        server.settle().await;
        assert!(endpoint.take().is_empty());
    }

    async fn a_delivery_is_made_again_when_it_is_asked_for(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        let first = endpoint.take();
        let id = first[0].header("webhook-id").to_owned();
        let replay = format!("/webhook/{hook}/delivery/{id}/replay");
        server.post(&replay, "").await.expect(202);
        server.settle().await;
        let second = endpoint.take();
        assert_eq!((second[0].header("webhook-id"), &second[0].body), (id.as_str(), &first[0].body));
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 2)]);
        let key = server.new_key("AccountA", Scope::Read).await;
        server.post_with(&replay, "", &[("x-api-key", &key)]).await.expect(403);
        server.post_with(&replay, "", &[("if-match", "\"0\"")]).await.expect(412);
        server.post(&format!("/webhook/{hook}/delivery/none/replay"), "").await.expect(400);
        server.post(&format!("/webhook/{hook}/delivery/msg_1_0_000000000000/replay"), "").await.expect(404);
        server.put(&format!("/webhook/{hook}"), r#"{"status":"disabled"}"#).await.expect(200);
        server.post(&replay, "").await.expect(422);
        server.post(&format!("/webhook/{hook}/delivery/msg_1_0_000000000000/replay"), "").await.expect(404);
    }

    async fn a_stretch_of_time_is_delivered_again_by_a_job(server) {
        let endpoint = Receiver::start().await;
        let mut times = Vec::new();
        for title in ["one", "two", "three"] {
            times.push(server.clock.now().to_string());
            entitle(&server, "EntryTwo", title).await;
            server.clock.advance(60);
        }
        // What happened before it was made is not delivered by itself.
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        server.settle().await;
        assert!(endpoint.take().is_empty());
        let body = json!({ "after": times[1], "before": server.clock.now().to_string() });
        let accepted = server.post(&format!("/webhook/{hook}/replay"), &body.to_string()).await.expect(202);
        let job = accepted.header("location").unwrap().rsplit('/').next().unwrap().to_owned();
        server.settle().await;
        assert_eq!(titles(&endpoint.take()), ["two", "three"]);
        let job = server.get(&format!("/job/{job}")).await.expect(200).json();
        assert_eq!((&job["kind"], &job["state"], &job["progress"]["done"]), (&json!("webhook_replay"), &json!("done"), &json!(2)));
        assert_eq!(job["progress"]["total"], 2);
        let wrong = server
            .post(&format!("/webhook/{hook}/replay"), &json!({ "after": times[1], "before": times[0] }).to_string())
            .await
            .expect(422);
        assert!(wrong.json()["errors"]["before"].is_array());
        let replay = format!("/webhook/{hook}/replay");
        server.post_with(&replay, &body.to_string(), &[("if-match", "\"0\"")]).await.expect(412);

        server.post(&format!("/webhook/{hook}/replay"), &body.to_string()).await.expect(202);
        let jobs = server.get("/job?per_page=1").await.expect(200).json();
        let cursor = jobs["next_cursor"].as_str().unwrap();
        server.get(&format!("/webhook/{hook}/delivery?per_page=1&cursor={cursor}")).await.expect(400);
    }

    async fn a_test_tells_what_comes_of_one_attempt_and_is_in_no_log(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        let tried = server.post(&format!("/webhook/{hook}/test"), r#"{"event":"user_updated"}"#).await.expect(200).json();
        assert_eq!((&tried["status"], &tried["error"]), (&json!(204), &Value::Null));
        let [received]: [Received; 1] = endpoint.take().try_into().unwrap();
        assert_eq!(received.json()["event"], "user_updated");
        assert!(received.header("webhook-id").starts_with("msg_test_"));
        assert!(deliveries(&server, &hook).await.is_empty());
        let wrong = server.post(&format!("/webhook/{hook}/test"), r#"{"event":"none"}"#).await.expect(422).json();
        assert!(wrong["errors"]["event"].is_array());
    }

    async fn get_has_event_slug_and_time_in_the_query_and_no_body(server) {
        let endpoint = Receiver::start().await;
        let url = format!("{}?a=b", endpoint.url);
        webhook(&server, &url, json!({ "method": "get", "signing_key": "secret" })).await;
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        let [received]: [Received; 1] = endpoint.take().try_into().unwrap();
        assert_eq!(received.method, "GET");
        let expected = format!("a=b&event=entry_updated&slug=EntryTwo&timestamp={}", NOW.replace(':', "%3A"));
        assert_eq!(received.query, expected);
        assert!(received.body.is_empty());
        let keys = Keys::from(Key::new("secret").unwrap());
        keys.verify_hex(received.header("signature"), b"", now()).unwrap();
    }

    async fn what_is_pending_when_the_method_changes_is_sent_whole_by_the_new_one(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({ "method": "get" })).await;
        endpoint.script(&[failed(500)]);
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        server.put(&format!("/webhook/{hook}"), r#"{"method":"post"}"#).await.expect(200);
        server.clock.advance(7);
        server.settle().await;
        let received = endpoint.take();
        assert_eq!((&received[0].method, &received[1].method), (&Method::GET, &Method::POST));
        assert_eq!(titles(&received[1..]), ["one"]);
    }

    async fn a_form_limits_the_changes_and_fields_the_answers(server) {
        let endpoint = Receiver::start().await;
        webhook(&server, &endpoint.url, json!({ "form": "FormEntr", "fields": ["FieldTxt"] })).await;
        let body = json!({ "entry_fields": { "FieldTxt": "said", "FieldRad": "yes" } });
        server.put("/entry/EntryTwo", &body.to_string()).await.expect(200);
        server.settle().await;
        let received = endpoint.take();
        assert!(!received.is_empty());
        let answers = received[0].json()["entry_fields"].clone();
        assert_eq!(answers.as_array().unwrap().len(), 1, "{answers}");
        assert!(received[0].body.windows(4).any(|part| part == b"said"));
    }

    async fn the_form_of_a_document_is_that_of_its_entry(server) {
        let other = r#"{"kind":"form","slug":"FormTwoA","season":"SeasonAc","name":{"en_GB":"Two"}}"#;
        server.import(&of_account_a(other)).await;
        let endpoints = [Receiver::start().await, Receiver::start().await];
        for (endpoint, form) in endpoints.iter().zip(["FormEntr", "FormTwoA"]) {
            webhook(&server, &endpoint.url, json!({ "form": form, "events": ["document_deleted"] })).await;
        }
        let of = |slug: &str, about: &str| {
            format!(r#"{{"kind":"document","slug":"{slug}","name":{{"en_GB":"D"}},"file":"TokenOfTheLogoFileOfAllX","file_type":"PDF","filename":"d.pdf",{about}}}"#)
        };
        let lines = [of("DocuEntr", r#""entry":"EntryTwo""#), of("DocuUser", r#""user":"UserEntr""#)];
        server.import(&of_account_a(&lines.join("\n"))).await;
        for slug in ["DocuEntr", "DocuUser"] {
            server.delete(&format!("/document/{slug}")).await.expect(204);
        }
        server.settle().await;
        let received: Vec<_> = endpoints[0].take().iter().map(|received| received.json()["slug"].clone()).collect();
        assert_eq!((received, endpoints[1].take().len()), (vec![json!("DocuEntr")], 0));
    }

    async fn a_replaced_key_signs_for_a_day_beside_the_new_one(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({ "signing_key": "first" })).await;
        server.put(&format!("/webhook/{hook}"), r#"{"signing_key":"second"}"#).await.expect(200);
        let signatures = async |server: &Server, title: &str| {
            entitle(server, "EntryTwo", title).await;
            server.settle().await;
            endpoint.take().pop().unwrap()
        };
        let received = signatures(&server, "within").await;
        assert_eq!(received.header("webhook-signature").split(' ').count(), 2);
        let keys = Keys::from(Key::new("second").unwrap());
        keys.verify_hex(received.header("signature"), &received.body, now()).unwrap();
        server.clock.advance(24 * HOUR);
        let received = signatures(&server, "after").await;
        assert_eq!(received.header("webhook-signature").split(' ').count(), 1);
    }

    async fn an_address_that_is_no_longer_allowed_is_refused_at_delivery_with_the_reason(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        let server = server.restart_with(|settings| settings.outgoing.allowed = Arc::default()).await;
        entitle(&server, "EntryTwo", "one").await;
        server.settle().await;
        assert!(endpoint.take().is_empty());
        let found = deliveries(&server, &hook).await;
        assert_eq!(found[0]["attempts"][0]["error"], "127.0.0.1 is a loopback address");
        let wrong = json!({ "name": "Hook", "method": "post", "url": endpoint.url, "events": ["entry_updated"] });
        let wrong = server.post("/webhook", &wrong.to_string()).await.expect(422).json();
        assert_eq!(wrong["errors"], json!({ "url": ["127.0.0.1 is a loopback address"] }));
        let tried = server.post(&format!("/webhook/{hook}/test"), r#"{"event":"entry_updated"}"#).await.expect(200).json();
        assert_eq!(tried["error"], "127.0.0.1 is a loopback address");
    }

    async fn what_is_pending_failing_disabled_and_kept_is_measured(server) {
        let endpoint = Receiver::start().await;
        webhook(&server, &endpoint.url, json!({})).await;
        let disabled = webhook(&server, &endpoint.url, json!({})).await;
        server.put(&format!("/webhook/{disabled}"), r#"{"status":"disabled"}"#).await.expect(200);
        endpoint.script(&[failed(500)]);
        entitle(&server, "EntryTwo", "one").await;
        entitle(&server, "EntryOne", "two").await;
        server.settle().await;
        let kept: usize = endpoint.take().iter().map(|received| received.body.len()).sum();
        let measured = async |server: &Server| {
            background::measure(&server.app).await.unwrap();
            String::from(server.app.metrics.exposition(&server.app))
        };
        // A success ends the failing, whatever is still to be attempted again.
        let text = measured(&server).await;
        for line in [
            "# TYPE plaudit_webhooks_enabled gauge",
            "plaudit_webhooks_enabled 1",
            "plaudit_webhooks_failing 0",
            "plaudit_webhooks_disabled 1",
            "plaudit_deliveries_pending 1",
            "plaudit_deliveries_oldest_pending_seconds 0",
            &format!("plaudit_delivery_body_bytes {kept}"),
            r#"plaudit_webhook_attempts_total{outcome="delivered"} 1"#,
            r#"plaudit_webhook_attempts_total{outcome="retried"} 1"#,
            r#"plaudit_webhook_attempts_total{outcome="failed"} 0"#,
            "plaudit_mails_failed 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert_eq!(text.matches("# TYPE plaudit_jobs gauge\nplaudit_jobs{").count(), 1, "{text}");

        server.clock.advance(7);
        endpoint.script(&[failed(500)]);
        server.settle().await;
        server.clock.advance(53);
        let text = measured(&server).await;
        for line in [
            "plaudit_webhooks_failing 1",
            "plaudit_webhooks_failing_seconds 53",
            "plaudit_deliveries_oldest_pending_seconds 60",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }

        let account = server.account("AccountA").await;
        let mut wrong = Vec::new();
        let sequence = server.db.latest(account);
        let mut tx = server.db.snapshot().await.unwrap();
        store::each_wrong(&mut tx, account, sequence, |fault| wrong.push(fault)).await.unwrap();
        assert_eq!(wrong, Vec::<String>::new());
    }

    async fn a_long_delivery_waits_for_memory_and_delays_no_short_one(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({})).await;
        entitle(&server, "EntryTwo", "short").await;
        let long = json!({ "value": "x".repeat(40_000) });
        server.put("/entry/EntryTwo/update-field/FieldTxt", &long.to_string()).await.expect(200);
        entitle(&server, "EntryOne", "short").await;
        let mut taken = server.app.budgets.memory(server.account("AccountB").await);
        taken.overdraws = true;
        assert!(taken.grow(server.app.budgets.limits().memory_bytes));
        server.settle().await;
        let lengths: Vec<bool> = endpoint.take().iter().map(|received| received.body.len() > 65_536).collect();
        assert_eq!(lengths, [false, false], "the first of EntryTwo, and that of EntryOne");
        assert_eq!(states(&deliveries(&server, &hook).await), [("delivered", 1), ("pending", 0), ("delivered", 1)]);
        drop(taken);
        server.settle().await;
        assert!(endpoint.take().is_empty(), "it looks for memory once a second");
        server.clock.advance(1);
        server.settle().await;
        assert!(endpoint.take()[0].body.len() > 65_536);
        assert_eq!(server.app.budgets.memory_bytes(), 0);
    }

    async fn a_replay_ends_at_once_and_says_so_once_where_the_webhook_is_disabled_meanwhile(server) {
        let endpoint = Receiver::start().await;
        let hook = webhook(&server, &endpoint.url, json!({ "form": "FormEntr" })).await;
        let after = server.clock.now().to_string();
        // Few of these documents are read at once.
        for number in 0..20 {
            let value = json!({ "value": format!("{number}{}", "x".repeat(60_000)) });
            server.put("/entry/EntryTwo/update-field/FieldTxt", &value.to_string()).await.expect(200);
        }
        server.settle().await;
        server.clock.advance(60);
        let body = json!({ "after": after, "before": server.clock.now().to_string() }).to_string();
        let (account, name) = (server.account("AccountA").await, LeaseName::Webhook(Slug::parse(&hook).unwrap()));
        // One poll may take all steps where the database is quick: then the next replay is interrupted.
        let job = 'interrupted: loop {
            let accepted = server.post(&format!("/webhook/{hook}/replay"), &body).await.expect(202);
            let job = accepted.header("location").unwrap().to_owned();
            let mut settling = pin!(server.settle());
            while std::future::poll_fn(|context| Poll::Ready(settling.as_mut().poll(context).is_pending())).await {
                let done = server.get(&job).await.expect(200).json()["progress"]["done"].as_u64().unwrap();
                if (1..=10).contains(&done) {
                    let removed = server.db.write(account, (account, name), |tx, (account, name)| {
                        Box::pin(leases::remove(tx, *account, *name))
                    });
                    removed.await.map_err(|error: DbError| error).unwrap();
                    settling.await;
                    break 'interrupted job;
                }
            }
        };
        let job = server.get(&job).await.expect(200).json();
        let progress = &job["progress"];
        assert!(progress["done"].as_u64().unwrap() < 20, "{progress}");
        assert_eq!(progress["failed"], 1);
        assert_eq!((&job["state"], job["errors"].as_array().unwrap().len()), (&json!("done"), 1));
    }
}
