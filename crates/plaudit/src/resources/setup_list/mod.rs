//! Lists of set-up records, made from the snapshot in memory.
//!
//! - A [`SetupList`] declares what its query may say, and the columns by which it filters and sorts, each with what a record
//!   has in it. An order follows the column of its name; ties go by slug, ascending in both directions.
//! - Its columns and lists are a view of the snapshot, made when it is first asked for. It is of one version of
//!   the program, so that names of other records stand in it as texts.
//! - Texts are compared by their code points after case folding (each character in upper case, then in lower case), so
//!   that every engine and every reader sorts alike. What is absent comes first, and last when the list is turned around.
//! - The people whom records show are looked up for each answer: their names are no part of the program.
//! - One statement compares the program's version, so that no page is made from a stale snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use list_view::{Cell, Column, Holds, Key, NOBODY, Sort, View};

use crate::http::list::{self as pages, Around};
use crate::http::reply::tag_of_people;
use crate::http::{ApiError, Caller, Reply};
use crate::lists::page::{Ask, EVERY, ListQuery, ListSpec, Order, PageEnvelope};
use crate::lists::{Start, column, filter};
use crate::program::{InProgram, Program, Record};
use crate::records::users;
use crate::resources::setup_record::SetupResource;
use db::Source;
use kernel::text::{Slug, Timestamp, Translated, folded};

/// A list of set-up records.
#[derive(Debug)]
pub(super) struct SetupList<T: 'static> {
    /// What its query may say.
    pub spec: ListSpec,
    /// What a record has in each column.
    pub cells: &'static [(&'static str, Of<T>)],
    /// The columns, as views hold them: [`columns`] of the cells.
    pub columns: &'static [Column],
}

/// What a record has in a column.
#[derive(Debug)]
pub(super) enum Of<T> {
    /// A number; [`i64::MIN`] where it is absent.
    Number(fn(&T, &Program) -> i64),
    /// A time.
    Time(fn(&T) -> Timestamp),
    /// A text to sort by.
    Text(fn(&T, &Program) -> Option<String>),
    /// A translated text to sort by, in the default language of the account.
    Translated(for<'a> fn(&'a T, &'a Program) -> Option<&'a Translated>),
    /// One of a few words, in lower case.
    Word(fn(&T) -> &'static str),
    /// A slug to filter by.
    Slug(fn(&T) -> Option<Slug>),
    /// Several values to filter by.
    Set(fn(&T, &Program) -> Vec<String>),
    /// A flag.
    Flag(fn(&T) -> bool),
    /// Whether it is in the trash.
    Deleted,
}

/// The value of a cell.
enum Value {
    Number(i64),
    Text(String),
    Set(Vec<String>),
}

impl<T> Of<T> {
    const fn holds(&self) -> Holds {
        match self {
            Self::Number(_) | Self::Time(_) => Holds::Number,
            Self::Text(_) | Self::Translated(_) => Holds::Text,
            Self::Word(_) | Self::Slug(_) => Holds::Code,
            Self::Set(_) => Holds::Set,
            Self::Flag(_) | Self::Deleted => Holds::Flag,
        }
    }

    fn value(&self, record: &Record<T>, program: &Program) -> Value {
        let held = &record.value;
        // A text that is there is not the empty one, which comes before it.
        let sorted = |text: Option<&str>| text.map_or_else(String::new, |text| format!("={}", folded(text)));
        match self {
            Self::Number(of) => Value::Number(of(held, program)),
            Self::Time(of) => Value::Number(of(held).as_microseconds()),
            Self::Text(of) => Value::Text(sorted(of(held, program).as_deref())),
            Self::Translated(of) => {
                let text = of(held, program).map(|text| text.in_locale(program.account.default_language));
                Value::Text(sorted(text))
            }
            Self::Word(of) => Value::Text(of(held).to_owned()),
            Self::Slug(of) => Value::Text(of(held).map_or_else(String::new, |slug| slug.to_string())),
            Self::Set(of) => Value::Set(of(held, program)),
            Self::Flag(of) => Value::Number(of(held).into()),
            Self::Deleted => Value::Number(record.deleted.into()),
        }
    }
}

/// The columns of cells, as views hold them.
pub(super) const fn columns<T, const N: usize>(cells: &[(&'static str, Of<T>); N]) -> [Column; N] {
    let mut columns = [column("", Holds::Flag); N];
    let mut at = 0;
    while at < N {
        columns[at] = column(cells[at].0, cells[at].1.holds());
        at += 1;
    }
    columns
}

/// The set of a slug, where none stands for every slug.
pub(super) fn one_or_every(slug: Option<Slug>) -> Vec<String> {
    vec![slug.map_or_else(|| EVERY.to_owned(), |slug| slug.to_string())]
}

/// A number of each record that is not of the program, by which its list can be sorted and which it shows.
#[derive(Debug)]
pub(super) struct Counts {
    /// The order.
    pub order: &'static str,
    /// The numbers; 0 where there is none.
    pub of: HashMap<Slug, u64>,
}

/// The only table of a view.
const TABLE: usize = 0;

impl<T: InProgram> SetupList<T> {
    fn view(&self, program: &Program) -> View {
        let mut view = View::new(&[self.columns]);
        for record in T::records(program).all() {
            let values: Vec<Value> = self.cells.iter().map(|(_, of)| of.value(record, program)).collect();
            let cell = |value| match value {
                &Value::Number(number) => Cell::Number(number),
                Value::Text(text) => Cell::Text(text),
                Value::Set(set) => Cell::Set(set),
            };
            let cells: Vec<Cell<'_>> = values.iter().map(cell).collect();
            view.put(TABLE, record.value.slug().as_str(), 0, &cells);
        }
        view.shrink();
        view
    }

    fn sort(&self, view: &View, order: Order, counts: Option<&Counts>) -> Sort {
        // No list of set-up records is sorted by answers.
        let Order::Named(order) = order else { return Sort::Name };
        if let Some(counts) = counts.filter(|counts| counts.order == order) {
            let reported = |(slug, count): (&Slug, &u64)| {
                let slot = view.slot(TABLE, slug.as_str());
                (slot != NOBODY && *count > 0).then(|| (slot, format!("{count:020}").into()))
            };
            return Sort::Told(0, Arc::new(counts.of.iter().filter_map(reported).collect()));
        }
        let Some(path) = view.path(TABLE, order) else { return Sort::Name };
        match self.columns[path.column as usize].holds {
            Holds::Number => Sort::Number(path),
            _ => Sort::Text(path),
        }
    }
}

/// A page of set-up records; `show` gives the item that a record is shown as, with slots, from the record and the number that
/// is counted for it.
pub(super) async fn page<T: SetupResource>(
    caller: &Caller,
    raw: Option<&str>,
    (list, query): (&SetupList<T>, &ListQuery),
    counts: Option<&Counts>,
    show: impl Fn(&T, u64) -> Option<String>,
) -> Result<Reply, ApiError> {
    let page = Page::of(caller.program(), (list, query), counts, T::asks(caller.access()))?;
    let records = T::records(caller.program());
    let count = |slug: &Slug| counts.and_then(|counts| counts.of.get(slug)).copied();
    let found = page.slugs.iter().filter_map(|slug| Some((slug, records.any(*slug)?)));
    let shown: Vec<String> = found.filter_map(|(slug, record)| show(record, count(slug).unwrap_or(0))).collect();
    let source = Source::Db(&caller.app().db);
    let people = users::store::shown_in(caller.account(), source, shown.iter().map(String::as_str)).await?;
    let named = tag_of_people(&people);
    let mut renderer = caller.renderer();
    renderer.naming(people).begin_list(&PageEnvelope::before(query))?;
    for document in &shown {
        renderer.item(document, None)?;
    }
    let counted = page.slugs.iter().filter(|_| counts.is_some()).map(|slug| (slug, count(slug)));
    // Who sees secrets and who does not must not take the one's page for the other's.
    let shows_secrets = caller.shows_secrets() && T::MEMBERS.iter().any(|member| member.is_secret);
    let secrets = if shows_secrets { "with secrets" } else { "" };
    let state = format!("{}{named}{:?}{secrets}", page.has_more, counted.collect::<Vec<_>>());
    let end = page.last.as_ref().zip(page.slugs.last()).map(|(key, slug)| (key, slug.as_str()));
    let around = Around { rows: page.slugs.len(), total: page.total, has_more: page.has_more, last: end, more: "" };
    pages::end(caller, renderer, (&format!("/{}", T::KIND.path()), query, raw), &around, &state)
}

/// What a page shows.
struct Page {
    /// The records, in order.
    slugs: Vec<Slug>,
    /// The key of the last one.
    last: Option<Key>,
    total: u64,
    has_more: bool,
}

impl Page {
    fn of<T: InProgram>(
        program: &Program,
        (list, query): (&SetupList<T>, &ListQuery),
        counts: Option<&Counts>,
        seen: Vec<Ask>,
    ) -> Result<Self, ApiError> {
        let held = program.views.of(T::KIND, || list.view(program));
        let view = held.read();
        let filter = filter(&view, TABLE, &[list.spec.asks(query, program), seen].concat());
        let sort = list.sort(&view, query.order, counts);
        let start = Start::of(query, |key| sort.takes(key))?;
        let kept = view.page(TABLE, (&filter, &sort), start.direction, start.from(), start.most);
        let made = kept.is_none().then(|| view.make(TABLE, &filter, &sort));
        let made_page = |made| view.page_of(made, start.direction, start.from(), start.most);
        let Some(page) = kept.or_else(|| made.as_ref().map(made_page)) else {
            return Err(ApiError::Internal("a list was neither kept nor made".to_owned()));
        };
        let shown = Self {
            slugs: page.slots.iter().filter_map(|slot| Slug::parse(view.name(TABLE, *slot))).collect(),
            last: page.slots.last().map(|slot| view.key(TABLE, &sort, *slot)),
            total: page.total,
            has_more: page.has_more,
        };
        drop(view);
        if let Some(made) = made.filter(|_| filter.is_kept() && !matches!(sort, Sort::Told(..))) {
            held.write().keep(made);
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests;
