//! A mail server, by SMTP.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::{Host, Url};

use super::MailError;

/// Connections at once: a server refuses a client that takes many.
const CONNECTIONS: usize = 4;
/// How long sending takes at most.
const LIMIT: Duration = Duration::from_secs(30);
/// How long one address of the server may take to answer a connection, so that another is tried.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long the server has for its last word, when it has taken the message.
const PARTING: Duration = Duration::from_secs(2);
/// The most characters of what a server says that are told.
const TOLD: usize = 200;

/// The ports of submission (RFC 8314, section 7.3).
const PORT: u16 = 587;
const PORT_OF_TLS: u16 = 465;

/// A mail server, and how it is reached.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Option<Credentials>,
    /// Whether the connection begins encrypted. One that does not becomes so where the server offers it.
    begins_with_tls: bool,
    tls: TlsParameters,
    hello: ClientId,
    connections: Semaphore,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Server {
    /// The server of an address. `name` is what the service calls itself.
    pub(super) fn parse(address: &str, name: &str) -> Result<Self, MailError> {
        let fault = || {
            MailError::Settings("it is none of file:DIRECTORY, smtp://HOST:PORT and smtps://USER:PASSWORD@HOST:PORT")
        };
        let url = Url::parse(address).map_err(|_| fault())?;
        let begins_with_tls = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(fault()),
        };
        let host = match url.host().ok_or_else(fault)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) => {
                let decode = |part| percent_decode_str(part).decode_utf8().map(Cow::into_owned).map_err(|_| fault());
                Some(Credentials::new(decode(user)?, decode(password)?))
            }
            (_, None) => return Err(fault()),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(fault());
        }
        let port = url.port().unwrap_or(if begins_with_tls { PORT_OF_TLS } else { PORT });
        let tls =
            TlsParameters::new(host.clone()).map_err(|_| MailError::Settings("it cannot be reached by TLS here"))?;
        let (hello, connections) = (ClientId::Domain(name.to_owned()), Semaphore::new(CONNECTIONS));
        Ok(Self { host, port, credentials, begins_with_tls, tls, hello, connections })
    }

    /// Sends a message.
    pub(super) async fn send(&self, message: &lettre::Message) -> Result<(), MailError> {
        // It is never closed.
        let _turn = self.connections.acquire().await.ok();
        let late = |_| MailError::Unavailable(format!("{self:?} has not taken it in {} s", LIMIT.as_secs()));
        let mut connection = timeout(LIMIT, self.deliver(message)).await.map_err(late)??;
        // The server has it, however the connection ends.
        let _ = timeout(PARTING, connection.abort()).await;
        Ok(())
    }

    async fn deliver(&self, message: &lettre::Message) -> Result<AsyncSmtpConnection, MailError> {
        let mut connection = self.connect().await.map_err(|error| self.unavailable(&error))?;
        if let Some(credentials) = &self.credentials {
            self.authenticate(&mut connection, credentials).await?;
        }
        match connection.send(message.envelope(), &message.formatted()).await {
            Ok(_) => Ok(connection),
            // What the client itself refuses is that the server takes no address with letters of other scripts.
            Err(error) if error.is_permanent() || error.is_client() => Err(MailError::Refused(told(&error))),
            Err(error) if error.is_transient() => Err(MailError::Later(told(&error))),
            Err(error) => Err(self.unavailable(&error)),
        }
    }

    /// A connection that is encrypted where the server offers it.
    async fn connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let (tls, place) = (self.begins_with_tls.then(|| self.tls.clone()), (self.host.as_str(), self.port));
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(place, Some(CONNECTING), &self.hello, tls, None).await?;
        if connection.can_starttls() {
            connection.starttls(self.tls.clone(), &self.hello).await?;
        }
        Ok(connection)
    }

    /// Gives user and password. That they are refused is a fault of the settings and not of the message, so that another
    /// attempt may do better; what the server says of them is not told, as it may repeat them.
    async fn authenticate(
        &self,
        connection: &mut AsyncSmtpConnection,
        credentials: &Credentials,
    ) -> Result<(), MailError> {
        if !connection.is_encrypted() {
            return Err(MailError::Unavailable(format!(
                "{self:?} offers no encryption, without which no password is sent"
            )));
        }
        let outcome = connection.auth(&[Mechanism::Plain, Mechanism::Login], credentials).await;
        outcome.map(drop).map_err(|error| {
            let status = error.status().map(|status| format!(" ({status})")).unwrap_or_default();
            MailError::Unavailable(format!("{self:?} does not take the user and password{status}"))
        })
    }

    fn unavailable(&self, error: &Error) -> MailError {
        MailError::Unavailable(format!("{self:?}: {}", told(error)))
    }
}

/// What went wrong, as one short line.
fn told(error: &Error) -> String {
    error.to_string().chars().take(TOLD).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
