//! The model of Bradley and Terry (Biometrika 39, 1952): i wins against j with probability `a_i / (a_i + a_j)`.
//!
//! With an advantage of the first, such as playing at home, its log ability grows by one number that is the same for
//! all (Davidson & Beaver, Biometrics 33, 1977).

use super::choice::{Abilities, Alternative, Choices, validate};
use crate::ModelError;

/// Comparisons of two items, counted. Each record is a cell of the deviance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contest {
    /// The item that was at home, or shown first.
    pub first: usize,
    /// The other item.
    pub second: usize,
    /// How often the first has won.
    pub first_wins: f64,
    /// How often the second has won.
    pub second_wins: f64,
}

impl Contest {
    pub(crate) fn validate(items: usize, contests: &[Self]) -> Result<(), ModelError> {
        let one = |contest: &Self| {
            validate(items, &[contest.first, contest.second], &[contest.first_wins, contest.second_wins])
        };
        contests.iter().try_for_each(one)
    }
}

/// The contests of a square table of how often the item of the row has won against the item of the column.
pub fn contests_of_wins(wins: &[Vec<f64>]) -> Result<Vec<Contest>, ModelError> {
    if wins.iter().any(|row| row.len() != wins.len()) {
        return Err(ModelError::Incomplete);
    }
    let contest = |first: usize, second: usize| {
        let (first_wins, second_wins) = (wins[first][second], wins[second][first]);
        Contest { first, second, first_wins, second_wins }
    };
    Ok((0..wins.len()).flat_map(|first| (first + 1..wins.len()).map(move |second| contest(first, second))).collect())
}

/// Abilities of `items` items; a `ridge` above zero always gives a result ([`super::RIDGE`] is what is published).
pub fn bradley_terry(items: usize, contests: &[Contest], ridge: f64) -> Result<Abilities, ModelError> {
    fit(items, contests, ridge, None)
}

/// Abilities, and the log advantage of the first as the further parameter.
pub fn bradley_terry_with_advantage(items: usize, contests: &[Contest], ridge: f64) -> Result<Abilities, ModelError> {
    fit(items, contests, ridge, Some("the advantage of the first"))
}

fn fit(items: usize, contests: &[Contest], ridge: f64, further: Option<&'static str>) -> Result<Abilities, ModelError> {
    Contest::validate(items, contests)?;
    let played = contests.iter().filter(|contest| contest.first_wins + contest.second_wins > 0.0);
    let choice = |contest: &Contest| {
        let mut first = Alternative::item(contest.first, contest.first_wins);
        first.features.extend(further.map(|_| (items, 1.0)));
        vec![first, Alternative::item(contest.second, contest.second_wins)]
    };
    Choices { items, further, alternatives: played.map(choice).collect(), ridge }.fit(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{RIDGE, bradley_terry_existence};
    use super::*;
    use crate::numeric::real;

    fn contest(first: usize, second: usize, first_wins: f64, second_wins: f64) -> Contest {
        Contest { first, second, first_wins, second_wins }
    }

    #[test]
    fn an_advantage_that_explains_every_win_is_unbounded() {
        let home = [contest(0, 1, 3.0, 0.0), contest(1, 0, 2.0, 0.0)];
        let unbounded = Some(ModelError::Unbounded("the advantage of the first"));
        assert_eq!(bradley_terry_with_advantage(2, &home, 0.0).err(), unbounded);
        assert_eq!(bradley_terry_with_advantage(2, &home, RIDGE).err(), unbounded);
        let mixed = [contest(0, 1, 3.0, 1.0), contest(1, 0, 2.0, 1.0)];
        assert!(bradley_terry_with_advantage(2, &mixed, 0.0).is_ok());
    }

    #[test]
    fn an_advantage_and_a_separating_ability_together_are_found() {
        // Item 0 never loses at home and never wins away: only advantage and ability together explain that.
        let contests =
            [contest(0, 1, 2.0, 0.0), contest(1, 0, 1.0, 1.0), contest(1, 2, 1.0, 1.0), contest(0, 2, 1.0, 0.0)];
        assert_eq!(bradley_terry(3, &contests, 0.0).map(|_| ()), Ok(()));
        let found = bradley_terry_with_advantage(3, &contests, 0.0);
        assert!(matches!(found, Err(ModelError::Unbounded(_))), "{found:?}");
    }

    #[test]
    fn an_item_beyond_the_last_against_itself_or_a_negative_count_is_refused() {
        for (wrong, what) in [
            (contest(0, 2, 1.0, 1.0), "an item"),
            (contest(1, 1, 1.0, 1.0), "an item"),
            (contest(0, 1, -1.0, 1.0), "a count"),
            (contest(0, 1, f64::NAN, 1.0), "a count"),
        ] {
            assert_eq!(bradley_terry(2, &[wrong], 0.5).err(), Some(ModelError::InvalidValue(what)));
        }
        assert_eq!(bradley_terry(2, &[], 0.5).err(), Some(ModelError::Empty));
    }

    proptest! {
        #[test]
        fn at_the_maximum_every_item_wins_as_often_as_expected(wins in prop::collection::vec(0_u8..5, 25)) {
            let wins: Vec<Vec<f64>> = wins.chunks(5).map(|row| row.iter().copied().map(f64::from).collect()).collect();
            let contests = contests_of_wins(&wins).unwrap();
            let existence = bradley_terry_existence(5, &contests).unwrap();
            let fitted = bradley_terry(5, &contests, 0.0);
            let played = contests.iter().any(|contest| contest.first_wins + contest.second_wins > 0.0);
            prop_assert!(!played || fitted.is_ok() == existence.exists(), "{:?}", fitted);
            for (ridge, fitted) in [(0.0, fitted), (RIDGE, bradley_terry(5, &contests, RIDGE))] {
                let Ok(fitted) = fitted else { continue };
                for (item, ability) in fitted.log_ability.iter().enumerate() {
                    let others = (0..5).filter(|other| *other != item);
                    let played = |other: usize| wins[item][other] + wins[other][item];
                    let surplus: f64 = others
                        .map(|other| wins[item][other] - played(other) * fitted.probability(item, other))
                        .sum();
                    prop_assert!((surplus - 2.0 * ridge * ability).abs() < 1e-8);
                }
                prop_assert!(fitted.log_ability.iter().sum::<f64>().abs() < 1e-10 * real(5));
            }
        }
    }
}
