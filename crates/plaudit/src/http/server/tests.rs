#![allow(clippy::disallowed_methods, reason = "these tests are about real time")]

use axum::http::HeaderName;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::*;
use crate::http::connections::Room;
use crate::render::content::{Content, Draft};
use crate::services::budgets::{self, Budgets};
use db::AccountId;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(120);

fn settings() -> Settings {
    Settings {
        header_timeout: LONG,
        body_timeout: LONG,
        idle_timeout: LONG,
        shutdown_timeout: LONG,
        min_bytes_per_second: 0,
        trusted_proxies: Vec::new(),
    }
}

fn refuse() -> Refuse {
    Arc::new(|status| {
        (vec![(HeaderName::from_static("x-request-id"), "a-1".to_owned())], format!("{{\"status_code\":{status}}}"))
    })
}

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<usize>,
}

impl Running {
    async fn start(router: Router, settings: Settings) -> Self {
        Self::with_room(router, settings, Room { all: 100, of_address: 100 }).await
    }

    async fn with_room(router: Router, settings: Settings, room: Room) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move {
            let _ = stopped.await;
        };
        let served = tokio::spawn(async move {
            serve(listener, (router, refuse()), &Connections::new(room), &settings, shutdown).await
        });
        Self { address, stop, served }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn stop(self) -> usize {
        self.stop.send(()).unwrap();
        timeout(LONG, self.served).await.unwrap().unwrap()
    }
}

/// Everything until the server closes the connection, which it must.
async fn rest(client: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let _ = timeout(LONG, client.read_to_end(&mut all)).await.unwrap();
    String::from_utf8(all).unwrap()
}

/// One answer of a known body.
async fn answer(client: &mut TcpStream, body: &str) -> String {
    let mut all = Vec::new();
    while !all.ends_with(format!("\r\n\r\n{body}").as_bytes()) {
        assert_ne!(timeout(LONG, client.read_buf(&mut all)).await.unwrap().unwrap(), 0);
    }
    String::from_utf8(all).unwrap()
}

async fn whoami(axum::Extension(ClientAddress(address)): axum::Extension<ClientAddress>) -> String {
    address.to_string()
}

fn router() -> Router {
    Router::new().route("/", get(whoami)).route("/echo", post(|body: Bytes| async move { body }))
}

#[tokio::test]
async fn ten_thousand_requests_pass_over_one_connection() {
    let running = Running::start(router(), settings()).await;
    let mut client = running.connect().await;
    for _ in 0..10_000 {
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        answer(&mut client, "127.0.0.1").await;
    }
    client.write_all(&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(10)).await.unwrap();
    for _ in 0..10 {
        let mut one = [0; 128];
        let length = answer_length().await;
        client.read_exact(&mut one[..length]).await.unwrap();
        assert!(one[..length].ends_with(b"127.0.0.1"));
    }
    assert_eq!(running.stop().await, 0);
}

/// A list of this many kilobytes, in pieces.
fn list(kilobytes: usize) -> Content {
    let limits = budgets::Limits {
        answer_bytes: usize::MAX,
        memory_bytes: usize::MAX,
        page_bytes: usize::MAX,
        spool_directory: None,
        spool_bytes: 0,
        account_spool_bytes: 0,
    };
    let mut list = Draft::new(Budgets::new(limits), AccountId(1));
    (0..kilobytes).for_each(|number| list.write(|out| out.extend_from_slice(line(number).as_bytes())).unwrap());
    list.end().unwrap()
}

fn line(number: usize) -> String {
    format!("{number:01023}\n")
}

#[tokio::test]
async fn what_is_sent_in_pieces_has_one_length_and_leaves_the_connection_good() {
    const KILOBYTES: usize = 900;
    let router = Router::new().route("/", get(async || axum::body::Body::from(list(KILOBYTES))));
    let running = Running::start(router, settings()).await;
    let mut client = running.connect().await;
    let expected: String = (0..KILOBYTES).map(line).collect();
    for (method, body) in [("GET", &*expected), ("HEAD", ""), ("GET", &*expected)] {
        client.write_all(format!("{method} / HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        let answer = answer(&mut client, body).await;
        assert!(answer.contains(&format!("content-length: {}\r\n", KILOBYTES * 1024)), "{method}");
        assert!(!answer.contains("transfer-encoding"));
    }
    assert_eq!(running.stop().await, 0);
}

/// The bytes of one answer of `whoami`.
async fn answer_length() -> usize {
    let running = Running::start(router(), settings()).await;
    let mut client = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answer(&mut client, "127.0.0.1").await.len()
}

#[tokio::test]
async fn a_slow_head_is_cut() {
    let running = Running::start(router(), Settings { header_timeout: SHORT, ..settings() }).await;
    let begun = Instant::now();
    let mut silent = running.connect().await;
    let mut slow = running.connect().await;
    let trickle = async {
        while slow.write_all(b"G").await.is_ok() && begun.elapsed() < LONG {
            sleep(SHORT / 10).await;
        }
    };
    let ((), silence) = tokio::join!(trickle, rest(&mut silent));
    assert_eq!(silence, "");
    assert!((SHORT..LONG).contains(&begun.elapsed()));
    running.stop().await;
}

#[tokio::test]
async fn the_second_head_of_a_connection_may_not_be_slow_either() {
    let running = Running::start(router(), Settings { header_timeout: SHORT, ..settings() }).await;
    let mut client = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answer(&mut client, "127.0.0.1").await;
    let begun = Instant::now();
    client.write_all(b"GET / HT").await.unwrap();
    assert_eq!(rest(&mut client).await, "");
    assert!((SHORT..LONG).contains(&begun.elapsed()));
    running.stop().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_only_after_the_idle_timeout() {
    let times = Settings { header_timeout: SHORT / 2, idle_timeout: SHORT * 3, ..settings() };
    let running = Running::start(router(), times).await;
    let mut client = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answer(&mut client, "127.0.0.1").await;
    let begun = Instant::now();
    assert_eq!(rest(&mut client).await, "");
    assert!((SHORT * 3..LONG).contains(&(begun.elapsed() + SHORT / 8)), "{:?}", begun.elapsed());
    running.stop().await;
}

#[tokio::test]
async fn a_pause_within_a_body_is_cut_but_not_a_slow_body() {
    let running = Running::start(router(), Settings { body_timeout: SHORT, ..settings() }).await;
    let mut client = running.connect().await;
    client.write_all(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n").await.unwrap();
    for _ in 0..10 {
        sleep(SHORT / 4).await;
        client.write_all(b"x").await.unwrap();
    }
    answer(&mut client, "xxxxxxxxxx").await;
    client.write_all(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nxxx").await.unwrap();
    assert_eq!(rest(&mut client).await, "");
    running.stop().await;
}

#[tokio::test]
async fn a_body_that_nobody_waits_for_any_more_is_no_reason_to_be_cut() {
    let patient = post(|body: Body| async move {
        let waited = timeout(SHORT / 4, axum::body::to_bytes(body, 10)).await;
        sleep(SHORT * 3).await;
        if waited.is_err() { "gave up" } else { "read" }
    });
    let running =
        Running::start(Router::new().route("/", patient), Settings { body_timeout: SHORT, ..settings() }).await;
    let mut client = running.connect().await;
    client.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nxxx").await.unwrap();
    answer(&mut client, "gave up").await;
    drop(client);
    running.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_cut() {
    let dropped = Arc::new(Notify::new());
    let noted = dropped.clone();
    let endless = Router::new().route(
        "/",
        get(move || {
            let stream = futures_util::stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from(vec![0; 65536])));
            let guard = Guard(noted.clone());
            let stream = futures_util::StreamExt::map(stream, move |piece| {
                let _ = &guard;
                piece
            });
            async move { Body::from_stream(stream) }
        }),
    );
    let running = Running::start(endless, Settings { body_timeout: SHORT, ..settings() }).await;
    let mut client = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    timeout(LONG, dropped.notified()).await.unwrap();
    running.stop().await;
}

struct Guard(Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A router whose one route says that it was entered, and answers when it is told to.
fn gate() -> (Router, Arc<Notify>, Arc<Notify>) {
    let (entered, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (entered.clone(), open.clone());
    let route = get(move || async move {
        tell.notify_one();
        wait.notified().await;
        "done"
    });
    (Router::new().route("/", route), entered, open)
}

#[tokio::test]
async fn a_request_in_flight_is_finished_before_the_end() {
    let (router, entered, open) = gate();
    let all_short = Settings { header_timeout: SHORT, body_timeout: SHORT, idle_timeout: SHORT, ..settings() };
    let running = Running::start(router, all_short).await;
    let mut client = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    entered.notified().await;
    let address = running.address;
    let stopping = tokio::spawn(running.stop());
    while TcpStream::connect(address).await.is_ok() {
        sleep(SHORT / 10).await;
    }
    // Longer than every timeout of a connection: working is no reason to be cut.
    sleep(SHORT * 3).await;
    assert!(!stopping.is_finished());
    open.notify_one();
    let last = rest(&mut client).await;
    assert!(last.starts_with("HTTP/1.1 200") && last.contains("connection: close") && last.ends_with("done"), "{last}");
    assert_eq!(stopping.await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_cut_at_the_end() {
    let (router, entered, _open) = gate();
    let running = Running::start(router, Settings { shutdown_timeout: SHORT, ..settings() }).await;
    let mut client = running.connect().await;
    let _idle = running.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    entered.notified().await;
    assert_eq!(running.stop().await, 1);
    assert_eq!(rest(&mut client).await, "");
}

#[tokio::test]
async fn an_idle_connection_gives_way_to_a_new_one_and_a_busy_one_lets_it_wait() {
    let (gate, entered, open) = gate();
    let running = Running::with_room(
        router().merge(Router::new().nest("/gate", gate)),
        settings(),
        Room { all: 1, of_address: 1 },
    )
    .await;
    let mut first = running.connect().await;
    first.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answer(&mut first, "127.0.0.1").await;
    let mut second = running.connect().await;
    second.write_all(b"GET /gate HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert_eq!(rest(&mut first).await, "");
    entered.notified().await;
    let mut refused = running.connect().await;
    assert_eq!(rest(&mut refused).await, "", "its address has its share, which is busy");
    open.notify_one();
    answer(&mut second, "done").await;
    running.stop().await;
}

#[tokio::test]
async fn a_new_connection_waits_where_all_are_busy() {
    let (gate, entered, open) = gate();
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let settings = Settings { trusted_proxies: proxies, ..settings() };
    let running = Running::with_room(gate, settings, Room { all: 1, of_address: 1 }).await;
    let (mut first, request) = (running.connect().await, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    first.write_all(request).await.unwrap();
    entered.notified().await;
    let mut second = running.connect().await;
    second.write_all(request).await.unwrap();
    assert!(timeout(SHORT, second.read_u8()).await.is_err());
    open.notify_one();
    answer(&mut first, "done").await;
    entered.notified().await;
    open.notify_one();
    answer(&mut second, "done").await;
    running.stop().await;
}

#[tokio::test]
async fn a_slow_body_is_cut_and_one_that_keeps_the_pace_is_not() {
    for (pace, is_cut) in [(1_000_000, true), (1, false)] {
        let times = Settings { body_timeout: SHORT, min_bytes_per_second: pace, ..settings() };
        let running = Running::start(router(), times).await;
        let mut client = running.connect().await;
        client.write_all(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 30\r\n\r\n").await.unwrap();
        for _ in 0..30 {
            sleep(SHORT / 10).await;
            if client.write_all(b"x").await.is_err() {
                break;
            }
        }
        if is_cut {
            assert_eq!(rest(&mut client).await, "");
        } else {
            answer(&mut client, &"x".repeat(30)).await;
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn a_body_that_nobody_read_leaves_the_connection_good_and_its_answer_is_seen() {
    let running = Running::start(router(), settings()).await;
    let mut client = running.connect().await;
    for length in [1, 28, 100_000, 3_000_000] {
        let refused = format!("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n{}", "x".repeat(length));
        client.write_all(refused.as_bytes()).await.unwrap();
        let head = answer(&mut client, "").await;
        assert!(head.starts_with("HTTP/1.1 405"), "{head}");
        assert!(!head.contains("connection:"), "{head}");
        client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        assert!(answer(&mut client, "127.0.0.1").await.starts_with("HTTP/1.1 200"));
    }
    running.stop().await;
}

#[tokio::test]
async fn an_answer_after_which_the_connection_ends_says_so() {
    let running = Running::start(router(), settings()).await;
    for (header, body) in [("expect: 100-continue\r\ncontent-length: 5", ""), ("content-length: 99000000", "x")] {
        let mut client = running.connect().await;
        client.write_all(format!("PUT / HTTP/1.1\r\nhost: a\r\n{header}\r\n\r\n{body}").as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let all = rest(&mut client).await;
        assert!(all.starts_with("HTTP/1.1 405") && all.contains("\r\nconnection: close\r\n"), "{all}");
    }
    let mut client = running.connect().await;
    let asked = "POST /echo HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    client.write_all(asked.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut client, "").await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(b"hello").await.unwrap();
    let all = answer(&mut client, "hello").await;
    assert!(!all.contains("connection:"), "{all}");
    running.stop().await;
}

#[tokio::test]
async fn a_target_that_names_its_host_is_believed_and_the_header_is_not() {
    let host = |headers: HeaderMap| async move { headers[header::HOST].to_str().unwrap().to_owned() };
    let running = Running::start(Router::new().route("/", get(host)), settings()).await;
    let mut client = running.connect().await;
    client.write_all(b"GET http://b.example:81/ HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    answer(&mut client, "b.example:81").await;
    running.stop().await;
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let running = Running::start(router(), settings()).await;
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(MAX_HEAD_BYTES));
    for (request, status) in [("nonsense\r\n\r\n", "HTTP/1.1 400"), (long.as_str(), "HTTP/1.1 431")] {
        let mut client = running.connect().await;
        client.write_all(request.as_bytes()).await.unwrap();
        let last = rest(&mut client).await;
        assert!(last.starts_with(status) && last.contains("\r\nx-request-id: a-1\r\n"), "{last}");
        assert!(last.ends_with(&format!("{{\"status_code\":{}}}", &status[9..])), "{last}");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_answer_that_ends_as_a_refusal_does_is_sent_as_it_is() {
    const BODY: &str = "HTTP/1.1 400 x\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
    let pieces = || futures_util::stream::iter(["begin ", BODY].map(|piece| Ok::<_, Infallible>(Bytes::from(piece))));
    let whole = format!("begin {BODY}");
    let router = Router::new()
        .route("/", get(async move || ([(header::CONTENT_LENGTH, whole.len())], Body::from_stream(pieces()))));
    let running = Running::start(router, settings()).await;
    let mut client = running.connect().await;
    for _ in 0..3 {
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        answer(&mut client, &format!("begin {BODY}")).await;
    }
    running.stop().await;
}

#[tokio::test]
async fn a_trusted_proxy_names_the_client() {
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    for (trusted_proxies, expected) in [(proxies, "203.0.113.9"), (Vec::new(), "127.0.0.1")] {
        let running = Running::start(router(), Settings { trusted_proxies, ..settings() }).await;
        let mut client = running.connect().await;
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 1.1.1.1, 203.0.113.9\r\n\r\n").await.unwrap();
        answer(&mut client, expected).await;
        running.stop().await;
    }
}

#[test]
fn who_forwards_and_is_not_named_is_a_warning_and_nobody_else() {
    for (is_proxy, name, is_warned) in [
        (false, "x-forwarded-for", true),
        (false, "forwarded", true),
        (false, "via", false),
        (true, "x-forwarded-for", false),
    ] {
        let serving =
            Serving { router: router(), refuse: refuse(), settings: settings(), log: Throttle::new(LOG_EVERY) };
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static("203.0.113.9"))]);
        serving.client(Peer { address: "10.0.0.1".parse().unwrap(), is_proxy }, &headers);
        assert_eq!(serving.log.passes(), !is_warned, "{name}");
    }
}

#[test]
fn the_right_most_untrusted_address_is_the_client() {
    let trusted = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
    let client = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        forwarded(&headers, "10.0.0.1".parse().unwrap(), &trusted).to_string()
    };
    assert_eq!(client(&[]), "10.0.0.1");
    assert_eq!(client(&["1.2.3.4"]), "1.2.3.4");
    assert_eq!(client(&["9.9.9.9, 1.2.3.4, 10.2.3.4"]), "1.2.3.4");
    assert_eq!(client(&["9.9.9.9, 1.2.3.4", "10.2.3.4,fd00::1"]), "1.2.3.4");
    assert_eq!(client(&["10.7.7.7, 10.2.3.4"]), "10.7.7.7");
    assert_eq!(client(&["1.2.3.4:5678"]), "1.2.3.4");
    assert_eq!(client(&["[2001:db8::1]:5678"]), "2001:db8::1");
    assert_eq!(client(&["[2001:db8::1]"]), "2001:db8::1");
    assert_eq!(client(&["::ffff:1.2.3.4"]), "1.2.3.4");
    assert_eq!(client(&["1.2.3.4, nonsense, 10.2.3.4"]), "10.2.3.4");
    assert_eq!(client(&["1.2.3.4, "]), "10.0.0.1");
}
