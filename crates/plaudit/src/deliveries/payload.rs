//! What a delivery sends (contract, section 8): the record as a single read shows it, and the event, its time and its source.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::log::Event;
use crate::program::Program;
use crate::program::store::parse;
use crate::program::webhooks::Webhook;
use crate::records::review_tasks::ReviewTask;
use crate::records::users::Person;
use crate::records::{assignments, documents, entries, orders};
use crate::render::Renderer;
use crate::render::accept::Format;
use crate::render::language::Languages;
use crate::services::App;
use crate::signing::expiry;
use db::{AccountId, DbError, Source};
use kernel::document;
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// How long the addresses of files in a delivery are good, in seconds (contract, section 11).
const FILES_GOOD_FOR: u32 = 7 * 24 * 60 * 60;

/// What a payload says of its event, beside the record.
#[derive(Clone, Copy, Debug)]
pub struct EventMembers<'t> {
    /// The event.
    pub event: Event,
    /// The time of the change.
    pub at: Timestamp,
    /// What the log says of where the change came from.
    pub source: &'t str,
}

impl EventMembers<'_> {
    /// The interface knows changes by itself and by people.
    fn source(&self) -> &'static str {
        if self.source == "api" { "api" } else { "ui" }
    }
}

/// A logged document as the interface shows it: kinds whose documents are the program-file form are written for readers, with
/// what they show of others as it is now; orders have what a single read alone shows.
pub async fn shown<'d>(
    account: AccountId,
    source: Source<'_>,
    program: &Program,
    (kind, document): (&str, &'d str),
) -> Result<Cow<'d, str>, DbError> {
    if kind == Kind::Assignment.name() {
        let shown = assignments::store::as_shown(source, account, program, document).await?;
        return Ok(shown.map_or(Cow::Borrowed(document), Cow::Owned));
    }
    if kind == Kind::Order.name() {
        return orders::store::as_shown(document).map(Cow::Owned);
    }
    if kind == Kind::Document.name() {
        return documents::store::as_shown(source, account, document).await.map(Cow::Owned);
    }
    if kind != Kind::ReviewTask.name() {
        return Ok(Cow::Borrowed(document));
    }
    let task: ReviewTask = parse(document, &program.context)?;
    let of_entry = entries::store::shown_by_tasks(account, source, task.entry).await?;
    let missing = || DbError::Failed(format!("there is no entry {}, which a review task is about", task.entry));
    Ok(Cow::Owned(task.document(&of_entry.ok_or_else(missing)?)))
}

/// The body of a delivery, which a webhook that is sent by `get` keeps for when it is sent by `post`. In texts of several
/// languages the account's own stands.
pub fn body(
    app: &App,
    program: &Arc<Program>,
    webhook: &Webhook,
    document: &str,
    people: &[Person],
    event: EventMembers<'_>,
) -> Bytes {
    let languages = Languages::of_default(program.account.default_language);
    let mut renderer = renderer(app, program, languages, document, people);
    if !webhook.fields.is_empty() {
        renderer.answering(&webhook.fields);
    }
    with_members(renderer.bytes(document), event)
}

/// Writes a record in JSON as a manager sees it, with those of these people whom it shows.
pub fn renderer(
    app: &App,
    program: &Arc<Program>,
    languages: Languages,
    document: &str,
    people: &[Person],
) -> Renderer {
    let expires = expiry(app.clock.now().as_seconds(), FILES_GOOD_FOR);
    let mut renderer = Renderer::new(app, program, languages, Format::Json, expires);
    let shown = document::people_of(document);
    renderer.naming(people.iter().filter(|person| shown.contains(&person.slug)).cloned());
    renderer
}

/// A record with the members that tell why it is sent.
pub fn with_members(mut record: Vec<u8>, event: EventMembers<'_>) -> Bytes {
    let members = document::object(|object| {
        object.text("event", event.event.name());
        object.time("timestamp", event.at);
        object.text("source", event.source());
    });
    record.pop();
    if record.len() > 1 {
        record.push(b',');
    }
    record.extend_from_slice(&members.as_bytes()[1..]);
    record.into()
}
