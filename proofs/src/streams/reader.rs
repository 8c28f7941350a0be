//! A client of a stream as the standard describes it: it comes back by itself, with the last id that it saw.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::wire::{Block, Chunks, microseconds};
use crate::service::JSON;

/// How long a client waits before it comes back, where it was not told.
const RETRY: Duration = Duration::from_millis(500);

/// What a client reads.
pub(super) struct Reader {
    /// The port of the service on this machine.
    pub(super) port: u16,
    pub(super) key: String,
    /// The entry that is watched; all of them without one.
    pub(super) entry: Option<String>,
    /// Counts the streams that have begun.
    pub(super) begun: Arc<AtomicU32>,
    /// The last change that there will be, as soon as it is known.
    pub(super) last: watch::Receiver<Option<i64>>,
}

/// What a client has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// The ids of its events, in the order in which they came.
    pub(super) ids: Vec<i64>,
    /// How long events took from the request that caused them, in microseconds, each with the time of that request.
    pub(super) latencies: Vec<(i64, i64)>,
    /// Where its stream began when it was opened first.
    pub(super) start: Option<i64>,
    /// How often the stream was opened.
    pub(super) opened: u32,
    /// How often the service ended it as a stream is ended.
    pub(super) ended: u32,
    position: Option<i64>,
    retry: Option<u64>,
}

impl Reader {
    /// Reads until the last change has been passed.
    pub(super) async fn read(mut self) -> Result<Seen> {
        let mut seen = Seen::default();
        while !self.is_done(&seen) {
            match self.read_once(&mut seen).await {
                Ok(()) => seen.ended += 1,
                // A connection that breaks is what a client has to expect; everything else is not.
                Err(error) if error.is::<std::io::Error>() => {}
                Err(error) => return Err(error),
            }
            let pause = seen.retry.map_or(RETRY, Duration::from_millis);
            if !self.is_done(&seen) {
                tokio::time::sleep(pause).await;
            }
        }
        Ok(seen)
    }

    fn is_done(&self, seen: &Seen) -> bool {
        self.last.borrow().is_some_and(|last| seen.position.is_some_and(|position| position >= last))
    }

    /// Opens the stream and reads it until it ends.
    async fn read_once(&mut self, seen: &mut Seen) -> Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).await?;
        connection.write_all(self.request(seen).as_bytes()).await?;
        let mut buffer = vec![0; 64 << 10];
        let mut head = Vec::new();
        let body = loop {
            let length = connection.read(&mut buffer).await?;
            if length == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            head.extend_from_slice(&buffer[..length]);
            if let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break head.split_off(end + 4);
            }
        };
        if !head.starts_with(b"HTTP/1.1 200 ") {
            bail!("a stream was refused: {}{}", String::from_utf8_lossy(&head), String::from_utf8_lossy(&body));
        }
        seen.opened += 1;
        let (opened, mut begins) = (now(), seen.start.is_none());
        let mut chunks = Chunks::default();
        chunks.receive(&body)?;
        loop {
            let received = now();
            for block in chunks.blocks()? {
                self.note(&block, (opened, received), seen)?;
            }
            if begins && seen.start.is_some() {
                begins = false;
                self.begun.fetch_add(1, Ordering::SeqCst);
            }
            if chunks.has_ended() || self.is_done(seen) {
                return Ok(());
            }
            let length = tokio::select! {
                length = connection.read(&mut buffer) => length?,
                changed = self.last.changed() => { changed?; continue }
            };
            if length == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            chunks.receive(&buffer[..length])?;
        }
    }

    fn request(&self, seen: &Seen) -> String {
        let path = self.entry.as_ref().map_or("/entry/stream".to_owned(), |entry| format!("/entry/{entry}/stream"));
        let after = seen.position.map_or(String::new(), |position| format!("last-event-id: {position}\r\n"));
        format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: {JSON}\r\nx-api-key: {}\r\n{after}\r\n",
            self.key.as_str()
        )
    }

    fn note(&self, block: &Block, (opened, received): (i64, i64), seen: &mut Seen) -> Result<()> {
        seen.retry = block.retry.or(seen.retry);
        if let Some(data) = &block.data {
            let Some(id) = block.id else { bail!("an event without an id") };
            if block.event.as_deref() != Some("entry_updated") || !data.contains(&format!("\"sequence\":{id},")) {
                bail!("an event that does not say what it should: {:?} {}", block.event, &data[..data.len().min(200)]);
            }
            if let Some(entry) = &self.entry
                && !data.contains(&format!("\"entry\":{{\"slug\":\"{entry}\","))
            {
                bail!("an event of another entry than {entry}");
            }
            seen.ids.push(id);
            let time = data.split_once("\"timestamp\":\"").and_then(|(_, rest)| microseconds(rest.split('"').next()?));
            // What was caused before the stream was there says nothing about how quick it is.
            if let Some(time) = time.filter(|time| *time > opened) {
                seen.latencies.push((time, received - time));
            }
        }
        if let Some(id) = block.id {
            if seen.position.is_some_and(|position| id < position) {
                bail!("an id goes back to {id}");
            }
            seen.start = seen.start.or(Some(id));
            seen.position = Some(id);
        }
        Ok(())
    }
}

/// The microseconds since 1970.
pub(super) fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}
