//! The rate limit: a fixed window of 60 seconds for every API key, and for every client address without a known key.
//!
//! A window begins with the whole second of its first request and ends 60 seconds later, whatever happens in between; a
//! refused request does not count and does not extend it. The windows are those of one node.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;

use db::AccountId;
use kernel::text::{Slug, Timestamp};

/// The length of a window, in microseconds.
const WINDOW: i64 = 60_000_000;
/// How many windows are kept before those that have ended are dropped.
const MAX_WINDOWS: usize = 100_000;

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// The requests of a key.
    Key(AccountId, Slug),
    /// The requests of an address that sends no key that is known.
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Window {
    ends: i64,
    count: i64,
}

/// Where a caller stands after a request: what the headers of section 8 of the specification tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Requests a minute.
    pub limit: i64,
    /// Requests left in the window.
    pub remaining: i64,
    /// When the window ends: Unix time in seconds, rounded up.
    pub reset: i64,
}

/// The windows of a node.
#[derive(Debug, Default)]
pub struct RateLimiter(Mutex<HashMap<Counted, Window>>);

impl RateLimiter {
    /// Whose window the requests of an address without a known key are counted in: a network of IPv6 addresses that one
    /// subscriber is given (RFC 6177) counts as one.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Counted {
        Counted::Address(match address {
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
            IpAddr::V4(_) => address,
        })
    }

    /// Counts a request, or refuses it: the error is the number of whole seconds until the window ends, at least 1.
    pub fn count(&self, counted: Counted, limit: i64, now: Timestamp) -> Result<Standing, i64> {
        let now = now.as_microseconds();
        let mut windows = self.0.lock();
        if windows.len() >= MAX_WINDOWS {
            windows.retain(|_, window| window.ends > now);
            // Where so many are counted at once, somebody invents callers; beginning anew costs less than counting them.
            if windows.len() >= MAX_WINDOWS {
                windows.clear();
            }
        }
        // A window begins with the second of its first request, so that it ends exactly when the header says.
        let anew = Window { ends: now - now.rem_euclid(1_000_000) + WINDOW, count: 0 };
        let window = windows.entry(counted).or_insert(anew);
        if window.ends <= now {
            *window = anew;
        }
        if window.count >= limit {
            return Err(ceiling_seconds(window.ends - now).max(1));
        }
        window.count += 1;
        Ok(Standing { limit, remaining: limit - window.count, reset: ceiling_seconds(window.ends) })
    }
}

fn ceiling_seconds(microseconds: i64) -> i64 {
    microseconds.div_euclid(1_000_000) + i64::from(microseconds.rem_euclid(1_000_000) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn the_window_is_fixed_and_refused_requests_do_not_extend_it() {
        let limiter = RateLimiter::default();
        let address = Counted::Address([127, 0, 0, 1].into());
        for second in 0..60 {
            let standing = limiter.count(address, 60, at(1_000 + second / 2)).unwrap();
            assert_eq!(standing, Standing { limit: 60, remaining: 59 - second, reset: 1_060 });
        }
        for second in 30..60 {
            assert_eq!(limiter.count(address, 60, at(1_000 + second)), Err(60 - second));
        }
        assert_eq!(limiter.count(address, 60, at(1_060)).unwrap().remaining, 59);
    }

    #[test]
    fn the_window_ends_when_the_header_says() {
        let limiter = RateLimiter::default();
        let address = Counted::Address([127, 0, 0, 1].into());
        let between =
            |seconds: i64, microseconds: i64| Timestamp::from_microseconds(seconds * 1_000_000 + microseconds);
        assert_eq!(limiter.count(address, 1, between(1_000, 400_000)).unwrap().reset, 1_060);
        assert_eq!(limiter.count(address, 1, between(1_059, 999_999)), Err(1));
        assert!(limiter.count(address, 1, at(1_060)).is_ok());
    }

    #[test]
    fn callers_are_counted_apart() {
        let limiter = RateLimiter::default();
        let key = Slug::parse("AbCdEfGh").unwrap();
        assert!(limiter.count(Counted::Key(AccountId(1), key), 1, at(0)).is_ok());
        assert!(limiter.count(Counted::Key(AccountId(1), key), 1, at(0)).is_err());
        assert!(limiter.count(Counted::Key(AccountId(2), key), 1, at(0)).is_ok());
        assert!(limiter.count(Counted::Address([127, 0, 0, 1].into()), 1, at(0)).is_ok());
    }
}
