//! More changes than are kept in memory, and readers that do not keep up.

use super::*;

/// More than the changes of an account that are kept in memory.
const MANY: usize = 1_500;

/// The slugs of entries by their events, in the order in which they came.
fn numbers(events: &[Block]) -> Vec<i64> {
    events.iter().map(Block::id).collect()
}

both_engines! {
    async fn more_changes_at_once_than_memory_holds_come_all_and_in_order(server) {
        let (mut all, begins) = Stream::begin(&server, ALL, &[]).await;
        let mut one = Stream::begin(&server, "/entry/EntryOne/stream", &[]).await.0;
        change(&server, "EntryOne").await;
        all.event().await;
        server.import(&entries(0..MANY, "New")).await;
        let events = all.events(MANY).await;
        let first = begins + 2;
        let last = first + i64::try_from(MANY).unwrap() - 1;
        let expected: Vec<_> = (0..=last).filter(|id| (last - i64::try_from(MANY).unwrap() + 1..=last).contains(id)).collect();
        assert_eq!(numbers(&events), expected);
        assert_eq!(events[0].json()["source"], "system");
        assert_eq!(events[0].json()["events"], json!([]), "an import causes no events, and is told all the same");
        // From the beginning of the log, and from the middle, of all and of one.
        for after in [begins, first + 700] {
            let mut stream = Stream::after(&server, ALL, after).await;
            let late = stream.events(usize::try_from(last - after).unwrap()).await;
            assert_eq!(numbers(&late), (after + 1..=last).collect::<Vec<_>>());
        }
        let slug = events[1_000].json()["entry"]["slug"].as_str().unwrap().to_owned();
        let mut single = Stream::after(&server, &format!("/entry/{slug}/stream"), 0).await;
        assert_eq!(single.event().await.id, events[1_000].id);
        // Who was never concerned did not fall behind.
        let (revision, _) = change(&server, "EntryOne").await;
        assert_eq!(numbers(&one.events(2).await)[1], revision);
        assert_eq!(server.app.tails.cut(), 0);
    }

    async fn a_reader_that_does_not_read_is_cut_off_and_resumes_without_loss(server) {
        let (mut slow, begins) = Stream::begin(&server, ALL, &[]).await;
        let (mut quick, _) = Stream::begin(&server, ALL, &[]).await;
        let first = change(&server, "EntryOne").await.0;
        for stream in [&mut slow, &mut quick] {
            assert_eq!(stream.event().await.id, Some(first));
        }
        server.import(&entries(0..MANY, "New")).await;
        let events = quick.events(MANY).await;
        (0..10).for_each(|_| server.app.tails.beat(false));
        slow.end().await;
        assert_eq!(server.app.tails.cut(), 1);
        let mut resumed = Stream::after(&server, ALL, first).await;
        assert_eq!(resumed.events(MANY).await, events);
        assert!(begins < first);
        // One that was away as long and then closed by its own will was as slow.
        server.import(&entries(0..10, "Newer")).await;
        quick.events(10).await;
        (0..10).for_each(|_| server.app.tails.beat(false));
        drop(resumed);
        assert_eq!(server.app.tails.cut(), 2);
    }

    async fn changes_that_were_forgotten_in_memory_are_in_the_log(server) {
        let (mut all, begins) = Stream::begin(&server, ALL, &[]).await;
        let mut expected = Vec::new();
        for _ in 0..3 {
            expected.push(change(&server, "EntryOne").await.0);
        }
        assert_eq!(numbers(&all.events(3).await), expected);
        (0..100).for_each(|_| server.app.tails.beat(false));
        let mut late = Stream::after(&server, ALL, begins).await;
        assert_eq!(numbers(&late.events(3).await), expected);
    }

    async fn writers_and_readers_at_the_same_time_lose_and_double_nothing(server) {
        let (mut all, begins) = Stream::begin(&server, ALL, &[]).await;
        let writers = async {
            let body = |chapter| json!({"chapter": chapter}).to_string();
            for _ in 0..30 {
                for chapter in ["ChapterS", "ChapterN"] {
                    let [one, two] = ["EntryOne", "EntryTwo"].map(|entry| format!("/entry/{entry}/update-chapter"));
                    let body = body(chapter);
                    let (one, two) = tokio::join!(server.put(&one, &body), server.put(&two, &body));
                    one.expect(200);
                    two.expect(200);
                }
            }
        };
        // A reader that resumes after every few events, while the others write.
        let readers = async {
            let (mut at, mut seen) = (begins, Vec::new());
            while seen.len() < 120 {
                let mut stream = Stream::after(&server, ALL, at).await;
                for event in stream.events((120 - seen.len()).min(7)).await {
                    at = event.id();
                    seen.push(at);
                }
            }
            seen
        };
        let ((), seen) = tokio::join!(writers, readers);
        assert_eq!(seen, (begins + 1..=begins + 120).collect::<Vec<_>>());
        assert_eq!(numbers(&all.events(120).await), seen);
    }

    async fn a_long_event_waits_where_long_answers_do_and_where_it_has_no_room_none_behind_it_comes(server) {
        let begins = Stream::begin(&server, ALL, &[]).await.1;
        let first = change(&server, "EntryOne").await.0;
        let text = "long ".repeat(10_000);
        for fields in [json!({"FieldTxt": text}), json!({"FieldTab": {"A1": text}})] {
            server.put("/entry/EntryTwo", &json!({"entry_fields": fields}).to_string()).await.expect(200);
        }
        let last = change(&server, "EntryOne").await.0;
        let mut server = server;
        for answer_bytes in [1 << 20, 0] {
            server = server.restart_with(|settings| settings.budgets.answer_bytes = answer_bytes).await;
            let events = Stream::after(&server, ALL, begins).await.events(4).await;
            assert_eq!(numbers(&events), (first..=last).collect::<Vec<_>>());
            let long = events[2].data.as_ref().unwrap();
            assert!(long.len() > 100_000 && long.contains(&text), "{answer_bytes}");
        }
        let restarted = server.restart_with(|settings| {
            settings.budgets.answer_bytes = 0;
            settings.budgets.spool_bytes = 0;
        });
        // Its database is there for as long as it is.
        let server = restarted.await;
        let mut stream = Stream::after(&server, ALL, begins).await;
        assert_eq!(stream.event().await.id, Some(first));
        let block = stream.block().await.unwrap();
        assert!(block.retry.is_some() && block.id.is_none());
        assert_eq!(stream.block().await, None);
    }
}
