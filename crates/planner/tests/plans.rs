//! What holds of plans at large, of reports and of panels.

use planner::{Entry, Judge, Member, Pair, Problem, check, panel, random, report};

fn problem(entries: usize, judges: usize, wanted: usize) -> Problem {
    let judge = Judge { at_least: 0, at_most: entries, groups: None };
    let entries = vec![Entry { wanted, ..Entry::default() }; entries];
    Problem { entries, judges: vec![judge; judges], seed: 1, ..Problem::default() }
}

#[test]
fn chance_under_balance_makes_comparisons_almost_as_precise_as_the_bound() {
    let problem = problem(1_000, 50, 3);
    let plan = random(&problem).unwrap();
    let report = report(&problem, &plan, false);
    assert_eq!((report.components, report.bridges), (1, Vec::new()));
    assert!(report.loads.iter().all(|load| *load == 60));
    assert!(report.inflation.is_some_and(|factor| factor < 1.03), "{:?}", report.inflation);
}

#[test]
fn another_seed_is_another_plan_and_the_same_seed_the_same() {
    let problem = problem(30, 10, 3);
    assert_eq!(random(&problem), random(&problem));
    assert_ne!(random(&problem), random(&Problem { seed: 2, ..problem.clone() }));
}

#[test]
fn panels_that_share_no_judge_cannot_be_compared() {
    let mut problem = problem(20, 6, 2);
    problem.entries.iter_mut().skip(10).for_each(|entry| entry.group = 1);
    for (judge, group) in problem.judges.iter_mut().zip([0, 0, 0, 1, 1, 1]) {
        judge.groups = Some(vec![group]);
    }
    let plan = random(&problem).unwrap();
    assert_eq!(check(&problem, &plan), Ok(()));
    let report = report(&problem, &plan, false);
    assert_eq!((report.components, report.inflation), (2, None));
}

#[test]
fn an_assignment_that_alone_holds_two_parts_together_is_a_bridge() {
    // Two squares, entries 0, 1 of judges 0, 1 and entries 2, 3 of judges 2, 3, and one assignment between them.
    let squares: Vec<Pair> = vec![(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3)];
    let joined = [squares.clone(), vec![(1, 2)]].concat();
    assert_eq!(report(&problem(4, 4, 2), &squares, false).components, 2);
    let report = report(&problem(4, 4, 2), &joined, false);
    assert_eq!((report.components, report.bridges), (1, vec![(1, 2)]));
}

#[test]
fn the_inflation_of_a_chain_is_that_worked_out_by_hand() {
    // Entries 0 and 1 share judge 0, entry 1 alone has judge 1: a difference of one pair of scores, variance 2, where
    // known severities would give 1 + 1/2.
    let report = report(&problem(2, 2, 1), &[(0, 0), (1, 0), (1, 1)], false);
    assert_eq!(report.inflation, Some(1.333_333));
}

#[test]
fn a_panel_does_not_depend_on_the_order_and_keeps_begun_sheets() {
    let keys: Vec<[u8; 1]> = (0..6).map(|key| [key]).collect();
    let members = |cap| -> Vec<Member> { keys.iter().map(|key| Member { key, cap }).collect() };
    let (entries, judges) = (members(2), members(3));
    let permitted = |entry: &[u8], judge: &[u8]| entry != judge;
    let plan = panel(b"north", &entries, &judges, &[], permitted);
    let reversed: Vec<Member> = judges.iter().rev().copied().collect();
    assert_eq!(plan, panel(b"north", &entries, &reversed, &[], permitted));
    assert_ne!(plan, panel(b"south", &entries, &judges, &[], permitted));
    assert!(plan.iter().all(|(entry, judge)| entry != judge));
    let left_out = keys.iter().find(|key| key[0] > 0 && !plan.contains(&(&keys[0], *key))).unwrap();
    let begun = [(&keys[0][..], &left_out[..]), (&keys[1][..], &keys[1][..])];
    let with_begun = panel(b"north", &entries, &judges, &begun, permitted);
    assert!(with_begun.contains(&begun[0]) && !with_begun.contains(&begun[1]));
}
