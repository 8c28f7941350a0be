//! The first document of an entry: written, and read back.

use std::borrow::Cow;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Eligibility, Entry, Moderation, Payment, Status};
use crate::records::answers::Answers;
use kernel::document::{self, MARKER, Slot};
use kernel::kind::Kind;
use kernel::text::{Date, Slug, Timestamp};

/// How many contributors and uploaded files an entry has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Contributors that are not in the trash.
    pub contributors: i64,
    /// Attachments, and files among the answers.
    pub files: i64,
}

/// The first document of an entry, taken apart; texts are borrowed from where they stood.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EntryHead<'d> {
    /// The entry.
    pub slug: Slug,
    pub(crate) local_id: i64,
    #[serde(borrow)]
    pub(crate) title: Cow<'d, str>,
    /// Where it is on its way.
    pub status: Status,
    pub(crate) created: Timestamp,
    pub(crate) submitted: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The user who owns it.
    #[serde(deserialize_with = "person")]
    pub entrant: Slug,
    pub(crate) contributor_count: i64,
    pub(crate) files_count: i64,
    #[serde(borrow, deserialize_with = "number")]
    pub(crate) auto_score: Cow<'d, str>,
    /// Its category.
    #[serde(deserialize_with = "reference")]
    pub category: Slug,
    /// The chapter that it is in.
    #[serde(deserialize_with = "reference")]
    pub chapter: Slug,
    #[serde(deserialize_with = "reference")]
    pub(crate) form: Slug,
    /// Its season.
    #[serde(deserialize_with = "reference")]
    pub season: Slug,
    #[serde(borrow)]
    pub(crate) comments: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) user_comments: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) custom_deadline: Cow<'d, str>,
    pub(crate) division: Option<i64>,
    pub(crate) eligibility_status: Eligibility,
    pub(crate) moderation_status: Moderation,
    pub(crate) payment_status: Payment,
    #[serde(borrow)]
    pub(crate) plagiarism_scan_status: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) review_status: Cow<'d, str>,
    pub(crate) grant_status: Option<Cow<'d, str>>,
    pub(crate) grant_end_date: Option<Date>,
    #[serde(borrow)]
    pub(crate) tags: Cow<'d, str>,
}

/// A number, as it is written.
fn number<'de: 'd, 'd, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'d, str>, D::Error> {
    <&'de RawValue>::deserialize(deserializer).map(|raw| Cow::Borrowed(raw.get()))
}

fn reference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slug, D::Error> {
    let slug = |slot: Slot<'_>| match slot {
        Slot::Reference(_, slug) => Slug::parse(slug),
        _ => None,
    };
    deserializer.deserialize_str(InSlot(slug))
}

fn person<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slug, D::Error> {
    let slug = |slot: Slot<'_>| match slot {
        Slot::Person { slug, .. } => Slug::parse(slug),
        _ => None,
    };
    deserializer.deserialize_str(InSlot(slug))
}

/// Reads the slug in a slot.
struct InSlot<F>(F);

impl<F: Fn(Slot<'_>) -> Option<Slug>> Visitor<'_> for InSlot<F> {
    type Value = Slug;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a slot with a slug")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Slug, E> {
        let slot = text.strip_prefix(MARKER).and_then(Slot::of_string);
        slot.and_then(self.0).ok_or_else(|| E::custom("expected a slot with a slug"))
    }
}

impl<'d> EntryHead<'d> {
    /// Reads the document back.
    pub fn read(doc: &'d str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(doc)
    }

    /// The document made from scratch, of an entry and the counts of what belongs to it.
    #[must_use]
    pub fn of(entry: &'d Entry, counts: Counts) -> Self {
        Self {
            slug: entry.slug,
            local_id: entry.local_id,
            title: Cow::Borrowed(&entry.title),
            status: entry.status,
            created: entry.created,
            submitted: entry.submitted,
            updated: entry.updated,
            entrant: entry.entrant,
            contributor_count: counts.contributors,
            files_count: counts.files,
            auto_score: Cow::Borrowed(&entry.auto_score),
            category: entry.category,
            chapter: entry.chapter,
            form: entry.form,
            season: entry.season,
            comments: Cow::Borrowed(&entry.comments),
            user_comments: Cow::Borrowed(&entry.user_comments),
            custom_deadline: Cow::Borrowed(&entry.custom_deadline),
            division: entry.division,
            eligibility_status: entry.eligibility_status,
            moderation_status: entry.moderation_status,
            payment_status: entry.payment_status,
            plagiarism_scan_status: Cow::Borrowed(&entry.plagiarism_scan_status),
            review_status: Cow::Borrowed(&entry.review_status),
            grant_status: entry.grant_status.as_deref().map(Cow::Borrowed),
            grant_end_date: entry.grant_end_date,
            tags: Cow::Borrowed(&entry.tags),
        }
    }

    /// Its form.
    #[must_use]
    pub fn form(&self) -> Slug {
        self.form
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How many contributors and uploaded files it shows.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { contributors: self.contributor_count, files: self.files_count }
    }

    /// The entry of this document, with what stands elsewhere: the answers in the second one, the flag in its row.
    #[must_use]
    pub fn into_entry(self, entry_fields: Answers, archived: bool) -> Entry {
        Entry {
            slug: self.slug,
            local_id: self.local_id,
            title: self.title.into_owned(),
            status: self.status,
            created: self.created,
            submitted: self.submitted,
            updated: self.updated,
            entrant: self.entrant,
            entry_fields,
            auto_score: self.auto_score.into_owned(),
            category: self.category,
            chapter: self.chapter,
            form: self.form,
            season: self.season,
            comments: self.comments.into_owned(),
            user_comments: self.user_comments.into_owned(),
            custom_deadline: self.custom_deadline.into_owned(),
            division: self.division,
            eligibility_status: self.eligibility_status,
            moderation_status: self.moderation_status,
            payment_status: self.payment_status,
            plagiarism_scan_status: self.plagiarism_scan_status.into_owned(),
            review_status: self.review_status.into_owned(),
            grant_status: self.grant_status.map(Cow::into_owned),
            grant_end_date: self.grant_end_date,
            tags: self.tags.into_owned(),
            archived,
        }
    }

    /// The document (specification, section 2.2, without the members of the second one).
    #[must_use]
    pub fn to_doc(&self) -> String {
        document::object(|object| {
            object.slug("slug", self.slug);
            object.integer("local_id", self.local_id);
            object.text("title", &self.title);
            object.text("status", self.status.name());
            object.time("created", self.created);
            object.optional_time("submitted", self.submitted);
            object.time("updated", self.updated);
            object.entrant("entrant", self.entrant);
            object.splice();
            object.integer("contributor_count", self.contributor_count);
            object.integer("files_count", self.files_count);
            object.raw("auto_score", &self.auto_score);
            object.reference("category", Kind::Category, self.category);
            object.parent("parent_category", self.category);
            object.reference("chapter", Kind::Chapter, self.chapter);
            object.reference("form", Kind::Form, self.form);
            object.reference("season", Kind::Season, self.season);
            object.text("comments", &self.comments);
            object.text("user_comments", &self.user_comments);
            object.text("custom_deadline", &self.custom_deadline);
            object.optional_integer("division", self.division);
            object.text("eligibility_status", self.eligibility_status.name());
            object.text("moderation_status", self.moderation_status.name());
            object.text("payment_status", self.payment_status.name());
            object.text("plagiarism_scan_status", &self.plagiarism_scan_status);
            object.text("review_status", &self.review_status);
            object.optional_text("grant_status", self.grant_status.as_deref());
            object.optional_date("grant_end_date", self.grant_end_date);
            object.text("tags", &self.tags);
        })
    }
}
