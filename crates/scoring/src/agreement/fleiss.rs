//! Fleiss' kappa for categories chosen by a fixed number of raters (Fleiss, Psychological Bulletin 76, 1971), with the
//! standard error of Fleiss, Nee & Landis (Psychological Bulletin 86, 1979).

use crate::ModelError;
use crate::numeric::real;

/// Agreement beyond chance.
#[derive(Clone, Debug, PartialEq)]
pub struct FleissKappa {
    /// (observed - chance) / (1 - chance).
    pub kappa: f64,
    /// The share of pairs of raters that agree.
    pub observed: f64,
    /// The share that would agree by chance.
    pub chance: f64,
    /// Kappa of each category against all others, nothing for one that nobody or everybody chose.
    pub per_category: Vec<Option<f64>>,
    /// Kappa by its standard error where only chance agrees.
    pub z: f64,
}

/// Kappa of rows of subjects by columns of categories, counting raters. Every subject has the same number of raters, at
/// least two.
pub fn fleiss_kappa(counts: &[Vec<u32>]) -> Result<FleissKappa, ModelError> {
    let raters = |row: &Vec<u32>| row.iter().map(|count| u64::from(*count)).sum::<u64>();
    let first = counts.first().ok_or(ModelError::Empty)?;
    if counts.iter().any(|row| raters(row) != raters(first) || row.len() != first.len()) {
        return Err(ModelError::Incomplete);
    }
    let raters = first.iter().copied().map(f64::from).sum::<f64>();
    if raters < 2.0 {
        return Err(ModelError::TooFew("raters"));
    }
    let subjects = real(counts.len());
    let pairs = subjects * raters * (raters - 1.0);
    let column = |category: usize| counts.iter().map(move |row| f64::from(row[category]));
    let shares: Vec<f64> =
        (0..first.len()).map(|category| column(category).sum::<f64>() / (subjects * raters)).collect();
    let varied: Vec<f64> = shares.iter().map(|share| share * (1.0 - share)).collect();
    let variation: f64 = varied.iter().sum();
    if variation <= 0.0 {
        return Err(ModelError::NoVariation);
    }
    let disagreeing: Vec<f64> =
        (0..first.len()).map(|category| column(category).map(|count| count * (raters - count)).sum()).collect();
    let observed = 1.0 - disagreeing.iter().sum::<f64>() / pairs;
    let chance: f64 = shares.iter().map(|share| share * share).sum();
    let kappa = 1.0 - disagreeing.iter().sum::<f64>() / (pairs * variation);
    let of_category =
        |(pairs_apart, varied): (&f64, &f64)| (*varied > 0.0).then(|| 1.0 - pairs_apart / (pairs * varied));
    let skew: f64 = shares.iter().zip(&varied).map(|(share, varied)| varied * (1.0 - 2.0 * share)).sum();
    let variance = 2.0 * (variation * variation - skew) / (pairs * variation * variation);
    Ok(FleissKappa {
        kappa,
        observed,
        chance,
        per_category: disagreeing.iter().zip(&varied).map(of_category).collect(),
        z: kappa / variance.sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_numbers_of_raters_single_raters_and_a_single_category_are_refused() {
        assert_eq!(fleiss_kappa(&[]), Err(ModelError::Empty));
        assert_eq!(fleiss_kappa(&[vec![2, 0], vec![2, 1]]), Err(ModelError::Incomplete));
        assert_eq!(fleiss_kappa(&[vec![1, 0], vec![0, 1]]), Err(ModelError::TooFew("raters")));
        assert_eq!(fleiss_kappa(&[vec![2, 0], vec![2, 0]]), Err(ModelError::NoVariation));
    }

    #[test]
    fn a_category_that_nobody_chose_has_no_kappa() {
        let found = fleiss_kappa(&[vec![3, 0, 0], vec![0, 3, 0]]).unwrap();
        assert_eq!((found.kappa, found.per_category), (1.0, vec![Some(1.0), Some(1.0), None]));
    }
}
