//! How fast deliveries are on one core, how soon one arrives beside endpoints that are dead, and what they cost in statements.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::cores::{Elsewhere, SERVICE, cores, processor_seconds};
use super::delivery::changes::{Change, Writing};
use super::delivery::{WRITERS, count, log};
use super::receiver::{Arrival, Conduct, Receiver};
use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Deliveries are fast, and a dead endpoint delays no other.
pub(crate) const PROOF: Proof = Proof {
    name: "delivery-speed",
    claim: "At least 3,000 deliveries a second on one core, below 50 ms from commit to arrival (99 %) beside an endpoint that \
            refuses and one that hangs, with at most 4 statements each and 4 a turn; without webhooks there are none.",
    run: |context| on_each_engine(context, show),
};

/// The bars: deliveries a second, and from commit to arrival.
const RATE: f64 = 3_000.0;
const LATENCY: Duration = Duration::from_millis(50);
/// Statements of each delivery, and of each turn.
const EACH: usize = 4;
const TURN: usize = 4;
/// Changes a second beside dead endpoints, and who makes them.
const PACE: u32 = 200;
const PACED_WRITERS: u32 = 10;
/// How long there may be no delivery.
const PATIENCE: Duration = Duration::from_mins(1);

/// How much is shown.
struct Scale {
    /// Changes that are in the log before the endpoint answers.
    backlog: u32,
    entries: u32,
    /// How long changes come one by one.
    seconds: u32,
}

const WHOLE: Scale = Scale { backlog: 100_000, entries: 2_000, seconds: 30 };
const SHORT: Scale = Scale { backlog: 500, entries: 60, seconds: 2 };
/// What statements are counted of.
const COUNTED: Scale = Scale { backlog: 500, entries: 60, seconds: 0 };

/// PostgreSQL itself writes down what it carries out.
const TELL: &str = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_min_duration_statement = 0', \
                    current_database()); END $$";

/// A service, one endpoint that takes everything as soon as it is let, and what it has to take.
struct Trial {
    service: Service,
    program: Program,
    client: Client,
    receiver: Receiver,
    webhook: String,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let mut checks = Checks::default();
    let mut trial = Trial::begin(context, engine, &scale)?;
    let _elsewhere = Elsewhere::begin()?;
    let changes = trial.hold_back(&scale)?;
    let rate = trial.rate(engine, &changes, &mut checks)?;
    checks.check(context.short || rate >= RATE, || format!("{rate:.0} deliveries a second, {RATE:.0} were wanted"));
    let latency = trial.beside_dead(engine, &scale, &mut checks)?;
    checks.check(context.short || latency < LATENCY, || {
        format!("{latency:?} from commit to arrival (99 %), {LATENCY:?} was wanted")
    });
    drop(trial);
    let statements = if engine == Engine::Postgres { statements(context, &mut checks)? } else { String::new() };
    let timed = if context.short { String::new() } else { format!("{rate:.0} deliveries a second, p99 {latency:.1?}") };
    let figure: Vec<String> = [timed, statements].into_iter().filter(|part| !part.is_empty()).collect();
    Ok(checks.verdict(if figure.is_empty() { "everything arrived".to_owned() } else { figure.join(", ") }.as_str()))
}

impl Trial {
    fn begin(context: &Context, engine: Engine, scale: &Scale) -> Result<Self> {
        // Every entry has answers of all sorts, a contributor and an attachment: 4 KB, as the benchmark's.
        let program = Program { entries: scale.entries, detail_every: 1, orders: 0, ..Program::small(29) };
        let mut service = Service::new(context, engine)?;
        service.set("PLAUDIT_WEBHOOKS_SCHEDULE", "0s,1s,1s,1s,1s,1s,1s,1s,1s,1s");
        service.set("PLAUDIT_WEBHOOKS_LOCAL_HOSTS", "127.0.0.1");
        service.set("PLAUDIT_LEASES_SECONDS", "2");
        service.import(&program)?;
        if cores() > 1 {
            service.keep_to_core(SERVICE);
        }
        service.start()?;
        let client = service.client(&service.key(&program.account, "read_write")?);
        let receiver = Receiver::start("127.0.0.1", Conduct::Hangs, false)?;
        let webhook = log::subscribe(&client, &receiver.url(0), &["entry_updated"], &json!({}))?;
        Ok(Self { service, program, client, receiver, webhook })
    }

    fn write(&self, writers: u32, changes: u32, rate: Option<u32>, titles: &'static str) -> Result<Vec<Change>> {
        let (clients, program) = (vec![self.client.clone()], &self.program);
        Writing { clients, program, writers, changes, rate, moves: false, titles }.write(&AtomicBool::new(false))
    }

    /// Fills the log while the endpoint hangs, and ends the service.
    fn hold_back(&mut self, scale: &Scale) -> Result<Vec<Change>> {
        let changes = self.write(WRITERS.min(scale.entries), scale.backlog, None, "Held ")?;
        self.service.stop()?;
        self.receiver.arrivals();
        self.receiver.conduct(Conduct::Takes);
        Ok(changes)
    }

    /// Starts the service and lets it deliver all of that; gives how many deliveries it makes a second.
    ///
    /// PostgreSQL has to share the other core with the receiver, so that what counts there is the service's own time.
    fn rate(&mut self, engine: Engine, changes: &[Change], checks: &mut Checks) -> Result<f64> {
        self.service.start()?;
        let process = self.service.process().context("the service is not running")?;
        let before = processor_seconds(process)?;
        self.wait_for(changes.len())?;
        let used = processor_seconds(process)? - before;
        let arrivals = self.receiver.arrivals();
        self.check_all(changes, &arrivals, checks);
        let bytes = arrivals.iter().map(|arrival| arrival.length).sum::<usize>() / arrivals.len().max(1);
        // A twentieth at either end is the start and what is tried again.
        let (first, last) = (arrivals.len() / 20, arrivals.len() * 19 / 20);
        let seconds = arrivals[last].at.duration_since(arrivals[first].at).as_secs_f64();
        let (by_clock, by_processor) = (count(last - first) / seconds, count(arrivals.len()) / used.max(0.01));
        println!(
            "  {}: {} deliveries of {bytes} bytes, {by_clock:.0} a second, {by_processor:.0} a second of processor time \
             (bar {RATE:.0})",
            engine.name(),
            arrivals.len()
        );
        Ok(if engine == Engine::Sqlite { by_clock } else { by_processor })
    }

    /// How long deliveries take from the commit beside an endpoint that refuses and one that hangs: 99 of 100.
    fn beside_dead(&self, engine: Engine, scale: &Scale, checks: &mut Checks) -> Result<Duration> {
        let hangs = Receiver::start("127.0.0.1", Conduct::Hangs, false)?;
        let refuses = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        for url in [hangs.url(0), format!("http://{refuses}/0")] {
            log::subscribe(&self.client, &url, &["entry_updated"], &json!({}))?;
        }
        let before = self.receiver.taken();
        let changes = self.write(PACED_WRITERS, PACE * scale.seconds, Some(PACE), "Paced ")?;
        self.wait_for(before + changes.len())?;
        let arrivals = self.receiver.arrivals();
        self.check_all(&changes, &arrivals, checks);
        let acknowledged: HashMap<i64, Instant> = changes.iter().map(|change| (change.sequence, change.at)).collect();
        let mut latencies: Vec<Duration> = arrivals
            .iter()
            .filter_map(|arrival| Some(arrival.at.saturating_duration_since(*acknowledged.get(&arrival.id.sequence)?)))
            .collect();
        latencies.sort_unstable();
        let at = |part: usize| latencies.get(latencies.len() * part / 100).or(latencies.last()).copied();
        let at = |part| at(part).unwrap_or_default();
        println!(
            "  {}: {PACE} changes a second beside dead endpoints: {:.1?} from commit to arrival (median), {:.1?} (99 %, bar \
             {LATENCY:?}), {:.1?} (most); the one that hangs got {}",
            engine.name(),
            at(50),
            at(99),
            at(100),
            hangs.arrived(),
        );
        checks
            .check(hangs.arrived() > 0, || "nothing came to the endpoint that hangs, so nothing was shown".to_owned());
        Ok(at(99))
    }

    /// Waits until so many deliveries were taken.
    fn wait_for(&self, wanted: usize) -> Result<()> {
        let (mut last, mut since) = (0, Instant::now());
        while self.receiver.taken() < wanted {
            thread::sleep(Duration::from_millis(2));
            let taken = self.receiver.taken();
            if taken != last {
                (last, since) = (taken, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                bail!("{taken} of {wanted} deliveries were taken, and no more come");
            }
        }
        Ok(())
    }

    /// Each change has arrived, and once: nobody was killed.
    fn check_all(&self, changes: &[Change], arrivals: &[Arrival], checks: &mut Checks) {
        let faults = self.receiver.faults();
        checks.check(faults.is_empty(), || format!("{} requests are no deliveries: {}", faults.len(), faults[0]));
        let mut times: HashMap<i64, u32> = HashMap::new();
        for arrival in arrivals {
            *times.entry(arrival.id.sequence).or_default() += 1;
        }
        for change in changes {
            let times = times.get(&change.sequence).copied().unwrap_or_default();
            checks.check(times == 1, || format!("change {} arrived {times} times", change.sequence));
        }
    }
}

/// What deliveries cost in statements, on a service of their own: PostgreSQL writes down each of them.
fn statements(context: &Context, checks: &mut Checks) -> Result<String> {
    let mut trial = Trial::begin(context, Engine::Postgres, &COUNTED)?;
    let changes = trial.hold_back(&COUNTED)?;
    trial.service.tamper(context, TELL)?;
    let (begun, at) = (context.postgres()?.written()?.len(), Instant::now());
    trial.service.start()?;
    trial.wait_for(changes.len())?;
    while log::is_pending(&trial.client, &trial.webhook)? {
        thread::sleep(Duration::from_millis(20));
    }
    trial.client.delete(&format!("/webhook/{}", trial.webhook))?.expect_status(204)?;
    let written = context.postgres()?.written()?;
    let with = Counted::of(&written[begun..]);
    let seconds = usize::try_from(at.elapsed().as_secs())? + 1;
    if with.deliveries == 0 || with.turns == 0 {
        bail!("PostgreSQL did not write down what was carried out");
    }
    // The delivery that hung before is tried again, and the list and the deletion look at deliveries too.
    let most = EACH * changes.len() + 40;
    checks.check(with.deliveries <= most, || {
        format!("{} statements for {} deliveries, {most} were to be enough", with.deliveries, changes.len())
    });
    // Once a second it is looked for work, and four times in a lease what is held is renewed.
    let most = TURN * (with.turns + seconds);
    checks.check(with.of_turns <= most, || {
        format!("{} statements for {} turns in {seconds} s, {most} were to be enough", with.of_turns, with.turns)
    });

    let (begun, at) = (written.len(), Instant::now());
    for number in 0..50 {
        let path = format!("/entry/{}/update-title", trial.program.slug(Kind::Entry, number));
        trial.client.put(&path, &json!({"title": format!("Without {number}")}))?.expect_status(200)?;
    }
    let without = Counted::of(&context.postgres()?.written()?[begun..]);
    let seconds = usize::try_from(at.elapsed().as_secs())? + 1;
    checks.check(without.deliveries == 0, || format!("{} statements about no deliveries", without.deliveries));
    checks.check(without.leases <= 8 + 4 * seconds, || {
        format!("{} statements about leases in {seconds} s without webhooks", without.leases)
    });
    let (each, turn) = (count(with.deliveries) / count(changes.len()), count(with.of_turns) / count(with.turns));
    println!(
        "  postgres: {each:.2} statements a delivery, {turn:.2} a turn, {:.0} deliveries a turn; without webhooks {} in 50 \
         changes",
        count(changes.len()) / count(with.turns),
        without.leases,
    );
    Ok(format!("{each:.2} statements a delivery and {turn:.2} a turn"))
}

/// What PostgreSQL has carried out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    /// About deliveries and their bodies.
    deliveries: usize,
    /// About leases.
    leases: usize,
    /// About leases, the log and people: what each turn does once.
    of_turns: usize,
    /// Turns, which end in a change of a lease.
    turns: usize,
}

impl Counted {
    fn of(log: &str) -> Self {
        let mut counted = Self::default();
        for line in log.lines() {
            let carried_out = line.split_once("  execute ").and_then(|(_, rest)| rest.split_once(": "));
            let Some((_, statement)) = carried_out else { continue };
            let names = |table: &str| {
                statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == table)
            };
            if names("deliveries") || names("delivery_bodies") {
                counted.deliveries += 1;
            } else if names("leases") {
                counted.leases += 1;
                counted.turns += usize::from(statement.starts_with("UPDATE"));
                counted.of_turns += 1;
            } else if names("users") || statement.starts_with("SELECT") && names("changes") {
                counted.of_turns += 1;
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_counted_by_what_they_are_about() {
        let log = "2026 UTC [7] LOG:  duration: 0.1 ms  parse s1: INSERT INTO deliveries VALUES ($1)\n\
                   2026 UTC [7] LOG:  duration: 0.1 ms  execute s1: INSERT INTO deliveries VALUES ($1)\n\
                   2026 UTC [7] LOG:  duration: 0.1 ms  execute <unnamed>: UPDATE delivery_bodies SET a = 1\n\
                   2026 UTC [7] LOG:  duration: 0.1 ms  execute s2: SELECT signal FROM leases WHERE account = $1\n\
                   2026 UTC [8] LOG:  duration: 0.1 ms  execute s3: UPDATE leases SET until = $1\n\
                   2026 UTC [8] LOG:  duration: 0.1 ms  execute s4: SELECT a FROM changes\n\
                   2026 UTC [8] LOG:  duration: 0.1 ms  execute s5: INSERT INTO changes VALUES ($1)\n";
        assert_eq!(Counted::of(log), Counted { deliveries: 2, leases: 2, of_turns: 3, turns: 1 });
    }
}
