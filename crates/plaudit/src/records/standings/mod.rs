//! Standings: what the sheets of an entry in a score set come to.
//!
//! - There is one for each pair of an entry and a score set that has an assignment, be it in the trash. It follows from the
//!   assignments and the score set, and is no record: it is in no log and no export.
//! - The transaction that changes an assignment changes the standing by what the sheet was and is ([`store::write`]),
//!   so that it never has to be computed again. Whoever changes the criteria of a score set has all of its standings
//!   computed anew
//!   ([`store::refresh`]). `plaudit doctor` compares both.
//! - Which sheets count, and what they come to, is said in [`rules`].

pub mod analysis;
pub mod board;
pub mod item;
pub(crate) mod list;
pub mod rules;
pub mod store;
pub mod whole;

pub use list::LISTED;
pub use rules::{Counted, Totals};
