//! Lists: the query that asks for a page, and the envelope around it.
//!
//! A list declares its filters and orders once, in a [`ListSpec`]. [`ListQuery::parse`] reads a query by it and reports
//! everything that is wrong at once; [`ListSpec::parameters`] describes the same declaration in the OpenAPI document;
//! [`PageEnvelope`] writes what stands around the records.
//!
//! Beside `page`, `per_page`, `order` and `dir` every list of records takes two parameters more. `cursor` walks a list at the
//! same cost at any depth: empty for the beginning, then the `next_cursor` of the answer before. `count=none`
//! leaves out what needs the number of all records. A list of what happened has one order, and is walked by cursor alone.

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
pub use envelope::{PageEnvelope, walked_page};
pub use error::ListQueryError;
pub use filter::{Filter, FilterKind, FilterValue};
pub use list_view::Direction;
pub use narrow::{Ask, EVERY, Narrow, bounded};
pub use openapi::settings_parameter;
pub use query::{ListQuery, Order, asks_for_settings, field_of_order};

use paging::Paging;
use strum::VariantArray as _;

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
    /// What it is read in.
    pub pages: Pages,
    /// What is asked of every record beside the filters: the values of columns.
    pub always: &'static [(&'static str, &'static str)],
}

impl ListSpec {
    /// A list with these filters and orders.
    pub const fn new(filters: &'static [Filter], orders: &'static [&'static str]) -> Self {
        Self { filters, orders, orders_by_field: false, about_orders: "", pages: Pages::Sorted, always: &[] }
    }

    /// What is told of records by these filters, without pages and sorts.
    pub const fn of_filters(filters: &'static [Filter]) -> Self {
        Self { pages: Pages::None, ..Self::new(filters, &[]) }
    }

    /// A list in an order of its own, in pages by number or cursor.
    pub const fn numbered() -> Self {
        Self { pages: Pages::Numbered, ..Self::new(&[], &[]) }
    }

    /// A list in the order of what happened, with at most so many a page.
    pub const fn walked(filters: &'static [Filter], maximum_per_page: u32) -> Self {
        Self { pages: Pages::Walked { maximum_per_page }, ..Self::new(filters, &[]) }
    }
}

/// What a list is read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// In one: its query has filters alone.
    None,
    /// In pages by number or cursor, sorted as is asked for.
    Sorted,
    /// In pages by number or cursor, in an order of its own or, with `dir=desc`, turned around.
    Numbered,
    /// In pages by cursor alone. The filters may change on the way: what is walked is the same.
    Walked {
        /// The largest page.
        maximum_per_page: u32,
    },
}

impl Pages {
    /// The parameters of pages and sorts that it takes.
    fn parameters(self) -> &'static [Paging] {
        match self {
            Self::None => &[],
            Self::Sorted | Self::Numbered => Paging::VARIANTS,
            Self::Walked { .. } => &[Paging::PerPage, Paging::Cursor],
        }
    }

    /// The largest page.
    fn maximum_per_page(self) -> u32 {
        if let Self::Walked { maximum_per_page } = self { maximum_per_page } else { MAXIMUM_PER_PAGE }
    }

    fn is_walked(self) -> bool {
        matches!(self, Self::Walked { .. })
    }
}

#[cfg(test)]
mod tests;
