//! The events of the interface (contract, section 8): the one catalogue, from which `docs/events.md` and the webhooks of the
//! OpenAPI document are made.

use std::fmt::Write as _;

use kernel::kind::Kind;

macro_rules! events {
    ($($variant:ident $name:literal, $kind:expr, $since:literal, $about:literal, $causes:literal;)*) => {
        /// Something that a subscriber can be told of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Event {
            $(#[doc = $about] $variant),*
        }

        impl Event {
            /// Every event, in the order of the contract.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The identifiers of all of them, in the same order.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),*];

            /// The identifier that subscriptions and deliveries use.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }

            /// The kind of the record that it is about; none where the interface does not show such records yet.
            pub const fn kind(self) -> Option<Kind> {
                match self {
                    $(Self::$variant => $kind),*
                }
            }

            /// The version of the interface that it came with.
            pub const fn since(self) -> &'static str {
                match self {
                    $(Self::$variant => $since),*
                }
            }

            /// When it happens: a sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $about),*
                }
            }

            /// The operations that cause it; empty where none does yet.
            pub const fn causes(self) -> &'static str {
                match self {
                    $(Self::$variant => $causes),*
                }
            }
        }
    };
}

events! {
    EntryCreated "entry_created", Some(Kind::Entry), "2.3", "An entry was made.",
        "`POST /entry`, `POST /entry/{slug}/copy`";
    EntryUpdated "entry_updated", Some(Kind::Entry), "2.3",
        "An entry changed or came back from the trash, or a contributor, an attachment or a file of it did.",
        "every operation that changes an entry or what belongs to it, `POST /entry/{slug}/restore`";
    EntrySubmitted "entry_submitted", Some(Kind::Entry), "2.3", "An entry became submitted, or was made as one.",
        "`POST /entry`, `PUT /entry/{slug}`";
    EntryResubmitted "entry_resubmitted", Some(Kind::Entry), "2.3", "An entry became resubmitted.",
        "`PUT /entry/{slug}`";
    EntryModerated "entry_moderated", Some(Kind::Entry), "2.3", "An entry got another moderation status.",
        "`POST /entry`, `PUT /entry/{slug}`, `PUT /review-task/{token}/decision`, the deadline of a task";
    EntryTagged "entry_tagged", Some(Kind::Entry), "2.3", "An entry got a tag that it did not have.",
        "`PUT /entry/{slug}/tag/{tags}`";
    EntryEligible "entry_eligible", Some(Kind::Entry), "2.3", "An entry passed the screening of its answers.",
        "every operation that changes the answers or the status of an entry";
    EntryIneligible "entry_ineligible", Some(Kind::Entry), "2.3", "An entry did not pass the screening of its answers.",
        "every operation that changes the answers or the status of an entry";
    EntryDeleted "entry_deleted", Some(Kind::Entry), "2.3", "An entry went to the trash.",
        "`DELETE /entry/{slug}`";
    EntryCopied "entry_copied", Some(Kind::Entry), "2.3", "An entry was made as the copy of another one.",
        "`POST /entry/{slug}/copy`";
    EntryCategoryChanged "entry_category_changed", Some(Kind::Entry), "2.3", "An entry moved to another category.",
        "`PUT /entry/{slug}`, `PUT /entry/{slug}/update-category`";
    EntryChapterChanged "entry_chapter_changed", Some(Kind::Entry), "2.3", "An entry moved to another chapter.",
        "`PUT /entry/{slug}`, `PUT /entry/{slug}/update-chapter`";
    EntryStatusChanged "entry_status_changed", Some(Kind::Entry), "2.3", "An entry got another status.",
        "`PUT /entry/{slug}`, `PUT /review-task/{token}/decision`, the deadline of a task";
    FieldValueUpdated "field_value_updated", Some(Kind::Entry), "2.3", "Answers of an entry changed.",
        "`PUT /entry/{slug}`, `PUT /entry/{slug}/update-field/{field}`, `POST /entry/{slug}/upload/{field}`";
    CollaboratorInvited "collaborator_invited", Some(Kind::Entry), "2.3",
        "Somebody was invited to work on an entry.", "";
    AssignmentCreated "assignment_created", Some(Kind::Assignment), "2.3", "A judge was assigned to an entry.",
        "`POST /assignment`, `POST /assignment/reassign`, `POST /assignment/apply`, a panel";
    AssignmentCompleted "assignment_completed", Some(Kind::Assignment), "2.3", "A judge completed an assignment.",
        "`PUT /assignment/{slug}/score`, `POST /assignment/{slug}/reopen`";
    ReviewTaskCreated "review_task_created", Some(Kind::ReviewTask), "2.3", "Somebody was asked to agree to an entry.",
        "`POST /review-task`, `PUT /review-task/{token}/decision`, `POST /entry`, `PUT /entry/{slug}`, the deadline of a task";
    ReviewTaskSubmitted "review_task_submitted", Some(Kind::ReviewTask), "2.3", "A review task was decided.",
        "`PUT /review-task/{token}/decision`, the deadline of a task";
    DocumentCreated "document_created", Some(Kind::Document), "2.3", "A document was made.", "the job of `POST /document`";
    DocumentUpdated "document_updated", None, "2.3", "A document changed.", "";
    DocumentDeleted "document_deleted", Some(Kind::Document), "2.3", "A document went to the trash.", "`DELETE /document/{slug}`";
    MembershipRegistered "membership_registered", Some(Kind::User), "2.3", "A person became a user of the account.",
        "`POST /user`";
    UserConfirmed "user_confirmed", Some(Kind::User), "2.3", "A user who was invited followed a link for the first time.",
        "the first use of a link that confirms or signs in";
    UserUpdated "user_updated", Some(Kind::User), "2.3", "A user changed.",
        "`PUT /user/{slug}`, `POST /user/{slug}/upload/{field}`, the first use of a link that confirms or signs in";
    RoleGranted "role_granted", Some(Kind::User), "2.3", "A user got a role.", "`POST /user`, `PUT /user/{slug}`";
    PaymentPending "payment_pending", Some(Kind::Order), "2.3", "An order is to be paid, or a payment of it is pending.",
        "every operation that makes an order that is to be paid, `POST /order/{slug}/payment`";
    PaymentSuccess "payment_success", Some(Kind::Order), "2.3", "An order was paid.",
        "every operation that makes an order of nothing, `PUT /order/{slug}`, `POST /order/{slug}/payment`";
}

impl Event {
    /// The event of this identifier.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// The text of `docs/events.md`.
    pub fn documentation() -> String {
        let mut text = String::from(ABOUT);
        for event in Self::ALL {
            let record = event.kind().map_or("not shown yet", Kind::words);
            let causes = if event.causes().is_empty() { "nothing yet" } else { event.causes() };
            // A text takes whatever is written to it.
            let _ = writeln!(text, "| `{event}` | {record} | {} | {} | {causes} |", event.since(), event.about());
        }
        text
    }
}

const ABOUT: &str = "\
# Events

This page is the table of `crates/plaudit/src/log/event.rs`; a test compares the two.

An event is written to the change log in the transaction of the change that causes it. `GET /event` shows every change with
its events; a webhook is sent those that it subscribes to, with the record as it was after the change: the members of a single
read, and then `event`, `timestamp` (that of the change) and `source` (`ui` or `api`). The schemas are in `/openapi.json`, under
`webhooks`. An import causes no events. What causes an event causes it only where the change is one that the event tells of.

| Event | Record | Since version | When | Caused by |
|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_the_catalogue() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.md");
        let documentation = Event::documentation();
        assert!(std::fs::read_to_string(path).unwrap() == documentation, "docs/events.md must be:\n{documentation}");
    }

    #[test]
    fn every_event_is_found_by_its_name() {
        assert!(Event::ALL.into_iter().all(|event| Event::named(event.name()) == Some(event)));
        assert_eq!(Event::NAMES, Event::ALL.map(Event::name));
        assert_eq!(Event::named("entry_exploded"), None);
    }

    #[test]
    fn what_nothing_shows_is_caused_by_nothing() {
        assert!(Event::ALL.into_iter().all(|event| event.kind().is_some() || event.causes().is_empty()));
    }
}
