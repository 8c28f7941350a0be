//! Rotation: a key that is replaced stays valid for a while.

use std::mem;

use crate::Key;

/// How long a key stays valid after it was replaced: 24 hours.
pub const REPLACED_VALID_SECONDS: i64 = 24 * 60 * 60;

/// How many replaced keys stay valid at most; one more ends the oldest before its time.
pub const MAX_REPLACED: usize = 4;

/// The key in use and those that it replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The key in use.
    pub current: Key,
    /// The keys that were replaced, latest first.
    pub replaced: Vec<Replaced>,
}

/// A key that is no longer in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The key.
    pub key: Key,
    /// When it ends: the first second in which it is no longer valid, since 1970 began.
    pub until_unix: i64,
}

/// A key that has replaced none.
impl From<Key> for Keys {
    fn from(current: Key) -> Self {
        Self { current, replaced: Vec::new() }
    }
}

impl Keys {
    /// Replaces the key in use, and forgets keys that have ended. The key that is already in use replaces nothing.
    pub fn rotate(&mut self, key: Key, now_unix: i64) {
        // A key that comes back is in use again and has no end.
        self.replaced.retain(|replaced| now_unix < replaced.until_unix && replaced.key != key);
        if key != self.current {
            let until_unix = now_unix.saturating_add(REPLACED_VALID_SECONDS);
            self.replaced.insert(0, Replaced { key: mem::replace(&mut self.current, key), until_unix });
            self.replaced.truncate(MAX_REPLACED);
        }
    }

    /// The keys that are valid now, the one in use first.
    pub(crate) fn valid(&self, now_unix: i64) -> impl Iterator<Item = &Key> {
        let replaced = self.replaced.iter().filter(move |replaced| now_unix < replaced.until_unix);
        std::iter::once(&self.current).chain(replaced.map(|replaced| &replaced.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = REPLACED_VALID_SECONDS;

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    fn rotated(names: &[(&str, i64)]) -> Keys {
        let mut keys = Keys::from(key("first"));
        for (name, now) in names {
            keys.rotate(key(name), *now);
        }
        keys
    }

    fn valid(keys: &Keys, now: i64) -> Vec<&str> {
        keys.valid(now).map(|key| str::from_utf8(key.as_bytes()).unwrap()).collect()
    }

    #[test]
    fn a_replaced_key_is_valid_for_a_day() {
        let keys = rotated(&[("second", 100)]);
        assert_eq!(valid(&keys, 100), ["second", "first"]);
        assert_eq!(valid(&keys, 99 + DAY), ["second", "first"]);
        assert_eq!(valid(&keys, 100 + DAY), ["second"]);
    }

    #[test]
    fn each_replaced_key_has_its_own_day() {
        let keys = rotated(&[("second", 100), ("third", 200)]);
        assert_eq!(valid(&keys, 200), ["third", "second", "first"]);
        assert_eq!(valid(&keys, 100 + DAY), ["third", "second"]);
        assert_eq!(valid(&keys, 200 + DAY), ["third"]);
    }

    #[test]
    fn a_key_that_comes_back_has_no_end() {
        let keys = rotated(&[("second", 100), ("first", 200)]);
        assert_eq!(valid(&keys, 200), ["first", "second"]);
        assert_eq!(valid(&keys, 200 + DAY), ["first"]);
    }

    #[test]
    fn the_key_in_use_replaces_nothing() {
        assert_eq!(rotated(&[("first", 100)]), Keys::from(key("first")));
    }

    #[test]
    fn keys_that_have_ended_are_forgotten() {
        assert_eq!(rotated(&[("second", 0), ("third", DAY)]).replaced.len(), 1);
        assert_eq!(rotated(&[("second", 0), ("second", DAY)]).replaced, []);
    }

    #[test]
    fn the_oldest_ends_when_there_are_too_many() {
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let changes: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
        assert_eq!(valid(&rotated(&changes), 0), ["9", "8", "7", "6", "5"]);
    }
}
