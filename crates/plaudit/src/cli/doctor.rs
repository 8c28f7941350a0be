//! `plaudit doctor`: checks everything that must always hold, and changes nothing.
//!
//! - A line for every check: `ok` and what holds, or `FAULT` and what does not. The exit code is 1 on any fault.
//! - Each account is read in one state of the database, so that the service may run meanwhile.
//! - Rows are read one after the other and none is kept, so that memory does not grow with the database.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::progress::Progress;
use super::store::{Head, Logged};
use super::{Failure, chain, database_settings, must_exist, say, store};
use crate::config::Config;
use crate::log::{self, Action};
use crate::records::store::{next, rows};
use crate::records::{Rows, users};
use crate::storage::{Storage, StorageError};
use db::{Db, Tx, migrate};
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The most faults of one check that are told one by one.
const TOLD: usize = 10;
/// The folder of the file that is written to see whether the storage takes files; no account has so short a slug.
const PROBE: &str = "doctor";

/// What to check.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Check these accounts alone, by slug
    #[arg(long = "account", value_name = "SLUG")]
    accounts: Vec<Slug>,
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    faults: u64,
}

fn ok(what: &str) -> Result<(), Failure> {
    say(&format!("ok    {what}"))
}

impl Findings {
    fn fault(&mut self, what: &str) -> Result<(), Failure> {
        self.faults += 1;
        say(&format!("FAULT {what}"))
    }

    /// A check that found these faults, or none.
    fn check(&mut self, about: &str, holds: &str, found: &Checked) -> Result<(), Failure> {
        for fault in &found.reported {
            self.fault(&format!("{about}: {fault}"))?;
        }
        match found.count.saturating_sub(found.reported.len() as u64) {
            _ if found.count == 0 => ok(&format!("{about}: {holds}")),
            0 => Ok(()),
            more => {
                self.faults += more - 1;
                self.fault(&format!("{about}: {more} more of the same check"))
            }
        }
    }
}

/// The faults that one check found: the first of them, and how many.
#[derive(Default)]
struct Checked {
    reported: Vec<String>,
    count: u64,
}

impl Checked {
    fn add(&mut self, fault: impl FnOnce() -> String) {
        self.count += 1;
        if self.reported.len() < TOLD {
            self.reported.push(fault());
        }
    }
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let mut findings = Findings::default();
    let opened = match must_exist(config) {
        Ok(()) => Ok(Db::open(&database_settings(config)).await?),
        Err(error) => Err(error),
    };
    let db = match opened {
        Ok(db) => db,
        Err(error) => {
            findings.fault(&format!("database {}: {error}", config.database.url.redacted()))?;
            return Err(verdict(&findings));
        }
    };
    ok(&format!("database {}: it answers", config.database.url.redacted()))?;
    let checked = check(config, &db, &arguments, &mut findings).await;
    db.close().await;
    checked?;
    if findings.faults == 0 { Ok(()) } else { Err(verdict(&findings)) }
}

fn verdict(findings: &Findings) -> Failure {
    let plural = if findings.faults == 1 { "" } else { "s" };
    Failure::Failed(format!("{} fault{plural} found", findings.faults))
}

async fn check(config: &Config, db: &Db, arguments: &Arguments, findings: &mut Findings) -> Result<(), Failure> {
    let pending = migrate::pending(db).await?;
    if !pending.is_empty() {
        return findings.fault(&format!("schema: it lacks {}; run `plaudit migrate`", pending.join(", ")));
    }
    let unknown = migrate::unknown(db).await?;
    if !unknown.is_empty() {
        let steps = unknown.join(", ");
        return findings
            .fault(&format!("schema: it has {steps}, which this plaudit does not know: a newer one made it"));
    }
    ok("schema: it is current")?;
    let storage = match Storage::open(&super::storage_settings(config)) {
        Ok(storage) => Some(storage),
        Err(error) => {
            findings.fault(&format!("storage {}: {error}", config.storage.url))?;
            None
        }
    };
    if let Some(storage) = &storage {
        match probe(storage).await {
            Ok(()) => ok(&format!("storage {}: it takes files", config.storage.url))?,
            Err(error) => findings.fault(&format!("storage {}: {error}", config.storage.url))?,
        }
    }
    let heads = store::heads(&mut db.snapshot().await?).await?;
    let known: BTreeSet<Slug> = heads.iter().map(|head| head.slug).collect();
    for missing in arguments.accounts.iter().filter(|account| !known.contains(account)) {
        findings.fault(&format!("account {missing}: there is none"))?;
    }
    for slug in heads.into_iter().map(|head| head.slug) {
        if arguments.accounts.is_empty() || arguments.accounts.contains(&slug) {
            account(db, storage.as_ref(), slug, findings).await?;
        }
    }
    Ok(())
}

/// Writes a file, and removes it.
async fn probe(storage: &Storage) -> Result<(), StorageError> {
    let token = Ids::random().token();
    storage.put(PROBE, token.as_str(), bytes::Bytes::from_static(b"x")).await?;
    storage.delete(PROBE, token.as_str()).await
}

async fn account(db: &Db, storage: Option<&Storage>, slug: Slug, findings: &mut Findings) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    // Read again within the snapshot: it may have changed since the accounts were listed.
    let Some(head) = store::heads(&mut tx).await?.into_iter().find(|head| head.slug == slug) else { return Ok(()) };
    let about = format!("account {slug}");
    let mut found = Checked::default();
    let (fault, erased) = chain::fault(&mut tx, &head).await?;
    if let Some(fault) = fault {
        found.add(|| fault);
    }
    let erased = if erased > 0 { format!("; the documents of {erased} were erased") } else { String::new() };
    let holds = format!("the log of {} changes has no gap and its chain verifies{erased}", head.sequence);
    findings.check(&about, &holds, &found)?;
    let (found, count) = records(&mut tx, &head).await?;
    findings.check(&about, &format!("{count} records are as they were logged last"), &found)?;
    let mut found = Checked::default();
    for (category, division, kept, there) in store::wrong_entry_counts(&mut tx, head.account).await? {
        found.add(|| {
            format!("category {category}, division {division}: {kept} entries are counted and {there} are there")
        });
    }
    findings.check(&about, "the counts of entries are right", &found)?;
    let mut found = Checked::default();
    users::store::each_wrong(&mut tx, head.account, |fault| found.add(|| fault)).await?;
    findings.check(&about, "users are found by what they say, and each is a person", &found)?;
    if let Some(storage) = storage {
        let (found, count) = files(&mut tx, &head, storage).await?;
        findings.check(&about, &format!("{count} files have their bytes"), &found)?;
    }
    Ok(())
}

/// Holds every record against the change that its revision names.
async fn records(tx: &mut Tx, head: &Head) -> Result<(Checked, u64), Failure> {
    let mut found = Checked::default();
    let mut count = 0;
    let mut progress = Progress::new("records");
    let logged = store::last_of_account(tx, head.account, head.slug).await?;
    if logged.is_some_and(|logged| logged != log::hash_of(&head.doc)) {
        found.add(|| "the account itself is not what was logged last".to_owned());
    }
    for kind in store::setup_kinds(tx, head.account).await? {
        if !Kind::named(&kind).is_some_and(Kind::is_setup) {
            found.add(|| format!("there are set-up records of the kind {kind}, which is none"));
        }
    }
    for (kind, rows) in Kind::ALL.into_iter().filter_map(|kind| Some((kind, rows(kind)?))) {
        let mut of_kind = 0;
        store::each_logged(tx, head.account, (kind, &rows), |record| {
            of_kind += 1;
            count += 1;
            progress.at(count);
            if let Some(fault) = fault_of(&rows, record) {
                found.add(|| format!("{kind} {}: {fault}", record.name));
            }
        })
        .await?;
        let logged = store::count_logged(tx, head.account, kind).await?;
        if logged != of_kind {
            found.add(|| format!("{} has {of_kind} records, and the log tells of {logged}", kind.plural()));
        }
    }
    Ok((found, count))
}

/// What is wrong with a record: it is not what its last change made it.
fn fault_of(rows: &Rows, record: &Logged<'_>) -> Option<String> {
    let row = &record.row;
    let Some((document_hash, action)) = record.document_hash.zip(record.action) else {
        return Some(format!("its revision {} is not in the log", row.revision));
    };
    if record.last != Some(row.revision) {
        let last = record.last.map_or_else(|| "none".to_owned(), |last| last.to_string());
        return Some(format!("its revision is {}, and its last change in the log is {last}", row.revision));
    }
    if log::hash_of(&(rows.logged)(row)) != document_hash {
        return Some(format!("it is not what change {} made it", row.revision));
    }
    // An import adds records to the trash as well.
    let says_nothing = action == Action::Imported.name() || rows.shows_others && action == Action::Updated.name();
    if says_nothing || row.deleted == (action == Action::Trashed.name()) {
        None
    } else {
        Some(format!("change {} was {action}, and whether it is in the trash differs", row.revision))
    }
}

/// What a record of a file says of its bytes.
#[derive(Deserialize)]
struct Size {
    size: u64,
}

async fn files(tx: &mut Tx, head: &Head, storage: &Storage) -> Result<(Checked, u64), Failure> {
    let mut found = Checked::default();
    let mut count = 0;
    let mut progress = Progress::new("files");
    let mut last = String::new();
    while let Some(files) = next(tx, head.account, Kind::File, &mut last).await? {
        for (token, row) in &files {
            count += 1;
            progress.at(count);
            let expected = serde_json::from_str::<Size>(&row.doc).map(|record| record.size);
            match (storage.size(head.slug.as_str(), token).await, expected) {
                (Ok(actual), Ok(expected)) if actual == expected => {}
                (Ok(actual), Ok(expected)) => {
                    found.add(|| format!("file {token}: it has {actual} bytes, and its record says {expected}"));
                }
                (Err(error), _) => found.add(|| format!("file {token}: {error}")),
                (_, Err(error)) => found.add(|| format!("file {token}: {error}")),
            }
        }
    }
    Ok((found, count))
}
