//! A single entry.

use std::borrow::Cow;

use crate::access::Sight;
use crate::access::judged::Judged;
use crate::http::{ApiError, Caller, Path, Reader, Reply};
use crate::records::assignments;
use crate::records::entries::Entry;
use crate::records::entries::document::{MEMBERS, included};
use crate::records::entries::store::{self, EntryRow};
use db::Source;
use kernel::text::Slug;

/// An entry with its answers, attachments and contributors.
#[utoipa::path(get, path = "/entry/{slug}", operation_id = "GetEntryV23", tag = "Entries")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let version = caller.program().version;
    let judged = judged(&caller, slug).await?;
    let shown = store::find(&caller.app().db, caller.account(), slug, |found| {
        let shown = |found: EntryRow<'_>| {
            if caller.access().sees_all() {
                let shown = (found.doc, Some(found.detail), Sight::Whole);
                return caller.shown(shown, found.revision, found.person);
            }
            let entry = Entry::of_document(found.doc).map_err(|error| ApiError::Internal(error.to_string()))?;
            let sight = caller.access().judged_entry(&entry, judged).ok_or(ApiError::NotFound)?;
            let detail = match sight {
                Sight::Judged(judged) => included(found.detail, &judged.members(&MEMBERS)),
                _ => Some(Cow::Borrowed(found.detail)),
            };
            let document = first(sight, &entry, found.doc);
            caller.shown((&document, detail.as_deref(), sight), found.revision, found.person)
        };
        (found.version == version).then(|| shown(found))
    });
    shown.await?.ok_or(ApiError::NotFound)?.ok_or(ApiError::Stale)?
}

/// What the caller sees of an entry as its judge.
async fn judged(caller: &Caller, slug: Slug) -> Result<Option<Judged>, ApiError> {
    let Some(judge) = caller.access().judging() else { return Ok(None) };
    let mut source = Source::Db(&caller.app().db);
    let found = assignments::store::judged(&mut source, caller.account(), judge, &[slug]).await?;
    let score_sets: Vec<Slug> = found.into_iter().map(|own| own.score_set).collect();
    Ok(Judged::of(caller.program(), &score_sets))
}

/// The first document of an entry, as far as it is seen.
pub(super) fn first<'d>(sight: Sight, entry: &Entry, document: &'d str) -> Cow<'d, str> {
    match sight {
        Sight::Judged(judged) if !judged.is_applicant => Cow::Owned(judged.document(entry)),
        _ => Cow::Borrowed(document),
    }
}
