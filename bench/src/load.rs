//! The load generator: connections that each have one request under way at a time.

use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use socket2::SockRef;
use tokio::io::{AsyncWriteExt as _, Interest};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::client;
use crate::machine::Processes;

/// How many runs may pass without an answer.
const PATIENCE: usize = 50;

/// As many connections as every figure is made with.
pub(crate) const CONNECTIONS: usize = 32;

/// `MSG_TRUNC`: the kernel drops the bytes of a body instead of copying them, so that the generator, which has one
/// core as well, does not become the limit of a server that sends gigabytes a second.
const DISCARD: i32 = 0x20;

/// The head of an answer is read, not dropped; no head is longer.
const HEAD_CAPACITY: usize = 8192;

/// How long is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duty {
    pub(crate) warm_up: Duration,
    pub(crate) run: Duration,
    pub(crate) runs: usize,
}

/// The requests of one connection, sent again when all are sent.
#[derive(Clone)]
pub(crate) struct Requests {
    all: Arc<Vec<Vec<u8>>>,
    first: usize,
}

impl Requests {
    /// The requests, in the order in which they are sent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Vec<u8>> {
        let (before, from) = self.all.split_at(self.first);
        from.iter().chain(before)
    }
}

impl From<Vec<Vec<u8>>> for Requests {
    fn from(requests: Vec<Vec<u8>>) -> Self {
        Self { all: Arc::new(requests), first: 0 }
    }
}

/// What a load came to: medians over the runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Answers a second.
    pub(crate) rate: f64,
    /// Processor time an answer in microseconds, of the processes that are watched.
    pub(crate) microseconds: f64,
    /// The share of one core that they used; where it is not nearly whole, something else was the limit.
    pub(crate) busy: f64,
}

/// The median, the upper one of two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A count as a float: counts here stay far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "counts of rows, requests and bytes stay far below 2^52")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// Every connection sends the same request.
pub(crate) fn same(request: &[u8]) -> Vec<Requests> {
    vec![vec![request.to_vec()].into(); CONNECTIONS]
}

/// Every connection sends all these requests, each beginning at another place.
pub(crate) fn in_turn(requests: Vec<Vec<u8>>) -> Vec<Requests> {
    let all = Arc::new(requests);
    (0..CONNECTIONS).map(|number| Requests { all: Arc::clone(&all), first: number * all.len() / CONNECTIONS }).collect()
}

/// A server under load, and the processes whose time it costs.
pub(crate) struct Load<'l> {
    pub(crate) address: SocketAddr,
    pub(crate) connections: &'l [Requests],
    pub(crate) watched: &'l Processes,
}

/// Loads the server at `address` and measures; every answer has to be a 200.
pub(crate) fn measure(
    address: SocketAddr,
    connections: &[Requests],
    duty: Duty,
    watched: &Processes,
) -> Result<Measured> {
    runtime()?.block_on(async {
        let mut running = Running::start(&Load { address, connections, watched }, duty).await?;
        let mut runs = Vec::new();
        for _ in 0..duty.runs {
            runs.push(running.measure(duty).await?);
        }
        Ok(middle(&runs))
    })
}

/// The same of several loads that are held against each other: one run of each, then the next of each, so that a machine
/// that grows slower does so for all of them.
pub(crate) fn measure_in_turn<const LOADS: usize>(loads: &[Load<'_>; LOADS], duty: Duty) -> Result<[Measured; LOADS]> {
    let mut runs: [Vec<Measured>; LOADS] = std::array::from_fn(|_| Vec::new());
    for _ in 0..duty.runs {
        for (load, runs) in loads.iter().zip(&mut runs) {
            let run = async { Running::start(load, duty).await?.measure(duty).await };
            runs.push(runtime()?.block_on(run)?);
        }
    }
    Ok(runs.map(|runs| middle(&runs)))
}

/// The middle of several runs, each figure by itself.
pub(crate) fn middle(runs: &[Measured]) -> Measured {
    let middle = |member: fn(&Measured) -> f64| median(runs.iter().map(member).collect());
    Measured {
        rate: middle(|run| run.rate),
        microseconds: middle(|run| run.microseconds),
        busy: middle(|run| run.busy),
    }
}

/// A load that goes on until it is dropped.
struct Running<'l> {
    tasks: JoinSet<Result<()>>,
    count: Arc<AtomicU64>,
    watched: &'l Processes,
}

impl<'l> Running<'l> {
    async fn start(load: &Load<'l>, duty: Duty) -> Result<Self> {
        // A generator that sleeps has to be woken by every answer, and the server's core would pay for it; but it must
        // not take its own core from a database server that works there and is measured too.
        if load.watched.postmaster.is_none() {
            tokio::spawn(async {
                loop {
                    tokio::task::yield_now().await;
                }
            });
        }
        let count = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for requests in load.connections {
            let mut connection = Connection::open(load.address).await?;
            let (requests, count) = (requests.clone(), Arc::clone(&count));
            tasks.spawn(async move {
                loop {
                    for request in requests.iter() {
                        connection.exchange(request).await?;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        wait(&mut tasks, duty.warm_up).await?;
        Ok(Self { tasks, count, watched: load.watched })
    }

    async fn measure(&mut self, duty: Duty) -> Result<Measured> {
        let before = (Instant::now(), self.count.load(Ordering::Relaxed), self.watched.seconds()?);
        let mut answers = 0.0;
        // On a busy machine the runs of the short form are shorter than an answer takes.
        for _ in 0..PATIENCE {
            wait(&mut self.tasks, duty.run).await?;
            answers = float(self.count.load(Ordering::Relaxed) - before.1);
            if answers > 0.0 {
                break;
            }
        }
        let elapsed = before.0.elapsed().as_secs_f64();
        let used = self.watched.seconds()? - before.2;
        if answers < 1.0 {
            bail!("no answer in {PATIENCE} runs");
        }
        Ok(Measured { rate: answers / elapsed, microseconds: used / answers * 1e6, busy: used / elapsed })
    }
}

/// Sends every request of every connection once and waits for all answers.
pub(crate) fn send_once(address: SocketAddr, connections: &[Requests]) -> Result<()> {
    runtime()?.block_on(async {
        let mut tasks: JoinSet<Result<()>> = JoinSet::new();
        for requests in connections {
            let mut connection = Connection::open(address).await?;
            let requests = requests.clone();
            tasks.spawn(async move {
                for request in requests.iter() {
                    connection.exchange(request).await?;
                }
                Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        Ok(())
    })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Lets the load go on for a time; a connection that ends is a fault.
async fn wait(tasks: &mut JoinSet<Result<()>>, duration: Duration) -> Result<()> {
    tokio::select! {
        () = tokio::time::sleep(duration) => Ok(()),
        ended = tasks.join_next() => {
            ended.context("the load has no connections")??.context("a connection of the load failed")?;
            bail!("a connection of the load ended")
        }
    }
}

struct Connection {
    stream: TcpStream,
    head: Box<[u8; HEAD_CAPACITY]>,
    discarded: Vec<MaybeUninit<u8>>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, head: Box::new([0; HEAD_CAPACITY]), discarded: vec![MaybeUninit::uninit(); 1 << 20] })
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let head = loop {
            self.stream.readable().await?;
            let count = match self.stream.try_read(self.head.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => bail!("the connection was closed before an answer"),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            };
            filled += count;
            let received = self.head.get(..filled).unwrap_or_default();
            if let Some(head) = client::parse_head(received)? {
                if head.status != 200 {
                    let text = String::from_utf8_lossy(received);
                    bail!("answer to {}\n{text}", String::from_utf8_lossy(request));
                }
                break head;
            }
        };
        let Some(mut rest) = (head.length + head.content_length).checked_sub(filled) else {
            bail!("more bytes than the answer has");
        };
        while rest > 0 {
            self.stream.readable().await?;
            let stream = &self.stream;
            let length = rest.min(self.discarded.len());
            let target = self.discarded.get_mut(..length).unwrap_or_default();
            let received = stream.try_io(Interest::READABLE, || SockRef::from(stream).recv_with_flags(target, DISCARD));
            match received {
                Ok(0) => bail!("the connection was closed in the middle of an answer"),
                Ok(count) => rest -= count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![5.0]) - 5.0).abs() < f64::EPSILON);
    }
}
