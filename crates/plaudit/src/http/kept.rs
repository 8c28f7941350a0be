//! What is kept in memory within a bound of bytes, by a [`Keeper`]. [`Seen`] tells what comes for the first time, and is not
//! worth keeping yet.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::quality::RandomState;
use parking_lot::Mutex;

/// How much of what came by is remembered.
const SEEN: usize = 8192;

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

    impl Weigh for Vec<u8> {
        fn weight(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn the_bytes_that_are_kept_are_bounded_and_the_latest_stay() {
        let keeper = Keeper::new(1_000, 100);
        for number in 0..100 {
            keeper.keep(number, vec![b'x'; 100]);
            assert!(keeper.held.lock().bytes <= 1_000);
            assert!(keeper.get(&number).is_some());
        }
        assert!(keeper.get(&0).is_none());
        keeper.keep(100, vec![b'x'; 101]);
        assert!(keeper.get(&100).is_none(), "what is very large is not kept");
    }

    #[test]
    fn what_is_kept_takes_the_place_of_what_was_there() {
        let keeper = Keeper::new(1_000, 100);
        keeper.keep(1, vec![b'x'; 10]);
        keeper.keep(1, vec![b'y'; 20]);
        assert_eq!(keeper.get(&1), Some(vec![b'y'; 20]));
        assert_eq!(keeper.held.lock().bytes, 20);
    }

    #[test]
    fn what_comes_for_the_second_time_was_seen() {
        let seen = Seen::default();
        let number = seen.number("a");
        assert!(!seen.came_before(number));
        assert!(seen.came_before(number));
    }
}
