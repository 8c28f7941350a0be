//! The command line: a module for each command.
//!
//! - A command prints its result on standard output, and everything else on standard error.
//! - The exit code is 0 when it is done, 1 when it failed, 2 when it was called wrongly.
//! - Every command that works on the database brings its schema up to date first; only `doctor` changes nothing.
//! - Only commands that may come first make a database: `demo`, `serve`, `migrate`, `account create`, `apply`, `import`,
//!   `restore` and `fill`.
//! - Whatever is printed goes through [`say`] or [`warn`], which escape control characters.
//! - Whoever closes the output has read enough: that ends a command, and is no failure.
//! - What a command changes reaches running servers with the next request: it gives the account another version.

mod account;
mod apply;
mod archive;
mod backup;
mod cells;
mod chain;
mod commands;
mod config;
mod demo;
mod doctor;
mod document;
mod export;
mod fill;
mod health;
mod help;
mod import;
mod key;
mod log;
mod maintenance;
mod migrate;
mod orders;
mod progress;
mod restore;
mod scores;
mod serve;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod user;
mod verify_result;
mod version;
mod webhook;

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, FromArgMatches as _};

use self::progress::Progress;
use crate::config::{Config, ConfigArgs};
use crate::log::forms::FORMS;
use crate::log::{Actor, Origin};
use crate::program::accounts;
use crate::program::fields::Lengths;
use crate::records::rewriting;
use crate::storage::{self, Storage};
use crate::transfer;
use db::{AccountId, Db, Tx};
use kernel::clock::Clock;
use kernel::input::Violations;
use kernel::text::Slug;

/// What the program was called with.
#[derive(Debug, clap::Parser)]
#[command(name = "plaudit", version, about, arg_required_else_help = true)]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Serve a demonstration program on a database of its own under ./plaudit-demo
    Demo,
    /// Serve the interface
    Serve,
    /// Accounts: the tenants of the service
    #[command(subcommand)]
    Account(account::Command),
    /// API keys of an account
    #[command(subcommand)]
    Key(key::Command),
    /// Users of an account
    #[command(subcommand)]
    User(user::Command),
    /// Webhooks of an account
    #[command(subcommand)]
    Webhook(webhook::Command),
    /// Orders and invoices
    #[command(subcommand)]
    Orders(orders::Command),
    /// Documents that are made of templates
    #[command(subcommand)]
    Document(document::Command),
    /// What judges gave
    #[command(subcommand)]
    Scores(scores::Command),
    /// Verify a result bundle: that its places follow from its sheets, and that it is signed
    VerifyResult(verify_result::Arguments),
    /// Answer every request of the region with 503 and a text, until it is switched off
    #[command(subcommand)]
    Maintenance(maintenance::Command),
    /// Make the set-up of an account be what a program file says
    Apply(apply::Arguments),
    /// Print the JSON Schema of the program files that are applied
    Schema,
    /// Add or replace the records of a program file
    Import(import::Arguments),
    /// Write an account as a program file
    Export(export::Arguments),
    /// Bring the database to the newest schema, and its documents to the newest form
    Migrate,
    /// Write the whole database and all stored files into one file
    Backup(backup::Arguments),
    /// Fill a database from a backup
    Restore(restore::Arguments),
    /// Check the database, the change logs and the stored files; changes nothing
    Doctor(doctor::Arguments),
    /// The configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Make a synthetic account, for trials and benchmarks
    Fill(fill::Arguments),
    /// Ask the service of these settings whether it is ready
    Health,
    /// Print which build this is
    Version(version::Arguments),
    /// Print what makes a shell complete the words of this program
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The command line.
pub fn command_line() -> clap::Command {
    help::complete(Arguments::command())
}

impl Arguments {
    /// What the process was called with. What cannot be read, and help, end the process.
    pub fn of_process() -> Self {
        let matches = command_line().get_matches();
        if let Err(error) = help::refuse(&matches) {
            error.exit();
        }
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Why a command did not do what it was asked to. It is no [`std::error::Error`] itself, so that every one becomes it.
#[derive(Debug)]
pub enum Failure {
    /// It was called wrongly.
    Usage(String),
    /// It failed. Several faults are a line each.
    Failed(String),
    /// Whoever read its output has read enough.
    OutputClosed,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => formatter.write_str(text),
            Self::OutputClosed => Ok(()),
        }
    }
}

impl Failure {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A line for each of them.
fn lines_of(violations: &Violations) -> String {
    let lines: Vec<String> = violations.iter().map(|(member, message)| format!("{member} {message}")).collect();
    lines.join("\n")
}

/// Writes on standard error why the command failed.
pub fn complain(failure: &Failure) {
    // Without standard error there is nobody left to tell.
    let tell = |line| drop(write_fault(&mut anstream::stderr(), &format!("plaudit: {line}")));
    failure.to_string().lines().for_each(tell);
}

/// Writes a line of which the first word has the colour of faults, where the terminal has colours.
fn write_fault(out: &mut impl std::io::Write, line: &str) -> std::io::Result<()> {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    writeln!(out, "{style}{word}{style:#}{}", printable(rest))
}

/// Writes a line on standard error.
fn warn(line: &str) {
    // Without standard error there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{}", printable(line));
}

/// A line as it is printed: control characters are escaped, so that no text out of a file or a database plays with the
/// terminal.
fn printable(line: &str) -> Cow<'_, str> {
    if !line.contains(char::is_control) {
        return Cow::Borrowed(line);
    }
    let mut escaped = String::with_capacity(line.len() + 8);
    for character in line.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Runs a command.
pub async fn run(arguments: Arguments) -> Result<(), Failure> {
    let config = Config::from_process(&arguments.config).map_err(|error| Failure::Usage(error.to_string()))?;
    let log = log::begin(&config)?;
    let outcome = execute(&config, arguments).await;
    log.end().await;
    outcome
}

async fn execute(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Demo => demo::run(config, &arguments.config).await,
        Command::Serve => serve::run(config).await,
        Command::Account(command) => {
            let is_first = matches!(command, account::Command::Create(_));
            let db = if is_first { open_database(config).await? } else { open_existing(config).await? };
            with_database(db, async |db| account::run(db, config, command).await).await
        }
        Command::Key(command) => {
            with_database(open_existing(config).await?, async |db| key::run(db, command).await).await
        }
        Command::User(command) => {
            with_database(open_existing(config).await?, async |db| user::run(db, config, command).await).await
        }
        Command::Webhook(command) => {
            with_database(open_existing(config).await?, async |db| webhook::run(db, command).await).await
        }
        Command::Orders(command) => {
            with_database(open_existing(config).await?, async |db| orders::run(db, config, command).await).await
        }
        Command::Document(command) => {
            let (db, storage) = open_to_read(config).await?;
            with_database(db, async |db| document::run(db, storage, config, command).await).await
        }
        Command::Scores(command) => {
            with_database(open_existing(config).await?, async |db| scores::run(db, config, command).await).await
        }
        Command::VerifyResult(arguments) => verify_result::run(&arguments),
        Command::Maintenance(command) => maintenance::run(config, command).await,
        Command::Apply(arguments) => apply::run(config, arguments).await,
        Command::Schema => say(transfer::schema().trim_end()),
        Command::Import(arguments) => import::run(config, arguments).await,
        Command::Export(arguments) => export::run(config, arguments).await,
        Command::Migrate => migrate::run(config).await,
        Command::Backup(arguments) => backup::run(config, arguments).await,
        Command::Restore(arguments) => restore::run(config, arguments).await,
        Command::Doctor(arguments) => doctor::run(config, arguments).await,
        Command::Config(command) => config::run(config, &command),
        Command::Fill(arguments) => fill::run(config, arguments).await,
        Command::Health => health::run(config).await,
        Command::Version(arguments) => version::run(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command_line(), "plaudit", &mut script);
            std::io::stdout().write_all(&script).map_err(output_error)
        }
    }
}

/// Writes a line, or several, on standard output.
fn say(lines: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let mut lines = lines.split('\n');
    let written = lines.try_for_each(|line| writeln!(stdout, "{}", printable(line)));
    written.and_then(|()| stdout.flush()).map_err(output_error)
}

/// Writes on standard output what is wrong.
fn say_fault(line: &str) -> Result<(), Failure> {
    write_fault(&mut anstream::stdout(), line).map_err(output_error)
}

fn output_error(error: std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => error.into(),
    }
}

/// How the configured database is reached.
fn database_settings(config: &Config) -> db::Settings {
    db::Settings {
        url: config.database.url.as_str().to_owned(),
        pool_size: config.database.pool_size,
        group_limit: config.database.group_limit,
        busy_timeout: std::time::Duration::from_secs(config.database.busy_timeout_seconds),
    }
}

/// Opens the database and brings its schema up to date.
async fn open_database(config: &Config) -> Result<Db, Failure> {
    Ok(open_migrated(config).await?.0)
}

/// The same, with the steps that were applied. Documents in a form that is not read any more are rewritten.
async fn open_migrated(config: &Config) -> Result<(Db, Vec<String>), Failure> {
    let settings = database_settings(config);
    let db = Db::open(&settings).await.map_err(|error| wrong_database(config, &error))?;
    let migrated = db::migrate::run(&db, &settings).await.map_err(|error| wrong_database(config, &error))?;
    rewrite_documents(&db, FORMS.oldest).await?;
    Ok((db, migrated.applied))
}

/// Rewrites all documents that have an older form than this one; returns how many there were.
async fn rewrite_documents(db: &Db, form: i64) -> Result<u64, Failure> {
    let mut progress = Progress::new();
    let rewritten = rewriting::rewrite(db, (&FORMS, form), |count| {
        progress.at(count, "documents");
        true
    })
    .await?;
    progress.clear();
    match rewritten.first_fault {
        None => Ok(rewritten.documents),
        Some(fault) => Err(Failure::Failed(format!(
            "{} documents were rewritten to form {form}, and {} cannot be; the first one: {fault}",
            rewritten.documents, rewritten.faults
        ))),
    }
}

fn wrong_database(config: &Config, error: &db::DbError) -> Failure {
    Failure::Failed(format!("{}: {error}", config.told("database", "url")))
}

/// A setting that cannot be used: which, where it was set, why, and what to do.
fn wrong(config: &Config, (section, name): (&str, &str), why: impl std::fmt::Display, remedy: &str) -> Failure {
    Failure::Failed(format!("{}: {why}; {remedy}", config.told(section, name)))
}

/// The same of one that is there.
async fn open_existing(config: &Config) -> Result<Db, Failure> {
    must_exist(config)?;
    open_database(config).await
}

/// Works on a database and closes it.
async fn with_database<T>(db: Db, work: impl AsyncFnOnce(&Db) -> Result<T, Failure>) -> Result<T, Failure> {
    let done = work(&db).await;
    db.close().await;
    done
}

/// Opening a database of SQLite would make it.
fn must_exist(config: &Config) -> Result<(), Failure> {
    match database_file(config) {
        Some(path) if !path.exists() => Err(Failure::Failed(format!(
            "there is no database at {}; name the right one with --database or PLAUDIT_DATABASE_URL (that of \
             `plaudit demo` is --database {})",
            path.display(),
            demo::DATABASE
        ))),
        _ => Ok(()),
    }
}

/// The file of the database, where it is SQLite.
fn database_file(config: &Config) -> Option<&Path> {
    config.database.url.as_str().strip_prefix("sqlite:").map(Path::new)
}

/// The files that SQLite keeps for a database.
fn files_of(database: &Path) -> impl Iterator<Item = PathBuf> {
    ["", "-wal", "-shm", "-journal"].into_iter().map(|end| {
        let mut file = database.as_os_str().to_owned();
        file.push(end);
        file.into()
    })
}

/// What the service keeps for itself, as far as it is there: the database, the stored files and the configuration.
fn own_files(config: &Config) -> Vec<PathBuf> {
    let database = database_file(config).into_iter().flat_map(files_of);
    let storage = config.storage.url.strip_prefix("file:").map(PathBuf::from);
    let all = database.chain(storage).chain(config.file().map(Path::to_owned));
    all.filter_map(|path| path.canonicalize().ok()).collect()
}

/// Refuses to write a file where the database has its own.
fn spare_database(config: &Config, target: &Path) -> Result<(), Failure> {
    let Some(database) = database_file(config) else { return Ok(()) };
    // What does not exist yet is compared by the folder in which it would.
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)))
    };
    let target_place = place(target);
    if files_of(database).any(|own| target_place.is_some() && target_place == place(&own)) {
        return Err(Failure::Usage(format!("{} is a file of the database itself", target.display())));
    }
    Ok(())
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a file to read from; a folder is none.
fn open_file(path: &Path) -> Result<File, Failure> {
    let named = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(named)?;
    if file.metadata().map_err(named)?.is_dir() {
        return Err(named(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Opens the database, its schema up to date, and the file storage.
async fn open(config: &Config) -> Result<(Db, Storage), Failure> {
    Ok((open_database(config).await?, open_storage(config)?))
}

fn open_storage(config: &Config) -> Result<Storage, Failure> {
    Storage::open(&storage_settings(config)).map_err(|error| wrong_storage(config, error))
}

fn wrong_storage(config: &Config, error: impl std::fmt::Display) -> Failure {
    wrong(
        config,
        ("storage", "url"),
        error,
        "name a folder that may be written, or a bucket with keys that are good for it",
    )
}

/// The same to read from: neither is made.
async fn open_to_read(config: &Config) -> Result<(Db, Storage), Failure> {
    Ok((open_existing(config).await?, Storage::open_to_read(&storage_settings(config))?))
}

/// Where files are kept.
fn storage_settings(config: &Config) -> storage::Settings {
    let own = &config.storage;
    storage::Settings {
        url: own.url.clone(),
        endpoint: own.endpoint.clone(),
        region: own.region.clone(),
        access_key_id: own.access_key_id.clone(),
        secret_access_key: own.secret_access_key.clone(),
    }
}

fn lengths(config: &Config) -> Lengths {
    Lengths { answer: config.limits.field_answer_bytes, entry: config.limits.entry_bytes }
}

/// What a command's changes are logged as.
fn operator(clock: &Clock) -> Origin {
    Origin { actor: Actor::Operator, source: "system", at: clock.now() }
}

/// The account of this slug, which must exist.
async fn account_of(tx: &mut Tx, slug: Slug) -> Result<AccountId, Failure> {
    accounts::store::find(tx, slug).await?.ok_or_else(|| no_account(slug))
}

fn no_account(slug: Slug) -> Failure {
    Failure::Failed(format!("there is no account {slug}; `plaudit account list` shows those there are"))
}
