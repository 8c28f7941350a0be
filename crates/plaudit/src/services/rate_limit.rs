//! The rate limit: a fixed window of 60 seconds for every API key, and for every client address without a known key.
//!
//! - A window begins with the whole second of its first request and ends 60 seconds later, whatever happens in between; a
//!   refused request does not count and does not extend it. On SQLite, which has one node, windows are counted in memory; those
//!   of keys on PostgreSQL are one across its nodes ([`shared`]), those of addresses are each node's own.
//! - A window lasts as long as time passes, whatever the clock is set to meanwhile.
//! - Who has used up a window has few keys looked up in it, and then none.
//! - Addresses can be invented without end, keys cannot: what becomes of the windows of the ones is nothing to the others.

pub mod shared;
pub mod store;

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;

use db::AccountId;
use kernel::clock::Clock;
use kernel::text::Slug;

const SECOND: i64 = 1_000_000;
/// The length of a window, in microseconds.
const WINDOW: i64 = 60 * SECOND;
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
    /// When it ends, in microseconds that have passed.
    ends: i64,
    /// The same as a time of the clock.
    reset: i64,
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

/// What an address counts as: a network of IPv6 addresses that one subscriber is given (RFC 6177) is one.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        IpAddr::V4(_) => address,
    }
}

/// The windows of a node: those of keys, and those of addresses.
#[derive(Debug, Default)]
pub struct RateLimiter([Mutex<HashMap<Counted, Window>>; 2]);

impl RateLimiter {
    /// Counts a request, or refuses it: the error is the number of whole seconds until the window ends, at least 1.
    pub fn count(&self, counted: Counted, limit: i64, clock: &Clock) -> Result<Standing, i64> {
        let (now, elapsed) = (clock.now().as_microseconds(), clock.elapsed());
        let mut windows = self.0[usize::from(matches!(counted, Counted::Address(_)))].lock();
        if windows.len() >= MAX_WINDOWS {
            windows.retain(|_, window| window.ends > elapsed);
            // Where so many are counted at once, somebody invents callers: who used up a window keeps it as long as can be.
            if windows.len() > MAX_WINDOWS / 2 {
                windows.retain(|_, window| window.count >= limit);
            }
            if windows.len() > MAX_WINDOWS / 2 {
                windows.clear();
            }
        }
        // A window begins with the second of its first request, so that it ends exactly when the header says.
        let reset = now - now.rem_euclid(SECOND) + WINDOW;
        let fresh = Window { ends: elapsed + reset - now, reset, count: 0 };
        let window = windows.entry(counted).or_insert(fresh);
        if window.ends <= elapsed {
            *window = fresh;
        }
        let left = window.ends - elapsed;
        if (now + left - window.reset).abs() >= SECOND {
            // The clock was set since the window began.
            window.reset = now + left;
        }
        if window.count >= limit {
            return Err(ceiling_seconds(left).max(1));
        }
        window.count += 1;
        Ok(Standing { limit, remaining: limit - window.count, reset: ceiling_seconds(window.reset) })
    }

    /// Whether a key may be looked up for an address, or the number of whole seconds until its window ends. Beyond its limit
    /// it has as many look-ups again, so that a good key behind the address is found, and invented ones cost no more.
    pub fn look_up(&self, address: Counted, limit: i64, clock: &Clock) -> Result<(), i64> {
        let elapsed = clock.elapsed();
        let mut windows = self.0[1].lock();
        let Some(window) = windows.get_mut(&address).filter(|window| window.ends > elapsed) else { return Ok(()) };
        if window.count >= 2 * limit {
            return Err(ceiling_seconds(window.ends - elapsed).max(1));
        }
        window.count += i64::from(window.count >= limit);
        Ok(())
    }
}

fn ceiling_seconds(microseconds: i64) -> i64 {
    microseconds.div_euclid(1_000_000) + i64::from(microseconds.rem_euclid(1_000_000) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::text::Timestamp;

    const ADDRESS: Counted = Counted::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn at(microseconds: i64) -> Clock {
        Clock::fixed(Timestamp::from_microseconds(microseconds))
    }

    #[test]
    fn the_window_is_fixed_and_refused_requests_do_not_extend_it() {
        let (limiter, clock) = (RateLimiter::default(), at(1_000 * SECOND));
        for request in 0..60 {
            let standing = limiter.count(ADDRESS, 60, &clock).unwrap();
            assert_eq!(standing, Standing { limit: 60, remaining: 59 - request, reset: 1_060 });
            clock.advance(request % 2);
        }
        for second in 30..60 {
            assert_eq!(limiter.count(ADDRESS, 60, &clock), Err(60 - second));
            clock.advance(1);
        }
        assert_eq!(limiter.count(ADDRESS, 60, &clock).unwrap().remaining, 59);
    }

    #[test]
    fn the_window_ends_when_the_header_says() {
        let (limiter, clock) = (RateLimiter::default(), at(1_000 * SECOND + 400_000));
        assert_eq!(limiter.count(ADDRESS, 1, &clock).unwrap().reset, 1_060);
        clock.advance(59);
        assert_eq!(limiter.count(ADDRESS, 1, &clock), Err(1));
        clock.advance(1);
        assert!(limiter.count(ADDRESS, 1, &clock).is_ok());
    }

    #[test]
    fn a_clock_that_is_set_back_or_forward_does_not_move_the_end_of_a_window() {
        for jump in [-86_400, 86_400] {
            let (limiter, clock) = (RateLimiter::default(), at(100_000 * SECOND));
            limiter.count(ADDRESS, 2, &clock).unwrap();
            clock.advance(10);
            clock.set(jump);
            let standing = limiter.count(ADDRESS, 2, &clock).unwrap();
            assert_eq!((standing.remaining, standing.reset), (0, 100_060 + jump));
            assert_eq!(limiter.count(ADDRESS, 2, &clock), Err(50));
            clock.advance(50);
            assert!(limiter.count(ADDRESS, 2, &clock).is_ok());
        }
    }

    #[test]
    fn callers_are_counted_apart_and_addresses_clear_no_windows_of_keys() {
        let (limiter, clock) = (RateLimiter::default(), at(0));
        let key = |account| Counted::Key(AccountId(account), Slug::parse("AbCdEfGh").unwrap());
        assert!(limiter.count(key(1), 1, &clock).is_ok());
        assert!(limiter.count(key(2), 1, &clock).is_ok());
        for address in 0..=u32::try_from(MAX_WINDOWS).unwrap() {
            assert!(limiter.count(Counted::Address(IpAddr::V4(address.into())), 1, &clock).is_ok());
        }
        assert!(limiter.count(key(1), 1, &clock).is_err());
    }

    #[test]
    fn an_address_that_used_up_its_window_keeps_it_however_many_others_come() {
        let (limiter, clock) = (RateLimiter::default(), at(0));
        assert!((0..60).all(|_| limiter.count(ADDRESS, 60, &clock).is_ok()));
        for address in 0..105_000 {
            assert!(limiter.count(Counted::Address(IpAddr::V4(address.into())), 60, &clock).is_ok());
        }
        assert!(limiter.count(ADDRESS, 60, &clock).is_err());
    }

    #[test]
    fn an_address_beyond_its_limit_has_as_many_keys_looked_up_again_and_then_none() {
        let (limiter, clock) = (RateLimiter::default(), at(0));
        for request in 0..200 {
            let looked_up = limiter.look_up(ADDRESS, 60, &clock);
            assert_eq!(looked_up, if request < 120 { Ok(()) } else { Err(60) });
            assert_eq!(limiter.count(ADDRESS, 60, &clock).is_ok(), request < 60);
        }
        clock.advance(60);
        assert_eq!(limiter.look_up(ADDRESS, 60, &clock), Ok(()));
        assert_eq!(limiter.count(ADDRESS, 60, &clock).unwrap().remaining, 59);
    }
}
