//! A disk without room: writes are refused, reads go on, and with room again so do writes.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use tempfile::TempDir;

use super::service::{Answer, Checks, Client, Kind, Program, Random, Service, XML, field};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// A full disk refuses writes and nothing else.
pub(crate) const PROOF: Proof = Proof {
    name: "full-disk",
    claim: "On a full disk writes are 507 and change nothing, reads go on, also after a start, what was acknowledged stays, \
            and with room again writes go on without a restart.",
    run: show,
};

/// The small disk, and what writers may fill of it.
const DISK: &str = "size=64m,mode=755";
const ROOM: u64 = 1 << 20;
const PAGE: usize = 4096;
/// Writers at the same time; each has entries of its own, and gives up when so many changes in a row were refused.
const WRITERS: u32 = 4;
const ENTRIES: u32 = 3;
const REFUSALS: u32 = 12;
/// How long the text of a change is.
const TEXT: usize = 20_000;
/// How long it may take until a node has noticed that there is room again.
const PATIENCE: Duration = Duration::from_secs(10);

/// A small disk, gone when this is dropped.
struct Disk(TempDir);

impl Disk {
    fn mount(context: &Context) -> Result<Self> {
        let directory = context.scratch()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", DISK, "plaudit-proof"]).arg(directory.path());
        process::output(&mut mount).context("this proof mounts a small disk, which only root may")?;
        Ok(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk, but for so many bytes.
    fn fill(&self, left: u64) -> Result<()> {
        let mut ballast = File::options().create(true).append(true).open(self.ballast())?;
        loop {
            match ballast.write_all(&[b'x'; PAGE]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => return Err(error.into()),
            }
        }
        let length = ballast.metadata()?.len();
        ballast.set_len(length.saturating_sub(left)).map_err(Into::into)
    }

    fn make_room(&self) -> Result<()> {
        std::fs::remove_file(self.ballast()).map_err(Into::into)
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

fn show(context: &Context) -> Result<Verdict> {
    let mut whole = Verdict::new(true, "");
    for engine in context.engines() {
        let disk = Disk::mount(context)?;
        // A server of its own, which ends before its disk does.
        let own = context.with_binary(context.binary()?);
        let verdict = on(&own, engine, &disk).with_context(|| format!("on {}", engine.name()))?;
        println!("  {}: {}", engine.name(), verdict.figure);
        whole.holds &= verdict.holds;
        whole.figure = format!("{}{}: {}; ", whole.figure, engine.name(), verdict.figure);
    }
    Ok(whole)
}

fn on(context: &Context, engine: Engine, disk: &Disk) -> Result<Verdict> {
    let program = Program { entries: WRITERS * ENTRIES + 1, orders: 0, ..Program::small(9) };
    let directory = tempfile::Builder::new().prefix("service-").tempdir_in(disk.path())?;
    let database = match engine {
        Engine::Sqlite => format!("sqlite:{}", directory.path().join("plaudit.db").display()),
        Engine::Postgres => context.postgres()?.create_in("full_disk", &disk.path().join("tables"))?,
    };
    let mut service = Service::at(context, directory, database)?;
    service.import(&program)?;
    service.start()?;
    let key = service.key(&program.account, "read_write")?;
    let (mut checks, mut known) = (Checks::default(), vec![0; usize::try_from(WRITERS * ENTRIES)?]);

    let (rounds, mut refused) = (if context.short { 1 } else { 4 }, 0);
    for round in 1..=rounds {
        disk.fill(ROOM)?;
        refused += write_until_full(&service.client(&key), &program, &mut known, &mut checks)?;
        disk.fill(0)?;
        refused += write_until_full(&service.client(&key), &program, &mut known, &mut checks)?;
        is_read_only(&service, (&key, &program), &known, round, &mut checks)?;
        if round.is_multiple_of(2) {
            service.kill()?;
        } else {
            service.stop()?;
        }
        service.start().context("the service does not start on a full disk")?;
        is_read_only(&service, (&key, &program), &known, round, &mut checks)?;

        disk.make_room()?;
        let begun = Instant::now();
        while readiness(&service)?.text() != READY && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        let ready = readiness(&service)?.text();
        checks.check(ready == READY, || format!("with room again /readyz says {ready}"));
        let client = service.client(&key);
        is_as_known(&client, &program, &known, &mut checks)?;
        let again = refused_once(&client, &program, round)?;
        checks.check(again.status == 200 && again.header("idempotency-replayed").is_none(), || {
            format!("what was refused is answered {} when it is sent again", again.status)
        });
        for (entry, known) in (0..).zip(&mut known) {
            *known += 1;
            let answer = change(&client, &program, entry, *known)?;
            checks.check(answer.status == 200, || format!("with room again {}: {}", answer.status, answer.text()));
        }
        is_as_known(&client, &program, &known, &mut checks)?;
    }
    service.stop()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    let acknowledged: u32 = known.iter().sum();
    Ok(checks.verdict(&format!("{refused} changes refused, {acknowledged} acknowledged and kept, in {rounds} rounds")))
}

/// Changes entries from several connections until there is no room for it; returns how many changes were refused.
fn write_until_full(client: &Client, program: &Program, known: &mut [u32], checks: &mut Checks) -> Result<usize> {
    let writers = known.chunks_mut(usize::try_from(ENTRIES)?);
    let refused = thread::scope(|scope| {
        let write = |writer: u32, known: &mut [u32]| -> Result<Vec<Answer>> {
            let (client, mut refused, mut in_a_row) = (client.apart(), Vec::new(), 0);
            while in_a_row < REFUSALS {
                for (entry, known) in (writer * ENTRIES..).zip(known.iter_mut()) {
                    let answer = change(&client, program, entry, *known + 1)?;
                    if answer.status == 200 {
                        (*known, in_a_row) = (*known + 1, 0);
                    } else {
                        refused.push(answer);
                        in_a_row += 1;
                    }
                }
            }
            Ok(refused)
        };
        let threads: Vec<_> =
            (0..).zip(writers).map(|(writer, known)| scope.spawn(move || write(writer, known))).collect();
        let refused = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a writer panicked"))?);
        Ok::<_, anyhow::Error>(refused.collect::<Result<Vec<_>>>()?.concat())
    })?;
    for answer in &refused {
        is_refusal(answer, checks);
    }
    Ok(refused.len())
}

fn is_refusal(answer: &Answer, checks: &mut Checks) {
    let is_told = answer.text().contains("The disk of the ") && answer.text().contains(" is full");
    checks.check(answer.status == 507 && is_told && answer.has_rate_limit_headers(), || {
        format!("a write on a full disk is answered {}: {}", answer.status, answer.text())
    });
}

/// Reads go on, writes of every sort are refused, and `/readyz` tells it.
fn is_read_only(
    service: &Service,
    (key, program): (&str, &Program),
    known: &[u32],
    round: u32,
    checks: &mut Checks,
) -> Result<()> {
    let client = service.client(key);
    is_as_known(&client, program, known, checks)?;
    for path in ["/entry?include=entry_fields", "/order", "/season", "/account"] {
        let status = client.get(path)?.status;
        checks.check(status == 200, || format!("{path} on a full disk is answered {status}"));
    }
    let refused = change(&client, program, 0, u32::MAX)?;
    is_refusal(&refused, checks);
    checks.check(refused.is_envelope(), || format!("507 without the envelope: {}", refused.text()));
    is_refusal(&change(&client.with("accept", XML), program, 0, u32::MAX)?, checks);
    is_refusal(&refused_once(&client, program, round)?, checks);
    let attachment = format!("/entry/{}/attachment/{}", program.slug(Kind::Entry, 0), program.slug(Kind::Tab, 3));
    let body = json!({"filename": "a.txt", "data": "QUJD".repeat(100_000)}).to_string();
    let headers = [("content-type", "application/json")];
    is_refusal(&client.send("POST", &attachment, &headers, Some(body.as_bytes()))?, checks);
    let ready = readiness(service)?;
    checks.check(ready.status == 200 && ready.text().contains("is full"), || {
        format!("/readyz on a full disk is {}: {}", ready.status, ready.text())
    });
    Ok(())
}

/// What `/readyz` says where all is well.
const READY: &str = "ready\ndatabase: answers\nstorage: answers\n";

fn readiness(service: &Service) -> Result<Answer> {
    service.bare().get("/readyz")
}

/// A change with an idempotency key, which is refused on a full disk and done when there is room.
fn refused_once(client: &Client, program: &Program, round: u32) -> Result<Answer> {
    let name = format!("round {round}");
    change(&client.with("idempotency-key", &name), program, WRITERS * ENTRIES, round)
}

/// Every entry has the text that was acknowledged last.
fn is_as_known(client: &Client, program: &Program, known: &[u32], checks: &mut Checks) -> Result<()> {
    for (entry, known) in (0..).zip(known) {
        let shown = client.get(&format!("/entry/{}", program.slug(Kind::Entry, entry)))?;
        checks.check(shown.status == 200 && (*known == 0 || shown.text().contains(&marked(*known))), || {
            format!("entry {entry} does not show what was acknowledged last: {}", shown.status)
        });
    }
    Ok(())
}

fn change(client: &Client, program: &Program, entry: u32, number: u32) -> Result<Answer> {
    let (entry, field) = (program.slug(Kind::Entry, entry), program.slug(Kind::Field, field::TEXTAREA));
    client.put(&format!("/entry/{entry}/update-field/{field}"), &json!({"value": text(number)}))
}

fn marked(number: u32) -> String {
    format!("change {number}.")
}

/// A text that takes as much room as it is long, however it is packed.
fn text(number: u32) -> String {
    let mut random = Random::new(u64::from(number));
    let mut text = marked(number);
    text.extend((0..TEXT).map(|_| char::from(b'!' + u8::try_from(random.below(90)).unwrap_or_default())));
    text.replace(['<', '>', '&', '"', '\\'], "-")
}
