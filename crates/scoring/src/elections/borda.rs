//! Borda's count: points by preference.

use super::Election;
use crate::places::Ranking;

/// The points of each entry: the sum over preferences of how often it was named so times the points for that
/// preference. Preferences without points give none, so that five points count a top 5.
pub fn points_by_preference(points: &[u64], preference_counts: &[Vec<u64>]) -> Vec<u64> {
    let of = |counts: &Vec<u64>| counts.iter().zip(points).map(|(count, points)| count * points).sum();
    preference_counts.iter().map(of).collect()
}

impl Election {
    /// Borda's count with the number of entries less 1 for a first preference, down to 0; an entry that a ballot does
    /// not name gets nothing from it. Gives the points by entry and the ranking by points (J.-C. de Borda, "Mémoire sur
    /// les élections au scrutin", 1781).
    pub fn borda(&self) -> (Vec<u64>, Ranking) {
        let points: Vec<u64> = (0..self.standing.len() as u64).rev().collect();
        self.borda_by(&points)
    }

    /// Borda's count with these points for the first, second and further preferences.
    pub fn borda_by(&self, points: &[u64]) -> (Vec<u64>, Ranking) {
        let points = points_by_preference(points, &self.preference_counts());
        let ranking = Ranking::of(self.standing.iter().map(|entry| (points[*entry as usize], *entry)));
        (points, ranking)
    }
}
