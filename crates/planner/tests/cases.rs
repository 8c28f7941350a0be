//! The published cases of assignment: every expected value.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use planner::{Affinity, Entry, Judge, Pair, Problem, check, exact, max_min, total};
use serde_json::Value;

/// Weights are in hundredths.
const SCALE: f64 = 100.0;

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[allow(clippy::cast_possible_truncation)]
fn problem(rows: &Value, per_entry: &Value, cap: &Value, conflict: Option<&Value>, scale: f64) -> Problem {
    let rows = rows.as_array().unwrap();
    let weigh = |(judge, weight): (u32, &Value)| {
        let weight = (weight.as_f64().unwrap() * scale).round() as i32;
        Affinity { judge, weight }
    };
    let entry = |row: &Value| Entry {
        wanted: number(per_entry),
        affinities: (0..).zip(row.as_array().unwrap()).map(weigh).collect(),
        ..Entry::default()
    };
    let judge = |_: &Value| Judge { at_least: 0, at_most: number(cap), groups: None };
    let is_conflict = |&(entry, judge): &Pair| conflict.is_some_and(|rows| rows[entry][judge] == true);
    let judges: Vec<Judge> = rows[0].as_array().unwrap().iter().map(judge).collect();
    let pairs = (0..rows.len()).flat_map(|entry| (0..judges.len()).map(move |judge| (entry, judge)));
    let forbidden = pairs.filter(is_conflict).collect();
    Problem { entries: rows.iter().map(entry).collect(), judges, forbidden, ..Problem::default() }
}

fn cases(method: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("cases/10-assignment.json")).unwrap();
    let chosen: Vec<Value> = all.into_iter().filter(|case| case["method"] == method).collect();
    for case in &chosen {
        println!("case {}", case["id"]);
    }
    chosen
}

#[test]
#[allow(clippy::cast_precision_loss)]
fn the_greatest_sum_and_the_best_worst_differ_as_published() {
    for case in cases("assignment_sum_vs_maxmin") {
        let input = &case["input"];
        let problem =
            problem(&input["similarity_rows_papers"], &input["per_paper"], &input["per_reviewer"], None, SCALE);
        for (plan, expected) in [(exact(&problem), "max_sum"), (max_min(&problem), "max_min")] {
            let plan = plan.unwrap();
            assert_eq!(check(&problem, &plan), Ok(()));
            let of_entry = |entry| plan.iter().copied().filter(|pair| pair.0 == entry).collect::<Vec<Pair>>();
            let worst = (0..problem.entries.len()).map(|entry| total(&problem, &of_entry(entry))).min().unwrap();
            let close = |value: i64, key: &str| {
                let expected = case["expected"][expected][key].as_f64().unwrap();
                assert!((value as f64 / SCALE - expected).abs() < 1e-9, "{key}: {value} for {expected}");
            };
            close(total(&problem, &plan), "sum");
            close(worst, "worst");
        }
    }
}

#[test]
fn the_least_cost_is_as_published_and_null_is_impossible() {
    for case in cases("min_cost_assignment") {
        for (input, expected) in case["input"].as_array().unwrap().iter().zip(case["expected"].as_array().unwrap()) {
            let conflict = Some(&input["conflict"]);
            let problem =
                problem(&input["cost_rows_entries"], &input["per_entry"], &input["judge_capacity"], conflict, -1.0);
            match exact(&problem) {
                Ok(plan) => {
                    assert_eq!(check(&problem, &plan), Ok(()));
                    assert_eq!(Some(-total(&problem, &plan)), expected.as_i64());
                }
                Err(found) => {
                    assert!(expected.is_null(), "{found}");
                    assert!(!found.entries.is_empty());
                }
            }
        }
    }
}
