//! How far judges agree: figures without a word of verdict.
//!
//! Which one fits: [`krippendorff_alpha`] for any number of judges, any scale and missing scores;
//! [`intraclass_correlations`] for complete tables of numbers; [`kendall_w`] for complete tables of which only the
//! order counts; [`fleiss_kappa`] for categories.

mod fleiss;
mod intraclass;
mod kendall;
mod krippendorff;

pub use fleiss::{FleissKappa, fleiss_kappa};
pub use intraclass::{IntraclassCorrelations, intraclass_correlations};
pub use kendall::{KendallW, kendall_w};
pub use krippendorff::{KrippendorffAlpha, Scale, krippendorff_alpha};

use crate::ModelError;
use crate::numeric::is_usable;

/// The number of columns, where there are at least two of them and of rows, and all values are usable.
fn columns(rows: &[Vec<f64>]) -> Result<usize, ModelError> {
    let columns = rows.first().ok_or(ModelError::Empty)?.len();
    if rows.iter().any(|row| row.len() != columns) {
        return Err(ModelError::Incomplete);
    }
    if rows.len() < 2 || columns < 2 {
        return Err(ModelError::TooFew("rows or columns"));
    }
    if rows.iter().flatten().any(|value| !is_usable(*value)) {
        return Err(ModelError::InvalidValue("the table"));
    }
    Ok(columns)
}
