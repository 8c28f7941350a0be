//! Lists: the query that asks for a page, and the envelope around it.
//!
//! A list declares its filters and orders once, in a [`ListSpec`]. [`ListQuery::parse`] reads a query by it and reports
//! everything that is wrong at once; [`ListSpec::parameters`] describes the same declaration in the OpenAPI document;
//! [`PageEnvelope`] writes what stands around the records.
//!
//! Beside `page`, `per_page`, `order` and `dir` every list takes two parameters more. `cursor` walks a list at the
//! same cost at any depth: empty for the beginning, then the `next_cursor` of the answer before. `count=none`
//! leaves out what needs the number of all records.

mod cursor;
mod envelope;
mod error;
mod filter;
mod narrow;
mod openapi;
mod paging;
mod parameters;
mod query;

pub use cursor::Cursor;
pub use envelope::PageEnvelope;
pub use error::ListQueryError;
pub use filter::{Filter, FilterKind, FilterValue};
pub use list_view::Direction;
pub use narrow::{Ask, EVERY, Narrow, bounded};
pub use openapi::settings_parameter;
pub use query::{ListQuery, Order, asks_for_settings, field_of_order};

/// The order without `order` or with a value that is none, descending without `dir`: what was changed last comes first. An
/// order that is named begins with the smallest value.
const DEFAULT_ORDER: &str = "updated";
/// The size of a page without `per_page`.
const DEFAULT_PER_PAGE: u32 = 10;
/// The largest page.
pub const MAXIMUM_PER_PAGE: u32 = 100;
/// The most parameters of a query.
pub const MAXIMUM_PARAMETERS: usize = 256;

/// What the query of a list may say.
#[derive(Debug, Clone, Copy)]
pub struct ListSpec {
    /// The filters, in the order in which the documentation lists them.
    pub filters: &'static [Filter],
    /// The values of `order`.
    pub orders: &'static [&'static str],
    /// Whether `order` may be the slug of a field, too.
    pub orders_by_field: bool,
    /// What the names of the orders do not say, for readers: sentences, or the empty text.
    pub about_orders: &'static str,
    /// Whether it has pages; otherwise its query has filters alone.
    pub is_paged: bool,
    /// What is asked of every record beside the filters: the values of columns.
    pub always: &'static [(&'static str, &'static str)],
}

impl ListSpec {
    /// A list with these filters and orders.
    pub const fn new(filters: &'static [Filter], orders: &'static [&'static str]) -> Self {
        Self { filters, orders, orders_by_field: false, about_orders: "", is_paged: true, always: &[] }
    }

    /// What is told of records by these filters, without pages and sorts.
    pub const fn of_filters(filters: &'static [Filter]) -> Self {
        Self { is_paged: false, ..Self::new(filters, &[]) }
    }
}

#[cfg(test)]
mod tests;
