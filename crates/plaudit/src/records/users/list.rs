//! The list of users.
//!
//! - A user joined the season that was active when the account added the user, and is active in the seasons in which the
//!   user has an entry that is not in the trash.
//! - `entries` asks for the active season (`current_season`, `none_current_season`), for any archived one
//!   (`archived_season`), or for no entry at all (`none`). Where no season is active, nobody has an entry in it.
//! - `deleted` and `trashed` are two vocabularies for one thing. Where neither is given, nothing from the trash is shown;
//!   one that is left out beside the other restricts nothing; both together must hold.

use list_view::Holds;

use crate::lists::page::{Ask, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::lists::{By, List, Shown, Table, USERS, Values, column, names};
use crate::program::Program;
use crate::program::seasons::Status;

/// Users as views hold them.
pub static LISTED: Table = Table {
    sql: "users",
    name: "slug",
    columns: &[
        column("person", Holds::Text),
        column("names", Holds::Text),
        column("deleted", Holds::Flag),
        column("confirmed", Holds::Flag),
        column("language", Holds::Code),
        column("season_joined", Holds::Code),
        column("roles", Holds::Set),
        column("seasons", Holds::Set),
        column("email", Holds::Text),
        column("mobile", Holds::Text),
        column("first_name", Holds::Text),
        column("last_name", Holds::Text),
        column("name", Holds::Text),
        column("created_by", Holds::Code),
        column("confirmed_at", Holds::Number),
        column("created_at", Holds::Number),
        column("updated", Holds::Number),
    ],
    sets: &[
        Values { column: "roles", sql: "user_roles", record: "slug", value: "role", unless: "" },
        Values { column: "seasons", sql: "user_seasons", record: "slug", value: "season", unless: "" },
    ],
};

const FILTERS: &[Filter] = &[
    Filter::new("active_in_season", FilterKind::Slug, "A season in which they have an entry")
        .by(Narrow::Has("seasons")),
    Filter::new("season_joined", FilterKind::Slug, "The season that was active when they were added")
        .by(Narrow::Is("season_joined")),
    Filter::new("confirmation", FilterKind::OneOf(&["confirmed", "pending"]), "Whether they are confirmed")
        .by(Narrow::Stands("confirmed", &[("confirmed", "1"), ("pending", "0")])),
    Filter::new(
        "entries",
        FilterKind::OneOf(&["current_season", "none_current_season", "archived_season", "none"]),
        "Whether they have an entry in the active season, none in it, one in an archived season, or none at all",
    )
    .by(Narrow::By(of_entries)),
    Filter::new("language", FilterKind::Locale, "Their language").by(Narrow::Is("language")),
    Filter::new("role", FilterKind::Slug, "A role that they have").by(Narrow::Has("roles")),
    DELETED,
    TRASHED,
];
const SORTS: &[(&str, By); 9] = &[
    ("confirmed_at", By::Number("confirmed_at")),
    ("created_at", By::Number("created_at")),
    ("created_by", By::Value("created_by")),
    ("email", By::Text("email")),
    ("first_name", By::Text("first_name")),
    ("last_name", By::Text("last_name")),
    ("mobile", By::Text("mobile")),
    ("name", By::Text("name")),
    ("updated", By::Number("updated")),
];

/// `GET /user` (contract, section 4).
pub static LIST: List = List {
    path: "/user",
    spec: ListSpec::new(FILTERS, &names(SORTS)),
    table: USERS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown { held: &[], columns: &["r.doc"], joins: "" },
};

fn of_entries(query: &ListQuery, program: &Program) -> Vec<Ask> {
    let active = || program.active_season().map(|season| season.slug.to_string()).into_iter().collect();
    let archived = || {
        let seasons = program.seasons.all().map(|record| &record.value);
        seasons.filter(|season| season.status == Status::Archived).map(|season| season.slug.to_string()).collect()
    };
    let asked = query.word("entries").map(|word| match word {
        "current_season" => Ask::Has("seasons", active()),
        "none_current_season" => Ask::Lacks("seasons", active()),
        "archived_season" => Ask::Has("seasons", archived()),
        _ => Ask::IsEmpty("seasons"),
    });
    asked.into_iter().collect()
}

/// `deleted`, where `trashed` says the same.
pub(crate) const DELETED: Filter =
    Filter::deleted().with_default("`none`, unless `trashed` is given").by(Narrow::By(of_trash));
/// `trashed`, where `deleted` says the same.
pub(crate) const TRASHED: Filter = Filter::trashed()
    .with_default("`none`, unless `deleted` is given")
    .by(Narrow::Stands("deleted", &[("only", "1"), ("none", "0")]));

/// What of the trash is asked for.
fn of_trash(query: &ListQuery, _: &Program) -> Vec<Ask> {
    let is_deleted = match (query.word("deleted"), query.word("trashed")) {
        (Some("only"), _) => "1",
        (Some("none"), _) | (None, None) => "0",
        _ => return Vec::new(),
    };
    vec![Ask::Is("deleted", is_deleted.to_owned())]
}
