//! Uploads: as large as they may be in bounded memory, refused where they must be, and nothing left of what was refused.

mod place;

use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use self::place::Place;
use super::service::{Answer, Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// Whatever a client sends, memory has a bound and refused files leave nothing.
pub(crate) const PROOF: Proof = Proof {
    name: "uploads",
    claim: "A file of 256 MB is taken and given back in bounded memory, one byte more is 413, a file that lies about its \
            type is 422, an expired, tampered or foreign address is 403, path tricks change nothing, and nothing is left \
            of what was refused: in a folder and in a bucket.",
    run: |context| on_each_engine(context, show),
};

/// The largest file of the interface, and one for the suite that still is more than one part of a bucket.
const SIZES: [usize; 2] = [256 << 20, 12 << 20];
/// The most memory that the service may have held: half of the largest file.
const MEMORY: u64 = 128 << 20;
/// How often it is tried to kill the service while it stores a file.
const ATTEMPTS: usize = 20;
/// How long the service may take to clear up behind a client that went away.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running service and what is asked of it.
struct Trial<'c> {
    context: &'c Context,
    engine: Engine,
    service: Service,
    place: Place,
    client: Client,
    key: String,
    program: Program,
    size: usize,
    checks: Checks,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (mut checks, mut figures) = (Checks::default(), Vec::new());
    for in_bucket in [false, true] {
        let mut trial = Trial::begin(context, engine, in_bucket, checks)?;
        let peak = trial.largest()?;
        trial.refused()?;
        trial.names()?;
        trial.addresses()?;
        trial.broken_off()?;
        trial.killed()?;
        let place = trial.place.name();
        println!("  {}, {place}: peak memory {} MB", engine.name(), peak >> 20);
        figures.push(format!("{place}: {} MB of memory at most", peak >> 20));
        checks = trial.end()?;
    }
    let size = SIZES[usize::from(context.short)] >> 20;
    Ok(checks.verdict(&format!("files of {size} MB, {}", figures.join(", "))))
}

impl<'c> Trial<'c> {
    fn begin(context: &'c Context, engine: Engine, in_bucket: bool, checks: Checks) -> Result<Self> {
        let program = Program { entries: 12, detail_every: 0, orders: 0, ..Program::small(7) };
        let mut service = Service::new(context, engine)?;
        let place = Place::new(service.directory(), in_bucket)?;
        place.configure(&mut service);
        let size = SIZES[usize::from(context.short)];
        service.set("PLAUDIT_SERVER_MAX_UPLOAD_BYTES", &size.to_string());
        service.import(&program)?;
        let field = json!({"kind": "field", "slug": "FieldPng", "form": program.slug(Kind::Form, 0),
            "tab": program.slug(Kind::Tab, 1), "resource": "entries", "type": "file", "file_types": ["image/png"],
            "title": {"en_GB": "Image"}});
        let file = service.directory().join("field.jsonl");
        std::fs::write(&file, format!("{field}\n"))?;
        service.run(&["import", "--account", &program.account, &file.to_string_lossy()])?.succeeded()?;
        service.measure()?;
        service.start()?;
        let key = service.key(&program.account, "read_write")?;
        let client = service.client(&key);
        Ok(Self { context, engine, service, place, client, key, program, size, checks })
    }

    /// The path that attaches a file to an entry.
    fn attach(&self) -> String {
        format!("/entry/{}/attachment/{}", self.program.slug(Kind::Entry, 0), self.program.slug(Kind::Tab, 3))
    }

    /// The path that answers the field for images.
    fn answer(&self) -> String {
        format!("/entry/{}/upload/FieldPng", self.program.slug(Kind::Entry, 0))
    }

    fn upload(&self, path: &str, body: &[u8]) -> Result<Answer> {
        self.client.send("POST", path, &[("content-type", "application/json")], Some(body))
    }

    /// The names of what is stored, unfinished files included.
    fn stored(&self) -> Result<Vec<String>> {
        self.place.stored(&self.program.account)
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        let (engine, place) = (self.engine.name(), self.place.name());
        self.checks.check(holds, || format!("{engine}, {place}: {}", what()));
    }

    /// The largest file is taken and given back, and the memory that this took.
    fn largest(&mut self) -> Result<u64> {
        let before = self.service.memory()?;
        let content = content(self.size);
        let answer = self.upload(&self.attach(), &body("large.bin", &content))?.expect_status(201)?;
        let token = text(&answer.json()?, "/token");
        let uploaded = self.service.peak_memory()?;
        let file = self.client.get(&format!("/file/{token}"))?.expect_status(200)?.json()?;
        self.check(file["size"] == self.size, || format!("the file has {} bytes", file["size"]));
        let address = self.address(&token)?;
        let download = self.service.bare().get(&address)?.expect_status(200)?;
        let is_same = download.body == content;
        self.check(is_same, || format!("other bytes were given back, {} of them", download.body.len()));
        let (from, to) = (self.size / 2 - 7, self.size / 2 + (2 << 20));
        let range = format!("bytes={from}-{}", to - 1);
        let part = self.service.bare().send("GET", &address, &[("range", range.as_str())], None)?.expect_status(206)?;
        let is_same = part.body == content[from..to];
        self.check(is_same, || "other bytes were given back for a range".to_owned());
        let peak = self.service.peak_memory()?;
        println!(
            "  {}, {}: {} MB of memory before, {} MB at most for the upload, {} MB with the downloads",
            self.engine.name(),
            self.place.name(),
            before >> 20,
            uploaded >> 20,
            peak >> 20
        );
        self.check(peak <= MEMORY, || format!("the service held {} MB of memory", peak >> 20));
        Ok(peak)
    }

    /// What is too large or not what it says it is.
    fn refused(&mut self) -> Result<()> {
        let before = self.stored()?;
        let large = content(self.size + 1);
        let status = self.upload(&self.attach(), &body("large.bin", &large))?.status;
        self.check(status == 413, || format!("one byte more is {status}"));
        for (name, content) in
            [("a.png", &b"%PDF-1.7 is no image"[..]), ("a.png", &large[..self.size / 2]), ("a.png", b"")]
        {
            let answer = self.upload(&self.answer(), &body_with(name, "", content))?;
            let told = answer.json()?["errors"]["data"].is_array();
            self.check(answer.status == 422 && told, || {
                format!("{} bytes that are no image are {}", content.len(), answer.status)
            });
        }
        // Where no type is asked for, a name that claims one must still not lie.
        for (name, content, expected) in [
            ("a.png", &b"words"[..], 422),
            ("a.gif", &large[..64], 422),
            ("a.pdf", &b"a text"[..], 422),
            ("a.pdf", b"GIF89a\x05\0\x07\0", 201),
            ("a.txt", b"words", 201),
        ] {
            let status = self.upload(&self.attach(), &body(name, content))?.status;
            self.check(status == expected, || format!("{name} of {} bytes is {status}", content.len()));
        }
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x07".as_slice(), &large[..self.size / 2]].concat();
        let status = self.upload(&self.answer(), &body_with("not-named-so.pdf", "", &png))?.status;
        self.check(status == 201, || format!("an image with another name is {status}"));
        // What had begun to be stored of a file is removed behind the answer that refuses it.
        self.wait_for("the three accepted files alone to be stored", |trial| {
            Ok(trial.stored()?.len() == before.len() + 3)
        })
    }

    /// Names that lead elsewhere, or would if they were paths.
    fn names(&mut self) -> Result<()> {
        let before = self.stored()?;
        let outside = self.place.outside()?;
        for name in ["../../../plaudit.db", "a/b", "/etc/passwd", "..\\..\\x", "a\0b", "a\nb", ""] {
            let status = self.upload(&self.attach(), &body(name, b"tricky"))?.status;
            self.check(status == 422, || format!("the name {name:?} is {status}"));
        }
        let mut accepted = 0;
        for name in ["..", ".", "CON", "%2e%2e%2fx", "x\u{202e}gpj.exe", "\"; filename=\"evil.exe", "\u{2025}\u{2215}x"]
        {
            let answer = self.upload(&self.attach(), &body(name, b"tricky"))?.expect_status(201)?;
            let token = text(&answer.json()?, "/token");
            let shown = self.client.get(&format!("/file/{token}"))?.expect_status(200)?.json()?;
            self.check(shown["filename"] == name, || format!("the name {name:?} is shown as {}", shown["filename"]));
            let address = self.address(&token)?;
            let download = self.service.bare().get(&address)?.expect_status(200)?;
            let disposition = download.header("content-disposition").unwrap_or_default().to_owned();
            let is_plain =
                disposition.starts_with("attachment; filename=\"") && !disposition.contains(['/', '\\', '\u{202e}']);
            let quotes = disposition.matches('"').count();
            self.check(is_plain && quotes == 2, || format!("the name {name:?} is sent as {disposition}"));
            self.check(download.header("x-content-type-options") == Some("nosniff"), || "no nosniff".to_owned());
            accepted += 1;
        }
        let after = self.stored()?;
        let are_tokens = after.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphabetic()));
        self.check(are_tokens && after.len() == before.len() + accepted, || format!("what is stored is {after:?}"));
        let now = self.place.outside()?;
        self.check(now == outside, || format!("beside the files there were {outside:?}, and there are {now:?}"));
        Ok(())
    }

    /// The download address of a file, without the base.
    fn address(&self, token: &str) -> Result<String> {
        let file = self.client.get(&format!("/file/{token}"))?.expect_status(200)?.json()?;
        let link = text(&file, "/download_link");
        link.strip_prefix(&self.service.base()).map(str::to_owned).with_context(|| format!("{link} leads elsewhere"))
    }

    /// Addresses that are not what was signed.
    fn addresses(&mut self) -> Result<()> {
        let answer = self.upload(&self.attach(), &body("small.txt", b"small"))?.expect_status(201)?;
        let token = text(&answer.json()?, "/token");
        let other = self.upload(&self.attach(), &body("other.txt", b"other"))?.expect_status(201)?;
        let other = text(&other.json()?, "/token");
        let address = self.address(&token)?;
        let account = self.program.account.clone();
        let (path, query) = address.split_once('?').context("an address without a signature")?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let (future, past) = (self.signed(&token, now + 600)?, self.signed(&token, now - 1)?);
        let right = self.service.bare().get(&future)?.status;
        self.check(right == 200, || format!("an address signed with the secret of the deployment is {right}"));
        let turned = if address.ends_with('A') { "E" } else { "A" };
        let wrong = [
            ("expired", past),
            ("tampered", format!("{}{turned}", &address[..address.len() - 1])),
            ("tampered", address.replacen("expires=1", "expires=2", 1)),
            ("without a signature", path.to_owned()),
            ("of another file", address.replace(&token, &other)),
            ("of another account", address.replace(account.as_str(), "ZzZzZzZz")),
            ("leading out", format!("/download/{account}/..%2f..%2fplaudit.db?{query}")),
            ("leading out", format!("/download/%2e%2e/{token}?{query}")),
        ];
        for (what, address) in wrong {
            let status = self.service.bare().get(&address)?.status;
            self.check(status == 403, || format!("an address {what} is {status}: {address}"));
        }
        Ok(())
    }

    /// An address that the deployment itself would have signed, made by another implementation.
    fn signed(&self, token: &str, expires: u64) -> Result<String> {
        const SCRIPT: &str = "import base64, hashlib, hmac, sys; key, text = bytes.fromhex(sys.argv[1]), sys.argv[2]; \
            print(base64.urlsafe_b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode().rstrip('='))";
        let secret = match self.engine {
            Engine::Sqlite => {
                self.service.ask(self.context, "SELECT hex(bytes) FROM secrets WHERE name = 'downloads'")?
            }
            Engine::Postgres => {
                self.service.ask(self.context, "SELECT encode(bytes, 'hex') FROM secrets WHERE name = 'downloads'")?
            }
        };
        let text = format!("/download/{}/{token}?expires={expires}", self.program.account);
        let signature = process::output(Command::new(self.context.python()?).args(["-c", SCRIPT, &secret, &text]))?;
        Ok(format!("{text}&signature={}", signature.trim()))
    }

    /// Sends the beginning of an upload and nothing more; gives the rest as well.
    fn begin_upload(&self) -> Result<(TcpStream, Vec<u8>)> {
        let mut body = body("half.bin", &content(self.size));
        let mut stream = TcpStream::connect(self.service.base().trim_start_matches("http://"))?;
        write!(
            stream,
            "POST {} HTTP/1.1\r\nhost: localhost\r\naccept: {}\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.attach(),
            super::service::JSON,
            self.key,
            body.len()
        )?;
        let rest = body.split_off(body.len() / 4 * 3);
        stream.write_all(&body)?;
        Ok((stream, rest))
    }

    /// A client that goes away in the middle.
    fn broken_off(&mut self) -> Result<()> {
        let before = self.stored()?;
        let (stream, _) = self.begin_upload()?;
        self.wait_for("the first bytes to come", |trial| Ok(trial.service.figure("plaudit_spool_bytes")? > 0))?;
        drop(stream);
        self.wait_for("nothing to be left", |trial| Ok(trial.service.figure("plaudit_spool_bytes")? == 0))?;
        let after = self.stored()?;
        self.check(after == before, || format!("an upload that broke off left {after:?}"));
        Ok(())
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self)? {
            if Instant::now() > deadline {
                bail!("waited in vain for {what}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The service dies while it stores a file; what it left is removed, once nobody can be at it any more.
    fn killed(&mut self) -> Result<()> {
        let before = self.stored()?;
        let mut kept = 0;
        while self.service.ask(self.context, "SELECT count(*) FROM uploads")? == "0" {
            if kept == ATTEMPTS {
                bail!("the service was never killed while it stored a file");
            }
            // Where the last attempt was too late, its file was recorded and is to stay.
            let stored = self.stored()?.len();
            let (mut stream, rest) = self.begin_upload()?;
            // The connection stays open: a client that goes away early has nothing stored.
            let sent = thread::spawn(move || stream.write_all(&rest).map(|()| stream));
            let deadline = Instant::now() + PATIENCE;
            while self.stored()?.len() == stored && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            self.service.kill()?;
            drop(sent.join());
            kept += 1;
            if self.service.ask(self.context, "SELECT count(*) FROM uploads")? == "0" {
                self.service.start()?;
            }
        }
        self.service.tamper(self.context, "UPDATE uploads SET begun = 0")?;
        self.service.start()?;
        self.wait_for("what the killed upload announced to be removed", |trial| {
            Ok(trial.service.ask(trial.context, "SELECT count(*) FROM uploads")? == "0")
        })?;
        let after = self.place.files(&self.program.account)?;
        let added = after.iter().filter(|name| !before.contains(name)).count();
        self.check(added == kept - 1, || format!("a killed upload left {after:?}"));
        self.client = self.service.client(&self.key);
        Ok(())
    }

    /// Stops the service and lets its doctor look at what is stored.
    fn end(mut self) -> Result<Checks> {
        self.service.stop()?;
        let doctor = self.service.run(&["doctor"])?;
        self.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
        let log = self.service.last_words();
        let secret = test_bucket::SECRET_ACCESS_KEY;
        let is_secret = !log.contains(secret) && !doctor.stderr.contains(secret);
        self.check(is_secret, || "the access key stands in the log".to_owned());
        Ok(self.checks)
    }
}

/// Bytes that do not repeat soon and are of no known type.
fn content(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_be_bytes());
    }
    bytes.truncate(size);
    bytes
}

/// The body of an attachment.
fn body(filename: &str, content: &[u8]) -> Vec<u8> {
    body_with(filename, ",\"order\":1", content)
}

/// The body of an upload with some members of its own.
fn body_with(filename: &str, members: &str, content: &[u8]) -> Vec<u8> {
    let mut body = format!("{{\"filename\":{}{members},\"data\":\"", Value::from(filename)).into_bytes();
    body.extend_from_slice(STANDARD.encode(content).as_bytes());
    body.extend_from_slice(b"\"}");
    body
}

fn text(document: &Value, pointer: &str) -> String {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
