//! A single entry.

use crate::entries::store;
use crate::http::openapi::Error;
use crate::http::{ApiError, Caller, PathSlug, Reply};

/// An entry with its answers, attachments and contributors.
#[utoipa::path(
    get,
    path = "/entry/{slug}",
    operation_id = "GetEntryV23",
    tag = "Entries",
    params(("slug" = String, Path, description = "The entry", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The whole entry"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let version = caller.program().version;
    let shown = store::find(&caller.app().db, caller.account(), slug, |found| {
        (found.version == version).then(|| caller.shown(found.doc, Some(found.detail), found.revision))
    });
    shown.await?.ok_or(ApiError::NotFound)?.ok_or(ApiError::Stale)
}
