//! The HTTP server loop: connections in, requests to the router.
//!
//! Every connection is one task. What it is doing is kept in one number that is only counted up ([`Activity`]), and a
//! timer a connection looks now and then whether the number has moved; so timeouts cost a request neither a clock nor
//! a timer, and are exact to a quarter of the shortest of them.
//!
//! A request that is answered before its body was read leaves the rest of it on the connection, where the next request
//! would be looked for, and a client that is still sending would not get to see its answer. So the rest is read and thrown
//! away beside the answer, up to [`MAX_REST_BYTES`] and within the time that a head may take (RFC 9112, section 9.6).
//! Where it is longer, or where the client waits for a word to send it at all (RFC 9110, section 10.1.1), the answer says
//! that the connection ends.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, Response, header};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower::Service as _;

use crate::config;

/// The longest head of a request: the request line and all headers.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The most of a body that is read after its request was answered.
const MAX_REST_BYTES: u64 = 64 * 1024 * 1024;
/// What a connection may buffer in either direction.
const MAX_BUFFER_BYTES: usize = 128 * 1024;

/// The address that a request came from: the client's own, where a trusted proxy says so. In the extensions of every
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

/// How connections are treated.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long the head of a request may take, from its first byte on.
    pub header_timeout: Duration,
    /// How long a client may pause while it sends a body or takes an answer.
    pub body_timeout: Duration,
    /// How long a connection may be open between two requests.
    pub idle_timeout: Duration,
    /// How long requests in flight may take to finish after the call to stop.
    pub shutdown_timeout: Duration,
    /// Connections open at once.
    pub max_connections: usize,
    /// The proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<config::Network>,
}

impl From<&config::Server> for Settings {
    fn from(server: &config::Server) -> Self {
        Self {
            header_timeout: Duration::from_secs(server.header_timeout_seconds),
            body_timeout: Duration::from_secs(server.body_timeout_seconds),
            idle_timeout: Duration::from_secs(server.idle_timeout_seconds),
            shutdown_timeout: Duration::from_secs(server.shutdown_timeout_seconds),
            max_connections: server.max_connections,
            trusted_proxies: server.trusted_proxies.clone(),
        }
    }
}

/// Serves until `shutdown` is ready, then lets the requests in flight finish and returns how many connections had to
/// be cut because they took longer than the settings allow.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: &Settings,
    shutdown: impl Future<Output = ()>,
) -> usize {
    let settings = Arc::new(settings.clone());
    let room = Arc::new(Semaphore::new(settings.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = accept(&listener, &room) => accepted,
        };
        if let Some((stream, peer, permit)) = accepted {
            connections.spawn(connection(stream, peer, router.clone(), settings.clone(), graceful.watcher(), permit));
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    // Time over: dropping the set ends what is left.
    let _ = tokio::time::timeout(settings.shutdown_timeout, graceful.shutdown()).await;
    while connections.try_join_next().is_some() {}
    if !connections.is_empty() {
        tracing::warn!(connections = connections.len(), "cut requests that did not finish in time");
    }
    connections.len()
}

/// Ready when the process is asked to stop: by SIGINT or SIGTERM. One that cannot be listened for does not keep the other.
pub async fn stop_signal() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?.recv().await;
        Ok(())
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending();
    tokio::select! {
        () = or_never(tokio::signal::ctrl_c()) => {}
        () = or_never(terminated) => {}
    }
}

async fn or_never(signal: impl Future<Output = io::Result<()>>) {
    if let Err(error) = signal.await {
        tracing::error!(%error, "cannot listen for a signal");
        std::future::pending::<()>().await;
    }
}

/// Waits for room and then for a connection; nothing if there was an error, after which it is worth trying again.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        // The connection was gone before it was accepted.
        Err(error) if is_of_the_connection(&error) => None,
        // Out of file descriptors or memory: both come back when connections are closed, so do not spin until then.
        Err(error) => {
            tracing::error!(%error, "cannot accept connections");
            sleep(Duration::from_millis(500)).await;
            None
        }
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    settings: Arc<Settings>,
    watcher: Watcher,
    permit: OwnedSemaphorePermit,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let activity = Arc::new(Activity::new());
    let peer = peer.ip().to_canonical();
    let is_proxy = settings.trusted_proxies.iter().any(|network| network.contains(peer));
    let service = service_fn(|request: Request<Incoming>| {
        activity.set(Phase::Working);
        let client = if is_proxy { forwarded(request.headers(), peer, &settings.trusted_proxies) } else { peer };
        let waits = request.headers().contains_key(header::EXPECT);
        let mut request = request.map(|body| into_body(body, &activity, waits));
        request.extensions_mut().insert(ClientAddress(client));
        // A target that names its host is believed and the header is not (RFC 9112, section 3.2.2).
        if let Some(named) = request.uri().authority().and_then(|named| HeaderValue::from_str(named.as_str()).ok()) {
            request.headers_mut().insert(header::HOST, named);
        }
        let answer = router.clone().call(request);
        let activity = activity.clone();
        async move {
            let Ok(mut response): Result<Response<Body>, Infallible> = answer.await;
            if activity.ends.load(Ordering::Relaxed) {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            let sent = Sent(activity);
            Ok::<_, Infallible>(response.map(|body| {
                body.map_err(move |error| {
                    let _until_then = &sent;
                    error
                })
            }))
        }
    });
    let stream = TokioIo::new(WatchedStream { stream, activity: activity.clone() });
    let http = http1::Builder::new()
        .header_read_timeout(None)
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(stream, service);
    let mut http = pin!(watcher.watch(http));
    let limits = Limits::of(&settings);
    let mut seen = (activity.state(), Duration::ZERO);
    let mut timer = pin!(sleep(limits.step));
    loop {
        tokio::select! {
            biased;
            // What goes wrong here is the client's: it went away or does not speak HTTP.
            result = &mut http => {
                if let Err(error) = result {
                    tracing::trace!(%error, %peer, "connection ended");
                }
                break;
            }
            () = &mut timer => {
                let now = activity.state();
                seen = if seen.0 == now { (now, seen.1 + limits.step) } else { (now, Duration::ZERO) };
                if limits.are_passed(seen.0, seen.1) {
                    tracing::trace!(%peer, "connection cut after a timeout");
                    break;
                }
                timer.set(sleep(limits.step));
            }
        }
    }
    drop(permit);
}

/// The right-most address of `X-Forwarded-For` that is not itself a trusted proxy; what is left of it was written by
/// the client and may be anything.
fn forwarded(headers: &HeaderMap, peer: IpAddr, trusted: &[config::Network]) -> IpAddr {
    let mut client = peer;
    for value in headers.get_all("x-forwarded-for").iter().rev() {
        for part in value.to_str().unwrap_or("").rsplit(',') {
            let Some(address) = forwarded_address(part.trim()) else { return client };
            client = address;
            if !trusted.iter().any(|network| network.contains(address)) {
                return client;
            }
        }
    }
    client
}

/// An address as proxies write it: bare, or with a port, or with brackets.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Between two requests.
    Idle = 0,
    /// The head of a request has begun to arrive.
    Head = 1,
    /// A request is being answered.
    Working = 2,
    /// More of a request's body is waited for.
    Body = 3,
}

const PHASE: u64 = 0b011;
/// The client does not take what is sent.
const STALLED: u64 = 0b100;
const STEP: u64 = 0b1000;

/// The phase of a connection and, in the upper bits, a count of everything that has happened. Only the task of the
/// connection changes it, except where a handler reads a body elsewhere, which may lose a count and harms nothing.
#[derive(Debug)]
struct Activity {
    state: AtomicU64,
    /// Whether the connection takes no other request.
    ends: AtomicBool,
}

impl Activity {
    fn new() -> Self {
        Self { state: AtomicU64::new(Phase::Head as u64), ends: AtomicBool::new(false) }
    }

    fn state(&self) -> u64 {
        self.state.load(Ordering::Relaxed)
    }

    /// Counts nothing when the phase stays: a task that is woken by its timer polls, and notes, the same again.
    fn set(&self, phase: Phase) {
        let state = self.state();
        if state & PHASE == phase as u64 {
            return;
        }
        self.state.store((state & !PHASE | phase as u64).wrapping_add(STEP), Ordering::Relaxed);
    }

    fn received(&self) {
        if self.state() & PHASE == Phase::Idle as u64 {
            self.set(Phase::Head);
        }
    }

    /// What was left of a body has arrived; what comes now is another head.
    fn rested(&self) {
        if self.state() & PHASE == Phase::Head as u64 {
            self.set(Phase::Idle);
        }
    }

    /// A handler waits for a request's body, or has what it waited for; without a request there is nothing to note.
    fn reading(&self, waits: bool) {
        let phase = self.state() & PHASE;
        if phase == Phase::Working as u64 || phase == Phase::Body as u64 {
            self.set(if waits { Phase::Body } else { Phase::Working });
        }
    }

    fn sent(&self, stalled: bool) {
        let state = self.state();
        if !stalled {
            self.state.store((state & !STALLED).wrapping_add(STEP), Ordering::Relaxed);
        } else if state & STALLED == 0 {
            self.state.store((state | STALLED).wrapping_add(STEP), Ordering::Relaxed);
        }
    }
}

/// How long a connection may stay in one state.
#[derive(Clone, Copy, Debug)]
struct Limits {
    header: Duration,
    body: Duration,
    idle: Duration,
    step: Duration,
}

impl Limits {
    fn of(settings: &Settings) -> Self {
        let (header, body, idle) = (settings.header_timeout, settings.body_timeout, settings.idle_timeout);
        let step = (header.min(body).min(idle) / 4).max(Duration::from_millis(1));
        Self { header, body, idle, step }
    }

    fn are_passed(&self, state: u64, lasting: Duration) -> bool {
        let phase = state & PHASE;
        (state & STALLED != 0 && lasting >= self.body)
            || (phase == Phase::Idle as u64 && lasting >= self.idle)
            || (phase == Phase::Head as u64 && lasting >= self.header)
            || (phase == Phase::Body as u64 && lasting >= self.body)
    }
}

/// A connection's stream that notes what comes and goes.
struct WatchedStream {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if buffer.filled().len() > before {
            self.activity.received();
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.sent(result.is_pending());
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.activity.sent(result.is_pending());
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn into_body(body: Incoming, activity: &Arc<Activity>, waits: bool) -> Body {
    if body.is_end_stream() {
        Body::empty()
    } else {
        Body::new(RequestBody { body: Some(body), waits, activity: activity.clone() })
    }
}

/// The body of a request, which notes when it is waited for.
struct RequestBody {
    /// There until it is dropped.
    body: Option<Incoming>,
    /// Whether the client sends nothing before it is told to, which asking for the body does.
    waits: bool,
    activity: Arc<Activity>,
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.activity.reading(false);
        let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) else { return };
        if self.waits || body.size_hint().lower() > MAX_REST_BYTES {
            self.activity.ends.store(true, Ordering::Relaxed);
        }
        if !self.waits {
            tokio::spawn(throw_away(body, self.activity.clone()));
        }
    }
}

/// Reads what is left of a body. When it takes too long, the connection is cut, and with it this ends.
async fn throw_away(mut body: Incoming, activity: Arc<Activity>) {
    let mut left = MAX_REST_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
    activity.rested();
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.waits = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let result = Pin::new(body).poll_frame(context);
        self.activity.reading(result.is_pending());
        result
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

/// Dropped with the body of an answer: when that has been handed over, the connection is between two requests.
struct Sent(Arc<Activity>);

impl Drop for Sent {
    fn drop(&mut self) {
        self.0.set(Phase::Idle);
    }
}

#[cfg(test)]
mod tests;
