//! Random under balance: every entry, in random order, gets the judges with the fewest entries, ties by chance.
//!
//! Where that gets stuck, augmenting paths repair it; then loads are made as even as the limits allow. Balance with
//! chance keeps comparisons between entries almost as precise as any design could (rotation does not).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::conflict::Conflict;
use crate::flow::Flow;
use crate::problem::{Pair, Problem};

/// A random plan with the kept pairs, ascending; loads differ by at most one where the limits allow.
pub fn random(problem: &Problem) -> Result<Vec<Pair>, Conflict> {
    let mut flow = Flow::new(problem);
    let mut chance = ChaCha8Rng::seed_from_u64(problem.seed);
    let mut order: Vec<(u64, usize)> = (0..problem.entries.len()).map(|entry| (chance.next_u64(), entry)).collect();
    order.sort_unstable();
    let mut free: Vec<(usize, u32, usize)> = Vec::with_capacity(problem.judges.len());
    for (_, entry) in order {
        let wanted = flow.wanted[entry];
        if wanted == 0 {
            continue;
        }
        free.clear();
        for judge in 0..problem.judges.len() {
            let load = flow.load(judge);
            if load < flow.judge_bounds[judge].1 && flow.permissions.allow(entry, judge) {
                free.push((load + flow.kept_loads[judge], chance.next_u32(), judge));
            }
        }
        if free.len() > wanted {
            free.select_nth_unstable(wanted - 1);
        }
        for &(_, _, judge) in free.iter().take(wanted) {
            flow.add(entry, judge);
        }
    }
    finish(problem, &mut flow)
}

/// Completes and levels what was begun.
fn finish(problem: &Problem, flow: &mut Flow) -> Result<Vec<Pair>, Conflict> {
    flow.complete().map_err(|demand| Conflict::of(problem, demand))?;
    flow.level();
    let mut plan: Vec<Pair> = flow.pairs().chain(problem.kept.iter().copied()).collect();
    plan.sort_unstable();
    Ok(plan)
}
