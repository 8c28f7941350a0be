//! What an endpoint's owner has in memory: the deliveries that are open, in which order they are attempted, and how many at the
//! same time. Pure: the time and the random number are arguments. Times are microseconds since 1970-01-01 UTC.
//!
//! - Of a record one delivery is attempted at a time, the first by its key that is open.
//! - An attempt that has ended holds its record until its outcome is written down.
//! - Attempts at the same time are as many as the window has: one at first, and one more with each success.
//! - An endpoint that has too much to do and says for how long (429 and 503 with `Retry-After`) is left alone as a whole.
//! - After an outage each success brings the next retries forward, until one fails: what has piled up does not wait for its
//!   times.
//! - An endpoint that is disabled is attempted no more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::outgoing::Attempt;
use webhook_signing::{Endpoint as Health, Next, Outcome, Reason, Schedule};

/// A delivery of an endpoint: the number of its change, and the place of its event among those of the change.
pub type Key = (i64, u16);

/// What a delivery is about: the kind and the identifier of a record.
pub type Record = (String, String);

/// The attempts in a row without a usable answer after which there is one at a time.
const UNANSWERED: u32 = 5;

/// So many records that wait for a retry have piled up in an outage; fewer may be what the endpoint does not like.
const PILED_UP: usize = 100;

/// An answer that took longer was slow.
const SLOW: Duration = Duration::from_secs(1);

/// The open deliveries of an endpoint.
#[derive(Debug)]
pub struct Endpoint {
    schedule: Schedule,
    disable_after: Duration,
    health: Health,
    open: BTreeMap<Key, Open>,
    of_record: HashMap<Arc<Record>, Queue>,
    /// The first of each record that is not busy, by when it is due.
    due: BTreeSet<(i64, Key)>,
    window: Window,
    under_way: usize,
    was_slow: bool,
    /// Until when it asked to be left alone.
    rests_until: i64,
    /// Whether retries are brought forward.
    catches_up: bool,
}

/// A delivery that is open.
#[derive(Debug)]
struct Open {
    record: Arc<Record>,
    due: i64,
    /// Attempts since it was last begun anew.
    tried: usize,
    ended: Option<Ended>,
}

/// The open deliveries of a record.
#[derive(Debug, Default)]
struct Queue {
    keys: BTreeSet<Key>,
    /// The one that was started, until its outcome is written down.
    busy: Option<Key>,
}

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has arrived.
    Delivered,
    /// It is attempted again at this time.
    Retry(i64),
    /// It has failed for good.
    Failed,
}

/// How many attempts may be under way.
#[derive(Debug)]
struct Window {
    size: usize,
    most: usize,
    unanswered: u32,
}

impl Window {
    /// A status that tells of too much to do counts as no answer; every other failure costs the endpoint no time.
    fn note(&mut self, status: Option<u16>) {
        match status {
            Some(200..=299) => (self.size, self.unanswered) = ((self.size + 1).min(self.most), 0),
            None | Some(429 | 503) => {
                self.unanswered = self.unanswered.saturating_add(1);
                self.size = if self.unanswered < UNANSWERED { (self.size / 2).max(1) } else { 1 };
            }
            Some(_) => self.unanswered = 0,
        }
    }
}

impl Endpoint {
    /// An endpoint without deliveries, with at most so many attempts at the same time, as it was when it was last attempted. One
    /// that was failing is slow until it answers.
    pub fn new(
        schedule: Schedule,
        disable_after: Duration,
        concurrency: usize,
        (health, rests_until): (Health, i64),
    ) -> Self {
        Self {
            schedule,
            disable_after,
            health,
            open: BTreeMap::new(),
            of_record: HashMap::new(),
            due: BTreeSet::new(),
            window: Window { size: 1, most: concurrency.max(1), unanswered: 0 },
            under_way: 0,
            was_slow: health != Health::Healthy,
            rests_until,
            catches_up: false,
        }
    }

    /// When a delivery that is new at this time is attempted first.
    pub fn first_due(&self, now: i64, jitter: u32) -> i64 {
        later(now, self.schedule.first(jitter))
    }

    /// Takes a delivery that has been attempted so often, or, where it is waiting already, begins it anew. One that is under
    /// way stays as it is.
    pub fn add(&mut self, key: Key, record: Record, due: i64, tried: usize) {
        if self.is_busy(key) {
            return;
        }
        self.forget(key);
        let record = Arc::new(record);
        let record = self.of_record.get_key_value(&record).map_or(record, |(known, _)| Arc::clone(known));
        self.hold(&record);
        self.of_record.entry(Arc::clone(&record)).or_default().keys.insert(key);
        self.open.insert(key, Open { record: Arc::clone(&record), due, tried, ended: None });
        self.release(&record);
    }

    /// Deliveries that may be started now, the one that has been due for longest first.
    pub fn startable(&self, now: i64, most: usize) -> Vec<Key> {
        let due = self.due.iter().take_while(|(due, _)| self.rests_until.max(*due) <= now);
        due.take(self.room().min(most)).map(|(_, key)| *key).collect()
    }

    /// How many attempts may begin.
    fn room(&self) -> usize {
        if self.disabled().is_some() { 0 } else { self.window.size.saturating_sub(self.under_way) }
    }

    /// Notes that an attempt of a delivery begins.
    pub fn started(&mut self, key: Key) {
        self.under_way += usize::from(self.take(key));
    }

    /// Takes a delivery, and with it its record; whether it was free.
    fn take(&mut self, key: Key) -> bool {
        let Some(record) = self.record_of(key) else { return false };
        self.hold(&record);
        match self.of_record.get_mut(&record) {
            Some(Queue { busy: busy @ None, .. }) => *busy = Some(key),
            _ => return false,
        }
        true
    }

    /// Notes how an attempt ended, and says what becomes of the delivery. Its record is held until that is
    /// [`Endpoint::committed`].
    pub fn ended(&mut self, key: Key, attempt: &Attempt, now: i64, jitter: u32) -> Ended {
        let now_unix = now.div_euclid(1_000_000);
        let outcome = attempt.outcome(now_unix);
        self.window.note(attempt.status);
        self.was_slow = attempt.duration > SLOW;
        let was_failing = self.failing().is_some();
        self.health = self.health.after(outcome, now_unix, self.disable_after);
        if let (Some(429 | 503), Outcome::Failed { retry_after: Some(delay) }) = (attempt.status, outcome) {
            self.rests_until = self.rests_until.max(later(now, delay));
        }
        self.catch_up(outcome == Outcome::Delivered, was_failing, now);
        let is_busy = self.is_busy(key);
        let Some(open) = self.open.get_mut(&key).filter(|open| is_busy && open.ended.is_none()) else {
            return if outcome == Outcome::Delivered { Ended::Delivered } else { Ended::Failed };
        };
        self.under_way = self.under_way.saturating_sub(1);
        open.tried += 1;
        let ended = match self.schedule.next(open.tried, outcome, jitter) {
            Next::Delivered => Ended::Delivered,
            Next::Retry(delay) => Ended::Retry(later(now, delay)),
            Next::Failed => Ended::Failed,
        };
        open.ended = Some(ended);
        ended
    }

    /// Brings retries forward, where they have piled up, after a success; a failure ends that.
    fn catch_up(&mut self, has_arrived: bool, was_failing: bool, now: i64) {
        let retries = self.due.range((now.saturating_add(1), (i64::MIN, 0))..);
        self.catches_up = has_arrived && (self.catches_up || was_failing && retries.clone().count() >= PILED_UP);
        if !self.catches_up {
            return;
        }
        let next: Vec<(i64, Key)> = retries.take(2 * self.window.size).copied().collect();
        for (due, key) in next {
            self.due.remove(&(due, key));
            self.due.insert((now, key));
            if let Some(open) = self.open.get_mut(&key) {
                open.due = now;
            }
        }
    }

    /// Ends a delivery that cannot be attempted. Its record is held until that is [`Endpoint::committed`].
    pub fn give_up(&mut self, key: Key) {
        if self.take(key)
            && let Some(open) = self.open.get_mut(&key)
        {
            open.ended = Some(Ended::Failed);
        }
    }

    /// Notes that outcomes are written down: their records go on.
    pub fn committed(&mut self, keys: &[Key]) {
        for key in keys {
            let Some(ended) = self.open.get_mut(key).and_then(|open| open.ended.take()) else { continue };
            let Some(record) = self.record_of(*key) else { continue };
            if let Some(queue) = self.of_record.get_mut(&record) {
                queue.busy = None;
            }
            match (ended, self.open.get_mut(key)) {
                (Ended::Retry(due), Some(open)) => {
                    open.due = due;
                    self.release(&record);
                }
                _ => self.remove(*key, &record),
            }
        }
    }

    /// Forgets a delivery that waits.
    pub fn forget(&mut self, key: Key) {
        if let Some(record) = self.record_of(key).filter(|_| !self.is_busy(key)) {
            self.hold(&record);
            self.remove(key, &record);
        }
    }

    /// When the next delivery that may be started is due; none where an attempt has to end before.
    pub fn next_due(&self) -> Option<i64> {
        self.due.first().filter(|_| self.room() > 0).map(|(due, _)| self.rests_until.max(*due))
    }

    /// How many deliveries are open.
    pub fn owes(&self) -> usize {
        self.open.len()
    }

    /// Why it is to be disabled, if it is.
    pub fn disabled(&self) -> Option<Reason> {
        if let Health::Disabled(reason) = self.health { Some(reason) } else { None }
    }

    /// When the first attempt failed since the last that succeeded, and when the last one did, in seconds since 1970-01-01 UTC.
    pub fn failing(&self) -> Option<(i64, i64)> {
        if let Health::Failing { since_unix, last_unix } = self.health { Some((since_unix, last_unix)) } else { None }
    }

    /// Takes it for one that was never attempted, because it has another address. What has piled up for the one before does not
    /// wait for its times once this one answers.
    pub fn moved(&mut self) {
        (self.health, self.rests_until) = (Health::Healthy, 0);
        (self.was_slow, self.catches_up) = (false, true);
        self.window = Window { size: 1, unanswered: 0, ..self.window };
    }

    /// Notes that an attempt did not arrive at an address that was replaced meanwhile: it is made anew, and says nothing of this one.
    pub fn returned(&mut self, key: Key, now: i64) -> Ended {
        let is_busy = self.is_busy(key);
        let Some(open) = self.open.get_mut(&key).filter(|open| is_busy && open.ended.is_none()) else {
            return Ended::Failed;
        };
        self.under_way = self.under_way.saturating_sub(1);
        *open.ended.insert(Ended::Retry(now))
    }

    /// Until when it is left alone.
    pub fn rests_until(&self) -> i64 {
        self.rests_until
    }

    /// Whether the last answer was slow, or there is only one attempt at a time because none came.
    pub fn is_slow(&self) -> bool {
        self.was_slow || (self.window.unanswered > 0 && self.window.size == 1)
    }

    fn record_of(&self, key: Key) -> Option<Arc<Record>> {
        self.open.get(&key).map(|open| Arc::clone(&open.record))
    }

    fn is_busy(&self, key: Key) -> bool {
        let queue = self.open.get(&key).and_then(|open| self.of_record.get(&open.record));
        queue.is_some_and(|queue| queue.busy == Some(key))
    }

    /// The first delivery of a record and when it is due, unless one is busy.
    fn first(&self, record: &Arc<Record>) -> Option<(i64, Key)> {
        let queue = self.of_record.get(record).filter(|queue| queue.busy.is_none())?;
        let key = queue.keys.first()?;
        Some((self.open.get(key)?.due, *key))
    }

    /// Takes the first delivery of a record out of those that are due.
    fn hold(&mut self, record: &Arc<Record>) {
        if let Some(first) = self.first(record) {
            self.due.remove(&first);
        }
    }

    /// Puts it there.
    fn release(&mut self, record: &Arc<Record>) {
        self.due.extend(self.first(record));
    }

    /// Takes a delivery out of a record that is held.
    fn remove(&mut self, key: Key, record: &Arc<Record>) {
        self.open.remove(&key);
        if let Some(queue) = self.of_record.get_mut(record) {
            queue.keys.remove(&key);
            if queue.keys.is_empty() {
                self.of_record.remove(record);
            }
        }
        self.release(record);
    }
}

fn later(time: i64, delay: Duration) -> i64 {
    time.saturating_add(i64::try_from(delay.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
