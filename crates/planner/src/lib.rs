//! Plans who judges what: random under balance, exact with affinities, with conflicts and capacities, from a seed.
//!
//! Indices in a problem and in a plan are those of its entries and judges; an index beyond them is a fault of the caller.
#![doc = ""]
#![doc = include_str!("../README.md")]

mod check;
mod conflict;
mod exact;
mod flow;
mod panel;
mod problem;
mod random;
mod report;

pub use check::{Broken, check};
pub use conflict::{Conflict, Rule};
pub use exact::{exact, max_min, total};
pub use panel::{Keys, Member, panel};
pub use problem::{Affinity, Entry, Judge, MAX_WEIGHT, Pair, Problem};
pub use random::random;
pub use report::{Report, report};
