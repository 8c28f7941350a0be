//! Having a stretch of time delivered again.

use crate::deliveries::replay::{Input, WORK};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::jobs;
use crate::log::Event;
use crate::resources::webhooks::deliveries::check_enabled;
use crate::resources::webhooks::test::event;
use db::Tx;
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// Has what happened within a time delivered to a webhook again, by a job.
#[utoipa::path(
    post,
    path = "/webhook/{slug}/replay",
    operation_id = "PostWebhookReplayV23",
    tag = "Webhooks",
    request_body(content = ref("ReplayRange"), content_type = "application/json"),
    responses((status = 202, description = "A job does it; `Location` is its address"))
)]
pub(super) async fn replay(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write(tx, writing))).await
}

async fn write(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let webhook = writing.program.webhooks.live_record(*slug).ok_or(ApiError::NotFound)?;
    let (after, before, events) = read(body).map_err(ApiError::Invalid)?;
    check_enabled(&writing.program, *slug)?;
    writing.precondition(webhook.revision)?;
    let input = Input {
        webhook: slug.to_string(),
        after: after.as_microseconds(),
        before: before.as_microseconds(),
        events: events.iter().map(|event| event.name().to_owned()).collect(),
    };
    let job = jobs::add(tx, writing.account(), (WORK.kind, input.to_json()), &writing.origin, writing.ids()).await?;
    Ok(Reply::Accepted { location: Some(format!("/job/{job}")) })
}

fn read(body: &JsonObject<'_>) -> Result<(Timestamp, Timestamp, Vec<Event>), Violations> {
    let mut members = Members::closed(body);
    let after = members.required("after", input::time);
    let before = members.required("before", input::time);
    let events = members.optional("events", input::distinct(Event::ALL.len(), event));
    if after.zip(before).is_some_and(|(after, before)| after >= before) {
        members.fault("before", "must be later than after");
    }
    members.finish().or(after.zip(before)).map(|(after, before)| (after, before, events.unwrap_or_default()))
}
