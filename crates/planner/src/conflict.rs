//! Why no plan exists: a smallest set of entries, judges and rules that cannot hold together.
//!
//! Either entries want more than judges can take, or judges are to have more than entries want (Hall's theorem). The cut of
//! the first search that fails is thinned out by doing without each of its members in turn: whichever of those that
//! remain is let go, a plan exists for the rest. An entry that is let go may have any number of judges, a judge that is
//! let go any number of entries.

use crate::flow::{Demand, Flow};
use crate::problem::Problem;

/// A rule that takes part in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// How many judges an entry wants.
    PerEntry,
    /// The most entries of a judge.
    Max,
    /// The fewest entries of a judge.
    Min,
    /// Forbidden pairs and groups.
    Forbidden,
}

/// Why no plan exists: dropping any one of these makes a plan for the rest possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no plan exists: {} entries, {} judges and the rules {rules:?} conflict", entries.len(), judges.len())]
pub struct Conflict {
    /// Entries whose wanted number takes part, ascending.
    pub entries: Vec<usize>,
    /// Judges whose fewest or most takes part, ascending.
    pub judges: Vec<usize>,
    /// The rules that take part, ascending.
    pub rules: Vec<Rule>,
}

impl Conflict {
    /// The smallest conflict, where it is known whose demand cannot be met.
    pub(crate) fn of(problem: &Problem, demand: Demand) -> Self {
        let thinned = |forbids| thin(demands(problem, demand, forbids));
        let (is_forbidden, (demanding, limiting)) =
            thinned(false).map_or_else(|| (true, thinned(true).unwrap_or_default()), |members| (false, members));
        let mut rules = match demand {
            Demand::Entries if limiting.is_empty() => vec![Rule::PerEntry],
            Demand::Entries => vec![Rule::PerEntry, Rule::Max],
            Demand::Judges if limiting.is_empty() => vec![Rule::Min],
            Demand::Judges => vec![Rule::PerEntry, Rule::Min],
        };
        if is_forbidden {
            rules.push(Rule::Forbidden);
        }
        let (entries, judges) = match demand {
            Demand::Entries => (demanding, limiting),
            Demand::Judges => (limiting, demanding),
        };
        Self { entries, judges, rules }
    }
}

/// The flow of one demand alone; when judges demand, they take the part of entries.
fn demands(problem: &Problem, demand: Demand, forbids: bool) -> Flow {
    let mut flow = Flow::new(problem);
    flow.permissions.forbids = forbids;
    if demand == Demand::Judges {
        flow.permissions.transposed = true;
        std::mem::swap(&mut flow.by_entry, &mut flow.by_judge);
        let limits = flow.wanted.iter().map(|wanted| (0, *wanted)).collect();
        flow.wanted = std::mem::replace(&mut flow.judge_bounds, limits).into_iter().map(|bounds| bounds.0).collect();
    }
    flow
}

/// The members that demand and those that limit, ascending, of a smallest conflict, if there is one.
fn thin(mut flow: Flow) -> Option<(Vec<usize>, Vec<usize>)> {
    let (last, cut) = (0..flow.wanted.len()).find_map(|entry| {
        let missing = flow.wanted[entry];
        (0..missing).find_map(|_| flow.serve(entry).err()).map(|cut| (entry, cut))
    })?;
    // What the demands together lack, by whom; it stays as much until a member is dropped.
    let mut lacking = vec![last];
    let demanding = cut.entries.into_iter().filter(|entry| {
        let shortage: usize = lacking.iter().map(|other| flow.wanted[*other] - flow.by_entry[*other].len()).sum();
        for judge in flow.by_entry[*entry].clone() {
            flow.remove(*entry, judge);
        }
        let wanted = std::mem::take(&mut flow.wanted[*entry]);
        let is_needed = settle(&mut flow, &lacking);
        if is_needed {
            flow.wanted[*entry] = wanted;
            lacking = vec![*entry];
            (shortage..wanted).all(|_| flow.serve(*entry).is_ok());
        }
        is_needed
    });
    let demanding = demanding.collect();
    let limiting = cut.judges.into_iter().filter(|judge| {
        let most = std::mem::replace(&mut flow.judge_bounds[*judge].1, usize::MAX);
        let is_needed = settle(&mut flow, &lacking);
        if is_needed {
            flow.judge_bounds[*judge].1 = most;
            lacking = flow.by_judge[*judge].get(most..).unwrap_or_default().to_vec();
            for entry in &lacking {
                flow.remove(*entry, *judge);
            }
        }
        is_needed
    });
    let limiting = limiting.collect();
    Some((demanding, limiting))
}

/// Serves what these lack, as far as it goes; whether nothing is lacking then.
fn settle(flow: &mut Flow, lacking: &[usize]) -> bool {
    lacking.iter().all(|entry| (flow.by_entry[*entry].len()..flow.wanted[*entry]).all(|_| flow.serve(*entry).is_ok()))
}
