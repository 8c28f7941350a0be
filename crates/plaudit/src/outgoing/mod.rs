//! Requests to addresses that somebody else has named.

mod client;
mod dialler;

pub use client::{Attempt, Client, Content, Request};
pub use dialler::{Dialling, Lookup, system};

use std::sync::Arc;
use std::time::Duration;

use crate::addresses::Allowed;
use crate::turns::Turns;
use db::AccountId;
use kernel::clock::Clock;

/// How many hosts are looked up at the same time, for endpoints that answer and for those that do not; a quarter of them for one
/// account.
const LOOKUPS: (usize, usize) = (16, 4);

/// What requests to others are set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the operator has opened.
    pub allowed: Arc<Allowed>,
    /// How hosts are looked up.
    pub lookup: Lookup,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// How many attempts are made at the same time.
    pub connections: usize,
}

/// How this node sends requests to others. Those who answer slowly or not at all share a quarter of the connections, and an
/// account has at most half of either part, so that nobody is delayed by what is dead.
pub struct Outgoing {
    /// For who answers.
    pub quick: Pool,
    /// For who does not.
    pub slow: Pool,
}

/// A part of the connections.
pub struct Pool {
    dialling: Dialling,
    timeout: Duration,
    /// Of those who make an attempt.
    pub turns: Turns<AccountId>,
}

impl Outgoing {
    /// No connections yet.
    pub fn new(settings: &Settings, clock: &Clock) -> Self {
        let lookups = |number: usize| Turns::new(number, number.div_ceil(4));
        let allowed = Arc::clone(&settings.allowed);
        let dialling = Dialling::new(allowed, settings.lookup, lookups(LOOKUPS.0), clock.clone());
        let slow = settings.connections.div_ceil(4);
        let pool = |dialling: Dialling, connections: usize| Pool {
            dialling,
            timeout: settings.timeout,
            turns: Turns::new(connections.max(1), connections.div_ceil(2).max(1)),
        };
        Self {
            slow: pool(dialling.with_lookups(lookups(LOOKUPS.1)), slow),
            quick: pool(dialling, settings.connections.saturating_sub(slow)),
        }
    }
}

impl Pool {
    /// A client of one endpoint of an account, which keeps so many connections open.
    pub fn client(&self, account: AccountId, concurrency: usize) -> Client {
        Client::new(self.dialling.for_account(account), self.timeout, concurrency)
    }
}
#[cfg(test)]
mod tests;
