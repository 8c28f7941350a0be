//! An endpoint on this machine that answers as it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Of hooks.example and 127.0.0.1, until 2120, by nobody whom a system trusts; and its key.
const CERTIFICATE: &str = "MIIBXjCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDAR0ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx\
    MDAwMDAwWjAPMQ0wCwYDVQQDDAR0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiBQVNhzhcyvj+Z+HgGmlQ24axjrPLjfGF2H1IANzfvRQhxgeS8hn\
    KQD/eYKtaMSGZAPbKRB4EDFr7TS8m5zYW6NPME0wHgYDVR0RBBcwFYINaG9va3MuZXhhbXBsZYcEfwAAATAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBQFJlJ2\
    P0c1vPEf3xdMDmFkhUfS7DAKBggqhkjOPQQDAgNIADBFAiEA+rK40JLbnJxzdJt4IXKdyvda0OKnPjfT+R6injn4o5ECIHUnViQIuxourt7bzt9iqbYpCvrt\
    B+JfmpaeC6z9mnGw";
const CERTIFICATE_KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtVPGuWP1llCQr5sjAJw1jlNpWeCY9UJncqcJ9MILrOShRANCAASI\
    FBU2HOFzK+P5n4eAaaVDbhrGOs8uN8YXYfUgA3N+9FCHGB5LyGcpAP95gq1oxIZkA9spEHgQMWvtNLybnNhb";

/// What comes after a request.
#[derive(Clone)]
pub(super) enum Reply {
    Answer(String),
    /// An answer, or a part of one, before the connection is closed.
    Last(String),
    /// The bytes again and again, as long as somebody takes them.
    Endless(&'static str, Vec<u8>),
    Hang,
}

/// An answer with a status and a body.
pub(super) fn answer(status: u16, headers: &str, body: &str) -> Reply {
    Reply::Answer(format!("HTTP/1.1 {status} Said\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()))
}

pub(super) struct Receiver {
    pub(super) port: u16,
    pub(super) requests: mpsc::UnboundedReceiver<String>,
    /// Says whenever a connection has ended.
    pub(super) ends: mpsc::UnboundedReceiver<()>,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    pub(super) async fn start(replies: &[Reply]) -> Self {
        Self::listen(replies, None).await
    }

    pub(super) async fn encrypted(replies: &[Reply]) -> Self {
        Self::listen(replies, Some(acceptor())).await
    }

    async fn listen(replies: &[Reply], tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, requests) = mpsc::unbounded_channel();
        let (end, ends) = mpsc::unbounded_channel();
        let (opened, replies) = (Arc::clone(&connections), replies.to_vec());
        tokio::spawn(async move {
            let mut replies = replies.into_iter();
            while let Ok((stream, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::SeqCst);
                match &tls {
                    None => serve(stream, &mut replies, &sender).await,
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => serve(stream, &mut replies, &sender).await,
                        Err(_) => continue,
                    },
                }
                let _ = end.send(());
            }
        });
        Self { port, requests, ends, connections }
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Answers the requests of a connection, until it ends or the replies do.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    replies: &mut impl Iterator<Item = Reply>,
    requests: &mpsc::UnboundedSender<String>,
) {
    while let Some(request) = read(&mut stream).await {
        let _ = requests.send(request);
        match replies.next() {
            Some(Reply::Answer(text)) => stream.write_all(text.as_bytes()).await.unwrap(),
            Some(Reply::Last(text)) => {
                let _ = stream.write_all(text.as_bytes()).await;
                return;
            }
            Some(Reply::Endless(head, bytes)) => {
                stream.write_all(head.as_bytes()).await.unwrap();
                while stream.write_all(&bytes).await.is_ok() {}
                return;
            }
            Some(Reply::Hang) => while stream.read_u8().await.is_ok() {},
            None => return,
        }
    }
}

/// A request as it was sent; none where the connection has ended.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        text.push(stream.read_u8().await.ok()?.into());
    }
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some(text + str::from_utf8(&body).unwrap())
}

fn certificate() -> CertificateDer<'static> {
    STANDARD.decode(CERTIFICATE).unwrap().into()
}

fn acceptor() -> TlsAcceptor {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(STANDARD.decode(CERTIFICATE_KEY).unwrap()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate()], key).unwrap()))
}

/// Trusts the certificate of an encrypted receiver, or nobody.
pub(super) fn connector(is_trusting: bool) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    if is_trusting {
        roots.add(certificate()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    TlsConnector::from(Arc::new(config.with_no_client_auth()))
}
