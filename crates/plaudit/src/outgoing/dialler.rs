//! Dials what somebody else has named: looks the host up, checks every address that it has, and connects to one that passed.
//!
//! The host is looked up once and here, so that what was checked is what is connected to: a name that changes in between
//! changes nothing. No proxy is asked.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::addresses::{self, Allowed, Refusal};
use crate::turns::{Turn, Turns};
use db::AccountId;
use kernel::clock::Clock;

/// Asks for the addresses of a host, with the port that is dialled.
pub type Lookup = fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

/// How long a lookup may take, and how long connecting.
const STEP: Duration = Duration::from_secs(5);

/// The addresses of a host that are looked at, and those that are dialled.
const MAX_ADDRESSES: usize = 16;
const MAX_DIALLED: usize = 4;

/// The most characters of an error that is not ours.
const MAX_ERROR: usize = 200;

/// How a node dials.
#[derive(Clone)]
pub struct Dialling {
    /// What the operator has opened.
    pub allowed: Arc<Allowed>,
    /// How hosts are looked up.
    pub lookup: Lookup,
    /// The lookups at the same time: each takes a thread, for as long as the servers of names let it wait.
    pub lookups: Turns<AccountId>,
    /// Whose lookups they are.
    pub account: AccountId,
    /// Measures how long attempts take.
    pub clock: Clock,
    pub(super) tls: Result<TlsConnector, rustls::Error>,
}

/// Why a host was not connected to.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    /// None of its addresses may be dialled.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such host, or nobody who knows.
    #[error("{0} has no address")]
    NoAddress(String),
    /// The servers of names take too long.
    #[error("{0} was not looked up in 5 s")]
    LookupTooLong(String),
    /// Nobody answers at any of its addresses.
    #[error("no connection in 5 s")]
    ConnectTooLong,
    /// The connection failed.
    #[error("{}", text_of(.0))]
    Io(#[from] io::Error),
    /// There are no certificates to trust, or the host can have none.
    #[error("TLS: {0}")]
    Tls(String),
}

impl Dialling {
    /// Trusts the certificates that the system trusts. Where it has none, `https` fails and `http` does not.
    pub fn new(allowed: Arc<Allowed>, lookup: Lookup, lookups: Turns<AccountId>, clock: Clock) -> Self {
        let tls = tls().map(|config| TlsConnector::from(Arc::new(config)));
        if let Err(error) = &tls {
            tracing::warn!(%error, "no certificates can be checked: nothing is sent to addresses with https");
        }
        Self { allowed, lookup, lookups, account: AccountId::NONE, clock, tls }
    }

    /// The same with other lookups at the same time.
    pub fn with_lookups(&self, lookups: Turns<AccountId>) -> Self {
        Self { lookups, ..self.clone() }
    }

    /// The same for another account.
    pub fn for_account(&self, account: AccountId) -> Self {
        Self { account, ..self.clone() }
    }

    /// The turn to look a host up; nothing for one that is an address.
    pub(super) async fn turn(&self, host: &str) -> Option<Turn> {
        match addresses::literal(host) {
            Some(_) => None,
            None => Some(self.lookups.take(self.account).await),
        }
    }

    /// Connects to a host, as it stands in an address of the web. Without a turn to look it up it waits for one.
    pub(super) async fn connect(&self, host: &str, port: u16, turn: Option<Turn>) -> Result<TcpStream, DialError> {
        let addresses = self.addresses(host, port, turn).await?;
        let share = STEP / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut failed = DialError::NoAddress(host.to_owned());
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Ok(Err(error)) => failed = error.into(),
                Err(_) => failed = DialError::ConnectTooLong,
            }
        }
        Err(failed)
    }

    /// The addresses of a host that may be dialled.
    pub(super) async fn addresses(
        &self,
        host: &str,
        port: u16,
        turn: Option<Turn>,
    ) -> Result<Vec<SocketAddr>, DialError> {
        let found = if let Some(address) = addresses::literal(host) {
            vec![SocketAddr::new(address, port)]
        } else {
            addresses::check_name(host, &self.allowed)?;
            self.look_up(host, port, turn).await?
        };
        let mut refused = None;
        let mut good = Vec::new();
        for address in found.into_iter().take(MAX_ADDRESSES) {
            match addresses::check_address(host, address.ip(), &self.allowed) {
                Ok(()) => good.push(address),
                Err(refusal) => {
                    // Whoever named the host is not told the address, which may be of the operator's network.
                    tracing::info!(host, address = %address.ip(), "an address is not dialled");
                    refused = refused.or(Some(refusal));
                }
            }
        }
        good.truncate(MAX_DIALLED);
        match refused {
            Some(refusal) if good.is_empty() => Err(refusal.into()),
            _ => Ok(good),
        }
    }

    async fn look_up(&self, host: &str, port: u16, turn: Option<Turn>) -> Result<Vec<SocketAddr>, DialError> {
        let no_address = || DialError::NoAddress(host.to_owned());
        let turn = match turn {
            Some(turn) => turn,
            None => self.lookups.take(self.account).await,
        };
        let asked = (self.lookup)(host.to_owned(), port);
        // A lookup that is no longer waited for goes on, and counts until it ends.
        let looked_up = tokio::spawn(async move {
            let _turn = turn;
            asked.await
        });
        match timeout(STEP, looked_up).await {
            Ok(Ok(Ok(addresses))) => Ok(addresses),
            Ok(_) => Err(no_address()),
            Err(_) => Err(DialError::LookupTooLong(host.to_owned())),
        }
    }

    /// Makes a connection to a host one that is encrypted, and checks that it is to this host.
    pub(super) async fn encrypt(&self, host: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, DialError> {
        let tls = self.tls.as_ref().map_err(|error| DialError::Tls(error.to_string()))?;
        let name = match addresses::literal(host) {
            Some(address) => ServerName::from(address),
            None => ServerName::try_from(host.trim_end_matches('.').to_owned())
                .map_err(|error| DialError::Tls(error.to_string()))?,
        };
        Ok(tls.connect(name, stream).await?)
    }
}

/// The system's way to look a host up.
pub fn system(host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(versions.with_platform_verifier()?.with_no_client_auth())
}

/// What an error of a connection is called.
pub(super) fn text_of(error: &io::Error) -> String {
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return format!("TLS: {tls}").chars().take(MAX_ERROR).collect();
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => "the host cannot be reached".to_owned(),
        _ => error.to_string().chars().take(MAX_ERROR).collect(),
    }
}
