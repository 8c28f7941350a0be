//! Plans of assignments: made of a state that is read, applied as long as that state holds, and undone at once.
//!
//! - A plan is a pure function of what is asked for and of what is read: entries, judges, whoever is never to judge what, and
//!   who is linked already. Who is linked stays, and counts; an abstention and a conflict of interest count for nothing.
//! - What a judge has of the score set outside the plan counts towards `per_judge`.
//! - The state has a hash. A plan whose state reads differently when it is applied is refused.
//! - Undoing takes back what applying linked, unless one of these has scores by then.

pub mod asked;
pub mod store;

use std::collections::{BTreeMap, BTreeSet};

use planner::{Conflict, Entry, Judge, Pair, Problem, Report, Rule};
use sha2::{Digest, Sha256};

use super::facts::{self, EntryFacts, Exclusion, Facts, JudgeFacts, Scope};
use crate::program::Program;
use crate::program::score_sets::ScoreSet;
use crate::records::assignments::AssignmentSlug;
use asked::{Asked, Method, Whom};
use db::{DbError, Source};
use kernel::document::{self, List, Object};
use kernel::text::Slug;

/// The most entries of a plan.
pub const ENTRIES: usize = 10_000;
/// The most judges of a plan, those who are linked with its entries already included: the report grows with their cube.
pub const JUDGES: usize = 1_000;
/// How many entries or judges an error names.
const NAMED: usize = 20;

/// A judge who is linked with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The entry.
    pub entry: Slug,
    /// The judge.
    pub judge: Slug,
    /// Whether the judge does not judge it.
    pub is_abstained: bool,
}

/// Everything that is read for a plan.
pub struct Read {
    /// The account's last change.
    pub sequence: i64,
    /// Entries and judges, and what stands between them.
    pub facts: Facts,
    /// Who is to judge, whether they may or not.
    pub judges: Vec<Slug>,
    linked: Vec<Linked>,
}

/// Reads what a plan depends on.
pub async fn read(source: &mut Source<'_>, program: &Program, asked: &Asked) -> Result<Read, DbError> {
    let account = program.id;
    let judges = match &asked.whom {
        Whom::Judges(judges) => judges.clone(),
        Whom::Role(role) => facts::store::users_of_role(source, account, *role).await?,
    };
    let (sequence, linked) = store::linked(source, account, asked.score_set).await?;
    let scope = match (&asked.entries, program.score_sets.any(asked.score_set)) {
        (Some(entries), _) => Scope::These(entries.clone()),
        (None, Some(score_set)) => Scope::Of { form: score_set.form, season: score_set.season },
        (None, None) => Scope::These(Vec::new()),
    };
    let mut people: Vec<Slug> = linked.iter().map(|linked| linked.judge).chain(judges.iter().copied()).collect();
    people.sort_unstable();
    people.dedup();
    let facts = facts::store::read(source, program, &scope, &people).await?;
    Ok(Read { sequence, facts, judges, linked })
}

/// What a plan is made of, by slug: equal states make equal plans.
#[derive(Debug)]
pub struct State {
    entries: BTreeMap<Slug, EntryFacts>,
    judges: BTreeMap<Slug, JudgeFacts>,
    /// Judges who are linked with these entries, and are not to judge more.
    others: Vec<Slug>,
    excluded: Vec<(Slug, Slug, Option<Exclusion>)>,
    kept: Vec<(Slug, Slug)>,
    /// How many entries a judge has beside these.
    outside: BTreeMap<Slug, usize>,
}

impl State {
    /// The state of what was read. Where there is more than is planned at once, it is not told who is excluded: that is work for
    /// each pair.
    pub fn new(asked: &Asked, read: Read, score_set: Option<&ScoreSet>) -> Self {
        let Read { mut facts, judges: wanted, linked, .. } = read;
        let entries: BTreeMap<Slug, EntryFacts> =
            std::mem::take(&mut facts.entries).into_iter().filter(|(_, entry)| asked.filter.selects(entry)).collect();
        facts.entries.clone_from(&entries);
        let judges: BTreeMap<Slug, JudgeFacts> =
            wanted.iter().filter_map(|judge| Some((*judge, facts.judges.get(judge)?.clone()))).collect();
        let (mut kept, mut others, mut outside) = (Vec::new(), Vec::new(), BTreeMap::<Slug, usize>::new());
        let mut excluded = Vec::new();
        for Linked { entry, judge, is_abstained } in linked {
            let is_of_plan = entries.contains_key(&entry);
            if is_of_plan && !is_abstained && facts.exclusion((entry, judge), score_set).is_none() {
                kept.push((entry, judge));
                if !judges.contains_key(&judge) {
                    others.push(judge);
                }
                continue;
            }
            if is_of_plan && is_abstained {
                excluded.push((entry, judge, None));
            }
            *outside.entry(judge).or_default() += 1;
        }
        others.sort_unstable();
        others.dedup();
        let is_too_large = entries.len() > ENTRIES || judges.len() + others.len() > JUDGES;
        for entry in entries.keys().filter(|_| !is_too_large) {
            let of_entry = judges
                .keys()
                .filter_map(|judge| Some((*entry, *judge, Some(facts.exclusion((*entry, *judge), score_set)?))));
            excluded.extend(of_entry);
        }
        outside.retain(|judge, _| judges.contains_key(judge));
        Self { entries, judges, others, excluded, kept, outside }
    }

    /// How many entries there are, and how many judges, those who are linked already included.
    pub fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.judges.len() + self.others.len())
    }

    /// How many assignments a plan makes: each entry has as many as are asked for.
    pub fn new_assignments(&self, asked: &Asked) -> usize {
        let mut kept: BTreeMap<Slug, usize> = BTreeMap::new();
        for (entry, _) in &self.kept {
            *kept.entry(*entry).or_default() += 1;
        }
        let missing = |entry| asked.per_entry.saturating_sub(kept.get(entry).copied().unwrap_or_default());
        self.entries.keys().map(missing).sum()
    }

    /// The hash of everything, in hexadecimal.
    pub fn hash(&self) -> String {
        hex::encode(Sha256::digest(format!("{self:?}")))
    }

    /// Whether the plan has an entry.
    pub fn has_entry(&self, entry: Slug) -> bool {
        self.entries.contains_key(&entry)
    }

    /// Whether it has a judge who is to judge.
    pub fn has_judge(&self, judge: Slug) -> bool {
        self.judges.contains_key(&judge)
    }

    /// Makes the plan.
    pub fn plan(&self, asked: &Asked) -> Result<Made, Unsolved> {
        let entries: Vec<Slug> = self.entries.keys().copied().collect();
        let judges: Vec<Slug> = self.judges.keys().chain(&self.others).copied().collect();
        let entry_at: BTreeMap<Slug, usize> = entries.iter().copied().zip(0..).collect();
        let judge_at: BTreeMap<Slug, usize> = judges.iter().copied().zip(0..).collect();
        let pair =
            |entry: &Slug, judge: &Slug| -> Option<Pair> { Some((*entry_at.get(entry)?, *judge_at.get(judge)?)) };
        let wanted = Entry { wanted: asked.per_entry, ..Entry::default() };
        let mut problem = Problem {
            entries: vec![wanted; entries.len()],
            judges: self.judges.keys().map(|judge| self.bounds(asked, *judge)).collect(),
            forbidden: self.excluded.iter().filter_map(|(entry, judge, _)| pair(entry, judge)).collect(),
            kept: self.kept.iter().filter_map(|(entry, judge)| pair(entry, judge)).collect(),
            seed: asked.seed,
        };
        problem.judges.resize(judges.len(), Judge { at_least: 0, at_most: 0, groups: None });
        for (entry, judge, weight) in &asked.affinities {
            let Some((entry, judge)) = pair(entry, judge) else { continue };
            let Ok(judge) = u32::try_from(judge) else { continue };
            problem.entries[entry].affinities.push(planner::Affinity { judge, weight: *weight });
        }
        let (plan, is_exact) = match asked.method {
            Method::Random => (planner::random(&problem), false),
            Method::Affinity => (planner::exact(&problem), true),
        };
        let plan = plan.map_err(|conflict| Unsolved::new(&conflict, (&entries, &judges, self.judges.len()), asked))?;
        let report = planner::report(&problem, &plan, is_exact);
        let kept: BTreeSet<Pair> = problem.kept.iter().copied().collect();
        let assignments = plan.iter().map(|pair| (entries[pair.0], judges[pair.1], kept.contains(pair))).collect();
        let bridges = report.bridges.iter().map(|pair| (entries[pair.0], judges[pair.1])).collect();
        Ok(Made { assignments, bridges, judges, report })
    }

    /// How many entries of the plan a judge takes, beside those that the judge has elsewhere.
    fn bounds(&self, asked: &Asked, judge: Slug) -> Judge {
        let outside = self.outside.get(&judge).copied().unwrap_or_default();
        let [at_least, at_most] = [asked.per_judge.0, asked.per_judge.1].map(|bound| bound.saturating_sub(outside));
        Judge { at_least, at_most, groups: None }
    }
}

/// A plan that was made.
pub struct Made {
    /// Who judges what, and whether that was so before.
    pub assignments: Vec<(Slug, Slug, bool)>,
    bridges: Vec<(Slug, Slug)>,
    judges: Vec<Slug>,
    report: Report,
}

impl Made {
    /// What is shown of it.
    pub fn document(&self, plan: Slug, (sequence, hash): (i64, &str)) -> String {
        let report = &self.report;
        document::object(|object| {
            object.slug("plan", plan);
            object.object("state", |object| {
                object.integer("sequence", sequence);
                object.text("hash", hash);
            });
            object.list("assignments", |list| {
                for (entry, judge, is_kept) in &self.assignments {
                    list.object(|object| {
                        write_pair((*entry, *judge), object);
                        object.flag("kept", *is_kept);
                    });
                }
            });
            object.object("report", |object| {
                object.integer("components", integer(report.components));
                object.list("bridges", |list| self.bridges.iter().for_each(|pair| write_item(*pair, list)));
                match report.inflation {
                    Some(inflation) => object.raw("inflation", &inflation.to_string()),
                    None => object.null("inflation"),
                }
                object.list("loads", |list| {
                    for (judge, load) in self.judges.iter().zip(&report.loads) {
                        list.object(|object| {
                            object.slug("judge", *judge);
                            object.integer("load", integer(*load));
                        });
                    }
                });
                object.flag("optimal", report.optimal);
            });
        })
    }
}

fn write_pair((entry, judge): (Slug, Slug), object: &mut Object<'_>) {
    object.slug("entry", entry);
    object.slug("judge", judge);
}

fn write_item(pair: (Slug, Slug), list: &mut List<'_>) {
    list.object(|object| write_pair(pair, object));
}

fn integer(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What is shown of assignments that a plan made, and of what undoes them.
pub fn applied(made: &[AssignmentSlug], undo: Slug) -> String {
    document::object(|object| {
        object.list("assignments", |list| {
            for slug in made {
                list.object(|object| {
                    object.text("slug", slug.as_str());
                    object.slug("entry", slug.entry());
                    object.optional_slug("judge", slug.judge());
                });
            }
        });
        object.slug("undo", undo);
    })
}

/// Why there is no plan: entries, judges and rules of which none can be left out.
#[derive(Debug)]
pub struct Unsolved(String);

impl Unsolved {
    /// Of the judges so many are asked for; the others are linked already, and get no more.
    fn new(conflict: &Conflict, (entries, judges, asked_for): (&[Slug], &[Slug], usize), asked: &Asked) -> Self {
        let named = |numbers: &[usize], slugs: &[Slug]| {
            let mut names: Vec<String> =
                numbers.iter().take(NAMED).filter_map(|number| slugs.get(*number)).map(Slug::to_string).collect();
            if numbers.len() > NAMED {
                names.push(format!("and {} more", numbers.len() - NAMED));
            }
            names.join(", ")
        };
        // Ascending.
        let (bounded, others) = conflict.judges.split_at(conflict.judges.partition_point(|judge| *judge < asked_for));
        let (entries, bounded, unasked) =
            (named(&conflict.entries, entries), named(bounded, judges), named(others, judges));
        let (least, most) = asked.per_judge;
        let mut rules = Vec::new();
        for rule in &conflict.rules {
            match rule {
                Rule::PerEntry => rules.push(format!("per_entry is {} for {entries}", asked.per_entry)),
                Rule::Max if !bounded.is_empty() => rules.push(format!("per_judge.max is {most} for {bounded}")),
                Rule::Max => {}
                Rule::Min => rules.push(format!("per_judge.min is {least} for {bounded}")),
                Rule::Forbidden => {
                    let message = "conflicts of interest, recusals and abstentions keep judges from entries";
                    rules.push(message.to_owned());
                }
            }
        }
        if !others.is_empty() {
            rules.push(format!("who is linked already and not asked for gets no more: {unasked}"));
        }
        Self(format!("cannot hold together: {}", rules.join("; ")))
    }
}

impl std::fmt::Display for Unsolved {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}
