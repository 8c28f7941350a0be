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
    let found = store::find(&caller.app().db, caller.account(), slug).await?.ok_or(ApiError::NotFound)?;
    if found.version != caller.program().version {
        return Err(ApiError::Stale);
    }
    Ok(Reply::detailed(found.doc, found.detail, found.revision))
}
