//! The plan of the greatest total affinity, exactly, and the one whose weakest assignment is the strongest.
//!
//! A minimum-cost flow by successive shortest paths (Ahuja, Magnanti and Orlin, Network Flows, 9.7), contracted over
//! judges: every entry begins with the judges that suit it best, whatever their limits, and then leaves judges that have
//! too many. Between two judges only the cheapest move of one entry counts. A costless node after the judges stands for
//! their limits. Plans of equal totals are told apart by a small cost of chance, too small to change a total.

use std::collections::BTreeSet;

use crate::conflict::Conflict;
use crate::flow::{Bounds, Flow};
use crate::problem::{MAX_WEIGHT, Pair, Permissions, Problem};

const NEVER: i64 = i64::MAX / 4;
/// Costs of chance are below this.
const CHANCE: i64 = 256;

/// The plan of the greatest sum of weights, with the kept pairs, ascending. For costs, negate them.
pub fn exact(problem: &Problem) -> Result<Vec<Pair>, Conflict> {
    let mut flow = Flow::new(problem);
    flow.complete().map_err(|demand| Conflict::of(problem, demand))?;
    let mut network = Network::new(problem, flow);
    while let Some(source) = network.source() {
        let Some(path) = network.shortest_path(source) else { break };
        network.augment(&path);
    }
    let judges = network.by_entry.iter().enumerate();
    let added = judges.flat_map(|(entry, judges)| judges.iter().map(move |judge| (entry, *judge)));
    let mut plan: Vec<Pair> = added.chain(problem.kept.iter().copied()).collect();
    plan.sort_unstable();
    Ok(plan)
}

/// The plan whose least weight of an added pair is the greatest, and of those the one of the greatest sum.
pub fn max_min(problem: &Problem) -> Result<Vec<Pair>, Conflict> {
    let rows: Vec<Vec<i32>> = (0..problem.entries.len()).map(|entry| weights(problem, entry)).collect();
    let levels: Vec<i32> = rows.iter().flatten().copied().collect::<BTreeSet<i32>>().into_iter().collect();
    let at_least = |level: i32| {
        let mut stricter = problem.clone();
        for (entry, row) in rows.iter().enumerate() {
            let weak = row.iter().enumerate().filter(|(_, weight)| **weight < level);
            stricter.forbidden.extend(weak.map(|(judge, _)| (entry, judge)));
        }
        stricter
    };
    let reached = levels.partition_point(|level| Flow::new(&at_least(*level)).complete().is_ok());
    match reached.checked_sub(1) {
        Some(index) => exact(&at_least(levels[index])),
        None => exact(problem),
    }
}

/// The sum of the weights of a plan.
pub fn total(problem: &Problem, plan: &[Pair]) -> i64 {
    let mut row = (usize::MAX, Vec::new());
    let weight = |&(entry, judge): &Pair| {
        if row.0 != entry {
            row = (entry, weights(problem, entry));
        }
        i64::from(row.1[judge])
    };
    plan.iter().map(weight).sum()
}

fn weights(problem: &Problem, entry: usize) -> Vec<i32> {
    let mut row = vec![0; problem.judges.len()];
    for affinity in &problem.entries[entry].affinities {
        if let Some(weight) = row.get_mut(affinity.judge as usize) {
            *weight = affinity.weight.clamp(-MAX_WEIGHT, MAX_WEIGHT);
        }
    }
    row
}

struct Network {
    permissions: Permissions,
    bounds: Vec<Bounds>,
    by_entry: Vec<Vec<usize>>,
    /// By judge, the entries and what each costs there.
    by_judge: Vec<Vec<(usize, i64)>>,
    /// By entry, all weights or those that are not zero, ascending by judge.
    weights: Vec<Vec<(u32, i32)>>,
    scale: i64,
    seed: u64,
    /// What flows from each judge through the node of limits.
    through: Vec<usize>,
    wanted: usize,
    /// The least cost of moving an entry from one judge to another, the square of judges row by row.
    costs: Vec<i64>,
    /// Which entry that is.
    movers: Vec<usize>,
    potentials: Vec<i64>,
}

impl Network {
    fn new(problem: &Problem, flow: Flow) -> Self {
        let count = problem.judges.len();
        let wanted: usize = flow.wanted.iter().sum();
        let sparse = |entry| {
            let row = weights(problem, entry);
            let is_dense = row.iter().filter(|weight| **weight != 0).count() * 2 > count;
            (0_u32..).zip(row).filter(|(_, weight)| is_dense || *weight != 0).collect()
        };
        let mut network = Self {
            permissions: flow.permissions,
            bounds: flow.judge_bounds,
            by_entry: vec![Vec::new(); problem.entries.len()],
            by_judge: vec![Vec::new(); count],
            weights: (0..problem.entries.len()).map(sparse).collect(),
            scale: CHANCE * i64::try_from(wanted + 1).unwrap_or(NEVER / CHANCE),
            seed: problem.seed,
            through: vec![0; count],
            wanted,
            costs: vec![NEVER; count * count],
            movers: vec![usize::MAX; count * count],
            potentials: vec![0; count + 1],
        };
        let mut row = Vec::new();
        for (entry, wanted) in flow.wanted.iter().enumerate().filter(|(_, wanted)| **wanted > 0) {
            network.fill_row(entry, &mut row);
            let mut judges: Vec<usize> = (0..count).collect();
            judges.select_nth_unstable_by_key(wanted - 1, |judge| (row[*judge], *judge));
            judges.truncate(*wanted);
            for judge in &judges {
                network.by_judge[*judge].push((entry, row[*judge]));
            }
            network.by_entry[entry] = judges;
            for judge in network.by_entry[entry].clone() {
                network.offer_moves(entry, judge, &row);
            }
        }
        for (judge, (least, most)) in network.bounds.iter().enumerate() {
            network.through[judge] = network.by_judge[judge].len().clamp(*least, (*most).max(*least));
        }
        network
    }

    /// The cost of every judge for the entry; never for those who are not permitted.
    fn fill_row(&self, entry: usize, row: &mut Vec<i64>) {
        row.clear();
        row.extend((0..self.by_judge.len()).map(|judge| self.chance(entry, judge)));
        for (judge, weight) in &self.weights[entry] {
            row[*judge as usize] -= i64::from(*weight) * self.scale;
        }
        for (judge, cost) in row.iter_mut().enumerate() {
            if !self.permissions.allow(entry, judge) {
                *cost = NEVER;
            }
        }
    }

    fn cost(&self, entry: usize, judge: usize) -> i64 {
        if !self.permissions.allow(entry, judge) {
            return NEVER;
        }
        let row = &self.weights[entry];
        let weight = if row.len() == self.by_judge.len() {
            row[judge].1
        } else {
            row.binary_search_by_key(&judge, |(judge, _)| *judge as usize).map_or(0, |index| row[index].1)
        };
        self.chance(entry, judge) - i64::from(weight) * self.scale
    }

    /// The finishing step of `SplitMix64` (Steele, Lea and Flood 2014) over seed, entry and judge.
    fn chance(&self, entry: usize, judge: usize) -> i64 {
        let place = (entry * self.by_judge.len() + judge) as u64;
        let mut bits = self.seed.wrapping_add((place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::from((bits >> 56) as u8)
    }

    /// Counts the entry among the moves from one of its judges.
    fn offer_moves(&mut self, entry: usize, judge: usize, row: &[i64]) {
        let start = judge * row.len();
        for (to, cost) in row.iter().enumerate() {
            let best = &mut self.costs[start + to];
            if *cost < NEVER && cost - row[judge] < *best && !self.by_entry[entry].contains(&to) {
                *best = cost - row[judge];
                self.movers[start + to] = entry;
            }
        }
    }

    /// Looks for the cheapest move between two judges anew, if it was that entry's.
    fn withdraw(&mut self, entry: usize, from: usize, to: usize) {
        let index = from * self.by_judge.len() + to;
        if self.movers[index] != entry {
            return;
        }
        let mut best = (NEVER, usize::MAX);
        for &(other, here) in &self.by_judge[from] {
            let there = self.cost(other, to);
            if there < NEVER && there - here < best.0 && !self.by_entry[other].contains(&to) {
                best = (there - here, other);
            }
        }
        (self.costs[index], self.movers[index]) = best;
    }

    /// A node that has more than flows on.
    fn source(&self) -> Option<usize> {
        let judges = 0..self.by_judge.len();
        let limits = self.through.iter().sum::<usize>() > self.wanted;
        let over = judges.clone().find(|judge| self.by_judge[*judge].len() > self.through[*judge]);
        over.or(limits.then_some(judges.end))
    }

    fn lacks(&self, node: usize, through_all: usize) -> bool {
        match self.through.get(node) {
            Some(through) => self.by_judge[node].len() < *through,
            None => through_all < self.wanted,
        }
    }

    /// Dijkstra's algorithm over a dense graph, to the nearest node that lacks something: that path, source first.
    fn shortest_path(&mut self, source: usize) -> Option<Vec<usize>> {
        let limits = self.by_judge.len();
        let through_all = self.through.iter().sum();
        let (mut distance, mut previous) = (vec![NEVER; limits + 1], vec![source; limits + 1]);
        let mut done = vec![false; limits + 1];
        distance[source] = 0;
        loop {
            let open = (0..=limits).filter(|node| !done[*node]);
            let node = open.min_by_key(|node| distance[*node]).filter(|node| distance[*node] < NEVER / 2)?;
            if self.lacks(node, through_all) {
                let end = distance[node];
                self.potentials.iter_mut().zip(&distance).for_each(|(potential, near)| *potential += *near.min(&end));
                let mut path = vec![node];
                while path.last() != Some(&source) {
                    path.push(previous[*path.last()?]);
                }
                path.reverse();
                return Some(path);
            }
            done[node] = true;
            // Reduced costs are never negative, so that nodes that are done stay as they are.
            let near = distance[node] + self.potentials[node];
            if node == limits {
                for (judge, through) in self.through.iter().enumerate().filter(|(judge, _)| !done[*judge]) {
                    if *through > self.bounds[judge].0 && near - self.potentials[judge] < distance[judge] {
                        (distance[judge], previous[judge]) = (near - self.potentials[judge], node);
                    }
                }
                continue;
            }
            let costs = &self.costs[node * limits..][..limits];
            for (((cost, potential), far), from) in
                costs.iter().zip(&self.potentials).zip(&mut distance).zip(&mut previous)
            {
                let through = near + cost - potential;
                *from = if through < *far { node } else { *from };
                *far = through.min(*far);
            }
            if self.through[node] < self.bounds[node].1 && near - self.potentials[limits] < distance[limits] {
                (distance[limits], previous[limits]) = (near - self.potentials[limits], node);
            }
        }
    }

    fn augment(&mut self, path: &[usize]) {
        let limits = self.by_judge.len();
        let mut moved = Vec::new();
        for step in path.windows(2) {
            match (step[0] == limits, step[1] == limits) {
                (_, true) => self.through[step[0]] += 1,
                (true, _) => self.through[step[1]] -= 1,
                _ => moved.push((self.movers[step[0] * limits + step[1]], step[0], step[1])),
            }
        }
        let mut row = Vec::new();
        for (entry, from, to) in moved {
            self.fill_row(entry, &mut row);
            self.by_judge[from].retain(|(other, _)| *other != entry);
            self.by_judge[to].push((entry, row[to]));
            self.by_entry[entry].retain(|other| *other != from);
            self.by_entry[entry].push(to);
            (0..limits).for_each(|judge| self.withdraw(entry, from, judge));
            for judge in self.by_entry[entry].clone() {
                self.withdraw(entry, judge, to);
                self.offer_moves(entry, judge, &row);
            }
        }
    }
}
