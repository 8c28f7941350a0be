//! The server's binary: its commands, and a running server.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::client::{self, Client};
use crate::context::Context;
use crate::machine::Processes;

/// How long a server may take until it is ready before the run is given up.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// How long a server may take to finish what it has accepted.
const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// An address on this machine that nobody listens on.
pub(crate) fn free_address() -> Result<SocketAddr> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // A connection that goes out takes no port of these between now and the start of the server.
    let first = u16::try_from(std::process::id() % 10_000)?;
    (0..10_000_u16)
        .map(|_| {
            SocketAddr::from((
                [127, 0, 0, 1],
                20_000 + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000,
            ))
        })
        .find(|address| TcpListener::bind(address).is_ok())
        .context("no port is free")
}

/// Fills a database with a synthetic account and returns the account's slug.
pub(crate) fn fill(context: &Context, url: &str, entries: u64, orders: u64) -> Result<String> {
    let (entries, orders) = (entries.to_string(), orders.to_string());
    let mut command = administration(context, url, &["fill", "--entries", &entries, "--orders", &orders])?;
    let output = text(&mut command)?;
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let slug = last.split_whitespace().next_back().unwrap_or_default();
    if slug.len() != 8 || !slug.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        bail!("`plaudit fill` does not end with the slug of its account, but with: {last}");
    }
    Ok(slug.to_owned())
}

/// Creates a key of an account that may read and write.
pub(crate) fn create_key(context: &Context, url: &str, account: &str) -> Result<String> {
    let words = ["key", "create", "--account", account, "--name", "bench", "--scope", "read_write"];
    let mut command = administration(context, url, &words)?;
    Ok(text(&mut command)?.trim().to_owned())
}

/// Exports an account into a file of JSON Lines.
pub(crate) fn export(context: &Context, url: &str, account: &str) -> Result<PathBuf> {
    let path = context.directory.join("export.jsonl");
    let mut command = administration(context, url, &["export", account])?;
    command.stdout(File::create(&path)?).stderr(Stdio::piped());
    check(&command.output().context("`plaudit export` does not start")?, "export")?;
    Ok(path)
}

/// A command that works on a database and ends.
fn administration(context: &Context, url: &str, words: &[&str]) -> Result<Command> {
    let program = context.binary.to_str().context("the path of the server is no text")?;
    if !context.binary.is_file() {
        bail!("{program} is missing: build it with `cargo build --release`");
    }
    let mut command = context.cores.on_all_cores(program);
    environment(context, &mut command);
    command.args(words).args(["--database", url]);
    Ok(command)
}

/// A clean environment in a directory of ours: a `plaudit.toml` or a variable of the caller's would change figures.
fn environment(context: &Context, command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PLAUDIT_")) {
            command.env_remove(name);
        }
    }
    command.current_dir(&context.directory).stdin(Stdio::null());
}

fn text(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    check(&output, &format!("{command:?}"))?;
    Ok(String::from_utf8(output.stdout)?)
}

fn check(output: &Output, name: &str) -> Result<()> {
    if !output.status.success() {
        bail!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// A running server; dropped, it is asked to stop and waited for.
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
    pub(crate) address: SocketAddr,
    metrics: SocketAddr,
    /// The time from the start of the process to the first answer that it is ready.
    pub(crate) ready_after: Duration,
}

impl Server {
    /// Starts a server on the core of the server and waits until it is ready.
    pub(crate) fn start(context: &Context, url: &str) -> Result<Self> {
        let program = context.binary.to_str().context("the path of the server is no text")?;
        let (address, metrics) = (free_address()?, free_address()?);
        let log = context.directory.join("server.log");
        let mut command = context.cores.on_server_core(program);
        environment(context, &mut command);
        command
            .args(["serve", "--database", url, "--listen", &address.to_string()])
            .args(["--base-url", &format!("http://{address}")])
            .arg("--storage")
            .arg(format!("file:{}", context.directory.join("files").display()))
            .env("PLAUDIT_METRICS_LISTEN", metrics.to_string())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).create(true).open(&log)?);
        let start = Instant::now();
        let child = command.spawn().with_context(|| format!("{program} does not start"))?;
        let mut server = Self { child, log, address, metrics, ready_after: Duration::ZERO };
        server.wait_until_ready(start)?;
        Ok(server)
    }

    fn wait_until_ready(&mut self, start: Instant) -> Result<()> {
        let request = client::get("/readyz", client::JSON, "none");
        loop {
            let answer = Client::connect(self.address).and_then(|mut client| client.ask(&request));
            if answer.is_ok_and(|answer| answer.status == 200) {
                self.ready_after = start.elapsed();
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended with {status}\n{}", self.end_of_log()?);
            }
            if start.elapsed() > START_PATIENCE {
                bail!("the server is not ready after {START_PATIENCE:?}\n{}", self.end_of_log()?);
            }
            thread::sleep(Duration::from_micros(500));
        }
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The processes to watch: the server, and the database server where there is one.
    pub(crate) fn processes(&self, postmaster: Option<u32>) -> Processes {
        Processes { alone: vec![self.id()], postmaster }
    }

    /// A measurement of the server, summed over its labels.
    pub(crate) fn metric(&self, name: &str) -> Result<f64> {
        let request = client::get("/metrics", "*/*", "none");
        let answer = Client::connect(self.metrics)?.ask_ok(&request)?;
        sum(&String::from_utf8(answer.body)?, name)
    }

    /// The last lines of the log, for a message.
    pub(crate) fn end_of_log(&self) -> Result<String> {
        let log = fs::read_to_string(&self.log)?;
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        Ok(lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }

    /// Stops the server as an operator does.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.terminate()
    }

    fn terminate(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                self.child.kill()?;
                self.child.wait()?;
                bail!("the server did not stop within {STOP_PATIENCE:?}");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` this does nothing; on the way out of a failure there is nothing left to report to.
        drop(self.terminate());
    }
}

/// The sum of a measurement over all its labels.
fn sum(text: &str, wanted: &str) -> Result<f64> {
    let mut found = None;
    for line in text.lines() {
        let Some((name, value)) = line.rsplit_once(' ') else { continue };
        if name.split('{').next() == Some(wanted) {
            found = Some(found.unwrap_or(0.0) + value.parse::<f64>()?);
        }
    }
    found.with_context(|| format!("the metrics of the server have no {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_is_summed_over_its_labels() {
        let text = "# TYPE statements_total counter\nstatements_total{kind=\"a\"} 3\nstatements_total{kind=\"b\"} 4\n\
                    statements_total_more 9\n";
        assert!((sum(text, "statements_total").unwrap() - 7.0).abs() < 1e-9);
        assert!(sum("nothing 1\n", "statements_total").is_err());
    }
}
