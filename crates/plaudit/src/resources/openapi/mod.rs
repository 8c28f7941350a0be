//! The OpenAPI document, made from the handlers' own descriptions, and a page that shows it.

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

use std::fmt::Write as _;

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

/// A page for people: every operation with its description.
pub fn page(document: &OpenApi) -> String {
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><title>Plaudit</title>\
         <style>body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}code{background:#eee}</style>\
         <h1>Plaudit, version 2.3</h1><p>The whole description: <a href=/openapi.json>openapi.json</a>.</p>",
    );
    for (path, item) in &document.paths.paths {
        let operations = [("GET", &item.get), ("POST", &item.post), ("PUT", &item.put), ("DELETE", &item.delete)];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                let about = operation.description.as_deref().or(operation.summary.as_deref()).unwrap_or_default();
                let id = operation.operation_id.as_deref().unwrap_or_default();
                let _ = write!(page, "<h2><code>{method} {path}</code></h2><p><b>{id}</b></p><p>{about}</p>");
            }
        }
    }
    page
}
