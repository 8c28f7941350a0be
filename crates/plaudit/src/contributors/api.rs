//! Requests to contributors.

pub mod write;

use axum::Router;
use axum::routing::{get, put};

use super::list::{BY_FIELD, NAMED};
use super::{rules, store};
use crate::app::App;
use crate::http::page::{self, ListQuery, list_parameters};
use crate::http::{self, ApiError, Caller, PathSlug, RawQuery, Renderer, Reply};
use crate::program::fields::Resource;
use crate::program::{self, Program};
use db::DbError;
use kernel::text::Slug;

/// The routes of contributors.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/contributor", get(list).post(write::create))
        .route("/contributor/{slug}", get(show).put(write::update).delete(write::delete))
        .route("/contributor/{slug}/update-field/{field}", put(write::update_field))
}

list_parameters!(Query, BY_FIELD.spec);

/// A page of contributors of entries that are not in the trash. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/contributor",
    operation_id = "GetContributorCollectionV23",
    tag = "Contributors",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("ContributorPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let program = caller.program();
    // A slug of nothing that contributors answer is an unknown order like any other.
    let field = page::field_of_order(raw.as_deref()).and_then(|field| program.fields.live(field));
    let by_field = field.is_some_and(|field| field.resource == Resource::Contributors);
    let list = if by_field { &BY_FIELD } else { &NAMED };
    let query = ListQuery::parse(raw.as_deref(), &list.spec)?;
    http::list::page(&caller, raw.as_deref(), (list, &query), &|renderer: &mut Renderer, texts| {
        renderer.item(&document(program, texts[0], texts[1], http::list::slug(texts[2])?)?, None);
        Ok(())
    })
    .await
}

fn document(program: &Program, doc: &str, title: &str, season: Slug) -> Result<String, DbError> {
    Ok(rules::document(&program::store::parse(doc, &program.context)?, title, season))
}

/// A contributor.
#[utoipa::path(
    get,
    path = "/contributor/{slug}",
    operation_id = "GetContributorV23",
    tag = "Contributors",
    responses(
        (status = 200, description = "The contributor", body = ref("Contributor")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::find(&caller.app().db, caller.account(), slug).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, shown) = found.ok_or(ApiError::NotFound)?;
    let document = document(program, &shown.doc, &shown.title, shown.season)?;
    Ok(Reply::ok(document, revision).naming(&[&shown.title, shown.season.as_str()]))
}
