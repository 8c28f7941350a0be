//! The graph of who judged what: entries and judges are vertices, scores are edges.
//!
//! - Two entries can be compared without further assumptions where a path connects them (Eccleston & Hedayat, Annals of
//!   Statistics 2, 1974). What no path connects is a component of its own.
//! - The variance of a comparison is the error variance times the effective resistance between the two vertices (Bailey
//!   & Cameron, Combinatorics of optimal designs, 2009), with a unit resistor for each score.
//! - The algebraic connectivity (Fiedler 1973) is the second smallest eigenvalue of the Laplacian; it is zero where
//!   there are several components, and the higher, the better the design holds together.
//! - Entries are eliminated, so that only a matrix of judges is ever factored.

use crate::numeric::matrix::{Cholesky, Matrix};
use crate::numeric::real;
use crate::{ModelError, ScoreTable};

/// An entry or a judge, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// An entry.
    Entry(usize),
    /// A judge.
    Judge(usize),
}

/// Which entries and judges hang together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// How many components there are.
    pub count: usize,
    /// The component of each entry, numbered from zero by their first entries.
    pub entries: Vec<usize>,
    /// The component of each judge.
    pub judges: Vec<usize>,
}

impl Components {
    /// The component of an entry or judge.
    pub fn of(&self, vertex: Vertex) -> usize {
        match vertex {
            Vertex::Entry(entry) => self.entries[entry],
            Vertex::Judge(judge) => self.judges[judge],
        }
    }

    /// The first judge of each component.
    pub(crate) fn first_judges(&self) -> Vec<usize> {
        (0..self.count).filter_map(|group| self.judges.iter().position(|other| *other == group)).collect()
    }
}

/// The components of the graph.
pub fn components(table: &ScoreTable) -> Components {
    fn root(parents: &mut [usize], mut judge: usize) -> usize {
        while parents[judge] != judge {
            parents[judge] = parents[parents[judge]];
            judge = parents[judge];
        }
        judge
    }
    let mut parents: Vec<usize> = (0..table.judges()).collect();
    for (judges, _) in table.rows() {
        let first = root(&mut parents, judges[0]);
        for judge in judges {
            let other = root(&mut parents, *judge);
            parents[other] = first;
        }
    }
    let mut numbers = vec![usize::MAX; table.judges()];
    let mut count = 0;
    let mut entries = Vec::with_capacity(table.entries());
    for (judges, _) in table.rows() {
        let number = &mut numbers[root(&mut parents, judges[0])];
        if *number == usize::MAX {
            *number = count;
            count += 1;
        }
        entries.push(*number);
    }
    let judges = (0..table.judges()).map(|judge| numbers[root(&mut parents, judge)]).collect();
    Components { count, entries, judges }
}

/// The graph prepared for comparisons: one factorisation serves them all.
#[derive(Clone, Debug)]
pub struct Comparisons<'table> {
    table: &'table ScoreTable,
    components: Components,
    /// The equations of judges (see `ScoreTable::judge_equations`).
    equations: (Matrix, Vec<f64>),
    factor: Cholesky,
}

/// What the additive model says of judges, by least squares.
pub(crate) struct AdditiveFit {
    /// The effect of each judge, zero for the first of each component.
    pub(crate) judges: Vec<f64>,
    /// The sum of squared errors, zero where it is nothing but rounding.
    pub(crate) error: f64,
    /// Scores less independent unknowns.
    pub(crate) degrees_of_freedom: usize,
}

impl<'table> Comparisons<'table> {
    /// Eliminates entries and fixes the first judge of each component.
    pub fn new(table: &'table ScoreTable) -> Result<Self, ModelError> {
        let components = components(table);
        let equations = table.judge_equations(|scores| 1.0 / scores);
        let mut matrix = equations.0.clone();
        components.first_judges().into_iter().for_each(|judge| matrix.add(judge, judge, 1.0));
        let factor = Cholesky::of(matrix).ok_or(ModelError::NotConverged)?;
        Ok(Self { table, components, equations, factor })
    }

    /// Which entries and judges hang together.
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// The equations of judges, of which the matrix is singular.
    pub(crate) fn equations(&self) -> &(Matrix, Vec<f64>) {
        &self.equations
    }

    /// The additive model by least squares.
    pub(crate) fn additive_fit(&self) -> AdditiveFit {
        let mut judges = self.equations.1.clone();
        self.factor.solve(&mut judges);
        let entries = self.table.entry_means(|judge, value| value - judges[judge]);
        let error = self.table.squared_residuals(&entries, &judges);
        let magnitude: f64 = self.table.values().iter().map(|value| value * value).sum();
        let unknowns = self.table.entries() + self.table.judges() - self.components.count;
        AdditiveFit {
            judges,
            error: if error <= 1e-24 * magnitude { 0.0 } else { error },
            degrees_of_freedom: self.table.scores().saturating_sub(unknowns),
        }
    }

    /// The variance of the comparison of two vertices in units of the error variance; refused across components.
    pub fn effective_resistance(&self, from: Vertex, to: Vertex) -> Result<f64, ModelError> {
        if self.components.of(from) != self.components.of(to) {
            return Err(ModelError::NotConnected(self.components.count));
        }
        if from == to {
            return Ok(0.0);
        }
        let mut potentials = vec![0.0; self.table.judges()];
        for (vertex, current) in [(from, 1.0), (to, -1.0)] {
            match vertex {
                Vertex::Judge(judge) => potentials[judge] += current,
                Vertex::Entry(entry) => {
                    let judges = self.table.row(entry).0;
                    for judge in judges {
                        potentials[*judge] += current / real(judges.len());
                    }
                }
            }
        }
        self.factor.solve(&mut potentials);
        let potential = |vertex, current: f64| match vertex {
            Vertex::Judge(judge) => potentials[judge],
            Vertex::Entry(entry) => {
                let judges = self.table.row(entry).0;
                (current + judges.iter().map(|judge| potentials[*judge]).sum::<f64>()) / real(judges.len())
            }
        };
        Ok(potential(from, 1.0) - potential(to, -1.0))
    }
}

/// The second smallest eigenvalue of the Laplacian of the graph.
///
/// It is found by halving a range 60 times: the number of eigenvalues below a value is that of negative pivots after
/// the value is subtracted from the diagonal.
pub fn algebraic_connectivity(table: &ScoreTable) -> f64 {
    if components(table).count > 1 {
        return 0.0;
    }
    let eigenvalues_below = |value: f64| {
        let shifted = |scores: f64| {
            let left = scores - value;
            if left.abs() < f64::MIN_POSITIVE { f64::EPSILON * scores } else { left }
        };
        let entries = table.rows().filter(|(judges, _)| shifted(real(judges.len())) < 0.0).count();
        let (mut matrix, _) = table.judge_equations(|scores| 1.0 / shifted(scores));
        (0..table.judges()).for_each(|judge| matrix.add(judge, judge, -value));
        entries + matrix.negative_eigenvalues()
    };
    let vertices = real(table.entries() + table.judges());
    let fewest = (table.rows().map(|(judges, _)| judges.len()).chain(table.by_judge().iter().map(Vec::len))).min();
    // Fiedler's bound by the smallest degree.
    let mut high = vertices / (vertices - 1.0) * real(fewest.unwrap_or(0));
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if eigenvalues_below(middle) >= 2 { high = middle } else { low = middle }
    }
    f64::midpoint(low, high)
}
