//! Comparisons and answers at random: there is a result that fulfils the equations of its maximum, or the reason why
//! there is none.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use scoring::ModelError;
use scoring::paired::{
    Contest, Judgement, RIDGE, Ranking, TiedContest, bradley_terry_with_advantage, crowd_bradley_terry, davidson,
    plackett_luce,
};
use scoring::rasch::{Pattern, Slope, conditional, marginal};

const ITEMS: usize = 4;

/// Pairs of different items with counts.
fn contests() -> impl Strategy<Value = Vec<(usize, usize, [f64; 3])>> {
    let count = || prop_oneof![Just(0.0), (0_u8..5).prop_map(f64::from)];
    let pair = (0..ITEMS, 1..ITEMS).prop_map(|(first, step)| (first, (first + step) % ITEMS));
    let contest = (pair, [count(), count(), count()]).prop_map(|((first, second), counts)| (first, second, counts));
    prop::collection::vec(contest, 1..14)
}

fn is_reason(error: &ModelError) -> bool {
    matches!(error, ModelError::Empty | ModelError::NoMaximum { .. } | ModelError::Unbounded(_))
}

proptest! {
    #[test]
    fn at_home_everybody_wins_as_often_as_expected_or_there_is_no_maximum(contests in contests(), with_ridge in any::<bool>()) {
        let contests: Vec<Contest> = (contests.iter())
            .map(|(first, second, counts)| Contest { first: *first, second: *second, first_wins: counts[0], second_wins: counts[1] })
            .collect();
        match bradley_terry_with_advantage(ITEMS, &contests, if with_ridge { RIDGE } else { 0.0 }) {
            Ok(fitted) => {
                let surplus = |contest: &Contest| {
                    let odds = fitted.log_ability[contest.first] - fitted.log_ability[contest.second] + fitted.further.unwrap();
                    contest.first_wins - (contest.first_wins + contest.second_wins) / (1.0 + (-odds).exp())
                };
                prop_assert!(contests.iter().map(surplus).sum::<f64>().abs() < 1e-7);
            }
            Err(error) => prop_assert!(is_reason(&error), "{error:?}"),
        }
    }

    #[test]
    fn there_are_as_many_ties_as_expected_or_there_is_no_maximum(contests in contests(), with_ridge in any::<bool>()) {
        let contest = |(first, second, [first_wins, second_wins, ties]): &(usize, usize, [f64; 3])| TiedContest {
            first: *first,
            second: *second,
            first_wins: *first_wins,
            second_wins: *second_wins,
            ties: *ties,
        };
        let contests: Vec<TiedContest> = contests.iter().map(contest).collect();
        match davidson(ITEMS, &contests, if with_ridge { RIDGE } else { 0.0 }) {
            Ok(fitted) => {
                let surplus = |contest: &TiedContest| {
                    let [first, second] = [contest.first, contest.second].map(|item| fitted.log_ability[item].exp());
                    let tie = fitted.further.unwrap() * (first * second).sqrt();
                    contest.ties - (contest.first_wins + contest.second_wins + contest.ties) * tie / (first + second + tie)
                };
                prop_assert!(contests.iter().map(surplus).sum::<f64>().abs() < 1e-7);
            }
            Err(error) => prop_assert!(is_reason(&error), "{error:?}"),
        }
    }

    #[test]
    fn rankings_have_abilities_or_a_reason(
        rankings in prop::collection::vec((Just((0..ITEMS).collect::<Vec<_>>()).prop_shuffle(), 1..=ITEMS, 0..=ITEMS), 1..8),
        with_ridge in any::<bool>(),
    ) {
        let ranking = |(items, ordered, all): &(Vec<usize>, usize, usize)| {
            let all = *ordered.max(all);
            Ranking { ordered: items[..*ordered].to_vec(), rest: items[*ordered..all].to_vec() }
        };
        let rankings: Vec<Ranking> = rankings.iter().map(ranking).collect();
        match plackett_luce(ITEMS, &rankings, if with_ridge { RIDGE } else { 0.0 }) {
            Ok(fitted) => {
                prop_assert!((fitted.worth().iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert!(fitted.standard_errors(0).iter().all(|error| error.is_finite()));
            }
            Err(error) => prop_assert!(is_reason(&error), "{error:?}"),
        }
    }

    #[test]
    fn crowds_have_reliabilities_between_zero_and_one(
        judgements in prop::collection::vec((0_usize..3, 0..ITEMS, 1..ITEMS), 1..20),
    ) {
        let judgement = |(judge, winner, step): &(usize, usize, usize)| {
            Judgement { judge: *judge, winner: *winner, loser: (winner + step) % ITEMS }
        };
        let crowd = crowd_bradley_terry(ITEMS, 3, &judgements.iter().map(judgement).collect::<Vec<_>>(), RIDGE).unwrap();
        prop_assert!(crowd.reliability.iter().all(|share| (0.0..1.0).contains(share)));
        prop_assert!(crowd.log_ability.iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn answers_have_difficulties_or_a_reason(
        answers in prop::collection::vec((prop::collection::vec(prop::option::weighted(0.8, any::<bool>()), 4), 1_u32..9), 1..12),
    ) {
        let pattern = |(answers, persons): &(Vec<Option<bool>>, u32)| Pattern { answers: answers.clone(), persons: *persons };
        let patterns: Vec<Pattern> = answers.iter().map(pattern).collect();
        match conditional(&patterns) {
            Ok(fitted) => prop_assert!(fitted.difficulty.iter().sum::<f64>().abs() < 1e-9 && fitted.log_likelihood <= 0.0),
            Err(error) => prop_assert!(is_reason(&error), "{error:?}"),
        }
        for slope in [Slope::One, Slope::Common] {
            match marginal(&patterns, slope) {
                Ok(fitted) => prop_assert!(fitted.difficulty.iter().all(|value| value.is_finite()) && fitted.log_likelihood < 0.0),
                Err(error) => prop_assert!(is_reason(&error), "{error:?}"),
            }
        }
    }
}
