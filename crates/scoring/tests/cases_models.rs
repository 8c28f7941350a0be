//! Worked examples with published or twice computed answers. Every expected value of a case is held against ours within
//! the tolerance of the case.

#![allow(clippy::panic, clippy::unwrap_used)]

use scoring::agreement::{Scale, fleiss_kappa, intraclass_correlations, kendall_w, krippendorff_alpha};
use scoring::incidence::{Comparisons, Vertex, algebraic_connectivity, components};
use scoring::normalise::{Normalisation, normalise};
use scoring::paired::{
    Abilities, Contest, TiedContest, bradley_terry, bradley_terry_existence, bradley_terry_with_advantage,
    contests_of_wins, davidson,
};
use scoring::rasch::{Pattern, Slope, conditional, marginal};
use scoring::wilson::wilson_interval;
use scoring::{ModelError, Score, ScoreTable, least_squares, mixed};
use serde_json::{Map, Value, json};

/// The cases of a file that use one of these methods; there is at least one.
fn cases(file: &str, methods: &[&str]) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(file).unwrap();
    let chosen: Vec<Value> =
        all.into_iter().filter(|case| methods.contains(&case["method"].as_str().unwrap())).collect();
    assert!(!chosen.is_empty());
    for case in &chosen {
        println!("case {}", case["id"]);
    }
    chosen
}

/// Checks each case of these methods: `found` answers an input with what is expected and perhaps more.
fn check(file: &str, methods: &[&str], found: impl Fn(&Value) -> Value) {
    for case in cases(file, methods) {
        let tolerance = case["tolerance"].as_f64().unwrap();
        let published = case["published_tolerance"].as_f64().unwrap_or(tolerance);
        let name = case["id"].as_str().unwrap();
        let compared = compare(name, &case["expected"], &found(&case["input"]), (tolerance, published));
        assert!(compared > 0, "{name} compares nothing");
    }
}

/// Compares every leaf of what is expected, and returns how many there are. Members that begin with `published` have a
/// tolerance of their own, at least half a unit of the last digit that is printed, and show what `full_precision`
/// shows.
fn compare(place: &str, expected: &Value, found: &Value, tolerances: (f64, f64)) -> usize {
    let fraction = || Some(expected.get("num")?.as_f64()? / expected.get("den")?.as_f64()?);
    if let Some(number) = expected.as_f64().or_else(fraction) {
        let ours = found.as_f64().unwrap_or_else(|| panic!("{place}: {found} is not {number}"));
        let is_printed = place.split('/').any(|member| member.starts_with("published"));
        let text = expected.to_string();
        let decimals =
            text.split_once('.').filter(|_| is_printed).map(|(_, decimals)| i32::try_from(decimals.len()).unwrap());
        let tolerance = decimals.map_or(0.0, |decimals| 0.500_001 * 0.1_f64.powi(decimals)).max(tolerances.0);
        assert!((ours - number).abs() <= tolerance, "{place}: {ours} is not {number}");
        return 1;
    }
    match expected {
        Value::Object(members) => {
            let member = |(name, expected): (&String, &Value)| {
                let (found, tolerances) = match name.as_str() {
                    "published" => (found.get(name).unwrap_or(found), (tolerances.1, tolerances.1)),
                    "published_7_iterations" => (&found["mle"], (tolerances.1, tolerances.1)),
                    "full_precision" => (found.get(name).unwrap_or(found), tolerances),
                    _ => (found.get(name).unwrap_or_else(|| panic!("{place}: no {name}")), tolerances),
                };
                compare(&format!("{place}/{name}"), expected, found, tolerances)
            };
            members.iter().map(member).sum()
        }
        Value::Array(values) => {
            let found = found.as_array().unwrap_or_else(|| panic!("{place}: {found} is no list"));
            assert_eq!(values.len(), found.len(), "{place}");
            let pairs = values.iter().zip(found).enumerate();
            pairs.map(|(index, (value, found))| compare(&format!("{place}/{index}"), value, found, tolerances)).sum()
        }
        _ => {
            assert_eq!(expected, found, "{place}");
            1
        }
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().filter_map(Value::as_f64).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// A list of names or of numbers, as names.
fn names(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(name).collect()
}

fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn position(names: &[String], wanted: &str) -> usize {
    names.iter().position(|name| name == wanted).unwrap()
}

fn by_name(names: &[String], values: impl IntoIterator<Item = f64>) -> Value {
    names.iter().cloned().zip(values.into_iter().map(Value::from)).collect::<Map<_, _>>().into()
}

/// The answer to each input of a list.
fn each(inputs: &Value, found: impl Fn(&Value) -> Value) -> Value {
    inputs.as_array().unwrap().iter().map(found).collect()
}

#[test]
fn krippendorffs_alpha() {
    check(include_str!("cases/05-agreement.json"), &["krippendorff_alpha"], |input| {
        let coders: Vec<Vec<Option<f64>>> = (input["coders"].as_array().unwrap().iter())
            .map(|coder| coder.as_array().unwrap().iter().map(Value::as_f64).collect())
            .collect();
        let unit = |unit: usize| coders.iter().filter_map(|coder| coder[unit]).collect();
        let units: Vec<Vec<f64>> = (0..coders[0].len()).map(unit).collect();
        let alpha = |scale| krippendorff_alpha(&units, scale).unwrap().alpha;
        json!({
            "nominal": alpha(Scale::Nominal),
            "ordinal": alpha(Scale::Ordinal),
            "interval": alpha(Scale::Interval),
            "ratio": alpha(Scale::Ratio),
            "pairable_values": krippendorff_alpha(&units, Scale::Nominal).unwrap().pairable_values,
        })
    });
}

#[test]
fn intraclass_correlations_of_shrout_and_fleiss() {
    check(include_str!("cases/05-agreement.json"), &["icc"], |input| {
        let found = intraclass_correlations(&rows(&input["rows_targets_cols_judges"])).unwrap();
        let [[first, second, third], [first_mean, second_mean, third_mean]] = [found.single, found.average];
        json!({
            "BMS": found.between, "WMS": found.within, "JMS": found.judges, "EMS": found.error,
            "ICC1": first, "ICC2": second, "ICC3": third,
            "ICC1k": first_mean, "ICC2k": second_mean, "ICC3k": third_mean,
        })
    });
}

#[test]
fn fleiss_kappa_of_categories() {
    check(include_str!("cases/05-agreement.json"), &["fleiss_kappa"], |input| {
        let counts: Vec<Vec<u32>> = serde_json::from_value(input["counts"].clone()).unwrap();
        let found = fleiss_kappa(&counts).unwrap();
        json!({
            "kappa": found.kappa, "P_bar": found.observed, "P_e": found.chance,
            "per_category": found.per_category, "z": found.z,
        })
    });
}

#[test]
fn kendalls_w_with_ties() {
    check(include_str!("cases/05-agreement.json"), &["kendall_w"], |input| {
        let found = kendall_w(&rows(&input["rows_subjects_cols_raters"])).unwrap();
        json!({
            "W_uncorrected": found.uncorrected, "W_tie_corrected": found.corrected,
            "chi2": found.chi_square, "df": found.degrees_of_freedom, "p": found.p,
        })
    });
}

#[test]
fn bradley_terry_with_and_without_home_advantage() {
    fn shown(abilities: &Abilities) -> Map<String, Value> {
        let reference = abilities.log_ability.len() - 1;
        let shown = json!({
            "log_ability_ref_Baltimore": abilities.relative_to(reference),
            "se": abilities.standard_errors(reference),
            "normalised": abilities.worth(),
            "deviance": abilities.deviance,
            "df": abilities.degrees_of_freedom,
            "home": abilities.further,
        });
        shown.as_object().unwrap().clone()
    }
    check(include_str!("cases/06-paired-comparison.json"), &["bradley_terry(+home)"], |input| {
        let (home, away) = (rows(&input["home_wins_row_home_col_away"]), rows(&input["away_wins_row_home_col_away"]));
        let items = home.len();
        let contest = |first: usize, second: usize| {
            let (first_wins, second_wins) = (home[first][second], away[first][second]);
            Contest { first, second, first_wins, second_wins }
        };
        let pairs = (0..items).flat_map(|first| (0..items).map(move |second| (first, second)));
        let contests: Vec<Contest> =
            pairs.filter(|(first, second)| first != second).map(|(first, second)| contest(first, second)).collect();
        let mut found = shown(&bradley_terry(items, &contests, 0.0).unwrap());
        let with_home = bradley_terry_with_advantage(items, &contests, 0.0).unwrap();
        found.insert("home_model".to_owned(), shown(&with_home).into());
        let wins = contests_of_wins(&rows(&input["wins_row_over_col"])).unwrap();
        let added_up = bradley_terry(items, &wins, 0.0).unwrap();
        compare("added up", &found["log_ability_ref_Baltimore"], &json!(added_up.relative_to(items - 1)), (1e-10, 0.0));
        found.into()
    });
}

#[test]
fn ties_by_davidson() {
    check(include_str!("cases/06-paired-comparison.json"), &["bradley_terry_davidson_ties"], |input| {
        let pairs = input["pairs"].as_array().unwrap();
        let at = |pair: &Value, member: &str| usize::try_from(pair[member].as_u64().unwrap()).unwrap() - 1;
        let contest = |pair: &Value| TiedContest {
            first: at(pair, "i"),
            second: at(pair, "j"),
            first_wins: pair["w_ij"].as_f64().unwrap(),
            second_wins: pair["w_ji"].as_f64().unwrap(),
            ties: pair["ties"].as_f64().unwrap(),
        };
        let contests: Vec<TiedContest> = pairs.iter().map(contest).collect();
        let items = contests.iter().map(|contest| contest.first.max(contest.second) + 1).max().unwrap();
        let fitted = davidson(items, &contests, 0.0).unwrap();
        let deviance = -2.0 * fitted.log_likelihood;
        json!({"mle": {"worth": fitted.worth(), "nu": fitted.further, "deviance": deviance}})
    });
}

#[test]
fn a_likelihood_without_a_maximum_is_recognised() {
    check(include_str!("cases/06-paired-comparison.json"), &["bradley_terry"], |input| {
        each(input, |input| {
            let wins = rows(&input["wins_row_over_col"]);
            let contests = contests_of_wins(&wins).unwrap();
            let existence = bradley_terry_existence(wins.len(), &contests).unwrap();
            let mut found = json!({"exists": existence.exists(), "strong_components": existence.strong_components});
            if existence.disconnected {
                found["reason"] = "disconnected".into();
            }
            match bradley_terry(wins.len(), &contests, 0.0) {
                Ok(abilities) => found["log_ability"] = json!(abilities.log_ability),
                Err(error) => assert!(matches!(error, ModelError::NoMaximum { .. }), "{error}"),
            }
            assert_eq!(existence.exists(), found.get("log_ability").is_some());
            found
        })
    });
}

#[test]
fn additive_least_squares() {
    check(include_str!("cases/07-least-squares.json"), &["additive_least_squares"], |input| {
        let (entries, judges) = (names(&input["entries"]), names(&input["judges"]));
        let score = |score: &Value| Score {
            entry: position(&entries, &name(&score["entry"])),
            judge: position(&judges, &name(&score["judge"])),
            value: score["y"].as_f64().unwrap(),
        };
        let table = ScoreTable::new(input["scores"].as_array().unwrap().iter().map(score).collect()).unwrap();
        let fitted = least_squares::fit(&table).unwrap();
        json!({
            "entry_effect_sum_zero": by_name(&entries, fitted.entry_effects.clone()),
            "judge_effect_sum_zero": by_name(&judges, fitted.judge_effects.clone()),
            "grand": fitted.grand,
            "adjusted_mean": by_name(&entries, (0..entries.len()).map(|entry| fitted.adjusted_mean(entry))),
            "raw_mean": by_name(&entries, table.entry_means(|_, value| value)),
            "ss": {
                "total": fitted.sums.total,
                "judges_unadjusted": fitted.sums.judges_unadjusted,
                "entries_adjusted": fitted.sums.entries_adjusted,
                "error": fitted.sums.error,
            },
            "F0": fitted.entry_test.map(|test| test.statistic),
            "residual_df": fitted.residual_degrees_of_freedom,
            "var_of_difference": fitted.variance_of_difference(0, 1),
        })
    });
}

#[test]
fn the_graph_of_entries_and_judges() {
    check(include_str!("cases/07-least-squares.json"), &["incidence_graph"], |input| {
        each(input, |input| {
            let edges: Vec<Vec<String>> = serde_json::from_value(input["edges"].clone()).unwrap();
            let sorted = |column: usize| -> Vec<String> {
                let mut names: Vec<String> = edges.iter().map(|edge| edge[column].clone()).collect();
                names.sort();
                names.dedup();
                names
            };
            let (entries, judges) = (sorted(0), sorted(1));
            let score = |edge: &Vec<String>| Score {
                entry: position(&entries, &edge[0]),
                judge: position(&judges, &edge[1]),
                value: 0.0,
            };
            let table = ScoreTable::new(edges.iter().map(score).collect()).unwrap();
            let found = components(&table);
            let members = |names: &[String], groups: &[usize], group: usize| -> Vec<String> {
                names.iter().zip(groups).filter(|(_, other)| **other == group).map(|(name, _)| name.clone()).collect()
            };
            let of =
                |group| [members(&entries, &found.entries, group), members(&judges, &found.judges, group)].concat();
            let mut shown = json!({
                "components": found.count,
                "algebraic_connectivity": algebraic_connectivity(&table),
                "groups": (0..found.count).map(of).collect::<Vec<_>>(),
                "comparable": (0..found.count).map(|group| members(&entries, &found.entries, group)).collect::<Vec<_>>(),
            });
            let comparisons = Comparisons::new(&table).unwrap();
            for (first, from) in entries.iter().enumerate() {
                for (second, to) in entries.iter().enumerate() {
                    match comparisons.effective_resistance(Vertex::Entry(first), Vertex::Entry(second)) {
                        Ok(resistance) => shown[format!("reff_{from}_{to}")] = resistance.into(),
                        Err(error) => {
                            assert_eq!(error, ModelError::NotConnected(found.count));
                            shown["cross_comparison"] = "refused".into();
                        }
                    }
                }
            }
            shown
        })
    });
}

#[test]
fn crossed_random_effects_by_restricted_likelihood() {
    check(include_str!("cases/08-mixed-model.json"), &["crossed_random_effects_REML"], |input| {
        let (entries, judges) = (names(&input["entries"]), names(&input["judges"]));
        let mut scores = Vec::new();
        for (entry, row) in input["rows_entries_cols_judges"].as_array().unwrap().iter().enumerate() {
            for (judge, value) in row.as_array().unwrap().iter().enumerate() {
                scores.extend(value.as_f64().map(|value| Score { entry, judge, value }));
            }
        }
        let fitted = mixed::fit(&ScoreTable::new(scores).unwrap()).unwrap();
        json!({
            "REML": fitted.criterion,
            "sd_entry": fitted.entry_variance.sqrt(),
            "sd_judge": fitted.judge_variance.sqrt(),
            "sd_residual": fitted.residual_variance.sqrt(),
            "intercept": fitted.intercept,
            "entry_shrinkage": fitted.entry_shrinkage[0],
            "entry_blup": by_name(&entries, fitted.entry_effects),
            "judge_blup": by_name(&judges, fitted.judge_effects),
        })
    });
}

#[test]
fn the_model_of_rasch() {
    check(include_str!("cases/09-rasch.json"), &["rasch_dichotomous"], |input| {
        let pattern = |pattern: &Value| Pattern {
            answers: (pattern["x"].as_array().unwrap().iter())
                .map(|answer| answer.as_u64().map(|one| one == 1))
                .collect(),
            persons: u32::try_from(pattern["n"].as_u64().unwrap()).unwrap(),
        };
        let patterns: Vec<Pattern> = input["patterns"].as_array().unwrap().iter().map(pattern).collect();
        let of_slope = |slope| {
            let fitted = marginal(&patterns, slope).unwrap();
            let (difficulty, loglik) = (fitted.difficulty, fitted.log_likelihood);
            json!({"difficulty": difficulty, "discrimination": fitted.discrimination, "loglik": loglik})
        };
        let given_totals = conditional(&patterns).unwrap();
        json!({
            "mml": of_slope(Slope::Common),
            "mml_slope_1": of_slope(Slope::One),
            "cml_sum_zero": {
                "difficulty": given_totals.difficulty,
                "conditional_loglik": given_totals.log_likelihood,
            },
        })
    });
}

#[test]
fn wilsons_interval() {
    check(include_str!("cases/11-public-vote.json"), &["wilson_interval"], |input| {
        each(input, |input| {
            let count = |member: &str| u32::try_from(input[member].as_u64().unwrap()).unwrap();
            let found = wilson_interval(count("x"), count("n"), 0.95).unwrap();
            json!({"published": [found.low, found.high], "lower": found.low, "upper": found.high})
        })
    });
}

#[test]
fn normalisations_of_one_table() {
    let methods = ["zscore,zscore_refit,carrot,minmax,rank,least_squares"];
    check(include_str!("cases/13-normalisation.json"), &methods, |input| {
        let sheets = input.as_object().unwrap();
        let judges: Vec<String> = sheets.keys().cloned().collect();
        let mut entries: Vec<String> =
            sheets.values().flat_map(|sheet| sheet.as_object().unwrap().keys().cloned()).collect();
        entries.sort();
        entries.dedup();
        let mut scores = Vec::new();
        for (judge, sheet) in sheets.values().enumerate() {
            for (entry, value) in sheet.as_object().unwrap() {
                let (entry, value) = (position(&entries, entry), value.as_f64().unwrap());
                scores.push(Score { entry, judge, value });
            }
        }
        let table = ScoreTable::new(scores).unwrap();
        let fitted = least_squares::fit(&table).unwrap();
        let normalised = |normalisation| by_name(&entries, normalise(&table, normalisation).entries);
        json!({
            "raw_mean": by_name(&entries, table.entry_means(|_, value| value)),
            "zscore_population_sd": normalised(Normalisation::ZScore),
            "evalato_refit": normalised(Normalisation::ZScoreRefitted),
            "carrot": normalised(Normalisation::CommonMeanAndDeviation),
            "minmax": normalised(Normalisation::MinimumMaximum),
            "percentile_midrank": normalised(Normalisation::Percentile),
            "least_squares": by_name(&entries, (0..entries.len()).map(|entry| fitted.adjusted_mean(entry))),
            "least_squares_judge": by_name(&judges, fitted.judge_effects.clone()),
        })
    });
}
