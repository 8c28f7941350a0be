//! Addresses that deliveries must not reach, in every notation and by every way: by a literal, by a name, by a name that is another
//! one's later, by a redirect.
//!
//! Who listens there counts connections. Names are shown where this program may mount a file of hosts for the service.

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::delivery::log;
use super::receiver::{Conduct, Receiver};
use super::service::{Checks, Client, Kind, Program, Random, Service, WITH_HOSTS, on_each_engine};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// No delivery reaches what the operator has not opened.
pub(crate) const PROOF: Proof = Proof {
    name: "ssrf",
    claim: "No webhook reaches a loopback, private or link-local address by any notation, name, change of a name or redirect: \
            literals are refused when they are saved, and all of them at a test and a delivery, with the reason in the log.",
    run: |context| on_each_engine(context, show),
};

/// Hosts that are addresses, and words of which one is the reason that is told.
const LITERALS: &[(&str, &[&str])] = &[
    ("127.0.0.1", LOOPBACK),
    ("127.1", LOOPBACK),
    ("2130706433", LOOPBACK),
    ("0x7f000001", LOOPBACK),
    ("0x7f.1", LOOPBACK),
    ("0177.0.0.1", LOOPBACK),
    ("\u{ff11}\u{ff12}\u{ff17}.\u{ff10}.\u{ff10}.\u{ff11}", LOOPBACK),
    ("127\u{3002}0\u{3002}0\u{3002}1", LOOPBACK),
    ("[::ffff:127.0.0.1]", LOOPBACK),
    ("[::1]", LOOPBACK),
    ("localhost", MACHINE),
    ("localhost.", MACHINE),
    ("LOCALHOST", MACHINE),
    ("0.0.0.0", &["unspecified"]),
    ("[::]", &["unspecified"]),
    ("[::127.0.0.1]", &["reserved", "IPv4"]),
    ("[64:ff9b::7f00:1]", &["reserved", "IPv4"]),
    ("10.0.0.1", &["private"]),
    ("169.254.169.254", &["link-local", "metadata"]),
    ("[fe80::1]", &["link-local"]),
];
const LOOPBACK: &[&str] = &["loopback"];
const MACHINE: &[&str] = &["this machine", "loopback"];

/// Names of the file of hosts: what each is when its webhook is saved, what it is later, and the reason that is told then.
const NAMES: &[(&str, &str, &str, &[&str])] = &[
    ("private.example", "127.0.0.1", "127.0.0.1", LOOPBACK),
    ("metadata.example", "169.254.169.254", "169.254.169.254", &["link-local", "metadata"]),
    // Nothing is sent while it is a public one.
    ("changing.example", "8.8.8.8", "127.0.0.1", LOOPBACK),
];
/// A name that changes all the time.
const REBOUND: &str = "rebound.example";
/// The host that the operator has opened.
const OPEN: &str = "127.0.0.2";
/// How long it may take until deliveries have failed for good.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a name that changes is tried at most, and how often either of its addresses must have been met.
const TRIES: usize = 400;
const MET: usize = 5;

/// A webhook and the words of which one is why nothing is sent.
struct Refused {
    what: String,
    webhook: String,
    reasons: &'static [&'static str],
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let program = Program { entries: 3, detail_every: 0, orders: 0, ..Program::small(37) };
    let mut service = Service::new(context, engine)?;
    let own = own_address()?;
    let hosts = Hosts::find(&service)?;
    service.set("PLAUDIT_WEBHOOKS_SCHEDULE", "0s,1s");
    service.set("PLAUDIT_WEBHOOKS_LOCAL_HOSTS", OPEN);
    if let Some(own) = &own {
        service.set("PLAUDIT_WEBHOOKS_PRIVATE_NETWORKS", &format!("{own}/32"));
    }
    if let Some(hosts) = &hosts {
        hosts.write(NAMES.iter().map(|(name, before, ..)| (*name, *before)))?;
        service.find_hosts_in(&hosts.file);
    }
    service.import(&program)?;
    service.start()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    // It is reached by every address of this machine, those of IPv6 included.
    let closed =
        Receiver::start("::", Conduct::Takes, false).or_else(|_| Receiver::start("0.0.0.0", Conduct::Takes, false))?;
    let open = Receiver::start(OPEN, Conduct::Takes, true)?;
    let redirects = Receiver::start(OPEN, Conduct::Redirects(closed.port()), true)?;
    let mut checks = Checks::default();

    let subscribe = |url: &str| log::subscribe(&client, url, &["entry_updated"], &json!({}));
    saved(&client, &subscribe(&open.url(1))?, closed.port(), &mut checks)?;
    let redirected = subscribe(&redirects.url(0))?;
    let mut refused = Vec::new();
    for (number, (host, reasons)) in LITERALS.iter().enumerate() {
        let webhook = subscribe(&place(&open, number))?;
        refused.push(Refused { what: (*host).to_owned(), webhook, reasons });
    }
    for (name, _, _, reasons) in NAMES.iter().filter(|_| hosts.is_some()) {
        let webhook = subscribe(&format!("http://{name}:{}/0", closed.port()))?;
        refused.push(Refused { what: (*name).to_owned(), webhook, reasons });
    }
    service.stop()?;
    service.tamper(context, &tampering(&open, &closed))?;
    if let Some(hosts) = &hosts {
        hosts.write(NAMES.iter().map(|(name, _, after, _)| (*name, *after)))?;
    }
    service.start()?;
    for refused in &refused {
        tested(&client, refused, &mut checks)?;
    }
    delivered(&client, &program, &refused, &redirected, &mut checks)?;
    let rebound = match (&hosts, &own) {
        (Some(hosts), Some(own)) => rebound(&client, hosts, own, &mut checks)?,
        _ => "the change of a name between two look-ups is not shown here".to_owned(),
    };

    checks.check(!open.requests().is_empty(), || "nothing came to the endpoint that is open".to_owned());
    checks.check(closed.connections() == 0, || format!("{} connections came where none may", closed.connections()));
    // Whoever counts them does count.
    for host in ["127.0.0.1", OPEN] {
        drop(std::net::TcpStream::connect((host, closed.port()))?);
    }
    thread::sleep(Duration::from_millis(100));
    if closed.connections() != 2 {
        bail!("connections are not counted");
    }
    let names = if hosts.is_some() { format!("{} names", NAMES.len()) } else { "no names (they need root)".to_owned() };
    println!("  {}: {} literals, {names}, a redirect; {rebound}", engine.name(), LITERALS.len());
    Ok(checks.verdict(&format!("{} literals and {names} refused, no connection", LITERALS.len())))
}

/// No literal can be saved, neither in a new webhook nor in one that is there.
fn saved(client: &Client, webhook: &str, port: u16, checks: &mut Checks) -> Result<()> {
    for (host, _) in LITERALS {
        let url = format!("http://{host}:{port}/0");
        let body = json!({"name": "Proof", "method": "post", "url": url, "events": ["entry_updated"]});
        let made = client.post("/webhook", &body)?;
        let changed = client.put(&format!("/webhook/{webhook}"), &json!({"url": url}))?;
        for (what, answer) in [("POST", made), ("PUT", changed)] {
            let is_told = answer.status == 422 && answer.json()?["errors"]["url"].is_array();
            checks.check(is_told, || format!("{what} of {url} was answered {} {}", answer.status, answer.text()));
        }
    }
    Ok(())
}

/// The address that is replaced by that of a literal; none is the beginning of another.
fn place(open: &Receiver, number: usize) -> String {
    open.url(1_000 + number)
}

/// Gives each of those webhooks the address of its literal where no rule sees it.
fn tampering(open: &Receiver, closed: &Receiver) -> String {
    let statements = LITERALS.iter().enumerate().map(|(number, (host, _))| {
        let (from, to) = (place(open, number), format!("http://{host}:{}/0", closed.port()));
        format!("UPDATE setup_records SET doc = replace(doc, '\"{from}\"', '\"{to}\"') WHERE kind = 'webhook';")
    });
    statements.collect()
}

/// A test sends nothing and says why.
fn tested(client: &Client, refused: &Refused, checks: &mut Checks) -> Result<()> {
    let answer = client.post(&format!("/webhook/{}/test", refused.webhook), &json!({"event": "entry_updated"}))?;
    let told = answer.expect_status(200).with_context(|| format!("a test of {}", refused.what))?.json()?;
    checks.check(told["status"].is_null() && refused.is_reason(&told["error"]), || {
        format!("a test of {} was answered {told}", refused.what)
    });
    Ok(())
}

/// A change is delivered to none of them, and the log says why.
fn delivered(
    client: &Client,
    program: &Program,
    refused: &[Refused],
    redirected: &str,
    checks: &mut Checks,
) -> Result<()> {
    let entry = program.slug(Kind::Entry, 0);
    client.put(&format!("/entry/{entry}/update-title"), &json!({"title": "Told"}))?.expect_status(200)?;
    for refused in refused {
        let failed = failed(client, &refused.webhook).with_context(|| refused.what.clone())?;
        let attempts = failed["attempts"].as_array().map_or(&[][..], Vec::as_slice);
        let is_told = |attempt: &Value| attempt["status"].is_null() && refused.is_reason(&attempt["error"]);
        checks.check(attempts.len() == 2 && attempts.iter().all(is_told), || {
            format!("a delivery to {} was logged as {failed}", refused.what)
        });
    }
    let failed = failed(client, redirected).context("the redirect")?;
    let statuses: Vec<_> =
        failed["attempts"].as_array().into_iter().flatten().map(|attempt| &attempt["status"]).collect();
    checks.check(statuses == [302, 302], || format!("a delivery to a redirect was logged as {failed}"));
    Ok(())
}

/// The only delivery of a webhook as soon as it has failed for good.
fn failed(client: &Client, webhook: &str) -> Result<Value> {
    let begun = Instant::now();
    loop {
        let mut found = log::deliveries(client, webhook)?;
        if found.iter().any(|delivery| delivery["state"] == "failed") {
            return found.pop().context("there is no delivery");
        }
        if begun.elapsed() > PATIENCE {
            bail!("it has not failed for good: {found:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
}

impl Refused {
    fn is_reason(&self, error: &Value) -> bool {
        error.as_str().is_some_and(|error| self.reasons.iter().any(|reason| error.contains(reason)))
    }
}

/// A name that is an open address and a closed one in turn, while it is called: what is dialled is what was checked.
fn rebound(client: &Client, hosts: &Hosts, own: &str, checks: &mut Checks) -> Result<String> {
    // Both listen at the same port.
    let closed = Receiver::start("127.0.0.1", Conduct::Takes, false)?;
    let open = Receiver::start_at((own, closed.port()), Conduct::Takes, true)?;
    hosts.write([(REBOUND, own)])?;
    let url = format!("http://{REBOUND}:{}/0", closed.port());
    let webhook = log::subscribe(client, &url, &["entry_deleted"], &json!({}))?;
    let ends = AtomicBool::new(false);
    let (mut taken, mut refused, mut tries) = (0, 0, 0);
    thread::scope(|scope| {
        let changing = scope.spawn(|| -> Result<()> {
            let mut random = Random::new(41);
            while !ends.load(Ordering::SeqCst) {
                hosts.write([(REBOUND, [own, "127.0.0.1"][random.below(2) as usize])])?;
                thread::sleep(Duration::from_micros(random.below(3_000).into()));
            }
            Ok(())
        });
        let tested = (|| -> Result<()> {
            while tries < TRIES && (taken < MET || refused < MET) || tries < 50 {
                tries += 1;
                let path = format!("/webhook/{webhook}/test");
                let told = client.post(&path, &json!({"event": "entry_deleted"}))?.expect_status(200)?.json()?;
                taken += usize::from(told["status"] == 200);
                refused += usize::from(told["error"].as_str().is_some_and(|error| error.contains("loopback")));
            }
            Ok(())
        })();
        ends.store(true, Ordering::SeqCst);
        let changed = changing.join();
        tested?;
        changed.map_err(|_| anyhow::anyhow!("the one who changes names panicked"))?
    })?;
    checks.check(taken >= MET && refused >= MET, || {
        format!("of {tries} tests of a name that changes {taken} were taken and {refused} refused")
    });
    checks.check(closed.connections() == 0, || format!("{} connections by a name that changes", closed.connections()));
    let sent = open.requests().len();
    checks.check(sent >= taken, || format!("{taken} tests were taken, and {sent} requests came"));
    Ok(format!("of {tries} tests of a name that changes {taken} were taken, {refused} refused"))
}

/// The file of hosts that the service has for itself.
struct Hosts {
    file: PathBuf,
}

impl Hosts {
    /// One beside the service; none where nothing can be mounted.
    fn find(service: &Service) -> Result<Option<Self>> {
        let hosts = Self { file: service.directory().join("hosts") };
        hosts.write([("try.example", "192.0.2.1")])?;
        let read = |file: &Path| {
            let mut command = Command::new(WITH_HOSTS[0]);
            process::output(command.args(&WITH_HOSTS[1..]).arg(file).args(["cat", "/etc/hosts"]))
        };
        let is_mounted = read(&hosts.file).is_ok_and(|shown| shown.contains("try.example"));
        Ok(is_mounted.then_some(hosts))
    }

    /// Puts names into the file, which stays the same file and as long as it was: whoever reads it sees no half of it.
    fn write<'n>(&self, names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<()> {
        use std::os::unix::fs::FileExt as _;
        let names = names.into_iter().map(|(name, address)| format!("{address} {name}\n"));
        let mut text = format!("127.0.0.1 localhost\n{}", names.collect::<String>());
        text.push_str(&" ".repeat(512_usize.saturating_sub(text.len() + 1)));
        text.push('\n');
        let file = fs::File::options().write(true).create(true).truncate(false).open(&self.file)?;
        file.write_all_at(text.as_bytes(), 0).map_err(Into::into)
    }
}

/// An address of this machine that is not a loopback one; none where it has only those. Nothing is sent to find it.
fn own_address() -> Result<Option<String>> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    let found = socket.connect(("192.0.2.1", 9)).and_then(|()| socket.local_addr());
    Ok(found
        .ok()
        .map(|found| found.ip())
        .filter(|own| !own.is_loopback() && !own.is_unspecified())
        .map(|own| own.to_string()))
}
