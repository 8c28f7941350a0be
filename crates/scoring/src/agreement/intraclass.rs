//! The six intraclass correlations of Shrout & Fleiss (Psychological Bulletin 86, 1979), from the mean squares of a
//! complete table.
//!
//! - ICC(1): each entry has judges of its own. ICC(2): the same judges for all, as a sample of judges. ICC(3): these
//!   judges and no others, whose level does not count. With k: of the mean over the judges instead of one score.

use super::columns;
use crate::ModelError;
use crate::numeric::{mean, real, squared_deviations};

/// Mean squares and correlations. A correlation is nothing where its definition divides by zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntraclassCorrelations {
    /// The mean square between entries (BMS).
    pub between: f64,
    /// The mean square within entries (WMS).
    pub within: f64,
    /// The mean square between judges (JMS).
    pub judges: f64,
    /// The residual mean square (EMS).
    pub error: f64,
    /// ICC(1,1), ICC(2,1) and ICC(3,1).
    pub single: [Option<f64>; 3],
    /// ICC(1,k), ICC(2,k) and ICC(3,k).
    pub average: [Option<f64>; 3],
}

/// The correlations of rows of entries by columns of judges.
pub fn intraclass_correlations(rows: &[Vec<f64>]) -> Result<IntraclassCorrelations, ModelError> {
    let columns = columns(rows)?;
    if rows.iter().flatten().all(|value| value.total_cmp(&rows[0][0]).is_eq()) {
        return Err(ModelError::NoVariation);
    }
    let (entries, judges) = (real(rows.len()), real(columns));
    let row_means: Vec<f64> = rows.iter().map(|row| mean(row)).collect();
    let column_means: Vec<f64> =
        (0..columns).map(|column| rows.iter().map(|row| row[column]).sum::<f64>() / entries).collect();
    let grand = mean(&row_means);
    let residual = |(row, row_mean): (&Vec<f64>, &f64)| {
        let deviations = row.iter().zip(&column_means).map(|(value, column)| value - row_mean - column + grand);
        deviations.map(|deviation| deviation * deviation).sum::<f64>()
    };
    let residuals: f64 = rows.iter().zip(&row_means).map(residual).sum();
    let within: f64 = rows.iter().map(|row| squared_deviations(row)).sum();
    let between = judges * squared_deviations(&row_means) / (entries - 1.0);
    let within = within / (entries * (judges - 1.0));
    let of_judges = entries * squared_deviations(&column_means) / (judges - 1.0);
    let error = residuals / ((entries - 1.0) * (judges - 1.0));
    let of_sample = judges * (of_judges - error) / entries;
    let share = |above: f64, below: f64| (below.abs() > 0.0).then(|| above / below);
    Ok(IntraclassCorrelations {
        between,
        within,
        judges: of_judges,
        error,
        single: [
            share(between - within, between + (judges - 1.0) * within),
            share(between - error, between + (judges - 1.0) * error + of_sample),
            share(between - error, between + (judges - 1.0) * error),
        ],
        average: [
            share(between - within, between),
            share(between - error, between + of_sample / judges),
            share(between - error, between),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correlation_that_divides_by_zero_is_nothing_and_no_variation_is_refused() {
        let opposed = intraclass_correlations(&[vec![1.0, 3.0], vec![3.0, 1.0]]).unwrap();
        assert_eq!((opposed.single[0], opposed.average[0]), (Some(-1.0), None));
        assert_eq!(intraclass_correlations(&[vec![2.0; 3], vec![2.0; 3]]), Err(ModelError::NoVariation));
        assert_eq!(intraclass_correlations(&[vec![2.0; 3], vec![2.0; 2]]), Err(ModelError::Incomplete));
        assert_eq!(intraclass_correlations(&[vec![2.0; 3]]), Err(ModelError::TooFew("rows or columns")));
        assert_eq!(intraclass_correlations(&[]), Err(ModelError::Empty));
    }
}
