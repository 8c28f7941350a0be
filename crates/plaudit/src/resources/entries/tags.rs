//! The tags of an entry, named in the path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::http::{ApiError, Caller, PathSlug, Reply, Writer, Writing};
use crate::records::entries::{EntryHead, rules, store};
use db::Tx;
use kernel::input::Violations;
use kernel::text::Slug;

/// The tags in the path, with commas between them; percent-encoded text that is not UTF-8 is 400.
pub struct PathTags(String);

impl<S: Send + Sync> FromRequestParts<S> for PathTags {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let tags = params.as_ref().and_then(|params| params.iter().find(|(name, _)| *name == "tags"));
        tags.map(|(_, tags)| Self(tags.to_owned()))
            .ok_or_else(|| ApiError::BadRequest("The tags in the path must be UTF-8.".to_owned()))
    }
}

struct Request {
    slug: Slug,
    tags: String,
}

/// Adds tags to an entry; those that it has already change nothing.
#[utoipa::path(
    put, path = "/entry/{slug}/tag/{tags}", operation_id = "PutEntryTagV23", tag = "Entries",
    responses((status = 201, description = "The whole entry; `Location` is its address", body = ref("Entry")))
)]
pub async fn add(
    caller: Caller,
    PathSlug(slug): PathSlug,
    PathTags(tags): PathTags,
    _: Writer,
) -> Result<Reply, ApiError> {
    caller.write(Request { slug, tags }, |tx, writing| Box::pin(write_tags(tx, writing, rules::tags::added))).await
}

/// Takes tags away from an entry; those that it does not have change nothing.
#[utoipa::path(
    delete, path = "/entry/{slug}/tag/{tags}", operation_id = "DeleteEntryTagV23", tag = "Entries",
    responses((status = 201, description = "The whole entry; `Location` is its address", body = ref("Entry")))
)]
pub async fn remove(
    caller: Caller,
    PathSlug(slug): PathSlug,
    PathTags(tags): PathTags,
    _: Writer,
) -> Result<Reply, ApiError> {
    caller.write(Request { slug, tags }, |tx, writing| Box::pin(write_tags(tx, writing, rules::tags::removed))).await
}

async fn write_tags(
    tx: &mut Tx,
    writing: &Writing<Request>,
    changed: fn(&str, &str) -> Result<String, Violations>,
) -> Result<Reply, ApiError> {
    let Request { slug, tags } = &*writing.state;
    let account = writing.account();
    let found = store::find_for_update(tx, account, *slug).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    let tags = changed(&head.tags, tags)?;
    rules::check_season(&writing.program, head.season)?;
    writing.precondition(found.revision)?;
    let after = EntryHead { tags: tags.into(), ..head.clone() };
    let stored = store::write_head(tx, account, &writing.origin, (&found, &head), after, false).await?;
    Ok(crate::resources::entries::created(stored, *slug))
}
