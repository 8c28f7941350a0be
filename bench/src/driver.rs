//! A read's processor time on PostgreSQL, the database's included, against that of the bare driver running the statements
//! that the read runs.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::client::Client;
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::load::{self, Duty, Requests, float};
use crate::plaudit::Server;
use crate::report::Report;
use crate::wire::Step;
use crate::{replay, wire};

/// Requests before a recording, so that every statement is prepared on every connection that is then used.
const WARM_UP_REQUESTS: usize = 20;

/// As many requests are recorded. What the server asks at times of its own may fall into a recording, so the shortest one
/// counts.
pub(crate) const SAMPLES: usize = 3;

/// A read that is held against the driver.
pub(crate) struct Read<'r> {
    pub(crate) name: String,
    /// [`SAMPLES`] requests that are recorded, and at the end one that is sent before them.
    pub(crate) samples: Vec<Vec<u8>>,
    /// What the requests of the load are about, where they are not all about the same: its values in the statements of a
    /// sample, which is about the one at its own place.
    pub(crate) subjects: &'r [String],
    pub(crate) load: Vec<Requests>,
}

/// Measures the read and the driver.
pub(crate) fn measure(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
    read: &Read<'_>,
) -> Result<()> {
    let (name, postmaster) = (&read.name, engine.postmaster()?);
    let (place, steps) = record(context, filled, &read.samples)?;
    for step in &steps {
        let text = step.text.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("  recorded: {}", text.get(..160).unwrap_or(&text));
    }
    let units = Arc::new(units(steps, read.subjects, place)?);

    let server = Server::start(context, &filled.url)?;
    let processes = server.processes(postmaster);
    let once = Duty { runs: 1, ..context.duty };
    let (mut ours, mut bare, mut connections) = (Vec::new(), Vec::new(), 0);
    // In turns, so that a machine that grows slower does so for both.
    for _ in 0..context.duty.runs {
        ours.push(load::measure(server.address, &read.load, once, &processes)?);
        connections = Engine::connections(filled)?;
        bare.push(replay::read(&filled.url, &units, connections, once, postmaster)?);
    }
    server.stop()?;
    for (ours, bare) in ours.iter().zip(&bare) {
        println!("  in turn: {:.1} us and {:.1} us", ours.microseconds, bare.microseconds);
    }
    let (ours, bare) = (load::middle(&ours), replay::middle(&bare));
    report.load(&format!("PostgreSQL: {name}, with the database"), ours);
    report.figure("PostgreSQL: connections of the server", float(connections.try_into()?), "");
    report.figure("PostgreSQL: the bare driver with the same statements", bare.microseconds, "us a request");
    report.figure("PostgreSQL: of it, the driver's own process", bare.driver, "us a request");
    let ratio = ours.microseconds / bare.microseconds;
    report.at_most(format!("PostgreSQL: processor time, {name} against the driver"), 1.3, ratio, "");
    Ok(())
}

/// The place of the sample with the fewest statements, and its statements.
fn record(context: &Context, filled: &Filled, samples: &[Vec<u8>]) -> Result<(usize, Vec<Step>)> {
    let (url, recording) = wire::proxy(&filled.url)?;
    let server = Server::start(context, &url)?;
    let mut client = Client::connect(server.address)?;
    let (warm, samples) = samples.split_last().context("nothing to record")?;
    for _ in 0..WARM_UP_REQUESTS {
        client.ask_ok(warm)?;
    }
    let mut shortest: Option<(usize, Vec<Step>)> = None;
    for (place, request) in samples.iter().enumerate() {
        wire::start(&recording);
        client.ask_ok(request)?;
        let steps = wire::stop(&recording).concat();
        if !steps.is_empty() && shortest.as_ref().is_none_or(|(_, shortest)| steps.len() < shortest.len()) {
            shortest = Some((place, steps));
        }
    }
    server.stop()?;
    shortest.context("the server answered without asking the database")
}

/// The statements for each subject, made from those that were recorded for one of them.
fn units(steps: Vec<Step>, subjects: &[String], recorded: usize) -> Result<Vec<Vec<Step>>> {
    if subjects.is_empty() {
        return Ok(vec![steps]);
    }
    let recorded = subjects.get(recorded).context("a sample without its subject")?;
    let is_recorded = |value: &wire::Raw| value.as_deref() == Some(recorded.as_bytes());
    if !steps.iter().flat_map(|step| step.values.iter().flatten()).any(is_recorded) {
        bail!("the statements of {recorded} do not name it");
    }
    let unit = |subject: &String| {
        let mut steps = steps.clone();
        for value in steps.iter_mut().flat_map(|step| step.values.iter_mut().flatten()) {
            if is_recorded(value) {
                *value = Some(subject.clone().into_bytes());
            }
        }
        steps
    };
    Ok(subjects.iter().map(unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(values: &[&str]) -> Step {
        let values = values.iter().map(|value| Some(value.as_bytes().to_vec())).collect();
        Step { text: "SELECT $1".into(), types: Arc::from([]), values: Some(values), waited: true }
    }

    #[test]
    fn the_statements_of_one_subject_are_played_for_every_subject() -> Result<()> {
        let subjects = ["EntryAAA", "EntryBBB"].map(str::to_owned);
        let units = units(vec![step(&["1", "EntryBBB"])], &subjects, 1)?;
        assert_eq!(units, [[step(&["1", "EntryAAA"])], [step(&["1", "EntryBBB"])]]);
        Ok(())
    }

    #[test]
    fn statements_that_do_not_name_their_subject_are_not_played() {
        let subjects = ["EntryAAA".to_owned()];
        assert!(units(vec![step(&["1"])], &subjects, 0).is_err());
    }

    #[test]
    fn without_subjects_the_same_statements_are_played() -> Result<()> {
        assert_eq!(units(vec![step(&["1"])], &[], 0)?, [[step(&["1"])]]);
        Ok(())
    }
}
