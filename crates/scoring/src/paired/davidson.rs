//! Ties after Davidson (JASA 65, 1970): i wins, j wins and neither wins are as `a_i : a_j : nu sqrt(a_i a_j)`.
//!
//! Without any tie nu is zero, and the model is that of Bradley and Terry.

use super::bradley_terry::{Contest, bradley_terry};
use super::choice::{Abilities, Alternative, Choices, validate};
use crate::ModelError;

/// Comparisons of two items, counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiedContest {
    /// One item.
    pub first: usize,
    /// The other item.
    pub second: usize,
    /// How often the first has won.
    pub first_wins: f64,
    /// How often the second has won.
    pub second_wins: f64,
    /// How often neither has won.
    pub ties: f64,
}

/// Abilities of `items` items, and nu as the further parameter.
pub fn davidson(items: usize, contests: &[TiedContest], ridge: f64) -> Result<Abilities, ModelError> {
    for contest in contests {
        let counts = [contest.first_wins, contest.second_wins, contest.ties];
        validate(items, &[contest.first, contest.second], &counts)?;
    }
    if contests.iter().all(|contest| contest.ties <= 0.0) {
        let untied = |contest: &TiedContest| {
            let TiedContest { first, second, first_wins, second_wins, .. } = *contest;
            Contest { first, second, first_wins, second_wins }
        };
        let abilities = bradley_terry(items, &contests.iter().map(untied).collect::<Vec<_>>(), ridge)?;
        return Ok(Abilities { further: Some(0.0), ..abilities });
    }
    let played = contests.iter().filter(|contest| contest.first_wins + contest.second_wins + contest.ties > 0.0);
    let choice = |contest: &TiedContest| {
        let tie = vec![(contest.first, 0.5), (contest.second, 0.5), (items, 1.0)];
        vec![
            Alternative::item(contest.first, contest.first_wins),
            Alternative::item(contest.second, contest.second_wins),
            Alternative { features: tie, chosen: contest.ties },
        ]
    };
    let choices = Choices { items, further: Some("nu"), alternatives: played.map(choice).collect(), ridge };
    let abilities = choices.fit(None)?;
    Ok(Abilities { further: abilities.further.map(libm::exp), ..abilities })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(first_wins: f64, second_wins: f64, ties: f64) -> [TiedContest; 1] {
        [TiedContest { first: 0, second: 1, first_wins, second_wins, ties }]
    }

    #[test]
    fn equal_wins_give_equal_abilities_and_the_share_of_ties_gives_nu() {
        let fitted = davidson(2, &contest(2.0, 2.0, 1.0), 0.0).unwrap();
        assert!(fitted.log_ability.iter().all(|ability| ability.abs() < 1e-12));
        assert!((fitted.further.unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn nu_is_zero_without_ties_and_unbounded_without_wins_or_where_ability_and_nu_run_away_together() {
        assert_eq!(davidson(2, &contest(2.0, 1.0, 0.0), 0.0).unwrap().further, Some(0.0));
        for contest in [contest(0.0, 0.0, 3.0), contest(1.0, 0.0, 1.0)] {
            assert_eq!(davidson(2, &contest, 0.0).err(), Some(ModelError::Unbounded("nu")));
        }
    }
}
