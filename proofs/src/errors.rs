//! `errors`: every error has its test, and no request at all makes the server fail.

use anyhow::Result;

use super::{Context, Proof, Verdict};
use crate::postgres::Postgres;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "errors",
    claim: "Every error of the contract is answered as written, on both engines and in both formats, and random \
            requests give no 5xx and no panic.",
    run,
};

/// How many random requests are sent, in the whole form and in the form for the test suite.
const REQUESTS: u64 = 1_000_000;
const REQUESTS_SHORT: u64 = 20_000;

fn run(context: &Context) -> Result<Verdict> {
    let postgres = Postgres::start(false)?;
    let requests = if context.short { REQUESTS_SHORT } else { REQUESTS };
    let tests = |filter: &str| {
        context
            .cargo(&["test", "--release", "--workspace", "--test", "api", filter, "--", "--nocapture"])
            .env("PLAUDIT_TEST_POSTGRES", postgres.url("postgres"))
            .env("PLAUDIT_FUZZ_REQUESTS", requests.to_string())
            .capture()
    };
    let errors = tests("errors")?;
    let fuzz = tests("fuzz")?;
    Ok(judge((errors.0, &errors.1), (fuzz.0, &fuzz.1), requests))
}

/// A run in which nothing ran has shown nothing, so the counts are judged with the outcome.
fn judge(errors: (bool, &str), fuzz: (bool, &str), requests: u64) -> Verdict {
    let passed = sum_before(errors.1, " passed");
    let failed = sum_before(errors.1, " failed");
    let sent = sum_after(fuzz.1, "fuzz: ");
    let verdict = if fuzz.0 { "without a 5xx or a panic" } else { "with failures" };
    let holds = errors.0 && passed > 0 && failed == 0 && fuzz.0 && sent >= requests;
    Verdict::new(holds, format!("{passed} tests of errors passed, {failed} failed; {sent} random requests {verdict}"))
}

/// The sum of the numbers that stand right before a word in the closing lines of the test harness.
fn sum_before(printed: &str, word: &str) -> u64 {
    let closing = printed.lines().filter(|line| line.starts_with("test result:"));
    let counts = closing.filter_map(|line| line.split(word).next()?.rsplit(' ').next()?.parse::<u64>().ok());
    counts.sum()
}

/// The sum of the numbers that stand right after a word, of which every run of the fuzz test prints one.
fn sum_after(printed: &str, word: &str) -> u64 {
    let counts = printed.lines().filter_map(|line| line.split(word).nth(1)?.split(' ').next()?.parse::<u64>().ok());
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: &str = "test errors::a ... ok\n\ntest result: ok. 34 passed; 0 failed; 0 ignored; 0 measured\n";
    const FUZZ: &str = "test fuzz::sqlite ... fuzz: 500 requests on sqlite\nfuzz: 500 requests on postgres\nok\n";

    #[test]
    fn holds_with_all_tests_passed_and_all_requests_sent() {
        let verdict = judge((true, ERRORS), (true, FUZZ), 1000);
        assert!(verdict.holds);
        assert_eq!(
            verdict.figure,
            "34 tests of errors passed, 0 failed; 1000 random requests without a 5xx or a panic"
        );
    }

    #[test]
    fn falls_short_where_too_little_ran() {
        assert!(!judge((true, ERRORS), (true, FUZZ), 1001).holds);
        assert!(!judge((true, "test result: ok. 0 passed; 0 failed;\n"), (true, FUZZ), 1000).holds);
        assert!(!judge((false, ERRORS), (true, FUZZ), 1000).holds);
        assert!(!judge((true, ERRORS), (false, FUZZ), 1000).holds);
    }
}
