//! `plaudit doctor`: checks everything that must always hold, and changes nothing.
//!
//! - A line for every check: `ok` and what holds, or `FAULT` and what does not. The exit code is 1 on any fault.
//! - Each account is read in one state of the database, so that the service may run meanwhile.
//! - Rows are read one after the other and none is kept, so that memory does not grow with the database.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::chain::Chain;
use super::progress::Progress;
use super::store::Head;
use super::{Failure, chain, database_settings, must_exist, say, say_fault, store};
use crate::assigning;
use crate::config::Config;
use crate::deliveries;
use crate::http::connections::{self, Room};
use crate::http::idempotency;
use crate::jobs::{self, State};
use crate::log::{self, forms::FORMS};
use crate::program::Program;
use crate::program::accounts::{self, store::Staged};
use crate::records::store::{difference, each_wrong, next};
use crate::records::{StoredRow, files as stored_files, orders, rewriting, standings, users};
use crate::storage::{Storage, StorageError};
use crate::transfer::is_abandoned;
use crate::typesetter::Typesetter;
use db::{Db, Tx, migrate};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The folder of the file that is written to see whether the storage takes files; no account has so short a slug.
const PROBE: &str = "doctor";

/// With room for fewer connections a service is soon full.
const FEW_CONNECTIONS: usize = 64;

/// How many faults of a check are told one by one.
const TOLD: u64 = 1_000;

/// What to check.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Check these accounts alone, by slug
    #[arg(long = "account", value_name = "SLUG")]
    accounts: Vec<Slug>,
    /// Read every stored file, and compare its bytes with the hash in its record
    #[arg(long)]
    files: bool,
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    faults: u64,
    /// Those of the check that runs.
    of_check: u64,
}

/// Says what holds. Without standard output the exit code still tells.
fn ok(what: impl Display) {
    let _ = say(&format!("ok    {what}"));
}

impl Findings {
    fn fault(&mut self, what: impl Display) {
        self.faults += 1;
        self.of_check += 1;
        if self.of_check <= TOLD {
            let _ = say_fault(&format!("FAULT {what}"));
        }
    }

    /// Ends a check: says what holds where it found nothing, and how much more it found than was told.
    fn end_check(&mut self, holds: impl Display) {
        match std::mem::take(&mut self.of_check) {
            0 => ok(holds),
            found if found > TOLD => {
                let _ = say_fault(&format!("FAULT {} more of the same check", found - TOLD));
            }
            _ => {}
        }
    }
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let mut findings = Findings::default();
    let opened = match must_exist(config) {
        Ok(()) => Db::open(&database_settings(config)).await.map_err(Failure::from),
        Err(error) => Err(error),
    };
    let db = match opened {
        Ok(db) => db,
        Err(error) => {
            findings.fault(format_args!("database {}: {error}", config.database.url.redacted()));
            return Err(verdict(&findings));
        }
    };
    ok(format_args!("database {}: it answers", config.database.url.redacted()));
    let checked = check(config, &db, &arguments, &mut findings).await;
    db.close().await;
    checked?;
    if findings.faults > 0 {
        return Err(verdict(&findings));
    }
    say("everything holds")
}

fn verdict(findings: &Findings) -> Failure {
    let plural = if findings.faults == 1 { "" } else { "s" };
    Failure::Failed(format!("{} fault{plural} found", findings.faults))
}

async fn check(config: &Config, db: &Db, arguments: &Arguments, findings: &mut Findings) -> Result<(), Failure> {
    let pending = migrate::pending(db).await?;
    if !pending.is_empty() {
        findings.fault(format_args!("schema: it lacks {}; run `plaudit migrate`", pending.join(", ")));
        return Ok(());
    }
    let unknown = migrate::unknown(db).await?;
    if !unknown.is_empty() {
        let steps = unknown.join(", ");
        findings.fault(format_args!("schema: it has {steps}, which this plaudit does not know: a newer one made it"));
        return Ok(());
    }
    if rewriting::is_left(db, (&FORMS, FORMS.oldest)).await? {
        findings.fault("documents: some have a form that is not read any more; run `plaudit migrate`");
        return Ok(());
    }
    ok("schema: it is current");
    let url = &config.storage.url;
    let settings = super::storage_settings(config);
    let storage = Storage::open_to_read(&settings);
    let probed = match (&storage, Storage::is_there(&settings)) {
        (Ok(_), Ok(false)) => Ok("it is not there yet; the service makes it"),
        (Ok(storage), _) => probe(storage).await.map(|()| "it takes files").map_err(|error| error.to_string()),
        (Err(error), _) => Err(error.to_string()),
    };
    match probed {
        Ok(state) => ok(format_args!("storage {url}: {state}")),
        Err(error) => findings.fault(format_args!("storage {url}: {error}")),
    }
    match super::serve::budgets(config).probe_spool() {
        (name, Ok(())) => ok(format_args!("spool {name}: it takes files")),
        (name, Err(error)) => findings.fault(format_args!("spool {name}: {error}")),
    }
    match room(config, connections::raise_descriptors(), super::serve::memory()) {
        Ok(room) => ok(room),
        Err(few) => findings.fault(few),
    }
    match Typesetter::new(super::serve::typesetter(config)).program() {
        Ok(program) => ok(format_args!("typesetter {}: documents can be made", program.display())),
        // A service that makes no documents needs none.
        Err(error) => ok(format_args!("typesetter: {error}")),
    }
    let budgets = &config.budgets;
    let (of_one, of_all) = (budgets.answer_megabytes, budgets.memory_megabytes);
    ok(format_args!("answers on their way: up to {of_one} MB of one and {of_all} MB of all wait in memory"));
    ok(kept_answers(config, &idempotency::store::usage(db).await?));
    let now = Clock::system().now();
    background(&deliveries::store::usage(db).await?, &jobs::store::usage(db, jobs::overdue(now)).await?, now);
    let mut tx = db.snapshot().await?;
    for Staged { slug, seen, .. } in accounts::store::staged(&mut tx).await? {
        if is_abandoned(seen, now) {
            let what =
                "an import was cut off; the upkeep of the service removes what it wrote, or the next import does";
            findings.fault(difference("accounts", slug.as_str(), "importing", what));
        } else {
            ok(format_args!("account {slug}: it is being imported, or was until the import was cut off just now"));
        }
    }
    let heads = store::heads(&mut tx).await?;
    drop(tx);
    let known: BTreeSet<Slug> = heads.iter().map(|head| head.slug).collect();
    for missing in arguments.accounts.iter().filter(|account| !known.contains(account)) {
        findings.fault(format_args!("account {missing}: there is none"));
    }
    for slug in heads.into_iter().map(|head| head.slug) {
        if arguments.accounts.is_empty() || arguments.accounts.contains(&slug) {
            let storage = storage.as_ref().ok().map(|storage| (storage, arguments.files));
            account(db, storage, slug, findings).await?;
        }
    }
    if arguments.accounts.is_empty() {
        installation(&mut db.snapshot().await?, findings).await?;
    }
    Ok(())
}

/// What room for connections a service has that is started as this process was; the error is that there is little.
pub(super) fn room(config: &Config, descriptors: Option<usize>, memory: Option<usize>) -> Result<String, String> {
    let room = Room::new(config, descriptors, memory);
    let (Room { all, of_address }, streams) = (room, room.streams(&config.limits));
    let descriptors = descriptors.map_or_else(|| "any number of".to_owned(), |descriptors| descriptors.to_string());
    let line = format!(
        "connections: with {descriptors} descriptors there is room for {all}, {of_address} of one address; {} streams, {} of one key",
        streams.node, streams.key
    );
    // So few can be what the operator wants.
    if all < FEW_CONNECTIONS && all != config.server.max_connections {
        Err(format!("{line}: raise the limit (`ulimit -Hn`, or LimitNOFILE= of systemd)"))
    } else {
        Ok(line)
    }
}

fn kept_answers(config: &Config, usage: &idempotency::store::Usage) -> String {
    let most = config.limits.idempotency_megabytes;
    let fullest =
        usage.fullest.map_or_else(String::new, |(account, bytes)| format!("; {account} has most, {bytes} bytes"));
    format!("kept answers: {} with {} bytes, of up to {most} MB an account{fullest}", usage.answers, usage.bytes)
}

/// Says what webhooks, their deliveries and jobs are and wait for.
fn background(deliveries: &deliveries::store::Usage, jobs: &jobs::store::Usage, now: Timestamp) {
    let deliveries::store::Usage { enabled, failing, disabled, pending, bytes, fullest, .. } = deliveries;
    let (failing_seconds, oldest_seconds) = (deliveries.failing_seconds(now), deliveries.oldest_seconds(now));
    ok(format_args!(
        "webhooks: {enabled} enabled, {failing} of them failing for up to {failing_seconds} s; {disabled} disabled"
    ));
    let most = fullest.map_or_else(String::new, |(account, bytes)| format!("; {account} has most, {bytes} bytes"));
    ok(format_args!("deliveries: {pending} pending, for up to {oldest_seconds} s; bodies with {bytes} bytes{most}"));
    let of_states: Vec<String> =
        State::CHOICES.iter().map(|(name, state)| format!("{} {name}", jobs.of(*state))).collect();
    let (overdue, unsent) = (jobs.overdue, jobs.unsent);
    let of_states = of_states.join(", ");
    ok(format_args!(
        "jobs: {of_states}; {overdue} queued for over an hour; {unsent} messages were not sent to everybody"
    ));
}

/// What is of no account, and people, who are the installation's.
async fn installation(tx: &mut Tx, findings: &mut Findings) -> Result<(), Failure> {
    for (table, account) in store::strays(tx).await? {
        findings.fault(difference(table, "", "account", &format!("there is no account {account}, which has rows")));
    }
    findings.end_check("installation: every row is of an account");
    users::store::each_stray(tx, |fault| findings.fault(fault)).await?;
    findings.end_check("installation: everybody is a user of an account");
    Ok(())
}

/// Writes a file, and removes it.
async fn probe(storage: &Storage) -> Result<(), StorageError> {
    let token = Ids::random().token();
    storage.put(PROBE, token.as_str(), bytes::Bytes::from_static(b"x")).await?;
    storage.delete(PROBE, token.as_str()).await
}

async fn account(
    db: &Db,
    storage: Option<(&Storage, bool)>,
    slug: Slug,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    // Read again within the snapshot: it may have changed since the accounts were listed.
    let Some(head) = store::heads(&mut tx).await?.into_iter().find(|head| head.slug == slug) else { return Ok(()) };
    let mut wrong = |fault: String| findings.fault(format_args!("account {slug}: {fault}"));
    let Chain { sequence, erased } = chain::each_wrong(&mut tx, &head, &mut wrong).await?;
    let erased = if erased > 0 { format!("; the documents of {erased} were erased") } else { String::new() };
    let holds = format!("the log of {sequence} changes has no gap and its chain verifies{erased}");
    findings.end_check(format_args!("account {slug}: {holds}"));
    of_account(&mut tx, &head, findings).await?;
    let count = records(&mut tx, (&head, sequence), findings).await?;
    let holds = "are as they were logged last, and everything that follows from them is right";
    findings.end_check(format_args!("account {slug}: {count} records {holds}"));
    let columns = "account, category, division, total";
    for (category, division, kept, there) in store::wrong_entry_counts(&mut tx, head.account).await? {
        let wrong = format!("it is {kept}, and must be {there}");
        let wrong = difference("entry_counts", &format!("{category} {division}"), columns, &wrong);
        findings.fault(format_args!("account {slug}: {wrong}"));
    }
    findings.end_check(format_args!("account {slug}: the counts of entries are right"));
    let wrong = |fault| findings.fault(format_args!("account {slug}: {fault}"));
    deliveries::store::each_wrong(&mut tx, head.account, sequence, wrong).await?;
    let wrong = |fault| findings.fault(format_args!("account {slug}: {fault}"));
    assigning::each_wrong(&mut tx, head.account, sequence, wrong).await?;
    findings.end_check(format_args!(
        "account {slug}: deliveries are of its changes and webhooks, and webhooks, jobs, panels and reminders have their leases"
    ));
    let wrong = |fault| findings.fault(format_args!("account {slug}: {fault}"));
    users::store::each_wrong(&mut tx, head.account, wrong).await?;
    findings.end_check(format_args!(
        "account {slug}: users are people who can be reached, with the seasons of their entries"
    ));
    match Program::load(&mut tx, head.account, &Arc::from(""), &Clock::system()).await {
        Ok(Some(program)) => {
            let wrong = |fault| findings.fault(format_args!("account {slug}: {fault}"));
            let count = standings::store::each_wrong(&mut tx, head.account, &program, wrong).await?;
            findings.end_check(format_args!("account {slug}: {count} standings are what their sheets come to"));
        }
        Ok(None) => {}
        Err(error) => findings.fault(format_args!(
            "account {slug}: standings are not compared, because the set-up cannot be read: {error}"
        )),
    }
    if let Some(storage) = storage {
        let count = files(&mut tx, &head, storage, findings).await?;
        findings.end_check(format_args!("account {slug}: {count} files have their bytes"));
        let announced = stored_files::store::count_announced(&mut tx, head.account).await?;
        if announced > 0 {
            ok(format_args!("account {slug}: {announced} uploads are under way, or were cut off and go within a day"));
        }
    }
    Ok(())
}

/// What the document of an account says of the account's other columns, and of its hosts.
#[derive(Deserialize)]
struct AccountDocument {
    slug: String,
    hosts: BTreeSet<String>,
}

/// Holds the account itself against its last change in the log.
async fn of_account(tx: &mut Tx, head: &Head, findings: &mut Findings) -> Result<(), Failure> {
    let slug = head.slug;
    let mut wrong = |table: &str, record: &str, column: &str, what: &str| {
        findings.fault(format_args!("account {slug}: {}", difference(table, record, column, what)));
    };
    if let Some((form, hash)) = store::last_of_account(tx, head.account, slug).await? {
        if hash != log::hash_of(&head.doc) {
            wrong("accounts", slug.as_str(), "doc", "it is not what was logged last");
        }
        if form != head.form {
            wrong("accounts", slug.as_str(), "doc_form", &format!("it is {}, and must be {form}", head.form));
        }
    }
    match serde_json::from_str::<AccountDocument>(&head.doc) {
        Ok(document) => {
            if document.slug != slug.as_str() {
                wrong("accounts", slug.as_str(), "slug", "it is not what its document says");
            }
            let hosts = store::hosts(tx, head.account).await?;
            for host in hosts.symmetric_difference(&document.hosts) {
                let what = if hosts.contains(host) { "is not in its document" } else { "is missing" };
                wrong("hosts", host, "name, account", what);
            }
        }
        Err(error) => wrong("accounts", slug.as_str(), "doc", &error.to_string()),
    }
    for kind in store::setup_kinds(tx, head.account).await? {
        if !Kind::named(&kind).is_some_and(Kind::is_setup) {
            wrong("setup_records", &kind, "kind", "there is no such kind");
        }
    }
    findings.end_check(format_args!("account {slug}: the account itself is as it was logged last"));
    Ok(())
}

/// Holds every record against its last change in the log, and against what follows from its document; gives how many there
/// are.
async fn records(tx: &mut Tx, (head, sequence): (&Head, i64), findings: &mut Findings) -> Result<u64, Failure> {
    let (slug, account) = (head.slug, head.account);
    let mut count = 0;
    for kind in Kind::ALL {
        let wrong = |fault: String| findings.fault(format_args!("account {slug}: {fault}"));
        count += each_wrong(tx, account, (kind, sequence), &FORMS, wrong).await?;
    }
    let wrong = |fault: String| findings.fault(format_args!("account {slug}: {fault}"));
    orders::store::each_wrong(tx, account, wrong).await?;
    Ok(count)
}

/// What a record of a file says of its bytes.
#[derive(Deserialize)]
struct Stated {
    size: u64,
    sha256: String,
}

/// What is wrong with the bytes of a file; nothing where they are as its record says.
async fn fault_of_file(
    storage: &Storage,
    (account, token): (Slug, &str),
    row: &StoredRow,
    is_read: bool,
) -> Option<String> {
    let Ok(Stated { size: stated, sha256 }) = serde_json::from_str(&row.doc) else {
        return Some("its record does not say what its bytes are".to_owned());
    };
    match storage.size(account.as_str(), token).await {
        Ok(size) if size != stated => return Some(format!("it has {size} bytes, and its record says {stated}")),
        Ok(_) if !is_read => return None,
        Ok(_) => {}
        Err(error) => return Some(error.to_string()),
    }
    match hash_of_file(storage, account, token).await {
        Ok(hash) if hash == sha256 => None,
        Ok(hash) => Some(format!("its bytes have the SHA-256 {hash}, and its record says {sha256}")),
        Err(error) => Some(error.to_string()),
    }
}

async fn hash_of_file(storage: &Storage, account: Slug, token: &str) -> Result<String, StorageError> {
    let mut hash = Sha256::new();
    let (_, mut pieces) = storage.get_stream(account.as_str(), token, None).await?;
    while let Some(piece) = pieces.try_next().await? {
        hash.update(&piece);
    }
    Ok(hex::encode(hash.finalize()))
}

async fn files(
    tx: &mut Tx,
    head: &Head,
    (storage, is_read): (&Storage, bool),
    findings: &mut Findings,
) -> Result<u64, Failure> {
    let mut count = 0;
    let mut progress = Progress::new();
    let mut last = String::new();
    while let Some(files) = next(tx, head.account, Kind::File, &mut last).await? {
        for (token, row) in &files {
            count += 1;
            progress.at(count, "files");
            if let Some(wrong) = fault_of_file(storage, (head.slug, token), row, is_read).await {
                progress.clear();
                findings.fault(format_args!("account {}: file {token}: {wrong}", head.slug));
            }
        }
    }
    Ok(count)
}
