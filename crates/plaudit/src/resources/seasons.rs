//! The operations of seasons, which read only.

use crate::lists::page::ListSpec;
use crate::program::seasons::{Season, document};
use crate::resources::setup_list::{Of, SetupList, columns, reads};

const CELLS: &[(&str, Of<Season>); 5] = &[
    ("created", Of::Time(|season| season.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Translated(|season, _| Some(&season.name))),
    ("status", Of::Word(|season| season.status.name())),
    ("updated", Of::Time(|season| season.updated)),
];

/// `GET /season` (contract, section 4).
static LIST: SetupList<Season> = SetupList {
    path: "/season",
    spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(&[], &["created", "name", "status", "updated"]) },
    cells: CELLS,
    columns: &columns(CELLS),
};

reads! {
    Season, "Seasons",
    "/season" "GetSeasonCollectionV23" "SeasonPage" "A page of seasons. Without `order` what was changed last comes first.",
    "/season/{slug}" "GetSeasonV23" "Season" "A season.",
    |season, _program| document(season)
}
