//! Where PostgreSQL is, and how it is reached: the address of libpq (PostgreSQL 15, section 34.1), read for TLS.
//!
//! - A server that is not on this machine is reached by TLS alone, and its certificate is verified, name and all: by the
//!   authorities that the system trusts, or by those of `sslrootcert`.
//! - A server on this machine is reached without TLS, unless `sslmode` or a certificate is named.
//! - `sslmode=disable` is without TLS. Every other mode but `prefer` demands it, and each verifies as `verify-full` does:
//!   what is encrypted to nobody knows whom is not safe.
//! - `sslcert` and `sslkey` are the certificate and the key that a server is shown which asks for them.

use std::fmt::Display;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::DbError;
use crate::error::whole;

/// A server, or several of which one is taken, and what opens connections to it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) config: Config,
    pub(crate) tls: MakeRustlsConnect,
}

/// What the address says of TLS.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    mode: Option<String>,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

fn fault(what: impl Display) -> DbError {
    DbError::Settings(what.to_string())
}

impl Target {
    /// Reads an address.
    pub(crate) fn of(url: &str) -> Result<Self, DbError> {
        let (url, asked) = Asked::of(url)?;
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| fault(whole(&error)))?;
        let is_local = is_local(&config);
        config.ssl_mode(match asked.mode.as_deref() {
            Some("disable") => SslMode::Disable,
            Some("prefer" | "allow") => SslMode::Prefer,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            Some(other) => {
                return Err(fault(format!(
                    "sslmode={other}: allowed is one of disable, prefer, require, verify-ca, verify-full"
                )));
            }
            None if is_local && asked == Asked::default() => SslMode::Disable,
            None => SslMode::Require,
        });
        let tls = if config.get_ssl_mode() == SslMode::Disable { unused()? } else { asked.verified()? };
        Ok(Self { config, tls: MakeRustlsConnect::new(tls) })
    }
}

impl Asked {
    /// Takes out of an address what it says of TLS, most of which the driver does not know.
    fn of(url: &str) -> Result<(String, Self), DbError> {
        let mut asked = Self::default();
        // A password may have such a sign as well, in front.
        let Some((front, query)) = url.rsplit_once('?') else { return Ok((url.to_owned(), asked)) };
        let mut rest = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = percent_encoding::percent_decode_str(value).decode_utf8();
            let text = text.map_err(|_| fault(format!("{name} is no UTF-8")))?.into_owned();
            match name {
                "sslmode" => asked.mode = Some(text),
                "sslrootcert" => asked.authorities = (text != "system").then(|| text.into()),
                "sslcert" => asked.certificate = Some(text.into()),
                "sslkey" => asked.key = Some(text.into()),
                _ => rest.push(pair),
            }
        }
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        Ok((format!("{front}{query}"), asked))
    }

    /// Verifies servers, by the authorities that were asked for.
    fn verified(&self) -> Result<ClientConfig, DbError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(fault)?;
        let builder = match &self.authorities {
            None => builder.with_platform_verifier().map_err(fault)?,
            Some(file) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates("sslrootcert", file)? {
                    roots.add(certificate).map_err(|error| unreadable("sslrootcert", file, error))?;
                }
                builder.with_root_certificates(roots)
            }
        };
        match (&self.certificate, &self.key) {
            (None, None) => Ok(builder.with_no_client_auth()),
            (Some(certificate), Some(key)) => {
                let chain = certificates("sslcert", certificate)?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable("sslkey", key, error))?;
                builder.with_client_auth_cert(chain, key).map_err(|error| unreadable("sslcert", certificate, error))
            }
            (Some(_), None) => Err(fault("sslcert is given without sslkey")),
            (None, Some(_)) => Err(fault("sslkey is given without sslcert")),
        }
    }
}

/// For connections without TLS, which have a type of their own nowhere.
fn unused() -> Result<ClientConfig, DbError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(fault)?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// The certificates of a file, of which there is at least one.
fn certificates(name: &str, file: &PathBuf) -> Result<Vec<CertificateDer<'static>>, DbError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| unreadable(name, file, error))?;
    if certificates.is_empty() { Err(unreadable(name, file, "it has no certificate in PEM")) } else { Ok(certificates) }
}

fn unreadable(name: &str, file: &std::path::Path, error: impl Display) -> DbError {
    fault(format!("{name} {}: {error}", file.display()))
}

/// Whether every server is on this machine.
fn is_local(config: &Config) -> bool {
    let of_name = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let addresses = config.get_hostaddrs();
    if addresses.is_empty() {
        config.get_hosts().iter().all(of_name)
    } else {
        addresses.iter().all(IpAddr::is_loopback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        Target::of(url).map(|target| target.config.get_ssl_mode()).unwrap()
    }

    fn refused(url: &str) -> String {
        Target::of(url).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn only_a_server_on_this_machine_is_reached_without_tls_unless_the_address_says_so() {
        for local in ["localhost", "127.0.0.1", "[::1]", "%2Fvar%2Frun%2Fpostgresql", "localhost:1,127.0.0.2:2"] {
            assert_eq!(mode(&format!("postgres://a@{local}/b")), SslMode::Disable, "{local}");
        }
        for other in ["db.example.org", "10.0.0.1", "localhost,db.example.org", "localhost.example.org"] {
            assert_eq!(mode(&format!("postgres://a@{other}/b")), SslMode::Require, "{other}");
        }
        assert_eq!(mode("postgres://a@localhost/b?hostaddr=10.0.0.1"), SslMode::Require);
        assert_eq!(mode("postgres://a:p?sslmode=x@localhost/b?sslmode=require"), SslMode::Require);
        let missing = refused("postgres://a@localhost/b?sslrootcert=/nowhere/ca.pem");
        assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
        for (word, expected) in [
            ("disable", SslMode::Disable),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-full", SslMode::Require),
        ] {
            for host in ["localhost", "db.example.org"] {
                assert_eq!(mode(&format!("postgres://a@{host}/b?connect_timeout=5&sslmode={word}")), expected);
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_name_and_file() {
        let url = |query: &str| format!("postgres://a@db.example.org/b?{query}");
        for (query, told) in [
            ("sslmode=secure", "sslmode=secure: allowed is one of disable, prefer, require, verify-ca, verify-full"),
            ("sslcert=a", "sslcert is given without sslkey"),
            ("sslkey=a", "sslkey is given without sslcert"),
            ("sslrootcert=%ff", "sslrootcert is no UTF-8"),
            ("sslmod=require", "invalid connection string: unknown option `sslmod`"),
        ] {
            assert_eq!(refused(&url(query)), told);
        }
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "nothing").unwrap();
        let told = refused(&url(&format!("sslrootcert={}", empty.display())));
        assert_eq!(told, format!("sslrootcert {}: it has no certificate in PEM", empty.display()));
        let missing = refused(&url("sslrootcert=/nowhere/ca.pem"));
        assert!(missing.starts_with("sslrootcert /nowhere/ca.pem: "), "{missing}");
    }

    #[test]
    fn several_servers_of_which_one_that_writes_is_taken_can_be_named() {
        let target = Target::of("postgres://a@one.example.org:1,two.example.org:2/b?target_session_attrs=read-write");
        let config = target.unwrap_or_else(|error| panic!("{error}")).config;
        assert_eq!((config.get_hosts().len(), config.get_ports()), (2, &[1, 2][..]));
        assert_eq!(config.get_target_session_attrs(), tokio_postgres::config::TargetSessionAttrs::ReadWrite);
    }
}
