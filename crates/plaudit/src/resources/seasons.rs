//! The operations of seasons, which read only.

use utoipa_axum::router::OpenApiRouter;

use crate::lists::page::ListSpec;
use crate::program::seasons::{Season, document};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Related, SetupResource};
use crate::services::App;

/// The routes of seasons.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Season>("GetSeasonCollectionV23"))
        .routes(setup_record::show::<Season>("GetSeasonV23"))
}

const CELLS: &[(&str, Of<Season>); 5] = &[
    ("created", Of::Time(|season| season.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Translated(|season, _| Some(&season.name))),
    ("status", Of::Word(|season| season.status.name())),
    ("updated", Of::Time(|season| season.updated)),
];

impl SetupResource for Season {
    const GROUP: &'static str = "Seasons";
    const LIST: &'static SetupList<Self> = &SetupList {
        spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(&[], &["created", "name", "status", "updated"]) },
        cells: CELLS,
        columns: &columns(CELLS),
    };

    fn document(&self, _: &Related<'_>) -> String {
        document(self)
    }
}
