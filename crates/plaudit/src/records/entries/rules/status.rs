//! The way of an entry: from which status it can come to which.
//!
//! | from | to | by |
//! |---|---|---|
//! | `in_progress` | `submitted` | handing it in |
//! | `submitted` | `in_progress` | taking it back |
//! | `submitted` | `resubmission_required` | asking for it again |
//! | `resubmission_required` | `resubmitted` | handing it in again |
//! | `invited` | `in_progress` | beginning |
//! | `in_progress` | `not_approved_for_submission` | a review stage that stops it |
//! | `not_approved_for_submission` | `in_progress` | beginning once more |
//!
//! There is no other way, whoever asks.

use crate::records::entries::Status;
use kernel::text::Timestamp;

/// A step on the way of an entry that a request can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::records::entries) enum Step {
    /// It is handed in: in time, with an answer to every required field.
    Submit,
    /// It is taken back, and was not handed in then.
    Revert,
    /// It has to be handed in again.
    Return,
    /// It is handed in again, with an answer to every required field.
    Resubmit,
    /// Its entrant begins.
    Begin,
}

/// The step from one status to another, where there is one.
pub(in crate::records::entries) fn step(from: Status, to: Status) -> Option<Step> {
    match (from, to) {
        (Status::InProgress, Status::Submitted) => Some(Step::Submit),
        (Status::Submitted, Status::InProgress) => Some(Step::Revert),
        (Status::Submitted, Status::ResubmissionRequired) => Some(Step::Return),
        (Status::ResubmissionRequired, Status::Resubmitted) => Some(Step::Resubmit),
        (Status::Invited | Status::NotApprovedForSubmission, Status::InProgress) => Some(Step::Begin),
        _ => None,
    }
}

impl Step {
    /// Whether the entry is handed in by it.
    pub(in crate::records::entries) fn hands_in(self) -> bool {
        matches!(self, Self::Submit | Self::Resubmit)
    }

    /// When an entry counts as submitted after it.
    pub(in crate::records::entries) fn submitted(self, before: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Submit | Self::Resubmit => Some(now),
            Self::Return => before,
            Self::Revert | Self::Begin => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The contract's list, written down a second time.
    const WAYS: &[(&str, &str)] = &[
        ("in_progress", "submitted"),
        ("submitted", "in_progress"),
        ("submitted", "resubmission_required"),
        ("resubmission_required", "resubmitted"),
        ("invited", "in_progress"),
        ("not_approved_for_submission", "in_progress"),
    ];

    #[test]
    fn there_is_no_way_but_those_of_the_contract() {
        for (from, before) in Status::CHOICES {
            for (to, after) in Status::CHOICES {
                assert_eq!(step(*before, *after).is_some(), WAYS.contains(&(from, to)), "{from} to {to}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_steps_leaves_the_way(asked in proptest::collection::vec(0..6_usize, 0..40)) {
            let (mut status, mut submitted) = (Status::InProgress, None);
            for (second, to) in (1..).zip(asked) {
                let now = Timestamp::from_seconds(second);
                let to = Status::CHOICES[to].1;
                if let Some(step) = step(status, to) {
                    submitted = step.submitted(submitted, now);
                    status = to;
                }
                // Nobody is invited twice, and only what was handed in has a time of it.
                prop_assert_ne!(status, Status::Invited);
                let was_handed_in =
                    matches!(status, Status::Submitted | Status::ResubmissionRequired | Status::Resubmitted);
                prop_assert_eq!(submitted.is_some(), was_handed_in);
            }
        }
    }
}
