//! The model of Rasch for answers that are right or wrong: a person of ability z answers item j rightly with
//! probability `1 / (1 + exp(-slope (z - difficulty_j)))`.
//!
//! - [`marginal()`]: abilities are standard normal and integrated out; the slope is estimated, common to all items, or
//!   one (Bock & Lieberman, Psychometrika 35, 1970; Thissen, Psychometrika 47, 1982).
//! - [`conditional()`]: given each person's number of right answers, abilities drop out, whatever their distribution
//!   (Andersen, Journal of the Royal Statistical Society B 34, 1972); difficulties sum to zero.
//! - An answer may be missing: the person then counts with the items that were answered.
//! - The number of right answers says all there is about ability, so persons who answered the same items are added up
//!   by it.

mod conditional;
mod marginal;

use std::collections::BTreeMap;

pub use conditional::{Conditional, conditional};
pub use marginal::{Marginal, Slope, marginal};

use crate::ModelError;
use crate::numeric::real;

/// Persons with the same answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Whether each item was answered rightly, nothing where it was not answered.
    pub answers: Vec<Option<bool>>,
    /// How many persons answered so.
    pub persons: u32,
}

/// Persons who answered the same items and as many of them rightly.
struct Group {
    items: Vec<usize>,
    right: usize,
    persons: f64,
}

/// The sufficient statistics of all answers.
struct Totals {
    groups: Vec<Group>,
    /// How often each item was answered rightly.
    right: Vec<f64>,
}

impl Totals {
    fn of(patterns: &[Pattern]) -> Result<Self, ModelError> {
        let items = patterns.first().ok_or(ModelError::Empty)?.answers.len();
        if patterns.iter().any(|pattern| pattern.answers.len() != items) {
            return Err(ModelError::Incomplete);
        }
        if items < 2 {
            return Err(ModelError::TooFew("items"));
        }
        let mut right = vec![0.0; items];
        let mut groups: BTreeMap<(Vec<usize>, usize), f64> = BTreeMap::new();
        for pattern in patterns.iter().filter(|pattern| pattern.persons > 0) {
            let persons = f64::from(pattern.persons);
            let answered: Vec<usize> = (0..items).filter(|item| pattern.answers[*item].is_some()).collect();
            let rightly: Vec<usize> = (0..items).filter(|item| pattern.answers[*item] == Some(true)).collect();
            for item in &rightly {
                right[*item] += persons;
            }
            *groups.entry((answered, rightly.len())).or_default() += persons;
        }
        if groups.is_empty() {
            return Err(ModelError::Empty);
        }
        let group = |((items, right), persons)| Group { items, right, persons };
        Ok(Self { groups: groups.into_iter().map(group).collect(), right })
    }

    /// The share of right answers of each item; difficulties of items that all or none answered rightly are infinite.
    fn shares(&self) -> Result<Vec<f64>, ModelError> {
        let mut answered = vec![0.0; self.right.len()];
        for group in &self.groups {
            group.items.iter().for_each(|item| answered[*item] += group.persons);
        }
        let shares: Vec<f64> = self.right.iter().zip(answered).map(|(right, answered)| right / answered).collect();
        let finite = shares.iter().all(|share| *share > 0.0 && *share < 1.0);
        if finite { Ok(shares) } else { Err(ModelError::Unbounded("a difficulty")) }
    }
}

impl Group {
    fn right(&self) -> f64 {
        real(self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(answers: &[u8], persons: u32) -> Pattern {
        Pattern { answers: answers.iter().map(|answer| (*answer < 2).then_some(*answer == 1)).collect(), persons }
    }

    #[test]
    fn an_item_that_all_answered_rightly_has_no_finite_difficulty() {
        let patterns = [pattern(&[1, 1, 0], 4), pattern(&[1, 0, 1], 4), pattern(&[1, 0, 0], 2)];
        assert_eq!(marginal(&patterns, Slope::One), Err(ModelError::Unbounded("a difficulty")));
        assert!(matches!(conditional(&patterns), Err(ModelError::NoMaximum { .. })));
    }

    #[test]
    fn answers_that_do_not_hang_together_have_no_slope() {
        let patterns = [pattern(&[1, 0], 6), pattern(&[0, 1], 6), pattern(&[1, 1], 1), pattern(&[0, 0], 1)];
        assert_eq!(marginal(&patterns, Slope::Common), Err(ModelError::Unbounded("the slope")));
        assert!(marginal(&patterns, Slope::One).is_ok());
    }

    #[test]
    fn two_items_compare_by_the_logarithm_of_the_ratio_of_persons_who_had_one_right() {
        let patterns = [pattern(&[1, 0], 6), pattern(&[0, 1], 2), pattern(&[1, 1], 5)];
        let difficulty = conditional(&patterns).unwrap().difficulty;
        assert!((difficulty[1] - difficulty[0] - 3.0_f64.ln()).abs() < 1e-10);
    }

    #[test]
    fn a_missing_answer_is_as_if_the_item_had_not_been_asked() {
        let asked = [pattern(&[1, 0, 2], 6), pattern(&[0, 1, 2], 2), pattern(&[2, 1, 0], 5), pattern(&[2, 0, 1], 4)];
        let difficulty = conditional(&asked).unwrap().difficulty;
        assert!((difficulty[1] - difficulty[0] - 3.0_f64.ln()).abs() < 1e-10);
        assert!((difficulty[2] - difficulty[1] - 1.25_f64.ln()).abs() < 1e-10);
    }

    #[test]
    fn no_persons_a_single_item_and_rows_of_different_lengths_are_refused() {
        assert_eq!(conditional(&[]), Err(ModelError::Empty));
        assert_eq!(conditional(&[pattern(&[1, 0], 0)]), Err(ModelError::Empty));
        assert_eq!(conditional(&[pattern(&[1], 3)]), Err(ModelError::TooFew("items")));
        assert_eq!(conditional(&[pattern(&[1, 0], 3), pattern(&[1], 3)]), Err(ModelError::Incomplete));
    }
}
