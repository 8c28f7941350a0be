//! The list of orders.

use list_view::Holds;

use crate::http::page::{Filter, FilterKind, ListSpec};
use crate::kind::Kind;
use crate::list::{By, List, Narrow, ORDERS, Shown, Table, column};
use crate::program::Program;
use crate::text::Slug;

/// Orders as views hold them.
pub static LISTED: Table = Table {
    kind: Kind::Order,
    sql: "orders",
    name: "slug",
    columns: &[
        column("season", Holds::Code),
        column("payment_status", Holds::Code),
        column("test", Holds::Flag),
        column("deleted", Holds::Flag),
        column("updated", Holds::Number),
        column("created_at", Holds::Number),
        column("invoice_number", Holds::Text),
        column("payment_method", Holds::Code),
        column("total", Holds::Number),
    ],
    sets: &[],
};

/// `GET /order` (specification, section 4.5).
pub(super) static LIST: List = List {
    path: "/order",
    spec: ListSpec::new(
        &[
            Filter::new("status", FilterKind::OneOf(&["paid", "awaiting_payment"])),
            Filter::new("test", FilterKind::OneOf(&["only", "hide"])),
            Filter::new("season", FilterKind::SlugOrAll),
            Filter::new("deleted", FilterKind::OneOf(&["only", "included", "none"])),
        ],
        &["created_at", "invoice_number", "payment_method", "payment_status", "season", "total"],
    ),
    table: ORDERS,
    filters: &[
        ("status", Narrow::Is("payment_status")),
        ("test", Narrow::Stands("test", &[("only", "1"), ("hide", "0")])),
        ("season", Narrow::Season("season")),
        ("deleted", Narrow::Lifecycle("deleted")),
    ],
    always: &[],
    sorts: &[
        ("created_at", By::Number("created_at")),
        ("invoice_number", By::Text("invoice_number")),
        ("payment_method", By::Value("payment_method")),
        ("payment_status", By::Value("payment_status")),
        ("season", By::Named("season", season)),
        ("total", By::Number("total")),
        ("updated", By::Number("updated")),
    ],
    shown: Shown { columns: "r.doc", count: 1, joins: "" },
};

fn season(program: &Program, season: Slug) -> String {
    let name = program.seasons.any(season).map(|season| season.name.in_locale(program.account.default_language));
    name.unwrap_or_default().to_owned()
}
