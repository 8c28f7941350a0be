mod receiver;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use proptest::prelude::*;
use tokio::time;
use url::Url;

use self::receiver::{Receiver, Reply, answer, connector};
use super::{Attempt, Client, Content, Dialling, Lookup, Request, system};
use crate::addresses::{Allowed, check_url};
use crate::turns::Turns;
use db::AccountId;
use kernel::clock::Clock;
use kernel::document;
use kernel::json::parse_value;
use kernel::text::Timestamp;
use webhook_signing::{Key, Keys, Outcome, StandardHeaders};

const NOW: i64 = 1_767_225_600;
const FAILED: Outcome = Outcome::Failed { retry_after: None };

fn dialling(local_hosts: &str, lookup: Lookup) -> Dialling {
    let now = Timestamp::from_microseconds(NOW * 1_000_000);
    let dialling = Dialling {
        allowed: Arc::new(Allowed::new(&[], local_hosts)),
        lookup,
        lookups: Turns::new(1, 1),
        account: AccountId(1),
        clock: Clock::fixed(now),
        tls: Ok(connector(false)),
    };
    dialling.with_lookups(Turns::new(2, 1))
}

fn client(dialling: &Dialling) -> Client {
    Client::new(dialling.clone(), Duration::from_secs(15), 2)
}

/// A client that may dial this machine by its address.
fn local_client() -> Client {
    client(&dialling("127.0.0.1", nobody))
}

/// Sends a body.
async fn post(client: &Client, url: &str) -> Attempt {
    let (url, keys) = (Url::parse(url).unwrap(), Keys::from(Key::new("secret").unwrap()));
    let content = Content::Body(Bytes::from_static(b"{\"slug\":\"AbCdEfGh\"}"));
    let headers = vec![("x-own", "1"), ("user-agent", "other"), ("Signature", "other")];
    let now = Timestamp::from_microseconds(NOW * 1_000_000);
    client.attempt(Request { url: &url, content, headers, id: "msg_1_0_00", keys: &keys, now }).await
}

fn header<'r>(request: &'r str, name: &str) -> Vec<&'r str> {
    let lines = request.split("\r\n").filter_map(|line| line.split_once(": "));
    lines.filter(|line| line.0 == name).map(|line| line.1).collect()
}

fn nobody(_: String, _: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    Box::pin(async { Ok(Vec::new()) })
}

fn found(addresses: &[IpAddr], port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    let addresses = addresses.iter().map(|address| SocketAddr::new(*address, port)).collect();
    Box::pin(async { Ok(addresses) })
}

fn this_machine(_: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    found(&[Ipv4Addr::LOCALHOST.into()], port)
}

const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

#[tokio::test]
async fn a_delivery_is_posted_signed_and_with_the_headers_of_its_webhook() {
    let mut receiver = Receiver::start(&[answer(201, "", "taken")]).await;
    let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/a?b=c", receiver.port)).await;
    let expected = Attempt { at: NOW * 1_000_000, status: Some(201), answer: "taken".to_owned(), ..Attempt::default() };
    assert_eq!(attempt, expected);
    assert_eq!(attempt.outcome(NOW), Outcome::Delivered);

    let request = receiver.requests.recv().await.unwrap();
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(request.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{request}");
    assert_eq!(body, r#"{"slug":"AbCdEfGh"}"#);
    for (name, value) in [
        ("host", format!("127.0.0.1:{}", receiver.port)),
        ("content-type", "application/json".to_owned()),
        ("user-agent", concat!("Plaudit/", env!("CARGO_PKG_VERSION")).to_owned()),
        ("x-own", "1".to_owned()),
        ("webhook-id", "msg_1_0_00".to_owned()),
    ] {
        assert_eq!(header(&request, name), [value], "{name}");
    }
    assert!(header(&request, "accept-encoding").is_empty());
    let keys = Keys::from(Key::new("secret").unwrap());
    let one = |name| header(&request, name)[0];
    let (id, timestamp, signature) = (one("webhook-id"), one("webhook-timestamp"), one("webhook-signature"));
    let headers = StandardHeaders { id, timestamp, signature };
    assert_eq!(keys.verify_standard(headers, body.as_bytes(), NOW), Ok(()));
    assert_eq!(keys.verify_hex(one("signature"), body.as_bytes(), NOW), Ok(()));
}

#[tokio::test]
async fn get_has_its_parameters_behind_those_of_the_address_and_no_body() {
    let mut receiver = Receiver::start(&[answer(200, "", ""), answer(200, "", "")]).await;
    let keys = Keys::from(Key::new("secret").unwrap());
    let client = local_client();
    for (query, target) in [("", "/?event=a&slug=b+%26"), ("?c=%20d", "/?c=%20d&event=a&slug=b+%26")] {
        let url = Url::parse(&format!("http://127.0.0.1:{}/{query}", receiver.port)).unwrap();
        let content = Content::Query(&[("event", "a"), ("slug", "b &")]);
        let now = Timestamp::from_microseconds(NOW * 1_000_000);
        client.attempt(Request { url: &url, content, headers: Vec::new(), id: "id", keys: &keys, now }).await;
        let request = receiver.requests.recv().await.unwrap();
        assert!(request.starts_with(&format!("GET {target} HTTP/1.1\r\n")), "{request}");
        assert_eq!(keys.verify_hex(header(&request, "signature")[0], b"", NOW), Ok(()));
        assert!(header(&request, "content-type").is_empty() && header(&request, "content-length").is_empty());
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let elsewhere = Receiver::start(&[answer(200, "", "")]).await;
    let location = format!("Location: http://127.0.0.1:{}/\r\n", elsewhere.port);
    let receiver = Receiver::start(&[answer(302, &location, "")]).await;
    let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/", receiver.port)).await;
    assert_eq!((attempt.status, attempt.outcome(NOW)), (Some(302), FAILED));
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_failure_can_ask_for_time() {
    let receiver = Receiver::start(&[answer(429, "Retry-After: 7\r\n", "")]).await;
    let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/", receiver.port)).await;
    assert_eq!(attempt.outcome(NOW), Outcome::Failed { retry_after: Some(Duration::from_secs(7)) });
}

#[tokio::test]
async fn no_answer_in_time_is_a_failure_and_closes_the_connection() {
    let mut receiver = Receiver::start(&[Reply::Hang]).await;
    let url = format!("http://127.0.0.1:{}/", receiver.port);
    let attempt = tokio::spawn(async move { post(&local_client(), &url).await });
    receiver.requests.recv().await.unwrap();
    time::pause();
    time::advance(Duration::from_secs(15)).await;
    let attempt = attempt.await.unwrap();
    assert_eq!(attempt.error.as_deref(), Some("no answer in 15 s"));
    assert_eq!((attempt.status, attempt.outcome(NOW)), (None, FAILED));
    receiver.ends.recv().await.unwrap();
}

#[tokio::test]
async fn an_attempt_that_is_broken_off_closes_its_connection() {
    let mut receiver = Receiver::start(&[Reply::Hang]).await;
    let url = format!("http://127.0.0.1:{}/", receiver.port);
    let attempt = tokio::spawn(async move { post(&local_client(), &url).await });
    receiver.requests.recv().await.unwrap();
    attempt.abort();
    receiver.ends.recv().await.unwrap();
}

#[tokio::test]
async fn what_is_no_answer_is_said_in_our_words() {
    let head = format!("HTTP/1.1 200 OK\r\nlong: {}\r\n", "x".repeat(200_000));
    for (reply, error) in [
        (String::new(), "the connection was closed"),
        ("HTTP/1.1 200".to_owned(), "the connection was closed"),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n".to_owned(), "the answer is not HTTP"),
        (head, "the head of the answer is too long"),
    ] {
        let receiver = Receiver::start(&[Reply::Last(reply)]).await;
        let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/?secret", receiver.port)).await;
        assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some(error)));
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let attempt = post(&local_client(), &format!("http://{closed}/")).await;
    assert_eq!(attempt.error.as_deref(), Some("the connection was refused"));
}

#[tokio::test]
async fn of_a_long_answer_the_beginning_is_kept_and_the_rest_is_not_read() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let letters = "ä".repeat(1000);
    let chunk = format!("{:x}\r\nx{letters}\r\n", letters.len() + 1);
    let mut receiver = Receiver::start(&[Reply::Endless(head, chunk.into_bytes())]).await;
    let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/", receiver.port)).await;
    assert_eq!((attempt.status, attempt.error), (Some(200), None));
    // Half of the next letter would be within the limit.
    assert_eq!(attempt.answer, format!("x{}", "ä".repeat(511)));
    receiver.ends.recv().await.unwrap();
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_is_no_text_is_an_answer() {
    let reply = Reply::Last("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\0half".to_owned());
    let receiver = Receiver::start(&[reply]).await;
    let attempt = post(&local_client(), &format!("http://127.0.0.1:{}/", receiver.port)).await;
    assert_eq!((attempt.status, attempt.error, attempt.answer.as_str()), (Some(200), None, "\0half"));
}

#[tokio::test]
async fn attempts_share_a_connection_that_is_left_until_it_has_been_idle() {
    let close = answer(200, "Connection: close\r\n", "");
    let mut receiver =
        Receiver::start(&[answer(200, "", "a"), answer(500, "", "b"), close, answer(200, "", "c")]).await;
    let (client, url) = (local_client(), format!("http://127.0.0.1:{}/", receiver.port));
    for (status, connections) in [(200, 1), (500, 1), (200, 1), (200, 2)] {
        let attempt = post(&client, &url).await;
        assert_eq!((attempt.status, attempt.error), (Some(status), None));
        assert_eq!(receiver.connections(), connections);
    }
    receiver.ends.recv().await.unwrap();
    time::pause();
    time::advance(Duration::from_secs(5)).await;
    receiver.ends.recv().await.unwrap();
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_dialled() {
    let receiver = Receiver::start(&[answer(200, "", "")]).await;
    let port = receiver.port;
    for (host, local_hosts, error) in [
        ("127.0.0.1", "localhost", "127.0.0.1 is a loopback address"),
        ("[::1]", "127.0.0.1", "::1 is a loopback address"),
        ("[::ffff:127.0.0.1]", "127.0.0.1", "127.0.0.1 is a loopback address"),
        ("localhost", "127.0.0.1", "localhost is this machine"),
        ("hooks.example", "127.0.0.1", "hooks.example resolves to a loopback address"),
    ] {
        let attempt = post(&client(&dialling(local_hosts, this_machine)), &format!("http://{host}:{port}/")).await;
        assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some(error)));
    }
    assert_eq!(receiver.connections(), 0);
    let attempt =
        post(&client(&dialling("hooks.example", this_machine)), &format!("http://hooks.example:{port}/")).await;
    assert_eq!(attempt.status, Some(200));
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_checked_address_is_dialled() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn changing(_: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        match ASKED.fetch_add(1, Ordering::SeqCst) {
            0 => found(&[Ipv4Addr::LOCALHOST.into()], port),
            _ => found(&[PRIVATE], port),
        }
    }
    let receiver = Receiver::start(&[answer(200, "Connection: close\r\n", "")]).await;
    let (client, url) =
        (client(&dialling("hooks.example", changing)), format!("http://hooks.example:{}/", receiver.port));
    assert_eq!(post(&client, &url).await.status, Some(200));
    assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    let error = post(&client, &url).await.error;
    assert_eq!(error.as_deref(), Some("hooks.example resolves to a private address"));
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn of_several_addresses_only_those_that_may_be_dialled_are() {
    #[allow(clippy::needless_pass_by_value, reason = "a lookup is given a text of its own")]
    fn several(host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let public = |last| IpAddr::V4(Ipv4Addr::new(8, 8, 8, last));
        match host.as_str() {
            "mixed.example" => found(&[PRIVATE, public(8), Ipv4Addr::LOCALHOST.into(), public(9)], port),
            "local.example" => found(&[PRIVATE, Ipv4Addr::LOCALHOST.into()], port),
            "many.example" => found(&[public(1); 40], port),
            "late.example" => found(&[[PRIVATE; 16].as_slice(), &[public(1)]].concat(), port),
            _ => Box::pin(async { Err(io::Error::other("no such host")) }),
        }
    }
    let dialling = dialling("local.example", several);
    let addresses = async |host| dialling.addresses(host, 80, None).await.map_err(|error| error.to_string());
    let public: Vec<SocketAddr> = ["8.8.8.8:80", "8.8.8.9:80"].map(|address| address.parse().unwrap()).to_vec();
    assert_eq!(addresses("mixed.example").await, Ok(public));
    assert_eq!(addresses("many.example").await.unwrap().len(), 4);
    assert_eq!(addresses("8.8.8.8").await.unwrap(), ["8.8.8.8:80".parse().unwrap()]);
    let late = "late.example resolves to a private address";
    assert_eq!(addresses("late.example").await, Err(late.to_owned()));
    assert_eq!(addresses("none.example").await, Err("none.example has no address".to_owned()));

    let receiver = Receiver::start(&[]).await;
    let stream = dialling.connect("local.example", receiver.port, None).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), SocketAddr::new(Ipv4Addr::LOCALHOST.into(), receiver.port));
}

#[tokio::test]
async fn a_name_without_an_address_is_an_error() {
    let attempt = post(&client(&dialling("", nobody)), "https://hooks.example/").await;
    assert_eq!(attempt.error.as_deref(), Some("hooks.example has no address"));
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_hangs_is_given_up_and_delays_no_other_account() {
    fn hanging(_: String, _: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(std::future::pending())
    }
    let dialling = dialling("", hanging);
    let error = async |client| post(&client, "http://hooks.example/").await.error;
    assert_eq!(error(client(&dialling)).await.as_deref(), Some("hooks.example was not looked up in 5 s"));
    // The account's only lookup at the same time has not ended, and waiting for that is no attempt yet.
    let own = client(&dialling);
    let waiting = tokio::spawn(async move { post(&own, "http://hooks.example/").await });
    let other = client(&dialling.for_account(AccountId(2)));
    assert_eq!(error(other).await.as_deref(), Some("hooks.example was not looked up in 5 s"));
    time::advance(Duration::from_mins(1)).await;
    assert!(!waiting.is_finished());
}

#[tokio::test]
async fn a_certificate_is_of_the_host_and_of_somebody_who_is_trusted() {
    let trusting = |is_trusting| {
        let dialling = dialling("hooks.example,hooks.example.,other.example,127.0.0.1", this_machine);
        client(&Dialling { tls: Ok(connector(is_trusting)), ..dialling })
    };
    let mut receiver =
        Receiver::encrypted(&[answer(200, "", "over TLS"), answer(200, "", ""), answer(200, "", "")]).await;
    for (host, is_trusting, expected) in [
        ("hooks.example", true, Ok("over TLS")),
        ("hooks.example.", true, Ok("")),
        ("127.0.0.1", true, Ok("")),
        ("hooks.example", false, Err("TLS: invalid peer certificate: UnknownIssuer")),
        ("other.example", true, Err("TLS: invalid peer certificate: certificate not valid for name \"other.example\"")),
    ] {
        let attempt = post(&trusting(is_trusting), &format!("https://{host}:{}/", receiver.port)).await;
        match expected {
            Ok(text) => {
                assert_eq!((attempt.status, attempt.answer.as_str()), (Some(200), text), "{attempt:?}");
                receiver.ends.recv().await.unwrap();
            }
            Err(error) => assert!(attempt.error.as_deref().unwrap().starts_with(error), "{attempt:?}"),
        }
    }
}

#[tokio::test]
async fn without_tls_at_the_other_side_or_certificates_at_this_one_https_fails() {
    let receiver = Receiver::start(&[]).await;
    let url = format!("https://127.0.0.1:{}/", receiver.port);
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    let answering =
        std::thread::spawn(move || io::Write::write_all(&mut plain.accept().unwrap().0, b"HTTP/1.1 400 No\r\n\r\n"));
    let error = post(&local_client(), &format!("https://127.0.0.1:{port}/")).await.error.unwrap();
    answering.join().unwrap().unwrap();
    assert!(error.starts_with("TLS: received corrupt message"), "{error}");
    let without =
        Dialling { tls: Err(rustls::Error::General("no certificates".to_owned())), ..dialling("127.0.0.1", nobody) };
    assert_eq!(post(&client(&without), &url).await.error.as_deref(), Some("TLS: unexpected error: no certificates"));
}

#[tokio::test]
async fn the_way_of_the_system_dials_what_is_allowed() {
    let receiver = Receiver::start(&[answer(200, "", "")]).await;
    let allowed = Arc::new(Allowed::new(&[], "127.0.0.1"));
    let dialling = Dialling::new(allowed, system, Turns::new(1, 1), Clock::system());
    let attempt = post(&client(&dialling), &format!("http://127.0.0.1:{}/", receiver.port)).await;
    assert_eq!(attempt.status, Some(200));
    assert!(attempt.duration > Duration::ZERO);
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_fails_the_attempt() {
    let (url, keys) = (Url::parse("http://127.0.0.1/").unwrap(), Keys::from(Key::new("secret").unwrap()));
    let (content, now) = (Content::Body(Bytes::new()), Timestamp::from_microseconds(0));
    let request = Request { url: &url, content, headers: vec![("a", "b\r\nc: d")], id: "id", keys: &keys, now };
    let error = local_client().attempt(request).await.error;
    assert_eq!(error.as_deref(), Some("the request cannot be made: failed to parse header value"));
}

#[test]
fn an_attempt_is_read_as_it_was_written_and_leniently() {
    let now = Timestamp::from_microseconds(7);
    let answered = Attempt {
        at: 7,
        status: Some(500),
        duration: Duration::from_millis(12),
        answer: "\"no\"\0".to_owned(),
        ..Attempt::default()
    };
    for attempt in [answered, Attempt::unknown(7), Attempt::impossible(now, "the document was erased")] {
        let text = document::object(|object| attempt.write(object));
        assert_eq!(Attempt::read(&parse_value(text.as_bytes()).unwrap()), attempt, "{text}");
    }
    let other = parse_value(br#"{"at":7,"status":"new","answer":"a","more":[1]}"#).unwrap();
    assert_eq!(Attempt::read(&other), Attempt { at: 7, answer: "a".to_owned(), ..Attempt::default() });
}

proptest! {
    #[test]
    fn whatever_may_be_saved_can_be_sent_to_the_host_that_was_checked(host in "[a-zäöü0-9._-]{1,12}", rest in "[/?].{0,24}") {
        let Ok(mut url) = Url::parse(&format!("http://{host}:81{rest}")) else { return Ok(()) };
        url.set_fragment(None);
        if check_url(&url, &Allowed::default()).is_ok() {
            let keys = Keys::from(Key::new("secret").unwrap());
            for content in [Content::Body(Bytes::new()), Content::Query(&[("event", "ä&#")])] {
                let now = Timestamp::from_microseconds(0);
                let request = Request { url: &url, content, headers: Vec::new(), id: "id", keys: &keys, now };
                let (dialled, sent) = request.prepared().map_err(|failure| TestCaseError::fail(failure.to_string()))?;
                prop_assert_eq!(dialled.host_str(), url.host_str());
                prop_assert_eq!(&sent.headers()["host"], &format!("{}:81", url.host_str().unwrap()));
            }
        }
    }
}
