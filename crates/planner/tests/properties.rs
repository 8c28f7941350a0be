//! Planners against every possible plan of small problems.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use planner::{Affinity, Conflict, Entry, Judge, Pair, Problem, Rule, check, exact, max_min, random, report, total};
use proptest::prelude::*;

const ENTRIES: usize = 3;
const JUDGES: usize = 4;

/// Every set of pairs, by its bits, that is a plan.
fn all_plans(problem: &Problem) -> impl Iterator<Item = Vec<Pair>> + '_ {
    let plan = |bits: u32| -> Vec<Pair> {
        let chosen = (0..ENTRIES * JUDGES).filter(|place| bits >> place & 1 == 1);
        chosen.map(|place| (place / JUDGES, place % JUDGES)).collect()
    };
    (0..1_u32 << (ENTRIES * JUDGES)).map(plan).filter(|plan| check(problem, plan).is_ok())
}

prop_compose! {
    fn problems()(
        entries in prop::collection::vec((0..3_usize, 0..2_u32, prop::collection::vec(-3..9_i32, JUDGES)), ENTRIES),
        judges in prop::collection::vec((0..2_usize, 0..4_usize, prop::option::weighted(0.3, 0..2_u32)), JUDGES),
        forbidden in prop::collection::vec((0..ENTRIES, 0..JUDGES), 0..5),
        kept in prop::collection::btree_set((0..ENTRIES, 0..JUDGES), 0..2),
        seed in any::<u64>(),
    ) -> Problem {
        let entry = |(wanted, group, row): (usize, u32, Vec<i32>)| Entry {
            wanted,
            group,
            affinities: (0..).zip(row).map(|(judge, weight)| Affinity { judge, weight }).collect(),
        };
        let judge = |(at_least, more, group): (usize, usize, Option<u32>)| Judge {
            at_least,
            at_most: at_least + more,
            groups: group.map(|group| vec![group]),
        };
        Problem {
            entries: entries.into_iter().map(entry).collect(),
            judges: judges.into_iter().map(judge).collect(),
            forbidden,
            kept: kept.into_iter().collect(),
            seed,
        }
    }
}

/// The problem with only the conflict's bounds; what is let go may have any number.
fn has_plan_of(problem: &Problem, conflict: &Conflict) -> bool {
    let holds = |rule| conflict.rules.contains(&rule);
    let mut free = problem.clone();
    if !holds(Rule::Forbidden) {
        free.forbidden.clear();
        free.judges.iter_mut().for_each(|judge| judge.groups = None);
    }
    for (index, judge) in free.judges.iter_mut().enumerate() {
        let named = conflict.judges.contains(&index);
        judge.at_least = if named && holds(Rule::Min) { judge.at_least } else { 0 };
        judge.at_most = if named && holds(Rule::Max) { judge.at_most } else { ENTRIES };
    }
    let bound = |entry: &usize| holds(Rule::PerEntry) && conflict.entries.contains(entry);
    let loose: Vec<usize> = (0..ENTRIES).filter(|entry| !bound(entry)).collect();
    // Every number of judges for the entries that are let go.
    (0..(JUDGES + 1).pow(u32::try_from(loose.len()).unwrap())).any(|mut code| {
        let mut tried = free.clone();
        for entry in &loose {
            tried.entries[*entry].wanted = code % (JUDGES + 1);
            code /= JUDGES + 1;
        }
        random(&tried).is_ok()
    })
}

fn without<T: Clone>(list: &[T], index: usize) -> Vec<T> {
    let mut fewer = list.to_vec();
    fewer.remove(index);
    fewer
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_found_when_one_exists_and_the_exact_one_is_the_best(problem in problems()) {
        let best = all_plans(&problem).map(|plan| total(&problem, &plan)).max();
        let spread = |plan: &[Pair]| -> usize {
            report(&problem, plan, false).loads.into_iter().map(|load| load * load).sum()
        };
        match (random(&problem), exact(&problem)) {
            (Ok(random), Ok(exact)) => {
                prop_assert_eq!(check(&problem, &random), Ok(()));
                prop_assert_eq!(check(&problem, &exact), Ok(()));
                prop_assert_eq!(Some(total(&problem, &exact)), best);
                let evenest = all_plans(&problem).map(|plan| spread(&plan)).min();
                prop_assert_eq!(Some(spread(&random)), evenest);
            }
            (Err(random), Err(_)) => prop_assert!(best.is_none(), "{random} but {best:?}"),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn the_weakest_assignment_is_as_strong_as_it_can_be(problem in problems()) {
        let worst = |plan: &[Pair]| {
            let added = plan.iter().filter(|pair| !problem.kept.contains(pair));
            added.map(|pair| problem.entries[pair.0].affinities[pair.1].weight).min()
        };
        if let Ok(plan) = max_min(&problem) {
            prop_assert_eq!(check(&problem, &plan), Ok(()));
            let best = all_plans(&problem).map(|plan| (worst(&plan), total(&problem, &plan))).max();
            prop_assert_eq!(Some((worst(&plan), total(&problem, &plan))), best);
        }
    }

    #[test]
    fn a_conflict_is_impossible_and_without_any_of_its_members_possible(problem in problems()) {
        if let Err(conflict) = random(&problem) {
            prop_assert!(!has_plan_of(&problem, &conflict));
            for index in 0..conflict.entries.len() {
                let entries = without(&conflict.entries, index);
                let rest = Conflict { entries, ..conflict.clone() };
                prop_assert!(has_plan_of(&problem, &rest));
            }
            for index in 0..conflict.judges.len() {
                let judges = without(&conflict.judges, index);
                let rest = Conflict { judges, ..conflict.clone() };
                prop_assert!(has_plan_of(&problem, &rest));
            }
            for index in 0..conflict.rules.len() {
                let rules = without(&conflict.rules, index);
                let rest = Conflict { rules, ..conflict.clone() };
                prop_assert!(has_plan_of(&problem, &rest));
            }
        }
    }
}
