//! Requests to contributors.

pub mod schemas;
pub mod write;

use axum::Router;
use axum::routing::{get, put};

use super::{rules, store};
use crate::app::App;
use crate::belongings::{self, Belonging, Listed, Selection, Shown};
use crate::entries::filters;
use crate::http::openapi::Error;
use crate::http::page::{self, Filter, FilterKind, ListQuery, ListSpec, Order, list_parameters};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::fields::Resource;
use crate::program::{self, Program};

/// The routes of contributors.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/contributor", get(list).post(write::create))
        .route("/contributor/{slug}", get(show).put(write::update).delete(write::delete))
        .route("/contributor/{slug}/update-field/{field}", put(write::update_field))
}

const FILTERS: &[Filter] = &[
    Filter::new("entry", FilterKind::Slug, "The entry"),
    Filter::new("tab", FilterKind::Slug, "The tab"),
    filters::STATUS,
    filters::PAYMENT_STATUS,
    filters::MODERATION,
    filters::REVIEW_STATUS,
    filters::TAG,
    filters::CATEGORY,
    filters::CHAPTER,
    filters::SEASON,
];
const NAMED: ListSpec = ListSpec {
    about_orders: "`entry` is by the title of the entry.",
    ..ListSpec::new(FILTERS, &["entry", "tab", "created", "updated"])
};
const SPEC: ListSpec = ListSpec { orders_by_field: true, ..NAMED };
list_parameters!(Query, SPEC);

/// A page of contributors of entries that are not in the trash. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/contributor",
    operation_id = "GetContributorCollectionV23",
    tag = "Contributors",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let program = caller.program();
    // A slug of nothing that contributors answer is an unknown order like any other.
    let field = page::field_of_order(raw.as_deref()).and_then(|field| program.fields.live(field));
    let by_field = field.is_some_and(|field| field.resource == Resource::Contributors);
    let query = ListQuery::parse(raw.as_deref(), if by_field { &SPEC } else { &NAMED })?;
    let selection = Selection::of(&query, program);
    let listed = match query.order {
        Order::Named(order) => Listed::named(Belonging::Contributor, selection, order, query.direction),
        Order::Field(field) => Listed::by_answer(selection, field, query.direction),
    };
    let read = belongings::page(&caller, &query, &listed).await?;
    belongings::answer(&caller, ("/contributor", &query), (&listed, &read), |shown| document(program, shown))
}

fn document(program: &Program, shown: &Shown) -> Result<String, ApiError> {
    let contributor = program::store::parse(&shown.doc, &program.context)?;
    Ok(rules::document(&contributor, &shown.title, shown.season))
}

/// A contributor.
#[utoipa::path(
    get,
    path = "/contributor/{slug}",
    operation_id = "GetContributorV23",
    tag = "Contributors",
    params(("slug" = String, Path, description = "The contributor", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The contributor"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read =
        belongings::store::find(&caller.app().db, caller.account(), Belonging::Contributor, slug.as_str()).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, shown) = found.ok_or(ApiError::NotFound)?;
    Ok(Reply::ok(document(program, &shown)?, revision))
}
