//! The work of one endpoint: reads the change log, attempts deliveries, and writes down what has become of them.
//!
//! It works in turns. A turn is one transaction: is the endpoint still this node's, outcomes of attempts that ended, deliveries
//! that are new, marks of attempts that begin, how far the log was read. Attempts start after its commit, and the next turn
//! takes what has ended meanwhile. A turn that fails is made again: all that it writes is absolute, or there already.

mod starts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::starts::{Start, Unsent};
use super::endpoint::{Ended, Endpoint, Key};
use super::remembered::Remembered;
use super::sending::{Summary, send};
use super::store::{self, Delivery, Settled, State};
use super::turn::{self, Turn};
use super::{matching, sent_to};
use crate::jobs::mail::Notice;
use crate::leases::{self, Held};
use crate::log::feed::{self, Of};
use crate::mail::notice;
use crate::outgoing::{Attempt, Client};
use crate::program::Program;
use crate::program::webhooks::Webhook;
use crate::services::App;
use crate::services::metrics::AttemptOutcome;
use crate::streams;
use db::{AccountId, Committed, DbError, Source};
use kernel::text::{Slug, Timestamp};
use webhook_signing::Outcome;

/// The most open deliveries of an endpoint in memory; while there are more than half as many, the log is read no further.
const OPEN: usize = 10_000;
/// The most of them that are kept as they were read of the log.
const WAITING: usize = 1_000;
/// The most bytes of documents that are read of the log at once.
const STRETCH_BYTES: usize = 256 << 10;
/// How long an endpoint without work is kept before another node may have it.
const IDLE: Duration = Duration::from_mins(1);
/// The first and the longest pause after a turn that failed.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// What is known of an attempt that is under way.
struct Sending {
    delivery: Delivery,
    attempts: String,
}

/// What came of an attempt, and what it was sent to.
type Sent = (Key, Attempt, Arc<Webhook>);

/// An endpoint that this node works for.
struct Owner {
    app: App,
    held: Held,
    slug: Slug,
    program: Arc<Program>,
    webhook: Arc<Webhook>,
    /// For when the endpoint answers, and for when it does not.
    clients: [Arc<Client>; 2],
    endpoint: Endpoint,
    /// Deliveries that were read of the log and are not stored yet.
    fresh: BTreeMap<Key, Unsent>,
    /// Some that were stored since and have not been attempted, so that they are not read again.
    waiting: HashMap<Key, Unsent>,
    sending: HashMap<Key, Sending>,
    running: JoinSet<Sent>,
    /// What has come of attempts and is not noted yet.
    sent: Vec<Sent>,
    /// Outcomes that are not stored yet.
    settled: Vec<Settled>,
    /// How far the log was read, and how far of that is stored.
    position: i64,
    stored: i64,
    /// The change up to which there was a log when it was read last.
    known: Committed,
    /// The signal of the lease as it was seen last.
    signal: i64,
    /// Whether there may be stored deliveries that are not in memory.
    has_more: bool,
    /// Those that were begun anew during an attempt, whose outcome does not end them.
    anew: HashSet<Key>,
    /// Whether the lease is to be looked at even where there is nothing to write.
    is_called: bool,
    disabled: Option<webhook_signing::Reason>,
    /// When a message was last sent that a delivery has failed for good.
    notified: Option<Timestamp>,
}

/// What comes after a turn.
enum Next {
    /// There is more to do at once.
    Again,
    /// There is nothing to do before something happens.
    Wait,
    /// The endpoint is no longer this node's.
    Lost,
    /// The log is another one than that which was read.
    Other,
}

/// Works for an endpoint until it has been without work for a while, or is no longer this node's.
pub async fn work(app: App, held: Held, slug: Slug) -> Result<(), DbError> {
    let account = held.account;
    let Some(committed) = streams::store::standing(&app.db, account, None).await?.map(|(committed, _)| committed)
    else {
        return Ok(());
    };
    let mut commits = app.db.watch(account, committed);
    let Some(program) = app.programs.at_least(account, committed.version).await? else { return Ok(()) };
    // A lease of what is not sent to ends by itself, or with the reconciliation that is under way.
    let Some(webhook) = sent_to(&program, slug) else { return Ok(()) };
    Owner::new(app, held, committed, program, (slug, webhook)).work(&mut commits).await
}

impl Owner {
    fn new(
        app: App,
        held: Held,
        known: Committed,
        program: Arc<Program>,
        (slug, webhook): (Slug, Arc<Webhook>),
    ) -> Self {
        let settings = &app.settings.webhooks;
        let Remembered { url, failing_since, last_failure, rests_until, notified } = Remembered::parse(&held.state);
        let last = |since: i64| last_failure.unwrap_or(since);
        let failing = |since_unix| webhook_signing::Endpoint::Failing { since_unix, last_unix: last(since_unix) };
        let standing = (failing_since.map_or_else(Default::default, failing), rests_until);
        let mut endpoint =
            Endpoint::new(settings.schedule.clone(), settings.disable_after, settings.concurrency, standing);
        if url.is_some_and(|url| url != webhook.url) {
            endpoint.moved();
        }
        let clients = clients_of(&app, held.account);
        Self {
            slug,
            program,
            webhook,
            clients,
            endpoint,
            fresh: BTreeMap::new(),
            waiting: HashMap::new(),
            sending: HashMap::new(),
            running: JoinSet::new(),
            sent: Vec::new(),
            settled: Vec::new(),
            position: held.position,
            stored: held.position,
            known,
            signal: held.signal,
            has_more: true,
            anew: HashSet::new(),
            is_called: false,
            disabled: None,
            notified: notified.map(Timestamp::from_microseconds),
            app,
            held,
        }
    }

    async fn work(&mut self, commits: &mut watch::Receiver<Committed>) -> Result<(), DbError> {
        let mut pause = PAUSES.0;
        loop {
            let committed = *commits.borrow_and_update();
            match self.turn(committed).await {
                Ok(Next::Lost) => return self.finish().await,
                // What was attempted is not known there: the work begins anew where that log was read up to.
                Ok(Next::Other) => {
                    self.has_more = true;
                    return self.give_back().await;
                }
                Ok(Next::Again) => pause = PAUSES.0,
                Ok(Next::Wait) => {
                    pause = PAUSES.0;
                    if self.wait(commits).await {
                        return self.give_back().await;
                    }
                }
                Err(error) if self.held.until_idle => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, account = %self.program.account.slug, webhook = %self.slug, "deliveries pause");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSES.1);
                }
            }
        }
    }

    /// Waits until there may be something to do; whether the endpoint is to be given back.
    async fn wait(&mut self, commits: &mut watch::Receiver<Committed>) -> bool {
        let (is_free, has_running) = (!self.held.until_idle && !self.held.ends(), !self.running.is_empty());
        if !is_free && !has_running {
            return true;
        }
        let now = self.app.database_clock.now();
        let due = self.endpoint.next_due().map(|due| Duration::from_micros(u64::try_from(due - now).unwrap_or(0)));
        tokio::select! {
            biased;
            Some(sent) = self.running.join_next(), if has_running => {
                // A task that broke off has no outcome: its delivery is attempted again when the lease is taken anew.
                self.sent.extend(sent);
                false
            }
            Ok(()) = commits.changed(), if is_free => false,
            () = self.held.called(), if is_free => {
                self.is_called = true;
                false
            }
            () = tokio::time::sleep(due.unwrap_or(IDLE).min(IDLE)), if is_free => {
                !has_running && due.is_none_or(|due| due > IDLE)
            }
        }
    }

    /// Notes what has come of attempts.
    fn note_sent(&mut self) {
        while let Some(sent) = self.running.try_join_next() {
            self.sent.extend(sent);
        }
        for sent in std::mem::take(&mut self.sent) {
            self.note(sent);
        }
    }

    fn note(&mut self, (key, attempt, webhook): Sent) {
        let Some(Sending { delivery, attempts }) = self.sending.remove(&key) else { return };
        let now = self.app.database_clock.now();
        let has_arrived = attempt.outcome(now.div_euclid(1_000_000)) == Outcome::Delivered;
        let is_sent_anew = webhook.url != self.webhook.url && !has_arrived;
        let ended = if is_sent_anew {
            self.endpoint.returned(key, now)
        } else {
            self.endpoint.ended(key, &attempt, now, jitter(&self.app))
        };
        let (state, due, outcome) = match ended {
            Ended::Delivered => (State::Delivered, now, AttemptOutcome::Delivered),
            Ended::Retry(due) => (State::Pending, due, AttemptOutcome::Retried),
            Ended::Failed => (State::Failed, now, AttemptOutcome::Failed),
        };
        if let Some(reason) = self.endpoint.disabled() {
            self.disabled.get_or_insert(reason);
        }
        self.app.metrics.count_attempt(outcome);
        let attempts = store::with_attempt(&attempts, &attempt);
        let tried = delivery.tried + usize::from(!is_sent_anew);
        self.settled.push(Settled { delivery, state, due, tried, attempts });
    }

    /// Reads on, begins what may begin, and writes it all down.
    async fn turn(&mut self, committed: Committed) -> Result<Next, DbError> {
        if committed != self.known && !self.app.db.has(self.held.account, self.known).await? {
            return Ok(Next::Other);
        }
        self.known = committed;
        if committed.version != self.program.version && !self.follow(committed).await? {
            return Ok(Next::Lost);
        }
        self.note_sent();
        let is_leaving = self.held.ends();
        let reads = !is_leaving && self.endpoint.owes() < OPEN / 2;
        if reads && self.has_more {
            self.read_stored().await?;
        }
        let has_read = reads && !self.has_more && self.read_on(committed.sequence).await?;
        let starts = if is_leaving || self.disabled.is_some() { Vec::new() } else { self.starts().await? };
        let is_called = std::mem::take(&mut self.is_called);
        if starts.is_empty() && self.settled.is_empty() && self.position == self.stored && !is_called {
            return Ok(Next::Wait);
        }
        let turn = self.prepared(&starts);
        let settled: Vec<Key> = turn.settled.iter().map(|settled| settled.delivery.key()).collect();
        let (position, has_notified) = (turn.position, !turn.messages.is_empty());
        let written = self.app.db.write(self.held.account, turn, turn::write).await?;
        if has_notified {
            self.app.wakes.add(self.held.account);
        }
        let Some(signal) = written else { return Ok(Next::Lost) };
        self.settled.clear();
        let room = WAITING.saturating_sub(self.waiting.len());
        self.waiting.extend(std::mem::take(&mut self.fresh).into_iter().take(room));
        if has_notified {
            self.notified = Some(self.app.clock.now());
        }
        self.stored = position;
        self.endpoint.committed(&settled);
        // Somebody has changed what is stored.
        self.has_more |= std::mem::replace(&mut self.signal, signal) != signal;
        for key in &settled {
            self.has_more |= self.anew.remove(key);
        }
        let has_started = !starts.is_empty();
        for start in starts {
            self.send(start);
        }
        let has_more = has_read || has_started || self.has_more || !settled.is_empty();
        Ok(if has_more && !is_leaving { Next::Again } else { Next::Wait })
    }

    /// Takes the account's program as it is now; whether this node still works for the account, and the webhook is still sent to.
    async fn follow(&mut self, committed: Committed) -> Result<bool, DbError> {
        let account = self.held.account;
        let Some(program) = self.app.programs.at_least(account, committed.version).await? else { return Ok(false) };
        let webhook = sent_to(&program, self.slug).filter(|_| leases::is_worked_for(&self.app, &program));
        let Some(webhook) = webhook else { return Ok(false) };
        if webhook.url != self.webhook.url {
            // A connection is to one address, and so is what is known of how it does.
            self.clients = clients_of(&self.app, account);
            self.endpoint.moved();
            self.disabled = None;
        }
        (self.program, self.webhook) = (program, webhook);
        Ok(true)
    }

    /// Takes the deliveries that are stored and have not arrived.
    async fn read_stored(&mut self) -> Result<(), DbError> {
        let source = Source::Db(&self.app.db);
        let stored = store::pending(self.held.account, source, self.slug, OPEN).await?;
        self.has_more = stored.len() == OPEN;
        let now = self.app.database_clock.now();
        // What was begun anew is due at another time than before.
        self.waiting.clear();
        for delivery in stored {
            let (key, record) = (delivery.key(), (delivery.kind.clone(), delivery.slug.clone()));
            let mut settled = self.settled.iter().map(|settled| &settled.delivery);
            let sending = self.sending.get(&key).map(|sending| &sending.delivery);
            let begun = sending.or_else(|| settled.find(|settled| settled.key() == key));
            if begun.is_some_and(|begun| begun.due != delivery.due) {
                self.anew.insert(key);
            }
            // What another node had begun is not known to have arrived, so it is attempted again at once.
            let due = if delivery.started > 0 { now } else { delivery.due };
            self.endpoint.add(key, record, due, delivery.tried);
        }
        Ok(())
    }

    /// Reads a stretch of the log; whether there may be more.
    async fn read_on(&mut self, to: i64) -> Result<bool, DbError> {
        if self.position >= to {
            return Ok(false);
        }
        let (account, range) = (self.held.account, (self.position, to));
        let documents = self.webhook.form.is_some().then_some(STRETCH_BYTES);
        let mut source = Source::Db(&self.app.db);
        let (changes, reached) = feed::stretch(account, &mut source, Of::All, range, documents).await?;
        let now = self.app.database_clock.now();
        let wanted = matching::wanted(account, &mut source, (&self.program, &self.webhook), &changes).await?;
        for (change, events) in wanted {
            for (place, event) in events {
                let due = self.endpoint.first_due(now, jitter(&self.app));
                let delivery = Delivery::new(change, (place, event), due);
                self.endpoint.add(delivery.key(), (delivery.kind.clone(), delivery.slug.clone()), delivery.due, 0);
                self.fresh.insert(delivery.key(), Unsent { delivery, length: change.length });
            }
        }
        self.position = reached;
        Ok(reached < to)
    }

    /// Why the webhook is disabled, if it is.
    fn disabled_reason(&self) -> Option<String> {
        self.disabled.map(|reason| turn::reason_text(reason, self.app.settings.webhooks.disable_after))
    }

    /// What is written to whom the webhook names, if anything.
    fn message(&self) -> Option<Notice> {
        let (account, webhook) = (&self.program.account, &*self.webhook);
        if webhook.notification_emails.is_empty() {
            return None;
        }
        let about = notice::Webhook {
            account: account.slug,
            account_name: &account.name,
            slug: self.slug,
            name: &webhook.name,
            url: &webhook.url,
            notification_emails: &webhook.notification_emails,
        };
        let now = self.app.clock.now();
        if let Some(reason) = self.disabled_reason() {
            let message = notice::disabled(&about, &reason, now);
            return Some(Notice { message, about: format!("webhook_disabled:{}", self.slug) });
        }
        let settled = self.settled.iter().find(|settled| settled.state == State::Failed)?;
        if !notice::is_due(self.notified, now) {
            return None;
        }
        let last = store::attempts_of(&settled.attempts).pop();
        let about_delivery = notice::Delivery {
            id: &settled.delivery.id.to_string(),
            event: settled.delivery.event.name(),
            kind: &settled.delivery.kind,
            slug: &settled.delivery.slug,
            attempts: settled.tried,
            status: last.as_ref().and_then(|attempt| attempt.status),
            error: last.as_ref().and_then(|attempt| attempt.error.as_deref()),
        };
        let message = notice::failed(&about, &about_delivery);
        Some(Notice { message, about: format!("webhook_failed:{}", self.slug) })
    }

    /// What the turn writes.
    fn prepared(&self, starts: &[Start]) -> Turn {
        let now = self.app.database_clock.now();
        let mut fresh = self.fresh.clone();
        let mut again = Vec::new();
        for start in starts {
            match fresh.get_mut(&start.delivery.key()) {
                Some(unsent) => unsent.delivery.started = now,
                None => again.push((start.delivery.key(), now, start.attempts.clone())),
            }
        }
        let first = starts.iter().filter(|start| start.is_first);
        let message = self.message();
        let notified = if message.is_some() { Some(self.app.clock.now()) } else { self.notified };
        Turn {
            account: self.held.account,
            webhook: self.slug,
            owner: Arc::clone(&self.held.owner),
            settled: self.settled.clone(),
            fresh: fresh.into_values().map(|unsent| unsent.delivery).collect(),
            bodies: first.map(|start| (start.delivery.key(), start.body.clone())).collect(),
            starts: again,
            position: self.position,
            // Whoever takes the lease over from a node that died is to look at what is open.
            due: if self.endpoint.owes() == 0 && !self.has_more { leases::NEVER } else { 0 },
            state: Remembered {
                url: Some(self.webhook.url.clone()),
                failing_since: self.endpoint.failing().map(|(since, _)| since),
                last_failure: self.endpoint.failing().map(|(_, last)| last),
                rests_until: self.endpoint.rests_until(),
                notified: notified.map(Timestamp::as_microseconds),
            }
            .to_json(),
            until: leases::until(&self.app),
            disabled: self.disabled_reason(),
            messages: message.into_iter().collect(),
            program: Arc::clone(&self.program),
            ids: self.app.ids.clone(),
            at: self.app.clock.now(),
        }
    }

    /// Begins an attempt.
    fn send(&mut self, start: Start) {
        let Start { delivery, attempts, body, memory, .. } = start;
        let key = delivery.key();
        self.waiting.remove(&key);
        self.endpoint.started(key);
        self.sending.insert(key, Sending { delivery: delivery.clone(), attempts });
        let is_slow = self.endpoint.is_slow();
        let [quick, slow] = &self.clients;
        let client = Arc::clone(if is_slow { slow } else { quick });
        let (app, webhook, account, slug) = (self.app.clone(), Arc::clone(&self.webhook), self.held.account, self.slug);
        self.running.spawn(async move {
            // What is slow or fails shares connections of its own, so that it delays nothing else.
            let pool = if is_slow { &app.outgoing.slow } else { &app.outgoing.quick };
            let _turn = pool.turns.take(account).await;
            // That may have taken long: what is sent goes where the webhook points to now, if anywhere.
            let newest = match app.programs.get(account).await {
                Ok(program) => program.and_then(|program| sent_to(&program, slug)),
                Err(_) => Some(webhook.clone()),
            };
            let Some(webhook) = newest else {
                return (key, Attempt::impossible(app.clock.now(), "the webhook is not sent to any more"), webhook);
            };
            let summary = Summary::of(&delivery);
            let sent = AssertUnwindSafe(send(&client, &webhook, &summary, body, app.clock.now())).catch_unwind().await;
            drop(memory);
            // A record whose attempt has no end would wait for ever.
            (key, sent.unwrap_or_else(|_| Attempt::impossible(app.clock.now(), "the service has failed")), webhook)
        });
    }

    /// Writes down what attempts that are under way come to, at an endpoint that is no longer this node's.
    async fn finish(&mut self) -> Result<(), DbError> {
        while let Some(sent) = self.running.join_next().await {
            self.sent.extend(sent);
        }
        self.note_sent();
        if !self.settled.is_empty() {
            let turn = self.prepared(&[]);
            let turn = Turn { fresh: Vec::new(), position: self.stored, disabled: None, messages: Vec::new(), ..turn };
            self.app.db.write(self.held.account, turn, turn::write).await?;
        }
        Ok(())
    }

    fn next_due(&self) -> i64 {
        self.endpoint.next_due().unwrap_or(leases::NEVER)
    }

    /// Leaves the endpoint to whoever sees it next.
    async fn give_back(&self) -> Result<(), DbError> {
        let (account, name, owner) = (self.held.account, self.held.name, Arc::clone(&self.held.owner));
        let now = self.app.database_clock.now();
        // What is stored and not in memory may be due.
        let due = if self.has_more { now } else { self.next_due() };
        let lease = turn::GivenBack { account, name, owner, signal: self.signal, due, now };
        self.app.db.write(account, lease, |tx, lease| Box::pin(turn::give_back(tx, lease))).await
    }
}

fn clients_of(app: &App, account: AccountId) -> [Arc<Client>; 2] {
    let concurrency = app.settings.webhooks.concurrency;
    [&app.outgoing.quick, &app.outgoing.slow].map(|pool| Arc::new(pool.client(account, concurrency)))
}

/// A random number that spreads attempts.
fn jitter(app: &App) -> u32 {
    let [first, second, third, fourth, ..] = app.ids.secret_bytes();
    u32::from_be_bytes([first, second, third, fourth])
}
