//! The bodies of fields: what they may say, read with everything that is wrong with them.

use super::members::ASKED_IN;
use super::record::read_file_types;
use super::{Column, Condition, FieldOption, FieldType, LIMIT, Operator, Protection, TEXT_LENGTH};
use crate::program::{Context, MemberValue, Shape};
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Currency, Slug, Translated};

/// What a body says of a field; what is `None` it does not speak of, or it is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The type.
    pub kind: Option<FieldType>,
    /// The tab.
    pub tab: Option<Slug>,
    /// The form, which is the tab's.
    pub form: Option<Slug>,
    /// The currency; `Some(None)` says that there is none.
    pub currency: Option<Option<Currency>>,
    /// Texts that replace those of the same locales.
    pub title: Option<Translated>,
    /// Texts that replace those of the same locales.
    pub help_text: Option<Translated>,
    /// Texts that replace those of the same locales.
    pub hint_text: Option<Translated>,
    /// The options, all of them.
    pub options: Option<Vec<FieldOption>>,
    /// Whether an answer is needed.
    pub required: Option<bool>,
    /// The condition; `Some(None)` takes it away.
    pub conditional: Option<Option<Condition>>,
    /// The field that the condition names, also where the rest of the condition is wrong.
    pub condition_field: Option<Slug>,
    /// The limits.
    pub limits: LimitChanges,
    /// The place on the tab.
    pub order: Option<i64>,
    /// The categories; `Some(None)` is all of them.
    pub categories: Option<Option<Vec<Slug>>>,
    /// How well the answers are kept.
    pub protection: Option<Protection>,
    /// The columns, all of them.
    pub columns: Option<Vec<Column>>,
    /// The types of files, all of them.
    pub file_types: Option<Vec<String>>,
    /// The most bytes of a file; `Some(None)` takes the limit away.
    pub max_file_size: Option<Option<i64>>,
}

/// What a body says of the limits, in the order of [`LIMITS`]; `Some(None)` takes one away.
pub type LimitChanges = [Option<Option<i64>>; 4];

/// The members of the limits, each minimum before its maximum.
const LIMITS: [&str; 4] = ["minimum_characters", "maximum_characters", "minimum_words", "maximum_words"];

/// Reads the body of `PostFieldV23`.
pub fn read_create(body: &JsonObject, context: &Context) -> (Changes, Violations) {
    let mut members = Members::closed(body);
    // Formulas are made by program files.
    let choices: Vec<_> = FieldType::CHOICES.iter().copied().filter(|(_, kind)| *kind != FieldType::Formula).collect();
    let kind = members.required("type", input::one_of(&choices));
    let tab = members.required("tab", input::slug);
    if !members.has("translated") {
        members.fault("translated", "is required");
    }
    read_rest(members, Changes { kind, tab, ..Changes::default() }, context, true)
}

/// Reads the body of `PutFieldV23`; what is left out keeps its value.
pub fn read_update(body: &JsonObject, context: &Context) -> (Changes, Violations) {
    let mut members = Members::closed(body);
    let kind = members.optional("type", input::one_of(FieldType::CHOICES));
    let tab = members.optional("tab", input::slug);
    read_rest(members, Changes { kind, tab, ..Changes::default() }, context, false)
}

fn read_rest(mut members: Members<'_>, mut changes: Changes, context: &Context, is_new: bool) -> (Changes, Violations) {
    members.object("translated", |members| read_texts(members, &mut changes, context, is_new));
    changes.form = members.optional("form", input::slug);
    changes.currency = members.nullable("currency", input::currency);
    changes.options = FieldOption::read(&mut members, context);
    changes.required = members.optional("required", input::flag);
    read_conditional(&mut members, &mut changes);
    changes.limits = read_limits(&mut members);
    changes.order = members.optional("order", input::integer(0..=LIMIT));
    changes.categories =
        members.optional("categories", |json| MemberValue::read(json, &Shape::Either(&ASKED_IN), context));
    changes.protection = members.optional("protection", input::one_of(Protection::CHOICES));
    changes.columns = Column::read(&mut members, context);
    changes.file_types = members.optional("file_types", read_file_types);
    changes.max_file_size = members.nullable("max_file_size", input::integer(1..=LIMIT));
    (changes, members.finish())
}

fn read_texts(members: &mut Members<'_>, changes: &mut Changes, context: &Context, is_new: bool) {
    let read = context.name(is_new);
    changes.title = if is_new { members.required("title", read) } else { members.optional("title", read) };
    changes.help_text = members.optional("help_text", input::translated(&context.languages, TEXT_LENGTH));
    changes.hint_text = members.optional("hint_text", input::translated(&context.languages, TEXT_LENGTH));
}

fn read_conditional(members: &mut Members<'_>, changes: &mut Changes) {
    if members.get("conditional").is_some_and(Json::is_null) {
        changes.conditional = Some(None);
        return;
    }
    let condition = members.object("conditional", |members| {
        let field = members.required("field", input::slug);
        changes.condition_field = field;
        let operator = members.required("operator", input::one_of(Operator::CHOICES));
        let value = members.get("value").cloned().map_or(Json::Null, Json::into_owned);
        Some(Condition { field: field?, operator: operator?, value })
    });
    changes.conditional = condition.flatten().map(Some);
}

fn read_limits(members: &mut Members<'_>) -> LimitChanges {
    if members.get("limits").is_some_and(Json::is_null) {
        return [Some(None); 4];
    }
    let read = |members: &mut Members<'_>| LIMITS.map(|name| members.nullable(name, input::integer(0..=LIMIT)));
    members.object("limits", read).unwrap_or_default()
}
