//! The two documents of an entry: writing them, and reading the first one back.

use std::borrow::Cow;

use memchr::memmem;

use crate::records::answers::Answers;
use crate::records::entries::Counts;
use crate::records::entries::attachments::{self, Attachment};
use crate::records::entries::contributors::{self, Contributor};
use kernel::document::{self, Slot};
use kernel::json::parse_value;

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

#[cfg(test)]
pub(super) mod tests;
