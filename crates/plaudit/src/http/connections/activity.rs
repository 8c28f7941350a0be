//! What a connection is doing, and how long it may.
//!
//! It is kept in numbers that are only written by the connection itself, and looked at now and then by its timer; so timeouts
//! cost a request neither a clock nor a timer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;

use super::Standing;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Phase {
    /// Between two requests.
    Idle = 0,
    /// The head of a request has begun to arrive.
    Head = 1,
    /// A request is being answered.
    Working = 2,
    /// More of a request's body is waited for.
    Body = 3,
}

const PHASE: u64 = 0b011;
/// The client does not take what is sent.
const STALLED: u64 = 0b100;
const STEP: u64 = 0b1000;
/// Stands for a time that has not come.
const NEVER: u64 = u64::MAX;

/// The phase of a connection and, in the upper bits, a count of everything that has happened. Only the task of the
/// connection changes it, except where a handler reads a body elsewhere, which may lose a count and harms nothing.
#[derive(Debug)]
pub(in crate::http) struct Activity {
    state: AtomicU64,
    /// The bytes that came and went.
    moved: AtomicU64,
    /// How many connections the server had accepted when the last request of this one was answered.
    answered: AtomicU64,
    accepted: Arc<AtomicU64>,
    /// Whether the connection takes no other request.
    ends: AtomicBool,
    /// Whether it was asked to give way.
    gives_way: AtomicBool,
    task: AtomicWaker,
}

impl Activity {
    /// That of a new connection of a server that counts what it accepts here.
    pub(super) fn new(accepted: Arc<AtomicU64>) -> Self {
        Self {
            state: AtomicU64::new(Phase::Head as u64),
            moved: AtomicU64::new(0),
            answered: AtomicU64::new(NEVER),
            accepted,
            ends: AtomicBool::new(false),
            gives_way: AtomicBool::new(false),
            task: AtomicWaker::new(),
        }
    }

    fn state(&self) -> u64 {
        self.state.load(Ordering::Relaxed)
    }

    /// Counts nothing when the phase stays: a task that is woken by its timer polls, and notes, the same again.
    pub(in crate::http) fn set(&self, phase: Phase) {
        let state = self.state();
        if state & PHASE == phase as u64 {
            return;
        }
        self.state.store((state & !PHASE | phase as u64).wrapping_add(STEP), Ordering::Relaxed);
    }

    /// An answer was handed over, so that the connection is between two requests.
    pub(in crate::http) fn answered(&self) {
        self.answered.store(self.accepted.load(Ordering::Relaxed), Ordering::Relaxed);
        self.set(Phase::Idle);
    }

    pub(in crate::http) fn received(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
        if self.state() & PHASE == Phase::Idle as u64 {
            self.set(Phase::Head);
        }
    }

    /// Whether the head of a request has begun to arrive, and no request is being answered.
    pub(in crate::http) fn awaits_head(&self) -> bool {
        self.state() & PHASE == Phase::Head as u64
    }

    /// What was left of a body has arrived; what comes now is another head.
    pub(in crate::http) fn rested(&self) {
        if self.state() & PHASE == Phase::Head as u64 {
            self.set(Phase::Idle);
        }
    }

    /// A handler waits for a request's body, or has what it waited for; without a request there is nothing to note.
    pub(in crate::http) fn reading(&self, waits: bool) {
        let phase = self.state() & PHASE;
        if phase == Phase::Working as u64 || phase == Phase::Body as u64 {
            self.set(if waits { Phase::Body } else { Phase::Working });
        }
    }

    /// The client took so many bytes, or none because it has no room.
    pub(in crate::http) fn sent(&self, result: &Poll<io::Result<usize>>) {
        let state = self.state();
        match result {
            Poll::Ready(result) => {
                let bytes = *result.as_ref().unwrap_or(&0);
                self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
                self.state.store((state & !STALLED).wrapping_add(STEP), Ordering::Relaxed);
            }
            Poll::Pending if state & STALLED == 0 => {
                self.state.store((state | STALLED).wrapping_add(STEP), Ordering::Relaxed);
            }
            Poll::Pending => {}
        }
    }

    /// The connection takes no other request.
    pub(in crate::http) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// Whether the connection takes no other request.
    pub(in crate::http) fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// How it stands among the connections.
    pub(super) fn standing(&self) -> Standing {
        let state = self.state();
        let is_busy = state & STALLED != 0 || state & PHASE >= Phase::Working as u64;
        match self.answered.load(Ordering::Relaxed) {
            _ if is_busy => Standing::Busy,
            _ if self.gives_way.load(Ordering::Relaxed) => Standing::Leaving,
            NEVER => Standing::New,
            answered => Standing::Idle(answered),
        }
    }

    /// Asks the connection to end, which it does unless it has become busy.
    pub(super) fn give_way(&self) {
        self.gives_way.store(true, Ordering::Relaxed);
        self.task.wake();
    }

    /// Ready when the connection has to give way. Asked by its own task, so that no request can begin in between.
    pub(in crate::http) fn poll_give_way(&self, context: &Context<'_>) -> Poll<()> {
        self.task.register(context.waker());
        if !self.gives_way.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        if self.standing() == Standing::Leaving {
            return Poll::Ready(());
        }
        self.gives_way.store(false, Ordering::Relaxed);
        Poll::Pending
    }
}

/// How long a connection may stay in one state, and how slow its client may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Limits {
    header: Duration,
    body: Duration,
    idle: Duration,
    /// Bytes a second.
    pace: u64,
    /// How often the connection is looked at.
    pub(in crate::http) step: Duration,
}

/// What was seen of a connection when it was looked at last.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Seen {
    state: u64,
    /// How long it has been in this state.
    lasting: Duration,
    /// The bytes that had moved when the client was first waited for, and how long it has been waited for since.
    moved: u64,
    waiting: Duration,
}

impl Seen {
    /// What is seen of a connection at first.
    pub(in crate::http) fn new(activity: &Activity) -> Self {
        Self { state: activity.state(), lasting: Duration::ZERO, moved: 0, waiting: Duration::ZERO }
    }

    /// What is seen of it a step later.
    fn again(self, state: u64, moved: u64, step: Duration) -> Self {
        let lasting = if self.state == state { self.lasting + step } else { Duration::ZERO };
        if waits_for_client(state) && waits_for_client(self.state) {
            return Self { state, lasting, waiting: self.waiting + step, ..self };
        }
        Self { state, lasting, moved, waiting: Duration::ZERO }
    }
}

/// Whether a client is waited for that sends a body or takes an answer.
fn waits_for_client(state: u64) -> bool {
    state & STALLED != 0 || state & PHASE == Phase::Body as u64
}

impl Limits {
    /// How long a head may take, and a client may pause in a body or an answer, and be idle; and the least pace.
    pub(in crate::http) fn new(header: Duration, body: Duration, idle: Duration, pace: u64) -> Self {
        let step = (header.min(body).min(idle) / 4).max(Duration::from_millis(1));
        Self { header, body, idle, pace, step }
    }

    /// Looks at a connection a step after it was looked at last; true where it has to be cut.
    pub(in crate::http) fn are_passed(&self, activity: &Activity, seen: &mut Seen) -> bool {
        let moved = activity.moved.load(Ordering::Relaxed);
        *seen = seen.again(activity.state(), moved, self.step);
        self.are_passed_by(*seen, moved)
    }

    fn are_passed_by(&self, seen: Seen, moved: u64) -> bool {
        let Seen { state, lasting, waiting, .. } = seen;
        let phase = state & PHASE;
        let pace = u128::from(moved - seen.moved) * 1_000 < u128::from(self.pace) * waiting.as_millis();
        (waits_for_client(state) && (lasting >= self.body || waiting >= self.body && pace))
            || (phase == Phase::Idle as u64 && lasting >= self.idle)
            || (phase == Phase::Head as u64 && lasting >= self.header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_LENGTH: Duration = Duration::from_secs(1);

    /// Whether a connection is cut of which this is seen, a second each: its state, and the bytes that moved meanwhile.
    fn is_cut(states: impl IntoIterator<Item = (u64, u64)>) -> bool {
        let seconds = Duration::from_secs;
        let limits = Limits { header: seconds(10), body: seconds(30), idle: seconds(75), pace: 100, step: STEP_LENGTH };
        let mut seen = Seen { state: 0, lasting: Duration::ZERO, moved: 0, waiting: Duration::ZERO };
        let mut total = 0;
        states.into_iter().any(|(state, moved)| {
            total += moved;
            seen = seen.again(state, total, STEP_LENGTH);
            limits.are_passed_by(seen, total)
        })
    }

    #[test]
    fn a_client_that_is_waited_for_keeps_the_least_pace() {
        let body = |count: u64| count * STEP + Phase::Body as u64;
        let stalled = |count: u64| count * STEP + STALLED + Phase::Working as u64;
        let working = |count: u64| count * STEP + Phase::Working as u64;
        let for_a_day = 0..86_400;
        assert!(is_cut(for_a_day.clone().map(|second| (body(second), 99))));
        assert!(is_cut(for_a_day.clone().map(|second| (stalled(second), 1))));
        assert!(!is_cut(for_a_day.clone().map(|second| (body(second), 101))));
        assert!(!is_cut(for_a_day.clone().map(|second| (stalled(second), 101))));
        assert!(!is_cut((0..29).map(|second| (body(second), 0))), "a pace is measured over a while");
        // Who is waited for now and then alone is not slow: the rest of the time is the service's.
        assert!(!is_cut(for_a_day.map(|second| (if second % 20 == 0 { working(second) } else { body(second) }, 1))));
    }

    #[test]
    fn what_stays_as_it_is_is_cut_after_its_time() {
        for (state, seconds) in
            [(Phase::Head as u64, 10), (Phase::Idle as u64, 75), (STALLED, 30), (Phase::Body as u64, 30)]
        {
            let lasts = |seconds: u64| (0..=seconds).map(move |_| (STEP + state, 1_000));
            assert!(!is_cut(lasts(seconds - 1)), "{state:b}");
            assert!(is_cut(lasts(seconds)), "{state:b}");
        }
        assert!(!is_cut((0..86_400).map(|_| (STEP + Phase::Working as u64, 0))), "working takes as long as it takes");
    }
}
