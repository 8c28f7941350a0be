//! Kendall's coefficient of concordance W (Kendall & Babington Smith, Annals of Mathematical Statistics 10, 1939), with
//! and without the correction for ties, and the chi-square test of Friedman for it.

use super::columns;
use crate::ModelError;
use crate::numeric::distribution::chi_square_upper;
use crate::numeric::{midranks, real, squared_deviations};

/// Concordance of rankings, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KendallW {
    /// Without correction for ties: below 1 even for raters who agree where they have ties.
    pub uncorrected: f64,
    /// With correction for ties.
    pub corrected: f64,
    /// The test value: raters x (subjects - 1) x corrected W.
    pub chi_square: f64,
    /// Subjects less one.
    pub degrees_of_freedom: usize,
    /// The probability of a test value at least as large where raters rank at random.
    pub p: f64,
}

/// W of rows of subjects by columns of raters. Values are ranked rater by rater, so that only their order counts.
pub fn kendall_w(rows: &[Vec<f64>]) -> Result<KendallW, ModelError> {
    let raters = columns(rows)?;
    let mut sums = vec![0.0; rows.len()];
    let mut ties = 0.0;
    let cubic = |size: usize| real(size) * (real(size) * real(size) - 1.0);
    for rater in 0..raters {
        // Zero has one sign, so that equal values are tied.
        let values: Vec<f64> = rows.iter().map(|row| row[rater] + 0.0).collect();
        let (ranks, groups) = midranks(&values);
        sums.iter_mut().zip(ranks).for_each(|(sum, rank)| *sum += rank);
        ties += groups.into_iter().map(cubic).sum::<f64>();
    }
    let largest = real(raters) * real(raters) * cubic(rows.len());
    let possible = largest - real(raters) * ties;
    if possible <= 0.0 {
        return Err(ModelError::NoVariation);
    }
    let spread = 12.0 * squared_deviations(&sums);
    let degrees_of_freedom = rows.len() - 1;
    let corrected = spread / possible;
    let chi_square = real(raters) * real(degrees_of_freedom) * corrected;
    Ok(KendallW {
        uncorrected: spread / largest,
        corrected,
        chi_square,
        degrees_of_freedom,
        p: chi_square_upper(chi_square, real(degrees_of_freedom)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raters_who_agree_with_ties_are_concordant_once_corrected() {
        let found = kendall_w(&[vec![1.0, 10.0], vec![1.0, 10.0], vec![2.0, 90.0]]).unwrap();
        assert!((found.corrected - 1.0).abs() < 1e-15 && found.uncorrected < 0.9);
    }

    #[test]
    fn raters_without_any_order_are_refused() {
        assert_eq!(kendall_w(&[vec![1.0, 2.0], vec![1.0, 2.0]]), Err(ModelError::NoVariation));
        assert_eq!(kendall_w(&[vec![1.0, f64::NAN], vec![1.0, 2.0]]), Err(ModelError::InvalidValue("the table")));
    }
}
