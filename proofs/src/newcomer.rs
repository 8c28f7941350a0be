//! The README's two commands as a new user runs them: in a fresh clone, with an empty home, and then what they print.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use super::service::{Checks, Client, JSON};
use super::{Context, Proof, Verdict};
use crate::process;

/// What the README says works.
pub(crate) const PROOF: Proof = Proof {
    name: "newcomer",
    claim: "In a fresh clone the README's first command serves a demonstration, and the commands that it prints work.",
    run,
};

/// What the first command builds the program with; the short form takes the one that is built already.
const BUILDS: &str = "cargo run --release --";

/// The second command of the README: it passes the tests.
const TEST: &str = "cargo xtask test";

/// How long the first command may take: it may have to build everything.
const BUILD_PATIENCE: Duration = Duration::from_mins(30);

/// Nothing more is printed when nothing was printed for this long after the commands.
const QUIET: Duration = Duration::from_millis(1500);

/// A fresh clone and an empty home.
struct Machine {
    clone: PathBuf,
    built: Option<PathBuf>,
    directory: TempDir,
}

/// A running demonstration and what it printed.
struct Demo {
    process: Child,
    printed: String,
}

fn run(context: &Context) -> Result<Verdict> {
    let machine = Machine::new(context)?;
    let readme = fs::read_to_string(machine.clone.join("README.md")).context("the clone has no README.md")?;
    let commands = commands_of(&readme);
    let first = commands.first().context("README.md has no command")?;
    let mut checks = Checks::default();
    checks.check(commands.iter().any(|command| command == TEST), || format!("README.md does not have `{TEST}`"));

    let demo = machine.demonstrate(first)?;
    let copied = printed_commands(&demo.printed);
    checks.check(copied.len() >= 5, || format!("{} curl commands were printed: {}", copied.len(), demo.printed));
    for scope in ["read", "read_write"] {
        checks.check(demo.printed.contains(scope), || format!("no key of scope {scope} was printed"));
    }
    for command in &copied {
        let (status, body) = machine.curl(command)?;
        println!("  {status} {command}");
        checks.check((200..300).contains(&status), || format!("{status} from {command}: {body}"));
    }
    let (base, key) = address_and_key(&copied)?;
    let client = Client::bare(&base).with("accept", JSON).with("x-api-key", &key);
    let wrong = client.with("accept", "application/json").get("/order")?;
    checks.check(wrong.status == 400 && wrong.is_envelope(), || {
        format!("a wrong call: {} {}", wrong.status, wrong.text())
    });
    checks.check(client.without("x-api-key").get("/order")?.status == 401, || "no key is not 401".to_owned());
    checks.check(machine.clone.join("plaudit-demo").is_dir(), || "the database is not under ./plaudit-demo".to_owned());
    let before = client.get("/order?per_page=100&season=all")?.expect_status(200)?;
    drop(demo);

    let again = machine.demonstrate(first)?;
    let (base, _) = address_and_key(&printed_commands(&again.printed)).unwrap_or((base, String::new()));
    let client = Client::bare(&base).with("accept", JSON).with("x-api-key", &key);
    let after = client.get("/order?per_page=100&season=all")?;
    checks.check(after.status == 200 && after.json()?["total"] == before.json()?["total"], || {
        format!("the second run does not go on with what it has: {} {}", after.status, after.text())
    });
    drop(again);
    if !context.short {
        let status = machine.shell(TEST).status()?;
        checks.check(status.success(), || format!("`{TEST}` ended with {status}"));
    }
    Ok(checks.verdict(&format!("`{first}`: {} printed commands work, a second run goes on", copied.len())))
}

impl Machine {
    /// Clones the repository. In the short form the clone is served by the program that is built already.
    fn new(context: &Context) -> Result<Self> {
        let directory = context.scratch()?;
        let clone = directory.path().join("plaudit");
        let mut git = Command::new("git");
        process::output(git.args(["clone", "--quiet", "--no-hardlinks"]).arg(&context.root).arg(&clone))?;
        fs::create_dir(directory.path().join("home"))?;
        let built = if context.short { Some(context.binary()?) } else { None };
        Ok(Self { clone, built, directory })
    }

    /// A command line as a shell runs it in the clone: the home is empty, and nothing is known of a database.
    fn shell(&self, line: &str) -> Command {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let kept = |name: &str, directory: &str| std::env::var_os(name).unwrap_or_else(|| home.join(directory).into());
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&self.clone).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            // Cargo tells its children about the package that is running, which is not the newcomer's.
            if ["PLAUDIT_", "CARGO", "RUSTUP_TOOLCHAIN", "PG"].iter().any(|prefix| shown.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command.env("CARGO_HOME", kept("CARGO_HOME", ".cargo")).env("RUSTUP_HOME", kept("RUSTUP_HOME", ".rustup"));
        command.env("HOME", self.directory.path().join("home"));
        command
    }

    /// Starts the demonstration and waits until it has printed its commands and answers.
    fn demonstrate(&self, line: &str) -> Result<Demo> {
        let log = self.directory.path().join("demo.log");
        let line = match &self.built {
            Some(program) => line.replace(BUILDS, &program.display().to_string()),
            None => line.to_owned(),
        };
        // `exec` makes the shell the command itself, so that it can be stopped by its id.
        let mut command = self.shell(&format!("exec {line}"));
        command.stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut process = command.spawn().context("sh cannot be started")?;
        let output = process.stdout.take().context("the demonstration has no output")?;
        let mut demo = Demo { process, printed: String::new() };
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        demo.read(&lines).with_context(|| fs::read_to_string(&log).unwrap_or_default())?;
        Ok(demo)
    }

    /// Runs a printed curl command and returns the status and the body that it got.
    fn curl(&self, command: &str) -> Result<(u16, String)> {
        ensure!(process::find("curl").is_some(), "this proof needs curl: install the package curl");
        let body = self.directory.path().join("body");
        let line = format!("{command} --silent --output '{}' --write-out '%{{http_code}}'", body.display());
        let printed = process::output(&mut self.shell(&line))?;
        let status = printed.trim().parse().with_context(|| format!("curl printed {printed:?}"))?;
        Ok((status, fs::read(&body).map(|body| String::from_utf8_lossy(&body).into_owned()).unwrap_or_default()))
    }
}

impl Demo {
    /// Reads what is printed until the commands have come and nothing more does.
    fn read(&mut self, lines: &Receiver<String>) -> Result<()> {
        let deadline = Instant::now() + BUILD_PATIENCE;
        loop {
            match lines.recv_timeout(QUIET) {
                Ok(line) => {
                    self.printed.push_str(&line);
                    self.printed.push('\n');
                }
                Err(RecvTimeoutError::Timeout) if self.printed.contains("curl ") => {
                    return self.wait_until_ready(deadline);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(_) => bail!("the demonstration printed no commands: {}", self.printed),
            }
        }
    }

    fn wait_until_ready(&self, deadline: Instant) -> Result<()> {
        let (base, _) = address_and_key(&printed_commands(&self.printed))?;
        let client = Client::bare(&base);
        while !client.get("/readyz").is_ok_and(|answer| answer.status == 200) {
            ensure!(Instant::now() < deadline, "the demonstration does not answer at {base}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // `cargo run` becomes the program that it runs, so the one process is the service; it is asked to end as by
        // Ctrl-C and made to end where it does not.
        let _ = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        for _ in 0..500 {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The command lines in the fenced blocks of a text in Markdown, in order.
fn commands_of(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            let line = line.trim().trim_start_matches("$ ");
            let command = line.split_once(" #").map_or(line, |(command, _)| command).trim();
            if !command.is_empty() && !command.starts_with('#') {
                commands.push(command.to_owned());
            }
        }
    }
    commands
}

/// The curl commands in what was printed; one that goes over several lines, each but the last ending in a backslash, is
/// made one line, and what it is piped into is left off.
fn printed_commands(printed: &str) -> Vec<String> {
    let joined = printed.replace("\\\n", " ");
    let commands = joined.lines().map(|line| line.trim().trim_start_matches("$ "));
    let commands = commands.filter(|line| line.starts_with("curl "));
    commands.map(|line| line.split(" | ").next().unwrap_or(line).trim().to_owned()).collect()
}

/// The address of the service and a key, as the printed commands have them.
fn address_and_key(commands: &[String]) -> Result<(String, String)> {
    let after = |mark: &str| {
        let rest =
            commands.iter().find_map(|command| command.to_ascii_lowercase().find(mark).map(|at| &command[at..]))?;
        Some(rest.trim_start_matches(|letter: char| letter != ':').trim_start_matches([':', ' ']).to_owned())
    };
    let ends = |letter: char| letter.is_whitespace() || letter == '\'' || letter == '"';
    let key = after("x-api-key").context("no printed command has a key")?;
    let key = key.split(ends).next().unwrap_or_default().to_owned();
    let address = commands.iter().find_map(|command| command.find("http://").map(|at| &command[at + 7..]));
    let address = address.context("no printed command has an address")?;
    let host = address.split(|letter: char| letter == '/' || ends(letter)).next().unwrap_or_default();
    Ok((format!("http://{host}"), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_are_written() {
        let readme = "text\n```sh\n# first\n$ cargo run --release -- demo   # serves\n```\nand `x`\n```\ncargo xtask test\n```\n";
        assert_eq!(commands_of(readme), ["cargo run --release -- demo", "cargo xtask test"]);
    }

    #[test]
    fn printed_commands_are_joined_and_tell_address_and_key() {
        let printed = "Try:\n  curl -H 'x-api-key: abc_1' \\\n    http://127.0.0.1:8080/order | jq\n";
        let commands = printed_commands(printed);
        assert_eq!(commands.len(), 1);
        assert!(commands[0].ends_with("/order"));
        let expected = ("http://127.0.0.1:8080".to_owned(), "abc_1".to_owned());
        assert_eq!(address_and_key(&commands).ok(), Some(expected));
    }
}
