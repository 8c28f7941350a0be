//! Trying a webhook: one attempt with an example, which is in no log.

use bytes::Bytes;

use crate::deliveries::payload::{self, EventMembers};
use crate::deliveries::sending::{Summary, send};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, entity_tag};
use crate::log::Event;
use crate::program::webhooks::Method;
use crate::resources::openapi;
use crate::resources::webhooks::deliveries::write_outcome;
use kernel::document;
use kernel::input::{Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::Slug;

/// Sends an example of an event to a webhook, even to one that is disabled, and tells what comes of it.
#[utoipa::path(
    post,
    path = "/webhook/{slug}/test",
    operation_id = "PostWebhookTestV23",
    tag = "Webhooks",
    request_body(content = ref("TestWebhook"), content_type = "application/json"),
    responses((status = 200, description = "What came of it", body = ref("TestAttempt")))
)]
pub(super) async fn test(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    // Nothing is read in a transaction that would tell that the webhook is newer than the caller's program.
    let program = caller.app().programs.reload(caller.account()).await?.ok_or(ApiError::KeyRefused)?;
    let record = program.webhooks.live_record(slug).ok_or(ApiError::NotFound)?;
    let (webhook, event) = (&record.value, read(&body).map_err(ApiError::Invalid)?);
    caller.precondition(record.revision)?;
    let (app, now) = (caller.app(), caller.now());
    let body = match webhook.method {
        Method::Get => Bytes::new(),
        Method::Post => {
            let members = EventMembers { event, at: now, source: "api" };
            payload::with_members(openapi::example(event).into_bytes(), members)
        }
    };
    let _turn = app.outgoing.slow.turns.take(caller.account()).await;
    let id = format!("msg_test_{}", app.request_id());
    let summary = Summary { id, event: event.name(), slug: "AAAAAAAA".to_owned(), at: now.to_string() };
    let attempt = send(&app.outgoing.slow.client(caller.account(), 1), webhook, &summary, body, now).await;
    let document = document::object(|object| write_outcome(object, &attempt));
    // Nothing is written; so the answer to an idempotency key is kept.
    caller
        .write(document, |_, writing| {
            let document = String::clone(&writing.state);
            Box::pin(async move { Ok(Reply::Stated { status: 200, tag: entity_tag(&document), document }) })
        })
        .await
}

/// An event by its name.
pub(super) fn event(json: &Json) -> Result<Event, String> {
    let event = json.as_str().and_then(Event::named);
    event.ok_or_else(|| format!("must be one of {}", Event::NAMES.join(", ")))
}

fn read(body: &JsonObject<'_>) -> Result<Event, Violations> {
    let mut members = Members::closed(body);
    let event = members.required("event", event);
    members.finish().or(event)
}
