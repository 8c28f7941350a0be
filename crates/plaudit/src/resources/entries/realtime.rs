//! Changes of one thing, each of which reaches every open stream.

use crate::http::{ApiError, Body, Caller, PathField, PathSlug, Reply, Writer, Writing};
use crate::records::entries::rules::body;
use crate::records::entries::{change_chapter, store};
use crate::resources::entries::Request;
use crate::resources::entries::update::change;
use db::Tx;
use kernel::input::{self, Members};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// Gives an entry another title.
#[utoipa::path(
    put, path = "/entry/{slug}/update-title", operation_id = "PutEntryUpdateTitleV23", tag = "Entries (realtime)",
    request_body = ref("UpdateTitle")
)]
pub async fn update_title(
    caller: Caller,
    PathSlug(slug): PathSlug,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_title(tx, writing))).await
}

async fn write_title(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    change(tx, writing, writing.state.slug, body::read_title(&writing.state.body)).await
}

struct AnswerRequest {
    slug: Slug,
    field: Slug,
    body: JsonObject<'static>,
}

/// Gives an entry the answer to one field.
#[utoipa::path(
    put, path = "/entry/{slug}/update-field/{field}", operation_id = "PutEntryUpdateFieldV23", tag = "Entries (realtime)",
    request_body = ref("UpdateAnswer")
)]
pub async fn update_field(
    caller: Caller,
    PathSlug(slug): PathSlug,
    PathField(field): PathField,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(AnswerRequest { slug, field, body }, |tx, writing| Box::pin(write_answer(tx, writing))).await
}

async fn write_answer(tx: &mut Tx, writing: &Writing<AnswerRequest>) -> Result<Reply, ApiError> {
    let AnswerRequest { slug, field, body } = &*writing.state;
    if writing.program.fields.live(*field).is_none() {
        return Err(ApiError::NotFound);
    }
    change(tx, writing, *slug, body::read_answer(body, *field)).await
}

/// Moves an entry to another category of its season and form, which is active, not locked and offered in its chapter.
#[utoipa::path(
    put, path = "/entry/{slug}/update-category", operation_id = "PutEntryUpdateCategoryV23", tag = "Entries (realtime)",
    request_body = ref("UpdateEntryCategory")
)]
pub async fn update_category(
    caller: Caller,
    PathSlug(slug): PathSlug,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_category(tx, writing))).await
}

async fn write_category(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    change(tx, writing, writing.state.slug, body::read_category(&writing.state.body)).await
}

/// Moves an entry to another chapter, which is active, belongs to the entry's season and offers its category.
#[utoipa::path(
    put, path = "/entry/{slug}/update-chapter", operation_id = "PutEntryUpdateChapterV23", tag = "Entries (realtime)",
    request_body = ref("UpdateEntryChapter")
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
    Ok(crate::resources::entries::shown(stored))
}

/// Reads the body, of which only the chapter counts: other members are passed over (specification, section 4.2).
fn read_chapter(body: &JsonObject) -> Result<Slug, ApiError> {
    let mut members = Members::open(body);
    let chapter = members.required("chapter", input::slug);
    Ok(members.finish().or(chapter)?)
}
