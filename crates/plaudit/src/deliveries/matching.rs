//! Which events of a change a webhook wants.

use std::collections::HashMap;

use crate::log::Event;
use crate::log::feed::Logged;
use crate::program::Program;
use crate::program::webhooks::Webhook;
use crate::records::assignments::AssignmentSlug;
use crate::records::entries;
use db::{AccountId, DbError, Source};
use kernel::document::{self, Slot};
use kernel::json::parse_own;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The events of each change that a webhook wants, each once, with their places among those of the change.
///
/// A change whose record has no form is none for a webhook that states one.
pub(super) async fn wanted<'c>(
    account: AccountId,
    source: &mut Source<'_>,
    (program, webhook): (&Program, &Webhook),
    changes: &'c [Logged],
) -> Result<Vec<(&'c Logged, Vec<(u16, Event)>)>, DbError> {
    let of_documents: Vec<Slug> = match webhook.form {
        Some(_) => changes.iter().filter_map(entry_of_document).collect(),
        None => Vec::new(),
    };
    let forms = entries::store::forms_of(account, source, &of_documents).await?;
    let events_of = |change: &'c Logged| {
        let form = webhook.form.and_then(|_| form_of(program, change, &forms));
        let mut wanted: Vec<(u16, Event)> = Vec::new();
        for (place, event) in (0u16..).zip(&change.events) {
            if webhook.wants(*event, form) && wanted.iter().all(|(_, other)| other != event) {
                wanted.push((place, *event));
            }
        }
        (change, wanted)
    };
    Ok(changes.iter().map(events_of).collect())
}

/// The form of a record: that which its document refers to, of a review task that of its stage, of an assignment that of its score set,
/// of a document that of the entry that it is about.
fn form_of(program: &Program, change: &Logged, of_entries: &HashMap<Slug, Slug>) -> Option<Slug> {
    if change.kind == Kind::Assignment {
        let score_set = AssignmentSlug::parse(&change.slug)?.score_set();
        return program.score_sets.any(score_set).map(|score_set| score_set.form);
    }
    if change.kind == Kind::Document {
        return of_entries.get(&entry_of_document(change)?).copied();
    }
    let document = change.document.as_deref()?;
    if change.kind == Kind::ReviewTask {
        let stage = slug_in(document, "review_stage")?;
        return program.review_stages.any(stage).map(|stage| stage.form);
    }
    document::slots(document).find_map(|(_, slot)| match slot {
        Some(Slot::Reference(letter, slug)) if letter == Kind::Form.letter() => Slug::parse(slug),
        _ => None,
    })
}

/// The entry that a document is about.
fn entry_of_document(change: &Logged) -> Option<Slug> {
    let document = change.document.as_deref().filter(|_| change.kind == Kind::Document)?;
    slug_in(document, "entry")
}

/// The slug that a member of a stored record is.
fn slug_in(document: &str, member: &str) -> Option<Slug> {
    Slug::parse(parse_own(document).ok()?.get(member)?.as_str()?)
}
