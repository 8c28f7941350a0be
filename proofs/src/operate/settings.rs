//! Settings that are wrong, each with what the program must say of it.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::{Checks, Context};

/// How long a start with a wrong setting may take: a server that is not there is waited for.
const PATIENCE: Duration = Duration::from_secs(40);

/// The line of the file in which the wrong setting stands.
const FILE: &str = "plaudit.toml, line 2";

/// What is wrong: lines of `plaudit.toml` or a variable, and the words that must be told.
struct Wrong {
    file: &'static str,
    variable: (&'static str, &'static str),
    told: &'static [&'static str],
}

/// In the second line of the file.
const fn file(text: &'static str, told: &'static [&'static str]) -> Wrong {
    Wrong { file: text, variable: ("", ""), told }
}

/// In the environment.
const fn variable(name: &'static str, value: &'static str, told: &'static [&'static str]) -> Wrong {
    Wrong { file: "", variable: (name, value), told }
}

/// `PORT` stands for a port that is taken.
const WRONG: &[Wrong] = &[
    file("[server]\nlisten = \"8080\"", &[FILE, "[server] listen", "allowed is HOST:PORT"]),
    file("[server]\nlisten = 8080", &[FILE, "[server] listen", "allowed is HOST:PORT"]),
    file(
        "[server]\nlisten = \"127.0.0.1:PORT\"",
        &[FILE, "[server] listen", "in use", "a port that nobody listens at"],
    ),
    file("[server]\nlisten = \"203.0.113.1:8080\"", &[FILE, "[server] listen", "name an address of this machine"]),
    file("[server]\nlisen = \"127.0.0.1:0\"", &[FILE, "[server] lisen: no such setting", "there are listen"]),
    file(
        "[server]\nbase_url = \"awards.example.org\"",
        &[FILE, "[server] base_url", "begins with http:// or https://"],
    ),
    file("[server]\nregion = \"mars\"", &[FILE, "[server] region", "one of us, eu, au, ca, hk"]),
    file("[server]\ntrusted_proxies = [\"10.0.0.0/33\"]", &[FILE, "[server] trusted_proxies", "such as 10.0.0.0/8"]),
    file("[server]\ntrusted_proxies = \"10.0.0.0/8\"", &[FILE, "[server] trusted_proxies", "allowed is a list"]),
    file(
        "[server]\nweb_origins = [\"app.example.org\"]",
        &[FILE, "[server] web_origins", "such as https://app.example.org"],
    ),
    file("[server]\nidle_timeout_seconds = 0", &[FILE, "[server] idle_timeout_seconds = 0", "from 1 to 86400"]),
    file("[server]\nmax_upload_bytes = \"1 GB\"", &[FILE, "[server] max_upload_bytes", "a whole number from 1024"]),
    file("[server]\ncompression = \"yes\"", &[FILE, "[server] compression", "true or false"]),
    file("[server\nlisten = \"x\"", &["plaudit.toml, line 1", "this is not TOML"]),
    file(
        "[sever]\nlisten = \"127.0.0.1:0\"",
        &["plaudit.toml, line 1", "[sever]: no such section", "there are server"],
    ),
    file("[database]\nurl = \"mysql://db/plaudit\"", &[FILE, "[database] url", "sqlite:PATH or postgres://"]),
    file(
        "[database]\nurl = \"sqlite:/nowhere/plaudit.db\"",
        &[FILE, "[database] url", "/nowhere/plaudit.db", "its folder must be there"],
    ),
    file(
        "[database]\nurl = \"postgres://plaudit:secretWord@127.0.0.1:1/plaudit\"",
        &[FILE, "[database] url", "plaudit:****@127.0.0.1:1", "refused", "it must run, and let this user"],
    ),
    file(
        "[database]\nurl = \"postgres://localhost/plaudit?sslmode=secure\"",
        &[FILE, "[database] url", "sslmode=secure", "one of disable, prefer, require"],
    ),
    file(
        "[database]\nurl = \"postgres://db.example.org/plaudit?sslrootcert=/nowhere/ca.pem\"",
        &[FILE, "[database] url", "sslrootcert /nowhere/ca.pem"],
    ),
    file("[database]\npool_size = 1001", &[FILE, "[database] pool_size = 1001", "from 0 to 1000"]),
    file("[storage]\nurl = \"/var/files\"", &[FILE, "[storage] url", "file:DIRECTORY or s3://BUCKET/PREFIX"]),
    file(
        "[storage]\nurl = \"file:/proc/files\"",
        &[FILE, "[storage] url", "/proc/files", "a folder that may be written"],
    ),
    file(
        "[limits]\npage_bytes = 1048576",
        &[FILE, "[limits] page_bytes = 1048576", "must be at least [limits] entry_bytes"],
    ),
    file(
        "[metrics]\nlisten = \"127.0.0.1:PORT\"",
        &[FILE, "[metrics] listen", "in use", "a port that nobody listens at"],
    ),
    variable("PLAUDIT_LOG_FORMAT", "xml", &["environment, PLAUDIT_LOG_FORMAT", "[log] format", "one of text, json"]),
    variable(
        "PLAUDIT_LOG_LEVEL",
        "loud",
        &["environment, PLAUDIT_LOG_LEVEL", "[log] level", "error, warn, info, debug"],
    ),
    variable("PLAUDIT_LOG_COLOUR", "1", &["environment, PLAUDIT_LOG_COLOUR", "[log] colour: no such setting"]),
    variable("PLAUDIT_MAIL_FROM", "nobody", &["PLAUDIT_MAIL_FROM", "[mail] from", "no e-mail address"]),
    variable(
        "PLAUDIT_MAIL_URL",
        "pop3://x",
        &["environment, PLAUDIT_MAIL_URL", "[mail] url", "smtps://USER:PASSWORD@HOST"],
    ),
    variable(
        "PLAUDIT_WEBHOOKS_SCHEDULE",
        "soon",
        &["PLAUDIT_WEBHOOKS_SCHEDULE", "[webhooks] schedule", "such as 0s,5s"],
    ),
    variable("PLAUDIT_CONFIG", "none.toml", &["none.toml", "No such file"]),
];

/// Starts with each of them; returns how many they are.
pub(super) fn are_told(context: &Context, checks: &mut Checks) -> Result<usize> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    for (number, wrong) in WRONG.iter().enumerate() {
        let (code, told) = start(context, wrong, &port)?;
        checks.check(matches!(code, Some(1 | 2)), || format!("wrong setting {number} ends with {code:?}: {told}"));
        for word in wrong.told {
            checks.check(told.contains(word), || format!("of wrong setting {number}, {word:?} is not told: {told}"));
        }
        checks.check(!told.contains("secretWord"), || format!("wrong setting {number} tells a password: {told}"));
        let is_short = told.lines().count() == 1 && told.len() < 600;
        checks.check(is_short, || format!("of wrong setting {number} more is told than one line: {told}"));
    }
    Ok(WRONG.len())
}

/// What a service that is started so says, and its exit code; nothing for the code where it runs.
fn start(context: &Context, wrong: &Wrong, port: &str) -> Result<(Option<i32>, String)> {
    let folder = context.scratch()?;
    let mut command = Command::new(context.binary()?);
    command.arg("serve").current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PLAUDIT_")) {
        command.env_remove(name);
    }
    if !wrong.file.is_empty() {
        fs::write(folder.path().join("plaudit.toml"), wrong.file.replace("PORT", port))?;
    }
    if !wrong.file.contains("[server]\nlisten") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    if !wrong.variable.0.is_empty() {
        command.env(wrong.variable.0, wrong.variable.1);
    }
    let mut child = command.spawn()?;
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut told = String::new();
    child.stderr.take().context("the service has no standard error")?.read_to_string(&mut told)?;
    let told: Vec<&str> = told.lines().filter(|line| line.starts_with("plaudit: ")).collect();
    Ok((code, told.join("\n")))
}
