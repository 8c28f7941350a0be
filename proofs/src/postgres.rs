//! A private PostgreSQL: a new cluster in a temporary directory, gone when it is dropped or when this program dies.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::process;

mod programs;

/// How long a server may take until it accepts connections, crash recovery included.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// Another process can take the free port between its choice and the start of the server, so the start is repeated.
const START_ATTEMPTS: u32 = 3;

/// What a server does without that need not outlive its machine. What it has committed outlives its own end.
const FAST_SETTINGS: &[&str] = &["fsync=off", "full_page_writes=off"];

/// Where Linux has files in memory.
const MEMORY: &str = "/dev/shm";
/// The room that it must have, in KiB.
const ROOM: u64 = 4 << 20;

/// Outlives this program by the moment it takes to stop the server and remove its directory: it waits for the end of
/// its standard input, which comes however this program ends.
const WATCHDOG: &str = r#"
read -r _
kill -QUIT "$1" 2>/dev/null
attempts=0
while kill -0 "$1" 2>/dev/null && [ "$attempts" -lt 100 ]; do sleep 0.1; attempts=$((attempts + 1)); done
rm -rf -- "$2"
"#;

/// A running private server.
pub struct Postgres {
    programs: PathBuf,
    directory: TempDir,
    user: Option<User>,
    durable: bool,
    port: Mutex<u16>,
    running: Mutex<Option<Running>>,
}

/// The account that the server runs under where this program runs as root, which PostgreSQL refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct User {
    uid: u32,
    gid: u32,
}

struct Running {
    server: Child,
    watchdog: Child,
}

/// The folder in memory, where it has room.
fn folder_in_memory() -> Option<&'static str> {
    let shown = process::output(Command::new("df").args(["--output=avail", "--block-size=1K", MEMORY])).ok()?;
    let room: u64 = shown.lines().nth(1)?.trim().parse().ok()?;
    (room >= ROOM).then_some(MEMORY)
}

impl Postgres {
    /// Makes a cluster and starts a server on it. A durable one has the settings of a production server; the other
    /// one never waits for the disk, which a suite of tests does not need.
    pub fn start(durable: bool) -> Result<Self> {
        let programs = programs::find_or_install()?;
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("plaudit-postgres-");
        // A server for tests makes and drops hundreds of databases, which memory does in a third of the time.
        let directory = match folder_in_memory().filter(|_| !durable) {
            Some(memory) => builder.tempdir_in(memory)?,
            None => builder.tempdir()?,
        };
        let user = if own_user()? == 0 { Some(unprivileged_user()?) } else { None };
        if let Some(user) = user {
            chown(directory.path(), Some(user.uid), Some(user.gid))?;
        }
        let postgres = Self { programs, directory, user, durable, port: Mutex::new(0), running: Mutex::new(None) };
        postgres.initialise()?;
        postgres.launch_at_a_free_port()?;
        Ok(postgres)
    }

    /// The address of a database on this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port())
    }

    /// Makes a database and returns its address.
    pub fn create(&self, database: &str) -> Result<String> {
        self.psql("postgres", &format!("CREATE DATABASE \"{database}\""))?;
        Ok(self.url(database))
    }

    /// Makes a database whose tables are in a folder of its own, which is made for it, and returns its address.
    pub fn create_in(&self, database: &str, folder: &Path) -> Result<String> {
        fs::create_dir(folder)?;
        if let Some(user) = self.user {
            chown(folder, Some(user.uid), Some(user.gid))?;
        }
        self.psql("postgres", &format!("CREATE TABLESPACE \"{database}\" LOCATION '{}'", folder.display()))?;
        self.psql("postgres", &format!("CREATE DATABASE \"{database}\" TABLESPACE \"{database}\""))?;
        Ok(self.url(database))
    }

    /// Runs statements with `psql` and returns the rows, one a line, columns parted by `|`.
    pub fn psql(&self, database: &str, statements: &str) -> Result<String> {
        let mut command = self.program("psql");
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]);
        process::output(command.args(["--dbname", &self.url(database), "--command", statements]))
    }

    /// Everything that a database has, as `pg_dump` writes it.
    pub fn dump(&self, database: &str) -> Result<String> {
        let mut command = self.program("pg_dump");
        process::output(command.args(["--inserts", "--dbname", &self.url(database)]))
    }

    /// What the server has written to its log.
    pub fn written(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.log())?).into_owned())
    }

    /// Kills the server as a power failure would, with no time to write anything.
    pub fn crash(&self) -> Result<()> {
        let Some(mut running) = self.take() else { bail!("the private PostgreSQL is not running") };
        // The watchdog goes first: it would remove the directory that the server is to be started on again.
        running.watchdog.kill()?;
        running.watchdog.wait()?;
        running.server.kill()?;
        running.server.wait()?;
        Ok(())
    }

    /// Starts the server again after [`Postgres::crash`], at the same port, and waits until it has recovered.
    pub fn restart(&self) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        // The old server's children hold its shared memory until they notice that it is gone, and a start is refused.
        loop {
            match self.launch(self.port()) {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Has the server started again with a certificate and its key, and take none but connections by TLS: of `secured` with a
    /// certificate of the authority for that name, of everybody else without. All three are texts in PEM.
    pub fn demand_tls(&self, certificate: &str, key: &str, authority: &str) -> Result<()> {
        let rules = "local all all trust\nhostssl all secured 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 trust\n";
        let settings = "ssl = on\nssl_ca_file = 'authority.crt'\n";
        for (name, text) in [
            ("server.crt", certificate),
            ("server.key", key),
            ("authority.crt", authority),
            ("pg_hba.conf", rules),
            ("postgresql.auto.conf", settings),
        ] {
            let file = self.data().join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
            if let Some(user) = self.user {
                chown(&file, Some(user.uid), Some(user.gid))?;
            }
        }
        self.crash()?;
        self.restart()
    }

    /// The port that the server listens at.
    pub fn port(&self) -> u16 {
        *self.port.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// One of the programs of the installation, to be run as the user that owns the cluster.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        // Certificates of whoever runs this may not be read by that user.
        command.env("HOME", self.directory.path());
        // Settings of somebody's own server must not reach the private one.
        for name in ["PGDATA", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS", "PGSERVICE", "PGPASSWORD"] {
            command.env_remove(name);
        }
        if let Some(user) = self.user {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }

    fn initialise(&self) -> Result<()> {
        let mut command = self.program("initdb");
        command.arg("--pgdata").arg(self.data());
        command.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
        if !self.durable {
            command.arg("--no-sync");
        }
        process::output(&mut command).context("the private PostgreSQL cannot be made")?;
        Ok(())
    }

    fn launch_at_a_free_port(&self) -> Result<()> {
        let mut attempt = 1;
        loop {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            *self.port.lock().unwrap_or_else(PoisonError::into_inner) = port;
            match self.launch(port) {
                Ok(()) => return Ok(()),
                Err(error) if attempt == START_ATTEMPTS => return Err(error),
                Err(_) => attempt += 1,
            }
        }
    }

    fn launch(&self, port: u16) -> Result<()> {
        let log = File::create(self.log())?;
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.directory.path()).arg("-p").arg(port.to_string());
        let always = ["listen_addresses=127.0.0.1", "max_connections=200", "logging_collector=off"];
        for setting in always.iter().chain(if self.durable { &[] } else { FAST_SETTINGS }) {
            command.args(["-c", setting]);
        }
        command.stdout(log.try_clone()?).stderr(log);
        // In a process group of its own, an interrupt from the keyboard reaches it through the watchdog alone.
        let mut server = command.process_group(0).spawn().context("the private PostgreSQL cannot be started")?;
        if let Err(error) = self.wait_until_ready(&mut server) {
            server.kill()?;
            server.wait()?;
            return Err(error);
        }
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "sh"])
            .arg(server.id().to_string())
            .arg(self.directory.path())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("sh cannot be started")?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { server, watchdog });
        Ok(())
    }

    /// The server writes its state as the eighth line of its pid file, below its own process id in the first.
    fn wait_until_ready(&self, server: &mut Child) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        let own_id = server.id().to_string();
        loop {
            if let Some(status) = server.try_wait()? {
                let log = fs::read_to_string(self.log()).unwrap_or_default();
                bail!("the private PostgreSQL did not start ({status}): {}", log.trim());
            }
            let state = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            let lines: Vec<&str> = state.lines().map(str::trim).collect();
            if lines.first() == Some(&own_id.as_str()) && lines.get(7) == Some(&"ready") {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("the private PostgreSQL is not ready after {} s", START_PATIENCE.as_secs());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut running) = self.take() {
            drop(running.watchdog.stdin.take());
            let _ = running.server.wait();
            let _ = running.watchdog.wait();
        }
    }
}

/// Runs a command beside a private server, whose address it finds in `PLAUDIT_TEST_POSTGRES`, and passes on its exit.
pub fn run_beside(command: &[String]) -> Result<ExitCode> {
    let Some((program, arguments)) = command.split_first() else { bail!("there is no command to run") };
    let postgres = Postgres::start(false)?;
    let status = Command::new(program)
        .args(arguments)
        .env("PLAUDIT_TEST_POSTGRES", postgres.url("postgres"))
        .status()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The user that this program runs as: the owner of a file that it has just made.
fn own_user() -> Result<u32> {
    Ok(tempfile::tempfile()?.metadata()?.uid())
}

fn unprivileged_user() -> Result<User> {
    let accounts = fs::read_to_string("/etc/passwd").context("the accounts of this machine cannot be read")?;
    let found = find_user(&accounts, "postgres").or_else(|| find_user(&accounts, "nobody"));
    found.context("PostgreSQL does not run as root, and there is neither a user `postgres` nor a user `nobody`")
}

fn find_user(accounts: &str, name: &str) -> Option<User> {
    let account =
        accounts.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|account| account[0] == name)?;
    Some(User { uid: account.get(2)?.parse().ok()?, gid: account.get(3)?.parse().ok()? })
}

/// Whether a file is there and may be executed.
fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name() {
        let accounts = "daemon:x:1:1:daemon:/:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n";
        assert_eq!(find_user(accounts, "nobody"), Some(User { uid: 65534, gid: 65533 }));
        assert_eq!(find_user(accounts, "postgres"), None);
    }
}
