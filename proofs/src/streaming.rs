//! Long answers to clients that take them slowly: memory and the spool have a bound, and nothing is told wrong for it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::service::{Checks, Client, JSON, Kind, Program, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Whatever answers show and however slowly they are taken, the service stays within its budgets.
pub(crate) const PROOF: Proof = Proof {
    name: "streaming",
    claim: "A page of 60 MB in JSON and XML to 20 slow readers, pages of 4 MB to 60, and a page just over the limit: memory \
            stays below 200 MB and the spool within its quota, every answer is whole or a clear error, and all room is \
            given back.",
    run: |context| on_each_engine(context, show),
};

/// The most memory that the service may have held.
const MEMORY: u64 = 200 << 20;
/// How many clients ask at the same time: no more than the service has connections to the database on a small machine.
const AT_ONCE: usize = 4;
/// How long the service may take to notice that clients have gone away.
const PATIENCE: Duration = Duration::from_secs(20);

/// How large everything is.
struct Size {
    /// The entries, and how many of them the long page and the shorter one have.
    entries: u32,
    pages: [u32; 2],
    /// How many clients read each of them at once.
    readers: [usize; 2],
    /// The bytes of the answer that each entry has. A page shows it twice.
    answer: usize,
    settings: &'static [(&'static str, &'static str)],
    account_megabytes: u64,
}

const WHOLE: Size = Size {
    entries: 70,
    pages: [30, 2],
    readers: [20, 60],
    answer: 1_000_000,
    settings: &[
        ("PLAUDIT_LIMITS_PAGE_BYTES", "67108864"),
        ("PLAUDIT_BUDGETS_ANSWER_MEGABYTES", "4"),
        ("PLAUDIT_BUDGETS_MEMORY_MEGABYTES", "32"),
        // 20 of the long pages have room, and no more.
        ("PLAUDIT_BUDGETS_ACCOUNT_SPOOL_MEGABYTES", "1200"),
    ],
    account_megabytes: 1200,
};

/// Even its long page is more than the system keeps of what was sent.
const SHORT: Size = Size {
    entries: 14,
    pages: [12, 1],
    readers: [6, 20],
    answer: 500_000,
    settings: &[
        ("PLAUDIT_LIMITS_PAGE_BYTES", "6500000"),
        ("PLAUDIT_LIMITS_ENTRY_BYTES", "6500000"),
        ("PLAUDIT_SERVER_MAX_UPLOAD_BYTES", "16777216"),
        ("PLAUDIT_BUDGETS_ANSWER_MEGABYTES", "1"),
        ("PLAUDIT_BUDGETS_MEMORY_MEGABYTES", "2"),
        // As above, of 6.
        ("PLAUDIT_BUDGETS_ACCOUNT_SPOOL_MEGABYTES", "70"),
    ],
    account_megabytes: 70,
};

/// A client that has taken the head of an answer, and takes the rest when it is asked to.
struct Reader {
    stream: TcpStream,
    format: usize,
    status: u16,
    head: String,
    /// What came of the body with the head.
    begun: Vec<u8>,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let size = if context.short { SHORT } else { WHOLE };
    let mut service = Service::new(context, engine)?;
    for (variable, value) in size.settings.iter().copied() {
        service.set(variable, value);
    }
    // They are slower than the service would bear.
    service.set("PLAUDIT_SERVER_BODY_TIMEOUT_SECONDS", "3600");
    let program = Program { entries: size.entries, detail_every: 0, orders: 0, ..Program::small(11) };
    fill(&service, &program, size.answer)?;
    service.measure()?;
    service.start()?;
    let key = service.key(&program.account, "read")?;
    let client = service.client(&key);
    let mut checks = Checks::default();
    let mut peaks = Vec::new();
    println!("  {}: {} MB of memory before", engine.name(), service.peak_memory()? >> 20);
    for (per_page, readers) in size.pages.into_iter().zip(size.readers) {
        let path = path(per_page);
        let expected = [page(&client, &path, JSON)?, page(&client, &path, XML)?];
        let taken = begin(&service, &key, &path, readers)?;
        for reader in &taken {
            checks.check(reader.status == 200, || format!("a slow reader of {path} got {}", reader.head));
        }
        let spool = service.figure("plaudit_spool_bytes")?;
        let is_within = spool <= size.account_megabytes << 20;
        checks.check(is_within, || format!("the spool has {spool} bytes while {path} is read"));
        if per_page == size.pages[0] {
            checks.check(spool > 0, || "nothing waits in the spool".to_owned());
            refused(&service, &key, &path, &mut checks)?;
        }
        client.get("/entry?per_page=10")?.expect_status(200)?;
        for reader in taken {
            let format = reader.format;
            let is_whole = reader.finish(&expected[format])?;
            checks.check(is_whole, || format!("{path} is another page to a slow reader"));
        }
        let peak = service.peak_memory()?;
        let bytes = expected.iter().map(Vec::len).max().unwrap_or_default();
        let name = engine.name();
        println!(
            "  {name}: {readers} readers of {bytes} bytes: {spool} in the spool, {} MB of memory at most",
            peak >> 20
        );
        checks.check(peak < MEMORY, || format!("the service held {} MB of memory", peak >> 20));
        peaks.push(peak >> 20);
        emptied(&service, &mut checks)?;
    }
    too_long(&client, size.entries, &mut checks)?;
    // Clients that go away in the middle leave nothing behind.
    drop(begin(&service, &key, &path(size.pages[0]), 4)?);
    emptied(&service, &mut checks)?;
    let peak = peaks.into_iter().max().unwrap_or_default();
    Ok(checks.verdict(&format!("{peak} MB of memory at most")))
}

/// Imports the program with a long answer in each entry.
fn fill(service: &Service, program: &Program, bytes: usize) -> Result<()> {
    let file = service.directory().join("long.jsonl");
    let answer = program.slug(Kind::Field, field::TEXTAREA);
    let text = "Words of a long answer. ".repeat(bytes / 24);
    program.write_with(&file, |_, record| {
        if record["kind"] == "entry" && record["entry_fields"].is_object() {
            record["entry_fields"][&answer] = json!(text);
        }
    })?;
    service.import_file(&file)?.succeeded().map(drop)
}

fn path(per_page: u32) -> String {
    format!("/entry?order=local_id&include=entry_fields&per_page={per_page}")
}

/// A page as a client takes it that is as fast as the service.
fn page(client: &Client, path: &str, accept: &str) -> Result<Vec<u8>> {
    Ok(client.send("GET", path, &[("accept", accept)], None)?.expect_status(200)?.body)
}

/// Lets so many clients ask, some at a time and in both formats, and take no more than the heads of their answers.
fn begin(service: &Service, key: &str, path: &str, readers: usize) -> Result<Vec<Reader>> {
    let mut begun = Vec::new();
    while begun.len() < readers {
        let together = AT_ONCE.min(readers - begun.len());
        let asked: Result<Vec<Reader>> = thread::scope(|scope| {
            let ask = |number: usize| move || Reader::begin(service, key, path, number % 2);
            let asking: Vec<_> = (0..together).map(|number| scope.spawn(ask(number))).collect();
            asking.into_iter().map(|reader| reader.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?).collect()
        });
        begun.extend(asked?);
    }
    Ok(begun)
}

/// Where others have taken all room, whoever asks for more is told so, and when to ask again.
fn refused(service: &Service, key: &str, path: &str, checks: &mut Checks) -> Result<()> {
    for format in 0..2 {
        let reader = Reader::begin(service, key, path, format)?;
        let head = reader.head.to_ascii_lowercase();
        let is_clear = reader.status == 503 && head.contains("retry-after: ") && !head.contains("x-ratelimit-");
        let told = reader.rest()?;
        let is_told = String::from_utf8_lossy(&told).contains("of the account that are on their way fill");
        checks.check(is_clear && is_told, || format!("beyond the quota the answer is {head}"));
    }
    Ok(())
}

/// A page that is longer than pages may be is refused in both formats, with what to do.
fn too_long(client: &Client, entries: u32, checks: &mut Checks) -> Result<()> {
    for accept in [JSON, XML] {
        let answer = client.send("GET", &path(entries), &[("accept", accept)], None)?;
        let is_clear = answer.status == 400 && answer.text().contains("ask for fewer by per_page");
        checks.check(is_clear, || format!("a page over the limit is {} {}", answer.status, answer.text()));
    }
    Ok(())
}

/// Nothing is held once everybody has what they asked for, or has gone away.
fn emptied(service: &Service, checks: &mut Checks) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = [service.figure("plaudit_spool_bytes")?, service.figure("plaudit_answer_memory_bytes")?];
        if left == [0, 0] || Instant::now() > deadline {
            checks.check(left == [0, 0], || format!("{left:?} bytes are held for nobody"));
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

impl Reader {
    fn begin(service: &Service, key: &str, path: &str, format: usize) -> Result<Self> {
        let accept = [JSON, XML][format];
        let address = service.base();
        let host = address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\naccept: {accept}\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let (mut taken, mut piece) = (Vec::new(), [0; 4096]);
        let end = loop {
            let length = stream.read(&mut piece)?;
            if length == 0 {
                bail!("an answer broke off in its head");
            }
            taken.extend_from_slice(&piece[..length]);
            if let Some(end) = taken.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let begun = taken.split_off(end);
        let head = String::from_utf8(taken)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Self { stream, format, status, head, begun })
    }

    /// The whole body.
    fn rest(mut self) -> Result<Vec<u8>> {
        self.stream.read_to_end(&mut self.begun)?;
        Ok(self.begun)
    }

    /// Takes the rest; whether the body is what was expected.
    fn finish(mut self, expected: &[u8]) -> Result<bool> {
        let mut is_same = expected.starts_with(&self.begun);
        let (mut at, mut piece) = (self.begun.len(), vec![0; 1 << 16]);
        loop {
            let length = self.stream.read(&mut piece)?;
            if length == 0 {
                return Ok(is_same && at == expected.len());
            }
            is_same &= expected.get(at..at + length) == Some(&piece[..length]);
            at += length;
        }
    }
}
