//! Answers of lists kept in memory: a page that is asked for again and has not changed is sent as it was rendered.
//!
//! An answer is kept with the state that it was made from (the version of the program and the number of the last change
//! of the listed records) and is only given again after a statement has told that the state is still the same. What is
//! given again without a statement is in `repeated`; both keep within bounds by a [`Keeper`]. [`Seen`] tells what comes for
//! the first time, and is not worth keeping yet.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::quality::RandomState;
use parking_lot::Mutex;

use super::Content;
use crate::db::AccountId;

/// The most bytes of answers that a node keeps.
const KEPT_BYTES: usize = 16 << 20;
/// The most bytes of memory of one answer that is kept.
const ANSWER_BYTES: usize = 1 << 20;
/// How much of what came by is remembered.
const SEEN: usize = 8192;

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
    /// The content.
    pub content: Content,
}

impl Weigh for Kept {
    fn weight(&self) -> usize {
        self.content.memory()
    }
}

/// The answers of lists that a node keeps.
#[derive(Debug)]
pub struct KeptAnswers {
    kept: Keeper<Key, Kept>,
    seen: Seen,
}

impl Default for KeptAnswers {
    fn default() -> Self {
        Self { kept: Keeper::new(KEPT_BYTES, ANSWER_BYTES), seen: Seen::default() }
    }
}

impl KeptAnswers {
    /// The answer at hand, which is good while its state is the present one.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Kept> {
        self.kept.get(key)
    }

    /// Keeps an answer in place of an older one, if it is not the first to its request.
    pub fn keep(&self, key: Key, answer: Kept) {
        if self.seen.came_before(self.seen.number(&key)) {
            self.kept.keep(key, Kept { content: answer.content.lasting(), ..answer });
        }
    }
}

/// What takes memory while it is kept.
pub(super) trait Weigh {
    /// How many bytes it takes.
    fn weight(&self) -> usize;
}

/// Keeps what was used last within a bound of bytes; where there is too much, what was not used for longest goes.
#[derive(Debug)]
pub(super) struct Keeper<K, V> {
    limit: usize,
    limit_of_one: usize,
    held: Mutex<Held<K, V>>,
}

#[derive(Debug)]
struct Held<K, V> {
    kept: HashMap<K, (V, u64), RandomState>,
    bytes: usize,
    clock: u64,
}

impl<K: Eq + Hash, V: Clone + Weigh> Keeper<K, V> {
    /// Keeps at most `limit` bytes, and nothing that takes more than `limit_of_one`.
    pub(super) fn new(limit: usize, limit_of_one: usize) -> Self {
        Self { limit, limit_of_one, held: Mutex::new(Held { kept: HashMap::default(), bytes: 0, clock: 0 }) }
    }

    /// What is kept under this key.
    pub(super) fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let mut held = self.held.lock();
        held.clock += 1;
        let now = held.clock;
        let (kept, used) = held.kept.get_mut(key)?;
        *used = now;
        Some(kept.clone())
    }

    /// Keeps this in place of what was kept under the key.
    pub(super) fn keep(&self, key: K, value: V) {
        if value.weight() > self.limit_of_one {
            return;
        }
        let mut held = self.held.lock();
        held.clock += 1;
        let now = held.clock;
        held.bytes += value.weight();
        if let Some((before, _)) = held.kept.insert(key, (value, now)) {
            held.bytes -= before.weight();
        }
        if held.bytes > self.limit {
            held.shrink(self.limit / 2);
        }
    }
}

impl<K, V: Weigh> Held<K, V> {
    /// Drops what was not used for longest until so many bytes are left: half of what may be kept, so that dropping costs
    /// little for each that is kept.
    fn shrink(&mut self, left: usize) {
        let mut uses: Vec<(u64, usize)> = self.kept.values().map(|(kept, used)| (*used, kept.weight())).collect();
        uses.sort_unstable();
        let mut excess = self.bytes.saturating_sub(left);
        let mut oldest_kept = 0;
        for (used, length) in uses {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(length);
            oldest_kept = used + 1;
        }
        self.kept.retain(|_, (_, used)| *used >= oldest_kept);
        self.bytes = self.kept.values().map(|(kept, _)| kept.weight()).sum();
    }
}

/// Remembers what came by lately, so that only what comes again is kept: a walk through many records copies nothing.
pub(super) struct Seen {
    places: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl Default for Seen {
    fn default() -> Self {
        Self { places: (0..SEEN).map(|_| AtomicU64::new(0)).collect(), hasher: RandomState::default() }
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Seen").finish_non_exhaustive()
    }
}

impl Seen {
    /// The number by which a thing is remembered.
    pub(super) fn number(&self, thing: impl Hash) -> u64 {
        self.hasher.hash_one(thing)
    }

    /// Whether the thing of this number came before, as far as that is remembered. From now on it did.
    pub(super) fn came_before(&self, number: u64) -> bool {
        let place = usize::try_from(number % SEEN as u64).unwrap_or_default();
        self.places.get(place).is_some_and(|seen| seen.swap(number, Ordering::Relaxed) == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        (AccountId(1), format!("/order?page={number}"), "j".to_owned())
    }

    fn answer(bytes: usize) -> Kept {
        Kept { state: (1, 2), etag: "e".to_owned(), content: vec![b'x'; bytes].into() }
    }

    #[test]
    fn the_bytes_that_are_kept_are_bounded_and_the_latest_stay() {
        let answers = KeptAnswers::default();
        for number in 0..100 {
            answers.keep(key(number), answer(ANSWER_BYTES));
            assert!(answers.get(&key(number)).is_none(), "the first answer to a request is not kept");
            answers.keep(key(number), answer(ANSWER_BYTES));
            assert!(answers.kept.held.lock().bytes <= KEPT_BYTES);
            assert!(answers.get(&key(number)).is_some());
        }
        assert!(answers.get(&key(0)).is_none());
        assert!(answers.get(&key(99)).is_some());
    }

    #[test]
    fn an_answer_takes_the_place_of_the_older_one() {
        let answers = KeptAnswers::default();
        answers.keep(key(1), answer(10));
        answers.keep(key(1), answer(10));
        answers.keep(key(1), Kept { state: (2, 2), ..answer(20) });
        assert_eq!(answers.get(&key(1)).unwrap().state, (2, 2));
        assert_eq!(answers.kept.held.lock().bytes, 20);
        answers.keep(key(2), answer(ANSWER_BYTES + 1));
        answers.keep(key(2), answer(ANSWER_BYTES + 1));
        assert!(answers.get(&key(2)).is_none(), "a very large answer is not kept");
    }
}
