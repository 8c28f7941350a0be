//! Which events of a change a webhook wants.

use crate::log::Event;
use crate::log::feed::Logged;
use crate::program::webhooks::Webhook;
use kernel::document::{self, Slot};
use kernel::kind::Kind;
use kernel::text::Slug;

/// The events of a change that a webhook wants, each once, with their places among those of the change.
///
/// A change whose record has no form is none for a webhook that states one.
pub(super) fn wanted(webhook: &Webhook, change: &Logged) -> Vec<(u16, Event)> {
    let form = webhook.form.and_then(|_| form_of(change.document.as_deref()?));
    let mut wanted: Vec<(u16, Event)> = Vec::new();
    for (place, event) in (0u16..).zip(&change.events) {
        if webhook.wants(*event, form) && wanted.iter().all(|(_, other)| other != event) {
            wanted.push((place, *event));
        }
    }
    wanted
}

/// The form that a record's document refers to.
fn form_of(document: &str) -> Option<Slug> {
    document::slots(document).find_map(|(_, slot)| match slot {
        Some(Slot::Reference(letter, slug)) if letter == Kind::Form.letter() => Slug::parse(slug),
        _ => None,
    })
}
