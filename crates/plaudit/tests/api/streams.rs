//! `GetEntryStreamV23` and `GetEntryCollectionStreamV23`: the changes of entries, as they happen.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use http_body_util::BodyExt;
use kernel::text::Timestamp;
use plaudit::program::keys::{self, ApiKey, Scope};
use plaudit::services::store::set_maintenance;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::{ACCOUNT_B, account_a, of_account_a};
use crate::harness::{Server, tree};

mod ends;
mod floods;
mod persons;
mod refused;

const ALL: &str = "/entry/stream";
const ONE: &str = "/entry/EntryOne/stream";

/// How long a stream may be silent before a test that waits for it fails. Nothing waits that long otherwise.
const PATIENCE: Duration = Duration::from_mins(2);

/// One block of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Block {
    id: Option<i64>,
    event: Option<String>,
    data: Option<String>,
    retry: Option<u64>,
    is_comment: bool,
}

impl Block {
    fn read(text: &str) -> Self {
        let mut block = Self::default();
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap();
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => block.is_comment = true,
                "id" => block.id = Some(value.parse().unwrap()),
                "event" => block.event = Some(value.to_owned()),
                "retry" => block.retry = Some(value.parse().unwrap()),
                "data" => match &mut block.data {
                    Some(data) => *data = format!("{data}\n{value}"),
                    data => *data = Some(value.to_owned()),
                },
                other => panic!("a field {other}"),
            }
        }
        block
    }

    fn json(&self) -> Value {
        serde_json::from_str(self.data.as_ref().unwrap()).unwrap()
    }

    fn id(&self) -> i64 {
        self.id.unwrap()
    }
}

/// An open stream.
struct Stream {
    headers: HeaderMap,
    body: Body,
    text: String,
}

impl Stream {
    async fn open(server: &Server, path: &str, headers: &[(&str, &str)]) -> Self {
        let response = server.open(server.request("GET", path, headers, None)).await;
        let (parts, body) = response.into_parts();
        assert_eq!(parts.status, 200);
        Self { headers: parts.headers, body, text: String::new() }
    }

    /// An open stream whose first block was read: where it begins.
    async fn begin(server: &Server, path: &str, headers: &[(&str, &str)]) -> (Self, i64) {
        let mut stream = Self::open(server, path, headers).await;
        let first = stream.block().await.unwrap();
        assert!(first.retry.is_some() && first.data.is_none());
        (stream, first.id())
    }

    /// A stream that goes on after an event.
    async fn after(server: &Server, path: &str, id: i64) -> Self {
        let (stream, begins) = Self::begin(server, path, &[("last-event-id", &id.to_string())]).await;
        assert_eq!(begins, id);
        stream
    }

    /// The next block; nothing at the end of the stream.
    async fn block(&mut self) -> Option<Block> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = Block::read(block);
                let rest = rest.to_owned();
                self.text = rest;
                return Some(block);
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("the stream is silent");
            let Some(frame) = frame else {
                assert!(self.text.is_empty(), "half a block: {}", self.text);
                return None;
            };
            let data = frame.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The next block with data.
    async fn event(&mut self) -> Block {
        loop {
            let block = self.block().await.expect("the stream has ended");
            if block.data.is_some() {
                return block;
            }
        }
    }

    async fn events(&mut self, count: usize) -> Vec<Block> {
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(self.event().await);
        }
        events
    }

    /// Reads to the end of the stream, where no event may come any more.
    async fn end(mut self) {
        let mut last = None;
        while let Some(block) = self.block().await {
            assert_eq!(block.data, None);
            last = Some(block);
        }
        assert!(last.is_some_and(|block| block.retry.is_some()), "who is sent away is told for how long");
    }
}

/// Moves an entry to the other chapter and gives the revision that it has then, and what was answered.
async fn change(server: &Server, entry: &str) -> (i64, Value) {
    let shown = server.shown_entry("AccountA", entry).await;
    let chapter = if shown["chapter"]["slug"] == "ChapterN" { "ChapterS" } else { "ChapterN" };
    let body = json!({"chapter": chapter}).to_string();
    let answer = server.put(&format!("/entry/{entry}/update-chapter"), &body).await.expect(200);
    let revision = answer.header("etag").unwrap().trim_matches('"').split('.').next().unwrap().parse().unwrap();
    (revision, answer.json())
}

/// The number of the account's last change.
async fn head(server: &Server) -> i64 {
    i64::try_from(server.changes("AccountA").await.len()).unwrap()
}

/// Entries with these numbers, as lines to be imported.
fn entries(numbers: std::ops::Range<usize>, title: &str) -> String {
    let letter = |number: usize| char::from(b'a' + u8::try_from(number % 26).unwrap());
    let line = |number: usize| {
        let slug: String = [number / 676, number / 26, number].into_iter().map(letter).collect();
        let local_id = number + 100;
        format!(
            r#"{{"kind":"entry","slug":"Entry{slug}","local_id":{local_id},"title":"{title}","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr"}}"#
        )
    };
    of_account_a(&numbers.map(line).collect::<Vec<_>>().join("\n"))
}

both_engines! {
    async fn a_stream_begins_with_headers_that_keep_it_open_and_with_its_place(server) {
        for path in [ALL, ONE] {
            for format in FORMATS {
                let mut stream = Stream::open(&server, path, &[("accept", format)]).await;
                let header = |name: &str| stream.headers.get(name).map(|value| value.to_str().unwrap());
                assert_eq!(header("content-type"), Some("text/event-stream"));
                assert_eq!(header("cache-control"), Some("no-store"));
                assert_eq!(header("x-accel-buffering"), Some("no"));
                assert_eq!(header("etag"), None);
                assert!(header("x-request-id").is_some() && header("x-ratelimit-remaining").is_some());
                let first = stream.block().await.unwrap();
                assert_eq!(first.id, Some(head(&server).await));
                assert!((1_000..3_000).contains(&first.retry.unwrap()));
            }
        }
        let request = server.request("HEAD", ALL, &[], None);
        let answer = server.send_anything(request).await.expect(200);
        assert_eq!((answer.header("content-type"), answer.body.len()), (Some("text/event-stream"), 0));
        assert_eq!(server.app.tails.open(), 0, "streams that nobody reads are closed");
    }

    async fn a_change_reaches_every_open_stream_with_the_whole_entry(server) {
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        let mut one = Stream::begin(&server, ONE, &[]).await.0;
        let (revision, shown) = change(&server, "EntryOne").await;
        let event = all.event().await;
        assert_eq!((event.id, event.event.as_deref()), (Some(revision), Some("entry_updated")));
        let data = event.json();
        let members: Vec<_> = data.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["events", "sequence", "timestamp", "source", "entry"]);
        assert_eq!(data["events"], json!(["entry_updated", "entry_chapter_changed"]));
        assert_eq!(data["sequence"], revision);
        assert_eq!(data["timestamp"], crate::harness::NOW);
        assert_eq!(data["source"], "api");
        assert_eq!(data["entry"].to_string(), shown.to_string(), "as the writer was answered, member by member");
        assert_eq!(server.get("/entry/EntryOne").await.json(), shown);
        assert_eq!(one.event().await, event);
    }

    async fn a_change_shows_how_its_entrant_is_called_when_it_is_read(server) {
        let (mut all, begins) = Stream::begin(&server, ALL, &[]).await;
        server.put("/user/UserEntr", r#"{"first_name":"Zoe é \"","email":"zoe@example.org"}"#).await.expect(200);
        let (revision, shown) = change(&server, "EntryOne").await;
        let event = all.event().await;
        assert_eq!(event.id, Some(revision), "a new name is no change of an entry");
        assert_eq!(event.json()["entry"].to_string(), shown.to_string());
        assert_eq!(shown["entrant"]["first_name"], "Zoe é \"");
        drop(all);
        server.put("/user/UserEntr", r#"{"first_name":"Yve"}"#).await.expect(200);
        for format in FORMATS {
            let headers = [("accept", format), ("last-event-id", &*begins.to_string())];
            for path in [ALL, ONE] {
                let event = Stream::begin(&server, path, &headers).await.0.event().await;
                assert_eq!(event.id, Some(revision));
                assert!(event.data.unwrap().contains("Yve"), "{path}");
            }
        }
    }

    async fn the_stream_of_an_entry_passes_over_the_others_and_tells_how_far_it_is(server) {
        let (mut one, begins) = Stream::begin(&server, ONE, &[]).await;
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        change(&server, "EntryTwo").await;
        server.put("/chapter/ChapterX", r#"{"status":"active"}"#).await.expect(200);
        let (revision, _) = change(&server, "EntryTwo").await;
        // What the stream of all has shown, that of one entry has passed over.
        assert_eq!(all.events(2).await.last().unwrap().id, Some(revision));
        assert_eq!(revision, begins + 3, "changes of other kinds have numbers too");
        (0..15).for_each(|_| server.app.tails.beat(false));
        let beat = one.block().await.unwrap();
        assert!(beat.is_comment && beat.id == Some(revision) && beat.data.is_none());
        let (last, _) = change(&server, "EntryOne").await;
        assert_eq!(one.event().await.id, Some(last));
    }

    async fn data_is_in_the_format_and_languages_of_the_request(server) {
        server.import(&of_account_a(
            r#"{"kind":"entry","slug":"EntryAll","local_id":77,"title":"All","season":"SeasonAc","category":"CategPar","chapter":"ChapterN","form":"FormEntr","entrant":"UserMana","comments":"one\ntwo\r\n\r\nthree\n"}"#,
        ))
        .await;
        for language in ["", "all", "ar_AR"] {
            for entry in ["EntryOne", "EntryAll"] {
                let headers = |format| [("accept", format), ("x-api-language", language)];
                let mut streams = Vec::new();
                for format in FORMATS {
                    streams.push(Stream::begin(&server, ALL, &headers(format)).await.0);
                }
                change(&server, entry).await;
                let json = streams[0].event().await;
                let xml = streams[1].event().await;
                assert_eq!((json.id, &json.event), (xml.id, &xml.event));
                tree::assert_same(json.data.as_ref().unwrap().as_bytes(), xml.data.as_ref().unwrap().as_bytes());
                let names = json.json()["entry"]["chapter"]["name"].as_object().unwrap().len();
                assert_eq!(names, if language == "all" { 3 } else { 1 });
                assert_eq!(json.json()["entry"]["comments"].as_str().unwrap().contains('\r'), entry == "EntryAll");
            }
        }
    }

    async fn every_change_comes_once_and_in_order_wherever_a_stream_goes_on(server) {
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        let mut expected = Vec::new();
        for round in 0..40 {
            expected.push(change(&server, if round % 3 == 0 { "EntryTwo" } else { "EntryOne" }).await.0);
        }
        let events = all.events(40).await;
        assert_eq!(events.iter().map(Block::id).collect::<Vec<_>>(), expected);
        for seen in (0..40).step_by(13) {
            let mut stream = Stream::after(&server, ALL, expected[seen]).await;
            assert_eq!(stream.events(39 - seen).await, events[seen + 1..]);
        }
    }

    async fn a_stream_goes_on_where_it_was_also_after_a_restart(server) {
        let (mut all, begins) = Stream::begin(&server, ALL, &[]).await;
        let first = change(&server, "EntryOne").await.0;
        assert_eq!(all.event().await.id, Some(first));
        server.app.tails.stop();
        all.end().await;
        let missed = change(&server, "EntryTwo").await.0;
        let server = server.restart().await;
        let last = change(&server, "EntryOne").await.0;
        let mut streams = Vec::new();
        for (path, after, expected) in [
            (ALL, begins, vec![first, missed, last]),
            (ALL, first, vec![missed, last]),
            (ALL, last, vec![]),
            (ONE, begins, vec![first, last]),
            (ONE, missed, vec![last]),
        ] {
            streams.push((Stream::after(&server, path, after).await, expected));
        }
        let next = change(&server, "EntryOne").await.0;
        for (stream, expected) in &mut streams {
            expected.push(next);
            let events = stream.events(expected.len()).await;
            assert_eq!(events.iter().map(Block::id).collect::<Vec<_>>(), *expected);
        }
    }

    async fn a_change_costs_the_same_statements_however_many_streams_are_open(server) {
        let mut counts = Vec::new();
        let mut streams = Vec::new();
        for _ in 0..3 {
            for path in [ALL, ONE] {
                streams.push(Stream::begin(&server, path, &[]).await.0);
            }
            // Two changes, because the first one meets streams that have just been opened.
            for _ in 0..2 {
                let before = server.db.statements();
                change(&server, "EntryOne").await;
                for stream in &mut streams {
                    stream.event().await;
                }
                counts.push(server.db.statements() - before);
            }
        }
        assert_eq!((counts[1], counts[1]), (counts[3], counts[5]), "{counts:?}");
    }

    async fn a_change_by_another_process_comes_too(server) {
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        let other = server.other_process().await;
        let request = server.request("PUT", "/entry/EntryOne/update-chapter", &[], Some(r#"{"chapter":"ChapterS"}"#));
        assert_eq!(other.oneshot(request).await.unwrap().status(), 200);
        server.app.db.look().await.unwrap();
        assert_eq!(all.event().await.json()["entry"]["chapter"]["slug"], "ChapterS");
    }

    async fn what_was_erased_from_the_log_is_passed_over(server) {
        let begins = head(&server).await;
        let mut revisions = Vec::new();
        for _ in 0..3 {
            revisions.push(change(&server, "EntryOne").await.0);
        }
        let account = server.account("AccountA").await;
        let sql = "UPDATE changes SET doc = NULL WHERE account = $1 AND sequence = $2";
        let mut tx = server.db.begin().await.unwrap();
        tx.execute(sql, &[account.into(), revisions.remove(1).into()]).await.unwrap();
        tx.commit().await.unwrap();
        for path in [ALL, ONE] {
            let events = Stream::after(&server, path, begins).await.events(2).await;
            assert_eq!(events.iter().map(Block::id).collect::<Vec<_>>(), revisions, "{path}");
        }
    }

    async fn an_event_shows_the_program_as_it_is(server) {
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        server.put("/chapter/ChapterS", r#"{"translated":{"name":{"en_GB":"Far south"}}}"#).await.expect(200);
        let shown = change(&server, "EntryOne").await.1;
        assert_eq!(shown["chapter"]["name"], json!({"en_GB": "Far south"}));
        assert_eq!(all.event().await.json()["entry"], shown);
        // Another process changes the program and then the entry, and both are found with one look.
        let other = server.other_process().await;
        let name = r#"{"translated":{"name":{"en_GB":"True north"}}}"#;
        for (path, body) in [("/chapter/ChapterN", name), ("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterN"}"#)] {
            let request = server.request("PUT", path, &[], Some(body));
            assert_eq!(other.clone().oneshot(request).await.unwrap().status(), 200);
        }
        server.app.db.look().await.unwrap();
        assert_eq!(all.event().await.json()["entry"]["chapter"]["name"], json!({"en_GB": "True north"}));
    }

    async fn answers_to_fields_in_the_trash_are_hidden_from_events(server) {
        let mut all = Stream::begin(&server, ALL, &[]).await.0;
        let fields = async |all: &mut Stream| {
            change(&server, "EntryOne").await;
            let shown = all.event().await.json()["entry"]["entry_fields"].clone();
            shown.as_array().unwrap().iter().map(|field| field["slug"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(fields(&mut all).await.contains(&"FieldTxt".to_owned()));
        server.delete("/field/FieldTxt").await.expect(204);
        assert!(!fields(&mut all).await.contains(&"FieldTxt".to_owned()));
    }

    async fn an_account_sees_its_own_changes_alone(server) {
        let key = server.new_key("AccountB", Scope::ReadWrite).await;
        let mut of_a = Stream::begin(&server, ALL, &[]).await.0;
        let mut of_b = Stream::begin(&server, ALL, &[("x-api-key", &key)]).await.0;
        server
            .import(&ACCOUNT_B.replace(r#""BChapter","season""#, r#""BChaptwo","season""#).replace(r#""chapter":"BChapter""#, r#""chapter":"BChaptwo""#))
            .await;
        let moved = r#"{"chapter":"BChapter"}"#;
        server.put_with("/entry/BEntryOn/update-chapter", moved, &[("x-api-key", &key)]).await.expect(200);
        let (revision, _) = change(&server, "EntryOne").await;
        assert_eq!(of_a.event().await.id, Some(revision));
        for chapter in ["BChaptwo", "BChapter"] {
            assert_eq!(of_b.event().await.json()["entry"]["chapter"]["slug"], chapter);
        }
        server.app.tails.stop();
        of_a.end().await;
        of_b.end().await;
    }
}
