//! Requests to contributors.

pub mod write;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::{self, ListQuery};
use crate::program::fields::{Field, Resource};
use crate::records::entries::contributors::Contributor;
use crate::records::entries::contributors::list::{BY_FIELD, NAMED};
use crate::render::Renderer;
use crate::resources::entry_children::{self, EntryChild as _};
use crate::resources::operation::{Takes, operation};
use crate::services::App;

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
        .routes(entry_children::show::<Contributor>("GetContributorV23", "A contributor."))
        .routes(entry_children::update::<Contributor>("PutContributorV23"))
        .routes(entry_children::delete::<Contributor>("DeleteContributorV23", "Puts a contributor into the trash."))
        .routes(entry_children::update_field::<Contributor>("PutContributorUpdateFieldV23"))
}

async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let program = caller.program();
    // A slug of nothing that contributors answer is an unknown order like any other.
    let field = page::field_of_order(raw.as_deref()).and_then(|field| program.fields.live(field));
    // What cannot be read does not tell of itself by an order.
    let is_seen = |field: &Field| caller.access().sees_fields() || field.applicant.read;
    let by_field = field.is_some_and(|field| field.resource == Resource::Contributors && is_seen(field));
    let list = if by_field { &BY_FIELD } else { &NAMED };
    let query = ListQuery::parse(raw.as_deref(), &list.spec)?;
    http::list::page(&caller, raw.as_deref(), (list, &query), |renderer: &mut Renderer, texts: &[&str]| {
        renderer.seen(entry_children::sight(&caller, texts)?);
        Ok(renderer.item(&Contributor::document(program, texts)?.0, None)?)
    })
    .await
}
