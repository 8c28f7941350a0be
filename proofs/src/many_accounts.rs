//! Many accounts on one node: their views take turns in the memory that a setting allows.

use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::lists::ask::Ask;
use super::lists::made::{self, Size};
use super::lists::model::{ORDERS, World};
use super::service::{Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The views of many accounts stay within their memory.
pub(crate) const PROOF: Proof = Proof {
    name: "many-accounts",
    claim: "Lists over 10,000 accounts are right within 64 MB of views, and one whose view was dropped costs under 1 ms \
            of processor time.",
    run: |context| on_each_engine(context, show),
};

/// The bar, in milliseconds of processor time.
const MILLISECONDS: f64 = 1.0;

/// What the forms of the proof differ in.
struct Form {
    accounts: u32,
    megabytes: usize,
    lists: u32,
    /// How many orders an account has: so many that not all views have room.
    orders: u32,
}

/// An account with its client.
struct Account {
    client: Client,
    world: World,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let form = if context.short {
        Form { accounts: 60, megabytes: 1, lists: 300, orders: 600 }
    } else {
        Form { accounts: 10_000, megabytes: 64, lists: 100_000, orders: 200 }
    };
    let (mut checks, mut random) = (Checks::default(), Random::new(3));
    let mut service = Service::new(context, engine)?;
    service.set("PLAUDIT_DATABASE_VIEW_MEGABYTES", &form.megabytes.to_string());
    service.measure()?;
    let made = (0..form.accounts)
        .map(|number| make(&service, number, form.orders, &mut random))
        .collect::<Result<Vec<_>>>()?;
    service.start()?;
    let accounts: Vec<Account> =
        made.into_iter().map(|(key, world)| Account { client: service.client(&key), world }).collect();
    let most = lists(&service, &accounts, &form, &mut random, &mut checks)?;
    let cost = cost(&service, &accounts, &mut checks)?;
    let figures = Figures::read(&service)?;
    println!(
        "  {}: {:.1} of {} MB of views at most, {:.0} MB of the process; {} loads, {} dropped, {} brought up to date; \
         {cost:.2} ms of processor time for a list whose view was dropped",
        engine.name(),
        megabytes(most),
        form.megabytes,
        megabytes(service.memory()?),
        figures.loads,
        figures.evictions,
        figures.catch_ups,
    );
    checks.check(figures.evictions > 0, || "no view was dropped, so nothing was shown".to_owned());
    checks.check(most <= (form.megabytes as u64) << 20, || format!("the views took {most} bytes"));
    checks.check(context.short || cost < MILLISECONDS, || format!("a list whose view was dropped costs {cost:.2} ms"));
    Ok(checks.verdict(&format!("{} accounts, {} lists, {:.1} MB", form.accounts, form.lists, megabytes(most))))
}

/// An account of orders and a key for it.
fn make(service: &Service, number: u32, orders: u32, random: &mut Random) -> Result<(String, World)> {
    let account = made::name("Many", number);
    let size = Size { users: 1, entries: 0, orders };
    let (lines, world) = made::population(&account, size, random);
    let file = service.directory().join("account.jsonl");
    fs::write(&file, made::written(&lines))?;
    service.import_file(&file)?.succeeded()?;
    Ok((service.key(&account, "read")?, world))
}

/// Asks for random lists of random accounts; gives the most bytes that the views took.
fn lists(
    service: &Service,
    accounts: &[Account],
    form: &Form,
    random: &mut Random,
    checks: &mut Checks,
) -> Result<u64> {
    let mut most = 0;
    for number in 0..form.lists {
        let account = made::pick(accounts, random);
        judge(account, &Ask::random(&ORDERS, &account.world, random), checks)?;
        if number % 8 == 0 {
            most = most.max(Figures::read(service)?.bytes);
        }
    }
    Ok(most)
}

fn judge(account: &Account, ask: &Ask, checks: &mut Checks) -> Result<()> {
    let path = ask.path();
    let answer: Value = account.client.get(&path)?.expect_status(200)?.json()?;
    let judged = ask.judge(&account.world, &answer);
    checks.check(judged.is_ok(), || format!("{path}: {}", judged.err().unwrap_or_default()));
    Ok(())
}

/// The processor time of a list whose view was dropped and whose program is loaded, in milliseconds.
fn cost(service: &Service, accounts: &[Account], checks: &mut Checks) -> Result<f64> {
    let ask = Ask::of(&ORDERS, Vec::new(), 10);
    // The first turn loads the programs, and leaves the views of those that come last.
    for account in accounts {
        judge(account, &ask, checks)?;
    }
    let process = service.process().context("the service does not run")?;
    let (before, begun) = (Figures::read(service)?, processor_time(process)?);
    for account in accounts {
        account.client.get(&ask.path())?.expect_status(200)?;
    }
    let (ended, after) = (processor_time(process)?, Figures::read(service)?);
    if after.programs != before.programs {
        bail!("{} programs were loaded while lists were measured", after.programs - before.programs);
    }
    let loads = after.loads - before.loads;
    checks.check(loads >= accounts.len() as u64 * 9 / 10, || {
        format!("only {loads} of {} views had been dropped", accounts.len())
    });
    #[allow(clippy::cast_precision_loss, reason = "times are far below what a float counts exactly")]
    let milliseconds = (ended - begun) as f64 / 1e6 / accounts.len() as f64;
    Ok(milliseconds)
}

/// What the service says of its views.
struct Figures {
    bytes: u64,
    loads: u64,
    evictions: u64,
    catch_ups: u64,
    programs: u64,
}

impl Figures {
    fn read(service: &Service) -> Result<Self> {
        let text = service.metrics()?;
        let value = |name: &str| -> Result<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            Ok(line.with_context(|| format!("the measurements have no {name}"))?.parse()?)
        };
        Ok(Self {
            bytes: value("plaudit_view_bytes")?,
            loads: value("plaudit_view_loads_total")?,
            evictions: value("plaudit_view_evictions_total")?,
            catch_ups: value("plaudit_view_catch_ups_total")?,
            programs: value("plaudit_program_load_seconds_count{what=\"whole\"}")?,
        })
    }
}

/// The processor time of all threads of a process, in nanoseconds.
fn processor_time(process: u32) -> Result<u64> {
    let mut total = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let spent = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        total += spent.split_whitespace().next().and_then(|spent| spent.parse().ok()).unwrap_or(0);
    }
    Ok(total)
}

#[allow(clippy::cast_precision_loss, reason = "memory is far below what a float counts exactly")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
