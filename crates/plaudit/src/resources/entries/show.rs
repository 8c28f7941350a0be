//! A single entry.

use crate::access::Sight;
use crate::http::{ApiError, Caller, Path, Reader, Reply};
use crate::records::entries::Entry;
use crate::records::entries::store::{self, EntryRow};
use kernel::text::Slug;

/// An entry with its answers, attachments and contributors.
#[utoipa::path(get, path = "/entry/{slug}", operation_id = "GetEntryV23", tag = "Entries")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let version = caller.program().version;
    let shown = store::find(&caller.app().db, caller.account(), slug, |found| {
        let shown = |found: EntryRow<'_>| {
            let sight = sight(&caller, found.doc)?;
            caller.shown((found.doc, Some(found.detail), sight), found.revision, found.person)
        };
        (found.version == version).then(|| shown(found))
    });
    shown.await?.ok_or(ApiError::NotFound)?.ok_or(ApiError::Stale)?
}

/// What the caller sees of an entry, by its first document; 404 where that is nothing.
fn sight(caller: &Caller, document: &str) -> Result<Sight, ApiError> {
    if caller.access().sees_all() {
        return Ok(Sight::Whole);
    }
    let entry = Entry::of_document(document).map_err(|error| ApiError::Internal(error.to_string()))?;
    caller.sight_of(&entry)
}
