//! Requests to contributors.

pub mod schemas;
pub mod write;

use axum::Router;
use axum::routing::{get, put};

use super::{rules, store};
use crate::app::App;
use crate::belongings::{self, Belonging, Listed, Selection, Shown};
use crate::http::openapi::{Error, Paging};
use crate::http::page::{self, Filter, FilterKind, ListQuery, ListSpec, Order};
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
    Filter::new("entry", FilterKind::Slug),
    Filter::new("tab", FilterKind::Slug),
    Filter::new("status", FilterKind::OneOf(&["submitted", "in_progress", "resubmission_required", "resubmitted"])),
    Filter::new("payment_status", FilterKind::OneOf(&["paid", "awaiting_payment"])),
    Filter::new("moderation", FilterKind::OneOf(&["approved", "undecided", "rejected"])),
    Filter::new("review_status", FilterKind::Text { max: 255 }),
    Filter::new("tag", FilterKind::Text { max: 255 }),
    Filter::new("category", FilterKind::Slug),
    Filter::new("chapter", FilterKind::Slug),
    Filter::new("season", FilterKind::SlugOrAll),
];
const NAMED: ListSpec = ListSpec::new(FILTERS, &["entry", "tab", "created", "updated"]);
const SPEC: ListSpec = ListSpec { orders_by_field: true, ..NAMED };

/// A page of contributors of entries that are not in the trash. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/contributor",
    operation_id = "GetContributorCollectionV23",
    tag = "Contributors",
    params(
        ("entry" = Option<String>, Query, description = "The entry"),
        ("tab" = Option<String>, Query, description = "The tab"),
        ("status" = Option<String>, Query, description = "Where the entry is: `submitted`, `in_progress`, \
            `resubmission_required` or `resubmitted`"),
        ("payment_status" = Option<String>, Query, description = "Of the entry: `paid` or `awaiting_payment`"),
        ("moderation" = Option<String>, Query, description = "Of the entry: `approved`, `undecided` or `rejected`"),
        ("review_status" = Option<String>, Query, description = "The review status of the entry"),
        ("tag" = Option<String>, Query, description = "A tag of the entry"),
        ("category" = Option<String>, Query, description = "The category of the entry"),
        ("chapter" = Option<String>, Query, description = "The chapter of the entry"),
        ("season" = Option<String>, Query, description = "The season of the entry, or `all`; the active one without it"),
        ("order" = Option<String>, Query, description = "`entry` (by title), `tab`, `created`, `updated`, or the slug of \
            a field about contributors"),
        Paging,
    ),
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
