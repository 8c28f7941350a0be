//! Requests to contributors.

pub mod write;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{self, ApiError, Caller, Path, RawQuery, Reply};
use crate::lists::page::{self, ListQuery};
use crate::program::fields::Resource;
use crate::program::{self, Program};
use crate::records::entries::contributors::list::{BY_FIELD, NAMED};
use crate::records::entries::contributors::{Contributor, rules, store};
use crate::render::Renderer;
use crate::resources::entry_children;
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use db::DbError;
use kernel::text::Slug;

/// The routes of contributors.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(operation(
            (HttpMethod::Get, BY_FIELD.path, "GetContributorCollectionV23", "Contributors"),
            "A page of contributors of entries that are not in the trash. Without `order` what was changed last comes \
             first.",
            Takes::Query(BY_FIELD.spec.parameters()),
            list,
        ))
        .routes(routes!(write::create))
        .routes(routes!(show))
        .routes(entry_children::update::<Contributor>("PutContributorV23"))
        .routes(entry_children::delete::<Contributor>("DeleteContributorV23", "Puts a contributor into the trash."))
        .routes(entry_children::update_field::<Contributor>("PutContributorUpdateFieldV23"))
}

async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
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
#[utoipa::path(get, path = "/contributor/{slug}", operation_id = "GetContributorV23", tag = "Contributors")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::find(&caller.app().db, caller.account(), slug).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, shown) = found.ok_or(ApiError::NotFound)?;
    let document = document(program, &shown.doc, &shown.title, shown.season)?;
    Ok(Reply::ok(document, revision).naming(&[&shown.title, shown.season.as_str()]))
}
