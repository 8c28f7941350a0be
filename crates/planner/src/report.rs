//! What a plan is worth: whether all entries can be compared, how precisely, and how the work is spread.
//!
//! - Components are those of the graph of judges and entries that have assignments; entries of two components cannot be
//!   compared once judges differ in severity.
//! - A bridge is an assignment without which its component falls apart (Tarjan 1974).
//! - Inflation is the mean variance of the difference of two entries when scores are entry plus judge plus noise and
//!   both are estimated by least squares, over that when judges' severities are known, which no plan attains.

use crate::exact::total;
use crate::problem::{Pair, Problem};

/// The report of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many components the graph has.
    pub components: usize,
    /// Assignments that alone hold a component together, ascending.
    pub bridges: Vec<Pair>,
    /// A factor of at least one, rounded to a millionth; none where there is not exactly one component, or one entry.
    pub inflation: Option<f64>,
    /// How many entries each judge has.
    pub loads: Vec<usize>,
    /// The sum of the weights.
    pub total: i64,
    /// Whether no plan has a greater sum of weights: the planner that made it is exact, or no weight is given.
    pub optimal: bool,
}

/// Reports on a whole plan, each pair once; memory and time grow with the square and the cube of the judges.
pub fn report(problem: &Problem, plan: &[Pair], is_exact: bool) -> Report {
    let mut loads = vec![0; problem.judges.len()];
    for pair in plan {
        loads[pair.1] += 1;
    }
    let (components, bridges) = connectivity(problem, plan);
    let no_weight = problem.entries.iter().flat_map(|entry| &entry.affinities).all(|affinity| affinity.weight == 0);
    let inflation = if components == 1 { inflation(problem, plan, &loads) } else { None };
    let total = total(problem, plan);
    Report { components, bridges, inflation, loads, total, optimal: is_exact || no_weight }
}

/// The number of components and the bridges, by depth-first search with the lowest node that each can come back to.
fn connectivity(problem: &Problem, plan: &[Pair]) -> (usize, Vec<Pair>) {
    let entries = problem.entries.len();
    let mut neighbours = vec![Vec::new(); entries + problem.judges.len()];
    for &(entry, judge) in plan {
        neighbours[entry].push(entries + judge);
        neighbours[entries + judge].push(entry);
    }
    // When each node was first seen, from one; zero before.
    let (mut seen, mut lowest, mut clock) = (vec![0_usize; neighbours.len()], vec![0_usize; neighbours.len()], 0);
    let (mut components, mut bridges) = (0, Vec::new());
    for root in 0..entries {
        if seen[root] > 0 || neighbours[root].is_empty() {
            continue;
        }
        components += 1;
        let mut stack = vec![(root, usize::MAX, 0)];
        while let Some((node, parent, place)) = stack.last_mut() {
            if *place == 0 && seen[*node] == 0 {
                clock += 1;
                (seen[*node], lowest[*node]) = (clock, clock);
            }
            let (from, above) = (*node, *parent);
            if let Some(&next) = neighbours[from].get(*place) {
                *place += 1;
                if seen[next] == 0 {
                    stack.push((next, from, 0));
                } else if next != above {
                    lowest[from] = lowest[from].min(seen[next]);
                }
                continue;
            }
            stack.pop();
            if above != usize::MAX {
                lowest[above] = lowest[above].min(lowest[from]);
                if lowest[from] > seen[above] {
                    bridges.push((from.min(above), from.max(above) - entries));
                }
            }
        }
    }
    bridges.sort_unstable();
    (components, bridges)
}

/// One plus tr(S⁻¹B) over the bound, of judges' information S and what their errors do to differences of entries, B;
/// the last judge's severity is the origin.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn inflation(problem: &Problem, plan: &[Pair], loads: &[usize]) -> Option<f64> {
    let judges: Vec<usize> = (0..loads.len()).filter(|judge| loads[*judge] > 0).collect();
    let mut place = vec![0; loads.len()];
    judges.iter().enumerate().for_each(|(index, judge)| place[*judge] = index);
    let mut by_entry = vec![Vec::new(); problem.entries.len()];
    for pair in plan {
        by_entry[pair.0].push(place[pair.1]);
    }
    by_entry.retain(|judges| !judges.is_empty());
    if by_entry.len() < 2 {
        return None;
    }
    let size = judges.len();
    let (mut information, mut spread) = (vec![vec![0.0; size]; size], vec![vec![0.0; size]; size]);
    let (mut sums, mut shares) = (vec![0.0; size], 0.0);
    for (index, judge) in judges.iter().enumerate() {
        information[index][index] = loads[*judge] as f64;
    }
    for judges in &by_entry {
        let share = 1.0 / judges.len() as f64;
        shares += share;
        for &one in judges {
            sums[one] += share;
            for &two in judges {
                information[one][two] -= share;
                spread[one][two] += share * share;
            }
        }
    }
    let entries = by_entry.len() as f64;
    for (row, one) in spread.iter_mut().zip(&sums) {
        row.iter_mut().zip(&sums).for_each(|(value, two)| *value -= one * two / entries);
    }
    let bound = (1.0 - 1.0 / entries) * shares;
    let value = 1.0 + trace_of_quotient(information, &spread, size - 1) / bound;
    Some((value * 1e6).round() / 1e6)
}

/// The trace of the inverse of a positive definite matrix times another, of their first rows and columns: by `LDLᵀ`.
fn trace_of_quotient(mut matrix: Vec<Vec<f64>>, other: &[Vec<f64>], size: usize) -> f64 {
    for row in 0..size {
        let (above, rest) = matrix.split_at_mut(row);
        let current = &mut rest[0];
        for column in 0..row {
            let known: f64 = (0..column).map(|index| current[index] * above[column][index]).sum();
            current[column] -= known;
        }
        for column in 0..row {
            let scaled = current[column] / above[column][column];
            current[row] -= current[column] * scaled;
            current[column] = scaled;
        }
    }
    let mut trace = 0.0;
    for column in 0..size {
        let mut solution: Vec<f64> = other[column][..size].to_vec();
        for row in 0..size {
            let known: f64 = (0..row).map(|index| matrix[row][index] * solution[index]).sum();
            solution[row] -= known;
        }
        solution.iter_mut().enumerate().for_each(|(row, value)| *value /= matrix[row][row]);
        for row in (column..size).rev() {
            let known: f64 = (row + 1..size).map(|index| matrix[index][row] * solution[index]).sum();
            solution[row] -= known;
        }
        trace += solution[column];
    }
    trace
}
