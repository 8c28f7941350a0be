//! The OpenAPI document, made from the handlers' own descriptions.

mod assignments;
mod complete;
mod components;
mod deliveries;
mod documents;
mod examples;
mod jobs;
mod kinds;
mod leaderboard;
mod publications;
mod webhooks;

pub(super) use webhooks::example;

use serde_json::Value;
use utoipa::openapi::OpenApi;

/// What the document says beside its operations.
#[derive(utoipa::OpenApi)]
#[openapi(info(
    title = "Plaudit",
    description = "Awards, competitions, scholarships and grants: version 2.3 of the interface."
))]
pub struct Document;

/// The document with what holds for every operation.
pub fn complete(document: &OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    complete::complete(&mut document);
    document
}
