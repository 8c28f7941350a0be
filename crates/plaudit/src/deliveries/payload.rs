//! What a delivery sends (contract, section 8): the record as a single read shows it, and the event, its time and its source.

use std::sync::Arc;

use bytes::Bytes;

use crate::log::Event;
use crate::program::Program;
use crate::program::webhooks::{Method, Webhook};
use crate::records::users::Person;
use crate::render::Renderer;
use crate::render::accept::Format;
use crate::render::language::Languages;
use crate::services::App;
use crate::signing::expiry;
use kernel::document;
use kernel::text::Timestamp;

/// How long the addresses of files in a delivery are good, in seconds (contract, section 11).
const FILES_GOOD_FOR: u32 = 7 * 24 * 60 * 60;

/// What is told of a change.
#[derive(Clone, Copy, Debug)]
pub struct Told<'t> {
    /// The event.
    pub event: Event,
    /// The time of the change.
    pub at: Timestamp,
    /// What the log says of where the change came from.
    pub source: &'t str,
}

impl Told<'_> {
    /// The interface knows changes by itself and by people.
    fn source(&self) -> &'static str {
        if self.source == "api" { "api" } else { "ui" }
    }
}

/// The body of a delivery; empty for a webhook that is sent by `get`. In texts of several languages the account's own stands.
pub fn body(
    app: &App,
    program: &Arc<Program>,
    webhook: &Webhook,
    document: &str,
    people: &[Person],
    told: Told<'_>,
) -> Bytes {
    if webhook.method == Method::Get {
        return Bytes::new();
    }
    let languages = Languages::of_default(program.account.default_language);
    let expires = expiry(app.clock.now().as_seconds(), FILES_GOOD_FOR);
    let mut renderer = Renderer::new(app, program, languages, Format::Json, expires);
    let shown = document::people_of(document);
    renderer.naming(people.iter().filter(|person| shown.contains(&person.slug)).cloned());
    if !webhook.fields.is_empty() {
        renderer.answering(&webhook.fields);
    }
    with_members(renderer.bytes(document), told)
}

/// A record with the members that tell why it is sent.
pub fn with_members(mut record: Vec<u8>, told: Told<'_>) -> Bytes {
    let members = document::object(|object| {
        object.text("event", told.event.name());
        object.time("timestamp", told.at);
        object.text("source", told.source());
    });
    record.pop();
    if record.len() > 1 {
        record.push(b',');
    }
    record.extend_from_slice(&members.as_bytes()[1..]);
    record.into()
}
