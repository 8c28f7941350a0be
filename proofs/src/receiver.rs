//! An endpoint of webhooks: it takes deliveries over connections that stay open, answers them as it was told to, and remembers
//! them in the order in which they came.
//!
//! The path `/N` is that of endpoint N, so that one receiver is several endpoints.

mod wire;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Result as IoResult, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::service::Random;

pub(crate) use wire::Request;

/// How a receiver answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Conduct {
    /// Takes everything.
    Takes,
    /// Never answers.
    Hangs,
    /// Sends whoever calls it to this port of 127.0.0.1.
    Redirects(u16),
    /// Takes most; of a thousand requests 50 get 500, 30 a connection that closes, 50 an answer that is late, and 2 get 429, which
    /// has its endpoint rest for a second. Which ones follows from this number.
    IsUnreliable(u64),
}

/// What a receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Status(u16),
    Late,
    Redirect(u16),
    Close,
    Hang,
}

/// The id of a delivery: `msg_<sequence>_<place>_<mark>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    /// The number of the change.
    pub(crate) sequence: i64,
    /// Which event of it.
    pub(crate) place: u32,
    /// The beginning of the change's hash.
    pub(crate) mark: Box<str>,
}

/// A delivery that has arrived, taken or not.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// The number of the endpoint.
    pub(crate) endpoint: usize,
    /// The `webhook-id`.
    pub(crate) id: Id,
    /// Of the body, as the two that follow.
    pub(crate) event: Box<str>,
    /// The record.
    pub(crate) slug: Box<str>,
    /// The record's title; empty where it has none.
    pub(crate) title: Box<str>,
    /// What is the same where the body is.
    pub(crate) body: u64,
    /// How many bytes the body has.
    pub(crate) length: usize,
    /// When all of it was there.
    pub(crate) at: Instant,
    /// What it was answered; 0 where it was not.
    pub(crate) status: u16,
}

/// A receiver that listens until it is dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    conduct: Mutex<Option<Conduct>>,
    connections: AtomicUsize,
    keeps_requests: bool,
    ends: AtomicBool,
    book: Mutex<Book>,
}

/// What has come.
#[derive(Default)]
struct Book {
    arrivals: Vec<Arrival>,
    taken: HashSet<(usize, i64, u32)>,
    requests: Vec<Request>,
    faults: Vec<String>,
}

impl Receiver {
    /// One that listens at a free port of this address. It keeps whole requests only where it is asked to.
    pub(crate) fn start(host: &str, conduct: Conduct, keeps_requests: bool) -> Result<Self> {
        Self::start_at((host, 0), conduct, keeps_requests)
    }

    /// The same at this port.
    pub(crate) fn start_at(at: (&str, u16), conduct: Conduct, keeps_requests: bool) -> Result<Self> {
        let listener = TcpListener::bind(at).with_context(|| format!("nothing can listen at {at:?}"))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { conduct: Mutex::new(Some(conduct)), keeps_requests, ..Shared::default() });
        let of_thread = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &of_thread));
        Ok(Self { address, shared })
    }

    /// The address of endpoint N.
    pub(crate) fn url(&self, endpoint: usize) -> String {
        format!("http://{}/{endpoint}", self.address)
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on it answers otherwise.
    pub(crate) fn conduct(&self, conduct: Conduct) {
        *lock(&self.shared.conduct) = Some(conduct);
    }

    /// How many connections were opened to it.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many deliveries it has taken, each counted once for each endpoint.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.shared.book).taken.len()
    }

    /// How many have arrived, whatever became of them.
    pub(crate) fn arrived(&self) -> usize {
        lock(&self.shared.book).arrivals.len()
    }

    /// When an endpoint was last sent something.
    pub(crate) fn last_arrival(&self, endpoint: usize) -> Option<Instant> {
        let book = lock(&self.shared.book);
        book.arrivals.iter().rev().find(|arrival| arrival.endpoint == endpoint).map(|arrival| arrival.at)
    }

    /// What has arrived so far, in its order; it is forgotten here.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        std::mem::take(&mut lock(&self.shared.book).arrivals)
    }

    /// Whole requests, in their order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.shared.book).requests.clone()
    }

    /// What was no delivery.
    pub(crate) fn faults(&self) -> Vec<String> {
        lock(&self.shared.book).faults.clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        // The thread waits for a connection; that it has one tells it to look.
        let _ = TcpStream::connect(self.address);
    }
}

impl Id {
    /// The id of this text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("msg_")?.split('_');
        let (sequence, place) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let mark = parts.next().filter(|mark| mark.len() == 12 && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        parts.next().is_none().then(|| Self { sequence, place, mark: mark.into() })
    }
}

impl Reply {
    /// What is done with the request of this number.
    fn of(conduct: Conduct, number: usize) -> Self {
        match conduct {
            Conduct::Takes => Self::Status(200),
            Conduct::Hangs => Self::Hang,
            Conduct::Redirects(port) => Self::Redirect(port),
            Conduct::IsUnreliable(seed) => match Random::new(seed.wrapping_add(number as u64)).below(1_000) {
                0..50 => Self::Status(500),
                50..80 => Self::Close,
                80..82 => Self::Status(429),
                82..132 => Self::Late,
                _ => Self::Status(200),
            },
        }
    }

    fn status(self) -> u16 {
        match self {
            Self::Status(status) => status,
            Self::Late => 200,
            Self::Redirect(_) => 302,
            Self::Close | Self::Hang => 0,
        }
    }

    fn bytes(self) -> String {
        let more = match self {
            Self::Status(429) => "retry-after: 1\r\n".to_owned(),
            Self::Redirect(port) => format!("location: http://127.0.0.1:{port}/0\r\n"),
            _ => String::new(),
        };
        format!("HTTP/1.1 {} Told\r\n{more}content-length: 2\r\n\r\nok", self.status())
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.ends.load(Ordering::SeqCst) {
            return;
        }
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A connection that breaks is what a service that is killed leaves behind.
            if let Err(error) = serve(&shared, stream)
                && error.kind() == std::io::ErrorKind::InvalidData
            {
                lock(&shared.book).faults.push(error.to_string());
            }
        });
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) -> IoResult<()> {
    stream.set_nodelay(true)?;
    let mut requests = wire::Requests::of(stream.try_clone()?);
    while let Some(request) = requests.next()? {
        let at = Instant::now();
        let conduct = lock(&shared.conduct).unwrap_or(Conduct::Takes);
        let reply = shared.note(request, conduct, at);
        match reply {
            Reply::Close => return stream.shutdown(Shutdown::Both),
            Reply::Hang => return stream.read(&mut [0]).map(drop),
            Reply::Late => thread::sleep(Duration::from_millis(100)),
            Reply::Status(_) | Reply::Redirect(_) => {}
        }
        stream.write_all(reply.bytes().as_bytes())?;
    }
    Ok(())
}

impl Shared {
    /// Notes a request before it is answered, and says how that is to be.
    fn note(&self, request: Request, conduct: Conduct, at: Instant) -> Reply {
        let read = arrival(&request, at);
        let mut book = lock(&self.book);
        let reply = Reply::of(conduct, book.arrivals.len());
        match read {
            Ok(mut arrival) => {
                arrival.status = reply.status();
                if (200..300).contains(&arrival.status) {
                    book.taken.insert((arrival.endpoint, arrival.id.sequence, arrival.id.place));
                }
                book.arrivals.push(arrival);
            }
            Err(error) => book.faults.push(format!("{} {}: {error:#}", request.method, request.target)),
        }
        if self.keeps_requests {
            book.requests.push(request);
        }
        reply
    }
}

/// What a request delivers: in its body or, of a `GET`, in its query.
fn arrival(request: &Request, at: Instant) -> Result<Arrival> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let endpoint = path.trim_start_matches('/').parse().context("there is no such endpoint")?;
    let id = request.header("webhook-id").context("there is no webhook-id")?;
    let id = Id::parse(id).with_context(|| format!("{id} is no id of a delivery"))?;
    let body: Value = match request.method.as_str() {
        "GET" => query.split('&').filter_map(|part| part.split_once('=')).collect(),
        _ => serde_json::from_slice(&request.body).context("the body is no JSON")?,
    };
    let text = |member: &str| -> Box<str> { body[member].as_str().unwrap_or_default().into() };
    let mut hash = DefaultHasher::new();
    request.body.hash(&mut hash);
    let (event, slug) = (text("event"), text("slug"));
    if event.is_empty() || slug.is_empty() {
        anyhow::bail!("the delivery names no event or no record");
    }
    let length = request.body.len();
    Ok(Arrival { endpoint, id, event, slug, title: text("title"), body: hash.finish(), length, at, status: 0 })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_change_and_event() {
        let id = Id::parse("msg_12_1_0123456789ab").unwrap();
        assert_eq!((id.sequence, id.place, &*id.mark), (12, 1, "0123456789ab"));
        for wrong in ["", "msg_12_1", "msg_12_1_0123456789", "msg_x_1_0123456789ab", "msg_1_1_0123456789ab_2"] {
            assert_eq!(Id::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_unreliable_receiver_does_everything_in_its_share() {
        let replies: Vec<Reply> = (0..10_000).map(|number| Reply::of(Conduct::IsUnreliable(1), number)).collect();
        let count = |wanted| replies.iter().filter(|reply| **reply == wanted).count();
        let all = [Reply::Status(500), Reply::Close, Reply::Status(429), Reply::Late, Reply::Status(200)].map(count);
        for (count, thousandths) in all.into_iter().zip([50, 30, 2, 50, 868]) {
            assert!(count.abs_diff(thousandths * 10) < 100 && count > 0, "{all:?}");
        }
    }

    #[test]
    fn a_receiver_notes_what_comes_and_answers_it() {
        let receiver = Receiver::start("127.0.0.1", Conduct::Takes, false).unwrap();
        let send = |path: &str, id: &str, body: &str| {
            let mut stream = TcpStream::connect(receiver.address).unwrap();
            let head = format!("POST {path} HTTP/1.1\r\nwebhook-id: {id}\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).unwrap();
            String::from_utf8_lossy(&answer).into_owned()
        };
        let body = r#"{"slug":"AbCdEfGh","title":"T","event":"entry_updated"}"#;
        assert_eq!(send("/2", "msg_5_0_0123456789ab", body), "HTTP/1.1 200");
        receiver.conduct(Conduct::Redirects(1));
        assert_eq!(send("/2", "msg_6_0_0123456789ab", body), "HTTP/1.1 302");
        assert_eq!(send("/2", "msg_7", body), "HTTP/1.1 302");
        let arrivals = receiver.arrivals();
        let seen: Vec<_> =
            arrivals.iter().map(|one| (one.endpoint, one.id.sequence, one.status, &*one.title)).collect();
        assert_eq!(seen, [(2, 5, 200, "T"), (2, 6, 302, "T")]);
        assert_eq!((receiver.taken(), receiver.connections(), receiver.faults().len()), (1, 3, 1));
    }
}
