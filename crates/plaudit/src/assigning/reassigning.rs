//! The job `reassignment`: a judge drops out of a score set, and the open sheets go to others.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::{self, Scope};
use super::link::{self, Link};
use super::linking::broken;
use super::rules;
use crate::jobs::{JobError, Patience, Run, Step, Work};
use crate::log::{Actor, Origin};
use crate::program::chapters::Status;
use crate::program::panels::Panel;
use crate::program::{Program, Programs, Record};
use crate::records::assignments::{Assignment, AssignmentSlug, Cause, Method, store};
use db::{BoxFuture, DbError, Source, Tx};
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The job that gives the open sheets of a judge to others.
pub const WORK: Work = Work { kind: "reassignment", patience: Patience::MINUTES, run: |run| Box::pin(work(run)) };

/// How many sheets a step hands over.
const SHEETS: usize = 20;

/// What the job is told.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Input {
    /// The judge.
    pub judge: String,
    /// The score set.
    pub score_set: String,
    /// Who asked for it, as the log names actors.
    pub actor: String,
}

impl Input {
    /// As a job is told.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

/// What a step leaves behind when nothing is left.
const END: &str = "-";

async fn work(run: &mut Run) -> Result<(), JobError> {
    let input: Input = serde_json::from_str(&run.input).map_err(|_| broken("input"))?;
    let slug = |text: &str| Slug::parse(text).ok_or_else(|| broken("input"));
    let (judge, score_set) = (slug(&input.judge)?, slug(&input.score_set)?);
    let actor = Actor::parse(&input.actor).unwrap_or(Actor::System);
    while run.checkpoint() != END {
        let (programs, ids) = (run.app.programs.clone(), run.app.ids.clone());
        let part = Part { programs, ids, judge, score_set, actor: actor.clone() };
        run.step(part, |tx, part, step| part.write(tx, step)).await?;
        run.app.wakes.add(run.account());
    }
    Ok(())
}

/// A step.
struct Part {
    programs: Arc<Programs>,
    ids: Ids,
    judge: Slug,
    score_set: Slug,
    actor: Actor,
}

impl Part {
    fn write<'a>(&'a self, tx: &'a mut Tx, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let account = step.account;
            let Some(program) = self.programs.in_transaction(tx, account).await? else { return Err(JobError::Stopped) };
            let origin = Origin { actor: self.actor.clone(), source: "api", at: step.now };
            let after = (step.checkpoint.as_str(), SHEETS);
            let open = store::open_of_judge(tx, account, (self.judge, self.score_set), after).await?;
            for slug in &open {
                let pair = (slug.entry(), self.judge);
                let set = Some(self.score_set);
                link::recuse(tx, &program, &origin, pair, set, &self.ids).await?;
                match self.replace(tx, &program, &origin, *slug).await? {
                    Replacement::Link(made) => {
                        step.report.done(1);
                        step.report.result(Kind::Assignment, made.as_str());
                    }
                    Replacement::Panel => step.report.done(1),
                    Replacement::Nobody => {
                        step.report.failed(slug.as_str(), "Nobody else of the score set can judge the entry.");
                    }
                }
            }
            program.intact()?;
            step.checkpoint = match open.last() {
                Some(last) if open.len() == SHEETS => last.to_string(),
                _ => END.to_owned(),
            };
            Ok(())
        })
    }

    /// Links another judge of the score set with the entry of a sheet, unless a panel does that.
    async fn replace(
        &self,
        tx: &mut Tx,
        program: &Program,
        origin: &Origin,
        slug: AssignmentSlug,
    ) -> Result<Replacement, DbError> {
        let (account, entry) = (program.id, slug.entry());
        let of_entry = store::of_entry(tx, account, (entry, self.score_set), &program.context).await?;
        let recused = of_entry.iter().find(|found| found.value.slug == slug).map(|found| &found.value);
        let rounds = recused.map(|recused| recused.rounds.clone());
        // A link whose cause is gone keeps nobody from another one, unless it would come back with scores.
        let is_open = |sheet: &Assignment| sheet.method == Method::Stray && !sheet.has_scores();
        let holds = |found: &&Record<Assignment>| !found.deleted && !is_open(&found.value);
        let linked: Vec<Option<Slug>> = of_entry.iter().filter(holds).map(|found| found.value.judge).collect();
        let mut loads = store::loads(tx, account, self.score_set).await?;
        loads.retain(|judge, _| *judge != self.judge && !linked.contains(&Some(*judge)));
        let (scope, judges) = (Scope::These(vec![entry]), loads.keys().copied().collect::<Vec<_>>());
        let facts = facts::store::read(&mut Source::Snapshot(tx), program, &scope, &judges).await?;
        let score_set = program.score_sets.any(self.score_set);
        let may = |judge| {
            rules::check_judge(&facts, program, judge).is_ok() && facts.exclusion((entry, judge), score_set).is_none()
        };
        let is_at_hand = |panel: &Panel| {
            let of_role = |judge: &Slug| {
                facts.judges.get(judge).is_some_and(|facts| facts.roles.iter().any(|role| panel.roles.contains(role)))
            };
            loads.keys().any(|judge| may(*judge) && (panel.judges.contains(judge) || of_role(judge)))
        };
        if recused.is_some_and(|recused| panels_of(program, recused).any(is_at_hand)) {
            return Ok(Replacement::Panel);
        }
        let Some(judge) = rules::replacement(&loads, may) else { return Ok(Replacement::Nobody) };
        let (score_set, rounds) = (self.score_set, rounds.unwrap_or_default());
        let link = Link { entry, judge, score_set, rounds, cause: Cause::Manual, panels: Vec::new() };
        link::write(tx, account, program, origin, &link).await?;
        Ok(Replacement::Link(link.slug()))
    }
}

/// Who has the place of a judge who was taken off an entry.
enum Replacement {
    /// Another judge, by this link.
    Link(AssignmentSlug),
    /// Whom the panel chooses.
    Panel,
    Nobody,
}

/// The panels that made a sheet and fill its place where somebody else of them can judge the entry: they say how many judges an entry
/// gets, and not how many entries a judge gets.
fn panels_of<'p>(program: &'p Program, sheet: &'p Assignment) -> impl Iterator<Item = &'p Panel> {
    let panels = sheet.panels.iter().filter(|_| sheet.cause == Cause::Automatic);
    let fills = |panel: &&Panel| {
        panel.status == Status::Active && panel.judges_per_entry.is_some() && panel.entries_per_judge.is_none()
    };
    panels.filter_map(|panel| program.panels.live(*panel)).filter(fills)
}
