//! An honest client beside attackers: it is served, the service stays within its memory and its descriptors, and recovers at once.
//!
//! The service has 1,024 descriptors and the settings of a small machine. Attackers come from other addresses of 127.0.0.0/8, some
//! with keys of accounts of their own; each attack is a line of [`attacks::ATTACKS`]. Not shown here: a clock that jumps, which
//! unit tests of the rate limit and of schedules set; a full disk, which is `full-disk`; damaged backups and files, which are
//! `restore-safe` and `doctor-sees`; a crash, which is `kill`.

mod attacks;
mod honest;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::runtime::Runtime;

use self::attacks::{ATTACKS, Attack, Attacker};
use self::honest::Honest;
use super::lists::made::{self, Size};
use super::service::{Checks, Kind, Program, Random, Service, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Whoever attacks, others are served.
pub(crate) const PROOF: Proof = Proof {
    name: "hostile",
    claim: "Under each attack and under all at once an honest client is served without an error and below 1 s, in 512 MB and \
            1,024 descriptors; nothing leaks, nothing acknowledged is lost, and the service recovers within 2 s.",
    run: |context| {
        // The form for the suite is to show that nothing is broken; the other engine is for the whole one.
        let first = context.engines().first().copied().filter(|_| context.short);
        first.map_or_else(|| on_each_engine(context, show), |engine| show(context, engine))
    },
};

/// The descriptors that the service has.
const DESCRIPTORS: u32 = 1_024;
/// The memory that the service may have held.
const MEMORY: u64 = 512 << 20;
/// The bar of the honest client's 99th percentile.
const SERVED_WITHIN: Duration = Duration::from_secs(1);
/// How long the service may take to recover.
const RECOVERY: Duration = Duration::from_secs(2);
/// How long it may take in the short form, in which nothing timed is judged; idle threads end after ten seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Descriptors and threads that may be there in excess of those before the attacks: connections to the database and
/// readers of threads come and go.
const TOLERANCE: usize = 24;

/// How much is shown.
struct Scale {
    accounts: u32,
    /// How long an attack lasts.
    lasting: Duration,
    /// The bytes of an answer of the attackers' own entries.
    answer: usize,
    is_timed: bool,
}

const WHOLE: Scale = Scale { accounts: 95, lasting: Duration::from_secs(8), answer: 500_000, is_timed: true };
const SHORT: Scale = Scale { accounts: 2, lasting: Duration::from_millis(800), answer: 50_000, is_timed: false };

/// A running service, its honest client and its attackers.
struct Trial {
    scale: Scale,
    service: Service,
    program: Program,
    honest: Honest,
    attacker: Attacker,
    runtime: Runtime,
    checks: Checks,
    /// Descriptors and threads before the attacks.
    before: (usize, usize),
    peak: u64,
    slowest: Duration,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let mut trial = Trial::begin(context, engine, scale)?;
    for attack in ATTACKS {
        trial.attack(attack.name, std::slice::from_ref(attack), 1, trial.scale.lasting)?;
    }
    // A percentile is one only of more than a hundred answers.
    trial.attack("all at once", ATTACKS, 4, trial.scale.lasting * 4)?;
    trial.end()
}

impl Trial {
    fn begin(context: &Context, engine: Engine, scale: Scale) -> Result<Self> {
        let program = Program { account: "HonestAc".to_owned(), letter: 'h', ..Program::small(1) };
        let hostile = |letter: char| Program {
            account: format!("Hostile{}", letter.to_ascii_uppercase()),
            letter,
            entries: 90,
            detail_every: 1,
            orders: 0,
            ..Program::small(2)
        };
        let mut service = Service::new(context, engine)?;
        service.limit_descriptors(DESCRIPTORS);
        service.set("PLAUDIT_DATABASE_VIEW_MEGABYTES", "64");
        service.set("PLAUDIT_LOG_REQUESTS", "false");
        service.import(&program)?;
        let file = service.directory().join("hostile.jsonl");
        let mut keys = Vec::new();
        for letter in ('p'..).take(attacks::OWN) {
            let program = hostile(letter);
            let (question, answer) = (program.slug(Kind::Field, field::TEXTAREA), "<&> ".repeat(scale.answer / 4));
            program.write_with(&file, |_, record| {
                if record["kind"] == "entry" && record["entry_fields"].is_object() {
                    record["entry_fields"][&question] = json!(answer);
                }
            })?;
            service.import_file(&file)?.succeeded()?;
            keys.push(service.key(&program.account, "read")?);
        }
        let hostile = hostile('p');
        let mut random = Random::new(3);
        for number in 0..scale.accounts {
            let account = made::name("Many", number);
            let (lines, _) = made::population(&account, Size { users: 4, entries: 20, orders: 60 }, &mut random);
            fs::write(&file, made::written(&lines))?;
            service.import_file(&file)?.succeeded()?;
            keys.push(service.key(&account, "read")?);
        }
        let key = service.key(&hostile.account, "read_write")?;
        let honest_key = service.key(&program.account, "read_write")?;
        service.start()?;
        let honest = Honest::new(service.client(&honest_key), &program);
        let attacker = Attacker::new(service.address(), key, keys, &hostile);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (checks, before) = (Checks::default(), (0, 0));
        let mut trial = Self {
            scale,
            service,
            program,
            honest,
            attacker,
            runtime,
            checks,
            before,
            peak: 0,
            slowest: Duration::ZERO,
        };
        trial.attack("nobody", &[], 1, trial.scale.lasting)?;
        trial.before = trial.held()?;
        Ok(trial)
    }

    /// Serves the honest client beside these attacks, each with a part of its attackers, and looks at what they did. An attack that
    /// was too short to be answered is made again for longer.
    fn attack(&mut self, name: &str, attacks: &'static [Attack], part: u32, lasting: Duration) -> Result<()> {
        let process = self.process()?;
        // The system's high-water mark begins again.
        let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
        let until = Instant::now() + lasting;
        let attempts = attacks::begin(&self.runtime, &self.attacker, attacks, part, until);
        let served = self.honest.serve(until);
        let begun = Instant::now();
        let (attempts, statuses) = attempts.end(&self.runtime);
        let recovered = self.recover(begun)?;
        let (peak, p99) = (self.service.peak_memory()?, served.percentile(99));
        println!(
            "  {name}: {} answers, 99 % within {} ms, {} MB, {attempts} attempts, recovered after {} ms",
            served.answers(),
            p99.as_millis(),
            peak >> 20,
            recovered.as_millis()
        );
        self.checks.check(served.answers() > 0, || format!("{name}: the honest client was not served"));
        for failure in served.failures() {
            self.checks.check(false, || format!("{name}: {failure}"));
        }
        if let [attack] = attacks
            && let Some(status) = attack.answered
        {
            if !statuses.contains(&status) && lasting < PATIENCE {
                return self.attack(name, attacks, part, lasting * 4);
            }
            self.checks
                .check(statuses.contains(&status), || format!("{name}: answered {statuses:?} and never {status}"));
        }
        self.checks.check(peak < MEMORY, || format!("{name}: the service held {} MB", peak >> 20));
        if self.scale.is_timed {
            self.checks.check(p99 < SERVED_WITHIN, || format!("{name}: 99 % within {} ms", p99.as_millis()));
            self.checks.check(recovered < RECOVERY, || format!("{name}: recovered after {} ms", recovered.as_millis()));
        }
        self.peak = self.peak.max(peak);
        self.slowest = self.slowest.max(p99);
        Ok(())
    }

    /// Waits until a new client is served as if nobody else were there, and the connections are closed.
    fn recover(&mut self, begun: Instant) -> Result<Duration> {
        loop {
            let asked = Instant::now();
            let served = self.honest.anew();
            let is_served = served.is_ok() && asked.elapsed() < SERVED_WITHIN;
            let (descriptors, _) = self.held()?;
            if self.before.0 == 0 || is_served && descriptors <= self.before.0 + TOLERANCE {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > PATIENCE {
                self.checks.check(false, || {
                    format!("{descriptors} descriptors are held instead of {}; a new client: {served:?}", self.before.0)
                });
                return Ok(begun.elapsed());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn process(&self) -> Result<u32> {
        self.service.process().context("the service does not run")
    }

    /// The descriptors and threads that the service holds.
    fn held(&self) -> Result<(usize, usize)> {
        let process = self.process()?;
        let count = |of: &str| Ok::<_, std::io::Error>(fs::read_dir(format!("/proc/{process}/{of}"))?.count());
        Ok((count("fd")?, count("task")?))
    }

    /// Looks for what leaked and for what was lost.
    fn end(mut self) -> Result<Verdict> {
        let begun = Instant::now();
        let mut threads = self.held()?.1;
        while threads > self.before.1 + TOLERANCE && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(100));
            threads = self.held()?.1;
        }
        self.checks.check(threads <= self.before.1 + TOLERANCE, || {
            format!("{threads} threads are left, where there were {}", self.before.1)
        });
        self.service.stop()?;
        let doctor = self.service.run(&["doctor"])?;
        self.checks.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
        let export = self.service.export(&self.program.account)?;
        let lost = self.honest.lost(&export)?;
        self.checks.check(lost.is_empty(), || format!("acknowledged and lost: {lost:?}"));
        let (megabytes, milliseconds) = (self.peak >> 20, self.slowest.as_millis());
        Ok(self.checks.verdict(&format!(
            "{} attacks, at most {megabytes} MB, the honest client served within {milliseconds} ms",
            ATTACKS.len()
        )))
    }
}
