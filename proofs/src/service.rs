//! The service as its operator and its clients have it: a binary, a command line, an address. The proofs know no more.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::{Context, Engine, Verdict};
use crate::process;

mod client;
mod program;

pub(crate) use client::{Answer, Client, JSON, XML};
pub(crate) use program::{HOSTILE_NAMES, Kind, NO_LIMIT, Program, field};

/// How long the service may take until it answers.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// Another process can take the free port between its choice and the start of the service, so the start is repeated.
const START_ATTEMPTS: u32 = 3;

/// What starts a command that has its own file of hosts: the file is the first argument, and the command follows.
pub(crate) const WITH_HOSTS: [&str; 5] =
    ["unshare", "--mount", "sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""];

/// One installation of the service in a directory and on a database of its own.
pub(crate) struct Service {
    binary: PathBuf,
    directory: TempDir,
    database: String,
    port: u16,
    metrics: u16,
    core: Option<usize>,
    descriptors: Option<u32>,
    hosts: Option<PathBuf>,
    environment: Vec<(&'static str, String)>,
    running: Option<Child>,
}

/// A command that has ended.
pub(crate) struct Finished {
    /// The exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed to standard output.
    pub(crate) stdout: Vec<u8>,
    /// What it printed to standard error.
    pub(crate) stderr: String,
    /// The most memory that it held at any time, in bytes.
    pub(crate) peak_memory: u64,
}

impl Service {
    /// An installation with nothing in it yet, not running.
    pub(crate) fn new(context: &Context, engine: Engine) -> Result<Self> {
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let directory = context.scratch()?;
        let database = match engine {
            Engine::Sqlite => format!("sqlite:{}", directory.path().join("plaudit.db").display()),
            Engine::Postgres => {
                let number = DATABASES.fetch_add(1, Ordering::Relaxed);
                context.postgres()?.create(&format!("proof_{}_{number}", std::process::id()))?
            }
        };
        Self::at(context, directory, database)
    }

    /// The same in this directory and on this database.
    pub(crate) fn at(context: &Context, directory: TempDir, database: String) -> Result<Self> {
        let (binary, environment) = (context.binary()?, Vec::new());
        Ok(Self {
            binary,
            directory,
            database,
            port: 0,
            metrics: 0,
            core: None,
            descriptors: None,
            hosts: None,
            environment,
            running: None,
        })
    }

    /// One that has imported this program and is running.
    pub(crate) fn with(context: &Context, engine: Engine, programs: &[&Program]) -> Result<Self> {
        let mut service = Self::new(context, engine)?;
        for program in programs {
            service.import(program)?;
        }
        service.start()?;
        Ok(service)
    }

    /// The directory that everything of this installation is in.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Imports a program, which must succeed.
    pub(crate) fn import(&self, program: &Program) -> Result<()> {
        let file = self.directory().join(format!("{}.jsonl", program.account));
        program.write(&file)?;
        self.import_file(&file)?.succeeded().map(drop)
    }

    /// Imports a file and returns how that went.
    pub(crate) fn import_file(&self, file: &Path) -> Result<Finished> {
        self.run(&["import", &file.to_string_lossy()])
    }

    /// Exports a whole account, which must succeed.
    pub(crate) fn export(&self, account: &str) -> Result<Vec<u8>> {
        Ok(self.run(&["export", account])?.succeeded()?.stdout)
    }

    /// Makes a key of a scope.
    pub(crate) fn key(&self, account: &str, scope: &str) -> Result<String> {
        let made =
            self.run(&["key", "create", "--account", account, "--name", "proof", "--scope", scope])?.succeeded()?;
        let key = String::from_utf8(made.stdout)?.trim().to_owned();
        if key.is_empty() || key.contains(char::is_whitespace) {
            bail!("`key create` did not print the key alone: {key:?}");
        }
        Ok(key)
    }

    /// Runs a command of the binary on this installation's database and waits for its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Finished> {
        let (stdout, stderr) = (tempfile::NamedTempFile::new_in(self.directory())?, self.log("command"));
        let mut command = self.command(arguments);
        command.stdout(stdout.reopen()?).stderr(File::create(&stderr)?);
        let mut child = command.spawn().with_context(|| format!("{} cannot be started", self.binary.display()))?;
        let mut peak_memory = 0;
        let status = loop {
            peak_memory = peak_memory.max(peak_memory_of(child.id()));
            if let Some(status) = child.try_wait()? {
                break status;
            }
            thread::sleep(Duration::from_millis(2));
        };
        Ok(Finished {
            code: status.code(),
            stdout: fs::read(stdout.path())?,
            stderr: String::from_utf8_lossy(&fs::read(&stderr)?).into_owned(),
            peak_memory,
        })
    }

    /// Changes the database behind the service's back.
    pub(crate) fn tamper(&self, context: &Context, statements: &str) -> Result<()> {
        const SCRIPT: &str = "import sqlite3, sys; sqlite3.connect(sys.argv[1], 60).executescript(sys.argv[2])";
        if let Some(path) = self.database.strip_prefix("sqlite:") {
            process::output(Command::new(context.python()?).args(["-c", SCRIPT, path, statements]))?;
        } else {
            let name = self.database.rsplit('/').next().unwrap_or_default();
            context.postgres()?.psql(name, statements)?;
        }
        Ok(())
    }

    /// Asks the database behind the service's back for one value.
    pub(crate) fn ask(&self, context: &Context, query: &str) -> Result<String> {
        const SCRIPT: &str =
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])";
        let answer = if let Some(path) = self.database.strip_prefix("sqlite:") {
            process::output(Command::new(context.python()?).args(["-c", SCRIPT, path, query]))?
        } else {
            let name = self.database.rsplit('/').next().unwrap_or_default();
            context.postgres()?.psql(name, query)?
        };
        Ok(answer.trim().to_owned())
    }

    /// What PostgreSQL dumps of the database; nothing for SQLite.
    pub(crate) fn dump(&self, context: &Context) -> Result<Option<String>> {
        let name = self.database.rsplit('/').next().unwrap_or_default();
        if self.database.starts_with("sqlite:") { Ok(None) } else { context.postgres()?.dump(name).map(Some) }
    }

    /// Starts the service, at the port that it had before if it had one, and waits until it is ready.
    pub(crate) fn start(&mut self) -> Result<()> {
        let mut attempt = 1;
        loop {
            if self.port == 0 {
                self.port = free_port()?;
            }
            match self.launch() {
                Ok(()) => return Ok(()),
                Err(error) if attempt == START_ATTEMPTS => return Err(error),
                Err(_) => {
                    self.kill()?;
                    self.port = 0;
                    attempt += 1;
                }
            }
        }
    }

    /// Has the measurements served from the next start on.
    pub(crate) fn measure(&mut self) -> Result<()> {
        self.metrics = free_port()?;
        Ok(())
    }

    /// What is measured, as Prometheus reads it.
    pub(crate) fn metrics(&self) -> Result<String> {
        let metrics = Client::bare(&format!("http://127.0.0.1:{}", self.metrics));
        Ok(metrics.get("/metrics")?.expect_status(200)?.text())
    }

    /// A figure that is measured.
    pub(crate) fn figure(&self, name: &str) -> Result<u64> {
        let text = self.metrics()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(line.with_context(|| format!("{name} is not measured"))?.parse()?)
    }

    /// Another node of the service on the same database, running; it is measured where this one is.
    pub(crate) fn beside(&self) -> Result<Self> {
        self.beside_of(self.binary.clone())
    }

    /// The same of another version.
    pub(crate) fn beside_of(&self, binary: PathBuf) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("plaudit-proof-").tempdir()?;
        let database = self.database.clone();
        let environment = self.environment.clone();
        let mut node = Self {
            binary,
            directory,
            database,
            port: 0,
            metrics: if self.metrics == 0 { 0 } else { free_port()? },
            core: None,
            descriptors: None,
            hosts: None,
            environment,
            running: None,
        };
        node.start()?;
        Ok(node)
    }

    /// Sets a variable for every command and start from now on.
    pub(crate) fn set(&mut self, variable: &'static str, value: &str) {
        self.environment.retain(|(name, _)| *name != variable);
        self.environment.push((variable, value.to_owned()));
    }

    /// The most memory that the running service held at any time, in bytes.
    pub(crate) fn peak_memory(&self) -> Result<u64> {
        let running = self.running.as_ref().context("the service does not run")?;
        Ok(peak_memory_of(running.id()))
    }

    /// The memory that the running service holds, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        let running = self.running.as_ref().context("the service does not run")?;
        Ok(memory_of(running.id(), "VmRSS:"))
    }

    /// From the next start on the service has this core and no other.
    pub(crate) fn keep_to_core(&mut self, core: usize) {
        self.core = Some(core);
    }

    /// From the next start on the service has so many descriptors.
    pub(crate) fn limit_descriptors(&mut self, descriptors: u32) {
        self.descriptors = Some(descriptors);
    }

    /// From the next start on the service finds hosts in this file in place of the machine's own. A process that may not mount
    /// cannot have that.
    pub(crate) fn find_hosts_in(&mut self, file: &Path) {
        self.hosts = Some(file.to_owned());
    }

    /// Where the service listens.
    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The process that serves, while there is one.
    pub(crate) fn process(&self) -> Option<u32> {
        self.running.as_ref().map(Child::id)
    }

    /// Asks the service to end, and waits until it has; it must end well.
    pub(crate) fn stop(&mut self) -> Result<()> {
        let Some(mut child) = self.running.take() else { bail!("the service is not running") };
        process::output(Command::new("kill").args(["-TERM", &child.id().to_string()]))?;
        let status = child.wait()?;
        if !status.success() {
            bail!("the service was asked to end and did so with {status}:\n{}", self.last_words());
        }
        Ok(())
    }

    /// Ends the service as a power failure would.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.running.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// A client that sends this key and asks for JSON.
    pub(crate) fn client(&self, key: &str) -> Client {
        self.bare().with("accept", JSON).with("x-api-key", key)
    }

    /// A client that sends nothing by itself.
    pub(crate) fn bare(&self) -> Client {
        Client::bare(&self.base())
    }

    /// The address of the service.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The last lines that the service wrote, for a failure report.
    pub(crate) fn last_words(&self) -> String {
        let written = fs::read(self.log("serve")).unwrap_or_default();
        let written = String::from_utf8_lossy(&written).into_owned();
        let lines: Vec<_> = written.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn launch(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.log("serve"))?;
        let mut command = self.command(&["serve", "--listen", &format!("127.0.0.1:{}", self.port)]);
        if let Some(core) = self.core {
            command = started_by(&["taskset", "--cpu-list", &core.to_string()], &command);
        }
        if let Some(hosts) = &self.hosts {
            command = started_by(&[&WITH_HOSTS[..], &[&*hosts.to_string_lossy()]].concat(), &command);
        }
        if let Some(descriptors) = self.descriptors {
            let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
            command = started_by(&["sh", "-c", &script], &command);
        }
        command.stdout(log.try_clone()?).stderr(log);
        if self.metrics != 0 {
            command.env("PLAUDIT_METRICS_LISTEN", format!("127.0.0.1:{}", self.metrics));
        }
        self.running = Some(command.spawn().with_context(|| format!("{} cannot be started", self.binary.display()))?);
        let (client, deadline) = (self.bare(), Instant::now() + START_PATIENCE);
        while !client.get("/readyz").is_ok_and(|answer| answer.status == 200) {
            if let Some(status) = self.running.as_mut().map(Child::try_wait).transpose()?.flatten() {
                bail!("the service ended by itself ({status}):\n{}", self.last_words());
            }
            if Instant::now() > deadline {
                bail!("the service is not ready after {} s:\n{}", START_PATIENCE.as_secs(), self.last_words());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.directory()).stdin(Stdio::null());
        // A bundle is verified without a database, and the option would be refused.
        if arguments.first() != Some(&"verify-result") {
            command.args(["--database", &self.database]);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PLAUDIT_") {
                command.env_remove(name);
            }
        }
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }

    fn log(&self, of: &str) -> PathBuf {
        self.directory().join(format!("{of}.log"))
    }
}

/// The same command, started by another that gives its process to it.
fn started_by(starter: &[&str], command: &Command) -> Command {
    let mut kept = Command::new(starter[0]);
    kept.args(&starter[1..]).arg(command.get_program()).args(command.get_args());
    kept.stdin(Stdio::null());
    if let Some(directory) = command.get_current_dir() {
        kept.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => kept.env(name, value),
            None => kept.env_remove(name),
        };
    }
    kept
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Finished {
    /// This, if the exit code is 0; an error with what it wrote if not.
    pub(crate) fn succeeded(self) -> Result<Self> {
        if self.code != Some(0) {
            bail!("a command ended with {:?}: {}", self.code, self.stderr.trim());
        }
        Ok(self)
    }

    /// The last line of standard output or, where that is empty, of standard error.
    pub(crate) fn last_line(&self) -> String {
        let stdout = String::from_utf8_lossy(&self.stdout).into_owned();
        let last = |text: &str| text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned);
        last(&stdout).or_else(|| last(&self.stderr)).unwrap_or_default()
    }
}

/// What was looked at and what of it was not as it must be.
#[derive(Default)]
pub(crate) struct Checks {
    made: usize,
    failed: usize,
    first: Option<String>,
}

impl Checks {
    /// Notes one check; the first failures are printed as they come.
    pub(crate) fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.made += 1;
        if holds {
            return;
        }
        self.failed += 1;
        let what = what();
        if self.failed <= 10 {
            println!("  not so: {what}");
        }
        self.first.get_or_insert(what);
    }

    /// Whether nothing has failed yet.
    pub(crate) fn all_hold(&self) -> bool {
        self.failed == 0
    }

    /// The verdict: the figure, or the number of failures and the first of them.
    pub(crate) fn verdict(self, figure: &str) -> Verdict {
        match self.first {
            None => Verdict::new(true, format!("{figure}, {} checks", self.made)),
            Some(first) => {
                let first: String =
                    first.chars().take(160).map(|letter| if letter == '\n' { ' ' } else { letter }).collect();
                Verdict::new(false, format!("{} of {} checks failed, first: {first}", self.failed, self.made))
            }
        }
    }
}

/// Numbers that look random and are the same from the same seed.
pub(crate) struct Random(u64);

impl Random {
    /// A sequence of its own for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below the bound; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        u32::try_from(mixed % u64::from(bound.max(1))).unwrap_or_default()
    }
}

/// Shows a claim on every engine that was asked for; it holds where it holds on each.
pub(crate) fn on_each_engine(context: &Context, show: fn(&Context, Engine) -> Result<Verdict>) -> Result<Verdict> {
    let mut whole = Verdict::new(true, "");
    for engine in context.engines() {
        let verdict = show(context, engine).with_context(|| format!("on {}", engine.name()))?;
        println!("  {}: {}", engine.name(), verdict.figure);
        whole.holds &= verdict.holds;
        let separator = if whole.figure.is_empty() { "" } else { "; " };
        whole.figure = format!("{}{separator}{}: {}", whole.figure, engine.name(), verdict.figure);
    }
    Ok(whole)
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The high-water mark of a process's memory in bytes; 0 where the system does not tell or the process has ended.
pub(crate) fn peak_memory_of(process: u32) -> u64 {
    memory_of(process, "VmHWM:")
}

/// A line of what the system tells of a process's memory, in bytes.
pub(crate) fn memory_of(process: u32, line: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or_default() * 1024
}
