//! The operations of score sets, which read only.

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow, words};
use crate::program::score_sets::{Mode, ScoreSet, document};
use crate::resources::setup_list::{Of, SetupList, columns, reads};

const FILTERS: &[Filter] = &[
    Filter::new("mode", FilterKind::OneOf(words!(Mode)), "How their entries are judged").by(Narrow::Is("mode")),
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

/// `GET /score-set` (contract, section 4).
static LIST: SetupList<ScoreSet> = SetupList {
    path: "/score-set",
    spec: ListSpec::new(FILTERS, &["created", "mode", "name", "updated"]),
    cells: CELLS,
    columns: &columns(CELLS),
};

reads! {
    ScoreSet, "Score sets",
    "/score-set" "GetScoreSetCollectionV23" "ScoreSetPage" "A page of score sets. Without `order` what was changed last comes first.",
    "/score-set/{slug}" "GetScoreSetV23" "ScoreSet" "A score set.",
    |score_set, _program| document(score_set)
}
