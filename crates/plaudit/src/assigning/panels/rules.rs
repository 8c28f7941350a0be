//! Who judges what by panels, and what changes for that.

use std::collections::{BTreeMap, BTreeSet};

use planner::Member;

use crate::assigning::facts::{EntryFacts, Facts};
use crate::assigning::rules::check_judge;
use crate::program::Program;
use crate::program::chapters::Status;
use crate::program::panels::Panel;
use crate::program::score_sets::ScoreSet;
use crate::records::assignments::{Assignment, Cause, Method};
use kernel::text::Slug;

/// An entry and a judge.
type Pair = (Slug, Slug);
/// The panels that assign, and in which rounds.
type Why = (Vec<Slug>, Vec<Slug>);

/// A change of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The pair is linked, by these panels and in these rounds.
    Assign(Pair, Why),
    /// No panel links the pair any more.
    Remove(Pair),
}

impl Change {
    /// The entry and the judge.
    pub fn pair(&self) -> Pair {
        match self {
            Self::Assign(pair, _) | Self::Remove(pair) => *pair,
        }
    }
}

/// The panels of a score set that assign.
pub fn of_score_set(program: &Program, score_set: Slug) -> impl Iterator<Item = &Panel> {
    program.panels.all_live().filter(move |panel| panel.score_set == score_set && panel.status == Status::Active)
}

/// Whether an entry belongs to a panel.
fn selects(panel: &Panel, score_set: &ScoreSet, entry: &EntryFacts) -> bool {
    (entry.form, entry.season) == (score_set.form, score_set.season)
        && (panel.categories.is_empty() || panel.categories.contains(&entry.category))
        && (panel.chapters.is_empty() || panel.chapters.contains(&entry.chapter))
        && (panel.divisions.is_empty() || panel.divisions.contains(&entry.division))
        && (panel.tags.is_empty() || panel.tags.iter().any(|tag| entry.tags.contains(tag)))
        && (panel.statuses.is_empty() || entry.status.is_some_and(|status| panel.statuses.contains(&status)))
        && (panel.moderation.is_empty() || entry.moderation.is_some_and(|how| panel.moderation.contains(&how)))
}

/// Whether a judge may judge an entry.
pub fn may(program: &Program, facts: &Facts, pair: Pair, score_set: &ScoreSet) -> bool {
    facts.entries.contains_key(&pair.0)
        && check_judge(facts, program, pair.1).is_ok()
        && facts.exclusion(pair, Some(score_set)).is_none()
}

/// What the panels of a score set want.
#[derive(Debug, Default)]
pub struct Wanted(BTreeMap<Pair, (BTreeSet<Slug>, BTreeSet<Slug>)>);

impl Wanted {
    /// Adds what a panel wants, of all its judges in `facts`. Its sheets among those that are there which were begun stay while
    /// they fit.
    pub fn add(
        &mut self,
        program: &Program,
        (score_set, panel): (&ScoreSet, &Panel),
        facts: &Facts,
        there: &[Assignment],
    ) {
        let cap = |count: Option<i64>| count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let (of_entry, of_judge) = (cap(panel.judges_per_entry), cap(panel.entries_per_judge));
        let entries: Vec<Member<'_>> = facts
            .entries
            .iter()
            .filter(|(_, entry)| selects(panel, score_set, entry))
            .map(|(entry, _)| Member { key: entry.as_bytes(), cap: of_entry })
            .collect();
        let may_judge = |judge: &&Slug| check_judge(facts, program, **judge).is_ok();
        let judges: Vec<Member<'_>> = facts
            .judges
            .keys()
            .filter(may_judge)
            .map(|judge| Member { key: judge.as_bytes(), cap: of_judge })
            .collect();
        let is_begun = |sheet: &&Assignment| {
            sheet.cause == Cause::Automatic
                && sheet.method != Method::Recused
                && sheet.has_sheet()
                && sheet.panels.contains(&panel.slug)
        };
        let begun: Vec<(Slug, Slug)> =
            there.iter().filter(is_begun).filter_map(|sheet| Some((sheet.entry, sheet.judge?))).collect();
        let begun: Vec<planner::Keys<'_>> =
            begun.iter().map(|(entry, judge)| (&entry.as_bytes()[..], &judge.as_bytes()[..])).collect();
        let permitted = |entry: &[u8], judge: &[u8]| {
            slug(entry).zip(slug(judge)).is_some_and(|pair| facts.exclusion(pair, Some(score_set)).is_none())
        };
        let mut chosen = |entries: &[Member<'_>], judges: &[Member<'_>]| {
            for (entry, judge) in planner::panel(panel.slug.as_bytes(), entries, judges, &begun, permitted) {
                let Some(pair) = slug(entry).zip(slug(judge)) else { continue };
                let (panels, rounds) = self.0.entry(pair).or_default();
                panels.insert(panel.slug);
                rounds.extend(&panel.rounds);
            }
        };
        // Only two limits depend on each other; one alone holds entry by entry, or judge by judge, in less memory.
        if of_judge == usize::MAX {
            for entry in &entries {
                chosen(std::slice::from_ref(entry), &judges);
            }
        } else if of_entry == usize::MAX {
            for judge in &judges {
                chosen(&entries, std::slice::from_ref(judge));
            }
        } else {
            chosen(&entries, &judges);
        }
    }

    /// What is to be changed of the assignments that are there, outside the trash.
    pub fn changes(self, there: &[Assignment]) -> Vec<Change> {
        let by_pair: BTreeMap<Pair, &Assignment> =
            there.iter().filter_map(|found| Some(((found.entry, found.judge?), found))).collect();
        let is_gone = |(pair, found): &(&Pair, &&Assignment)| {
            // What a judge declared stays where it was declared, until it is lifted.
            let is_declared = found.is_conflicted && !found.conflict.is_empty();
            found.method == Method::Automatic && !is_declared && !self.0.contains_key(*pair)
        };
        let removed: Vec<Change> = by_pair.iter().filter(is_gone).map(|(pair, _)| Change::Remove(*pair)).collect();
        let assigned = self.0.into_iter().filter_map(|(pair, (panels, rounds))| {
            let why: Why = (panels.into_iter().collect(), rounds.into_iter().collect());
            let is_new = match by_pair.get(&pair) {
                None => true,
                Some(found) => match found.method {
                    Method::Manual | Method::Random | Method::Recused => false,
                    Method::Stray => true,
                    Method::Automatic => (&found.panels, &found.rounds) != (&why.0, &why.1),
                },
            };
            is_new.then_some(Change::Assign(pair, why))
        });
        removed.into_iter().chain(assigned).collect()
    }
}

fn slug(key: &[u8]) -> Option<Slug> {
    Slug::from_letters(key.try_into().ok()?)
}
