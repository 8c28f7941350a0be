//! The filters by what an entry is, which the lists of entries and of what belongs to entries have in common.

use crate::lists::page::{Filter, FilterKind};
use crate::records::entries::{Moderation, STATUS_LENGTH, Status, TITLE_LENGTH};

/// The statuses that can be asked for.
const STATUSES: &[&str] = &[
    Status::Submitted.name(),
    Status::InProgress.name(),
    Status::ResubmissionRequired.name(),
    Status::Resubmitted.name(),
];
const MODERATIONS: &[&str] = &[Moderation::Approved.name(), Moderation::Undecided.name(), Moderation::Rejected.name()];

pub(crate) const STATUS: Filter = Filter::new("status", FilterKind::OneOf(STATUSES), "Where the entry is on its way");
pub(crate) const MODERATION: Filter =
    Filter::new("moderation", FilterKind::OneOf(MODERATIONS), "What the managers think of the entry");
pub(crate) const PAYMENT_STATUS: Filter =
    Filter::new("payment_status", FilterKind::OneOf(&["paid", "awaiting_payment"]), "Whether the entry is paid");
pub(crate) const REVIEW_STATUS: Filter =
    Filter::new("review_status", FilterKind::Text { max: STATUS_LENGTH }, "Where the review of the entry stands");
pub(crate) const TAG: Filter =
    Filter::new("tag", FilterKind::Text { max: TITLE_LENGTH }, "A tag of the entry, as it was given");
pub(crate) const CATEGORY: Filter = Filter::new("category", FilterKind::Slug, "The category of the entry");
pub(crate) const CHAPTER: Filter = Filter::new("chapter", FilterKind::Slug, "The chapter of the entry");
pub(crate) const SEASON: Filter = Filter::season("The season of the entry, or `all`");
