//! Requests that get no stream.

use super::*;
use crate::harness::check::error_names;
use crate::harness::{Answer, JSON};

/// Why there is no stream: what is asked and how, and the status.
type Headers = &'static [(&'static str, &'static str)];

const REFUSED: &[(&str, &str, Headers, u16)] = &[
    ("GET", "/entry/EntryOne/stream", &[("accept", "text/event-stream")], 400),
    ("GET", "/entry/stream", &[("accept", "")], 400),
    ("GET", "/entry/stream", &[("x-api-key", "")], 401),
    ("GET", "/entry/stream", &[("x-api-key", "plaudit_unknown")], 403),
    ("GET", "/entry/stream", &[("host", "b.example.org")], 403),
    ("GET", "/entry/stream", &[("x-api-language", "ja_JP")], 400),
    ("GET", "/entry/EntryOne/streams", &[], 404),
    ("POST", "/entry/EntryOne/stream", &[], 405),
    ("PUT", "/entry/stream", &[], 405),
    ("GET", "/entry/EntryOn1/stream", &[], 400),
    ("GET", "/entry/EntryOnes/stream", &[], 400),
    ("GET", "/entry/stream", &[("last-event-id", "x")], 400),
    ("GET", "/entry/stream", &[("last-event-id", "-1")], 400),
    ("GET", "/entry/stream", &[("last-event-id", "01")], 400),
    ("GET", "/entry/stream", &[("last-event-id", " ")], 400),
    ("GET", "/entry/NoSuchEn/stream", &[("last-event-id", "1.5")], 400),
    ("GET", "/entry/stream", &[("last-event-id", "9223372036854775808")], 400),
    ("GET", "/entry/NoSuchEn/stream", &[], 404),
    ("GET", "/entry/NoSuchEn/stream", &[("last-event-id", "1000000")], 404),
    ("GET", "/entry/BEntryOn/stream", &[], 404),
    ("GET", "/entry/EntryOne/stream", &[("last-event-id", "1000000")], 400),
    ("GET", "/entry/stream", &[("last-event-id", "1000000")], 400),
];

async fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    server.send(server.request(method, path, headers, None)).await
}

both_engines! {
    async fn errors_of_streams_are_those_of_every_request(server) {
        for (method, path, headers, status) in REFUSED {
            for format in FORMATS {
                let asks = headers.iter().any(|(name, _)| *name == "accept");
                let accept = [("accept", format)];
                let headers: Vec<_> = headers.iter().copied().chain(accept.into_iter().filter(|_| !asks)).collect();
                let answer = ask(&server, method, path, &headers).await;
                assert_eq!(answer.status, *status, "{method} {path} {headers:?}: {}", answer.text());
                assert_eq!(answer.header("allow"), (*status == 405).then_some("GET,HEAD"), "{path}");
            }
        }
        assert_eq!(server.app.tails.open(), 0);
    }

    async fn errors_name_no_member_and_another_accounts_entry_is_like_none(server) {
        let unknown = server.get("/entry/NoSuchEn/stream").await.expect(404);
        let foreign = server.get("/entry/BEntryOn/stream").await.expect(404);
        server.delete("/entry/EntryTwo").await.expect(204);
        let trashed = server.get("/entry/EntryTwo/stream").await.expect(404);
        assert_eq!((&unknown.body, &unknown.body), (&foreign.body, &trashed.body));
        assert_eq!(error_names(&unknown, JSON), None);
    }

    async fn a_position_that_comes_twice_is_refused(server) {
        let mut request = server.request("GET", ALL, &[("last-event-id", "1")], None);
        request.headers_mut().append("last-event-id", "1".parse().unwrap());
        server.send(request).await.expect(400);
    }

    async fn a_key_that_only_reads_may_read_streams(server) {
        let key = server.new_key("AccountA", Scope::Read).await;
        let mut stream = Stream::begin(&server, ONE, &[("x-api-key", &key)]).await.0;
        change(&server, "EntryOne").await;
        stream.event().await;
    }

    async fn a_stream_counts_as_one_request(server) {
        server.import(&account_a("")).await;
        let remaining = |headers: &HeaderMap| headers["x-ratelimit-remaining"].to_str().unwrap().to_owned();
        let (stream, _) = Stream::begin(&server, ALL, &[]).await;
        assert_eq!(remaining(&stream.headers), "59");
        let (other, _) = Stream::begin(&server, ALL, &[]).await;
        assert_eq!(remaining(&other.headers), "58");
    }

    async fn streams_are_limited_for_a_key_and_for_the_node(server) {
        let mut streams = Vec::new();
        for _ in 0..30 {
            streams.push(Stream::open(&server, ONE, &[]).await);
        }
        for format in FORMATS {
            let answer = server.get_with(ALL, &[("accept", format)]).await.expect(429);
            assert_eq!(answer.header("retry-after"), Some("10"));
        }
        let key = server.new_key("AccountA", Scope::Read).await;
        for _ in 0..10 {
            streams.push(Stream::open(&server, ALL, &[("x-api-key", &key)]).await);
        }
        server.get_with(ALL, &[("x-api-key", &key)]).await.expect(429);
        assert_eq!(server.app.tails.open(), 40);
        // An entry that is not there is told before the limit is.
        server.get("/entry/NoSuchEn/stream").await.expect(404);
        streams.truncate(29);
        assert_eq!(server.app.tails.open(), 29);
        streams.push(Stream::open(&server, ALL, &[]).await);
        server.get(ALL).await.expect(429);
    }
}
