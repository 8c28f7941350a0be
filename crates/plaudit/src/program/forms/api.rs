//! The operations of forms, which read only.

use axum::Router;
use axum::routing::get;

use super::{Form, FormType, document};
use crate::app::App;
use crate::http::page::{Filter, FilterKind, ListSpec, Narrow, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Of, SetupList, columns, one_or_every};

/// The routes of forms.
pub fn routes() -> Router<App> {
    Router::new().route("/form", get(list)).route("/form/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("form_type", FilterKind::OneOf(words!(FormType)), "What they are for").by(Narrow::Is("type")),
    Filter::season("The season, or `all`; a form that belongs to no season is in the list of each")
        .by(Narrow::SeasonOrEvery("in_season")),
    Filter::archived().by(Narrow::Lifecycle("archived")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];
const ORDERS: &[&str] =
    &["callToAction", "chapter_option", "content_block", "created", "name", "season", "slug", "type", "updated"];
const CELLS: &[(&str, Of<Form>); 11] = &[
    ("archived", Of::Flag(|form| form.archived)),
    ("callToAction", Of::Translated(|form, _| Some(&form.call_to_action))),
    ("chapter_option", Of::Word(|form| form.chapter_option.name())),
    ("content_block", Of::Translated(|form, program| Some(&program.content_blocks.any(form.content_block?)?.name))),
    ("created", Of::Time(|form| form.created)),
    ("deleted", Of::Deleted),
    ("in_season", Of::Set(|form, _| one_or_every(form.season))),
    ("name", Of::Translated(|form, _| Some(&form.name))),
    ("season", Of::Translated(|form, program| Some(&program.seasons.any(form.season?)?.name))),
    ("type", Of::Word(|form| form.kind.name())),
    ("updated", Of::Time(|form| form.updated)),
];

/// `GET /form` (contract, section 4).
static LIST: SetupList<Form> =
    SetupList { path: "/form", spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };
list_parameters!(Query, LIST.spec);

/// A page of forms. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/form",
    operation_id = "GetFormCollectionV23",
    tag = "Forms",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("FormPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    listing::page(&caller, raw.as_deref(), &LIST, |form| document(form, caller.program())).await
}

/// A form.
#[utoipa::path(
    get,
    path = "/form/{slug}",
    operation_id = "GetFormV23",
    tag = "Forms",
    responses(
        (status = 200, description = "The form", body = ref("Form")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let form = program.forms.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, form.revision, document(&form.value, program)).await
}
