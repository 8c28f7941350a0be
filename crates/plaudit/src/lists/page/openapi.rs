//! The query of a list in the OpenAPI document, made from the declaration by which it is read.

use std::fmt::Write as _;

use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Required};

use crate::lists::page::cursor::MAXIMUM_LENGTH;
use crate::lists::page::filter::{Bracket, Filter, FilterKind};
use crate::lists::page::paging::{NO_COUNT, Paging};
use crate::lists::page::query::DIRECTIONS;
use crate::lists::page::{DEFAULT_ORDER, DEFAULT_PER_PAGE, ListSpec};
use kernel::input::LINE_PATTERN;
use kernel::text::{Locale, Slug};

impl ListSpec {
    /// The parameters of the query for the OpenAPI document: the filters, then those of pages and sorts.
    pub fn parameters(&self) -> Vec<Parameter> {
        let filters = self.filters.iter().flat_map(Filter::parameters);
        let paging = self.pages.parameters().iter();
        filters.chain(paging.map(|paging| self.paging_parameter(*paging))).collect()
    }

    fn paging_parameter(&self, paging: Paging) -> Parameter {
        let (about, schema) = match paging {
            Paging::Page => ("The page, not beside `cursor`.".to_owned(), whole_number().default(Some(Value::from(1)))),
            Paging::PerPage => (
                "The number of records a page.".to_owned(),
                whole_number().maximum(Some(self.pages.maximum_per_page())).default(Some(DEFAULT_PER_PAGE.into())),
            ),
            Paging::Order => (self.about_order(), string().examples(self.orders.iter().copied())),
            Paging::Direction => (ABOUT_DIRECTION.to_owned(), one_of(DIRECTIONS.map(|(name, _)| name))),
            Paging::Cursor if self.pages.is_walked() => (
                "Where the page begins: empty for the beginning, then the `next_cursor` of the page before.".to_owned(),
                string().max_length(Some(MAXIMUM_LENGTH)),
            ),
            Paging::Cursor => (
                "Walks the list at the same cost at any depth: empty for its beginning, then the `next_cursor` of the \
                 page before."
                    .to_owned(),
                string().max_length(Some(MAXIMUM_LENGTH)),
            ),
            Paging::Count => (
                format!("`{NO_COUNT}` leaves out `last_page`, `last_page_url` and `total`. Left out: they are there."),
                one_of([NO_COUNT]),
            ),
        };
        parameter(paging.into(), about, schema).build()
    }

    /// What `order` may be. Other values are no error, so the schema does not name them.
    fn about_order(&self) -> String {
        let names = self.orders.iter().map(|order| format!("`{order}`"));
        let field = self.orders_by_field.then(|| "the slug of a field that the records answer".to_owned());
        let mut about = "What the list is sorted by".to_owned();
        if let Some((last, others)) = names.chain(field).collect::<Vec<_>>().split_last() {
            let others = others.join(", ");
            let _ = write!(about, ": {others}{}{last}", if others.is_empty() { "" } else { " or " });
        }
        let _ = write!(about, ". Left out, or another value: by `{DEFAULT_ORDER}`, descending.");
        if !self.about_orders.is_empty() {
            let _ = write!(about, " {}", self.about_orders);
        }
        about
    }
}

const ABOUT_DIRECTION: &str = "The direction. Left out: `asc` for an `order` that is named, `desc` without one.";

impl Filter {
    /// The parameter of the filter; those of a date filter, one for each bracket.
    fn parameters(&self) -> Vec<Parameter> {
        let one = |schema: ObjectBuilder| {
            let schema = schema.default(self.default_word().map(Value::from));
            let required = if self.is_required { Required::True } else { Required::False };
            vec![parameter(self.name, self.description(), schema).required(required)]
        };
        let parameters = match self.kind {
            FilterKind::OneOf(words) => one(one_of(words)),
            FilterKind::ManyOf(words) => {
                let words = ArrayBuilder::new().items(one_of(words)).min_items(Some(1));
                vec![between_commas(self.name, self.description(), words)]
            }
            FilterKind::Slug => one(slug_or(&[])),
            FilterKind::SlugOr(words) => one(slug_or(words)),
            FilterKind::Letters { count } => {
                let pattern = format!("^[A-Za-z]{{{count}}}$");
                one(string().pattern(Some(pattern)).examples([serde_json::json!("A".repeat(count))]))
            }
            FilterKind::Text { max } => {
                one(string().min_length(Some(1)).max_length(Some(max)).pattern(Some(LINE_PATTERN)))
            }
            FilterKind::Number { min, max } => one(whole_number().minimum(Some(min)).maximum(Some(max))),
            FilterKind::Time => one(string().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))),
            FilterKind::Locale => one(one_of(Locale::ALL.map(Locale::code))),
            FilterKind::Date => Bracket::ALL.map(|bracket| self.range_parameter(bracket)).into(),
        };
        parameters.into_iter().map(ParameterBuilder::build).collect()
    }

    fn description(&self) -> String {
        let about = self.about;
        match (self.default, self.default_word()) {
            (_, Some(word)) => format!("{about}. Left out: `{word}`."),
            (Some(text), None) => format!("{about}. Left out: {text}."),
            (None, None) => format!("{about}."),
        }
    }

    /// The default, where it is a value that the filter could have.
    fn default_word(&self) -> Option<&'static str> {
        self.default.filter(|default| match self.kind {
            FilterKind::OneOf(words) | FilterKind::SlugOr(words) => words.contains(default),
            _ => false,
        })
    }

    fn range_parameter(&self, bracket: Bracket) -> ParameterBuilder {
        let (name, about) = (bracket.of(self.name), self.about);
        match bracket {
            Bracket::Before => parameter(&name, format!("{about}: before this date or time."), date_or_time()),
            Bracket::After => parameter(&name, format!("{about}: after this date or time."), date_or_time()),
            Bracket::On => parameter(&name, format!("{about}: on this date in UTC."), formatted(KnownFormat::Date)),
            Bracket::Between => {
                let about = format!("{about}: between these two dates or times, both included.");
                let ends = ArrayBuilder::new().items(date_or_time()).min_items(Some(2)).max_items(Some(2));
                between_commas(&name, about, ends)
            }
        }
    }
}

/// `include` of a single read that shows the settings as well where it is asked to.
pub fn settings_parameter() -> Parameter {
    let about = "`settings` adds the members of create and update".to_owned();
    parameter("include", about, one_of(["settings"])).build()
}

fn parameter(name: &str, about: String, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
    parameter.required(Required::False).description(Some(about)).schema(Some(schema))
}

/// A parameter whose values stand in one text with commas between them.
fn between_commas(name: &str, about: String, values: ArrayBuilder) -> ParameterBuilder {
    parameter(name, about, values).style(Some(ParameterStyle::Form)).explode(Some(false))
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn whole_number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1_u32))
}

fn one_of(words: impl IntoIterator<Item = impl AsRef<str>>) -> ObjectBuilder {
    string().enum_values(Some(words.into_iter().map(|word| Value::from(word.as_ref()))))
}

fn formatted(format: KnownFormat) -> ObjectBuilder {
    string().format(Some(SchemaFormat::KnownFormat(format)))
}

fn slug_or(words: &[&str]) -> ObjectBuilder {
    let slug = format!("[A-Za-z]{{{}}}", Slug::LENGTH);
    let pattern = if words.is_empty() { format!("^{slug}$") } else { format!("^({slug}|{})$", words.join("|")) };
    string().pattern(Some(pattern))
}

fn date_or_time() -> AnyOfBuilder {
    AnyOfBuilder::new().item(formatted(KnownFormat::Date)).item(formatted(KnownFormat::DateTime))
}

#[cfg(test)]
mod tests;
