//! The limits of a read: axum sending the same bytes from memory, with the same headers; and axum sending what rusqlite reads of the
//! entry that is asked for, which is the least that a service can do whose entries are in SQLite.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use clap::Args;
use rusqlite::{Connection, params};

use crate::by_id;
use crate::client::Answer;
use crate::context::Context;
use crate::machine::Processes;

/// Headers that the HTTP library writes itself.
const WRITTEN_BY_THE_LIBRARY: [&str; 5] = ["content-length", "date", "connection", "transfer-encoding", "keep-alive"];

/// What the limit sends, and where.
#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// The body of every answer.
    #[arg(long)]
    file: PathBuf,
    /// The head of a real answer, whose headers are sent.
    #[arg(long)]
    head: Option<PathBuf>,
    /// A SQLite database, whose entries are sent instead of the file.
    #[arg(long, requires = "account")]
    database: Option<PathBuf>,
    /// The slug of the account of these entries.
    #[arg(long)]
    account: Option<String>,
    /// The address to listen on.
    #[arg(long)]
    listen: SocketAddr,
}

/// Serves until it is killed.
pub(crate) fn serve(arguments: &LimitArguments) -> Result<()> {
    let body = Body::open(arguments)?;
    let headers = match &arguments.head {
        Some(path) => parse_headers(&fs::read_to_string(path)?)?,
        None => HeaderMap::new(),
    };
    // As many workers as the process has cores: one, where it is pinned.
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let app = Router::new().fallback(async move |uri: Uri| match body.of(&uri) {
            Ok(body) => (StatusCode::OK, headers.clone(), body),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, HeaderMap::new(), error.to_string().into()),
        });
        let listener = tokio::net::TcpListener::bind(arguments.listen).await?.tap_io(|stream| {
            // Without it an answer of two writes waits for an acknowledgement; a failure costs speed only.
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, app).await?)
    })
}

/// What is sent.
#[derive(Clone)]
enum Body {
    Same(Bytes),
    /// The connection and the number of the account.
    Entries(Arc<Mutex<Connection>>, i64),
}

impl Body {
    fn open(arguments: &LimitArguments) -> Result<Self> {
        let (Some(database), Some(account)) = (&arguments.database, &arguments.account) else {
            return Ok(Self::Same(fs::read(&arguments.file)?.into()));
        };
        let (connection, account) = by_id::open(database, account)?;
        // As the server's own lookups have it.
        connection.pragma_update(None, "mmap_size", 1_i64 << 40)?;
        Ok(Self::Entries(Arc::new(Mutex::new(connection)), account))
    }

    /// The body for an address, whose last segment is the slug of an entry.
    fn of(&self, uri: &Uri) -> rusqlite::Result<Bytes> {
        match self {
            Self::Same(bytes) => Ok(bytes.clone()),
            Self::Entries(connection, account) => {
                let slug = uri.path().rsplit('/').next().unwrap_or_default();
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement =
                    connection.prepare_cached("SELECT doc, detail FROM entries WHERE account = ?1 AND slug = ?2")?;
                statement.query_row(params![account, slug], |row| {
                    let (first, second) = (row.get_ref(0)?.as_bytes()?, row.get_ref(1)?.as_bytes()?);
                    Ok([first, second].concat().into())
                })
            }
        }
    }
}

fn parse_headers(head: &str) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for line in head.lines().skip(1) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let name: HeaderName = name.trim().parse()?;
        if !WRITTEN_BY_THE_LIBRARY.contains(&name.as_str()) {
            headers.append(name, HeaderValue::from_str(value.trim())?);
        }
    }
    Ok(headers)
}

/// A running limit; dropped, it is killed.
pub(crate) struct Limit {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Limit {
    /// Starts this program as the limit of a real answer, on the core of the server: from memory, or from the entries of an account
    /// in a SQLite database.
    pub(crate) fn start(context: &Context, answer: &Answer, entries: Option<(&Path, &str)>) -> Result<Self> {
        let (body, head) = (context.directory.join("limit.body"), context.directory.join("limit.head"));
        fs::write(&body, &answer.body)?;
        fs::write(&head, &answer.head)?;
        let address = crate::plaudit::free_address()?;
        let own = std::env::current_exe()?;
        let mut command = context.cores.on_server_core(own.to_str().context("a path that is no text")?);
        command.arg("limit").args([Path::new("--file"), &body, Path::new("--head"), &head]);
        if let Some((database, account)) = entries {
            command.arg("--database").arg(database).args(["--account", account]);
        }
        command.args(["--listen", &address.to_string()]).stdin(Stdio::null());
        let limit = Self { child: command.spawn().context("the limit does not start")?, address };
        let deadline = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                bail!("the limit does not listen on {address}");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(limit)
    }

    /// The processes to watch.
    pub(crate) fn processes(&self) -> Processes {
        Processes { alone: vec![self.child.id()], postmaster: None }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // It may have ended by itself, and there is nothing of it to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_of_an_answer_are_taken_over_but_for_those_of_the_library() -> Result<()> {
        let headers = parse_headers("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 3\r\nDate: x\r\n\r\n")?;
        assert_eq!(headers.len(), 1);
        assert_eq!(headers.get("etag").map(HeaderValue::as_bytes), Some(b"\"a\"".as_slice()));
        Ok(())
    }
}
