//! What the server asks of PostgreSQL, taken down on its way: a proxy that records every statement with its values, so
//! that the bare driver can run exactly the same ones.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_postgres::config::Host;

/// A value of a statement as it was sent: nothing is NULL.
pub(crate) type Raw = Option<Vec<u8>>;

/// One statement that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) text: Arc<str>,
    /// The types that the client gave its values, by object id; 0 where it left them to the server.
    pub(crate) types: Arc<[u32]>,
    /// Nothing for a statement of the simple protocol, which has neither values nor a plan.
    pub(crate) values: Option<Vec<Raw>>,
    /// Whether the client had waited for an answer since its statement before this one.
    pub(crate) waited: bool,
}

/// The statements of all connections, each connection's in its order.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    on: bool,
    connections: Vec<Vec<(u64, Step)>>,
    count: u64,
}

/// A recording that a proxy writes.
pub(crate) type Shared = Arc<Mutex<Recording>>;

/// Starts or goes on.
pub(crate) fn start(recording: &Shared) {
    recording.lock().unwrap_or_else(PoisonError::into_inner).on = true;
}

/// Stops, and returns transactions and lone statements in the order in which they began.
pub(crate) fn stop(recording: &Shared) -> Vec<Vec<Step>> {
    let mut recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    recording.on = false;
    let mut units: Vec<(u64, Vec<Step>)> = Vec::new();
    for connection in &mut recording.connections {
        let (first, mut open, mut has_begun) = (units.len(), false, false);
        for (number, step) in connection.drain(..) {
            let begins = ["begin", "start transaction"].iter().any(|words| starts_with(&step.text, words));
            let last = step.text.trim_end_matches([';', ' ']).rsplit(';').next().unwrap_or_default().trim();
            let ends = ["commit", "rollback"].iter().any(|word| last.eq_ignore_ascii_case(word));
            has_begun |= begins;
            if ends && !has_begun {
                // What was recorded of the connection is the rest of a transaction that began before.
                units.truncate(first);
                continue;
            }
            match units.last_mut() {
                // A transaction's statements follow each other on its connection, so its unit is still the last.
                Some((_, unit)) if open => unit.push(step),
                _ => units.push((number, vec![step])),
            }
            open = (open || begins) && !ends;
        }
    }
    units.sort_by_key(|(number, _)| *number);
    units.into_iter().map(|(_, unit)| unit).collect()
}

fn starts_with(text: &str, words: &str) -> bool {
    text.trim_start().get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
}

/// A proxy on a thread of its own, as long as the process.
pub(crate) fn proxy(url: &str) -> Result<(String, Shared)> {
    let config: tokio_postgres::Config = url.parse()?;
    let host = config.get_hosts().first().cloned().context("the address of PostgreSQL has no host")?;
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let recording = Shared::default();
    let shared = Arc::clone(&recording);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((client, _)) = listener.accept().await {
                let (host, shared) = (host.clone(), Arc::clone(&shared));
                tokio::spawn(async move {
                    if let Err(error) = connect(client, &host, port, &shared).await {
                        eprintln!("the recording proxy: {error:#}");
                    }
                });
            }
        });
    });
    Ok((through(url, &address.to_string())?, recording))
}

/// The same database, reached by another address.
fn through(url: &str, address: &str) -> Result<String> {
    let (scheme, rest) = url.split_once("://").context("the address of PostgreSQL has no scheme")?;
    let path = rest.split('?').next().unwrap_or_default();
    let (authority, database) = path.split_once('/').context("the address of PostgreSQL has no database")?;
    let user = authority.rsplit_once('@').map_or(String::new(), |(user, _)| format!("{user}@"));
    Ok(format!("{scheme}://{user}{address}/{database}"))
}

async fn connect(client: TcpStream, host: &Host, port: u16, shared: &Shared) -> Result<()> {
    client.set_nodelay(true)?;
    match host {
        Host::Tcp(name) => {
            let server = TcpStream::connect((name.as_str(), port)).await?;
            server.set_nodelay(true)?;
            pump(client.into_split(), server.into_split(), shared).await
        }
        Host::Unix(directory) => {
            let server = UnixStream::connect(directory.join(format!(".s.PGSQL.{port}"))).await?;
            pump(client.into_split(), server.into_split(), shared).await
        }
    }
}

async fn pump<A, B, C, D>(client: (A, B), server: (C, D), shared: &Shared) -> Result<()>
where
    A: tokio::io::AsyncRead + Unpin,
    B: tokio::io::AsyncWrite + Unpin,
    C: tokio::io::AsyncRead + Unpin,
    D: tokio::io::AsyncWrite + Unpin,
{
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) = (client, server);
    let answered = AtomicBool::new(false);
    let mut parser = Parser::default();
    let connection = {
        let mut recording = shared.lock().unwrap_or_else(PoisonError::into_inner);
        recording.connections.push(Vec::new());
        recording.connections.len() - 1
    };
    let questions = async {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = from_client.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            parser.waited |= answered.swap(false, Ordering::Relaxed);
            let steps = parser.take(bytes)?;
            keep(shared, connection, steps);
            to_server.write_all(bytes).await?;
        }
    };
    let answers = async {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = from_server.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            answered.store(true, Ordering::Relaxed);
            to_client.write_all(buffer.get(..count).unwrap_or_default()).await?;
        }
    };
    tokio::select! {
        ended = questions => ended,
        ended = answers => ended,
    }
}

fn keep(shared: &Shared, connection: usize, steps: Vec<Step>) {
    let mut recording = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if !recording.on {
        return;
    }
    for step in steps {
        recording.count += 1;
        let number = recording.count;
        if let Some(steps) = recording.connections.get_mut(connection) {
            steps.push((number, step));
        }
    }
}

/// Reads the messages of one client.
#[derive(Default)]
struct Parser {
    pending: Vec<u8>,
    started: bool,
    waited: bool,
    statements: HashMap<String, (Arc<str>, Arc<[u32]>)>,
    /// Values that are bound and not run yet, by portal.
    bound: HashMap<String, (String, Vec<Raw>)>,
}

/// Requests that stand where the start of a session does: for TLS, for GSSAPI, and to cancel.
const NOT_A_START: [u32; 3] = [80_877_103, 80_877_104, 80_877_102];

impl Parser {
    fn take(&mut self, bytes: &[u8]) -> Result<Vec<Step>> {
        self.pending.extend_from_slice(bytes);
        let mut steps = Vec::new();
        let mut position = 0;
        loop {
            let rest = self.pending.get(position..).unwrap_or_default();
            let tag = usize::from(self.started);
            let Some(length) = rest.get(tag..tag + 4) else { break };
            let length = tag + usize::try_from(u32::from_be_bytes(length.try_into()?))?;
            let Some(message) = rest.get(..length) else { break };
            let body = message.get(tag + 4..).unwrap_or_default().to_vec();
            let kind = if self.started { message.first().copied().unwrap_or_default() } else { 0 };
            position += length;
            self.message(kind, &body, &mut steps)?;
        }
        self.pending.drain(..position);
        Ok(steps)
    }

    fn message(&mut self, kind: u8, body: &[u8], steps: &mut Vec<Step>) -> Result<()> {
        let mut fields = Fields(body);
        match kind {
            0 => self.started = !NOT_A_START.contains(&fields.integer32()?),
            b'P' => {
                let (name, text) = (fields.text()?, fields.text()?);
                let count = fields.integer16()?;
                let types: Vec<u32> = (0..count).map(|_| fields.integer32()).collect::<Result<_>>()?;
                self.statements.insert(name, (text.into(), types.into()));
            }
            b'B' => {
                let (portal, statement) = (fields.text()?, fields.text()?);
                let formats: Vec<u16> = (0..fields.integer16()?).map(|_| fields.integer16()).collect::<Result<_>>()?;
                // tokio-postgres sends values in binary; the replay gives them back in the same form.
                if formats.contains(&0) {
                    bail!("a value was sent as text, which the replay cannot give back");
                }
                let values = (0..fields.integer16()?).map(|_| fields.value()).collect::<Result<_>>()?;
                self.bound.insert(portal, (statement, values));
            }
            b'E' => {
                let (statement, values) =
                    self.bound.remove(&fields.text()?).context("a portal was run that was not bound")?;
                let (text, types) = self.statements.get(&statement).context("a statement that was not prepared")?;
                let (text, types) = (Arc::clone(text), Arc::clone(types));
                steps.push(Step { text, types, values: Some(values), waited: std::mem::take(&mut self.waited) });
            }
            b'Q' => {
                let (text, types) = (fields.text()?.into(), Arc::default());
                steps.push(Step { text, types, values: None, waited: std::mem::take(&mut self.waited) });
            }
            _ => {}
        }
        Ok(())
    }
}

/// The fields of a message.
struct Fields<'body>(&'body [u8]);

impl<'body> Fields<'body> {
    fn bytes(&mut self, count: usize) -> Result<&'body [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).context("a message is short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn integer16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.bytes(2)?.try_into()?))
    }

    fn integer32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.bytes(4)?.try_into()?))
    }

    fn text(&mut self) -> Result<String> {
        let end = self.0.iter().position(|byte| *byte == 0).context("a text has no end")?;
        let text = String::from_utf8(self.bytes(end)?.to_vec())?;
        self.bytes(1)?;
        Ok(text)
    }

    fn value(&mut self) -> Result<Raw> {
        match self.integer32()? {
            u32::MAX => Ok(None),
            length => Ok(Some(self.bytes(usize::try_from(length)?)?.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = kind.into_iter().collect();
        bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn statements_are_read_however_their_bytes_are_cut() {
        let mut bytes = message(None, &80_877_103_u32.to_be_bytes());
        bytes.extend(message(None, b"\0\x03\0\0user\0u\0\0"));
        bytes.extend(message(Some(b'Q'), b"BEGIN\0"));
        bytes.extend(message(Some(b'P'), b"s1\0SELECT $1\0\0\x01\0\0\0\x19"));
        bytes.extend(message(Some(b'B'), b"\0s1\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\0"));
        bytes.extend(message(Some(b'E'), b"\0\0\0\0\0"));
        let expected = [
            Step { text: "BEGIN".into(), types: Arc::default(), values: None, waited: false },
            Step {
                text: "SELECT $1".into(),
                types: [25].into(),
                values: Some(vec![Some(b"ab".to_vec()), None]),
                waited: false,
            },
        ];
        let mut whole = Parser::default();
        assert_eq!(whole.take(&bytes).unwrap(), expected);
        let mut cut = Parser::default();
        let steps: Vec<Step> = bytes.iter().flat_map(|byte| cut.take(&[*byte]).unwrap()).collect();
        assert_eq!(steps, expected);
    }

    #[test]
    fn transactions_of_several_connections_come_in_the_order_in_which_they_began() {
        let step = |text: &str| Step { text: text.into(), types: Arc::default(), values: None, waited: true };
        let shared = Shared::default();
        shared.lock().unwrap().connections.resize_with(2, Vec::new);
        keep(&shared, 0, vec![step("before the start")]);
        start(&shared);
        keep(&shared, 1, vec![step("the rest of another"), step("RELEASE SAVEPOINT a;COMMIT;"), step("BEGIN")]);
        keep(&shared, 0, vec![step("SELECT 1"), step("BEGIN")]);
        keep(&shared, 1, vec![step("a"), step("RELEASE SAVEPOINT a;COMMIT;"), step("SELECT 2")]);
        keep(&shared, 0, vec![step("b"), step("COMMIT")]);
        let units: Vec<String> = stop(&shared)
            .iter()
            .map(|unit| unit.iter().map(|step| step.text.to_string()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(units, ["BEGIN a RELEASE SAVEPOINT a;COMMIT;", "SELECT 1", "BEGIN b COMMIT", "SELECT 2"]);
    }

    #[test]
    fn the_proxy_is_put_into_the_address() {
        let url = through("postgres://u:p@h:5432/d?host=/tmp", "127.0.0.1:9").unwrap();
        assert_eq!(url, "postgres://u:p@127.0.0.1:9/d");
        assert_eq!(through("postgres://h/d", "127.0.0.1:9").unwrap(), "postgres://127.0.0.1:9/d");
    }
}
