//! Entries and judges as crossed random effects, by restricted maximum likelihood (REML).
//!
//! - Score = mean + entry + judge + error; entries, judges and errors are independent normal numbers with a variance
//!   each.
//! - The restricted likelihood (Patterson & Thompson, Biometrika 58, 1971) is taken from Henderson's mixed model
//!   equations, in which entries are eliminated: a matrix as large as the number of judges is factored, however many
//!   entries there are.
//! - The error variance is profiled out; the logarithms of the other variances, as ratios to it, are found by Newton's
//!   method on the exact first derivatives. A ratio that falls to e^-20 is a variance of zero.
//! - Effects are best linear unbiased predictions: they are shrunk towards zero, the more the fewer scores an entry
//!   has.
//! - [`crate::correction`] uses the same equations with entries fixed.

use crate::incidence::Comparisons;
use crate::numeric::matrix::{Cholesky, Matrix};
use crate::numeric::newton::{Local, minimise};
use crate::numeric::real;
use crate::{ModelError, ScoreTable};

/// The natural logarithms between which the ratio of a variance to the error variance lies.
const LOG_RATIOS: (f64, f64) = (-20.0, 20.0);

/// How far apart the first derivatives are taken from which the second ones are estimated.
const DIFFERENCE: f64 = 1e-4;

/// The fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossedModel {
    /// Minus two times the logarithm of the restricted likelihood.
    pub criterion: f64,
    /// The variance of entries.
    pub entry_variance: f64,
    /// The variance of judges.
    pub judge_variance: f64,
    /// The variance of errors.
    pub residual_variance: f64,
    /// The estimated mean.
    pub intercept: f64,
    /// The predicted effect of each entry.
    pub entry_effects: Vec<f64>,
    /// The predicted effect of each judge.
    pub judge_effects: Vec<f64>,
    /// How much of an entry's deviation is kept, from 0 to 1, after judges are accounted for.
    pub entry_shrinkage: Vec<f64>,
}

impl CrossedModel {
    /// The share of entries in the variance of one score: the intraclass correlation for absolute agreement (ICC(2,1)
    /// of Shrout & Fleiss), from incomplete data. Nothing where scores do not vary.
    pub fn intraclass_correlation(&self) -> Option<f64> {
        let total = self.entry_variance + self.judge_variance + self.residual_variance;
        (total > 0.0).then(|| self.entry_variance / total)
    }
}

/// Fits the model.
pub fn fit(table: &ScoreTable) -> Result<CrossedModel, ModelError> {
    if table.entries() < 2 || table.judges() < 2 {
        return Err(ModelError::TooFew("entries or judges"));
    }
    let additive = Comparisons::new(table)?.additive_fit();
    if additive.degrees_of_freedom == 0 || additive.error <= 0.0 {
        return Err(ModelError::NoResidual);
    }
    let logs = search(table, 2)?;
    let fitted =
        Equations::solve(table, Some(libm::exp(logs[0])), libm::exp(logs[1])).ok_or(ModelError::NotConverged)?;
    let ratio = |log: f64| if log <= LOG_RATIOS.0 { 0.0 } else { libm::exp(log) };
    let entry_ratio = ratio(logs[0]);
    let (judge_effects, intercept) = fitted.dense.split_at(table.judges());
    let shrinkage = |(judges, _): (&[usize], &[f64])| {
        let information = real(judges.len()) * entry_ratio;
        information / (information + 1.0)
    };
    Ok(CrossedModel {
        criterion: fitted.criterion,
        entry_variance: entry_ratio * fitted.residual_variance,
        judge_variance: ratio(logs[1]) * fitted.residual_variance,
        residual_variance: fitted.residual_variance,
        intercept: intercept[0],
        entry_effects: fitted.entries,
        judge_effects: judge_effects.to_vec(),
        entry_shrinkage: table.rows().map(shrinkage).collect(),
    })
}

/// The ratio of the variance of judges to that of errors where entries are fixed; zero where judges do not differ.
pub(crate) fn judge_ratio_with_fixed_entries(table: &ScoreTable) -> Result<f64, ModelError> {
    let log = search(table, 1)?[0];
    Ok(if log <= LOG_RATIOS.0 { 0.0 } else { libm::exp(log) })
}

/// The logarithms of the ratios of variances at the largest restricted likelihood: of judges, or of entries and judges.
fn search(table: &ScoreTable, ratios: usize) -> Result<Vec<f64>, ModelError> {
    let evaluate = |logs: &[f64]| {
        let entry_ratio = (ratios == 2).then(|| libm::exp(logs[0]));
        let equations = Equations::solve(table, entry_ratio, libm::exp(logs[ratios - 1]))?;
        Some((equations.criterion, equations.gradient()))
    };
    let around = |logs: &[f64]| {
        let (value, gradient) = evaluate(logs)?;
        let mut hessian = Matrix::zero(ratios);
        for changed in 0..ratios {
            let mut beside = logs.to_vec();
            beside[changed] += DIFFERENCE;
            let (_, other) = evaluate(&beside)?;
            for index in 0..ratios {
                let half = (other[index] - gradient[index]) / DIFFERENCE / 2.0;
                hessian.add(changed, index, half);
                hessian.add(index, changed, half);
            }
        }
        Some(Local { value, gradient, hessian })
    };
    Ok(minimise(vec![0.0; ratios], LOG_RATIOS, around)?.0)
}

/// Henderson's mixed model equations, solved for given ratios of variances.
struct Equations<'table> {
    table: &'table ScoreTable,
    /// The ratio of the variance of entries to that of errors, nothing where entries are fixed.
    entry_ratio: Option<f64>,
    judge_ratio: f64,
    /// The effects of judges, and behind them the mean where entries are random.
    dense: Vec<f64>,
    entries: Vec<f64>,
    factor: Cholesky,
    residual_variance: f64,
    criterion: f64,
}

impl<'table> Equations<'table> {
    fn solve(table: &'table ScoreTable, entry_ratio: Option<f64>, judge_ratio: f64) -> Option<Self> {
        let entry_penalty = entry_ratio.map_or(0.0, |ratio| 1.0 / ratio);
        let weight = |scores: f64| 1.0 / (scores + entry_penalty);
        let (matrix, mut dense) = table.judge_equations(weight);
        let matrix = with_ridge(&matrix, 1.0 / judge_ratio);
        let matrix = if entry_ratio.is_some() { with_mean(table, &matrix, &mut dense, entry_penalty) } else { matrix };
        let factor = Cholesky::of(matrix)?;
        factor.solve(&mut dense);
        let mean = dense.get(table.judges()).copied().unwrap_or(0.0);
        let entry = |(judges, values): (&[usize], &[f64])| {
            let left = judges.iter().zip(values).map(|(judge, value)| value - dense[*judge] - mean);
            left.sum::<f64>() * weight(real(judges.len()))
        };
        let entries: Vec<f64> = table.rows().map(entry).collect();
        let judges: Vec<f64> = dense[..table.judges()].iter().map(|effect| effect + mean).collect();
        let penalised = table.squared_residuals(&entries, &judges)
            + entry_penalty * squares(&entries)
            + squares(&dense[..table.judges()]) / judge_ratio;
        let fixed = if entry_ratio.is_some() { 1 } else { table.entries() };
        let degrees = real(table.scores()) - real(fixed);
        let residual_variance = penalised / degrees;
        let of_entries: f64 = table.rows().map(|(judges, _)| -libm::log(weight(real(judges.len())))).sum();
        let criterion = degrees * (libm::log(2.0 * std::f64::consts::PI * residual_variance) + 1.0)
            + of_entries
            + factor.log_determinant()
            + real(table.judges()) * libm::log(judge_ratio)
            + entry_ratio.map_or(0.0, |ratio| real(table.entries()) * libm::log(ratio));
        Some(Self { table, entry_ratio, judge_ratio, dense, entries, factor, residual_variance, criterion })
    }

    /// The derivatives of the criterion by the logarithms of the ratios, entries first where they are random.
    fn gradient(&self) -> Vec<f64> {
        let judges = self.table.judges();
        let inverse = self.factor.inverse();
        let of = |count: usize, trace: f64, effects: &[f64], ratio: f64| {
            real(count) - (trace + squares(effects) / self.residual_variance) / ratio
        };
        let judge_trace = (0..judges).map(|judge| inverse.at(judge, judge)).sum();
        let by_judges = of(judges, judge_trace, &self.dense[..judges], self.judge_ratio);
        let Some(ratio) = self.entry_ratio else { return vec![by_judges] };
        let of_row = |(row, _): (&[usize], &[f64])| {
            let scores = real(row.len());
            let weight = 1.0 / (scores + 1.0 / ratio);
            let with_mean = inverse.row(judges);
            let pairs = row.iter().map(|judge| {
                let cells = inverse.row(*judge);
                row.iter().map(|other| cells[*other]).sum::<f64>() + 2.0 * scores * with_mean[*judge]
            });
            weight + weight * weight * (pairs.sum::<f64>() + scores * scores * with_mean[judges])
        };
        let entry_trace = self.table.rows().map(of_row).sum();
        vec![of(self.entries.len(), entry_trace, &self.entries, ratio), by_judges]
    }
}

/// The matrix with `ridge` added to its diagonal.
pub(crate) fn with_ridge(matrix: &Matrix, ridge: f64) -> Matrix {
    let mut matrix = matrix.clone();
    (0..matrix.size()).for_each(|index| matrix.add(index, index, ridge));
    matrix
}

/// The equations of judges with that of the mean as their last.
fn with_mean(table: &ScoreTable, judges: &Matrix, totals: &mut Vec<f64>, entry_penalty: f64) -> Matrix {
    let last = judges.size();
    let mut matrix = Matrix::zero(last + 1);
    (0..last).for_each(|judge| matrix.row_mut(judge)[..last].copy_from_slice(judges.row(judge)));
    let mut total = 0.0;
    for (row, values) in table.rows() {
        let scores = real(row.len());
        let left = entry_penalty / (scores + entry_penalty);
        for judge in row {
            matrix.add(last, *judge, left);
        }
        matrix.add(last, last, scores * left);
        total += values.iter().sum::<f64>() * left;
    }
    totals.push(total);
    matrix
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}
