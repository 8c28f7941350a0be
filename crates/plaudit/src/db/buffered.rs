//! Connections to PostgreSQL that are read through a wide buffer.
//!
//! The driver reads eight kilobytes at a time, some thirty calls of the system for a page of documents. It lets whoever
//! secures a connection put a layer of its own around the socket, and this layer is such a one, which secures nothing:
//! it asks the system for as much as has come.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Config, Socket};

/// Holds a good part of a page of documents, and stays in the processor's cache.
const CAPACITY: usize = 64 * 1024;

/// Puts the buffer around a socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffered;

impl Buffered {
    /// Makes the driver use the layer for the connections of a configuration, where it can: a server that is asked for
    /// TLS has to be refused by the driver as before, and it puts no layers around a socket of the file system or of a
    /// host that has no name. Whoever wants to cancel a statement needs the layer for that as well.
    pub(super) fn prepare(config: &mut Config) -> bool {
        let named = config.get_hosts().iter().all(|host| matches!(host, Host::Tcp(_)));
        let is_plain = matches!(config.get_ssl_mode(), SslMode::Disable | SslMode::Prefer);
        let fits = is_plain && named && !config.get_hosts().is_empty();
        if fits {
            // Without a question to the server first: what it gets are the bytes that it would get without the layer.
            config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        }
        fits
    }
}

/// A socket behind its buffer.
pub(super) struct BufferedSocket(BufReader<Socket>);

impl MakeTlsConnect<Socket> for Buffered {
    type Stream = BufferedSocket;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _: &str) -> Result<Self, Infallible> {
        Ok(*self)
    }
}

impl TlsConnect<Socket> for Buffered {
    type Stream = BufferedSocket;
    type Error = Infallible;
    type Future = Ready<Result<BufferedSocket, Infallible>>;

    fn connect(self, socket: Socket) -> Self::Future {
        ready(Ok(BufferedSocket(BufReader::with_capacity(CAPACITY, socket))))
    }
}

impl TlsStream for BufferedSocket {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for BufferedSocket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for BufferedSocket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_by_tcp_that_needs_no_tls_is_read_through_the_layer() {
        for (url, fits) in [
            ("postgres://plaudit@db.example/plaudit", true),
            ("postgres://plaudit@one.example,two.example/plaudit?target_session_attrs=read-write", true),
            ("postgres://plaudit@db.example/plaudit?sslmode=disable", true),
            ("postgres://plaudit@db.example/plaudit?sslmode=require", false),
            ("postgres:///plaudit?host=/run/postgresql", false),
            ("postgres:///plaudit?hostaddr=192.0.2.1", false),
            ("postgres://plaudit@one.example/plaudit?host=/run/postgresql", false),
        ] {
            let mut config: Config = url.parse().unwrap();
            let before = config.get_ssl_mode();
            assert_eq!(Buffered::prepare(&mut config), fits, "{url}");
            assert_eq!(config.get_ssl_mode(), if fits { SslMode::Require } else { before }, "{url}");
        }
    }
}
