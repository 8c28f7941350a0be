//! The events of the interface (contract, section 8).

macro_rules! events {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// Something that a subscriber can be told of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event {
            $(#[doc = concat!("`", $name, "`.")] $variant),*
        }

        impl Event {
            /// The identifier that subscriptions and deliveries use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

events! {
    EntryCreated "entry_created",
    EntryUpdated "entry_updated",
    EntrySubmitted "entry_submitted",
    EntryResubmitted "entry_resubmitted",
    EntryModerated "entry_moderated",
    EntryTagged "entry_tagged",
    EntryEligible "entry_eligible",
    EntryIneligible "entry_ineligible",
    EntryDeleted "entry_deleted",
    EntryCopied "entry_copied",
    EntryCategoryChanged "entry_category_changed",
    EntryChapterChanged "entry_chapter_changed",
    EntryStatusChanged "entry_status_changed",
    FieldValueUpdated "field_value_updated",
    CollaboratorInvited "collaborator_invited",
    AssignmentCreated "assignment_created",
    AssignmentCompleted "assignment_completed",
    ReviewTaskCreated "review_task_created",
    ReviewTaskSubmitted "review_task_submitted",
    DocumentCreated "document_created",
    DocumentUpdated "document_updated",
    DocumentDeleted "document_deleted",
    MembershipRegistered "membership_registered",
    UserConfirmed "user_confirmed",
    UserUpdated "user_updated",
    RoleGranted "role_granted",
    PaymentPending "payment_pending",
    PaymentSuccess "payment_success",
}
