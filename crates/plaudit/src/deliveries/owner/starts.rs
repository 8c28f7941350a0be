//! Which attempts of an endpoint may begin, and what they send.
//!
//! What is sent waits in memory, and counts in the memory that answers and bodies share before it is read or made: by the length
//! of the stored body, or twice that of the document, whose answers it has twice. A delivery for which there is nothing left is
//! due again in a moment. A turn is one transaction, for which others wait: what is too much for it is for the next one.

use bytes::Bytes;

use super::{Owner, Settled, State, store};
use crate::deliveries::endpoint::Key;
use crate::deliveries::payload::{self, EventMembers};
use crate::deliveries::store::{Delivery, Length};
use crate::outgoing::Attempt;
use crate::records::users;
use crate::services::App;
use crate::services::budgets::Memory;
use db::{AccountId, DbError, Source};

/// The most bytes of a body that are not counted.
const UNCOUNTED: usize = 64 << 10;
/// One delivery counts for no more than this part of the memory, so that the longest is sent as well.
const LARGEST_PART: usize = 4;
/// The most bytes of the bodies of a turn; one may be longer.
const TURN_BYTES: usize = 4 << 20;
/// How long a delivery waits that found no memory, in microseconds.
const NO_MEMORY: i64 = 1_000_000;

/// A delivery that was not attempted yet.
#[derive(Clone)]
pub(super) struct Unsent {
    pub(super) delivery: Delivery,
    /// The bytes of its change's document.
    pub(super) length: usize,
}

/// An attempt that begins when the turn is committed.
pub(super) struct Start {
    pub(super) delivery: Delivery,
    /// The attempts before it.
    pub(super) attempts: String,
    pub(super) body: Bytes,
    /// Whether the body was made for it.
    pub(super) is_first: bool,
    /// What the body takes until the attempt has ended.
    pub(super) memory: Memory,
}

/// A delivery that begins, whose body is still to be made or read, and the attempts before.
struct Bodiless {
    delivery: Delivery,
    attempts: String,
    memory: Memory,
}

/// Whether a delivery begins with the turn.
enum Admitted {
    /// It does, with this memory for what it sends.
    Now(Memory),
    /// The turn has much to send: the next one is for it.
    NextTurn,
    /// There is no memory.
    Later,
}

/// What the deliveries take that begin with a turn.
struct Admission {
    app: App,
    account: AccountId,
    bytes: usize,
}

impl Admission {
    fn admit(&mut self, length: usize) -> Admitted {
        if self.bytes > 0 && self.bytes + length > TURN_BYTES {
            return Admitted::NextTurn;
        }
        let mut memory = self.app.budgets.memory(self.account);
        let counted = length.min(self.app.budgets.limits().memory_bytes / LARGEST_PART);
        if length > UNCOUNTED && !memory.grow(counted) {
            return Admitted::Later;
        }
        self.bytes += length;
        Admitted::Now(memory)
    }
}

impl Owner {
    /// The attempts that may begin, with what they send.
    pub(super) async fn starts(&mut self) -> Result<Vec<Start>, DbError> {
        let now = self.app.database_clock.now();
        let (app, account) = (self.app.clone(), self.held.account);
        let mut admission = Admission { app: app.clone(), account, bytes: 0 };
        let (mut starts, mut without_body, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for key in self.endpoint.startable(now, app.settings.webhooks.concurrency) {
            let Some(unsent) = self.fresh.get(&key).or_else(|| self.waiting.get(&key)) else {
                unknown.push(key);
                continue;
            };
            let delivery = unsent.delivery.clone();
            match admission.admit(2 * unsent.length) {
                Admitted::Now(memory) => without_body.push(Bodiless { delivery, attempts: "[]".to_owned(), memory }),
                Admitted::NextTurn => {}
                Admitted::Later => self.postpone(&delivery, now),
            }
        }
        let mut source = Source::Db(&app.db);
        let found = store::each_of(account, &mut source, self.slug, &unknown).await?;
        unknown.retain(|key| !found.iter().any(|(delivery, _)| delivery.key() == *key));
        let mut with_body = Vec::new();
        for (delivery, length) in found {
            if delivery.state != State::Pending {
                unknown.push(delivery.key());
                continue;
            }
            let bytes = match length {
                Length::OfBody(bytes) => bytes,
                Length::OfDocument(bytes) => 2 * bytes,
            };
            let memory = match admission.admit(bytes) {
                Admitted::Now(memory) => memory,
                Admitted::NextTurn => continue,
                Admitted::Later => {
                    self.postpone(&delivery, now);
                    continue;
                }
            };
            let attempts = match delivery.started {
                0 => delivery.attempts.clone(),
                started => store::with_attempt(&delivery.attempts, &Attempt::unknown(started)),
            };
            let begun = Bodiless { delivery, attempts, memory };
            match length {
                Length::OfBody(_) => with_body.push(begun),
                Length::OfDocument(_) => without_body.push(begun),
            }
        }
        let keys: Vec<Key> = with_body.iter().map(|begun| begun.delivery.key()).collect();
        let mut bodies = store::bodies(account, &mut source, self.slug, &keys).await?;
        for Bodiless { delivery, attempts, memory } in with_body {
            // One whose body was removed meanwhile is looked at again with the next turn.
            let Some(body) = bodies.remove(&delivery.key()) else { continue };
            starts.push(Start { delivery, attempts, body, is_first: false, memory });
        }
        // They were removed, or ended by another node.
        for key in unknown {
            self.endpoint.forget(key);
        }
        self.fill(without_body, &mut starts).await?;
        Ok(starts)
    }

    /// Has a delivery attempted a little later.
    fn postpone(&mut self, delivery: &Delivery, now: i64) {
        let record = (delivery.kind.clone(), delivery.slug.clone());
        self.endpoint.add(delivery.key(), record, now + NO_MEMORY, delivery.tried);
    }

    /// Makes what deliveries send that begin for the first time, each of the document of its change.
    async fn fill(&mut self, wanted: Vec<Bodiless>, starts: &mut Vec<Start>) -> Result<(), DbError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let (account, db) = (self.held.account, self.app.db.clone());
        let sequences: Vec<i64> = wanted.iter().map(|wanted| wanted.delivery.id.sequence).collect();
        let changes = store::changes(account, Source::Db(&db), &sequences).await?;
        let documents = changes.iter().filter_map(|change| change.document.as_deref());
        let people = users::store::shown_in(account, Source::Db(&db), documents).await?;
        for Bodiless { delivery, attempts, memory } in wanted {
            let change = changes.iter().find(|change| change.sequence == delivery.id.sequence);
            let Some((change, document)) = change.and_then(|change| Some((change, change.document.as_deref()?))) else {
                self.give_up(&delivery);
                continue;
            };
            let event = EventMembers { event: delivery.event, at: change.at, source: &change.source };
            let document = payload::shown(account, Source::Db(&db), &self.program, (&delivery.kind, document)).await?;
            let body = payload::body(&self.app, &self.program, &self.webhook, &document, &people, event);
            starts.push(Start { delivery, attempts, body, is_first: true, memory });
        }
        Ok(())
    }

    /// A delivery of which there is nothing to send, because the document was erased.
    fn give_up(&mut self, delivery: &Delivery) {
        let key = delivery.key();
        let attempt = Attempt::impossible(self.app.clock.now(), "the document was erased");
        self.endpoint.give_up(key);
        self.waiting.remove(&key);
        let attempts = store::with_attempt(&delivery.attempts, &attempt);
        let (delivery, tried, due) = (delivery.clone(), delivery.tried, self.app.database_clock.now());
        self.settled.push(Settled { delivery, state: State::Failed, due, tried, attempts });
    }
}
