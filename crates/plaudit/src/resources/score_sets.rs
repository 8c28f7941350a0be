//! The operations of score sets, which read only.

use utoipa_axum::router::OpenApiRouter;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::program::score_sets::{Mode, ScoreSet, document};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Related, SetupResource};
use crate::services::App;

/// The routes of score sets.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<ScoreSet>("GetScoreSetCollectionV23"))
        .routes(setup_record::show::<ScoreSet>("GetScoreSetV23"))
}

const FILTERS: &[Filter] = &[
    Filter::new("mode", FilterKind::OneOf(Mode::NAMES), "How their entries are judged").by(Narrow::Is("mode")),
    Filter::new("form", FilterKind::Slug, "The form").by(Narrow::Is("form")),
    Filter::season("The season, or `all`").by(Narrow::Season("season")),
    Filter::archived().by(Narrow::Lifecycle("archived")),
    Filter::trashed().by(Narrow::Lifecycle("deleted")),
];
const CELLS: &[(&str, Of<ScoreSet>); 8] = &[
    ("archived", Of::Flag(|score_set| score_set.archived)),
    ("created", Of::Time(|score_set| score_set.created)),
    ("deleted", Of::Deleted),
    ("form", Of::Slug(|score_set| Some(score_set.form))),
    ("mode", Of::Word(|score_set| score_set.mode().name())),
    ("name", Of::Translated(|score_set, _| Some(&score_set.name))),
    ("season", Of::Slug(|score_set| Some(score_set.season))),
    ("updated", Of::Time(|score_set| score_set.updated)),
];

impl SetupResource for ScoreSet {
    const GROUP: &'static str = "Score sets";
    const LIST: &'static SetupList<Self> = &SetupList {
        spec: ListSpec::new(FILTERS, &["created", "mode", "name", "updated"]),
        cells: CELLS,
        columns: &columns(CELLS),
    };

    fn document(&self, _: &Related<'_>) -> String {
        document(self)
    }
}
