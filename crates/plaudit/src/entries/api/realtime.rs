//! Changes of one thing, each of which reaches every open stream.

use super::Request;
use crate::db::Tx;
use crate::entries::{change_chapter, store};
use crate::http::openapi::Error;
use crate::http::{ApiError, Body, Caller, PathSlug, Reply, Writer, Writing};
use crate::input::{self, Members};
use crate::text::{JsonObject, Slug};

/// The body of `PutEntryUpdateChapterV23`, for its description.
#[derive(utoipa::ToSchema)]
#[schema(as = UpdateEntryChapter)]
pub struct UpdateChapter {
    /// The slug of the chapter that the entry moves to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub chapter: String,
}

/// Moves an entry to another chapter, which is active, belongs to the entry's season and offers its category.
#[utoipa::path(
    put,
    path = "/entry/{slug}/update-chapter",
    operation_id = "PutEntryUpdateChapterV23",
    tag = "Entries (realtime)",
    params(("slug" = String, Path, description = "The entry", pattern = "^[A-Za-z]{8}$")),
    request_body(content = UpdateChapter, content_type = "application/json"),
    responses(
        (status = 200, description = "The whole entry, in the new chapter"),
        (status = "4XX", description = "Why it did not move", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn update_chapter(
    caller: Caller,
    PathSlug(slug): PathSlug,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_chapter(tx, writing))).await
}

async fn write_chapter(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let account = writing.account();
    let found = store::find_for_update(tx, account, writing.state.slug).await?.ok_or(ApiError::NotFound)?;
    let chapter = read_chapter(&writing.state.body)?;
    let head = found.head()?;
    let moved = change_chapter(&writing.program, &head, chapter)?;
    writing.precondition(found.revision)?;
    let stored = store::write_head(tx, account, &writing.origin, (&found, &head), moved, false).await?;
    Ok(super::shown(stored))
}

/// Reads the body, of which only the chapter counts: other members are passed over (specification, section 4.2).
fn read_chapter(body: &JsonObject) -> Result<Slug, ApiError> {
    let mut members = Members::open(body);
    let chapter = members.required("chapter", input::slug);
    Ok(members.finish().or(chapter)?)
}
