//! `plaudit import`: adds or replaces the records of a program file; with any fault, nothing.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::progress::Progress;
use super::{Failure, folder_of, lengths, open, open_file, own_files, say, warn};
use crate::background::follow;
use crate::config::Config;
use crate::program::fields::Lengths;
use crate::storage::Storage;
use crate::transfer::{self, Deployment, Fault, FileSource, Outcome, Report, Source};
use db::Db;
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::Slug;

/// What to import.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The program file, JSON Lines or YAML; - is standard input
    file: PathBuf,
    /// The slug of the account that the file is about, where it has no account record
    #[arg(long, value_name = "SLUG")]
    account: Option<Slug>,
    /// The folder that paths in records of files lead down from; left out, it is `files` beside the program file
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
}

/// How long an import keeps others from writing: with the pause that follows, no change waits for a second.
pub(super) const LONGEST_WRITE: Duration = Duration::from_millis(500);

/// For records that name no files by a path.
pub(super) fn no_files() -> FileSource<'static> {
    FileSource { folder: Path::new(""), own: &[] }
}

/// Prints faults as they are found, and the progress between them.
struct Printer(Progress);

impl Report for Printer {
    fn fault(&mut self, fault: Fault) {
        self.0.clear();
        print(&fault);
    }

    fn progress(&mut self, step: &'static str, done: u64) {
        self.0.at(done, step);
    }
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let is_standard = arguments.file.as_os_str() == "-";
    // The file is opened first, so that a wrong name does not make a database.
    let file = if is_standard { None } else { Some(open_file(&arguments.file)?) };
    let (db, storage) = open(config).await?;
    let name = if is_standard { "-".to_owned() } else { arguments.file.display().to_string() };
    let source: Box<dyn Read + Send> = match file {
        Some(file) => Box::new(file),
        None => Box::new(std::io::stdin()),
    };
    let (folder, own) =
        (arguments.files.unwrap_or_else(|| folder_of(&arguments.file).join("files")), own_files(config));
    let files = FileSource { folder: &folder, own: &own };
    let source = Source { reader: BufReader::with_capacity(1 << 18, source), name: &name, files };
    let outcome = import(&db, &storage, source, (arguments.account, lengths(config))).await;
    db.close().await;
    conclude(&outcome?)
}

/// Imports records of our own, with this name.
pub(super) async fn own<R: BufRead + Send>(db: &Db, storage: &Storage, name: &str, reader: R) -> Result<(), Failure> {
    let source = Source { reader, name, files: no_files() };
    match import(db, storage, source, (None, Lengths::default())).await?.faults {
        0 => Ok(()),
        faults => Err(nothing_applied(faults)),
    }
}

async fn import<R: BufRead + Send>(
    db: &Db,
    storage: &Storage,
    source: Source<'_, R>,
    (account, lengths): (Option<Slug>, Lengths),
) -> Result<Outcome, transfer::Error> {
    let (clock, ids) = (Clock::system(), Ids::random());
    let deployment =
        Deployment { db, storage, clock: &clock, ids: &ids, lengths, longest_write: LONGEST_WRITE, follow };
    transfer::import(deployment, source, account, &mut Printer(Progress::new())).await
}

fn conclude(outcome: &Outcome) -> Result<(), Failure> {
    if outcome.faults > 0 {
        return Err(nothing_applied(outcome.faults));
    }
    let (mut read, mut changed) = (0, 0);
    for count in &outcome.counts {
        // Items, payments and scores are changed with their orders and assignments and are counted there.
        if matches!(count.kind, Kind::OrderItem | Kind::Payment | Kind::Score) {
            say(&format!("{}: {} read", count.kind, count.read))?;
            continue;
        }
        say(&format!("{}: {} read, {} added or changed", count.kind, count.read, count.changed))?;
        (read, changed) = (read + count.read, changed + count.changed);
    }
    let account = outcome.account.map_or_else(String::new, |account| format!(" in the account {account}"));
    say(&format!("{read} records read, {changed} added or changed{account}"))
}

/// Prints a fault.
pub(super) fn print(fault: &Fault) {
    warn(&fault.to_string());
}

/// How a file with so many faults ends.
pub(super) fn nothing_applied(faults: u64) -> Failure {
    let faults = if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") };
    Failure::Failed(format!("{faults}; nothing was applied"))
}
