//! The list of orders.

use list_view::Holds;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{By, List, ORDERS, Shown, Table, USERS, column, names};
use crate::program::Program;
use crate::records::orders::PaymentStatus;
use kernel::text::Slug;

/// Orders as views hold them.
pub static LISTED: Table = Table {
    sql: "orders",
    name: "slug",
    columns: &[
        column("purchaser", Holds::Reference(USERS)),
        column("season", Holds::Code),
        column("payment_status", Holds::Code),
        column("test", Holds::Flag),
        column("deleted", Holds::Flag),
        column("updated", Holds::Number),
        column("created_at", Holds::Number),
        column("invoice_number", Holds::Text),
        column("payment_method", Holds::Code),
        column("total", Holds::Number),
        column("chapters", Holds::Set),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(PaymentStatus::NAMES), "Whether they are paid")
        .by(Narrow::Is("payment_status")),
    Filter::new("test", FilterKind::OneOf(&["only", "hide"]), "`only` test orders, or `hide` them")
        .with_default("test orders are among the others")
        .by(Narrow::Stands("test", &[("only", "1"), ("hide", "0")])),
    Filter::season("The season, or `all`").by(Narrow::Season("season")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];
const SORTS: &[(&str, By); 6] = &[
    ("created_at", By::Number("created_at")),
    ("invoice_number", By::Text("invoice_number")),
    ("payment_method", By::Value("payment_method")),
    ("payment_status", By::Value("payment_status")),
    ("season", By::Named("season", season)),
    ("total", By::Number("total")),
];

/// `GET /order` (specification, section 4.5).
pub(crate) static LIST: List = List {
    path: "/order",
    spec: ListSpec::new(FILTERS, &names(SORTS)),
    table: ORDERS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown { held: &["purchaser", "purchaser.names"], columns: &["r.doc"], joins: "" },
};

fn season(program: &Program, season: Slug) -> String {
    let name = program.seasons.any(season).map(|season| season.name.in_locale(program.account.default_language));
    name.unwrap_or_default().to_owned()
}
