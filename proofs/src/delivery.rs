//! Deliveries to a receiver that fails, by a service that is killed: none is lost, none overtakes another one of its record, and
//! the log tells of every attempt.

pub(crate) mod changes;
pub(crate) mod judge;
pub(crate) mod log;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};

use self::changes::{Change, Writing};
use super::receiver::{Conduct, Receiver};
use super::service::{Checks, Client, Kind, Program, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Every event arrives, whatever happens on the way.
pub(crate) const PROOF: Proof = Proof {
    name: "delivery",
    claim: "Of 200,000 changes every event arrives at three endpoints that fail at random, in order of its record, while the \
            service is killed 20 times; the log shows every attempt.",
    run: |context| on_each_engine(context, show),
};

/// How much is shown.
struct Scale {
    changes: u32,
    entries: u32,
    kills: u32,
    lease: u32,
}

const WHOLE: Scale = Scale { changes: 200_000, entries: 4_000, kills: 20, lease: 2 };
const SHORT: Scale = Scale { changes: 2_000, entries: 200, kills: 2, lease: 1 };

/// Connections that write.
pub(super) const WRITERS: u32 = 32;
/// How long there may be nothing new before it is said that nothing more comes.
const PATIENCE: Duration = Duration::from_mins(1);

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let program = program(scale.entries);
    let mut service = Service::new(context, engine)?;
    configure(&mut service, scale.lease);
    service.import(&program)?;
    service.start()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let trial = Trial::begin(&program, client, scale.changes)?;
    let (mut checks, mut random) = (Checks::default(), Random::new(23));

    let begun = Instant::now();
    let changes = trial.while_written(std::slice::from_ref(&trial.client), || {
        for kill in 1..=scale.kills {
            trial.wait_for(f64::from(kill) / f64::from(scale.kills + 1))?;
            thread::sleep(Duration::from_millis(random.below(200).into()));
            service.kill()?;
            service.start()?;
        }
        Ok(())
    })?;
    trial.settle(&changes, &mut checks)?;
    let seconds = begun.elapsed().as_secs_f64();
    let figure = trial.judge(&changes, &mut checks)?;
    println!("  {}: {} kills, {figure} in {seconds:.0} s", engine.name(), scale.kills);
    service.kill()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    Ok(checks.verdict(&format!("{} kills, {figure}", scale.kills)))
}

/// An account with so many entries.
pub(super) fn program(entries: u32) -> Program {
    Program { entries, detail_every: 0, orders: 0, ..Program::small(23) }
}

/// A service whose deliveries are tried again after seconds, and which may send them to this machine.
pub(super) fn configure(service: &mut Service, lease: u32) {
    let schedule = format!("0s,1s,1s,2s,2s{}", ",4s".repeat(15));
    service.set("PLAUDIT_WEBHOOKS_SCHEDULE", &schedule);
    service.set("PLAUDIT_WEBHOOKS_CONCURRENCY", "64");
    service.set("PLAUDIT_WEBHOOKS_LOCAL_HOSTS", "127.0.0.1");
    service.set("PLAUDIT_LEASES_SECONDS", &lease.to_string());
}

/// Three endpoints at a receiver that fails, and what is sent to them.
pub(super) struct Trial<'p> {
    client: Client,
    program: &'p Program,
    receiver: Receiver,
    /// The webhooks in the order of their endpoints, each with its events.
    webhooks: Vec<(String, &'static [&'static str])>,
    changes: u32,
}

impl<'p> Trial<'p> {
    pub(super) fn begin(program: &'p Program, client: Client, changes: u32) -> Result<Self> {
        let receiver = Receiver::start("127.0.0.1", Conduct::IsUnreliable(23), false)?;
        let of_form = json!({"form": program.slug(Kind::Form, 0)});
        let endpoints: [(&[&str], Value); 3] = [
            (&["entry_updated"], json!({})),
            (&["entry_updated", "entry_chapter_changed"], json!({"headers": {"x-proof": "23"}})),
            (&["entry_chapter_changed"], of_form),
        ];
        let mut webhooks = Vec::new();
        for (number, (events, more)) in endpoints.into_iter().enumerate() {
            webhooks.push((log::subscribe(&client, &receiver.url(number), events, &more)?, events));
        }
        Ok(Self { client, program, receiver, webhooks, changes })
    }

    /// The same with the log read by another client.
    pub(super) fn with_client(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// Makes all changes through these clients while something else is done, and gives them.
    pub(super) fn while_written(
        &self,
        clients: &[Client],
        disturb: impl FnOnce() -> Result<()>,
    ) -> Result<Vec<Change>> {
        let writing = Writing {
            clients: clients.to_vec(),
            program: self.program,
            writers: WRITERS,
            changes: self.changes,
            rate: None,
            moves: true,
            titles: "Title ",
        };
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let written = scope.spawn(|| writing.write(&stop));
            let disturbed = disturb();
            stop.store(disturbed.is_err(), Ordering::SeqCst);
            let changes = written.join().map_err(|_| anyhow!("the writers panicked"))?;
            disturbed?;
            changes
        })
    }

    /// Waits until this part of what is to arrive has arrived.
    pub(super) fn wait_for(&self, part: f64) -> Result<()> {
        // Every fourth change has two events; one endpoint takes all, one those of the first kind, one those of the second.
        let wanted = f64::from(self.changes) * part * 2.5;
        let mut watch = Watch::new();
        while count(self.receiver.taken()) < wanted {
            if watch.is_over(self.receiver.arrived()) {
                bail!("{} of about {wanted:.0} deliveries have arrived, and no more come", self.receiver.taken());
            }
        }
        Ok(())
    }

    /// Whether each endpoint was sent something just now.
    pub(super) fn is_busy(&self) -> bool {
        let is_recent = |at: Instant| at.elapsed() < Duration::from_secs(1);
        (0..self.webhooks.len()).all(|endpoint| self.receiver.last_arrival(endpoint).is_some_and(is_recent))
    }

    /// Waits until everything has arrived and nothing is pending, or until nothing new comes.
    pub(super) fn settle(&self, changes: &[Change], checks: &mut Checks) -> Result<()> {
        let expected: usize = self.webhooks.iter().map(|(_, events)| judge::expected(changes, events).count()).sum();
        let mut watch = Watch::new();
        while self.receiver.taken() < expected {
            if watch.is_over(self.receiver.arrived()) {
                let taken = self.receiver.taken();
                checks.check(false, || format!("{taken} of {expected} deliveries were taken, and no more come"));
                return Ok(());
            }
        }
        for (webhook, _) in &self.webhooks {
            while log::is_pending(&self.client, webhook)? {
                if watch.is_over(self.receiver.arrived()) {
                    checks.check(false, || format!("all was taken, and {webhook} still has pending deliveries"));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Holds what has arrived and what the log says against the changes.
    pub(super) fn judge(&self, changes: &[Change], checks: &mut Checks) -> Result<String> {
        checks.check(changes.len() == self.changes as usize, || {
            format!("{} of {} changes were acknowledged", changes.len(), self.changes)
        });
        let faults = self.receiver.faults();
        checks.check(faults.is_empty(), || format!("{} requests are no deliveries: {}", faults.len(), faults[0]));
        let arrivals = self.receiver.arrivals();
        let mut deliveries = judge::collect(&arrivals, checks);
        judge::order(&arrivals, checks);
        judge::arrived(changes, &self.webhooks, &deliveries, checks);
        let count = deliveries.len();
        let mut attempts = 0;
        for (endpoint, (webhook, _)) in self.webhooks.iter().enumerate() {
            attempts += judge::logged(&self.client, (endpoint, webhook), &mut deliveries, checks)?;
        }
        for ((endpoint, id), _) in deliveries {
            checks.check(false, || format!("{id:?} has arrived at endpoint {endpoint} and is not in its log"));
        }
        Ok(format!(
            "{count} deliveries of {} changes in {} arrivals, {attempts} attempts",
            changes.len(),
            arrivals.len()
        ))
    }
}

/// Looks whether something goes on.
struct Watch {
    last: usize,
    since: Instant,
}

impl Watch {
    fn new() -> Self {
        Self { last: 0, since: Instant::now() }
    }

    /// Waits a moment; whether this number has been the same for too long.
    fn is_over(&mut self, number: usize) -> bool {
        thread::sleep(Duration::from_millis(5));
        if number != self.last {
            *self = Self { last: number, since: Instant::now() };
        }
        self.since.elapsed() > PATIENCE
    }
}

#[allow(clippy::cast_precision_loss, reason = "there are far fewer than a float counts exactly")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}
