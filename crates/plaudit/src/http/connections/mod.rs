//! The connections of a server: how many there may be, and which gives way to a new one.
//!
//! - A connection is new until its first request is answered, idle between two requests, and busy in between. A busy one never
//!   gives way.
//! - Where there is no room, connections give way by whose address has the most of them; of one address those without an
//!   answered request first, which have been open longest; then those that have been idle longest. Bytes that end in no answer do
//!   not count, and time is counted in accepted connections.
//! - An address has a share of the room. Beyond it, only its own connections give way. Where all of these are busy, the new one is
//!   refused. Trusted proxies have no share: they speak for many.
//! - Where all connections there may be are busy, a new one waits.

mod activity;
mod room;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

pub(super) use activity::{Activity, Limits, Phase, Seen};
pub use room::{Room, outgoing, raise_descriptors};

use crate::services::metrics::Exposition;
use crate::services::rate_limit;
use kernel::clock::Throttle;

/// How long a new connection waits for room before it is looked for again: a connection that becomes idle tells nobody.
const PATIENCE: Duration = Duration::from_millis(20);
/// How often is logged that there was no room.
const LOG_EVERY: Duration = Duration::from_mins(1);
/// A part of the room is made at once, so that many new connections do not each look through all.
const MADE_AT_ONCE: usize = 64;
/// While connections that were asked to give way still close, the part of the room that new ones take beyond it, at most so many;
/// so that nobody waits for the connections of others to close.
const SLACK_PART: usize = 16;
const MAX_SLACK: usize = 32;

/// How a connection stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No request has been answered.
    New,
    /// It is between two requests, since so many connections had been accepted.
    Idle(u64),
    /// A request is being answered.
    Busy,
    /// It was asked to give way.
    Leaving,
}

/// The connections of a server.
#[derive(Debug)]
pub struct Connections {
    room: Room,
    accepted: Arc<AtomicU64>,
    held: Mutex<Held>,
    closed: Notify,
    gave_way: AtomicU64,
    refused: AtomicU64,
    log: Throttle,
}

/// The open connections by the address that they count for; none of trusted proxies.
#[derive(Debug, Default)]
struct Held {
    by_address: HashMap<Option<IpAddr>, HashMap<u64, Arc<Activity>>>,
    open: usize,
}

/// A connection's place among the others, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    number: u64,
    /// What the connection is doing.
    pub(super) activity: Arc<Activity>,
}

/// What becomes of a new connection.
enum Admission {
    Admitted(Place),
    /// There is none yet.
    Waits,
    Refused,
}

impl Connections {
    /// None yet, with so much room.
    pub fn new(room: Room) -> Arc<Self> {
        Arc::new(Self {
            room,
            accepted: Arc::default(),
            held: Mutex::default(),
            closed: Notify::new(),
            gave_way: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            log: Throttle::new(LOG_EVERY),
        })
    }

    /// Finds a place for a connection from an address, or from a trusted proxy; nothing where it is refused.
    pub(super) async fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Place> {
        let address = address.map(rate_limit::network);
        loop {
            match self.admit_now(address) {
                Admission::Admitted(place) => return Some(place),
                Admission::Refused => return None,
                // Time over is a reason to look again like any other.
                Admission::Waits => {
                    let _ = tokio::time::timeout(PATIENCE, self.closed.notified()).await;
                }
            }
        }
    }

    fn admit_now(self: &Arc<Self>, address: Option<IpAddr>) -> Admission {
        let held = &mut *self.held.lock();
        let own = held.by_address.get(&address).map_or(0, HashMap::len) + 1;
        let is_over_share = address.is_some() && own > self.room.of_address;
        let (room, wanted) = if is_over_share { (self.room.of_address, own) } else { (self.room.all, held.open + 1) };
        if wanted <= room {
            return Admission::Admitted(self.place(held, address));
        }
        let mut leaving = 0;
        let mut free = Vec::new();
        for (of, connections) in held.by_address.iter().filter(|(of, _)| !is_over_share || **of == address) {
            let of_address = if of.is_some() { connections.len() } else { 1 };
            for (number, activity) in connections {
                let standing = activity.standing();
                leaving += usize::from(standing == Standing::Leaving);
                free.extend(standing.rank(of_address, *number).map(|rank| (rank, activity)));
            }
        }
        let missing = (wanted - room).saturating_sub(leaving);
        if missing > 0 {
            free.sort_unstable_by_key(|(rank, _)| *rank);
            free.truncate(missing.max(room / MADE_AT_ONCE));
            for (_, activity) in &free {
                activity.give_way();
            }
            self.log();
        }
        if missing <= free.len() && held.open < self.room.all + (self.room.all / SLACK_PART).min(MAX_SLACK) {
            return Admission::Admitted(self.place(held, address));
        }
        if is_over_share && leaving == 0 && free.is_empty() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Admission::Refused;
        }
        Admission::Waits
    }

    /// Takes a place.
    fn place(self: &Arc<Self>, held: &mut Held, address: Option<IpAddr>) -> Place {
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
        let activity = Arc::new(Activity::new(Arc::clone(&self.accepted)));
        held.by_address.entry(address).or_default().insert(number, Arc::clone(&activity));
        held.open += 1;
        Place { connections: Arc::clone(self), address, number, activity }
    }

    /// Says that there is no room, once in a while, however many connections come.
    fn log(&self) {
        if self.log.passes() {
            let Room { all, of_address } = self.room;
            let (gave_way, refused) = (self.gave_way.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed));
            tracing::warn!(
                max_connections = all,
                max_connections_per_address = of_address,
                gave_way,
                refused,
                "there is no room for more connections, of one address or in all: those give way that are not used"
            );
        }
    }

    /// Writes what is measured of them.
    pub fn write(&self, out: &mut Exposition) {
        let [mut new, mut idle, mut busy] = [0; 3];
        for activity in self.held.lock().by_address.values().flat_map(HashMap::values) {
            match activity.standing() {
                Standing::New => new += 1,
                Standing::Idle(_) | Standing::Leaving => idle += 1,
                Standing::Busy => busy += 1,
            }
        }
        out.labelled(
            ("plaudit_connections", "gauge", "Connections of clients, by what they do"),
            "state",
            [("new", new), ("idle", idle), ("busy", busy)],
        );
        for (name, help, count) in [
            ("plaudit_connections_gave_way_total", "Idle connections that gave way to new ones", &self.gave_way),
            ("plaudit_connections_refused_total", "Connections that were refused", &self.refused),
            ("plaudit_connections_accepted_total", "Connections that were accepted", &*self.accepted),
        ] {
            out.single(name, "counter", help, count.load(Ordering::Relaxed));
        }
    }
}

impl Standing {
    /// When it gives way: the least is the first, of an address that has so many; nothing where it does not.
    fn rank(self, of_address: usize, number: u64) -> Option<(Reverse<usize>, bool, u64, u64)> {
        match self {
            Self::New => Some((Reverse(of_address), false, number, number)),
            Self::Idle(since) => Some((Reverse(of_address), true, since, number)),
            Self::Busy | Self::Leaving => None,
        }
    }
}

impl Place {
    /// Counts that the connection gave way.
    pub(super) fn gave_way(&self) {
        self.connections.gave_way.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let held = &mut *self.connections.held.lock();
        if let Some(of_address) = held.by_address.get_mut(&self.address) {
            of_address.remove(&self.number);
            if of_address.is_empty() {
                held.by_address.remove(&self.address);
            }
        }
        held.open -= 1;
        self.connections.closed.notify_one();
    }
}

#[cfg(test)]
mod tests;
