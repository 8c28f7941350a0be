//! The query of a list, checked.

use std::collections::BTreeSet;

use crate::lists::page::cursor::Walk;
use crate::lists::page::filter::{ALL, Bracket, Filter, FilterKind, FilterValue, TimeRange};
use crate::lists::page::paging::{NO_COUNT, Paging};
use crate::lists::page::{
    Cursor, DEFAULT_ORDER, DEFAULT_PER_PAGE, Direction, ListQueryError, ListSpec, MAXIMUM_PARAMETERS, parameters,
};
use kernel::text::{Slug, Timestamp, excerpt};

/// The written values of `dir`.
pub(super) const DIRECTIONS: [(&str, Direction); 2] = [("asc", Direction::Ascending), ("desc", Direction::Descending)];

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One of the list's orders, or its default.
    Named(&'static str),
    /// The answers to a field.
    Field(Slug),
}

/// What a query asks of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// The page, from 1.
    pub page: u64,
    /// The number of records a page.
    pub per_page: u32,
    /// What the list is sorted by.
    pub order: Order,
    /// Whether the query names an order that there is.
    pub is_sorted: bool,
    /// In which direction.
    pub direction: Direction,
    /// Where the page begins, when the list is walked by cursor; `page` is 1 then.
    pub cursor: Option<Cursor>,
    /// What is walked; only where `cursor` is there.
    walk: Walk,
    /// Whether the answer tells the number of all records; false with `count=none`.
    pub counted: bool,
    filters: Vec<(&'static str, FilterValue)>,
    /// The caller's parameters but `page` and `cursor`, for the addresses of other pages.
    kept: Vec<(String, String)>,
}

/// Whether the query of a single read says `include=settings` (contract, section 5). Other parameters are passed over, as
/// everywhere but on lists.
pub fn asks_for_settings(raw_query: Option<&str>) -> Result<bool, ListQueryError> {
    let parameters = parameters::split(raw_query.unwrap_or_default()).filter_map(Result::ok);
    let mut values = parameters.filter(|(name, _)| name == "include").map(|(_, value)| value).peekable();
    let is_asked = values.peek().is_some();
    if values.all(|value| value == "settings") {
        return Ok(is_asked);
    }
    let mut errors = ListQueryError::default();
    errors.value("include", "must be settings");
    Err(errors)
}

impl ListQuery {
    /// Checks a query: what it asks for, or everything that is wrong with it.
    ///
    /// A parameter that comes twice is an error, whatever its values, and so is one that is not percent-encoded
    /// UTF-8. Names are taken as they are: `status[]` is no filter of any list. An unknown `order` is no error.
    ///
    /// The work grows with the length of the query and no faster: of more than [`MAXIMUM_PARAMETERS`] none is read.
    pub fn parse(raw_query: Option<&str>, spec: &ListSpec) -> Result<Self, ListQueryError> {
        let raw_query = raw_query.unwrap_or_default();
        let mut reading = QueryReader::new(spec);
        if parameters::parts(raw_query).nth(MAXIMUM_PARAMETERS).is_some() {
            reading.errors.parameter(format!("it has more than {MAXIMUM_PARAMETERS} parameters"));
            return Err(reading.errors);
        }
        for parameter in parameters::split(raw_query) {
            match parameter {
                Ok((name, value)) => reading.take(name, value),
                Err(parameters::Undecodable(part)) => {
                    reading.errors.parameter(format!("`{}` is not percent-encoded UTF-8", excerpt(part)));
                    if let Some(filter) = part.split('=').next().and_then(|name| reading.find(name)) {
                        reading.errors.value(filter.name, filter.allowed());
                    }
                }
            }
        }
        reading.finish()
    }

    /// The number of records before the page, for a statement with `OFFSET`.
    pub fn rows_before(&self) -> u64 {
        match &self.cursor {
            Some(cursor) => cursor.rows_before,
            None => (self.page - 1).saturating_mul(u64::from(self.per_page)).min(i64::MAX.unsigned_abs()),
        }
    }

    /// The value of a filter.
    pub fn filter(&self, name: &str) -> Option<&FilterValue> {
        self.filters.iter().find(|(held, _)| *held == name).map(|(_, value)| value)
    }

    /// The names of the filters that it has.
    pub fn filter_names(&self) -> impl Iterator<Item = &'static str> {
        self.filters.iter().map(|(name, _)| *name)
    }

    /// The word of a filter that has one.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.filter(name) {
            Some(FilterValue::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The words of a filter that has several; none when it is left out.
    pub fn words(&self, name: &str) -> &[&'static str] {
        match self.filter(name) {
            Some(FilterValue::Words(words)) => words,
            _ => &[],
        }
    }

    /// The slug of a filter that has one.
    pub fn slug(&self, name: &str) -> Option<Slug> {
        match self.filter(name) {
            Some(FilterValue::Slug(slug)) => Some(*slug),
            _ => None,
        }
    }

    /// The text of a filter that has one.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.filter(name) {
            Some(FilterValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number of a filter that has one.
    pub fn number(&self, name: &str) -> Option<u32> {
        match self.filter(name) {
            Some(FilterValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The time of a filter that has one.
    pub fn time(&self, name: &str) -> Option<Timestamp> {
        match self.filter(name) {
            Some(FilterValue::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// Whether a filter has the value `all`.
    pub fn is_all(&self, name: &str) -> bool {
        self.word(name) == Some(ALL)
    }

    /// The range of a date filter.
    pub fn range(&self, name: &str) -> Option<TimeRange> {
        match self.filter(name) {
            Some(FilterValue::Range(range)) => Some(*range),
            _ => None,
        }
    }

    /// The text of the cursor behind a record, whose position the list describes, with so many before the next one.
    pub fn cursor_behind(&self, position: Vec<u8>, rows_before: u64) -> String {
        Cursor { rows_before, position }.encode(self.walk)
    }

    /// A path, or an absolute address, of this list with another page or cursor.
    pub(super) fn address(&self, address: &str, name: &str, value: &str) -> String {
        let mut address = address.to_owned();
        for (name, value) in &self.kept {
            parameters::append(&mut address, name, value);
        }
        parameters::append(&mut address, name, value);
        address
    }
}

/// A query that is being read.
struct QueryReader<'spec> {
    spec: &'spec ListSpec,
    query: ListQuery,
    errors: ListQueryError,
    /// The names that came, for those that come twice.
    names: BTreeSet<String>,
    /// The cursor, which is read when everything else has been.
    cursor: Option<String>,
}

impl<'spec> QueryReader<'spec> {
    fn new(spec: &'spec ListSpec) -> Self {
        let query = ListQuery {
            page: 1,
            per_page: DEFAULT_PER_PAGE,
            order: Order::Named(DEFAULT_ORDER),
            is_sorted: false,
            direction: Direction::Descending,
            cursor: None,
            walk: Walk::default(),
            counted: true,
            filters: Vec::new(),
            kept: Vec::new(),
        };
        let (errors, names) = (ListQueryError::default(), BTreeSet::new());
        Self { spec, query, errors, names, cursor: None }
    }

    fn take(&mut self, name: String, value: String) {
        let is_repeated = self.names.contains(&name);
        let paging = name.parse::<Paging>().ok().filter(|paging| self.spec.pages.parameters().contains(paging));
        match paging {
            None => self.take_filter(&name, &value, is_repeated),
            Some(_) if is_repeated => self.errors.parameter(format!("{name} is given more than once")),
            Some(paging) => {
                if let Err(complaint) = self.take_paging(paging, &value) {
                    self.errors.parameter(format!("{name} {complaint}"));
                }
            }
        }
        if !matches!(paging, Some(Paging::Page | Paging::Cursor)) {
            self.query.kept.push((name.clone(), value));
        }
        self.names.insert(name);
    }

    /// Reads a parameter of pages and sorts, or tells what its value must be, in words that follow the name.
    fn take_paging(&mut self, paging: Paging, value: &str) -> Result<(), String> {
        let query = &mut self.query;
        match paging {
            Paging::Page => {
                let page = whole_number(value).filter(|page| *page >= 1);
                query.page = page.ok_or("must be a whole number from 1")?;
            }
            Paging::PerPage => {
                let maximum = self.spec.pages.maximum_per_page();
                let per_page = whole_number(value).and_then(|number| u32::try_from(number).ok());
                let per_page = per_page.filter(|per_page| (1..=maximum).contains(per_page));
                query.per_page = per_page.ok_or_else(|| format!("must be a whole number from 1 to {maximum}"))?;
            }
            Paging::Order => self.take_order(value),
            Paging::Direction => {
                let named = DIRECTIONS.into_iter().find(|(name, _)| *name == value);
                query.direction = named.ok_or("must be asc or desc")?.1;
            }
            Paging::Cursor => self.cursor = Some(value.to_owned()),
            Paging::Count if value == NO_COUNT => query.counted = false,
            Paging::Count => return Err(format!("must be {NO_COUNT}, or left out")),
        }
        Ok(())
    }

    fn take_order(&mut self, value: &str) {
        if let Some(order) = self.spec.orders.iter().find(|order| **order == value) {
            self.query.order = Order::Named(order);
            self.query.is_sorted = true;
        } else if let Some(slug) = Slug::parse(value).filter(|_| self.spec.orders_by_field) {
            self.query.order = Order::Field(slug);
            self.query.is_sorted = true;
        }
    }

    /// Reads the cursor, which is of the same list, filters and sort; the number of records a page is not among them.
    fn take_cursor(&mut self, text: &str) {
        let mut filters: Vec<_> = self.query.filters.iter().filter(|(name, _)| *name != "include").collect();
        filters.sort_unstable_by_key(|(name, _)| *name);
        filters.retain(|_| !self.spec.pages.is_walked());
        let list: Vec<_> = self.spec.filters.iter().map(|filter| filter.name).collect();
        let walked = (self.spec.orders, list, self.query.order, self.query.direction, filters);
        self.query.walk = Walk::of(&format!("{walked:?}"));
        match Cursor::decode(text, self.query.walk) {
            Some(cursor) => self.query.cursor = Some(cursor),
            None => self.errors.parameter(
                "cursor must be empty, or the next_cursor of a page of this list with the same filters and sort",
            ),
        }
    }

    fn take_filter(&mut self, name: &str, value: &str, is_repeated: bool) {
        if let Some((base, bracket)) = Bracket::split(name)
            && let Some(filter) = self.find(base).filter(|filter| filter.kind == FilterKind::Date)
        {
            return self.take_range(filter, bracket, value, is_repeated);
        }
        let Some(filter) = self.find(name) else {
            // Where there is no list, unknown parameters say nothing.
            if !is_repeated && self.spec.pages != super::Pages::None {
                self.errors.name(name);
            }
            return;
        };
        if is_repeated {
            return self.errors.value(filter.name, format!("is given more than once; it {}", filter.allowed()));
        }
        match filter.value(value) {
            Some(value) => self.query.filters.push((filter.name, value)),
            None => self.errors.value(filter.name, filter.allowed()),
        }
    }

    fn take_range(&mut self, filter: &Filter, bracket: Bracket, value: &str, is_repeated: bool) {
        let Some(range) = TimeRange::parse(bracket, value).filter(|_| !is_repeated) else {
            return self.errors.value(filter.name, filter.allowed());
        };
        for (name, value) in &mut self.query.filters {
            if let FilterValue::Range(held) = value
                && *name == filter.name
            {
                *held = held.and(range);
                return;
            }
        }
        self.query.filters.push((filter.name, FilterValue::Range(range)));
    }

    fn find(&self, name: &str) -> Option<&'static Filter> {
        self.spec.filters.iter().find(|filter| filter.name == name)
    }

    fn came(&self, paging: Paging) -> bool {
        self.spec.pages.parameters().contains(&paging) && self.names.contains(<&str>::from(paging))
    }

    fn finish(mut self) -> Result<ListQuery, ListQueryError> {
        if [Paging::Page, Paging::Cursor].iter().all(|paging| self.came(*paging)) {
            self.errors.parameter("page and cursor exclude each other");
        }
        let begins_with_least = self.query.is_sorted || self.spec.pages == super::Pages::Numbered;
        if begins_with_least && !self.came(Paging::Direction) {
            self.query.direction = Direction::Ascending;
        }
        // What is walked alone is walked from its beginning without a cursor.
        if let Some(cursor) = self.cursor.take().or_else(|| self.spec.pages.is_walked().then(String::new)) {
            self.take_cursor(&cursor);
        }
        for filter in self.spec.filters.iter().filter(|filter| filter.is_required) {
            if self.query.filter(filter.name).is_none() {
                self.errors.value(filter.name, format!("is required and {}", filter.allowed()));
            }
        }
        if self.errors.is_empty() { Ok(self.query) } else { Err(self.errors) }
    }
}

/// What a query names as its order, where that can be the slug of a field.
pub fn field_of_order(raw_query: Option<&str>) -> Option<Slug> {
    let mut parameters = parameters::split(raw_query.unwrap_or_default()).filter_map(Result::ok);
    parameters.find(|(name, _)| name == <&str>::from(Paging::Order)).and_then(|(_, value)| Slug::parse(&value))
}

/// The number that a text of digits is, and nothing for signs and blanks. One beyond 64 bits is as the largest of these.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}
