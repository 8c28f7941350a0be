//! A single entry.

use crate::http::{ApiError, Caller, Path, Reply};
use crate::records::entries::store::{self, EntryRow};
use kernel::text::Slug;

/// An entry with its answers, attachments and contributors.
#[utoipa::path(get, path = "/entry/{slug}", operation_id = "GetEntryV23", tag = "Entries")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>) -> Result<Reply, ApiError> {
    let version = caller.program().version;
    let shown = store::find(&caller.app().db, caller.account(), slug, |found| {
        let shown = |found: EntryRow<'_>| caller.shown(found.doc, Some(found.detail), found.revision, found.person);
        (found.version == version).then(|| shown(found))
    });
    Ok(shown.await?.ok_or(ApiError::NotFound)?.ok_or(ApiError::Stale)??)
}
