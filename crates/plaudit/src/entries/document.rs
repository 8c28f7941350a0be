//! The two documents of an entry: writing them, and reading the first one back.

use std::borrow::Cow;

use memchr::memmem;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Answers, Eligibility, Entry, Moderation, Payment, Status};
use crate::attachments::{self, Attachment};
use crate::contributors::{self, Contributor};
use kernel::document::{self, MARKER, Slot};
use kernel::json::parse_value;
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

/// What an entry's documents show of other records.
#[derive(Clone, Debug)]
pub struct RelatedData {
    /// Its contributors, by slug.
    pub contributors: Vec<Contributor>,
    /// Its attachments in their order, each with the name of its file.
    pub attachments: Vec<(Attachment, String)>,
    /// How many of both it has, and of files in answers.
    pub counts: Counts,
}

/// The first document of an entry, taken apart; texts are borrowed from where they stood.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EntryHead<'d> {
    /// The entry.
    pub slug: Slug,
    pub(super) local_id: i64,
    #[serde(borrow)]
    pub(super) title: Cow<'d, str>,
    /// Where it is on its way.
    pub status: Status,
    pub(super) created: Timestamp,
    pub(super) submitted: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The user who owns it.
    #[serde(deserialize_with = "person")]
    pub entrant: Slug,
    pub(super) contributor_count: i64,
    pub(super) files_count: i64,
    #[serde(borrow, deserialize_with = "number")]
    pub(super) auto_score: Cow<'d, str>,
    /// Its category.
    #[serde(deserialize_with = "reference")]
    pub category: Slug,
    /// The chapter that it is in.
    #[serde(deserialize_with = "reference")]
    pub chapter: Slug,
    #[serde(deserialize_with = "reference")]
    pub(super) form: Slug,
    /// Its season.
    #[serde(deserialize_with = "reference")]
    pub season: Slug,
    #[serde(borrow)]
    pub(super) comments: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) user_comments: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) custom_deadline: Cow<'d, str>,
    pub(super) division: Option<i64>,
    pub(super) eligibility_status: Eligibility,
    pub(super) moderation_status: Moderation,
    pub(super) payment_status: Payment,
    #[serde(borrow)]
    pub(super) plagiarism_scan_status: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) review_status: Cow<'d, str>,
    pub(super) grant_status: Option<Cow<'d, str>>,
    pub(super) grant_end_date: Option<Date>,
    #[serde(borrow)]
    pub(super) tags: Cow<'d, str>,
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

/// The second document of an entry: the members that only a single read shows.
#[must_use]
pub fn detail(answers: &Answers, around: &RelatedData) -> String {
    document::object(|object| {
        object.answers("entry_fields", &answers.to_json());
        object.list("attachments", |list| {
            for (attachment, filename) in &around.attachments {
                list.object(|object| attachments::write_shown(attachment, filename, object));
            }
        });
        object.list("contributors", |list| {
            for contributor in &around.contributors {
                list.object(|object| contributors::write_shown(contributor, object));
            }
        });
    })
}

/// The second document with these of its members alone; nothing where there are none.
#[must_use]
pub(super) fn included<'d>(detail: &'d str, members: &[&str]) -> Option<Cow<'d, str>> {
    if members.is_empty() || members.len() == MEMBERS.len() {
        return (!members.is_empty()).then_some(Cow::Borrowed(detail));
    }
    // A quotation mark within a text is escaped, and no record that is shown here has members of these names, so that
    // these bytes stand nowhere else. The answers are jumped over.
    let after_answers = {
        let mut parts = document::slots(detail);
        parts.next();
        detail.len() - parts.rest().len()
    };
    let find = |from: usize, member: &str| {
        memmem::find(detail.get(from..)?.as_bytes(), format!("],\"{member}\":[").as_bytes()).map(|at| from + at + 1)
    };
    let contributors = find(after_answers, MEMBERS[2])?;
    let parts = [
        &detail[1..after_answers],
        &detail[after_answers + 1..contributors],
        &detail[contributors + 1..detail.len() - 1],
    ];
    let mut chosen = String::with_capacity(detail.len());
    for (part, member) in parts.into_iter().zip(MEMBERS) {
        if members.contains(&member) {
            chosen.push(if chosen.is_empty() { '{' } else { ',' });
            chosen.push_str(part);
        }
    }
    chosen.push('}');
    Some(Cow::Owned(chosen))
}

/// The members of the second document, in their order.
pub(super) const MEMBERS: [&str; 3] = ["entry_fields", "attachments", "contributors"];

/// The answers of an entry, read back from its second document, where they stand first.
#[must_use]
pub fn answers_of(detail: &str) -> Option<Answers> {
    match document::slots(detail).next()? {
        (_, Some(Slot::Answers(map))) => Answers::read(&parse_value(map.as_bytes()).ok()?).ok(),
        _ => None,
    }
}

/// The second document with other answers.
#[must_use]
pub(super) fn with_answers(detail: &str, answers: &Answers) -> Option<String> {
    let mut parts = document::slots(detail);
    let (_, Some(Slot::Answers(_))) = parts.next()? else { return None };
    let made = document::object(|object| object.answers("entry_fields", &answers.to_json()));
    Some([made.strip_suffix('}')?, parts.rest()].concat())
}

/// The whole document of an entry: the first one, with the members of the second one in their place.
#[must_use]
pub fn whole(doc: &str, detail: &str) -> String {
    let splice = format!("\"{MARKER}p\":0");
    let members = detail.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let Some(at) = memmem::find(doc.as_bytes(), splice.as_bytes()) else { return doc.to_owned() };
    [&doc[..at], members, &doc[at + splice.len()..]].concat()
}

#[cfg(test)]
pub(super) mod tests;
