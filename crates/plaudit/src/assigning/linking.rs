//! The job `assignments`: each entry with each judge.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::{self, Scope};
use super::link::{self, Link};
use super::rules;
use crate::jobs::{JobError, Patience, Run, Step, Work};
use crate::log::{Actor, Origin};
use crate::program::Programs;
use crate::records::assignments::Cause;
use db::{BoxFuture, Source, Tx};
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The job that links entries with judges.
pub const WORK: Work = Work { kind: "assignments", patience: Patience::MINUTES, run: |run| Box::pin(work(run)) };

/// How many pairs a step links.
const PAIRS: usize = 50;

/// What the job is told.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Input {
    /// The score set.
    pub score_set: String,
    /// The entries.
    pub entries: Vec<String>,
    /// The judges, each of whom is linked with every entry.
    pub judges: Vec<String>,
    /// The rounds.
    pub rounds: Vec<String>,
    /// Who asked for it, as the log names actors.
    pub actor: String,
}

impl Input {
    /// As a job is told.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

/// Reads what a job was told.
pub(super) fn broken(what: &str) -> JobError {
    JobError::Failed(format!("The {what} of the job cannot be read."))
}

async fn work(run: &mut Run) -> Result<(), JobError> {
    let input: Input = serde_json::from_str(&run.input).map_err(|_| broken("input"))?;
    let slug = |text: &String| Slug::parse(text).ok_or_else(|| broken("input"));
    let slugs = |texts: &[String]| texts.iter().map(slug).collect::<Result<Vec<_>, _>>();
    let (entries, judges, rounds) = (slugs(&input.entries)?, slugs(&input.judges)?, slugs(&input.rounds)?);
    let score_set = slug(&input.score_set)?;
    let actor = Actor::parse(&input.actor).unwrap_or(Actor::System);
    let total = entries.len() * judges.len();
    let mut done = match run.checkpoint() {
        "" => 0,
        checkpoint => checkpoint.parse().map_err(|_| broken("checkpoint"))?,
    };
    while done < total {
        let end = total.min(done + PAIRS);
        let pair = |number: usize| (entries[number / judges.len()], judges[number % judges.len()]);
        let link = |(entry, judge)| Link {
            entry,
            judge,
            score_set,
            rounds: rounds.clone(),
            cause: Cause::Manual,
            panels: Vec::new(),
        };
        let links = (done..end).map(|number| link(pair(number))).collect();
        let part = Part { programs: run.app.programs.clone(), links, actor: actor.clone(), end, total };
        run.step(part, |tx, part, step| part.write(tx, step)).await?;
        run.app.wakes.add(run.account());
        done = end;
    }
    Ok(())
}

/// Links of a step.
struct Part {
    programs: Arc<Programs>,
    links: Vec<Link>,
    actor: Actor,
    end: usize,
    total: usize,
}

impl Part {
    fn write<'a>(&'a self, tx: &'a mut Tx, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let account = step.account;
            let Some(program) = self.programs.in_transaction(tx, account).await? else { return Err(JobError::Stopped) };
            let origin = Origin { actor: self.actor.clone(), source: "api", at: step.now };
            let entries: Vec<Slug> = self.links.iter().map(|link| link.entry).collect();
            let judges: Vec<Slug> = self.links.iter().map(|link| link.judge).collect();
            let scope = Scope::These(entries);
            let facts = facts::store::read(&mut Source::Snapshot(tx), &program, &scope, &judges).await?;
            for link in &self.links {
                let mut violations = Violations::default();
                let score_set = rules::check_score_set(&program, link.score_set, &mut violations);
                rules::check_rounds(&program, &link.rounds, score_set, &mut violations);
                let entry = rules::check_entry(&facts, link.entry, score_set);
                let judge = rules::check_judge(&facts, &program, link.judge);
                let pair = (link.entry, link.judge);
                let blocked = link::refusal(&facts, pair, score_set);
                let set_up = violations.iter().next().map(|(_, message)| message.to_owned());
                if let Some(message) = set_up.or(entry.err()).or(judge.err()).or(blocked) {
                    step.report.failed(link.slug().as_str(), &message);
                } else {
                    link::write(tx, account, &program, &origin, link).await?;
                    step.report.done(1);
                    step.report.result(Kind::Assignment, link.slug().as_str());
                }
            }
            program.intact()?;
            step.checkpoint = self.end.to_string();
            step.report.progress.total = i64::try_from(self.total).ok();
            Ok(())
        })
    }
}
