//! Abilities from comparisons: Bradley-Terry with and without an advantage of the first, ties by Davidson, rankings by
//! Plackett and Luce, judges of different reliability.
//!
//! - All of them are choices among alternatives whose log-odds are sums of parameters, so one engine fits them:
//!   Newton's method on a concave likelihood. The result is a batch fit that does not depend on the order of
//!   comparisons.
//! - Abilities are logarithms and sum to zero. Without a ridge the likelihood must have a maximum, which is decided
//!   beforehand, by the graph of who has won against whom (Ford, American Mathematical Monthly 64, 1957; Hunter, Annals
//!   of Statistics 32, 2004).
//! - With a ridge, the penalty is ridge x the sum of squared log abilities: 0.5 is a standard normal prior.

mod bradley_terry;
mod choice;
mod crowd;
mod davidson;
pub(crate) mod existence;
mod information;
mod plackett_luce;

pub use bradley_terry::{Contest, bradley_terry, bradley_terry_with_advantage, contests_of_wins};
pub use choice::Abilities;
pub use crowd::{Crowd, Judgement, crowd_bradley_terry};
pub use davidson::{TiedContest, davidson};
pub use existence::{Existence, bradley_terry_existence};
pub use information::{information_gain, most_informative_pairs};
pub use plackett_luce::{Ranking, plackett_luce};

/// The ridge for published fits: a standard normal prior of each log ability.
pub const RIDGE: f64 = 0.5;
