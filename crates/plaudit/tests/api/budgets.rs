//! What answers and uploads may take: lengths, memory and room in the spool.

use std::pin::pin;
use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use futures_util::future::{Either, join_all, select};
use plaudit::program::fields::Lengths;
use serde_json::json;

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, JSON, Server, tree};

const LIST: &str = "/entry?order=local_id&include=entry_fields,contributors";

/// Entries with answers of so many bytes each.
async fn entries(server: &Server, count: usize, bytes: usize) {
    let text = "an <answer> & \\\"more\\\" ".repeat(bytes / 24);
    let entry = |number: usize| {
        let letters = [number / 26, number % 26].map(|letter| char::from(b'a' + u8::try_from(letter).unwrap()));
        format!(
            r#"{{"kind":"entry","slug":"EntryL{}{}","title":"Long","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr","entry_fields":{{"FieldTxt":"{text}"}}}}"#,
            letters[0], letters[1]
        )
    };
    server.import(&of_account_a(&(0..count).map(entry).collect::<Vec<_>>().join("\n"))).await;
}

fn spooled(server: &Server) -> u64 {
    server.app.budgets.counters().spooled.load(Ordering::Relaxed)
}

both_engines! {
    async fn a_page_is_the_same_whether_it_waits_in_memory_or_in_the_spool(server) {
        entries(&server, 20, 20_000).await;
        let mut pages = Vec::new();
        for format in FORMATS {
            pages.push(server.get_with(LIST, &[("accept", format)]).await.expect(200));
        }
        assert_eq!(spooled(&server), 0);
        tree::assert_same(&pages[0].body, &pages[1].body);
        let server = server.restart_with(|settings| settings.budgets.answer_bytes = 100_000).await;
        for (format, page) in FORMATS.into_iter().zip(&pages) {
            let accept = ("accept", format);
            let again = server.get_with(LIST, &[accept]).await.expect(200);
            assert!(again.body == page.body && again.headers["etag"] == page.headers["etag"], "{format}");
            let before = spooled(&server);
            assert!(before > 0);
            let head = server.open(server.request("HEAD", LIST, &[accept], None)).await;
            assert_eq!(head.headers()["content-length"], page.body.len().to_string());
            drop(head);
            let known = [accept, ("if-none-match", again.header("etag").unwrap())];
            server.get_with(LIST, &known).await.expect(304);
            // A short page does not go there.
            let before = spooled(&server);
            server.get_with("/entry?per_page=3", &[accept]).await.expect(200);
            assert_eq!(spooled(&server), before);
        }
        assert_eq!((server.app.budgets.spool_bytes(), server.app.budgets.memory_bytes()), (0, 0));
    }

    async fn long_documents_are_shown_in_the_order_of_the_page_whatever_order_they_are_read_in(server) {
        entries(&server, 20, 200_000).await;
        let path = "/entry?order=local_id&include=entry_fields&per_page=30";
        let up = server.get(&format!("{path}&dir=asc")).await.expect(200).json();
        let down = server.get(&format!("{path}&dir=desc")).await.expect(200).json();
        let (up, mut down) = (up["data"].as_array().unwrap(), down["data"].as_array().unwrap().clone());
        down.reverse();
        assert!(up.len() > 20 && *up == down);
    }

    async fn long_pages_of_an_account_leave_turns_to_its_short_ones(server) {
        entries(&server, 20, 300_000).await;
        let account = server.account("AccountA").await;
        let held: Vec<_> = std::iter::from_fn(|| server.app.long_pages.take(account).now_or_never()).collect();
        let long = join_all((0..8).map(|_| server.get("/entry?include=entry_fields&per_page=30")));
        let short = async {
            for _ in 0..30 {
                server.get("/entry?per_page=1").await.expect(200);
            }
        };
        let (long, short) = (pin!(long), pin!(short));
        let Either::Right(((), long)) = select(long, short).await else { panic!("a long page took no turn") };
        drop(held);
        for page in long.await {
            assert!(page.expect(200).body.len() > 6_000_000);
        }
    }

    async fn a_page_whose_records_are_too_long_is_400_and_says_what_to_do(server) {
        entries(&server, 12, 20_000).await;
        let server = server.restart_with(|settings| settings.budgets.page_bytes = 120_000).await;
        for format in FORMATS {
            let accept = [("accept", format)];
            let answer = server.get_with(LIST, &accept).await.expect(400);
            assert!(answer.text().contains("more than 120000 bytes; ask for fewer by per_page"), "{}", answer.text());
            server.get_with(&format!("{LIST}&per_page=5"), &accept).await.expect(200);
            server.get_with("/entry", &accept).await.expect(200);
        }
    }

    async fn where_there_is_no_room_long_answers_are_503(server) {
        entries(&server, 12, 20_000).await;
        let server = server
            .restart_with(|settings| {
                settings.budgets.memory_bytes = 0;
                settings.budgets.spool_bytes = 0;
            })
            .await;
        for format in FORMATS {
            let accept = [("accept", format)];
            let answer = server.get_with(LIST, &accept).await.expect(503);
            assert!(answer.text().contains("fill the spool of the service"), "{}", answer.text());
            server.get_with("/entry?per_page=3", &accept).await.expect(200);
        }
        let server = server
            .restart_with(|settings| {
                settings.budgets.answer_bytes = 0;
                settings.budgets.account_spool_bytes = 0;
            })
            .await;
        let answer = server.get(LIST).await.expect(503);
        assert!(answer.text().contains("of the account"), "{}", answer.text());
    }

    async fn a_change_that_was_made_is_answered_whatever_that_takes(server) {
        entries(&server, 1, 60_000).await;
        let server = server
            .restart_with(|settings| {
                settings.budgets.answer_bytes = 0;
                settings.budgets.spool_bytes = 60_000;
            })
            .await;
        let text = "x".repeat(50_000);
        let body = json!({"entry_fields": {"FieldTab": {"A1": text}}}).to_string();
        let answer = server.put("/entry/EntryLaa", &body).await.expect(200);
        assert!(answer.body.len() > 100_000);
        server.get("/entry/EntryLaa").await.expect(503);
        let again = server.put("/entry/EntryLaa", "{}").await.expect(200);
        assert_eq!(again.body, answer.body);
        assert_eq!(server.app.budgets.spool_bytes(), 0);
    }

    async fn while_answers_to_changes_fill_the_quota_the_account_changes_nothing(server) {
        entries(&server, 1, 60_000).await;
        let server = server
            .restart_with(|settings| {
                settings.budgets.answer_bytes = 0;
                settings.budgets.account_spool_bytes = 60_000;
            })
            .await;
        let text = "x".repeat(50_000);
        let body = json!({"entry_fields": {"FieldTab": {"A1": text}}}).to_string();
        let kept = [("idempotency-key", "kept")];
        let first = server.put_with("/entry/EntryTwo", r#"{"title":"First"}"#, &kept).await.expect(200);
        let held = server.open(server.request("PUT", "/entry/EntryLaa", &[], Some(&body))).await;
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            let accept = ("accept", format);
            for headers in [vec![accept], vec![accept, ("idempotency-key", "other")]] {
                let refused = server.put_with("/entry/EntryTwo", r#"{"title":"Second"}"#, &headers).await.expect(503);
                assert!(refused.text().contains("fill its share of the spool"), "{}", refused.text());
            }
        }
        let again = server.put_with("/entry/EntryTwo", r#"{"title":"First"}"#, &kept).await.expect(200);
        assert_eq!(again.body, first.body, "what was done is told");
        assert_eq!(server.changes("AccountA").await, changes);
        drop(held);
        server.put("/entry/EntryTwo", r#"{"title":"Second"}"#).await.expect(200);
    }

    async fn an_upload_takes_room_in_the_spool_until_it_has_ended(server) {
        let server = server
            .restart_with(|settings| {
                settings.budgets.answer_bytes = 0;
                settings.budgets.account_spool_bytes = 100_000;
            })
            .await;
        let path = "/entry/EntryTwo/upload/FieldFil";
        let body = |bytes: usize| json!({"filename": "a.bin", "data": STANDARD.encode(vec![0x80; bytes])}).to_string();
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            let headers = [("accept", format), ("idempotency-key", format)];
            let refused = server.post_with(path, &body(90_000), &headers).await.expect(503);
            assert!(refused.text().contains("fill its share of the spool"), "{}", refused.text());
            assert_eq!(server.changes("AccountA").await, changes);
            assert_eq!(server.app.budgets.spool_bytes(), 0);
        }
        assert_eq!(server.app.budgets.counters().refused.load(Ordering::Relaxed), 2);
        // One that has ended, well or not, leaves its room to the next.
        for number in ["1", "2", "3"] {
            server.post_with(path, &body(50_000), &[("idempotency-key", number)]).await.expect(201);
            server.post_with(path, "{", &[("idempotency-key", &format!("wrong{number}"))]).await.expect(400);
            assert_eq!(server.app.budgets.spool_bytes(), 0);
        }
        // Without a key it waits decoded alone.
        server.post(path, &body(90_000)).await.expect(201);
    }

    async fn answers_and_entries_that_are_too_long_are_told_with_everything_else(server) {
        let server = server.restart_with(|settings| settings.lengths = Lengths { answer: 100, entry: 6_000 }).await;
        let long = "ü".repeat(51);
        let body = json!({
            "title": "", "entry_fields": {"FieldTxt": long, "FieldRad": "maybe", "FieldTab": {"A1": "x".repeat(99)}}
        });
        for format in FORMATS {
            let answer = server.put_with("/entry/EntryTwo", &body.to_string(), &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort_unstable();
            assert_eq!(names, ["entry_fields.FieldRad", "entry_fields.FieldTab", "entry_fields.FieldTxt", "title"]);
            assert!(answer.text().contains("must have at most 100 bytes in all, and has 102"), "{}", answer.text());
        }
        let field = json!({ "value": long }).to_string();
        server.put("/entry/EntryTwo/update-field/FieldTxt", &field).await.expect(422);
        server.put("/contributor/Contribu/update-field/FieldCtr", &field).await.expect(422);
        server.put("/entry/EntryTwo/update-field/FieldTxt", r#"{"value":"short"}"#).await.expect(200);
        let line = format!(
            r#"{{"kind":"entry","slug":"EntryTwo","local_id":2,"title":"Second","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr","entry_fields":{{"FieldTxt":"{long}"}}}}"#
        );
        let faults = server.try_import(&of_account_a(&line)).await;
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("entry_fields.FieldTxt: must have at most 100 bytes"), "{faults:?}");
    }

    async fn an_entry_is_no_longer_than_it_may_be_whatever_makes_it_so(server) {
        let server = server.restart_with(|settings| settings.lengths = Lengths { answer: 3_000, entry: 6_000 }).await;
        let text = "x".repeat(2_500);
        let mut refused = None;
        for _ in 0..3 {
            let body = json!({"entry": "EntryTwo", "tab": "TabContr", "fields": {"FieldCtr": text}}).to_string();
            let answer = server.post("/contributor", &body).await;
            if answer.status != 201 {
                refused = Some(answer.expect(422));
                break;
            }
        }
        let refused = refused.unwrap();
        assert_eq!(error_names(&refused, JSON).unwrap(), ["fields"]);
        assert!(refused.text().contains("makes the entry too long"), "{}", refused.text());
        let answers = json!({"entry_fields": {"FieldTxt": text, "FieldTab": {"A1": text}}}).to_string();
        let answer = server.put("/entry/EntryTwo", &answers).await.expect(422);
        assert_eq!(error_names(&answer, JSON).unwrap(), ["entry_fields"]);
        let shown = server.get("/entry/EntryTwo").await.expect(200).json();
        assert_eq!(shown["entry_fields"], json!([]), "nothing of it was written");
        // What an import adds to an entry that it does not name counts as well.
        let lines = format!(
            r#"{{"kind":"contributor","slug":"ContribX","entry":"EntryTwo","tab":"TabContr","fields":{{"FieldCtr":"{text}"}}}}"#
        );
        let faults = server.try_import(&of_account_a(&lines)).await;
        assert!(faults.len() == 1 && faults[0].starts_with("file.jsonl:2: entry EntryTwo: contributors: makes the entry too long: it must have at most 6000 bytes"), "{faults:?}");
    }

    async fn an_entry_that_is_too_long_since_the_limit_was_lowered_is_shortened_and_goes_on_its_way_and_grows_no_more(server) {
        let text = "x".repeat(2_500);
        let answers = json!({"entry_fields": {"FieldTxt": text, "FieldTab": {"A1": text}}}).to_string();
        server.put("/entry/EntryTwo", &answers).await.expect(200);
        let server = server.restart_with(|settings| settings.lengths = Lengths { answer: 1_000, entry: 3_000 }).await;
        let refused = async |answer: Answer, member: &str| {
            assert_eq!(error_names(&answer.expect(422), JSON).unwrap(), [member]);
        };
        refused(server.put("/entry/EntryTwo", r#"{"title":"A longer title than it had"}"#).await, "title").await;
        refused(server.put("/entry/EntryTwo/tag/more", "{}").await, "tags").await;
        refused(server.put("/entry/EntryTwo", r#"{"entry_fields":{"FieldRad":"no"}}"#).await, "entry_fields").await;
        let cell = json!({"entry_fields": {"FieldTab": {"A1": text, "B1": "more"}}}).to_string();
        refused(server.put("/entry/EntryTwo", &cell).await, "entry_fields.FieldTab").await;
        let file = json!({"filename": "a.bin", "data": STANDARD.encode([0x80])}).to_string();
        refused(server.post("/entry/EntryTwo/upload/FieldFil", &file).await, "entry_fields").await;
        let contributor = r#"{"entry":"EntryTwo","tab":"TabContr","fields":{"FieldCtr":"x"}}"#;
        refused(server.post("/contributor", contributor).await, "fields").await;

        server.put("/entry/EntryTwo", r#"{"moderation_status":"approved"}"#).await.expect(200);
        server.delete("/entry/EntryTwo").await.expect(204);
        server.post("/entry/EntryTwo/restore", "").await.expect(204);
        let shorter = json!({"entry_fields": {"FieldTab": {"A1": "x".repeat(2_000)}}}).to_string();
        server.put("/entry/EntryTwo", &shorter).await.expect(200);
        server.put("/entry/EntryTwo", r#"{"entry_fields":{"FieldTxt":null}}"#).await.expect(200);
        server.put("/entry/EntryTwo/tag/more", "{}").await.expect(201);
    }
}
