//! The operations of webhooks.

mod deliveries;
mod replay;
mod test;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::deliveries::reconcile;
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::lists::page::{Ask, Filter, FilterKind, FilterValue, ListQuery, ListSpec, Narrow};
use crate::log::Event;
use crate::program::Program;
use crate::program::webhooks::{self, Changes, Method, URL_LENGTH, Webhook, document, normal_url};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Given, Related, SetupResource, Writable};
use crate::services::App;
use db::Tx;
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// The routes of webhooks.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Webhook>("GetWebhookCollectionV23"))
        .routes(routes!(create))
        .routes(setup_record::show::<Webhook>("GetWebhookV23"))
        .routes(routes!(update))
        .routes(routes!(delete))
        .routes(deliveries::list_route())
        .routes(routes!(deliveries::show))
        .routes(routes!(deliveries::replay))
        .routes(routes!(replay::replay))
        .routes(routes!(test::test))
}

/// Makes a webhook, which is told of what happens from then on.
#[utoipa::path(post, path = "/webhook", operation_id = "PostWebhookV23", tag = "Webhooks")]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await
}

/// Changes what the body names; everything else keeps its value. A signing key that is replaced stays valid for 24 hours.
#[utoipa::path(put, path = "/webhook/{slug}", operation_id = "PutWebhookV23", tag = "Webhooks")]
pub async fn update(caller: Caller, Path(slug): Path<Slug>, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_update(tx, writing))).await
}

/// Puts a webhook into the trash; it is told nothing more.
#[utoipa::path(delete, path = "/webhook/{slug}", operation_id = "DeleteWebhookV23", tag = "Webhooks")]
pub async fn delete(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

// What is delivered follows the set-up in the transaction of the write, so that the answer is true when it is given.

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let reply = setup_record::write_new::<Webhook>(tx, writing).await?;
    reconcile(tx, writing.account()).await?;
    Ok(reply)
}

async fn write_update(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let reply = setup_record::write_change::<Webhook>(tx, writing).await?;
    reconcile(tx, writing.account()).await?;
    Ok(reply)
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let reply = setup_record::write_trash::<Webhook>(tx, writing).await?;
    reconcile(tx, writing.account()).await?;
    Ok(reply)
}

const FILTERS: &[Filter] = &[
    Filter::new("http_method", FilterKind::OneOf(Method::NAMES), "How the address is called")
        .by(Narrow::Is("http_method")),
    Filter::new("subscription_event", FilterKind::OneOf(&Event::NAMES), "An event that they are told of")
        .by(Narrow::Has("subscription_event")),
    Filter::new("url", FilterKind::Text { max: URL_LENGTH }, "The whole address").by(Narrow::By(of_url)),
];
const ORDERS: &[&str] = &["events", "http_method", "notification_emails", "signing_keys", "title", "updated", "url"];
const CELLS: &[(&str, Of<Webhook>); 10] = &[
    ("address", Of::Set(|webhook, _| vec![webhook.url.clone()])),
    ("deleted", Of::Deleted),
    ("events", Of::Text(|webhook, _| Some(events(webhook).join(" ")))),
    ("http_method", Of::Word(|webhook| webhook.method.name())),
    ("notification_emails", Of::Text(|webhook, _| Some(emails(webhook)))),
    // How many there are, and nothing of the keys themselves.
    ("signing_keys", Of::Number(|webhook, _| webhook.replaced_keys.len().try_into().unwrap_or(i64::MAX))),
    ("subscription_event", Of::Set(|webhook, _| events(webhook))),
    ("title", Of::Text(|webhook, _| Some(webhook.name.clone()))),
    ("updated", Of::Time(|webhook| webhook.updated)),
    ("url", Of::Text(|webhook, _| Some(webhook.url.clone()))),
];

fn events(webhook: &Webhook) -> Vec<String> {
    webhook.events.iter().map(Event::to_string).collect()
}

/// Addresses by their number, then by their texts.
fn emails(webhook: &Webhook) -> String {
    let emails = &webhook.notification_emails;
    format!("{:02} {}", emails.len(), emails.join(" "))
}

/// An address is found by whatever is stored as the same.
fn of_url(query: &ListQuery, _: &Program) -> Vec<Ask> {
    let Some(FilterValue::Text(text)) = query.filter("url") else { return Vec::new() };
    vec![Ask::Has("address", vec![normal_url(text).unwrap_or_else(|_| text.clone())])]
}

impl SetupResource for Webhook {
    const GROUP: &'static str = "Webhooks";
    const LIST: &'static SetupList<Self> = &SetupList {
        spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(FILTERS, ORDERS) },
        cells: CELLS,
        columns: &columns(CELLS),
    };

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program, related.shows_secrets)
    }
}

impl Writable for Webhook {
    async fn written(before: Option<&Self>, given: &Given<'_>, _: &mut Tx) -> Result<Self, ApiError> {
        let Given { program, slug, body, app, now } = *given;
        let with = (&app.ids, &*app.settings.outgoing.allowed);
        let changes = Changes::read(body, before.is_none(), &program.context);
        Ok(match before {
            None => webhooks::create(program, changes, slug, with, now)?,
            Some(before) => webhooks::update(program, before, changes, with, now)?,
        })
    }
}
