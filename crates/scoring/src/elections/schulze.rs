//! Schulze's method.
//!
//! - A step from one entry to another is as strong as the number that prefers the one, where more do so than prefer the
//!   other. A path is as strong as its weakest step.
//! - One entry beats another when its strongest path there is stronger than that back. This has no circles, so that
//!   entries are ranked by how many beat them; entries that as many beat are tied, and do not beat each other.
//!
//! Source: M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent single-winner
//! election method", Social Choice and Welfare 36 (2011), with winning votes as strength.

use std::cmp::Reverse;

use super::{Election, Pairwise, TooManyEntries};
use crate::places::Ranking;

/// The result of Schulze's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schulze {
    /// How many prefer one entry to another.
    pub preferences: Pairwise,
    /// The strength of the strongest path from one entry to another.
    pub paths: Pairwise,
    /// All entries, by how many beat them.
    pub ranking: Ranking,
}

impl Election {
    /// Ranks by Schulze's method.
    pub fn schulze(&self) -> Result<Schulze, TooManyEntries> {
        let preferences = self.pairwise()?;
        let mut paths = preferences.map(|forth, back| if forth > back { forth } else { 0 });
        for through in &self.standing {
            let onwards = paths.row(*through).to_vec();
            for from in self.standing.iter().filter(|from| *from != through) {
                let first = paths.at(*from, *through);
                for (path, onward) in paths.row_mut(*from).iter_mut().zip(&onwards) {
                    *path = (*path).max(first.min(*onward));
                }
            }
        }
        let beaten = |entry: u32| {
            self.standing.iter().filter(|other| paths.get(**other, entry) > paths.get(entry, **other)).count()
        };
        let ranking = Ranking::of(self.standing.iter().map(|entry| (Reverse(beaten(*entry)), *entry)));
        Ok(Schulze { preferences, paths, ranking })
    }
}
