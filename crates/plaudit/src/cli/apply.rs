//! `plaudit apply`: makes the set-up of an account be what a program file says; with any fault, nothing.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::PathBuf;

use tempfile::TempDir;

use super::import::{LONGEST_WRITE, no_files, nothing_applied, print};
use super::{Failure, database_file, database_settings, lengths, open, open_file, say};
use crate::background::follow;
use crate::config::Config;
use crate::log::{Action, forms::FORMS};
use crate::records::rewriting;
use crate::storage::{self, Storage};
use crate::transfer::{self, Applied, ApplyMode, Deployment, Fault, Source, Step};
use db::{Db, migrate};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::text::Slug;

/// What to apply.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The program file, YAML or JSON Lines
    file: PathBuf,
    /// The slug of the account that the file is about, where it has no account record
    #[arg(long, value_name = "SLUG")]
    account: Option<Slug>,
    /// Leave alone what the file does not name, instead of putting it into the trash
    #[arg(long)]
    keep: bool,
    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let name = arguments.file.display().to_string();
    // The file is opened first, so that a wrong name does not make a database.
    let file = open_file(&arguments.file)?;
    let mode = ApplyMode { keep: arguments.keep, dry_run: arguments.dry_run };
    let (db, storage, _folder) = if mode.dry_run {
        open_to_look(config).await?
    } else {
        let (db, storage) = open(config).await?;
        (db, storage, None)
    };
    let (clock, ids) = (Clock::system(), Ids::random());
    let deployment = Deployment {
        db: &db,
        storage: &storage,
        clock: &clock,
        ids: &ids,
        lengths: lengths(config),
        longest_write: LONGEST_WRITE,
        follow,
    };
    let source = Source { reader: BufReader::new(file), name: &name, files: no_files() };
    let mut faults = Vec::new();
    let applied =
        transfer::apply(deployment, source, arguments.account, mode, &mut |fault: Fault| faults.push(fault)).await;
    db.close().await;
    let applied = applied?;
    if !faults.is_empty() {
        return Err(complain(faults));
    }
    conclude(&applied, mode)
}

/// Opens the database without changing it; where there is none yet, an empty one that goes away with its folder.
async fn open_to_look(config: &Config) -> Result<(Db, Storage, Option<TempDir>), Failure> {
    let folder = tempfile::Builder::new().prefix("plaudit-apply-").tempdir()?;
    let storage = Storage::open(&storage::Settings::at(&format!("file:{}", folder.path().join("files").display())))?;
    let is_missing = database_file(config).is_some_and(|path| !path.exists());
    let there_is = if is_missing { None } else { opened_as_is(config).await? };
    let db = if let Some(db) = there_is {
        db
    } else {
        let settings = db::Settings::at(&format!("sqlite:{}", folder.path().join("plaudit.db").display()));
        let db = Db::open(&settings).await?;
        migrate::run(&db, &settings).await?;
        db
    };
    Ok((db, storage, Some(folder)))
}

/// The database where its schema is current; `None` where it has none yet.
async fn opened_as_is(config: &Config) -> Result<Option<Db>, Failure> {
    let db = Db::open(&database_settings(config)).await?;
    let pending = migrate::pending(&db).await?;
    let is_left = pending.is_empty() && rewriting::is_left(&db, (&FORMS, FORMS.oldest)).await?;
    if pending.is_empty() && !is_left {
        return Ok(Some(db));
    }
    db.close().await;
    if is_left {
        let why = "documents have a form that is not read any more; run `plaudit migrate` first";
        return Err(Failure::Failed(why.to_owned()));
    }
    if pending == migrate::all() {
        return Ok(None);
    }
    Err(Failure::Failed(format!("the schema lacks {}; run `plaudit migrate` first", pending.join(", "))))
}

/// Prints the faults in the order of the file.
fn complain(mut faults: Vec<Fault>) -> Failure {
    faults.sort_by_key(|fault| (fault.line.is_none(), fault.line, fault.column));
    faults.iter().for_each(print);
    nothing_applied(faults.len() as u64)
}

fn conclude(applied: &Applied, mode: ApplyMode) -> Result<(), Failure> {
    for step in &applied.steps {
        say(&step.to_string())?;
    }
    let account = applied.account.map_or_else(String::new, |account| account.to_string());
    if applied.steps.is_empty() {
        return say(&format!("nothing to do: the account {account} is as the file says"));
    }
    let counts = counts(&applied.steps);
    if mode.dry_run {
        say(&format!("plan for the account {account}: {counts}; nothing was changed"))
    } else {
        say(&format!("applied to the account {account}: {counts}"))
    }
}

fn counts(steps: &[Step]) -> String {
    let mut counts: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
    for step in steps {
        let (place, name) = match step.action {
            Action::Created | Action::Imported => (0, "created"),
            Action::Updated => (1, "changed"),
            Action::Restored => (2, "restored"),
            Action::Trashed => (3, "trashed"),
        };
        counts.entry(place).or_insert((name, 0)).1 += 1;
    }
    counts.values().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
