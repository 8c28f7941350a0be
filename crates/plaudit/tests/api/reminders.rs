//! Judges with open sheets are reminded before a round ends.

use serde_json::json;

use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::of_account_a;

const SETUP: &str = r#"{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundEnd","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"No end"},"type":"judge","reminder_days":9}
{"kind":"round","slug":"RoundOff","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Quiet"},"type":"judge","end_date":"2026-02-09 12:00:00"}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}"#;

const DAY: i64 = 86_400;

fn round(end: &str) -> String {
    format!(
        r#"{{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{{"en_GB":"Judging"}},"type":"judge","reminder_days":2,"end_date":"{end}"}}"#
    )
}

fn user(number: usize) -> String {
    let slug = format!("UserRe{}", letters(number));
    json!({"kind": "user", "slug": slug, "first_name": "A", "last_name": "Judge", "email": format!("{slug}@example.org"),
        "roles": ["RoleJury"]})
    .to_string()
}

fn letters(number: usize) -> String {
    [number / 26, number % 26].iter().map(|at| char::from(b'a' + u8::try_from(*at).unwrap())).collect()
}

fn entry(letter: char) -> String {
    json!({"kind": "entry", "slug": format!("EntryRe{letter}"), "local_id": 500 + u32::from(letter), "title": "Title",
        "status": "submitted", "season": "SeasonAc", "category": "CategChi", "chapter": "ChapterS", "form": "FormEntr",
        "entrant": "UserEntr"})
    .to_string()
}

fn assignment(entry: char, judge: usize, rounds: &[&str]) -> String {
    json!({"kind": "assignment", "entry": format!("EntryRe{entry}"), "judge": format!("UserRe{}", letters(judge)),
        "score_set": "ScoreQua", "rounds": rounds})
    .to_string()
}

async fn import(server: &Server, lines: &[String]) {
    server.import(&of_account_a(&lines.join("\n"))).await;
    server.settle().await;
}

async fn later(server: &Server, seconds: i64) {
    server.clock.advance(seconds);
    server.settle().await;
}

/// Who was written to, and how many sheets are open by that, in order.
fn told(server: &Server) -> Vec<String> {
    let line = |message: &str, name: &str| {
        message.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    let messages = server.messages();
    let told = messages.values().map(|message| {
        let judge = line(message, "To:");
        format!("{} {}", judge.trim_end_matches("@example.org"), line(message, "Open sheets:"))
    });
    let mut told: Vec<_> = told.collect();
    told.sort();
    told
}

both_engines! {
    async fn judges_with_open_sheets_are_reminded_once_before_a_round_ends(server) {
        let mut lines = vec![SETUP.to_owned(), round("2026-02-10 12:00:00")];
        lines.extend((0..6).map(user));
        lines.extend(('A'..='D').map(entry));
        lines.extend(('A'..='D').map(|letter| assignment(letter, 0, &["RoundJud"])));
        // Every round of the form, and another one alone.
        lines.extend([assignment('A', 1, &[]), assignment('B', 1, &["RoundOff"])]);
        lines.extend((2..6).map(|judge| assignment('A', judge, &["RoundJud"])));
        import(&server, &lines).await;
        let path = |entry: char, judge| format!("/assignment/EntryRe{entry}UserRe{}ScoreQuaJ", letters(judge));
        server.put(&format!("{}/score", path('A', 2)), r#"{"decision":"pass"}"#).await.expect(200);
        server.put(&format!("{}/abstain", path('A', 3)), r#"{"reason":"No time"}"#).await.expect(200);
        server.post(&format!("{}/conflict", path('A', 4)), r#"{"comment":"A friend"}"#).await.expect(200);
        server.put("/entry/EntryReA/recuse", r#"{"judge":"UserReaf"}"#).await.expect(204);
        server.delete("/entry/EntryReD").await.expect(204);
        later(&server, 8 * DAY - 1).await;
        assert_eq!(told(&server), [""; 0]);
        later(&server, 1).await;
        assert_eq!(told(&server), ["UserReaa 3", "UserReab 1"]);
        let messages = server.messages();
        let text = messages.values().next().unwrap();
        assert!(text.contains("Ends: 2026-02-10 12:00:00 (Europe/London)") && text.contains("Round: Judging"), "{text}");
        import(&server, &lines).await;
        later(&server, DAY).await;
        assert_eq!(told(&server).len(), 2, "once");
    }

    async fn who_wants_no_messages_is_not_reminded(server) {
        let silent = user(0).replace("\"roles\"", "\"notification_emails\":false,\"roles\"");
        let mut lines = vec![SETUP.to_owned(), round("2026-02-10 12:00:00"), silent, user(1), entry('A')];
        lines.extend((0..2).map(|judge| assignment('A', judge, &["RoundJud"])));
        import(&server, &lines).await;
        later(&server, 9 * DAY).await;
        assert_eq!(told(&server), ["UserReab 1"]);
    }

    async fn an_end_that_moves_to_a_later_time_is_told_again(server) {
        let mut lines = vec![SETUP.to_owned(), round("2026-02-10 12:00:00"), user(0), entry('A')];
        lines.push(assignment('A', 0, &["RoundJud"]));
        import(&server, &lines).await;
        later(&server, 8 * DAY).await;
        assert_eq!(told(&server).len(), 1);
        import(&server, &[round("2026-02-09 12:00:00")]).await;
        assert_eq!(told(&server).len(), 1, "an earlier one is not");
        import(&server, &[round("2026-02-20 12:00:00")]).await;
        later(&server, 8 * DAY).await;
        assert_eq!(told(&server).len(), 1);
        later(&server, 3 * DAY).await;
        assert_eq!(told(&server).len(), 2);
        import(&server, &[round("2026-02-12 12:00:00")]).await;
        later(&server, 30 * DAY).await;
        import(&server, &[round("2026-03-01 12:00:00")]).await;
        assert_eq!(told(&server).len(), 2, "nobody is reminded of a round that has ended");
    }

    async fn more_judges_than_a_step_takes_are_each_reminded_once(server) {
        let mut lines = vec![SETUP.to_owned(), round("2026-02-10 12:00:00"), entry('A')];
        lines.extend((0..230).flat_map(|judge| [user(judge), assignment('A', judge, &["RoundJud"])]));
        import(&server, &lines).await;
        later(&server, 9 * DAY).await;
        let expected: Vec<String> = (0..230).map(|judge| format!("UserRe{} 1", letters(judge))).collect();
        assert_eq!(told(&server), expected);
    }
}
