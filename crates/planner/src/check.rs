//! Whether a plan keeps every rule, told without any code of those that make plans.

use crate::problem::{Pair, Problem};

/// A rule that a plan breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The entry or the judge is not of the problem.
    Unknown(Pair),
    /// The pair stands twice.
    Twice(Pair),
    /// The pair is forbidden, or the judge lacks the entry's group, and it was not kept.
    Forbidden(Pair),
    /// A pair that was kept is missing.
    Dropped(Pair),
    /// The entry has this many judges instead of those that it wants.
    PerEntry(usize, usize),
    /// The judge has more entries than the most, and more than were kept.
    TooMany(usize, usize),
    /// The judge has fewer entries than the fewest.
    TooFew(usize, usize),
}

/// Checks a whole plan, kept pairs included, in any order; tells everything that is wrong.
pub fn check(problem: &Problem, plan: &[Pair]) -> Result<(), Vec<Broken>> {
    let mut broken = Vec::new();
    let mut sorted = plan.to_vec();
    sorted.sort_unstable();
    broken.extend(sorted.windows(2).filter(|two| two[0] == two[1]).map(|two| Broken::Twice(two[0])));
    let mut forbidden = problem.forbidden.clone();
    forbidden.sort_unstable();
    let mut kept = problem.kept.clone();
    kept.sort_unstable();
    for &pair in &sorted {
        let (Some(entry), Some(judge)) = (problem.entries.get(pair.0), problem.judges.get(pair.1)) else {
            broken.push(Broken::Unknown(pair));
            continue;
        };
        let outside = judge.groups.as_ref().is_some_and(|groups| !groups.contains(&entry.group));
        if (outside || forbidden.binary_search(&pair).is_ok()) && kept.binary_search(&pair).is_err() {
            broken.push(Broken::Forbidden(pair));
        }
    }
    broken.extend(kept.iter().filter(|pair| sorted.binary_search(pair).is_err()).map(|pair| Broken::Dropped(*pair)));
    let count = |pairs: &[Pair], of: fn(&Pair) -> usize, length: usize| {
        let mut counts = vec![0_usize; length];
        for pair in pairs.iter().filter(|pair| of(pair) < length) {
            counts[of(pair)] += 1;
        }
        counts
    };
    let kept_by_entry = count(&kept, |pair| pair.0, problem.entries.len());
    for (index, has) in count(&sorted, |pair| pair.0, problem.entries.len()).into_iter().enumerate() {
        if has != problem.entries[index].wanted.max(kept_by_entry[index]) {
            broken.push(Broken::PerEntry(index, has));
        }
    }
    let kept_by_judge = count(&kept, |pair| pair.1, problem.judges.len());
    for (index, has) in count(&sorted, |pair| pair.1, problem.judges.len()).into_iter().enumerate() {
        let judge = &problem.judges[index];
        if has > judge.at_most.max(kept_by_judge[index]) {
            broken.push(Broken::TooMany(index, has));
        }
        if has < judge.at_least {
            broken.push(Broken::TooFew(index, has));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}
