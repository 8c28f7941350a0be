//! The values of the members that say where an entry stands.

use crate::program::choices;

choices! {
    /// Where an entry is on its way.
    pub enum Status {
        /// It is being worked on.
        InProgress "in_progress",
        /// It was handed in.
        Submitted "submitted",
        /// It has to be handed in again.
        ResubmissionRequired "resubmission_required",
        /// It was handed in again.
        Resubmitted "resubmitted",
        /// Its entrant was asked for it and has not begun.
        Invited "invited",
        /// A review stage stopped it before it was handed in.
        NotApprovedForSubmission "not_approved_for_submission",
    }
}

choices! {
    /// What the managers think of an entry.
    pub enum Moderation {
        /// Nothing yet.
        Undecided "undecided",
        /// It may go on.
        Approved "approved",
        /// It may not.
        Rejected "rejected",
    }
}

choices! {
    /// Whether an entry is paid.
    pub enum Payment {
        /// Not yet.
        Unpaid "Unpaid",
        /// It is.
        Paid "Paid",
    }
}

choices! {
    /// Whether an entry scores as much as its form demands.
    pub enum Eligibility {
        /// It was not screened.
        Unscreened "",
        /// It does.
        Eligible "eligible",
        /// It does not.
        Ineligible "ineligible",
    }
}
