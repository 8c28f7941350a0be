//! Accounts whose logs consist of stretches with a pause between them, and a webhook that is younger.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{Scale, now};
use crate::delivery::changes::{Change, Writing};
use crate::delivery::log;
use crate::receiver::Receiver;
use crate::service::{Client, Program, Service};

/// Connections that write.
const WRITERS: u32 = 16;
/// Every so many stretches one is long.
const LONG_EVERY: u32 = 10;

/// An account with what can be replayed of it.
pub(super) struct Account {
    pub(super) client: Client,
    pub(super) webhook: String,
    pub(super) stretches: Vec<Stretch>,
}

/// Changes that follow each other in a log, and the times before and after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Its number in the account.
    pub(super) number: u32,
    /// How many changes it has.
    pub(super) count: u32,
    first: i64,
    after: i64,
    before: i64,
}

impl Stretch {
    /// The body that has it replayed.
    pub(super) fn body(&self) -> Value {
        let time = |at: i64| jiff::Timestamp::from_microsecond(at).unwrap_or_default().to_string();
        json!({"after": time(self.after), "before": time(self.before), "events": ["entry_updated"]})
    }

    /// The numbers of its changes.
    pub(super) fn changes(&self) -> impl Iterator<Item = i64> + use<> {
        self.first..self.first + i64::from(self.count)
    }
}

/// Makes the accounts, on a service that runs afterwards.
pub(super) fn accounts(service: &mut Service, receiver: &Receiver, scale: &Scale) -> Result<Vec<Account>> {
    let programs: Vec<Program> = (b'a'..)
        .take(usize::try_from(scale.accounts)?)
        .map(|letter| Program {
            account: format!("P{}Acount", char::from(letter)),
            letter: char::from(letter),
            entries: 64,
            detail_every: 0,
            orders: 0,
            ..Program::small(47)
        })
        .collect();
    for program in &programs {
        service.import(program)?;
    }
    service.start()?;
    let mut accounts = Vec::new();
    for (number, program) in (0..).zip(&programs) {
        let jobs = if number == 0 {
            scale.large
        } else {
            let (others, left) = (scale.accounts - 1, number - 1);
            scale.small / others + u32::from(left < scale.small % others)
        };
        let client = service.client(&service.key(&program.account, "read_write")?);
        let stretches = (0..jobs).map(|number| stretch(&client, program, number, scale)).collect::<Result<_>>()?;
        let webhook = log::subscribe(&client, &receiver.url(usize::try_from(number)?), &["entry_updated"], &json!({}))?;
        accounts.push(Account { client, webhook, stretches });
    }
    Ok(accounts)
}

/// Makes the changes of a stretch; nothing else changes the account meanwhile.
fn stretch(client: &Client, program: &Program, number: u32, scale: &Scale) -> Result<Stretch> {
    let count = if number.is_multiple_of(LONG_EVERY) { scale.long } else { scale.replayed };
    let after = moment();
    // Titles of stretches that follow each other differ, and those further apart were changed between.
    let titles = if number.is_multiple_of(2) { "Even " } else { "Odd " };
    let writers = WRITERS.min(count);
    let clients = vec![client.clone()];
    let writing = Writing { clients, program, writers, changes: count, rate: None, moves: false, titles };
    let changes: Vec<Change> = writing.write(&AtomicBool::new(false))?;
    let first = changes.first().context("a stretch without changes")?.sequence;
    let is_whole = changes.iter().map(|change| change.sequence).eq(first..first + i64::from(count));
    anyhow::ensure!(is_whole, "somebody else changes the account {}", program.account);
    Ok(Stretch { number, count, first, after, before: moment() })
}

/// A time that is neither that of what was before nor that of what comes.
fn moment() -> i64 {
    thread::sleep(Duration::from_millis(2));
    let moment = now();
    thread::sleep(Duration::from_millis(2));
    moment
}
