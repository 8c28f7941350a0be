//! The program of the tests.

/// An account in three languages with an active and an archived season.
pub const ACCOUNT_A: &str = include_str!("account_a.jsonl");

/// Another account, whose records nobody of the first may see.
pub const ACCOUNT_B: &str = include_str!("account_b.jsonl");

/// The record of the first account, with some members of its own after the others.
pub fn account_a(members: &str) -> String {
    format!(
        r#"{{"kind":"account","slug":"AccountA","name":"Awards A","default_language":"en_GB","languages":["en_GB","de_DE","ar_AR"],"timezone":"Europe/London","hosts":["a.example.org"],"created":"2025-01-01T00:00:00.000000Z"{members}}}"#
    )
}

/// Records of the first account, ready to be imported.
pub fn of_account_a(lines: &str) -> String {
    format!("{}\n{lines}", account_a(r#","features":["api"],"rate_limit":1000000"#))
}
