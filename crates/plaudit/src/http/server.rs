//! The HTTP server loop: connections in, requests to the router.
//!
//! Every connection is one task. What it is doing is noted in its [`Activity`], and a timer a connection looks now and then
//! what has become of it; so timeouts are exact to a quarter of the shortest of them.
//!
//! A request that is answered before its body was read leaves the rest of it on the connection, where the next request
//! would be looked for, and a client that is still sending would not get to see its answer. So the rest is read and thrown
//! away beside the answer, up to [`MAX_REST_BYTES`] and within the time that a head may take (RFC 9112, section 9.6).
//! Where it is longer, or where the client waits for a word to send it at all (RFC 9110, section 10.1.1), the answer says
//! that the connection ends.

mod refusal;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
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
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower::Service as _;

pub use self::refusal::Refuse;
use super::connections::{Activity, Connections, Limits, Phase, Place, Seen};
use crate::config;
use kernel::clock::Throttle;

/// The longest head of a request: the request line and all headers.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The most of a body that is read after its request was answered.
const MAX_REST_BYTES: u64 = 64 * 1024 * 1024;
/// What a connection may buffer in either direction.
const MAX_BUFFER_BYTES: usize = 64 * 1024;
/// How often is logged that a proxy seems not to be named.
const LOG_EVERY: Duration = Duration::from_hours(1);

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
    /// How many bytes a client sends of a body, or takes of an answer, in each second that it is waited for.
    pub min_bytes_per_second: u64,
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
            min_bytes_per_second: server.min_bytes_per_second,
            trusted_proxies: server.trusted_proxies.clone(),
        }
    }
}

/// What the connections of a server have in common.
struct Serving {
    router: Router,
    refuse: Refuse,
    settings: Settings,
    log: Throttle,
}

impl Serving {
    /// The address of the client that a request comes from.
    fn client(&self, peer: Peer, headers: &HeaderMap) -> IpAddr {
        let Peer { address, is_proxy } = peer;
        if is_proxy {
            return forwarded(headers, address, &self.settings.trusted_proxies);
        }
        if is_forwarded(headers) && self.log.passes() {
            tracing::warn!(
                peer = %address,
                "a request was forwarded by somebody whom server.trusted_proxies does not name: if it is a proxy of yours, all \
                 who come through it count as one client until it is named"
            );
        }
        address
    }
}

/// Serves until `shutdown` is ready, then lets the requests in flight finish and returns how many connections had to
/// be cut because they took longer than the settings allow.
pub async fn serve(
    listener: TcpListener,
    (router, refuse): (Router, Refuse),
    connections: &Arc<Connections>,
    settings: &Settings,
    shutdown: impl Future<Output = ()>,
) -> usize {
    let serving = Arc::new(Serving { router, refuse, settings: settings.clone(), log: Throttle::new(LOG_EVERY) });
    let graceful = GracefulShutdown::new();
    let mut tasks = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = accept(&listener, connections, &settings.trusted_proxies) => accepted,
        };
        if let Some((stream, peer, place)) = accepted {
            tasks.spawn(connection(stream, peer, Arc::clone(&serving), graceful.watcher(), place));
        }
        while tasks.try_join_next().is_some() {}
    }
    drop(listener);
    // Time over: dropping the set ends what is left.
    let _ = tokio::time::timeout(settings.shutdown_timeout, graceful.shutdown()).await;
    while tasks.try_join_next().is_some() {}
    if !tasks.is_empty() {
        tracing::warn!(connections = tasks.len(), "cut requests that did not finish in time");
    }
    tasks.len()
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

/// Waits for a connection and then for its place; nothing if it was refused or there was an error, after which it is worth
/// trying again.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    trusted: &[config::Network],
) -> Option<(TcpStream, Peer, Place)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            let address = address.ip().to_canonical();
            let is_proxy = trusted.iter().any(|network| network.contains(address));
            let place = connections.admit((!is_proxy).then_some(address)).await?;
            Some((stream, Peer { address, is_proxy }, place))
        }
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

/// Who opened a connection.
#[derive(Clone, Copy, Debug)]
struct Peer {
    address: IpAddr,
    /// Whether it is a trusted proxy.
    is_proxy: bool,
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

async fn connection(stream: TcpStream, peer: Peer, serving: Arc<Serving>, watcher: Watcher, place: Place) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let activity = &place.activity;
    let settings = &serving.settings;
    let service = service_fn(|request: Request<Incoming>| {
        activity.set(Phase::Working);
        let client = serving.client(peer, request.headers());
        let waits = request.headers().contains_key(header::EXPECT);
        let mut request = request.map(|body| into_body(body, activity, waits));
        request.extensions_mut().insert(ClientAddress(client));
        // A target that names its host is believed and the header is not (RFC 9112, section 3.2.2).
        if let Some(named) = request.uri().authority().and_then(|named| HeaderValue::from_str(named.as_str()).ok()) {
            request.headers_mut().insert(header::HOST, named);
        }
        let answer = serving.router.clone().call(request);
        let activity = activity.clone();
        async move {
            let Ok(mut response): Result<Response<Body>, Infallible> = answer.await;
            if activity.ends() {
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
    let refuse = Arc::clone(&serving.refuse);
    let stream = TokioIo::new(WatchedStream { stream, activity: activity.clone(), refuse, refusal: None });
    let http = http1::Builder::new()
        .header_read_timeout(None)
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(stream, service);
    let mut http = pin!(watcher.watch(http));
    let limits = Limits::new(
        settings.header_timeout,
        settings.body_timeout,
        settings.idle_timeout,
        settings.min_bytes_per_second,
    );
    let mut seen = Seen::new(activity);
    let mut timer = pin!(sleep(limits.step));
    loop {
        tokio::select! {
            biased;
            // What goes wrong here is the client's: it went away or does not speak HTTP.
            result = &mut http => {
                if let Err(error) = result {
                    tracing::trace!(%error, peer = %peer.address, "connection ended");
                }
                break;
            }
            () = poll_fn(|context| activity.poll_give_way(context)) => {
                place.gave_way();
                break;
            }
            () = &mut timer => {
                if limits.are_passed(activity, &mut seen) {
                    tracing::trace!(peer = %peer.address, "connection cut after a timeout");
                    break;
                }
                timer.set(sleep(limits.step));
            }
        }
    }
}

/// Whether a proxy says that it forwarded a request.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key("x-forwarded-for") || headers.contains_key(header::FORWARDED)
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

/// A connection's stream that notes what comes and goes.
struct WatchedStream {
    stream: TcpStream,
    activity: Arc<Activity>,
    refuse: Refuse,
    /// What is written in place of the last bytes, and how much of it has been.
    refusal: Option<(Vec<u8>, usize)>,
}

impl WatchedStream {
    /// Writes bytes, or what stands in place of them; the same bytes are given again until all of that is written.
    fn poll_write_refusal(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // While a request is answered nothing is refused, whatever the answer says.
        if self.refusal.is_none() && self.activity.awaits_head() {
            self.refusal = refusal::replaced(bytes, &self.refuse).map(|refusal| (refusal, 0));
        }
        let Some((refusal, written)) = &mut self.refusal else {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        };
        while *written < refusal.len() {
            *written += ready!(Pin::new(&mut self.stream).poll_write(context, &refusal[*written..]))?;
        }
        self.refusal = None;
        Poll::Ready(Ok(bytes.len()))
    }
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
            self.activity.received(buffer.filled().len() - before);
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = self.poll_write_refusal(context, bytes);
        self.activity.sent(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = match pieces {
            [one] => self.poll_write_refusal(context, one),
            // A head of its own hyper writes alone.
            _ => Pin::new(&mut self.stream).poll_write_vectored(context, pieces),
        };
        self.activity.sent(&result);
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
            self.activity.end();
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
        self.0.answered();
    }
}

#[cfg(test)]
mod tests;
