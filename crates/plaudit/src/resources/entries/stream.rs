//! Streams of the changes of entries.
//!
//! - `GET /entry/{slug}/stream` tells of every change of one entry, `GET /entry/stream` of every change of every entry.
//! - Without `Last-Event-ID` a stream begins at the end of the change log; with it, after that change. A number beyond
//!   the end is of another log, such as that of before a restored backup: 400.
//! - Where the account's log loses changes that were streamed, as by a restore or a failover, its streams end.
//! - The stream of an entry that goes to the trash ends with its deletion; whoever comes back gets 404.
//! - How many streams there may be is limited, on a node and for a key: 429.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, LastEventId, Opening, Path, Reader, Reply};
use crate::services::App;
use crate::streams;
use db::{BoxFuture, DbError};
use kernel::text::Slug;

/// The routes of the streams.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(of_account)).routes(routes!(of_entry))
}

/// Every change of every entry, as server-sent events. The data of an event is `{events, sequence, timestamp, source,
/// entry}`, in the format that `Accept` names.
#[utoipa::path(
    get, path = "/entry/stream", operation_id = "GetEntryCollectionStreamV23", tag = "Entries (realtime)",
    params(("Last-Event-ID" = Option<i64>, Header, description = "The last event that was seen; what came after it follows")),
    responses((status = 200, description = "Events: entry_created, entry_updated, entry_deleted",
        content_type = "text/event-stream", body = String)),
)]
pub async fn of_account(caller: Caller, _: Reader, last: LastEventId) -> Result<Reply, ApiError> {
    open(&caller, None, last).await
}

/// Every change of one entry, as server-sent events like those of all entries. It ends when the entry goes to the trash.
#[utoipa::path(
    get, path = "/entry/{slug}/stream", operation_id = "GetEntryStreamV23", tag = "Entries (realtime)",
    params(("Last-Event-ID" = Option<i64>, Header, description = "The last event that was seen; what came after it follows")),
    responses((status = 200, description = "Events: entry_updated, entry_deleted",
        content_type = "text/event-stream", body = String)),
)]
pub async fn of_entry(caller: Caller, Path(slug): Path<Slug>, _: Reader, last: LastEventId) -> Result<Reply, ApiError> {
    open(&caller, Some(slug), last).await
}

async fn open(caller: &Caller, entry: Option<Slug>, LastEventId(last): LastEventId) -> Result<Reply, ApiError> {
    let standing = streams::store::standing(&caller.app().db, caller.account(), entry).await?;
    let (committed, place) = standing.ok_or(ApiError::KeyRefused)?;
    if committed.version != caller.program().version {
        return Err(ApiError::Stale);
    }
    if entry.is_some() && !is_seen(caller, place) {
        return Err(ApiError::NotFound);
    }
    if last.is_some_and(|last| last > committed.sequence) {
        return Err(ApiError::BadRequest("Last-Event-ID is beyond the account's last change.".to_owned()));
    }
    caller.app().tails.forget_lost(caller.account(), committed).await?;
    let permit = caller.app().tails.admit(caller.account(), caller.key())?;
    let after = last.unwrap_or(committed.sequence);
    Ok(Reply::Stream(Arc::new(Opening { entry, after, committed, permit, is_there })))
}

fn is_there(caller: &Caller, slug: Slug) -> BoxFuture<'_, Result<bool, DbError>> {
    Box::pin(async move {
        let standing = streams::store::standing(&caller.app().db, caller.account(), Some(slug)).await?;
        Ok(standing.is_some_and(|(_, place)| is_seen(caller, place)))
    })
}

/// Whether the caller sees an entry of this chapter and entrant; nobody sees one that is not there.
fn is_seen(caller: &Caller, place: Option<(Slug, Slug)>) -> bool {
    place.is_some_and(|(chapter, entrant)| caller.access().entry(chapter, entrant).is_some())
}
