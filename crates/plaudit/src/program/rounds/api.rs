//! The operations of rounds, which read only.

use axum::Router;
use axum::routing::get;

use super::{Round, RoundType, document};
use crate::app::App;
use crate::http::page::{Filter, FilterKind, ListSpec, Narrow, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Of, SetupList, columns};

/// The routes of rounds.
pub fn routes() -> Router<App> {
    Router::new().route("/round", get(list)).route("/round/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("type", FilterKind::OneOf(words!(RoundType)), "What they are for").by(Narrow::Is("type")),
    Filter::new("form", FilterKind::Slug, "The form").by(Narrow::Is("form")),
    Filter::season("The season, or `all`").by(Narrow::Season("season")),
    Filter::new("slug", FilterKind::Slug, "The round itself").by(Narrow::Is("slug")),
    Filter::trashed().by(Narrow::Lifecycle("deleted")),
];
const ORDERS: &[&str] = &["created", "end_date", "name", "start_date", "type", "updated"];
/// Dates are all of one time zone and are sorted as they are written.
const CELLS: &[(&str, Of<Round>); 10] = &[
    ("created", Of::Time(|round| round.created)),
    ("deleted", Of::Deleted),
    ("end_date", Of::Text(|round, _| Some(round.end_date?.to_string()))),
    ("form", Of::Slug(|round| Some(round.form))),
    ("name", Of::Translated(|round, _| Some(&round.name))),
    ("season", Of::Slug(|round| Some(round.season))),
    ("slug", Of::Slug(|round| Some(round.slug))),
    ("start_date", Of::Text(|round, _| Some(round.start_date?.to_string()))),
    ("type", Of::Word(|round| round.kind.name())),
    ("updated", Of::Time(|round| round.updated)),
];

/// `GET /round` (contract, section 4).
static LIST: SetupList<Round> =
    SetupList { path: "/round", spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };
list_parameters!(Query, LIST.spec);

/// A page of rounds. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/round",
    operation_id = "GetRoundCollectionV23",
    tag = "Rounds",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("RoundPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    listing::page(&caller, raw.as_deref(), &LIST, |round| document(round, caller.program())).await
}

/// A round.
#[utoipa::path(
    get,
    path = "/round/{slug}",
    operation_id = "GetRoundV23",
    tag = "Rounds",
    responses(
        (status = 200, description = "The round", body = ref("Round")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let round = program.rounds.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, round.revision, document(&round.value, program)).await
}
