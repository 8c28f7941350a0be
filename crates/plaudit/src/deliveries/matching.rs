//! Which events of a change a webhook wants.

use crate::log::Event;
use crate::log::feed::Logged;
use crate::program::Program;
use crate::program::webhooks::Webhook;
use crate::records::assignments::AssignmentSlug;
use kernel::document::{self, Slot};
use kernel::json::parse_own;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The events of a change that a webhook wants, each once, with their places among those of the change.
///
/// A change whose record has no form is none for a webhook that states one.
pub(super) fn wanted(program: &Program, webhook: &Webhook, change: &Logged) -> Vec<(u16, Event)> {
    let form = webhook.form.and_then(|_| form_of(program, change));
    let mut wanted: Vec<(u16, Event)> = Vec::new();
    for (place, event) in (0u16..).zip(&change.events) {
        if webhook.wants(*event, form) && wanted.iter().all(|(_, other)| other != event) {
            wanted.push((place, *event));
        }
    }
    wanted
}

/// The form of a record: that which its document refers to, of a review task that of its stage, of an assignment that of its score set.
fn form_of(program: &Program, change: &Logged) -> Option<Slug> {
    if change.kind == Kind::Assignment {
        let score_set = AssignmentSlug::parse(&change.slug)?.score_set();
        return program.score_sets.any(score_set).map(|score_set| score_set.form);
    }
    let document = change.document.as_deref()?;
    if change.kind == Kind::ReviewTask {
        let task = parse_own(document).ok()?;
        let stage = Slug::parse(task.get("review_stage")?.as_str()?)?;
        return program.review_stages.any(stage).map(|stage| stage.form);
    }
    document::slots(document).find_map(|(_, slot)| match slot {
        Some(Slot::Reference(letter, slug)) if letter == Kind::Form.letter() => Slug::parse(slug),
        _ => None,
    })
}
