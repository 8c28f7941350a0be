//! Rules of the models of scores: least squares, graph, crossed random effects and correction for judges.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use scoring::correction::{Correction, DecisiveJudge, VarianceMethod, correct, decisive_judges};
use scoring::incidence::{Comparisons, Vertex, algebraic_connectivity, components};
use scoring::{ModelError, Score, ScoreTable, least_squares, mixed};

const METHODS: [VarianceMethod; 2] = [VarianceMethod::HendersonThree, VarianceMethod::RestrictedLikelihood];

/// 25 scores of nine entries by four judges. What is expected of them was computed from the dense covariance matrix of
/// the scores, by another program.
const UNBALANCED: [(usize, usize, f64); 25] = [
    (0, 2, 54.0),
    (0, 3, 53.0),
    (1, 0, 65.0),
    (1, 1, 59.0),
    (1, 2, 65.0),
    (2, 0, 67.0),
    (2, 1, 67.0),
    (2, 2, 67.0),
    (2, 3, 61.0),
    (3, 0, 60.0),
    (3, 1, 55.0),
    (4, 0, 64.0),
    (4, 2, 61.0),
    (4, 3, 61.0),
    (5, 0, 68.0),
    (5, 3, 62.0),
    (6, 0, 56.0),
    (6, 1, 50.0),
    (6, 2, 51.0),
    (6, 3, 51.0),
    (7, 0, 64.0),
    (7, 2, 59.0),
    (7, 3, 61.0),
    (8, 0, 66.0),
    (8, 3, 59.0),
];

fn table(scores: &[(usize, usize, f64)]) -> ScoreTable {
    ScoreTable::new(
        scores.iter().map(|(entry, judge, value)| Score { entry: *entry, judge: *judge, value: *value }).collect(),
    )
    .unwrap()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance);
    assert!(is_near, "{found:?} is not {expected:?}");
}

/// Tables in which every entry and judge has a score, sometimes two from one judge, in one component or several.
fn tables() -> impl Strategy<Value = Vec<Score>> {
    (2_usize..9, 2_usize..6).prop_flat_map(|(entries, judges)| {
        let further = prop::collection::vec((0..entries, 0..judges), 0..25);
        let values = prop::collection::vec(0_i32..40, entries + judges + 25);
        (Just((entries, judges)), further, values).prop_map(|((entries, judges), further, values)| {
            let first = (0..entries.max(judges)).map(|index| (index % entries, index % judges));
            let score = |((entry, judge), value)| Score { entry, judge, value: f64::from(value) / 4.0 };
            first.chain(further).zip(values).map(score).collect()
        })
    })
}

/// Sums of residuals by entry and by judge.
fn residual_sums(table: &ScoreTable, entries: &[f64], judges: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut by_entry, mut by_judge) = (vec![0.0; entries.len()], vec![0.0; judges.len()]);
    for (entry, (row, values)) in table.rows().enumerate() {
        for (judge, value) in row.iter().zip(values) {
            let residual = value - entries[entry] - judges[*judge];
            by_entry[entry] += residual;
            by_judge[*judge] += residual;
        }
    }
    (by_entry, by_judge)
}

proptest! {
    #[test]
    fn least_squares_fulfils_the_normal_equations(scores in tables()) {
        let table = ScoreTable::new(scores).unwrap();
        match least_squares::fit(&table) {
            Ok(fitted) => {
                let means: Vec<f64> = (0..table.entries()).map(|entry| fitted.adjusted_mean(entry)).collect();
                let (by_entry, by_judge) = residual_sums(&table, &means, &fitted.judge_effects);
                prop_assert!(by_entry.iter().chain(&by_judge).all(|sum| sum.abs() < 1e-9));
                prop_assert!(fitted.entry_effects.iter().sum::<f64>().abs() < 1e-10);
                prop_assert!(fitted.judge_effects.iter().sum::<f64>().abs() < 1e-10);
            }
            Err(error) => prop_assert_eq!(error, ModelError::NotConnected(components(&table).count)),
        }
    }

    #[test]
    fn effective_resistances_of_all_scores_add_up_to_the_edges_of_a_spanning_forest(scores in tables()) {
        let table = ScoreTable::new(scores.clone()).unwrap();
        let comparisons = Comparisons::new(&table).unwrap();
        let resistance = |score: &Score| {
            comparisons.effective_resistance(Vertex::Entry(score.entry), Vertex::Judge(score.judge)).unwrap()
        };
        let sum: f64 = scores.iter().map(resistance).sum();
        let edges = u32::try_from(table.entries() + table.judges() - comparisons.components().count).unwrap();
        prop_assert!((sum - f64::from(edges)).abs() < 1e-9);
    }

    #[test]
    fn corrected_scores_minimise_the_penalised_sum_of_squares(scores in tables()) {
        let table = ScoreTable::new(scores).unwrap();
        for method in METHODS {
            let corrected = match correct(&table, method) {
                Ok(corrected) => corrected,
                Err(error) => {
                    prop_assert!(matches!(error, ModelError::JudgesNotComparable | ModelError::NoResidual));
                    continue;
                }
            };
            let (by_entry, by_judge) = residual_sums(&table, &corrected.entries, &corrected.judges);
            prop_assert!(by_entry.iter().all(|sum| sum.abs() < 1e-4));
            let lambda = corrected.residual_variance / corrected.judge_variance;
            for (sum, severity) in by_judge.iter().zip(&corrected.judges) {
                prop_assert!(lambda.is_infinite() || lambda.is_nan() || (sum - lambda * severity).abs() < 1e-4 * (1.0 + lambda));
                prop_assert!(lambda.is_finite() || severity.abs() < 1e-9);
            }
            let intervals = corrected.intervals(0.9).unwrap();
            let both = intervals.entries.iter().zip(&corrected.entries).chain(intervals.judges.iter().zip(&corrected.judges));
            prop_assert!(both.into_iter().all(|(interval, value)| interval.low <= *value && *value <= interval.high));
            let ranks = corrected.rank_intervals(0.9, 20, [7; 32]).unwrap();
            prop_assert!(ranks.iter().all(|rank| 1 <= rank.best && rank.best <= rank.worst && rank.worst <= table.entries()));
            prop_assert!(decisive_judges(&table, method).is_ok());
        }
    }

    #[test]
    fn results_do_not_depend_on_the_order_of_scores(scores in tables(), seed in any::<u8>()) {
        let mut reversed = scores.clone();
        reversed.reverse();
        let (table, other) = (ScoreTable::new(scores).unwrap(), ScoreTable::new(reversed).unwrap());
        let shown = |corrected: &Correction<'_>| {
            let ranks = corrected.rank_intervals(0.95, 10, [seed; 32]);
            format!("{:?} {:?} {:?} {ranks:?}", corrected.entries, corrected.judges, corrected.intervals(0.95))
        };
        for method in METHODS {
            let [left, right] = [&table, &other].map(|table| correct(table, method).map(|corrected| shown(&corrected)));
            prop_assert_eq!(left, right);
        }
    }

    #[test]
    fn crossed_random_effects_have_a_result_or_a_reason(scores in tables()) {
        match mixed::fit(&ScoreTable::new(scores).unwrap()) {
            Ok(fitted) => {
                let variances = [fitted.entry_variance, fitted.judge_variance, fitted.residual_variance, fitted.criterion];
                prop_assert!(variances.iter().all(|value| value.is_finite()));
                prop_assert!(fitted.entry_effects.iter().sum::<f64>().abs() < 1e-5);
            }
            Err(error) => prop_assert_eq!(error, ModelError::NoResidual),
        }
    }
}

#[test]
fn the_algebraic_connectivity_of_a_complete_graph_is_its_smaller_side_and_of_a_path_that_of_a_string() {
    let complete = |entries: usize, judges: usize| {
        let scores = (0..entries).flat_map(|entry| (0..judges).map(move |judge| (entry, judge, 0.0)));
        algebraic_connectivity(&table(&scores.collect::<Vec<_>>()))
    };
    assert_near(&[complete(1, 1), complete(7, 3), complete(3, 7), complete(5, 5)], &[2.0, 3.0, 3.0, 5.0], 1e-9);
    // Ten vertices in a line, entries and judges in turn.
    let path: Vec<(usize, usize, f64)> =
        (0..5).flat_map(|index| [(index, index, 0.0), (index + 1, index, 0.0)]).take(9).collect();
    let expected = 2.0 - 2.0 * (std::f64::consts::PI / 10.0).cos();
    assert_near(&[algebraic_connectivity(&table(&path))], &[expected], 1e-9);
}

#[test]
fn crossed_random_effects_of_unbalanced_scores_are_those_of_the_dense_covariance_matrix() {
    let fitted = mixed::fit(&table(&UNBALANCED)).unwrap();
    assert_near(&[fitted.criterion], &[130.198_382_104_094_55], 1e-9);
    let variances = [fitted.residual_variance, fitted.entry_variance, fitted.judge_variance];
    assert_near(&variances, &[3.551_054_09, 20.196_766_83, 4.709_344_36], 1e-5);
    assert_near(&[fitted.intercept], &[59.973_491_49], 1e-6);
    assert_near(&fitted.judge_effects, &[2.856_463_36, -1.237_818_23, -0.009_186_83, -1.609_458_30], 1e-6);
    let entries = [
        -5.206_461_38,
        2.352_167_44,
        5.293_815_03,
        -3.017_537_93,
        1.524_552_04,
        4.047_209_89,
        -7.637_767_87,
        0.894_794_01,
        1.749_228_74,
    ];
    assert_near(&fitted.entry_effects, &entries, 1e-6);
}

#[test]
fn corrections_of_unbalanced_scores_are_those_of_the_dense_covariance_matrix() {
    let table = table(&UNBALANCED);
    let corrected = correct(&table, VarianceMethod::HendersonThree).unwrap();
    assert_near(
        &[corrected.residual_variance, corrected.judge_variance],
        &[3.621_315_301_486, 5.576_601_365_180],
        1e-9,
    );
    assert_eq!(corrected.residual_degrees_of_freedom, 13);
    assert_near(&[corrected.judge_test.unwrap().statistic], &[9.213_003_141_544], 1e-9);
    let entries = [
        54.311_050_37,
        62.448_498_62,
        65.5,
        56.688_949_63,
        61.595_827_67,
        64.409_943_2,
        52.0,
        60.929_161_01,
        61.909_943_2,
    ];
    assert_near(&corrected.entries, &entries, 1e-6);
    assert_near(&corrected.judges, &[2.834_617_72, -1.212_516_98, 0.032_403_39, -1.654_504_13], 1e-6);
    assert_eq!(corrected.places, [8, 3, 1, 7, 5, 2, 9, 6, 4]);
    // Half the width is the t quantile at 13 degrees of freedom times the standard error.
    let intervals = corrected.intervals(0.95).unwrap();
    let errors: Vec<f64> =
        intervals.entries.iter().map(|interval| (interval.high - interval.low) / 2.0 / 2.160_368_656).collect();
    let expected = [
        1.838_364_33,
        1.628_227_17,
        1.516_403_37,
        1.838_364_33,
        1.635_270_04,
        1.836_247_81,
        1.516_403_37,
        1.635_270_04,
        1.836_247_81,
    ];
    assert_near(&errors, &expected, 1e-5);

    let corrected = correct(&table, VarianceMethod::RestrictedLikelihood).unwrap();
    assert_near(&[corrected.residual_variance, corrected.judge_variance], &[3.591_944_55, 4.557_229_28], 1e-5);
    let entries = [
        54.300_435_44,
        62.456_699_65,
        65.5,
        56.699_564_56,
        61.606_234_72,
        64.423_867_17,
        52.0,
        60.939_568_06,
        61.923_867_17,
    ];
    assert_near(&corrected.entries, &entries, 1e-5);
}

#[test]
fn the_two_estimates_of_variances_agree_where_data_are_balanced() {
    let value = |entry: usize, judge: usize| {
        f64::from(u8::try_from((entry * 7 + judge * 11 + entry * judge * 5) % 13).unwrap())
    };
    let scores = (0..8).flat_map(|entry| (0..4).map(move |judge| (entry, judge)));
    let scores: Vec<(usize, usize, f64)> =
        scores.map(|(entry, judge)| (entry, judge, value(entry, judge) + if judge == 2 { 6.0 } else { 0.0 })).collect();
    let table = table(&scores);
    let [closed, likelihood] = METHODS.map(|method| correct(&table, method).unwrap());
    assert!(closed.judge_variance > 0.0);
    assert_near(&[likelihood.residual_variance], &[closed.residual_variance], 1e-7);
    assert_near(&[likelihood.judge_variance], &[closed.judge_variance], 1e-7);
    assert_near(&likelihood.entries, &closed.entries, 2e-6);
}

#[test]
fn judges_who_differ_exactly_as_much_as_errors_do_are_not_corrected() {
    let table = table(&[(0, 0, 9.0), (0, 1, 9.75), (1, 1, 1.25), (1, 1, 2.0)]);
    for method in METHODS {
        let corrected = correct(&table, method).unwrap();
        assert_near(&corrected.judges, &[0.0; 2], 1e-4);
        assert_near(&corrected.entries, &[9.375, 1.625], 1e-4);
    }
}

#[test]
fn a_lenient_judge_no_longer_decides_who_wins() {
    // Entry 0 was seen by the lenient judge 2 and is raised by it; entry 1 is the better one wherever both were seen.
    let scores = [
        (0, 0, 6.0),
        (0, 2, 10.0),
        (1, 0, 7.0),
        (1, 1, 7.5),
        (2, 1, 5.0),
        (2, 2, 8.5),
        (3, 0, 4.0),
        (3, 1, 4.5),
        (3, 2, 7.5),
    ];
    let table = table(&scores);
    let raw = table.entry_means(|_, value| value);
    let corrected = correct(&table, VarianceMethod::HendersonThree).unwrap();
    assert!(raw[0] > raw[1] && corrected.places[1] == 1, "{corrected:?}");
    assert!(corrected.judges[2] > corrected.judges[0] && corrected.judges[2] > corrected.judges[1]);
}

#[test]
fn a_model_that_fits_every_score_exactly_corrects_by_least_squares() {
    // The last entry has what the first one has, and its place.
    let scores: Vec<(usize, usize, f64)> = (0..5_u8)
        .flat_map(|entry| (0..3_u8).map(move |judge| (entry, judge)))
        .map(|(entry, judge)| (usize::from(entry), usize::from(judge), f64::from(entry % 4) + 2.0 * f64::from(judge)))
        .collect();
    let table = table(&scores);
    for method in METHODS {
        let corrected = correct(&table, method).unwrap();
        assert_near(&corrected.entries, &[2.0, 3.0, 4.0, 5.0, 2.0], 1e-9);
        assert_near(&corrected.judges, &[-2.0, 0.0, 2.0], 1e-9);
        assert_eq!((corrected.judge_test, corrected.residual_variance.to_bits()), (None, 0.0_f64.to_bits()));
        let ranks = corrected.rank_intervals(0.95, 50, [0; 32]).unwrap();
        assert!(ranks.iter().zip(&corrected.places).all(|(rank, place)| (rank.best, rank.worst) == (*place, *place)));
    }
}

#[test]
fn what_is_not_identified_is_refused_with_the_reason() {
    let refused = |scores: &[(usize, usize, f64)]| correct(&table(scores), VarianceMethod::HendersonThree).err();
    assert_eq!(refused(&[(0, 0, 1.0), (1, 0, 2.0), (2, 0, 4.0)]), Some(ModelError::JudgesNotComparable));
    assert_eq!(refused(&[(0, 0, 1.0), (1, 1, 2.0)]), Some(ModelError::JudgesNotComparable));
    assert_eq!(refused(&[(0, 0, 1.0), (0, 1, 2.0), (1, 1, 4.0)]), Some(ModelError::NoResidual));
    let lone = table(&[(0, 0, 1.0), (0, 1, 2.0), (1, 1, 4.0)]);
    assert_eq!(mixed::fit(&lone).err(), Some(ModelError::NoResidual));
    let corrected = table(&UNBALANCED);
    let corrected = correct(&corrected, VarianceMethod::HendersonThree).unwrap();
    assert_eq!(corrected.intervals(1.0), Err(ModelError::InvalidValue("the level")));
    assert_eq!(corrected.rank_intervals(0.95, 0, [0; 32]), Err(ModelError::TooFew("draws")));
}

#[test]
fn judges_of_separate_components_are_corrected_within_them_and_the_components_are_shown() {
    let half: Vec<(usize, usize, f64)> =
        vec![(0, 0, 5.0), (0, 1, 8.0), (1, 0, 6.0), (1, 1, 9.5), (2, 0, 3.0), (2, 1, 5.5)];
    let other = half.iter().map(|(entry, judge, value)| (entry + 3, judge + 2, value + 20.0));
    let both: Vec<(usize, usize, f64)> = half.iter().copied().chain(other).collect();
    let table = table(&both);
    let corrected = correct(&table, VarianceMethod::HendersonThree).unwrap();
    assert_eq!((corrected.components.count, &corrected.components.entries), (2, &vec![0, 0, 0, 1, 1, 1]));
    assert_near(
        &[corrected.judges[0] + corrected.judges[1], corrected.judges[2] + corrected.judges[3]],
        &[0.0; 2],
        1e-9,
    );
    let moved: Vec<f64> = corrected.entries[..3].iter().map(|score| score + 20.0).collect();
    assert_near(&corrected.entries[3..], &moved, 1e-6);
}

#[test]
fn a_judge_without_whom_another_wins_is_decisive() {
    let mut scores = Vec::new();
    for entry in 0..4_usize {
        for judge in 0..4_usize {
            let noise = f64::from(u8::try_from((entry * 3 + judge * 5) % 4).unwrap()) / 10.0;
            scores.push((entry, judge, f64::from(u8::try_from(entry).unwrap()) + noise));
        }
    }
    // Judge 1 alone lifts entry 0 above all others.
    scores[1].2 += 30.0;
    let decisive = decisive_judges(&table(&scores), VarianceMethod::HendersonThree).unwrap();
    assert_eq!(decisive, [DecisiveJudge { judge: 1, winners_without: Ok(vec![3]) }]);
    let pair = table(&[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)]);
    let reason = Err(ModelError::JudgesNotComparable);
    let decisive = decisive_judges(&pair, VarianceMethod::HendersonThree).unwrap();
    assert!(decisive.len() == 2 && decisive.iter().all(|judge| judge.winners_without == reason));
}

#[test]
fn the_same_scores_and_seed_give_the_same_digits_on_every_machine() {
    let table = table(&UNBALANCED);
    let corrected = correct(&table, VarianceMethod::RestrictedLikelihood).unwrap();
    let ranks = corrected.rank_intervals(0.95, 1000, [24; 32]).unwrap();
    let shown = |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let ranks: Vec<String> = ranks.iter().map(|rank| format!("{}-{}", rank.best, rank.worst)).collect();
    let lows: Vec<f64> = corrected.intervals(0.9).unwrap().entries.iter().map(|interval| interval.low).collect();
    assert_eq!(
        shown(&corrected.entries),
        "54.300435 62.4567 65.5 56.699565 61.606235 64.423867 52 60.939568 61.923867"
    );
    assert_eq!(shown(&lows), "51.18049 59.721826 62.97228 53.579619 58.858991 61.307526 49.47228 58.192324 58.807526");
    assert_eq!(ranks.join(" "), "7-9 2-6 1-2 7-8 2-6 1-4 8-9 3-6 2-6");
    let exact = mixed::fit(&table).unwrap().criterion.to_bits();
    assert_eq!(exact, 4_638_784_964_885_554_774);
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((mixed ^ (mixed >> 31)) % u64::from(count)).unwrap()
    }

    /// About standard normal: the sum of twelve numbers from 0 to 1, less six.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| f64::from(self.below(1_000_000)) / 1e6).sum::<f64>() - 6.0
    }
}

#[test]
fn intervals_of_scores_and_ranks_cover_the_truth_about_as_often_as_they_say() {
    const ENTRIES: usize = 40;
    let mut numbers = Numbers(24);
    let (mut covered_scores, mut covered_ranks, mut all) = (0, 0, 0);
    for round in 0..50_u8 {
        let truth: Vec<f64> = (0..ENTRIES).map(|_| 3.0 * numbers.normal()).collect();
        let severity: Vec<f64> = (0..10).map(|_| 2.0 * numbers.normal()).collect();
        let mut scores = Vec::new();
        for (entry, strength) in truth.iter().enumerate() {
            let first = usize::try_from(numbers.below(10)).unwrap();
            for judge in [first, (first + 1 + entry % 4) % 10, (first + 5 + entry % 3) % 10] {
                scores.push((entry, judge, 50.0 + strength + severity[judge] + 2.0 * numbers.normal()));
            }
        }
        let table = table(&scores);
        let corrected = correct(&table, VarianceMethod::HendersonThree).unwrap();
        let intervals = corrected.intervals(0.95).unwrap().entries;
        let ranks = corrected.rank_intervals(0.95, 200, [round; 32]).unwrap();
        for entry in 0..ENTRIES {
            let rank = 1 + truth.iter().filter(|other| **other > truth[entry]).count();
            covered_ranks += u32::from(ranks[entry].best <= rank && rank <= ranks[entry].worst);
            let interval = intervals[entry];
            covered_scores += u32::from(interval.low <= truth[entry] + 50.0 && truth[entry] + 50.0 <= interval.high);
            all += 1;
        }
    }
    for covered in [covered_scores, covered_ranks] {
        let share = f64::from(covered) / f64::from(all);
        assert!((0.92..0.98).contains(&share), "{share}");
    }
}
