//! Whether a likelihood of comparisons has a maximum.
//!
//! - For abilities alone it has one where every item has won, directly or through others, against every other: the
//!   graph of wins is strongly connected.
//! - With a further parameter it has none where some shift of the parameter by one, together with some abilities, makes
//!   no outcome less likely. These are differences of abilities with bounds, which can be met where the graph of bounds
//!   has no negative cycle (Bellman 1958; Albert & Anderson, Biometrika 71, 1984, on separation).

use super::Contest;
use crate::ModelError;

/// Whether a maximum exists, and what is in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existence {
    /// Groups of items that have all won, directly or through others, against each other; one where the maximum exists.
    /// Each is in ascending order, and they are ordered by their first items.
    pub strong_components: Vec<Vec<usize>>,
    /// Whether some items never met others, directly or through others.
    pub disconnected: bool,
}

impl Existence {
    /// Whether the likelihood has a maximum.
    pub fn exists(&self) -> bool {
        self.strong_components.len() == 1
    }

    /// The existence for `items` items and pairs of one that won and one that lost.
    pub(crate) fn of(items: usize, wins: &[(usize, usize)]) -> Self {
        let mut losers = vec![Vec::new(); items];
        let mut winners = vec![Vec::new(); items];
        for (winner, loser) in wins {
            losers[*winner].push(*loser);
            winners[*loser].push(*winner);
        }
        let mut strong_components: Vec<Vec<usize>> = Vec::new();
        let mut assigned = vec![false; items];
        for item in 0..items {
            if !assigned[item] {
                let (below, above) = (reached(&losers, item), reached(&winners, item));
                let component: Vec<usize> = (0..items).filter(|other| below[*other] && above[*other]).collect();
                for other in &component {
                    assigned[*other] = true;
                }
                strong_components.push(component);
            }
        }
        let either: Vec<Vec<usize>> = losers.into_iter().zip(winners).map(|(lost, won)| [lost, won].concat()).collect();
        Self { disconnected: items > 0 && reached(&either, 0).contains(&false), strong_components }
    }

    /// An error where there is no maximum.
    pub(crate) fn required(self) -> Result<(), ModelError> {
        if self.exists() {
            return Ok(());
        }
        let Self { strong_components, disconnected } = self;
        Err(ModelError::NoMaximum { strong_components, disconnected })
    }
}

/// Whether log abilities of `items` items have a finite best value, from who has won.
pub fn bradley_terry_existence(items: usize, contests: &[Contest]) -> Result<Existence, ModelError> {
    Contest::validate(items, contests)?;
    let wins = |contest: &Contest| {
        let first = (contest.first_wins > 0.0).then_some((contest.first, contest.second));
        first.into_iter().chain((contest.second_wins > 0.0).then_some((contest.second, contest.first)))
    };
    Ok(Existence::of(items, &contests.iter().flat_map(wins).collect::<Vec<_>>()))
}

fn reached(neighbours: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; neighbours.len()];
    let mut open = vec![from];
    reached[from] = true;
    while let Some(item) = open.pop() {
        for next in &neighbours[item] {
            if !reached[*next] {
                reached[*next] = true;
                open.push(*next);
            }
        }
    }
    reached
}

/// A bound on the difference of two abilities: that of `item` is at most that of `above` plus `bound`.
pub(crate) struct DifferenceBound {
    pub(crate) item: usize,
    pub(crate) above: usize,
    pub(crate) bound: f64,
}

/// Whether some abilities meet all bounds.
pub(crate) fn can_be_met(items: usize, bounds: &[DifferenceBound]) -> bool {
    let mut abilities = vec![0.0; items];
    for _ in 0..=items {
        let mut changed = false;
        for DifferenceBound { item, above, bound } in bounds {
            let most = abilities[*above] + bound;
            if abilities[*item] > most + 1e-9 {
                abilities[*item] = most;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
    false
}
