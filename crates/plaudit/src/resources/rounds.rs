//! The operations of rounds, which read only.

use utoipa_axum::router::OpenApiRouter;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::program::rounds::{Round, RoundType, document};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Related, SetupResource};
use crate::services::App;

/// The routes of rounds.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Round>("GetRoundCollectionV23"))
        .routes(setup_record::show::<Round>("GetRoundV23"))
}

const FILTERS: &[Filter] = &[
    Filter::new("type", FilterKind::OneOf(RoundType::NAMES), "What they are for").by(Narrow::Is("type")),
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

impl SetupResource for Round {
    const GROUP: &'static str = "Rounds";
    const LIST: &'static SetupList<Self> =
        &SetupList { spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program)
    }
}
