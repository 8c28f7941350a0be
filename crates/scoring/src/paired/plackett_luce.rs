//! Rankings after Plackett (Applied Statistics 24, 1975) and Luce (Individual Choice Behavior, 1959): the best is
//! chosen among all with probability `a_i / sum of a`, then the second best among the rest, and so on.

use super::choice::{Abilities, Alternative, Choices, validate};
use crate::ModelError;

/// A ranking of some items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// The items in order, the best first.
    pub ordered: Vec<usize>,
    /// The items that come after all of them, in no order.
    pub rest: Vec<usize>,
}

/// Abilities of `items` items.
pub fn plackett_luce(items: usize, rankings: &[Ranking], ridge: f64) -> Result<Abilities, ModelError> {
    let mut alternatives = Vec::new();
    for ranking in rankings {
        let all = [ranking.ordered.as_slice(), ranking.rest.as_slice()].concat();
        validate(items, &all, &[])?;
        for stage in 0..ranking.ordered.len().min(all.len().saturating_sub(1)) {
            let chosen = |position: usize| f64::from(u8::from(position == 0));
            let remaining = all[stage..].iter().enumerate();
            alternatives.push(remaining.map(|(position, item)| Alternative::item(*item, chosen(position))).collect());
        }
    }
    Choices { items, further: None, alternatives, ridge }.fit(None)
}

#[cfg(test)]
mod tests {
    use super::super::{RIDGE, bradley_terry, contests_of_wins};
    use super::*;

    fn ranking(ordered: &[usize], rest: &[usize]) -> Ranking {
        Ranking { ordered: ordered.to_vec(), rest: rest.to_vec() }
    }

    #[test]
    fn rankings_of_two_are_bradley_terry() {
        let rankings = [ranking(&[0, 1], &[]), ranking(&[1], &[2]), ranking(&[2, 0], &[]), ranking(&[0], &[1])];
        let wins = [vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 0.0]];
        for ridge in [0.0, RIDGE] {
            let ranked = plackett_luce(3, &rankings, ridge).unwrap();
            let paired = bradley_terry(3, &contests_of_wins(&wins).unwrap(), ridge).unwrap();
            let apart = ranked.log_ability.iter().zip(&paired.log_ability).map(|(left, right)| (left - right).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-10);
        }
    }

    #[test]
    fn first_choices_alone_give_their_shares() {
        let rankings = [ranking(&[0], &[1, 2]), ranking(&[0], &[1, 2]), ranking(&[1], &[0, 2]), ranking(&[2], &[1, 0])];
        let worth = plackett_luce(3, &rankings, 0.0).unwrap().worth();
        assert!(worth.iter().zip([0.5, 0.25, 0.25]).all(|(found, share)| (found - share).abs() < 1e-10));
    }

    #[test]
    fn an_item_that_is_always_last_has_no_finite_ability_and_a_repeated_item_is_refused() {
        let rankings = [ranking(&[0, 1, 2], &[]), ranking(&[1, 0, 2], &[])];
        let strong_components = vec![vec![0, 1], vec![2]];
        let expected = ModelError::NoMaximum { strong_components, disconnected: false };
        assert_eq!(plackett_luce(3, &rankings, 0.0).err(), Some(expected));
        assert_eq!(plackett_luce(3, &[ranking(&[0], &[0])], 0.0).err(), Some(ModelError::InvalidValue("an item")));
        assert_eq!(plackett_luce(3, &[ranking(&[0], &[])], 0.5).err(), Some(ModelError::Empty));
    }
}
