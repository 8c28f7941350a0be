//! Answers of lists kept in memory: a page that is asked for again and has not changed is sent as it was rendered.
//!
//! An answer is kept with the state that it was made from (the version of the program and the number of the last change
//! of the listed records) and is only given again after a statement has told that the state is still the same.

use std::collections::HashMap;

use axum::body::Bytes;
use parking_lot::Mutex;

use crate::db::AccountId;

/// The most bytes of answers that a node keeps.
const KEPT_BYTES: usize = 16 << 20;
/// The most bytes of one answer that is kept.
const ANSWER_BYTES: usize = 1 << 20;

/// Which answer it is: the account, the path and query, and the representation.
pub type Key = (AccountId, String, String);

/// The state that an answer was made from: the program's version, and the last change of the records.
pub type State = (i64, i64);

/// An answer, with the state that it was made from.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The state.
    pub state: State,
    /// The tag, without quotes.
    pub etag: String,
    /// The body.
    pub bytes: Bytes,
}

/// The answers that a node keeps; where there are too many, those that were not used for longest go.
#[derive(Debug, Default)]
pub struct KeptAnswers(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    kept: HashMap<Key, (Kept, u64)>,
    bytes: usize,
    clock: u64,
}

impl KeptAnswers {
    /// The answer at hand, which is good while its state is the present one.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Kept> {
        let mut answers = self.0.lock();
        answers.clock += 1;
        let now = answers.clock;
        let (kept, used) = answers.kept.get_mut(key)?;
        *used = now;
        Some(kept.clone())
    }

    /// Keeps an answer in place of an older one.
    pub fn keep(&self, key: Key, answer: Kept) {
        if answer.bytes.len() > ANSWER_BYTES {
            return;
        }
        let mut answers = self.0.lock();
        answers.clock += 1;
        let now = answers.clock;
        answers.bytes += answer.bytes.len();
        if let Some((before, _)) = answers.kept.insert(key, (answer, now)) {
            answers.bytes -= before.bytes.len();
        }
        if answers.bytes > KEPT_BYTES {
            answers.shrink();
        }
    }
}

impl Answers {
    /// Drops the older half, so that dropping costs little for each answer that is kept.
    fn shrink(&mut self) {
        let mut uses: Vec<(u64, usize)> = self.kept.values().map(|(kept, used)| (*used, kept.bytes.len())).collect();
        uses.sort_unstable();
        let mut excess = self.bytes.saturating_sub(KEPT_BYTES / 2);
        let mut oldest_kept = 0;
        for (used, length) in uses {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(length);
            oldest_kept = used + 1;
        }
        self.kept.retain(|_, (_, used)| *used >= oldest_kept);
        self.bytes = self.kept.values().map(|(kept, _)| kept.bytes.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        (AccountId(1), format!("/order?page={number}"), "j".to_owned())
    }

    fn answer(bytes: usize) -> Kept {
        Kept { state: (1, 2), etag: "e".to_owned(), bytes: vec![b'x'; bytes].into() }
    }

    #[test]
    fn the_bytes_that_are_kept_are_bounded_and_the_latest_stay() {
        let answers = KeptAnswers::default();
        for number in 0..100 {
            answers.keep(key(number), answer(ANSWER_BYTES));
            assert!(answers.0.lock().bytes <= KEPT_BYTES);
            assert!(answers.get(&key(number)).is_some());
        }
        assert!(answers.get(&key(0)).is_none());
        assert!(answers.get(&key(99)).is_some());
    }

    #[test]
    fn an_answer_takes_the_place_of_the_older_one() {
        let answers = KeptAnswers::default();
        answers.keep(key(1), answer(10));
        answers.keep(key(1), Kept { state: (2, 2), ..answer(20) });
        assert_eq!(answers.get(&key(1)).unwrap().state, (2, 2));
        assert_eq!(answers.0.lock().bytes, 20);
        answers.keep(key(2), answer(ANSWER_BYTES + 1));
        assert!(answers.get(&key(2)).is_none(), "a very large answer is not kept");
    }
}
