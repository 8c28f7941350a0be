//! The parameters that every list with pages has beside its filters.

/// The value of `count` that leaves out what needs the number of all records.
pub(super) const NO_COUNT: &str = "none";

/// A parameter of pages and sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Paging {
    /// The number of the page.
    Page,
    /// The number of records a page.
    PerPage,
    /// What the list is sorted by.
    Order,
    /// In which direction.
    #[strum(serialize = "dir")]
    Direction,
    /// Where a walk goes on.
    Cursor,
    /// Whether the records are counted.
    Count,
}
