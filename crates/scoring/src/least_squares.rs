//! The additive model without assumptions about judges: score = grand mean + effect of the entry + effect of the judge
//! + error.
//!
//! - The sum of squared errors is the smallest; entry effects sum to zero, and so do judge effects.
//! - Where entries and judges fall into several components, effects of different components cannot be compared:
//!   refused.
//! - The analysis of variance takes judges first and entries after them (Montgomery, Design and Analysis of
//!   Experiments, incomplete blocks): total = judges + entries adjusted for judges + error.

use crate::incidence::{AdditiveFit, Comparisons, Vertex};
use crate::numeric::distribution::f_upper;
use crate::numeric::{mean, real, squared_deviations};
use crate::{ModelError, ScoreTable};

/// The sums of squares of the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumsOfSquares {
    /// About the mean of all scores.
    pub total: f64,
    /// Between judges, entries left aside.
    pub judges_unadjusted: f64,
    /// What entries explain beyond judges.
    pub entries_adjusted: f64,
    /// What neither explains.
    pub error: f64,
}

/// A ratio of mean squares, with the probability of one at least as large where nothing differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FTest {
    /// The ratio.
    pub statistic: f64,
    /// Degrees of freedom above and below the line.
    pub degrees_of_freedom: (usize, usize),
    /// The probability, from 0 to 1.
    pub p: f64,
}

impl FTest {
    /// The test of `explained` against `error`, both sums of squares; nothing where it would divide by zero.
    pub(crate) fn of(explained: f64, error: f64, degrees_of_freedom: (usize, usize)) -> Option<Self> {
        let (above, below) = degrees_of_freedom;
        let statistic = (explained / real(above)) / (error / real(below));
        let p = f_upper(statistic, real(above), real(below));
        (above > 0 && below > 0 && error > 0.0).then_some(Self { statistic, degrees_of_freedom, p })
    }
}

/// The fitted model.
#[derive(Clone, Debug)]
pub struct LeastSquares<'table> {
    /// The grand mean: the mean of the adjusted means, at judges of average severity.
    pub grand: f64,
    /// The effect of each entry; they sum to zero.
    pub entry_effects: Vec<f64>,
    /// The effect of each judge; they sum to zero, and a high one is a lenient judge's.
    pub judge_effects: Vec<f64>,
    /// The analysis of variance.
    pub sums: SumsOfSquares,
    /// Scores less independent unknowns.
    pub residual_degrees_of_freedom: usize,
    /// The test that entries are equal, nothing where no error is left over.
    pub entry_test: Option<FTest>,
    comparisons: Comparisons<'table>,
}

impl LeastSquares<'_> {
    /// What an entry would have on average from all judges.
    pub fn adjusted_mean(&self, entry: usize) -> f64 {
        self.grand + self.entry_effects[entry]
    }

    /// The estimated variance of the difference of two entries' effects; nothing where no error is left over.
    pub fn variance_of_difference(&self, first: usize, second: usize) -> Option<f64> {
        let resistance = self.comparisons.effective_resistance(Vertex::Entry(first), Vertex::Entry(second)).ok()?;
        let degrees = self.residual_degrees_of_freedom;
        (degrees > 0).then(|| resistance * self.sums.error / real(degrees))
    }
}

/// Fits the model, or says in how many components the data fall.
pub fn fit(table: &ScoreTable) -> Result<LeastSquares<'_>, ModelError> {
    let comparisons = Comparisons::new(table)?;
    if comparisons.components().count > 1 {
        return Err(ModelError::NotConnected(comparisons.components().count));
    }
    let AdditiveFit { mut judges, error, degrees_of_freedom } = comparisons.additive_fit();
    centre(&mut judges);
    let mut entries = table.entry_means(|judge, value| value - judges[judge]);
    let grand = centre(&mut entries);
    let total = squared_deviations(table.values());
    let overall = mean(table.values());
    let of_judge = |values: &Vec<f64>| real(values.len()) * (mean(values) - overall) * (mean(values) - overall);
    let judges_unadjusted: f64 = table.by_judge().iter().map(of_judge).sum();
    let entries_adjusted = (total - judges_unadjusted - error).max(0.0);
    Ok(LeastSquares {
        grand,
        entry_effects: entries,
        judge_effects: judges,
        sums: SumsOfSquares { total, judges_unadjusted, entries_adjusted, error },
        residual_degrees_of_freedom: degrees_of_freedom,
        entry_test: FTest::of(entries_adjusted, error, (table.entries() - 1, degrees_of_freedom)),
        comparisons,
    })
}

/// Takes the mean away and returns it.
fn centre(effects: &mut [f64]) -> f64 {
    let mean = mean(effects);
    for effect in effects {
        *effect -= mean;
    }
    mean
}
