//! The machine: its cores, what a process has used of them, and its description for the report.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;

/// Linux shows processor time to user space in hundredths of a second on every architecture.
const TICKS_A_SECOND: f64 = 100.0;

/// Where the server and the load generator run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores {
    /// The core of the server and of the limit.
    pub(crate) server: Option<usize>,
    /// The core of this process: the load generator and the bare baselines.
    pub(crate) generator: Option<usize>,
    /// Every core that this process was allowed before it was pinned.
    pub(crate) all: Option<String>,
}

impl Cores {
    /// Chooses two cores among those that this process may use, or none, with the reason.
    pub(crate) fn choose() -> Result<Self, String> {
        let has_taskset = Command::new("taskset")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !has_taskset {
            return Err("`taskset` (util-linux) is missing: nothing is pinned to a core".to_owned());
        }
        let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
        let list = member(&status, "Cpus_allowed_list:").unwrap_or_default().to_owned();
        match parse_cores(&list).as_slice() {
            [server, generator, ..] => Ok(Self { server: Some(*server), generator: Some(*generator), all: Some(list) }),
            _ => Err("one core only: the server and the load generator share it".to_owned()),
        }
    }

    /// A command that runs `program` on the core of the server.
    pub(crate) fn on_server_core(&self, program: &str) -> Command {
        pinned(program, self.server.map(|core| core.to_string()))
    }

    /// A command that runs `program` on every core.
    pub(crate) fn on_all_cores(&self, program: &str) -> Command {
        pinned(program, self.all.clone())
    }
}

/// A command that `taskset` replaces itself with, so that its process id is the program's.
fn pinned(program: &str, list: Option<String>) -> Command {
    let Some(list) = list else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &list, program]);
    command
}

/// Reads the kernel's form of a set of cores, `0-2,5`.
fn parse_cores(set: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for part in set.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse(), last.trim().parse::<usize>()) {
            cores.extend(first..=last);
        }
    }
    cores
}

/// The processes whose processor time counts for a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// Counted each for itself.
    pub(crate) alone: Vec<u32>,
    /// A PostgreSQL server: its connections and what writes its log for them are counted.
    pub(crate) postmaster: Option<u32>,
}

/// The housekeeping of PostgreSQL, which goes on for a while after a database was filled.
const NOT_OF_A_REQUEST: [&str; 5] =
    ["autovacuum", "checkpointer", "background writer", "logical replication", "logger"];

impl Processes {
    /// Seconds of processor time used so far, in user and kernel mode.
    pub(crate) fn seconds(&self) -> Result<f64> {
        let mut seconds = 0.0;
        for id in &self.alone {
            seconds += Stat::read(*id)?.seconds;
        }
        for id in self.connections()? {
            // A connection may have ended since the list was read.
            seconds += Stat::read(id).map_or(0.0, |stat| stat.seconds);
        }
        Ok(seconds)
    }

    /// The threads that there are now, to be watched request by request.
    pub(crate) fn threads(&self) -> Result<Threads> {
        let mut files = Vec::new();
        for id in self.alone.iter().copied().chain(self.connections()?) {
            let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { continue };
            for thread in threads {
                files.push(thread?.path().join("schedstat"));
            }
        }
        Ok(Threads(files))
    }

    /// The processor time used so far, to the nanosecond, by the threads that there are now.
    pub(crate) fn used(&self) -> Result<Duration> {
        Ok(self.threads()?.used())
    }

    /// The processes of PostgreSQL that count.
    fn connections(&self) -> Result<Vec<u32>> {
        let Some(postmaster) = self.postmaster else { return Ok(Vec::new()) };
        let mut connections = children(postmaster)?;
        connections.retain(|id| {
            let title = fs::read_to_string(format!("/proc/{id}/cmdline"));
            title.is_ok_and(|title| !NOT_OF_A_REQUEST.iter().any(|name| title.contains(name)))
        });
        Ok(connections)
    }
}

/// Threads whose processor time is watched, to the nanosecond.
pub(crate) struct Threads(Vec<PathBuf>);

impl Threads {
    /// The processor time that they have used so far; a thread that has ended counts no more.
    pub(crate) fn used(&self) -> Duration {
        let nanoseconds = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or_default()
        };
        Duration::from_nanos(self.0.iter().map(nanoseconds).sum())
    }
}

/// What `/proc/ID/stat` tells of a process.
struct Stat {
    parent: u32,
    seconds: f64,
}

impl Stat {
    fn read(id: u32) -> Result<Self> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).with_context(|| format!("process {id} has ended"))?;
        // The name, in parentheses, may hold blanks: fields are counted from behind it.
        let (_, fields) = text.rsplit_once(')').context("/proc/ID/stat has no name")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |index: usize| -> Result<u32> {
            fields.get(index).context("/proc/ID/stat is short")?.parse().context("/proc/ID/stat holds no number")
        };
        let ticks = f64::from(number(11)?) + f64::from(number(12)?);
        Ok(Self { parent: number(1)?, seconds: ticks / TICKS_A_SECOND })
    }
}

/// The parent of a process.
pub(crate) fn parent(id: u32) -> Result<u32> {
    Ok(Stat::read(id)?.parent)
}

fn children(parent: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if Stat::read(id).is_ok_and(|stat| stat.parent == parent) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The memory of a process that is in use, in bytes.
pub(crate) fn resident_bytes(id: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let text = member(&status, "VmRSS:").context("/proc/ID/status has no VmRSS")?;
    let kibibytes: u64 = text.trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}

fn member<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The machine as the report names it.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    processor: String,
    cores: usize,
    memory_bytes: u64,
    kernel: String,
    pinned: bool,
}

impl Machine {
    /// Reads what the kernel tells.
    pub(crate) fn describe(cores: &Cores) -> Self {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = processors
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .and_then(|rest| rest.split_once(':'))
            .map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kibibytes: u64 = member(&memory, "MemTotal:")
            .and_then(|text| text.trim_end_matches("kB").trim().parse().ok())
            .unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
        let count = cores
            .all
            .as_deref()
            .map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), |list| parse_cores(list).len());
        Self { processor, cores: count, memory_bytes: kibibytes * 1024, kernel, pinned: cores.server.is_some() }
    }

    /// One line for the head of the table.
    pub(crate) fn line(&self) -> String {
        let gibibytes = self.memory_bytes >> 30;
        let pinned = if self.pinned { "pinned" } else { "not pinned" };
        format!("{}, {} cores, {gibibytes} GiB, Linux {}, {pinned}", self.processor, self.cores, self.kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_uses_is_counted() {
        let own = Processes { alone: vec![std::process::id()], postmaster: None }.threads().unwrap();
        let before = own.used();
        // The kernel counts at its own ticks while a thread runs.
        let is_counted = (0..1_000_000).any(|_| own.used() > before);
        assert!(is_counted);
    }

    #[test]
    fn the_kernels_form_of_a_set_of_cores_is_read() {
        assert_eq!(parse_cores("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_cores("3"), [3]);
        assert!(parse_cores("").is_empty());
    }
}
