//! The attacks, a line each, and those who carry them out.

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout_at};

use crate::service::{JSON, Kind, Program, XML};

/// What is tried, and by how many at the same time.
pub(super) struct Attack {
    pub(super) name: &'static str,
    many: u32,
    /// What at least one attempt is answered, or the attack did not take place; nothing where none comes to an answer.
    pub(super) answered: Option<u16>,
    /// One attempt of the attacker of this number, repeated until the attack ends.
    run: fn(Attacker, u32) -> Attempt,
}

type Attempt = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

const fn attack(name: &'static str, many: u32, answered: u16, run: fn(Attacker, u32) -> Attempt) -> Attack {
    Attack { name, many, answered: if answered == 0 { None } else { Some(answered) }, run }
}

/// Every attack.
pub(super) const ATTACKS: &[Attack] = &[
    attack("slow heads", 400, 0, |attacker, number| Box::pin(slow_head(attacker, number))),
    attack("slow bodies", 200, 0, |attacker, number| Box::pin(slow_body(attacker, number))),
    attack("slow readers", 200, 200, |attacker, number| Box::pin(slow_reader(attacker, number))),
    attack("slow readers of long pages of several accounts", 120, 200, |attacker, number| {
        Box::pin(slow_page(attacker, number))
    }),
    attack("slow readers of streams of long changes", 120, 200, |attacker, number| {
        Box::pin(slow_stream(attacker, number))
    }),
    attack("an idle flood of one address", 1, 0, |attacker, _| Box::pin(idle(attacker, 1, 2_000))),
    attack("an idle flood of many addresses", 50, 0, |attacker, number| Box::pin(idle(attacker, number, 100))),
    attack("connections renewed by 34 bytes", 500, 200, |attacker, number| Box::pin(renewed(attacker, number))),
    attack("an upload flood", 8, 201, |attacker, number| Box::pin(upload(attacker, number))),
    attack("uploads that are held back", 200, 0, |attacker, number| Box::pin(held_upload(attacker, number))),
    attack("large answers", 6, 200, |attacker, number| Box::pin(large_answer(attacker, number))),
    attack("large errors", 8, 422, |attacker, number| Box::pin(large_error(attacker, number))),
    attack("small changes of large records", 64, 200, |attacker, number| Box::pin(small_change(attacker, number))),
    attack("deep and wide bodies", 64, 400, |attacker, number| Box::pin(deep_or_wide(attacker, number))),
    attack("a deep set-up", 4, 201, |attacker, number| Box::pin(deep_setup(attacker, number))),
    attack("a query flood", 16, 200, |attacker, number| Box::pin(query(attacker, number))),
    attack("a retry flood", 16, 200, |attacker, number| Box::pin(retry(attacker, number))),
    attack("key guessing", 16, 429, |attacker, number| Box::pin(guess(attacker, number))),
    attack("what is no HTTP", 16, 400, |attacker, number| Box::pin(nonsense(attacker, number))),
];

/// How many accounts with long entries attackers have.
pub(super) const OWN: usize = 4;
/// How long an attacker waits after an attempt that failed at once.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a slow client waits between two bytes.
const SLOWLY: Duration = Duration::from_millis(200);

/// What attackers know: the service, and an account of their own.
#[derive(Clone)]
pub(super) struct Attacker(Arc<Known>);

struct Known {
    service: SocketAddr,
    /// A key that writes.
    key: String,
    /// Keys that read, of many accounts; the first [`OWN`] of the attackers' own, with long entries.
    keys: Vec<String>,
    entry: String,
    season: String,
    tab: String,
    attempts: AtomicU64,
    /// The statuses that attempts were answered.
    statuses: Mutex<BTreeSet<u16>>,
}

/// Attackers at work.
pub(super) struct Attempts {
    attacker: Attacker,
    tasks: Vec<JoinHandle<()>>,
}

/// Has attackers work until a time, of each attack a part.
pub(super) fn begin(
    runtime: &Runtime,
    attacker: &Attacker,
    attacks: &'static [Attack],
    part: u32,
    until: Instant,
) -> Attempts {
    attacker.0.attempts.store(0, Ordering::Relaxed);
    attacker.0.statuses.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let until = tokio::time::Instant::from_std(until);
    let mut tasks = Vec::new();
    for attack in attacks {
        for number in 0..attack.many.div_ceil(part) {
            let attacker = attacker.clone();
            tasks.push(runtime.spawn(async move {
                while let Ok(result) = timeout_at(until, (attack.run)(attacker.clone(), number)).await {
                    attacker.0.attempts.fetch_add(1, Ordering::Relaxed);
                    // That the service refuses or closes a connection is what an attacker has to expect.
                    if result.is_err() && timeout_at(until, sleep(PAUSE)).await.is_err() {
                        break;
                    }
                }
            }));
        }
    }
    Attempts { attacker: attacker.clone(), tasks }
}

impl Attempts {
    /// Waits until the attackers have gone; gives the number of attempts that came to an end, and what they were answered.
    pub(super) fn end(self, runtime: &Runtime) -> (u64, BTreeSet<u16>) {
        for task in self.tasks {
            let _ = runtime.block_on(task);
        }
        let statuses = self.attacker.0.statuses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.attacker.0.attempts.load(Ordering::Relaxed), statuses)
    }
}

impl Attacker {
    /// Attackers of a service, with a key of the account of this program that writes, and keys that read.
    pub(super) fn new(service: SocketAddr, key: String, keys: Vec<String>, program: &Program) -> Self {
        let (entry, season) = (program.slug(Kind::Entry, 0), program.slug(Kind::Season, 0));
        let tab = program.slug(Kind::Tab, 3);
        Self(Arc::new(Known {
            service,
            key,
            keys,
            entry,
            season,
            tab,
            attempts: AtomicU64::new(0),
            statuses: Mutex::default(),
        }))
    }

    /// A connection from the address of this number.
    async fn connect(&self, number: u32) -> io::Result<TcpStream> {
        self.connect_with(number, None).await
    }

    async fn connect_with(&self, number: u32, receive_buffer: Option<u32>) -> io::Result<TcpStream> {
        let [_, _, high, low] = number.to_be_bytes();
        let socket = TcpSocket::new_v4()?;
        if let Some(bytes) = receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        socket.bind((Ipv4Addr::new(127, 66, high, low), 0).into())?;
        socket.connect(self.0.service).await
    }

    /// Notes what an attempt was answered.
    fn answered(&self, answer: &[u8]) {
        let status = answer.get(9..12).and_then(|status| std::str::from_utf8(status).ok()?.parse().ok());
        if let Some(status) = status.filter(|_| answer.starts_with(b"HTTP/1.1 ")) {
            self.0.statuses.lock().unwrap_or_else(PoisonError::into_inner).insert(status);
        }
    }

    /// A request with a key and a body.
    fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n{headers}\r\n",
            self.0.key,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Takes the beginning of an answer, and then a byte now and then.
    async fn take_slowly(&self, mut connection: TcpStream) -> io::Result<()> {
        let mut begin = [0; 12];
        connection.read_exact(&mut begin).await?;
        self.answered(&begin);
        while connection.read_u8().await.is_ok() {
            sleep(SLOWLY).await;
        }
        Ok(())
    }

    /// Sends a request and reads whatever comes.
    async fn send(&self, number: u32, request: &[u8]) -> io::Result<Vec<u8>> {
        let mut connection = self.connect(number).await?;
        connection.write_all(request).await?;
        let mut answer = Vec::new();
        // Where the service closes the connection on who still sends, what came before counts.
        let read = connection.read_to_end(&mut answer).await;
        self.answered(&answer);
        read.map(|_| answer)
    }
}

/// Sends bytes one by one.
async fn trickle(connection: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    for byte in bytes {
        connection.write_all(&[*byte]).await?;
        sleep(SLOWLY).await;
    }
    Ok(())
}

async fn slow_head(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut connection = attacker.connect(number / 20).await?;
    trickle(&mut connection, b"GET /entry HTTP/1.1\r\nhost: x\r\nx-slow: ").await?;
    trickle(&mut connection, &[b'x'; 1_000]).await
}

async fn slow_body(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut connection = attacker.connect(number / 20).await?;
    let path = format!("/entry/{}/attachment/{}", attacker.0.entry, attacker.0.tab);
    let request = attacker.request("POST", &path, "", &vec![b' '; 100_000]);
    let (head, body) = request.split_at(request.len() - 100_000);
    connection.write_all(head).await?;
    trickle(&mut connection, body).await
}

/// Asks for a page of the attackers' own, and for the largest that is without a key, and takes a byte now and then.
async fn slow_reader(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut connection = attacker.connect_with(number / 20, Some(4_096)).await?;
    let path = if number.is_multiple_of(2) { "/openapi.json" } else { "/entry?per_page=100&include=entry_fields" };
    connection.write_all(&attacker.request("GET", path, &format!("accept: {JSON}\r\n"), b"")).await?;
    attacker.take_slowly(connection).await
}

/// Takes a byte now and then of what is behind a path of an own account.
async fn slow_get(attacker: Attacker, number: u32, path: &str, headers: &str) -> io::Result<()> {
    let mut connection = attacker.connect_with(number / 20, Some(4_096)).await?;
    let key = &attacker.0.keys[number as usize % OWN];
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n{headers}\r\n");
    connection.write_all(request.as_bytes()).await?;
    attacker.take_slowly(connection).await
}

async fn slow_page(attacker: Attacker, number: u32) -> io::Result<()> {
    let format = if number.is_multiple_of(2) { XML } else { JSON };
    let path = "/entry?per_page=100&include=entry_fields,attachments,contributors";
    slow_get(attacker, number, path, &format!("accept: {format}\r\n")).await
}

async fn slow_stream(attacker: Attacker, number: u32) -> io::Result<()> {
    let format = if number.is_multiple_of(2) { XML } else { JSON };
    slow_get(attacker, number, "/entry/stream", &format!("accept: {format}\r\nlast-event-id: {number}\r\n")).await
}

/// Opens connections as fast as can be and keeps them.
async fn idle(attacker: Attacker, number: u32, count: usize) -> io::Result<()> {
    let mut held = Vec::with_capacity(count);
    while held.len() < count {
        held.push(attacker.connect(number).await?);
    }
    sleep(SLOWLY).await;
    Ok(())
}

/// Keeps a connection by short requests.
async fn renewed(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut connection = attacker.connect(number / 5).await?;
    let mut answer = vec![0; 4_096];
    loop {
        connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await?;
        let length = connection.read(&mut answer).await?;
        attacker.answered(&answer[..length]);
        if length == 0 {
            return Ok(());
        }
        sleep(SLOWLY).await;
    }
}

/// Uploads files; every other one is broken off in the middle.
async fn upload(attacker: Attacker, number: u32) -> io::Result<()> {
    let path = format!("/entry/{}/attachment/{}", attacker.0.entry, attacker.0.tab);
    let body = format!("{{\"filename\":\"a.bin\",\"order\":1,\"data\":\"{}\"}}", "QUJD".repeat(500_000));
    let request = attacker.request("POST", &path, &format!("accept: {JSON}\r\n"), body.as_bytes());
    if number.is_multiple_of(2) {
        return attacker.send(number, &request).await.map(drop);
    }
    let mut connection = attacker.connect(number).await?;
    connection.write_all(&request[..request.len() / 2]).await
}

/// Sends most of a file and then a byte now and then; every other one under a name of its own.
async fn held_upload(attacker: Attacker, number: u32) -> io::Result<()> {
    let path = format!("/entry/{}/attachment/{}", attacker.0.entry, attacker.0.tab);
    let body = format!("{{\"filename\":\"a.bin\",\"order\":1,\"data\":\"{}\"}}", "QUJD".repeat(1_000_000));
    let named = if number.is_multiple_of(2) { String::new() } else { format!("idempotency-key: held-{number}\r\n") };
    let request = attacker.request("POST", &path, &format!("accept: {JSON}\r\n{named}"), body.as_bytes());
    let (most, rest) = request.split_at(request.len() - 1_000);
    let mut connection = attacker.connect(number / 20).await?;
    connection.write_all(most).await?;
    trickle(&mut connection, rest).await
}

/// Changes a member of an entry that is long in all.
async fn small_change(attacker: Attacker, number: u32) -> io::Result<()> {
    let format = if number.is_multiple_of(2) { XML } else { JSON };
    let path = format!("/entry/{}", attacker.0.entry);
    let body = format!("{{\"title\":\"Title {number}\"}}");
    let request = attacker.request("PUT", &path, &format!("accept: {format}\r\n"), body.as_bytes());
    attacker.send(number, &request).await.map(drop)
}

async fn large_answer(attacker: Attacker, number: u32) -> io::Result<()> {
    let format = if number.is_multiple_of(2) { XML } else { JSON };
    let path = "/entry?per_page=100&include=entry_fields,attachments,contributors";
    attacker.send(number, &attacker.request("GET", path, &format!("accept: {format}\r\n"), b"")).await.map(drop)
}

/// Sends what is wrong so often, and by so long names, that to tell all of it would take many times the bytes.
async fn large_error(attacker: Attacker, number: u32) -> io::Result<()> {
    let long = format!("{{\"{}\":1}}", "<".repeat(1_000_000));
    let many: Vec<String> = (0..60_000).map(|member| format!("\"{member}\":1")).collect();
    let body = if number.is_multiple_of(2) { long } else { format!("{{{}}}", many.join(",")) };
    let path = format!("/entry/{}", attacker.0.entry);
    attacker
        .send(number, &attacker.request("PUT", &path, &format!("accept: {XML}\r\n"), body.as_bytes()))
        .await
        .map(drop)
}

async fn deep_or_wide(attacker: Attacker, number: u32) -> io::Result<()> {
    let body = match number % 4 {
        0 => "[".repeat(1_000_000),
        1 => format!("{{\"title\":{}1{}}}", "[".repeat(400_000), "]".repeat(400_000)),
        2 => format!("[{}1]", "1,".repeat(400_000)),
        _ => format!("{{\"title\":\"{}\"}}", "\\u0001".repeat(150_000)),
    };
    let path = format!("/entry/{}", attacker.0.entry);
    attacker
        .send(number, &attacker.request("PUT", &path, &format!("accept: {JSON}\r\n"), body.as_bytes()))
        .await
        .map(drop)
}

/// Makes categories, each below the one before it.
async fn deep_setup(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut parent = String::new();
    loop {
        let body = format!(
            "{{\"season\":\"{}\",\"status\":\"active\"{parent},\"translated\":{{\"name\":{{\"en_GB\":\"Deep\"}}}}}}",
            attacker.0.season
        );
        let request = attacker.request("POST", "/category", &format!("accept: {JSON}\r\n"), body.as_bytes());
        let answer = String::from_utf8_lossy(&attacker.send(number, &request).await?).into_owned();
        let Some(at) = answer.find("/category/") else { return Ok(()) };
        let slug: String = answer[at + "/category/".len()..].chars().take(8).collect();
        parent = format!(",\"parent\":\"{slug}\"");
    }
}

/// Lists of many accounts, by filters, sorts and depths that differ.
async fn query(attacker: Attacker, number: u32) -> io::Result<()> {
    const LISTS: [&str; 5] = [
        "/entry?per_page=100&order=title&dir=asc&include=entry_fields",
        "/entry?status=submitted&order=updated&dir=desc&page=3&per_page=1",
        "/order?per_page=100&order=total&dir=asc",
        "/user?per_page=100&order=created&dir=desc",
        "/entry?page=99999&per_page=1",
    ];
    let mut connection = attacker.connect(number).await?;
    let keys = &attacker.0.keys;
    let mut answer = vec![0; 64 << 10];
    for (turn, key) in keys.iter().cycle().skip(number as usize % keys.len()).take(100).enumerate() {
        let path = LISTS[turn % LISTS.len()];
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\naccept: {JSON}\r\n\r\n");
        connection.write_all(request.as_bytes()).await?;
        // The answers are not what is looked at: as much is taken as has come.
        let length = connection.read(&mut answer).await?;
        attacker.answered(&answer[..length]);
        if length == 0 {
            break;
        }
    }
    Ok(())
}

/// Sends one change again and again at the same time under one name.
async fn retry(attacker: Attacker, number: u32) -> io::Result<()> {
    let name = attacker.0.attempts.load(Ordering::Relaxed) / 32;
    let headers = format!("accept: {JSON}\r\nidempotency-key: retry-{name}\r\n");
    let path = format!("/entry/{}/update-title", attacker.0.entry);
    attacker.send(number, &attacker.request("PUT", &path, &headers, b"{\"title\":\"Again\"}")).await.map(drop)
}

async fn guess(attacker: Attacker, number: u32) -> io::Result<()> {
    let mut connection = attacker.connect(number).await?;
    let mut answer = vec![0; 4_096];
    for guess in 0..1_000_u32 {
        let letters: String = (0..8).map(|place| char::from(b'a' + (guess >> (place * 2) & 3) as u8)).collect();
        let key = format!("plaudit_{}", letters.repeat(5));
        let request = format!("GET /entry HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\naccept: {JSON}\r\n\r\n");
        connection.write_all(request.as_bytes()).await?;
        let length = connection.read(&mut answer).await?;
        attacker.answered(&answer[..length]);
        if length == 0 {
            break;
        }
    }
    Ok(())
}

async fn nonsense(attacker: Attacker, number: u32) -> io::Result<()> {
    let request = match number % 4 {
        0 => vec![0xff; 70_000],
        1 => b"GET / HTTP/1.1\r\n".iter().copied().chain(vec![b'x'; 100_000]).collect(),
        2 => b"POST /entry HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_vec(),
        _ => b"GET /entry HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_vec(),
    };
    attacker.send(number, &request).await.map(drop)
}
