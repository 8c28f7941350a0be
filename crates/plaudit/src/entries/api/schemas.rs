//! The bodies of requests, for their description.

use std::collections::BTreeMap;

/// The body of `PostEntryV23`.
#[derive(utoipa::ToSchema)]
pub struct CreateEntry {
    /// A category of the season that is active and not locked.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub category: String,
    /// The user whom the entry belongs to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub entrant: String,
    /// A season that is not over.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub season: String,
    /// The title.
    #[schema(max_length = 255)]
    pub title: String,
    /// An active chapter of the season that offers the category; left out, the first one.
    pub chapter: Option<String>,
    /// The form, which is the category's where that has one.
    pub form: Option<String>,
    /// `in_progress` where it is left out, `submitted` or `resubmission_required`.
    pub status: Option<String>,
    /// `undecided` where it is left out, `approved` or `rejected`.
    pub moderation_status: Option<String>,
    /// Answers by the slug of their field.
    #[schema(value_type = Option<Object>)]
    pub entry_fields: Option<BTreeMap<String, String>>,
    /// `YYYY-MM-DD HH:MM` by the clocks of the account.
    pub custom_deadline: Option<String>,
    /// The status of its grant.
    pub grant_status: Option<String>,
    /// When its grant ends, `YYYY-MM-DD`.
    pub grant_end_date: Option<String>,
}

/// The body of `PutEntryV23`. What is left out keeps its value.
#[derive(utoipa::ToSchema)]
pub struct UpdateEntry {
    /// Another category of the season and the form.
    pub category: Option<String>,
    /// The user whom the entry belongs to.
    pub entrant: Option<String>,
    /// The title.
    #[schema(max_length = 255)]
    pub title: Option<String>,
    /// An active chapter of the season that offers the category.
    pub chapter: Option<String>,
    /// `submitted`, `in_progress`, `resubmission_required` or `resubmitted`.
    pub status: Option<String>,
    /// `undecided`, `approved` or `rejected`.
    pub moderation_status: Option<String>,
    /// Answers by the slug of their field; null or an empty string takes one back, the cells of a table are merged.
    #[schema(value_type = Option<Object>)]
    pub entry_fields: Option<BTreeMap<String, String>>,
    /// `YYYY-MM-DD HH:MM` by the clocks of the account; `-` or null for none.
    pub custom_deadline: Option<String>,
    /// The status of its grant; null for none.
    pub grant_status: Option<String>,
    /// When its grant ends, `YYYY-MM-DD`; null for never.
    pub grant_end_date: Option<String>,
}

/// The body of `PutEntryUpdateTitleV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateEntryTitle {
    /// The title.
    #[schema(max_length = 255)]
    pub title: String,
}

/// The body of `PutEntryUpdateFieldV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateEntryAnswer {
    /// The answer, in the form that the type of the field has.
    #[schema(value_type = Object)]
    pub value: String,
}

/// The body of `PutEntryUpdateCategoryV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateEntryCategory {
    /// The slug of the category that the entry moves to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub category: String,
}

/// The body of `PutEntryUpdateChapterV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateEntryChapter {
    /// The slug of the chapter that the entry moves to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub chapter: String,
}

/// How many entries have each status; the six of an entry.
#[derive(utoipa::ToSchema)]
pub struct EntryStatuses {
    /// Entries that are being worked on.
    pub in_progress: i64,
    /// Entries that were handed in.
    pub submitted: i64,
    /// Entries that have to be handed in again.
    pub resubmission_required: i64,
    /// Entries that were handed in again.
    pub resubmitted: i64,
    /// Entries that their entrant was asked for.
    pub invited: i64,
    /// Entries that a review stage stopped.
    pub not_approved_for_submission: i64,
}

/// How many entries there are.
#[derive(utoipa::ToSchema)]
pub struct EntrySummary {
    /// The season as a reference; null for all of them.
    #[schema(value_type = Option<Object>)]
    pub season: Option<String>,
    /// All of them.
    pub total: i64,
    /// By status.
    pub statuses: EntryStatuses,
    /// By chapter, each with `chapter`, `total` and `statuses`, by name.
    #[schema(value_type = Vec<Object>)]
    pub chapters: Vec<String>,
    /// By category, each with `category`, `total` and `statuses`, by name.
    #[schema(value_type = Vec<Object>)]
    pub categories: Vec<String>,
}
