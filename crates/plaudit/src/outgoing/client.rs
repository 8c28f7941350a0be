//! One attempt: signs and sends a request, and takes the beginning of the answer.
//!
//! - No redirect is followed: an answer that asks for one is a failure.
//! - Whatever the other side does, an attempt ends in its time and takes no more than so much of the answer.
//! - An attempt has one connection, which is its own or one that an attempt before it has left, and is closed with it. So there
//!   are never more connections than attempts and those that were left.
//! - What goes wrong is said in our words, without the address and its secrets.

use std::error::Error as _;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use url::{Origin, Position, Url};

use super::dialler::{DialError, Dialling, text_of};
use crate::turns::Turn;
use kernel::document;
use kernel::json::Json;
use kernel::text::Timestamp;
use webhook_signing::{Keys, Outcome};

/// The most bytes of an answer that are kept.
const KEPT: usize = 1024;
/// The most bytes of an answer that are read, so that the connection is good for another attempt.
const READ: usize = 16 << 10;
/// The most bytes of an answer's head, and its headers.
const HEAD: usize = 64 << 10;
const HEADERS: usize = 100;
/// How long a connection is idle at least before it is closed, and at most twice as long: servers wait 2 seconds or more.
const IDLE: Duration = Duration::from_secs(1);

const AGENT: &str = concat!("Plaudit/", env!("CARGO_PKG_VERSION"));

/// What is sent.
#[derive(Debug)]
pub struct Request<'a> {
    /// To where.
    pub url: &'a Url,
    /// With what.
    pub content: Content<'a>,
    /// With these headers, beside those of every request, which come before them.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The id, the same at every attempt.
    pub id: &'a str,
    /// Signed with these.
    pub keys: &'a Keys,
    /// The time.
    pub now: Timestamp,
}

/// What a request says.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// `POST`: a body of JSON.
    Body(Bytes),
    /// `GET`: these parameters, behind those that the address has.
    Query(&'a [(&'a str, &'a str)]),
}

/// How an attempt went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// When it began, in microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// The status of the answer, if one came.
    pub status: Option<u16>,
    /// How long it took.
    pub duration: Duration,
    /// The beginning of the answer's body.
    pub answer: String,
    /// Why no answer came.
    pub error: Option<String>,
    /// The answer's `Retry-After`; it is not kept.
    pub retry_after: Option<String>,
}

impl Attempt {
    /// An attempt of a node that ended before it had the answer.
    pub fn unknown(at: i64) -> Self {
        Self { at, error: Some("the service ended before the answer was known".to_owned()), ..Self::default() }
    }

    /// An attempt that could not be made.
    pub fn impossible(now: Timestamp, error: impl Into<String>) -> Self {
        Self { at: now.as_microseconds(), error: Some(error.into()), ..Self::default() }
    }

    /// What it means for the delivery, at a time in seconds since 1970-01-01 UTC.
    pub fn outcome(&self, now_unix: i64) -> Outcome {
        Outcome::of(self.status, self.retry_after.as_deref(), now_unix)
    }

    /// Its length in milliseconds.
    pub fn milliseconds(&self) -> i64 {
        i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)
    }

    /// Writes what is kept of it.
    pub fn write(&self, object: &mut document::Object<'_>) {
        object.integer("at", self.at);
        object.optional_integer("status", self.status.map(i64::from));
        object.integer("duration_ms", self.milliseconds());
        object.text("answer", &self.answer);
        object.optional_text("error", self.error.as_deref());
    }

    /// Reads what [`Attempt::write`] wrote, of this version or another.
    pub fn read(json: &Json<'_>) -> Self {
        let integer = |name| json.get(name).and_then(Json::as_i64);
        let text = |name| json.get(name).and_then(Json::as_str).map(str::to_owned);
        Self {
            at: integer("at").unwrap_or_default(),
            status: integer("status").and_then(|status| status.try_into().ok()),
            duration: Duration::from_millis(
                integer("duration_ms").and_then(|length| length.try_into().ok()).unwrap_or(0),
            ),
            answer: text("answer").unwrap_or_default(),
            error: text("error"),
            retry_after: None,
        }
    }
}

/// The connections to one endpoint. Nobody else's requests go over them.
pub struct Client {
    dialling: Dialling,
    timeout: Duration,
    concurrency: usize,
    idle: Arc<Idle>,
}

/// Connections that were left.
type Idle = Mutex<Vec<Connection>>;

struct Connection {
    origin: Origin,
    sender: SendRequest<Full<Bytes>>,
    /// What moves the bytes. It is polled by the attempt alone, and ends with the connection.
    driver: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>,
    was_idle: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("{}", text_of_http(.0))]
    Http(#[from] hyper::Error),
    #[error("{0}")]
    Request(String),
}

/// What has come of an answer.
#[derive(Default)]
struct Answer {
    status: Option<u16>,
    retry_after: Option<String>,
    kept: Vec<u8>,
}

impl Client {
    /// A client without connections, with at most so many attempts at the same time, each of which ends in this time.
    pub fn new(dialling: Dialling, timeout: Duration, concurrency: usize) -> Self {
        let idle = Arc::new(Idle::default());
        tokio::spawn(close_idle(Arc::downgrade(&idle)));
        Self { dialling, timeout, concurrency, idle }
    }

    /// Makes one attempt.
    pub async fn attempt(&self, request: Request<'_>) -> Attempt {
        let prepared = request.prepared();
        // That the node does much at the same time is none of the endpoint's time.
        let turn = match &prepared {
            Ok((url, _)) if !self.has_left(&url.origin()) => {
                self.dialling.turn(url.host_str().unwrap_or_default()).await
            }
            _ => None,
        };
        let before = self.dialling.clock.elapsed();
        let mut answer = Answer::default();
        let ended = match prepared {
            Ok((url, http)) => tokio::time::timeout(self.timeout, self.exchange(&url, http, turn, &mut answer)).await,
            Err(failure) => Ok(Err(failure)),
        };
        let error = match ended {
            // Whoever has said what he makes of it has answered, whatever becomes of the rest.
            _ if answer.status.is_some() => None,
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure.to_string()),
            Err(_) => Some(format!("no answer in {} s", self.timeout.as_secs())),
        };
        let microseconds = self.dialling.clock.elapsed() - before;
        Attempt {
            at: request.now.as_microseconds(),
            status: answer.status,
            duration: Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)),
            answer: beginning(&answer.kept),
            error,
            retry_after: answer.retry_after,
        }
    }

    async fn exchange(
        &self,
        url: &Url,
        mut request: HttpRequest,
        turn: Option<Turn>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let origin = url.origin();
        while let Some(mut connection) = self.left(&origin) {
            let mut ended = connection.exchange(request, answer).await;
            // The other side had closed it before anything was sent.
            match ended.as_mut().err().and_then(TrySendError::take_message) {
                Some(unsent) => request = unsent,
                None => return self.leave(connection, ended),
            }
        }
        let mut connection = self.connect(url, origin, turn).await?;
        let ended = connection.exchange(request, answer).await;
        self.leave(connection, ended)
    }

    /// Whether a connection was left, which may be closed by now.
    fn has_left(&self, origin: &Origin) -> bool {
        self.idle.lock().iter().any(|connection| connection.origin == *origin)
    }

    /// A connection that was left and is still open.
    fn left(&self, origin: &Origin) -> Option<Connection> {
        loop {
            let mut connection = {
                let mut idle = self.idle.lock();
                let place = idle.iter().rposition(|connection| connection.origin == *origin)?;
                idle.swap_remove(place)
            };
            if (&mut connection.driver).now_or_never().is_none() {
                return Some(connection);
            }
        }
    }

    /// Leaves a connection whose answer has ended to the next attempt.
    fn leave(&self, mut connection: Connection, ended: Exchanged) -> Result<(), Failure> {
        if ended.map_err(TrySendError::into_error)? {
            let mut idle = self.idle.lock();
            if idle.len() < self.concurrency {
                connection.was_idle = false;
                idle.push(connection);
            }
        }
        Ok(())
    }

    async fn connect(&self, url: &Url, origin: Origin, turn: Option<Turn>) -> Result<Connection, Failure> {
        let host = url.host_str().unwrap_or_default();
        let stream = self.dialling.connect(host, url.port_or_known_default().unwrap_or_default(), turn).await?;
        if url.scheme() == "https" {
            Connection::new(origin, self.dialling.encrypt(host, stream).await?).await
        } else {
            Connection::new(origin, stream).await
        }
    }
}

/// Closes connections that are idle for long.
async fn close_idle(idle: Weak<Idle>) {
    loop {
        tokio::time::sleep(IDLE).await;
        let Some(idle) = idle.upgrade() else { return };
        idle.lock().retain_mut(|connection| !mem::replace(&mut connection.was_idle, true));
    }
}

pub(super) type HttpRequest = hyper::Request<Full<Bytes>>;

/// Whether the answer has ended, so that the connection is good for another request.
type Exchanged = Result<bool, TrySendError<HttpRequest>>;

impl Connection {
    async fn new<S>(origin: Origin, stream: S) -> Result<Self, Failure>
    where
        TokioIo<S>: Read + Write + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        let handshake = builder.max_buf_size(HEAD).max_headers(HEADERS).handshake(TokioIo::new(stream));
        let (sender, driver) = handshake.await?;
        Ok(Self { origin, sender, driver: Box::pin(driver), was_idle: false })
    }

    async fn exchange(&mut self, request: HttpRequest, answer: &mut Answer) -> Exchanged {
        let exchange = pin!(answer.take(self.sender.try_send_request(request)));
        match select(exchange, &mut self.driver).await {
            Either::Left((ended, _)) => ended,
            // All that will come has come.
            Either::Right((_, exchange)) => exchange.await.map(|_| false),
        }
    }
}

impl Answer {
    async fn take(
        &mut self,
        answered: impl Future<Output = Result<hyper::Response<hyper::body::Incoming>, TrySendError<HttpRequest>>>,
    ) -> Exchanged {
        let (head, mut body) = answered.await?.into_parts();
        self.status = Some(head.status.as_u16());
        self.retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Ok(false) };
            let data = frame.into_data().unwrap_or_default();
            // A letter that the limit parts has at most 3 bytes behind it.
            let room = (KEPT + 3).saturating_sub(self.kept.len());
            self.kept.extend(data.iter().take(room));
            read += data.len();
            if read > READ {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The beginning of an answer as a text.
fn beginning(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.truncate(text.floor_char_boundary(KEPT));
    text
}

impl Request<'_> {
    /// The request as it is sent, and the address with the parameters.
    pub(super) fn prepared(&self) -> Result<(Url, HttpRequest), Failure> {
        let mut url = self.url.clone();
        let (method, body) = match &self.content {
            Content::Body(body) => (hyper::Method::POST, body.clone()),
            Content::Query(query) => {
                url.query_pairs_mut().extend_pairs(*query);
                (hyper::Method::GET, Bytes::new())
            }
        };
        let wrong = |error: &dyn std::error::Error| Failure::Request(format!("the request cannot be made: {error}"));
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let mut request = hyper::Request::new(Full::new(body.clone()));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().map_err(|error| wrong(&error))?;
        let headers = request.headers_mut();
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(*name).map_err(|error| wrong(&error))?;
            headers.insert(name, HeaderValue::try_from(*value).map_err(|error| wrong(&error))?);
        }
        let host = &url[Position::BeforeHost..Position::AfterPort];
        headers.insert(HOST, HeaderValue::try_from(host).map_err(|error| wrong(&error))?);
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if request.method() == hyper::Method::POST {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let signed = self.keys.sign(self.id, &body, self.now.as_seconds()).map_err(|error| wrong(&error))?;
        for (name, value) in signed {
            let name = HeaderName::try_from(name).map_err(|error| wrong(&error))?;
            request.headers_mut().insert(name, HeaderValue::try_from(value).map_err(|error| wrong(&error))?);
        }
        Ok((url, request))
    }
}

/// What an error of HTTP is called.
fn text_of_http(error: &hyper::Error) -> String {
    if error.is_parse_too_large() {
        return "the head of the answer is too long".to_owned();
    }
    if error.is_parse() {
        return "the answer is not HTTP".to_owned();
    }
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    io.map_or_else(|| "the connection was closed".to_owned(), text_of)
}
