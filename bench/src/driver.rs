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
    pub(crate) statements: Statements<'r>,
    pub(crate) load: Vec<Requests>,
}

/// Which statements the driver runs.
pub(crate) enum Statements<'r> {
    /// Those of each of these requests.
    OfEach(Vec<Vec<u8>>),
    /// Those of one request, for each of the subjects: [`SAMPLES`] requests are recorded, each about the subject at its own
    /// place, and at the end is one that is sent before them.
    ForSubjects { samples: Vec<Vec<u8>>, subjects: &'r [String] },
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
    let units = match &read.statements {
        Statements::OfEach(requests) => alike(record(context, filled, requests, requests)?)?,
        Statements::ForSubjects { samples, subjects } => {
            let (samples, warm) = samples.split_at(samples.len().saturating_sub(1));
            let recorded = record(context, filled, warm, samples)?.into_iter().enumerate();
            let shortest = recorded.filter(|(_, steps)| !steps.is_empty()).min_by_key(|(_, steps)| steps.len());
            let (place, steps) = shortest.context("the server answered without asking the database")?;
            units(&steps, subjects, place)?
        }
    };
    for step in units.first().into_iter().flatten() {
        let text = step.text.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("  recorded: {}", text.get(..160).unwrap_or(&text));
    }
    let units = Arc::new(units);

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
    report.at_most(format!("PostgreSQL: processor time, {name} against the driver"), 1.4, ratio, "");
    Ok(())
}

/// The statements of each request, after those of `warm`, which are not recorded.
fn record(context: &Context, filled: &Filled, warm: &[Vec<u8>], requests: &[Vec<u8>]) -> Result<Vec<Vec<Step>>> {
    let (url, recording) = wire::proxy(&filled.url)?;
    let server = Server::start(context, &url)?;
    let mut client = Client::connect(server.address)?;
    for request in warm.iter().cycle().take(WARM_UP_REQUESTS) {
        client.ask_ok(request)?;
    }
    let mut recorded = Vec::new();
    for request in requests {
        wire::start(&recording);
        client.ask_ok(request)?;
        recorded.push(wire::stop(&recording).concat());
    }
    server.stop()?;
    Ok(recorded)
}

/// The recordings that are as short as the shortest one: what the server asks at times of its own may have fallen into the
/// others.
fn alike(mut recorded: Vec<Vec<Step>>) -> Result<Vec<Vec<Step>>> {
    recorded.retain(|steps| !steps.is_empty());
    let shortest = recorded.iter().map(Vec::len).min().context("the server answered without asking the database")?;
    recorded.retain(|steps| steps.len() == shortest);
    Ok(recorded)
}

/// The statements for each subject, made from those that were recorded for one of them.
fn units(steps: &[Step], subjects: &[String], recorded: usize) -> Result<Vec<Vec<Step>>> {
    let recorded = subjects.get(recorded).context("a sample without its subject")?;
    let is_recorded = |value: &wire::Raw| value.as_deref() == Some(recorded.as_bytes());
    if !steps.iter().flat_map(|step| step.values.iter().flatten()).any(is_recorded) {
        bail!("the statements of {recorded} do not name it");
    }
    let unit = |subject: &String| {
        let mut steps = steps.to_vec();
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
        let units = units(&[step(&["1", "EntryBBB"])], &subjects, 1)?;
        assert_eq!(units, [[step(&["1", "EntryAAA"])], [step(&["1", "EntryBBB"])]]);
        Ok(())
    }

    #[test]
    fn statements_that_do_not_name_their_subject_are_not_played() {
        let subjects = ["EntryAAA".to_owned()];
        assert!(units(&[step(&["1"])], &subjects, 0).is_err());
    }

    #[test]
    fn recordings_with_more_statements_than_others_are_not_played() -> Result<()> {
        let (one, two) = (vec![step(&["1"])], vec![step(&["1"]), step(&["2"])]);
        assert_eq!(alike(vec![one.clone(), two, one.clone(), Vec::new()])?, [one.clone(), one]);
        assert!(alike(vec![Vec::new()]).is_err());
        Ok(())
    }
}
