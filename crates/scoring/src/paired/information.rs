//! Which pairs to compare next.
//!
//! A comparison of items i and j tells about the difference of their abilities: with p the probability that i wins and
//! v the variance of the difference, it is expected to lower the entropy of the abilities by about 0.5 ln(1 + p (1 - p)
//! v) (D-optimality; Lindley, Annals of Mathematical Statistics 27, 1956; Chaloner & Verdinelli, Statistical Science
//! 10, 1995).

use super::choice::Abilities;

/// The expected gain of one comparison, in nats.
pub fn information_gain(abilities: &Abilities, first: usize, second: usize) -> f64 {
    let probability = abilities.probability(first, second);
    libm::log1p(probability * (1.0 - probability) * abilities.variance_of_difference(first, second)) / 2.0
}

/// The `count` best of the permitted pairs, the best first; of equal ones that which is listed first.
pub fn most_informative_pairs(
    abilities: &Abilities,
    permitted: &[(usize, usize)],
    count: usize,
) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(f64, (usize, usize))> = Vec::with_capacity(permitted.len());
    pairs.extend(permitted.iter().map(|pair| (information_gain(abilities, pair.0, pair.1), *pair)));
    pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
    pairs.into_iter().take(count).map(|(_, pair)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Contest, RIDGE, bradley_terry};
    use super::*;

    #[test]
    fn pairs_that_were_compared_often_or_are_decided_come_last() {
        let contest = |first, second, first_wins, second_wins| Contest { first, second, first_wins, second_wins };
        let contests =
            [contest(0, 1, 20.0, 20.0), contest(0, 2, 2.0, 2.0), contest(3, 0, 30.0, 0.0), contest(3, 1, 30.0, 0.0)];
        let fitted = bradley_terry(4, &contests, RIDGE).unwrap();
        let best = most_informative_pairs(&fitted, &[(0, 1), (1, 2), (0, 3)], 2);
        assert_eq!(best[0], (1, 2));
        assert_eq!(most_informative_pairs(&fitted, &[(0, 1)], 9), [(0, 1)]);
    }
}
