//! The operations of rounds, which read only.

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow, words};
use crate::program::rounds::{Round, RoundType, document};
use crate::resources::setup_list::{Of, SetupList, columns, reads};

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

reads! {
    Round, "Rounds",
    "/round" "GetRoundCollectionV23" "RoundPage" "A page of rounds. Without `order` what was changed last comes first.",
    "/round/{slug}" "GetRoundV23" "Round" "A round.",
    |round, program| document(round, program)
}
