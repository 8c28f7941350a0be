//! Streams of persons: of the entries that they see, as they see them.

use super::{ALL, Stream};
use crate::access::{key_of, prepare};
use crate::both_engines;

/// Titles that a stream tells of, up to the one that ends with a full stop.
async fn titles(stream: &mut Stream) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let block = stream.block().await.unwrap();
        if block.data.is_none() {
            continue;
        }
        let event = block.json();
        assert!(!event.to_string().contains("secret"), "{event}");
        found.push(event["entry"]["title"].as_str().unwrap().to_owned());
        if found.last().is_some_and(|title| title.ends_with('.')) {
            return found;
        }
    }
}

both_engines! {
    async fn an_entrant_is_told_of_own_entries_alone(server) {
        prepare(&server).await;
        let key = key_of(&server, "UserEntr").await;
        let (mut live, begins) = Stream::begin(&server, ALL, &[("x-api-key", &key)]).await;
        for (path, title) in [("EntryHid", "A"), ("EntryOth", "B"), ("EntryOne", "C"), ("EntryOth", "D"), ("EntryHid", "E.")] {
            server.put(&format!("/entry/{path}"), &format!(r#"{{"title":"{title}"}}"#)).await.expect(200);
        }
        assert_eq!(titles(&mut live).await, ["A", "C", "E."]);
        let after = begins.to_string();
        let (mut older, _) = Stream::begin(&server, ALL, &[("x-api-key", &key), ("last-event-id", &after)]).await;
        assert_eq!(titles(&mut older).await, ["A", "C", "E."]);
        let others = server.request("GET", "/entry/EntryOth/stream", &[("x-api-key", &key)], None);
        server.send(others).await.expect(404);
    }

    async fn a_role_that_changes_changes_what_a_stream_tells(server) {
        prepare(&server).await;
        let key = key_of(&server, "UserOthe").await;
        let (mut stream, _) = Stream::begin(&server, ALL, &[("x-api-key", &key)]).await;
        server.put("/entry/EntryOne", r#"{"title":"A"}"#).await.expect(200);
        server.put("/entry/EntryOth", r#"{"title":"B."}"#).await.expect(200);
        assert_eq!(titles(&mut stream).await, ["B."]);
        let auditor = crate::access::user_of("auditor").replace("UserOfR", "RoleOfR");
        server.put("/user/UserOthe", &format!(r#"{{"roles":["{auditor}"]}}"#)).await.expect(200);
        server.put("/entry/EntryOne", r#"{"title":"C."}"#).await.expect(200);
        assert_eq!(titles(&mut stream).await, ["C."]);
        server.put("/user/UserOthe", r#"{"roles":[]}"#).await.expect(200);
        server.put("/entry/EntryOne", r#"{"title":"D"}"#).await.expect(200);
        server.put("/entry/EntryOth", r#"{"title":"E."}"#).await.expect(200);
        assert_eq!(titles(&mut stream).await, ["E."]);
    }

    async fn a_stream_of_an_entry_that_is_not_seen_any_more_ends(server) {
        prepare(&server).await;
        let key = key_of(&server, "UserOthe").await;
        let (mut stream, _) = Stream::begin(&server, "/entry/EntryOth/stream", &[("x-api-key", &key)]).await;
        server.put("/entry/EntryOth", r#"{"entrant":"UserEntr"}"#).await.expect(200);
        while let Some(block) = stream.block().await {
            assert!(block.data.is_none(), "{block:?}");
        }
    }
}
