//! The operations of chapters.

use std::collections::BTreeMap;

use axum::Router;
use axum::routing::put;

use super::{Chapter, Status, document, read_update, rules};
use crate::app::App;
use crate::db::Tx;
use crate::http::openapi::Error;
use crate::http::{ApiError, Body, Caller, PathSlug, Reply, Writer, Writing};
use crate::kind::Kind;
use crate::log::{self, Action, Change};
use crate::program::{Record, store};
use crate::text::{JsonObject, Slug, status_label};
use crate::users;

/// The routes of chapters.
pub fn routes() -> Router<App> {
    Router::new().route("/chapter/{slug}", put(update).delete(delete))
}

struct Request {
    slug: Slug,
    body: JsonObject<'static>,
}

/// The body of `PutChapterV23`, for its description. What is left out keeps its value.
#[derive(utoipa::ToSchema)]
pub struct UpdateChapter {
    /// `active` or `inactive`.
    pub status: Option<String>,
    /// Texts by the code of their locale.
    pub translated: Option<UpdateChapterTexts>,
    /// The widest that the chapter's image is shown, in pixels.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_image_width: Option<i32>,
    /// The slugs of the users who manage the chapter.
    pub managers: Option<Vec<String>>,
}

/// The texts of a chapter.
#[derive(utoipa::ToSchema)]
pub struct UpdateChapterTexts {
    /// The name.
    pub name: Option<BTreeMap<String, String>>,
    /// The heading of the image.
    pub image_heading: Option<BTreeMap<String, String>>,
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(
    put,
    path = "/chapter/{slug}",
    operation_id = "PutChapterV23",
    tag = "Chapters",
    params(("slug" = String, Path, description = "The chapter", pattern = "^[A-Za-z]{8}$")),
    request_body(content = UpdateChapter, content_type = "application/json"),
    responses(
        (status = 200, description = "The chapter"),
        (status = "4XX", description = "Why it did not change", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn update(caller: Caller, PathSlug(slug): PathSlug, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let Request { slug, body } = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update::<Chapter>(tx, account, *slug, &program.context).await?;
    let before = found.ok_or(ApiError::NotFound)?;
    let update = read_update(body, &program.context);
    let managers = match &update.0.managers {
        Some(slugs) if !slugs.is_empty() => users::store::managers(tx, account, slugs).await?,
        _ => Vec::new(),
    };
    let chapter = rules::update(&before.value, update, &managers, writing.origin.at)?;
    writing.precondition(before.revision)?;
    let label = status_label(chapter.status == Status::Active, writing.label_locale());
    let shown = document(&chapter, program, label);
    if chapter == before.value {
        return Ok(Reply::ok(shown, before.revision));
    }
    let change = Change {
        kind: Kind::Chapter,
        slug: slug.as_str(),
        action: Action::Updated,
        events: &[],
        document: store::stored(&chapter),
    };
    let revision = log::append(tx, account, &writing.origin, change).await?;
    store::save(tx, account, &Record { value: chapter, revision, deleted: false }).await?;
    Ok(Reply::ok(shown, revision))
}

/// Puts a chapter into the trash; its entries keep their reference and show its name.
#[utoipa::path(
    delete,
    path = "/chapter/{slug}",
    operation_id = "DeleteChapterV23",
    tag = "Chapters",
    params(("slug" = String, Path, description = "The chapter", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 204, description = "The chapter is in the trash"),
        (status = "4XX", description = "Why it is not", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, slug) = (writing.account(), *writing.state);
    let found = store::find_for_update::<Chapter>(tx, account, slug, &writing.program.context).await?;
    let chapter = found.ok_or(ApiError::NotFound)?;
    writing.precondition(chapter.revision)?;
    let change = Change {
        kind: Kind::Chapter,
        slug: slug.as_str(),
        action: Action::Trashed,
        events: &[],
        document: store::stored(&chapter.value),
    };
    let revision = log::append(tx, account, &writing.origin, change).await?;
    store::save(tx, account, &Record { value: chapter.value, revision, deleted: true }).await?;
    Ok(Reply::no_content())
}
