//! The log of deliveries of a webhook.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::deliveries::endpoint::Key;
use crate::deliveries::id::DeliveryId;
use crate::deliveries::replay;
use crate::deliveries::store::{self, Asked, Delivery, State};
use crate::http::{ApiError, Caller, Path, PathPart, RawQuery, Reader, Reply, Writer, Writing, entity_tag};
use crate::lists::page::{Cursor, Filter, FilterKind, ListQuery, ListQueryError, ListSpec, walked_page};
use crate::log::Event;
use crate::outgoing::Attempt;
use crate::program::Program;
use crate::program::webhooks::{Method, Status, Webhook};
use crate::resources::operation::{Takes, operation};
use crate::resources::setup_record::confirm;
use crate::services::App;
use db::{Source, Tx};
use kernel::document::{self, List, Object};
use kernel::text::{Slug, Timestamp};

impl PathPart for DeliveryId {
    const NAME: &'static str = "id";
    const MALFORMED: &'static str = "The id of the delivery in the path must be a webhook-id.";
    const PARSE: fn(&str) -> Option<Self> = |text| text.parse().ok();
}

/// The most deliveries of a page.
const PER_PAGE: u32 = 100;
const FILTERS: &[Filter] = &[
    Filter::new("event", FilterKind::OneOf(&Event::NAMES), "What they tell of"),
    Filter::new("state", FilterKind::OneOf(State::NAMES), "What has become of them"),
    Filter::new("after", FilterKind::Time, "Those of changes from this time on"),
    Filter::new("before", FilterKind::Time, "Those of changes before this time"),
];
const LIST: ListSpec = ListSpec::walked(FILTERS, PER_PAGE);

/// `GET /webhook/{slug}/delivery`.
pub(super) fn list_route() -> UtoipaMethodRouter<App> {
    operation(
        (HttpMethod::Get, "/webhook/{slug}/delivery", "GetWebhookDeliveryCollectionV23", "Webhooks"),
        "A page of the deliveries of a webhook, the newest first.",
        Takes::Query(LIST.parameters()),
        list,
    )
}

async fn list(caller: Caller, Path(slug): Path<Slug>, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST)?;
    caller.permit()?;
    find(&caller, slug)?;
    let asked = Asked {
        before: query.cursor.as_ref().filter(|cursor| !cursor.is_start()).map(position).transpose()?,
        event: query.word("event").and_then(Event::named),
        state: query.word("state").and_then(State::named),
        from: query.time("after"),
        to: query.time("before"),
    };
    let limit = usize::try_from(query.per_page).unwrap_or(usize::MAX);
    let db = Source::Db(&caller.app().db);
    let (mut found, end) = store::list(caller.account(), db, slug, &asked, limit + 1).await?;
    confirm(&caller).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = if has_more { found.last().map(Delivery::key) } else { end };
    let next = next.map(|key| query.cursor_behind(position_of(key), 0));
    let records = |list: &mut List<'_>| found.iter().for_each(|delivery| list.object(|object| write(object, delivery)));
    let document = walked_page(records, next.as_deref());
    Ok(Reply::Stated { status: 200, tag: entity_tag(&document), document })
}

/// A delivery of a webhook, with what it sends.
#[utoipa::path(
    get,
    path = "/webhook/{slug}/delivery/{id}",
    operation_id = "GetWebhookDeliveryV23",
    tag = "Webhooks",
    responses((status = 200, description = "The delivery", body = ref("DeliveryDetail")))
)]
pub(super) async fn show(
    caller: Caller,
    Path(slug): Path<Slug>,
    Path(id): Path<DeliveryId>,
    _: Reader,
) -> Result<Reply, ApiError> {
    let webhook = find(&caller, slug)?;
    let db = Source::Db(&caller.app().db);
    let found = store::find(caller.account(), db, slug, id.key()).await?;
    confirm(&caller).await?;
    let (delivery, body) = found.filter(|(delivery, _)| delivery.id == id).ok_or(ApiError::NotFound)?;
    let document = document::object(|object| {
        write(object, &delivery);
        let body = body.filter(|_| webhook.method == Method::Post);
        object.optional_text("body", body.as_deref().and_then(|body| str::from_utf8(body).ok()));
    });
    Ok(Reply::Stated { status: 200, tag: entity_tag(&document), document })
}

/// Has a delivery attempted anew, from the first attempt on, with the same `webhook-id` and the same body.
#[utoipa::path(
    post,
    path = "/webhook/{slug}/delivery/{id}/replay",
    operation_id = "PostWebhookDeliveryReplayV23",
    tag = "Webhooks",
    responses((status = 202, description = "It is attempted again"))
)]
pub(super) async fn replay(
    caller: Caller,
    Path(slug): Path<Slug>,
    Path(id): Path<DeliveryId>,
    _: Writer,
) -> Result<Reply, ApiError> {
    caller.write((slug, id), |tx, writing| Box::pin(write_replay(tx, writing))).await
}

async fn write_replay(tx: &mut Tx, writing: &Writing<(Slug, DeliveryId)>) -> Result<Reply, ApiError> {
    let (slug, id) = *writing.state;
    let account = writing.account();
    let webhook = writing.program.webhooks.live_record(slug).ok_or(ApiError::NotFound)?;
    let found = store::find(account, Source::Snapshot(tx), slug, id.key()).await?;
    found.filter(|(delivery, _)| delivery.id == id).ok_or(ApiError::NotFound)?;
    check_enabled(&writing.program, slug)?;
    writing.precondition(webhook.revision)?;
    replay::again(tx, account, slug, &[id.key()], writing.app().database_clock.now()).await?;
    Ok(Reply::Accepted { location: None })
}

/// A webhook that is not in the trash.
fn find(caller: &Caller, slug: Slug) -> Result<&Webhook, ApiError> {
    caller.program().webhooks.live_record(slug).map(|record| &record.value).ok_or(ApiError::NotFound)
}

/// Refuses what a webhook that is disabled does not do.
pub(super) fn check_enabled(program: &Program, slug: Slug) -> Result<(), ApiError> {
    let record = program.webhooks.live_record(slug).ok_or(ApiError::NotFound)?;
    match record.value.status {
        Status::Enabled => Ok(()),
        Status::Disabled => Err(ApiError::State("The webhook is disabled; enable it first.".to_owned())),
    }
}

/// The position of a delivery in its list.
fn position_of((sequence, place): Key) -> Vec<u8> {
    [&sequence.to_be_bytes()[..], &place.to_be_bytes()].concat()
}

fn position(cursor: &Cursor) -> Result<Key, ListQueryError> {
    let read = || {
        let (sequence, place) = cursor.position.split_first_chunk::<8>()?;
        Some((i64::from_be_bytes(*sequence), u16::from_be_bytes(place.try_into().ok()?)))
    };
    read().ok_or_else(|| ListQueryError::of("cursor names no delivery"))
}

/// The members of a delivery, as lists and single reads show it.
fn write(object: &mut Object<'_>, delivery: &Delivery) {
    object.text("id", &delivery.id.to_string());
    object.text("event", delivery.event.name());
    object.integer("sequence", delivery.id.sequence);
    object.text("kind", &delivery.kind);
    object.text("slug", &delivery.slug);
    object.text("state", delivery.state.name());
    object.list("attempts", |list| {
        for attempt in store::attempts_of(&delivery.attempts) {
            list.object(|object| {
                object.time("at", Timestamp::from_microseconds(attempt.at));
                write_outcome(object, &attempt);
            });
        }
    });
    let due = (delivery.state == State::Pending && delivery.started == 0).then_some(delivery.due);
    object.optional_time("next_attempt", due.map(Timestamp::from_microseconds));
}

/// The members of an attempt but its time.
pub(super) fn write_outcome(object: &mut Object<'_>, attempt: &Attempt) {
    object.optional_integer("status", attempt.status.map(i64::from));
    object.integer("duration_ms", attempt.milliseconds());
    object.text("answer", &attempt.answer);
    object.optional_text("error", attempt.error.as_deref());
}
