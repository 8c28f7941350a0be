//! A lease is a piece of background work that one node does at a time.
//!
//! - Its row says when the work wants to be done and how far it has read the change log. A free lease whose time has come, or
//!   whose account has changes that it has not read, is taken by whichever node sees it first; who was served longest ago comes
//!   first.
//! - Who holds it renews it. A node that dies lets it end, and another one takes it.
//! - Every transaction of the work asks first whether the lease is still held ([`store::hold`]), so that a node that was taken
//!   for dead changes nothing. A transaction that also takes the account's head takes that before, as requests do.
//! - Work that is not renewed is dropped before its lease ends, with its connections.
//! - Nodes have about as many webhooks each: one that has fewer by two or more than another asks that for half of the difference,
//!   and gets each when the other has renewed it and has done what is under way.
//! - A lease is given back by its work, in the transaction that found nothing more to do. Work that fails lets it end, which is
//!   the pause before it is tried again.
//! - Times are those of the database, whatever the clocks of the nodes say.

pub mod store;
mod supervisor;

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use self::store::Taken;
use crate::services::App;
use db::{AccountId, BoxFuture, DbError};
use kernel::text::Slug;

pub use supervisor::{is_worked_for, run, settle};

/// The time of what is not due by itself, and the position of what does not read the change log.
pub const NEVER: i64 = i64::MAX;

/// What is done by one node at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaseName {
    /// The deliveries of a webhook.
    Webhook(Slug),
    /// The jobs of an account.
    Jobs,
    /// What the panels of an account assign.
    Panels,
    /// The reminders of an account's judges.
    Reminders,
    /// What the installation forgets in time; of no account.
    Upkeep,
}

impl fmt::Display for LeaseName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Webhook(slug) => write!(formatter, "webhook:{slug}"),
            Self::Jobs => formatter.write_str("jobs"),
            Self::Panels => formatter.write_str("panels"),
            Self::Reminders => formatter.write_str("reminders"),
            Self::Upkeep => formatter.write_str("upkeep"),
        }
    }
}

impl LeaseName {
    /// The lease of this name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "jobs" => Some(Self::Jobs),
            "panels" => Some(Self::Panels),
            "reminders" => Some(Self::Reminders),
            "upkeep" => Some(Self::Upkeep),
            _ => text.strip_prefix("webhook:").and_then(Slug::parse).map(Self::Webhook),
        }
    }
}

/// What a supervisor says to work that it has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Call {
    /// How often the account was woken.
    wakes: u64,
    /// The signal of the lease as it was last renewed; nothing where it is not this node's any more.
    signal: Option<i64>,
    /// Whether the node ends, or another one has asked for the lease.
    ends: bool,
}

/// A lease that this node holds.
#[derive(Debug)]
pub struct Held {
    /// The account; none for work of the installation.
    pub account: AccountId,
    /// Which lease it is.
    pub name: LeaseName,
    /// The holding, which is the lease's owner as long as this is it.
    pub owner: Arc<str>,
    /// How far the work has read the change log.
    pub position: i64,
    /// What the work remembers, as JSON.
    pub state: String,
    /// The number of the lease's last signal.
    pub signal: i64,
    /// Whether it is to be given back as soon as nothing is due, instead of waiting for more.
    pub until_idle: bool,
    calls: watch::Receiver<Call>,
}

impl Held {
    fn new(taken: Taken, owner: &Arc<str>, until_idle: bool) -> (Self, watch::Sender<Call>) {
        let Taken { account, name, position, state, signal } = taken;
        let (sender, calls) = watch::channel(Call { signal: Some(signal), ..Call::default() });
        let owner = Arc::clone(owner);
        (Self { account, name, owner, position, state, signal, until_idle, calls }, sender)
    }

    /// Waits until there is a reason for another turn: the account was woken, the lease has another signal or is lost, or the
    /// node ends. What comes between two calls is not missed.
    pub async fn called(&mut self) {
        if self.calls.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Whether the node ends or leaves the lease to another one: it is to be given back as soon as what is under way is done.
    pub fn ends(&self) -> bool {
        self.calls.borrow().ends
    }
}

/// Until when a lease is held that is taken or renewed now.
pub fn until(app: &App) -> i64 {
    app.database_clock.now().saturating_add(length(app))
}

/// The most leases that a node asks for at once.
const ASKED_FOR: usize = 64;

/// How many leases a node that has so many asks the one for that has most.
fn fair_part(own: usize, most: usize) -> usize {
    (most.saturating_sub(own) / 2).min(ASKED_FOR)
}

/// How long a lease is held, in microseconds.
fn length(app: &App) -> i64 {
    i64::from(app.settings.lease_seconds) * 1_000_000
}

/// A piece of work in the background. It gives its lease back by itself, or ends with an error.
pub type Work = BoxFuture<'static, Result<(), DbError>>;

/// Every kind of work that leases are for.
pub trait Works: Send + Sync + 'static {
    /// The work of a lease; nothing where this version knows none.
    fn work(&self, app: App, held: Held) -> Option<Work>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_asks_for_half_of_what_another_one_has_more() {
        for ((own, most), part) in
            [((0, 0), 0), ((0, 1), 0), ((1, 2), 0), ((0, 2), 1), ((0, 3), 1), ((5, 3), 0), ((0, 4_096), 64)]
        {
            assert_eq!(fair_part(own, most), part, "{own} of {most}");
        }
    }

    #[test]
    fn the_name_of_a_lease_is_read_as_it_is_written() {
        let webhook = LeaseName::Webhook(Slug::parse("AbCdEfGh").unwrap());
        for (name, text) in
            [(webhook, "webhook:AbCdEfGh"), (LeaseName::Jobs, "jobs"), (LeaseName::Reminders, "reminders")]
        {
            assert_eq!((name.to_string().as_str(), LeaseName::parse(text)), (text, Some(name)));
        }
        for text in ["", "webhook:", "webhook:Ab", "Jobs"] {
            assert_eq!(LeaseName::parse(text), None, "{text}");
        }
    }
}
