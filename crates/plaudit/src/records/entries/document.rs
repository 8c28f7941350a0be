//! The two documents of an entry: writing them, and reading the first one back.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use crate::records::answers::Answers;
use crate::records::entries::Entry;
use crate::records::entries::attachments::{self, Attachment};
use crate::records::entries::contributors::{self, Contributor};
use kernel::document::{self, Slot};
use kernel::json::parse_value;
use kernel::kind::Kind;

/// How many contributors and uploaded files an entry has, as its first document shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Counts {
    /// Contributors that are not in the trash.
    #[serde(rename = "contributor_count")]
    pub contributors: i64,
    /// Attachments, and files among the answers.
    #[serde(rename = "files_count")]
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

impl Entry {
    /// The first document (specification, section 2.2, without the members of the second one). That the entry is in the
    /// trash or archived is hidden in it.
    pub fn document(&self, counts: Counts, deleted: bool) -> String {
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
            object.integer("contributor_count", counts.contributors);
            object.integer("files_count", counts.files);
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
            object.hidden(|object| {
                for (name, _) in [("deleted", deleted), ("archived", self.archived)].into_iter().filter(|(_, is)| *is) {
                    object.flag(name, true);
                }
            });
        })
    }

    /// Reads the first document: the entry without its answers.
    pub fn of_document(doc: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(&document::revealed(doc))
    }
}

/// The second document of an entry: the members that only a single read shows.
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
pub(crate) fn included<'d>(detail: &'d str, members: &[&str]) -> Option<Cow<'d, str>> {
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
pub(crate) const MEMBERS: [&str; 3] = ["entry_fields", "attachments", "contributors"];

/// The answers of an entry, read back from its second document, where they stand first.
pub fn answers_of(detail: &str) -> Option<Answers> {
    match document::slots(detail).next()? {
        (_, Some(Slot::Answers(map))) => Answers::read(&parse_value(map.as_bytes()).ok()?).ok(),
        _ => None,
    }
}

/// The second document with other answers.
pub(super) fn with_answers(detail: &str, answers: &Answers) -> Option<String> {
    let mut parts = document::slots(detail);
    let (_, Some(Slot::Answers(_))) = parts.next()? else { return None };
    let made = document::object(|object| object.answers("entry_fields", &answers.to_json()));
    Some([made.strip_suffix('}')?, parts.rest()].concat())
}

#[cfg(test)]
pub(super) mod tests;
