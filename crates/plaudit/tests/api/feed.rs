//! `GetEventCollectionV23`: every change of an account, once and in order.

use std::time::Duration;

use plaudit::program::keys::{self, ApiKey, Scope};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::{Answer, NOW, Server, tree};
use crate::histories::{keep, put_back};

/// How long an answer that is given at once may take.
const AT_ONCE: Duration = Duration::from_secs(20);

fn cursor(page: &Value) -> String {
    page["next_cursor"].as_str().unwrap().to_owned()
}

/// Whether a change is wanted.
type Wants = fn(&Value) -> bool;

/// The page that a query gives behind a cursor.
async fn page(server: &Server, query: &str, cursor: &str) -> Value {
    server.get(&format!("/event?{query}&cursor={cursor}")).await.expect(200).json()
}

/// What pages give from a cursor up to the end, and the cursor there.
async fn walk(server: &Server, query: &str, from: &str) -> (Vec<Value>, String) {
    let (mut changes, mut at) = (Vec::new(), from.to_owned());
    loop {
        let page = page(server, query, &at).await;
        let next = cursor(&page);
        if next == at {
            assert_eq!(page["data"], json!([]));
            return (changes, at);
        }
        changes.extend(page["data"].as_array().unwrap().iter().cloned());
        at = next;
    }
}

/// The changes as the log has them.
fn logged(changes: &[Value]) -> Vec<String> {
    let text = |change: &Value, name: &str| change[name].as_str().unwrap().to_owned();
    let events = |change: &Value| {
        let events = change["events"].as_array().unwrap().iter();
        events.map(|event| event.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(",")
    };
    let line = |change: &Value| {
        let [kind, slug, action] = ["kind", "slug", "action"].map(|name| text(change, name));
        format!("{kind} {slug} {action} {}", events(change)).trim_end().to_owned()
    };
    changes.iter().map(line).collect()
}

/// What a change of an answer is in the log.
const ANSWERED: &str = "entry EntryOne updated entry_updated,field_value_updated";

/// Changes an answer, which is one change.
async fn reanswer(server: &Server, value: &str) {
    let body = json!({ "value": value }).to_string();
    server.put("/entry/EntryOne/update-field/FieldTxt", &body).await.expect(200);
}

/// What is answered to a request that waits while `meanwhile` is done.
async fn waited(server: &Server, path: &str, headers: &[(&str, &str)], meanwhile: impl Future<Output = ()>) -> Answer {
    let before = server.app.tails.open();
    let waits = async {
        while server.app.tails.open() == before {
            tokio::task::yield_now().await;
        }
        meanwhile.await;
    };
    let both = async { tokio::join!(server.get_with(path, headers), waits).0 };
    let answer = tokio::time::timeout(AT_ONCE, both).await.expect("nobody is told");
    assert_eq!(server.app.tails.open(), before, "whoever is answered waits no more");
    answer
}

both_engines! {
    async fn every_change_comes_once_and_in_order_whatever_the_pages(server) {
        reanswer(&server, "Other").await;
        server.delete("/entry/EntryTwo").await.expect(204);
        let expected = server.changes("AccountA").await;
        for query in ["per_page=1", "per_page=7", "per_page=1000", ""] {
            let (changes, _) = walk(&server, query, "").await;
            assert_eq!(logged(&changes), expected, "{query}");
            let sequences: Vec<_> = changes.iter().map(|change| change["sequence"].as_u64().unwrap()).collect();
            assert_eq!(sequences, (1..=changes.len() as u64).collect::<Vec<_>>(), "{query}");
        }
        assert_eq!(page(&server, "", "").await["data"].as_array().unwrap().len(), 10);
    }

    async fn a_change_tells_who_did_what_to_which_record(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        reanswer(&server, "Other").await;
        server.new_key("AccountA", Scope::Read).await;
        let (changes, _) = walk(&server, "", &end).await;
        let members: Vec<_> = changes[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            members,
            ["sequence", "timestamp", "actor", "source", "kind", "slug", "link", "action", "events"]
        );
        let key = &changes[0]["actor"]["slug"];
        assert_eq!(key.as_str().unwrap().len(), 8);
        assert_eq!(changes[0]["actor"], json!({ "kind": "key", "slug": key }));
        assert_eq!((&changes[0]["timestamp"], &changes[0]["source"]), (&json!(NOW), &json!("api")));
        assert_eq!(changes[0]["link"], "https://api.example.org/entry/EntryOne");
        assert_eq!((&changes[0]["action"], &changes[0]["events"]), (&json!("updated"), &json!(["entry_updated", "field_value_updated"])));
        assert_eq!(changes[1]["actor"], json!({ "kind": "operator", "slug": null }));
        assert_eq!((&changes[1]["kind"], &changes[1]["link"]), (&json!("api_key"), &Value::Null));
    }

    async fn at_the_end_the_cursor_stays_good_and_gives_what_comes_later(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let path = format!("/event?cursor={end}");
        let empty = server.get(&path).await.expect(200);
        let tag = empty.header("etag").unwrap().to_owned();
        server.get_with(&path, &[("if-none-match", &tag)]).await.expect(304);
        reanswer(&server, "Later").await;
        let later = server.get_with(&path, &[("if-none-match", &tag)]).await.expect(200);
        assert_eq!(logged(later.json()["data"].as_array().unwrap()), [ANSWERED]);
        let server = server.restart().await;
        assert_eq!(server.get(&path).await.json(), later.json());
    }

    async fn filters_choose_changes_and_may_be_others_on_the_way(server) {
        reanswer(&server, "Other").await;
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        server.put("/chapter/ChapterS", r#"{"status":"inactive"}"#).await.expect(200);
        let (all, end) = walk(&server, "per_page=1000", "").await;
        let filters: [(&str, Wants); 5] = [
            ("kind=chapter", |change| change["kind"] == "chapter"),
            ("slug=EntryOne", |change| change["slug"] == "EntryOne"),
            ("kind=entry&slug=EntryOne", |change| change["slug"] == "EntryOne"),
            ("event=entry_chapter_changed", |change| change["events"][1] == "entry_chapter_changed"),
            ("kind=entry&slug=EntryOne&event=entry_updated", |change| {
                change["slug"] == "EntryOne" && change["events"][0] == "entry_updated"
            }),
        ];
        for (filter, wants) in filters {
            let expected: Vec<_> = all.iter().filter(|change| wants(change)).cloned().collect();
            assert!(!expected.is_empty() && expected.len() < all.len());
            for size in [1, 2, 1000] {
                let (found, at) = walk(&server, &format!("{filter}&per_page={size}"), "").await;
                assert_eq!((&found, &at), (&expected, &end), "{filter} {size}");
            }
            // What another filter has looked at is behind this one, too.
            let first = page(&server, &format!("{filter}&per_page=1"), "").await;
            let (rest, _) = walk(&server, "per_page=1000", &cursor(&first)).await;
            let seen = first["data"][0]["sequence"].as_u64().unwrap();
            assert_eq!(rest.first().map(|change| change["sequence"].as_u64().unwrap()), Some(seen + 1), "{filter}");
        }
        assert_eq!(walk(&server, "slug=NoSuchSl", "").await, (Vec::new(), end));
    }

    async fn a_cursor_of_another_history_is_refused(server) {
        keep(&server).await;
        reanswer(&server, "Lost").await;
        let (_, lost) = walk(&server, "per_page=1000", "").await;
        put_back(&server).await;
        server.get(&format!("/event?cursor={lost}")).await.expect(400);
        reanswer(&server, "Found").await;
        let refused = server.get(&format!("/event?cursor={lost}&wait=30")).await.expect(400);
        assert!(refused.text().contains("another history"), "{}", refused.text());
        let (changes, end) = walk(&server, "per_page=1000", "").await;
        assert_eq!(logged(&changes), server.changes("AccountA").await);
        let other = server.new_key("AccountB", Scope::Read).await;
        server.get_with(&format!("/event?cursor={end}"), &[("x-api-key", &other)]).await.expect(400);
    }

    async fn an_account_sees_its_own_changes_alone(server) {
        let key = server.new_key("AccountB", Scope::Read).await;
        let page = server.get_with("/event?per_page=1000", &[("x-api-key", &key)]).await.expect(200).json();
        assert_eq!(logged(page["data"].as_array().unwrap()), server.changes("AccountB").await);
    }

    async fn a_number_that_is_missing_is_an_error_and_not_left_out(server) {
        let account = server.account("AccountA").await;
        let mut tx = server.db.begin().await.unwrap();
        tx.execute("DELETE FROM changes WHERE account = $1 AND sequence = 20", &[account.into()]).await.unwrap();
        tx.commit().await.unwrap();
        server.get("/event").await.expect(200);
        for query in ["per_page=1000", "kind=entry"] {
            server.get(&format!("/event?{query}")).await.expect(500);
        }
    }

    async fn a_page_looks_at_so_many_changes_and_goes_on_behind_them(server) {
        let account = server.account("AccountA").await;
        let mut count = i64::try_from(server.changes("AccountA").await.len()).unwrap();
        let mut tx = server.db.begin().await.unwrap();
        while count <= 10_000 {
            let double = "INSERT INTO changes (account, sequence, at, doc_form, actor, source, kind, slug, action, events, doc, \
                          doc_hash, hash) SELECT account, sequence + $2, at, doc_form, actor, source, kind, slug, action, \
                          events, doc, doc_hash, hash FROM changes WHERE account = $1";
            tx.execute(double, &[account.into(), count.into()]).await.unwrap();
            count *= 2;
        }
        let to_the_end = "UPDATE accounts SET sequence = $2 WHERE id = $1";
        tx.execute(to_the_end, &[account.into(), count.into()]).await.unwrap();
        tx.commit().await.unwrap();
        // Nobody waits before the end.
        let asks = page(&server, "event=payment_success&wait=30", "");
        let first = tokio::time::timeout(AT_ONCE, asks).await.expect("it waits before the end");
        assert_eq!(first["data"], json!([]));
        let next = page(&server, "per_page=1", &cursor(&first)).await;
        assert_eq!(next["data"][0]["sequence"], 10_001);
        let all = page(&server, "per_page=1000", "").await;
        assert_eq!(all["data"].as_array().unwrap().len(), 1_000);
        // The changes of one record are found without looking at others.
        let (of_one, _) = walk(&server, "kind=entry&slug=EntryOne&per_page=1000", "").await;
        assert_eq!(of_one.last().unwrap()["slug"], "EntryOne");
        assert!(of_one.last().unwrap()["sequence"].as_i64().unwrap() > 10_000);
    }

    async fn whoever_waits_is_answered_as_soon_as_something_comes(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let path = format!("/event?cursor={end}&wait=30");
        let answer = waited(&server, &path, &[], reanswer(&server, "One")).await.expect(200).json();
        assert_eq!(logged(answer["data"].as_array().unwrap()), [ANSWERED]);
        // What another process writes is found by a look.
        let path = format!("/event?cursor={}&wait=30", cursor(&answer));
        let other = server.other_process().await;
        let elsewhere = async {
            let request = server.request("PUT", "/entry/EntryOne/update-field/FieldTxt", &[], Some(r#"{"value":"Two"}"#));
            assert_eq!(other.oneshot(request).await.unwrap().status(), 200);
            server.app.db.look().await.unwrap();
        };
        let answer = waited(&server, &path, &[], elsewhere).await.expect(200).json();
        assert_eq!(answer["data"].as_array().unwrap().len(), 1);
        // Where there is something, nobody waits.
        assert_eq!(server.get(&path).await.expect(200).json(), answer);
    }

    async fn what_is_not_wanted_ends_no_wait_and_is_passed_over(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let path = format!("/event?cursor={end}&wait=30&kind=chapter");
        let meanwhile = async {
            reanswer(&server, "Passed over").await;
            // The program changes, and the request is checked again by it.
            server.put("/chapter/ChapterS", r#"{"status":"inactive"}"#).await.expect(200);
        };
        let answer = waited(&server, &path, &[], meanwhile).await.expect(200).json();
        assert_eq!(logged(answer["data"].as_array().unwrap()), ["chapter ChapterS updated"]);
    }

    async fn a_wait_outlasts_changes_of_the_program_that_are_not_wanted(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let path = format!("/event?cursor={end}&wait=30&kind=round");
        let meanwhile = async {
            for status in ["inactive", "active"].repeat(5) {
                server.put("/chapter/ChapterS", &json!({ "status": status }).to_string()).await.expect(200);
            }
            server.clock.advance(30);
            reanswer(&server, "Not wanted").await;
        };
        let answer = waited(&server, &path, &[], meanwhile).await.expect(200).json();
        assert_eq!(answer["data"], json!([]));
    }

    async fn a_wait_ends_with_its_time_or_the_service_and_gives_a_cursor(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let path = format!("/event?cursor={end}&wait=30&event=payment_success");
        let time_passes = async {
            server.clock.advance(30);
            reanswer(&server, "Not wanted").await;
        };
        let answer = waited(&server, &path, &[], time_passes).await.expect(200).json();
        assert_eq!(answer["data"], json!([]));
        let (_, end) = walk(&server, "per_page=1000", &cursor(&answer)).await;
        let path = format!("/event?cursor={end}&wait=30");
        let stopped = waited(&server, &path, &[], async { server.app.tails.stop() }).await.expect(200).json();
        assert_eq!(stopped, json!({ "data": [], "next_cursor": end }));
    }

    async fn a_key_that_is_revoked_waits_no_more(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let secret = keys::new_secret(&server.ids);
        let mut key = ApiKey {
            slug: server.ids.slug(),
            name: "reader".to_owned(),
            scope: Scope::Read,
            user: None,
            expires: None,
            revoked: None,
            rotated: None,
            notify: Vec::new(),
            created: server.clock.now(),
        };
        server.save_key("AccountA", &key, &secret).await;
        key.revoked = Some(server.clock.now());
        let (_, end) = walk(&server, "per_page=1000", &end).await;
        let path = format!("/event?cursor={end}&wait=30");
        let revoke = server.save_key("AccountA", &key, &secret);
        waited(&server, &path, &[("x-api-key", &secret)], revoke).await.expect(403);
    }

    async fn whoever_waits_counts_as_a_stream(server) {
        let (_, end) = walk(&server, "per_page=1000", "").await;
        let mut streams = Vec::new();
        for _ in 0..30 {
            streams.push(server.open(server.request("GET", "/entry/stream", &[], None)).await);
        }
        let answer = server.get(&format!("/event?cursor={end}&wait=30")).await.expect(429);
        assert_eq!(answer.header("retry-after"), Some("10"));
        // Who does not have to wait is answered.
        server.get(&format!("/event?cursor={end}")).await.expect(200);
        server.get("/event?wait=30").await.expect(200);
    }

    async fn both_formats_have_the_same_members(server) {
        reanswer(&server, "a <b> &").await;
        for query in ["per_page=1000", "per_page=1", "event=payment_success"] {
            let path = format!("/event?{query}");
            let [json, xml] = [
                server.get_with(&path, &[("accept", FORMATS[0])]).await.expect(200),
                server.get_with(&path, &[("accept", FORMATS[1])]).await.expect(200),
            ];
            tree::assert_same(&json.body, &xml.body);
        }
    }

    async fn a_query_that_is_wrong_is_told_why(server) {
        for (query, member, name) in [
            ("page=1", "invalid_filter_names", None),
            ("order=sequence", "invalid_filter_names", None),
            ("kind=events", "invalid_filter_values", Some("kind")),
            ("event=entry_exploded", "invalid_filter_values", Some("event")),
            ("slug=", "invalid_filter_values", Some("slug")),
            ("wait=0", "invalid_filter_values", Some("wait")),
            ("wait=31", "invalid_filter_values", Some("wait")),
            ("wait=1.5", "invalid_filter_values", Some("wait")),
            ("kind=entry&kind=entry", "invalid_filter_values", Some("kind")),
        ] {
            let errors = server.get(&format!("/event?{query}")).await.expect(400).json()["errors"].clone();
            assert!(errors[member].is_string() || errors[member][name.unwrap_or_default()].is_string(), "{query} {errors}");
        }
        for query in ["per_page=0", "per_page=1001", "cursor=x", "cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "cursor=%ff"] {
            server.get(&format!("/event?{query}")).await.expect(400);
        }
        server.post("/event", "{}").await.expect(405);
        server.get_with("/event", &[("x-api-key", "")]).await.expect(401);
    }
}
