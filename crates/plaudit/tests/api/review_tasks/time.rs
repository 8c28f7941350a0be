//! Reminders and deadlines.

use plaudit::review_flow::follow_up;

use super::{ask, standing, tasks};
use crate::both_engines;
use crate::harness::Server;
use crate::harness::check::every_record;
use crate::harness::fixture::of_account_a;

const STAGES: &str = r#"{"kind":"review_stage","slug":"StageRem","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Reminded"},"instructions":{"en_GB":"Is it true?"},"timing":"after_submission","start":"manual","reviewers":[{"email":"ada@example.org"},{"email":"ben@example.org"}],"reminder_days":2,"deadline_days":5,"on_deadline":"stop","on_stop":"rejected"}
{"kind":"review_stage","slug":"StageNot","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Never"},"timing":"after_submission","start":"manual","reviewers":[{"email":"cid@example.org"}]}"#;

const DAY: i64 = 86_400;

async fn days_later(server: &Server, days: i64) {
    server.clock.advance(days * DAY);
    follow_up(&server.app).await.unwrap();
    server.settle().await;
}

both_engines! {
    async fn reviewers_are_reminded_once_and_a_deadline_decides_where_the_stage_says_so(server) {
        server.import(&of_account_a(STAGES)).await;
        ask(&server, "StageRem", "EntryOne").await;
        ask(&server, "StageNot", "EntryTwo").await;
        days_later(&server, 1).await;
        assert!(server.messages().is_empty());
        days_later(&server, 1).await;
        let messages = server.messages();
        let to = |name: &str| messages.values().filter(|message| message.contains(&format!("To: {name}@example.org"))).count();
        assert_eq!((messages.len(), to("ada"), to("ben")), (2, 1, 1));
        assert!(messages.values().all(|message| message.contains("Is it true?") && message.contains("Reminded")), "{messages:?}");
        days_later(&server, 2).await;
        assert_eq!(server.messages().len(), 2, "once");
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", "undecided", "pending"]);
        let changes = server.changes("AccountA").await.len();
        days_later(&server, 1).await;
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", "rejected", "stop"]);
        let logged = server.changes("AccountA").await.split_off(changes);
        assert!(logged[0].ends_with("updated review_task_submitted"), "{logged:?}");
        assert_eq!(tasks(&server, "").await, ["StageNot EntryTwo -", "StageRem EntryOne stop"]);
        days_later(&server, 100).await;
        assert_eq!(server.changes("AccountA").await.len(), changes + logged.len(), "nothing is due any more");
        every_record(&server.db).await;
    }

    async fn a_deadline_waits_with_an_entry_in_the_trash_and_is_dropped_with_its_stage(server) {
        server.import(&of_account_a(STAGES)).await;
        ask(&server, "StageRem", "EntryOne").await;
        server.delete("/entry/EntryOne").await.expect(204);
        days_later(&server, 6).await;
        server.post("/entry/EntryOne/restore", "").await.expect(204);
        assert_eq!(tasks(&server, "").await, ["StageRem EntryOne -"]);
        let stage = STAGES.lines().next().unwrap();
        server.import(&of_account_a(&stage.replace(r#""start""#, r#""deleted":true,"start""#))).await;
        days_later(&server, 1).await;
        server.import(&of_account_a(stage)).await;
        days_later(&server, 1).await;
        assert_eq!(tasks(&server, "").await, ["StageRem EntryOne -"]);
        assert!(server.messages().is_empty());
        every_record(&server.db).await;
    }
}
