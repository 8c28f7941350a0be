//! What is to be planned: entries, judges, who may judge what, and what stands already.
//!
//! - Entries and judges are indices from zero; the caller knows their slugs.
//! - A pair is permitted when the judge has the entry's group, and when it is not forbidden.
//! - Pairs that stand already are kept, whatever the rules say now; they count for the entry and for the judge, and a
//!   limit that they pass asks for nothing more.

use std::collections::BTreeMap;

/// An entry and a judge, by index.
pub type Pair = (usize, usize);

/// How well a judge suits an entry; a pair that is not named has weight zero.
#[derive(Clone, Copy, Debug)]
pub struct Affinity {
    /// The judge's index.
    pub judge: u32,
    /// The more, the better, within plus or minus [`MAX_WEIGHT`]; a cost is a negative weight.
    pub weight: i32,
}

/// The greatest weight that is told apart; what lies beyond counts as this.
pub const MAX_WEIGHT: i32 = 1 << 24;

/// An entry that wants judges.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// How many judges it is to have, those that it has already included.
    pub wanted: usize,
    /// The panel, language, category or chapter that it belongs to.
    pub group: u32,
    /// Its affinities in any order; of two for one judge the last counts.
    pub affinities: Vec<Affinity>,
}

/// A judge who takes entries.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The fewest entries that the judge takes.
    pub at_least: usize,
    /// The most entries that the judge takes.
    pub at_most: usize,
    /// The groups whose entries the judge may see; none for every group.
    pub groups: Option<Vec<u32>>,
}

/// Everything that a plan depends on: equal problems have equal plans on any machine.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The entries.
    pub entries: Vec<Entry>,
    /// The judges.
    pub judges: Vec<Judge>,
    /// Pairs that may not be, in any order: conflicts, the judge's own organisation.
    pub forbidden: Vec<Pair>,
    /// Assignments that stand already, in any order and each once.
    pub kept: Vec<Pair>,
    /// What chance follows.
    pub seed: u64,
}

/// Which pairs may be added, in the memory of the groups and of the pairs that are named.
pub(crate) struct Permissions {
    /// By group, whether each judge has it.
    rows: Vec<Vec<bool>>,
    row_of_entry: Vec<usize>,
    /// By entry, the judges who are forbidden or kept, sorted.
    barred: Vec<Vec<usize>>,
    /// Whether forbidden pairs and groups count.
    pub(crate) forbids: bool,
    /// Whether questions name the judge first.
    pub(crate) transposed: bool,
    kept: Vec<Vec<usize>>,
}

impl Permissions {
    pub(crate) fn new(problem: &Problem) -> Self {
        let groups: BTreeMap<u32, usize> = problem.entries.iter().map(|entry| (entry.group, 0)).collect();
        let groups: BTreeMap<u32, usize> = groups.into_keys().zip(0..).collect();
        let has = |group: &u32| {
            let row = problem.judges.iter().map(|judge| judge.groups.as_ref().is_none_or(|all| all.contains(group)));
            row.collect()
        };
        let kept = by_entry(problem.entries.len(), problem.kept.iter());
        Self {
            rows: groups.keys().map(has).collect(),
            row_of_entry: problem.entries.iter().filter_map(|entry| groups.get(&entry.group).copied()).collect(),
            barred: by_entry(problem.entries.len(), problem.forbidden.iter().chain(&problem.kept)),
            forbids: true,
            transposed: false,
            kept,
        }
    }

    /// Whether the pair may be added to what is kept.
    pub(crate) fn allow(&self, entry: usize, judge: usize) -> bool {
        let (entry, judge) = if self.transposed { (judge, entry) } else { (entry, judge) };
        if self.forbids {
            self.rows[self.row_of_entry[entry]][judge] && !contains(&self.barred[entry], judge)
        } else {
            !contains(&self.kept[entry], judge)
        }
    }
}

/// Most entries bar nobody, which is seen without a search.
fn contains(sorted: &[usize], judge: usize) -> bool {
    !sorted.is_empty() && sorted.binary_search(&judge).is_ok()
}

fn by_entry<'a>(entries: usize, pairs: impl Iterator<Item = &'a Pair>) -> Vec<Vec<usize>> {
    let mut judges: Vec<Vec<usize>> = vec![Vec::new(); entries];
    for &(entry, judge) in pairs.filter(|pair| pair.0 < entries) {
        judges[entry].push(judge);
    }
    for list in &mut judges {
        list.sort_unstable();
    }
    judges
}
