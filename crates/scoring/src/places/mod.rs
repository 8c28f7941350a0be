//! Places, ties and who goes on.
//!
//! - A tie is exact equality.
//! - Places are 1-2-2-4 by default; 1-3-3-4, 1-2-2-3 and the mean of the places that a tie takes are the other styles.
//! - A tie is broken by a chain of steps, each of which is recorded for every entry that took part in it.
//! - At a cut line ties are included by default.

mod advance;
mod ranking;
mod tie_break;

pub use advance::{Advanced, Cut, CutTies, advance};
pub use ranking::{Place, Ranking, Style, percentile};
pub use tie_break::{Evidence, MAX_HEAD_TO_HEAD, Marks, Step, TieStep, break_ties, criterion_mean, first_places};
