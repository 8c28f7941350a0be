//! Scores corrected for lenient and severe judges.
//!
//! - The sum of `(y_ij - theta_i - beta_j)^2` plus lambda times the sum of `beta_j^2` is the smallest: entries are
//!   fixed, judges are random with variance `sigma_J^2`, and lambda = `sigma^2 / sigma_J^2` (Henderson, Biometrics 31,
//!   1975).
//! - lambda comes from Henderson's method III (Biometrics 9, 1953; Searle, Casella & `McCulloch`, Variance Components,
//!   1992, section 5.5) or from restricted maximum likelihood; they agree where data are balanced. An estimate of
//!   `sigma_J^2` that is not positive is zero: then nothing is corrected.
//! - Entries are eliminated and a matrix of judges is solved: `(D_J + lambda I - N' D_E^-1 N) beta = s_J - N' D_E^-1
//!   s_E`; then `theta_i` is the mean of `y_ij - beta_j`. Within each component of the judge-entry graph the `beta_j`
//!   sum to zero.
//! - Results are rounded to 1e-6 by [`published`], and places (1-2-2-4) follow the rounded values.
//! - Entries of different components are compared as if their judges came from one population:
//!   [`Correction::components`] says which are, so that it can be shown.
//! - What is not identified is refused: where no two judges can be compared, or nothing is left over to estimate an
//!   error from.

mod decisive;
mod intervals;

pub use decisive::{DecisiveJudge, decisive_judges};
pub use intervals::{Intervals, RankInterval};

use crate::incidence::{Comparisons, Components};
use crate::least_squares::FTest;
use crate::mixed::{judge_ratio_with_fixed_entries, with_ridge};
use crate::numeric::matrix::Cholesky;
use crate::numeric::{descending, published, real};
use crate::{ModelError, ScoreTable};

/// The smallest lambda: a smaller one would change no published digit, and make the matrix of several components
/// singular.
const SMALLEST_RIDGE: f64 = 1e-9;

/// How the variances of judges and errors are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarianceMethod {
    /// Henderson's method III, in closed form.
    HendersonThree,
    /// Restricted maximum likelihood, by iteration: a few tens of times slower.
    RestrictedLikelihood,
}

/// The corrected board.
#[derive(Clone, Debug)]
pub struct Correction<'table> {
    /// Each entry's corrected score, on the scale of the scores, rounded to 1e-6.
    pub entries: Vec<f64>,
    /// Each entry's place, from 1 for the highest; equal scores share the better place.
    pub places: Vec<usize>,
    /// By how much each judge scores higher than the others of the component, rounded to 1e-6.
    pub judges: Vec<f64>,
    /// `sigma^2`, the variance of a score that neither entry nor judge explains.
    pub residual_variance: f64,
    /// `sigma_J^2`, the variance between judges; zero where none is seen.
    pub judge_variance: f64,
    /// Scores less independent unknowns.
    pub residual_degrees_of_freedom: usize,
    /// The test that judges are equally severe, nothing where the model fits every score exactly.
    pub judge_test: Option<FTest>,
    /// Which entries were judged on common ground.
    pub components: Components,
    table: &'table ScoreTable,
    judge_effects: Vec<f64>,
    /// The factor of the judges' matrix, nothing where nothing is corrected.
    factor: Option<Cholesky>,
}

/// Corrects scores for the severity of judges.
pub fn correct(table: &ScoreTable, method: VarianceMethod) -> Result<Correction<'_>, ModelError> {
    let comparisons = Comparisons::new(table)?;
    let components = comparisons.components().clone();
    let contrasts = table.judges() - components.count;
    if contrasts == 0 {
        return Err(ModelError::JudgesNotComparable);
    }
    let additive = comparisons.additive_fit();
    if additive.degrees_of_freedom == 0 {
        return Err(ModelError::NoResidual);
    }
    let (matrix, totals) = comparisons.equations();
    let explained: f64 = additive.judges.iter().zip(totals).map(|(effect, total)| effect * total).sum();
    let error_variance = additive.error / real(additive.degrees_of_freedom);
    let moment = (explained - real(contrasts) * error_variance) / matrix.trace();
    let by_likelihood = method == VarianceMethod::RestrictedLikelihood && error_variance > 0.0;
    let ratio = if by_likelihood { judge_ratio_with_fixed_entries(table)? } else { moment.max(0.0) / error_variance };
    let ridge = (1.0 / ratio).max(SMALLEST_RIDGE);

    let mut judge_effects = vec![0.0; table.judges()];
    let mut factor = None;
    if ratio > 0.0 {
        let corrected = Cholesky::of(with_ridge(matrix, ridge)).ok_or(ModelError::NotConverged)?;
        judge_effects.clone_from(totals);
        corrected.solve(&mut judge_effects);
        centre_components(&mut judge_effects, &components);
        factor = Some(corrected);
    }
    let residual_variance =
        if by_likelihood { restricted_residual(table, &judge_effects, ridge) } else { error_variance };
    let entries = published_means(table, &judge_effects);
    Ok(Correction {
        places: places(&entries),
        entries,
        judges: judge_effects.iter().map(|effect| published(*effect)).collect(),
        residual_variance,
        judge_variance: if by_likelihood { ratio * residual_variance } else { moment.max(0.0) },
        residual_degrees_of_freedom: additive.degrees_of_freedom,
        judge_test: FTest::of(explained, additive.error, (contrasts, additive.degrees_of_freedom)),
        components,
        table,
        judge_effects,
        factor,
    })
}

/// Removes what rounding has left of each component's mean, which is zero.
fn centre_components(effects: &mut [f64], components: &Components) {
    let mut sums = vec![(0.0, 0.0); components.count];
    for (effect, component) in effects.iter().zip(&components.judges) {
        sums[*component].0 += effect;
        sums[*component].1 += 1.0;
    }
    for (effect, component) in effects.iter_mut().zip(&components.judges) {
        *effect -= sums[*component].0 / sums[*component].1;
    }
}

/// sigma^2 at the largest restricted likelihood: the penalised sum of squares over scores less entries.
fn restricted_residual(table: &ScoreTable, judges: &[f64], ridge: f64) -> f64 {
    let entries = table.entry_means(|judge, value| value - judges[judge]);
    let squares: f64 = judges.iter().map(|effect| effect * effect).sum();
    let penalty = if squares > 0.0 { ridge * squares } else { 0.0 };
    (table.squared_residuals(&entries, judges) + penalty) / real(table.scores() - table.entries())
}

fn published_means(table: &ScoreTable, judges: &[f64]) -> Vec<f64> {
    table.entry_means(|judge, value| value - judges[judge]).into_iter().map(published).collect()
}

/// Places from 1 for the highest; equal values share the better place and the next one is left out for each (1-2-2-4).
fn places(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<(i64, usize)> = values.iter().copied().map(descending).zip(0..).collect();
    order.sort_unstable();
    let mut places = vec![0; values.len()];
    let mut before = 0;
    for group in order.chunk_by(|left, right| left.0 == right.0) {
        for (_, entry) in group {
            places[*entry] = before + 1;
        }
        before += group.len();
    }
    places
}
