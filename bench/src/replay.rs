//! The bare driver: tokio-postgres running statements that were recorded, and nothing else.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use bytes::{BufMut as _, BytesMut};
use futures_util::future::try_join_all;
use futures_util::{TryStreamExt as _, pin_mut};
use tokio::task::JoinSet;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, NoTls, Statement};

use crate::load::{Duty, float, median};
use crate::machine::Processes;
use crate::wire::{Raw, Step};

/// A value given back as the bytes that were recorded.
#[derive(Debug)]
struct Recorded<'value>(&'value Raw);

impl ToSql for Recorded<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Some(bytes) => {
                out.put_slice(bytes);
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A connection that keeps its prepared statements.
struct Session {
    client: Client,
    prepared: HashMap<Arc<str>, Statement>,
}

impl Session {
    async fn open(url: &str) -> Result<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        Ok(Self { client, prepared: HashMap::new() })
    }

    async fn prepare(&mut self, step: &Step) -> Result<()> {
        if step.values.is_some() && !self.prepared.contains_key(&step.text) {
            let types: Vec<Type> = step.types.iter().map_while(|id| Type::from_oid(*id)).collect();
            let statement = self.client.prepare_typed(&step.text, &types).await?;
            self.prepared.insert(Arc::clone(&step.text), statement);
        }
        Ok(())
    }

    /// Runs steps in order; those that were sent without waiting are sent without waiting.
    async fn run(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps {
            self.prepare(step).await?;
        }
        let mut rest = steps;
        while !rest.is_empty() {
            let together = rest.iter().skip(1).take_while(|step| !step.waited).count() + 1;
            let (now, later) = rest.split_at(together);
            match now {
                [step] => self.step(step).await?,
                steps => drop(try_join_all(steps.iter().map(|step| self.step(step))).await?),
            }
            rest = later;
        }
        Ok(())
    }

    async fn step(&self, step: &Step) -> Result<()> {
        let failed = || step.text.to_string();
        let Some(values) = &step.values else {
            return self.client.batch_execute(&step.text).await.with_context(failed);
        };
        let statement = self.prepared.get(&step.text).context("a statement was not prepared")?;
        let rows = self.client.query_raw(statement, values.iter().map(Recorded)).await.with_context(failed)?;
        pin_mut!(rows);
        while let Some(row) = rows.try_next().await.with_context(failed)? {
            std::hint::black_box(row);
        }
        Ok(())
    }
}

/// Processor time a request in microseconds: this process, which does nothing else, and the server's.
fn used(postmaster: Option<u32>) -> Processes {
    Processes { alone: vec![std::process::id()], postmaster }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// What a read came to: microseconds of processor time, those of the database included, and those of the driver alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) microseconds: f64,
    pub(crate) driver: f64,
}

/// Runs the statements of reads in turn, again and again, on that many connections, each beginning at another place.
pub(crate) fn read(
    url: &str,
    units: &Arc<Vec<Vec<Step>>>,
    connections: usize,
    duty: Duty,
    postmaster: Option<u32>,
) -> Result<Read> {
    runtime()?.block_on(async {
        let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let order = std::sync::atomic::Ordering::Relaxed;
        let mut tasks: JoinSet<Result<()>> = JoinSet::new();
        let connections = connections.max(1);
        for number in 0..connections {
            let mut session = Session::open(url).await?;
            let (units, count) = (Arc::clone(units), Arc::clone(&count));
            tasks.spawn(async move {
                for steps in units.iter().cycle().skip(number * units.len() / connections) {
                    session.run(steps).await?;
                    count.fetch_add(1, order);
                }
                bail!("there is nothing to run")
            });
        }
        wait(&mut tasks, duty.warm_up).await?;
        let (whole, driver) = (used(postmaster), used(None));
        let mut runs = Vec::new();
        for _ in 0..duty.runs {
            let before = (count.load(order), whole.seconds()?, driver.seconds()?);
            wait(&mut tasks, duty.run).await?;
            let each = 1e6 / float(count.load(order) - before.0);
            let (whole, driver) = (whole.seconds()? - before.1, driver.seconds()? - before.2);
            runs.push(Read { microseconds: whole * each, driver: driver * each });
        }
        Ok(middle(&runs))
    })
}

/// The middle of several runs, each figure by itself.
pub(crate) fn middle(runs: &[Read]) -> Read {
    let middle = |member: fn(&Read) -> f64| median(runs.iter().map(member).collect());
    Read { microseconds: middle(|run| run.microseconds), driver: middle(|run| run.driver) }
}

async fn wait(tasks: &mut JoinSet<Result<()>>, duration: Duration) -> Result<()> {
    tokio::select! {
        () = tokio::time::sleep(duration) => Ok(()),
        ended = tasks.join_next() => {
            ended.context("no connections")???;
            bail!("a connection of the replay ended")
        }
    }
}

/// What writes came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) microseconds: f64,
    pub(crate) rate: f64,
}

/// Runs recorded transactions once, one after the other, as the one writer of an account does. `changes` is how many
/// changes they hold.
pub(crate) fn write(url: &str, units: &[Vec<Step>], changes: usize, postmaster: Option<u32>) -> Result<Written> {
    runtime()?.block_on(async {
        let mut session = Session::open(url).await?;
        // Statements are prepared once in the life of a connection, so not in the time that is measured.
        for step in units.iter().flatten() {
            session.prepare(step).await?;
        }
        let watched = used(postmaster);
        let (start, before) = (Instant::now(), watched.seconds()?);
        for unit in units {
            session.run(unit).await?;
        }
        let changes = float(u64::try_from(changes)?);
        let microseconds = (watched.seconds()? - before) / changes * 1e6;
        Ok(Written { microseconds, rate: changes / start.elapsed().as_secs_f64() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// Statements are recorded through the proxy and leave the same rows when they are played again. Runs where the
    /// suite gives a PostgreSQL.
    #[test]
    fn what_is_recorded_can_be_played_again() {
        let Ok(url) = std::env::var("PLAUDIT_TEST_POSTGRES") else { return };
        let table = format!("bench_replay_{}", std::process::id());
        let make = format!("DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (id BIGINT PRIMARY KEY, doc TEXT)");
        crate::engine::run_sql(&url, &[&make]).unwrap();
        let (through, recording) = wire::proxy(&url).unwrap();
        wire::start(&recording);
        let insert = format!("INSERT INTO {table} VALUES ($1, $2)");
        runtime().unwrap().block_on(async {
            let (mut client, connection) = tokio_postgres::connect(&through, NoTls).await.unwrap();
            tokio::spawn(connection);
            let tx = client.transaction().await.unwrap();
            let statement = tx.prepare(&insert).await.unwrap();
            let (one, two, some, none) = (1_i64, 2_i64, Some("text"), None::<&str>);
            let first: [&(dyn ToSql + Sync); 2] = [&one, &some];
            let second: [&(dyn ToSql + Sync); 2] = [&two, &none];
            try_join_all([tx.execute(&statement, &first), tx.execute(&statement, &second)]).await.unwrap();
            tx.commit().await.unwrap();
        });
        let units = wire::stop(&recording);
        let shape: Vec<Vec<bool>> = units.iter().map(|unit| unit.iter().map(|step| step.waited).collect()).collect();
        // BEGIN, two inserts of which the second did not wait, COMMIT.
        assert_eq!(shape, [[true, true, false, true]]);
        crate::engine::run_sql(&url, &[&make]).unwrap();
        let written = write(&url, &units, 2, None).unwrap();
        assert!(written.rate > 0.0);
        let check = format!("DO $$ BEGIN ASSERT (SELECT count(*) = 2 AND count(doc) = 1 FROM {table}); END $$");
        crate::engine::run_sql(&url, &[&check, &format!("DROP TABLE {table}")]).unwrap();
    }
}
