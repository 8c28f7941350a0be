//! Which sheets count, and what they come to.
//!
//! A sheet is one judge's scores for one entry in one score set.
//!
//! | state | in the result | in the judge's load |
//! |---|---|---|
//! | complete: every required criterion is scored | yes | yes |
//! | in progress: some criteria are scored | policy: no, or over what is scored | yes |
//! | none | no | yes |
//! | abstained | no | done |
//! | conflict declared | policy, by default no | done |
//! | recused | never; the scores stay in the log | freed: the entry needs another judge |
//! | stray: the link between judge and entry is gone | no; again when the link is restored | no |
//!
//! Nothing that is missing counts as zero: a criterion without a score is left out of the sheet with its weight, and an
//! entry without sheets has no score.

mod scale;
mod totals;

pub use scale::{Criterion, InvalidScale, Method, Scale, Units};
pub use totals::{Mean, Totals};

/// How far a sheet has come, or what has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No criterion is scored.
    None,
    /// Some criteria are scored.
    InProgress,
    /// Every required criterion is scored.
    Complete,
    /// The judge does not score the entry.
    Abstained,
    /// The judge has declared a conflict.
    ConflictDeclared,
    /// The judge was taken off the entry for good.
    Recused,
    /// The link between judge and entry is gone.
    Stray,
}

/// What a sheet means for the judge who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// It is part of the judge's work.
    Carried,
    /// It was part of the judge's work, and nothing is left to do.
    Done,
    /// It is no longer the judge's, and the entry needs another judge.
    Freed,
    /// It is not part of the judge's work.
    None,
}

/// What happens to a sheet that lacks required criteria.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Incomplete {
    /// It does not count (`complete_only`).
    #[default]
    Excluded,
    /// It counts by what is scored: the share that it reached of what could be reached there (`renormalise`).
    Renormalised,
}

/// What is decided by configuration about which sheets count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Sheets that lack required criteria.
    pub incomplete: Incomplete,
    /// Whether sheets with a declared conflict count by their scores.
    pub conflicts_count: bool,
}

impl State {
    /// Whether a sheet in this state is in the result.
    pub fn counts(self, policy: Policy) -> bool {
        match self {
            Self::Complete => true,
            Self::InProgress => policy.incomplete == Incomplete::Renormalised,
            Self::ConflictDeclared => policy.conflicts_count,
            Self::None | Self::Abstained | Self::Recused | Self::Stray => false,
        }
    }

    /// What a sheet in this state means for its judge.
    pub fn load(self) -> Load {
        match self {
            Self::None | Self::InProgress | Self::Complete => Load::Carried,
            Self::Abstained | Self::ConflictDeclared => Load::Done,
            Self::Recused => Load::Freed,
            Self::Stray => Load::None,
        }
    }
}

impl Policy {
    /// What a sheet adds to its entry, or none where it does not count. The scores are in the order of the criteria.
    pub fn counted(self, state: State, scores: &[Option<u32>], scale: &Scale) -> Option<Units> {
        let enough = self.incomplete == Incomplete::Renormalised || scale.is_complete(scores);
        (state.counts(self) && enough).then(|| scale.units(scores)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 7] = [
        State::Complete,
        State::InProgress,
        State::None,
        State::Abstained,
        State::ConflictDeclared,
        State::Recused,
        State::Stray,
    ];

    fn scale() -> Scale {
        let criterion = |id: &str| Criterion::points(id, 10, 1);
        Scale::new(&[criterion("craft"), criterion("impact")], Method::Mean).unwrap()
    }

    #[test]
    fn the_state_and_the_policy_decide_what_counts() {
        let counting = |policy: Policy| STATES.map(|state| state.counts(policy));
        let renormalise = Policy { incomplete: Incomplete::Renormalised, ..Policy::default() };
        let conflicts = Policy { conflicts_count: true, ..Policy::default() };
        assert_eq!(counting(Policy::default()), [true, false, false, false, false, false, false]);
        assert_eq!(counting(renormalise), [true, true, false, false, false, false, false]);
        assert_eq!(counting(conflicts), [true, false, false, false, true, false, false]);
    }

    #[test]
    fn the_load_follows_from_the_state() {
        use Load::{Carried, Done, Freed};
        assert_eq!(STATES.map(State::load), [Carried, Carried, Carried, Done, Done, Freed, Load::None]);
    }

    #[test]
    fn a_sheet_that_lacks_a_required_criterion_counts_only_by_what_is_scored() {
        let partial = [Some(8), None];
        let renormalise = Policy { incomplete: Incomplete::Renormalised, ..Policy::default() };
        assert_eq!(Policy::default().counted(State::InProgress, &partial, &scale()), None);
        assert_eq!(Policy::default().counted(State::Complete, &partial, &scale()), None);
        assert_eq!(renormalise.counted(State::InProgress, &partial, &scale()), Some(Units::Whole(16)));
        assert_eq!(renormalise.counted(State::InProgress, &[None, None], &scale()), None);
    }

    #[test]
    fn a_declared_conflict_counts_by_policy_and_only_when_complete() {
        let policy = Policy { conflicts_count: true, ..Policy::default() };
        assert_eq!(policy.counted(State::ConflictDeclared, &[Some(8), Some(6)], &scale()), Some(Units::Whole(14)));
        assert_eq!(policy.counted(State::ConflictDeclared, &[Some(8), None], &scale()), None);
    }
}
