//! The two documents of an entry: writing them, and reading the first one back.

use std::borrow::Cow;

use memchr::memmem;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Answers, Entry};
use crate::attachments::{self, Attachment};
use crate::contributors::{self, Contributor};
use crate::document::{self, MARKER, Slot};
use crate::http::json_body::parse_value;
use crate::kind::Kind;
use crate::text::{Date, Slug, Timestamp};
use crate::users::{Summary, full_name};

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
pub struct Surroundings {
    /// The user who owns it.
    pub entrant: Summary,
    /// Its contributors, by slug.
    pub contributors: Vec<Contributor>,
    /// Its attachments in their order, each with the name of its file.
    pub attachments: Vec<(Attachment, String)>,
    /// How many of both it has, and of files in answers.
    pub counts: Counts,
}

/// The entrant as an entry shows it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entrant<'d> {
    /// The user.
    pub slug: Slug,
    #[serde(borrow)]
    first_name: Cow<'d, str>,
    #[serde(borrow)]
    last_name: Cow<'d, str>,
    email: Option<Cow<'d, str>>,
    #[serde(borrow)]
    global_id: Cow<'d, str>,
}

/// The first document of an entry, taken apart; texts are borrowed from where they stood.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EntryHead<'d> {
    /// The entry.
    pub slug: Slug,
    local_id: i64,
    #[serde(borrow)]
    title: Cow<'d, str>,
    #[serde(borrow)]
    status: Cow<'d, str>,
    created: Timestamp,
    submitted: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The user who owns it.
    #[serde(borrow)]
    pub entrant: Entrant<'d>,
    contributor_count: i64,
    files_count: i64,
    #[serde(borrow, deserialize_with = "number")]
    auto_score: Cow<'d, str>,
    /// Its category.
    #[serde(deserialize_with = "reference")]
    pub category: Slug,
    /// The chapter that it is in.
    #[serde(deserialize_with = "reference")]
    pub chapter: Slug,
    #[serde(deserialize_with = "reference")]
    form: Slug,
    /// Its season.
    #[serde(deserialize_with = "reference")]
    pub season: Slug,
    #[serde(borrow)]
    comments: Cow<'d, str>,
    #[serde(borrow)]
    user_comments: Cow<'d, str>,
    #[serde(borrow)]
    custom_deadline: Cow<'d, str>,
    division: Option<i64>,
    #[serde(borrow)]
    eligibility_status: Cow<'d, str>,
    #[serde(borrow)]
    moderation_status: Cow<'d, str>,
    #[serde(borrow)]
    payment_status: Cow<'d, str>,
    #[serde(borrow)]
    plagiarism_scan_status: Cow<'d, str>,
    #[serde(borrow)]
    review_status: Cow<'d, str>,
    grant_status: Option<Cow<'d, str>>,
    grant_end_date: Option<Date>,
    #[serde(borrow)]
    tags: Cow<'d, str>,
}

/// A number, as it is written.
fn number<'de: 'd, 'd, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'d, str>, D::Error> {
    <&'de RawValue>::deserialize(deserializer).map(|raw| Cow::Borrowed(raw.get()))
}

fn reference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slug, D::Error> {
    struct Reference;

    impl Visitor<'_> for Reference {
        type Value = Slug;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a reference slot")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Slug, E> {
            match text.strip_prefix(MARKER).and_then(Slot::of_string) {
                Some(Slot::Reference(_, slug)) => Slug::parse(slug),
                _ => None,
            }
            .ok_or_else(|| E::custom("expected a reference slot"))
        }
    }

    deserializer.deserialize_str(Reference)
}

impl<'d> EntryHead<'d> {
    /// Reads the document back.
    pub fn read(doc: &'d str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(doc)
    }

    /// The document made from scratch, of an entry and what it shows of other records.
    #[must_use]
    pub fn of(entry: &'d Entry, around: &'d Surroundings) -> Self {
        Self {
            slug: entry.slug,
            local_id: entry.local_id,
            title: Cow::Borrowed(&entry.title),
            status: Cow::Borrowed(&entry.status),
            created: entry.created,
            submitted: entry.submitted,
            updated: entry.updated,
            entrant: Entrant {
                slug: around.entrant.slug,
                first_name: Cow::Borrowed(&around.entrant.first_name),
                last_name: Cow::Borrowed(&around.entrant.last_name),
                email: around.entrant.email.as_deref().map(Cow::Borrowed),
                global_id: Cow::Borrowed(&around.entrant.global_id),
            },
            contributor_count: around.counts.contributors,
            files_count: around.counts.files,
            auto_score: Cow::Borrowed(&entry.auto_score),
            category: entry.category,
            chapter: entry.chapter,
            form: entry.form,
            season: entry.season,
            comments: Cow::Borrowed(&entry.comments),
            user_comments: Cow::Borrowed(&entry.user_comments),
            custom_deadline: Cow::Borrowed(&entry.custom_deadline),
            division: entry.division,
            eligibility_status: Cow::Borrowed(&entry.eligibility_status),
            moderation_status: Cow::Borrowed(&entry.moderation_status),
            payment_status: Cow::Borrowed(&entry.payment_status),
            plagiarism_scan_status: Cow::Borrowed(&entry.plagiarism_scan_status),
            review_status: Cow::Borrowed(&entry.review_status),
            grant_status: entry.grant_status.as_deref().map(Cow::Borrowed),
            grant_end_date: entry.grant_end_date,
            tags: Cow::Borrowed(&entry.tags),
        }
    }

    /// Where the entry is on its way.
    #[must_use]
    pub fn status(&self) -> &str {
        &self.status
    }

    /// The same document, of the entry in another chapter.
    #[must_use]
    pub fn in_chapter(&self, chapter: Slug, now: Timestamp) -> Self {
        Self { chapter, updated: now, ..self.clone() }
    }

    /// The entry of this document, with the answers that stand in the second one.
    #[must_use]
    pub fn into_entry(self, entry_fields: Answers) -> Entry {
        Entry {
            slug: self.slug,
            local_id: self.local_id,
            title: self.title.into_owned(),
            status: self.status.into_owned(),
            created: self.created,
            submitted: self.submitted,
            updated: self.updated,
            entrant: self.entrant.slug,
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
            eligibility_status: self.eligibility_status.into_owned(),
            moderation_status: self.moderation_status.into_owned(),
            payment_status: self.payment_status.into_owned(),
            plagiarism_scan_status: self.plagiarism_scan_status.into_owned(),
            review_status: self.review_status.into_owned(),
            grant_status: self.grant_status.map(Cow::into_owned),
            grant_end_date: self.grant_end_date,
            tags: self.tags.into_owned(),
        }
    }

    /// The document (specification, section 2.2, without the members of the second one).
    #[must_use]
    pub fn to_doc(&self) -> String {
        document::object(|object| {
            object.slug("slug", self.slug);
            object.integer("local_id", self.local_id);
            object.text("title", &self.title);
            object.text("status", &self.status);
            object.time("created", self.created);
            object.optional_time("submitted", self.submitted);
            object.time("updated", self.updated);
            object.object("entrant", |object| {
                object.slug("slug", self.entrant.slug);
                object.link("link", Kind::User, self.entrant.slug.as_str());
                object.text("name", &full_name(&self.entrant.first_name, &self.entrant.last_name));
                object.text("first_name", &self.entrant.first_name);
                object.text("last_name", &self.entrant.last_name);
                object.optional_text("email", self.entrant.email.as_deref());
                object.text("global_id", &self.entrant.global_id);
            });
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
            object.text("eligibility_status", &self.eligibility_status);
            object.text("moderation_status", &self.moderation_status);
            object.text("payment_status", &self.payment_status);
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
pub fn detail(answers: &Answers, around: &Surroundings) -> String {
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

/// The answers of an entry, read back from its second document, where they stand first.
#[must_use]
pub fn answers_of(detail: &str) -> Option<Answers> {
    match document::slots(detail).next()? {
        (_, Some(Slot::Answers(map))) => Answers::read(&parse_value(map.as_bytes()).ok()?).ok(),
        _ => None,
    }
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
mod tests;
