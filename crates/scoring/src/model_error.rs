//! Why a model is refused: what the data do not determine is said, and never guessed.

/// The reason for which there is no result. Entries, judges and items are named by their position, from zero.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There is nothing to compute from.
    #[error("there are no observations")]
    Empty,
    /// A value is infinite, no number, or outside what it can be.
    #[error("{0} has a value that it cannot have")]
    InvalidValue(&'static str),
    /// Too few of these for any result.
    #[error("there are too few {0}")]
    TooFew(&'static str),
    /// The position of an entry below the highest one that has no score.
    #[error("entry {0} has no score")]
    EntryWithoutScores(usize),
    /// The position of a judge below the highest one that has no score.
    #[error("judge {0} has no score")]
    JudgeWithoutScores(usize),
    /// The method needs a value in every cell.
    #[error("the rows do not all have the same number of values")]
    Incomplete,
    /// Entries of different groups share no judge, directly or through others.
    #[error("entries and judges fall into {0} groups that no score connects")]
    NotConnected(usize),
    /// Each judge scored entries that nobody else scored.
    #[error("no two judges scored the same entry, so that their severity cannot be compared")]
    JudgesNotComparable,
    /// There are as many unknowns as scores, or the model fits every score exactly.
    #[error("the scores leave nothing over from which an error could be estimated")]
    NoResidual,
    /// The statistic divides by a variation that is not there.
    #[error("the values do not vary")]
    NoVariation,
    /// Some items always win against the others, so that their ability has no upper bound.
    #[error("the likelihood has no maximum: some of {} groups of items never lose to another", .strong_components.len())]
    NoMaximum {
        /// Items within a group have all won, directly or through others, against each other.
        strong_components: Vec<Vec<usize>>,
        /// Whether some groups never met.
        disconnected: bool,
    },
    /// The best value of this parameter is infinite, or zero where it must be positive.
    #[error("the likelihood has no maximum: {0} has no finite best value")]
    Unbounded(&'static str),
    /// The search for the best parameters did not end.
    #[error("the search for the maximum of the likelihood did not converge")]
    NotConverged,
}
