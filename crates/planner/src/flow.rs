//! Whether a plan can exist: a flow from entries to judges within the bounds of both, by augmenting paths.
//!
//! A path is searched breadth first over judges, each at most once: an entry moves from one judge to the next. First
//! every entry gets what it wants, then judges with too few pull entries; neither step undoes the one before it, so
//! that a search that fails proves that no plan exists (Ford and Fulkerson 1956; Hoffman's circulation theorem).

use std::collections::VecDeque;

use crate::problem::{Pair, Permissions, Problem};

/// The fewest and the most.
pub(crate) type Bounds = (usize, usize);

/// What a failed search reached: the bounds of these cannot hold together.
pub(crate) struct Cut {
    pub(crate) entries: Vec<usize>,
    pub(crate) judges: Vec<usize>,
}

/// Whose demand cannot be met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// What entries want, for what judges can take.
    Entries,
    /// The fewest of judges, for what entries want.
    Judges,
}

/// A plan in the making, apart from the pairs that are kept.
pub(crate) struct Flow {
    pub(crate) permissions: Permissions,
    /// How many each entry wants, less what is kept.
    pub(crate) wanted: Vec<usize>,
    /// The fewest and the most of each judge, less what is kept.
    pub(crate) judge_bounds: Vec<Bounds>,
    /// How many entries each judge keeps.
    pub(crate) kept_loads: Vec<usize>,
    pub(crate) by_entry: Vec<Vec<usize>>,
    pub(crate) by_judge: Vec<Vec<usize>>,
}

/// How a search came to a judge: which entry moves, and from which judge, none when the entry gets one more.
type Step = (usize, Option<usize>);

impl Flow {
    pub(crate) fn new(problem: &Problem) -> Self {
        let (mut kept_entries, mut kept_loads) = (vec![0; problem.entries.len()], vec![0; problem.judges.len()]);
        for &(entry, judge) in &problem.kept {
            kept_entries[entry] += 1;
            kept_loads[judge] += 1;
        }
        let entries = problem.entries.iter().zip(kept_entries);
        let judges = problem.judges.iter().zip(&kept_loads);
        Self {
            permissions: Permissions::new(problem),
            wanted: entries.map(|(entry, kept)| entry.wanted.saturating_sub(kept)).collect(),
            judge_bounds: judges
                .map(|(judge, kept)| (judge.at_least.saturating_sub(*kept), judge.at_most.saturating_sub(*kept)))
                .collect(),
            by_entry: vec![Vec::new(); problem.entries.len()],
            by_judge: vec![Vec::new(); problem.judges.len()],
            kept_loads,
        }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.by_entry.iter().enumerate().flat_map(|(entry, judges)| judges.iter().map(move |judge| (entry, *judge)))
    }

    pub(crate) fn load(&self, judge: usize) -> usize {
        self.by_judge[judge].len()
    }

    pub(crate) fn add(&mut self, entry: usize, judge: usize) {
        self.by_entry[entry].push(judge);
        self.by_judge[judge].push(entry);
    }

    pub(crate) fn remove(&mut self, entry: usize, judge: usize) {
        self.by_entry[entry].retain(|other| *other != judge);
        self.by_judge[judge].retain(|other| *other != entry);
    }

    fn can_add(&self, entry: usize, judge: usize) -> bool {
        self.permissions.allow(entry, judge) && !self.by_entry[entry].contains(&judge)
    }

    /// Completes the plan within all bounds, or tells whose demand cannot be met.
    pub(crate) fn complete(&mut self) -> Result<(), Demand> {
        for entry in 0..self.by_entry.len() {
            while self.by_entry[entry].len() < self.wanted[entry] {
                self.serve(entry).map_err(|_| Demand::Entries)?;
            }
        }
        for judge in 0..self.by_judge.len() {
            while self.load(judge) < self.judge_bounds[judge].0 {
                if !self.fill(judge) {
                    return Err(Demand::Judges);
                }
            }
        }
        Ok(())
    }

    /// One more judge for the entry.
    pub(crate) fn serve(&mut self, start: usize) -> Result<(), Cut> {
        // Most entries need no search, which would look at every judge.
        let has_room = |judge: &usize| self.load(*judge) < self.judge_bounds[*judge].1 && self.can_add(start, *judge);
        if let Some(judge) = (0..self.by_judge.len()).find(has_room) {
            self.add(start, judge);
            return Ok(());
        }
        let mut search = Search::new(self);
        search.visit_from(self, start, None);
        while let Some(judge) = search.queue.pop_front() {
            if self.load(judge) < self.judge_bounds[judge].1 {
                self.shift(judge, &search.steps);
                return Ok(());
            }
            for index in 0..self.by_judge[judge].len() {
                let entry = self.by_judge[judge][index];
                search.visit_from(self, entry, Some(judge));
            }
        }
        Err(search.cut())
    }

    /// Moves entries along the path that ends at the judge.
    fn shift(&mut self, mut judge: usize, steps: &[Option<Step>]) {
        while let Some((entry, previous)) = steps[judge] {
            self.add(entry, judge);
            let Some(previous) = previous else { return };
            self.remove(entry, previous);
            judge = previous;
        }
    }

    /// One more entry for the judge, from judges who have more than their fewest.
    fn fill(&mut self, start: usize) -> bool {
        let mut search = Search::new(self);
        search.queue.push_back(start);
        search.unvisited.retain(|judge| *judge != start);
        while let Some(judge) = search.queue.pop_front() {
            for entry in 0..self.by_entry.len() {
                if search.seen[entry] || !self.can_add(entry, judge) {
                    continue;
                }
                search.seen[entry] = true;
                for index in 0..self.by_entry[entry].len() {
                    let other = self.by_entry[entry][index];
                    if other == start || search.steps[other].is_some() {
                        continue;
                    }
                    search.steps[other] = Some((entry, Some(judge)));
                    if self.load(other) > self.judge_bounds[other].0 {
                        self.pull(other, &search.steps);
                        return true;
                    }
                    search.queue.push_back(other);
                }
            }
        }
        false
    }

    /// Moves entries towards the judge who lacks one.
    fn pull(&mut self, mut judge: usize, steps: &[Option<Step>]) {
        while let Some((entry, Some(next))) = steps[judge] {
            self.remove(entry, judge);
            self.add(entry, next);
            judge = next;
        }
    }

    /// Moves entries until no path leads from a judge to one with two entries fewer: loads are as even as they can be.
    pub(crate) fn level(&mut self) {
        let total = |flow: &Self, judge: usize| flow.kept_loads[judge] + flow.load(judge);
        loop {
            let judges = 0..self.by_judge.len();
            let open = judges.clone().filter(|judge| self.load(*judge) < self.judge_bounds[*judge].1);
            let Some(least) = open.map(|judge| total(self, judge)).min() else { return };
            let high = judges.filter(|judge| total(self, *judge) > least + 1);
            let high: Vec<usize> = high.filter(|judge| self.load(*judge) > self.judge_bounds[*judge].0).collect();
            let mut moved = false;
            for start in high {
                while self.load(start) > self.judge_bounds[start].0 && self.relieve(start, total(self, start)) {
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Moves one entry's worth of load from the judge to one who has at least two fewer, if a path leads there.
    fn relieve(&mut self, start: usize, total: usize) -> bool {
        let mut search = Search::new(self);
        search.queue.push_back(start);
        search.unvisited.retain(|judge| *judge != start);
        while let Some(judge) = search.queue.pop_front() {
            let load = self.load(judge);
            if load < self.judge_bounds[judge].1 && self.kept_loads[judge] + load + 1 < total {
                self.shift(judge, &search.steps);
                return true;
            }
            for &entry in &self.by_judge[judge] {
                search.visit_from(self, entry, Some(judge));
            }
        }
        false
    }
}

struct Search {
    steps: Vec<Option<Step>>,
    unvisited: Vec<usize>,
    seen: Vec<bool>,
    queue: VecDeque<usize>,
}

impl Search {
    fn new(flow: &Flow) -> Self {
        let judges = flow.by_judge.len();
        let (unvisited, seen) = ((0..judges).collect(), vec![false; flow.by_entry.len()]);
        Self { steps: vec![None; judges], unvisited, seen, queue: VecDeque::new() }
    }

    /// Reaches every judge whom the entry could have and who was not reached before.
    fn visit_from(&mut self, flow: &Flow, entry: usize, from: Option<usize>) {
        if std::mem::replace(&mut self.seen[entry], true) {
            return;
        }
        let Self { steps, unvisited, queue, .. } = self;
        unvisited.retain(|judge| {
            let reached = flow.can_add(entry, *judge);
            if reached {
                steps[*judge] = Some((entry, from));
                queue.push_back(*judge);
            }
            !reached
        });
    }

    fn cut(&self) -> Cut {
        let entries = (0..self.seen.len()).filter(|entry| self.seen[*entry]).collect();
        Cut { entries, judges: (0..self.steps.len()).filter(|judge| self.steps[*judge].is_some()).collect() }
    }
}
