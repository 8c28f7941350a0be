//! `plaudit health`: whether the service that these settings start is ready, for supervisors that run a command.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Failure, say};
use crate::config::Config;

/// How long the answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of it that are read.
const LONGEST: u64 = 4096;

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let address = reached(&config.server.listen);
    let answer = tokio::time::timeout(PATIENCE, ask(&address)).await;
    let answer = answer.map_err(|_| Failure::Failed(format!("{address} does not answer within {PATIENCE:?}")))?;
    let answer = answer.map_err(|error| Failure::Failed(format!("{address}: {error}")))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.split(' ').nth(1) == Some("200") {
        say(body.trim_end())
    } else {
        Err(Failure::Failed(body.trim_end().to_owned()))
    }
}

async fn ask(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Where a service is reached from this machine that listens at an address.
fn reached(listen: &str) -> String {
    match listen.rsplit_once(':') {
        Some(("0.0.0.0", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => listen.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_everywhere_is_reached_on_this_machine() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:80", "[::1]:80"),
            ("10.0.0.1:80", "10.0.0.1:80"),
            ("a:1", "a:1"),
        ] {
            assert_eq!(reached(listen), expected);
        }
    }
}
