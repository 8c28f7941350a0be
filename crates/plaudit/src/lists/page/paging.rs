//! The parameters that every list with pages has beside its filters.

/// The value of `count` that leaves out what needs the number of all records.
pub(super) const NO_COUNT: &str = "none";

/// A parameter of pages and sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// The number of the page.
    Page,
    /// The number of records a page.
    PerPage,
    /// What the list is sorted by.
    Order,
    /// In which direction.
    Direction,
    /// Where a walk goes on.
    Cursor,
    /// Whether the records are counted.
    Count,
}

impl Paging {
    /// All of them, in the order in which the documentation lists them.
    pub(super) const ALL: [Self; 6] =
        [Self::Page, Self::PerPage, Self::Order, Self::Direction, Self::Cursor, Self::Count];

    /// The name of the parameter.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::PerPage => "per_page",
            Self::Order => "order",
            Self::Direction => "dir",
            Self::Cursor => "cursor",
            Self::Count => "count",
        }
    }

    /// The parameter with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|paging| paging.name() == name)
    }
}
