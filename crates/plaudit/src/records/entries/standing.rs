//! The values of the members that say where an entry stands.

use serde::Deserialize;

macro_rules! values {
    (
        $(#[$documentation:meta])*
        pub enum $type:ident {
            $($(#[$meaning:meta])* $variant:ident $name:literal,)+
        }
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum $type {
            $($(#[$meaning])* #[serde(rename = $name)] $variant,)+
        }

        impl $type {
            /// The written values.
            pub const CHOICES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            /// The written value.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

values! {
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

values! {
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

values! {
    /// Whether an entry is paid.
    pub enum Payment {
        /// Not yet.
        Unpaid "Unpaid",
        /// It is.
        Paid "Paid",
    }
}

values! {
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
