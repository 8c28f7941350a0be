//! The bodies of fields: what they may say, read with everything that is wrong with them.

use super::members::creatable;
use super::{Changes, Condition, FieldType, LIMIT, Operator};
use crate::program::Context;
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::Slug;

/// What a body says of a field; what is `None` it does not speak of, or it is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// What it says in the words of program files.
    pub changes: Changes,
    /// The type.
    pub kind: Option<FieldType>,
    /// The condition; `Some(None)` takes it away.
    pub conditional: Option<Option<Condition>>,
    /// The field that the condition names, also where the rest of the condition is wrong.
    pub condition_field: Option<Slug>,
    /// The limits, in the order of [`LIMITS`]; `Some(None)` takes one away.
    pub limits: [Option<Option<i64>>; 4],
}

/// The members of the limits, each minimum before its maximum.
const LIMITS: [&str; 4] = ["minimum_characters", "maximum_characters", "minimum_words", "maximum_words"];

/// Reads the body of `PostFieldV23`, or that of `PutFieldV23`.
pub fn read(body: &JsonObject, is_new: bool, context: &Context) -> (Given, Violations) {
    let mut closed = Members::closed(body);
    let members = &mut closed;
    let kind = if is_new {
        members.required("type", input::one_of(&creatable()))
    } else {
        members.optional("type", input::one_of(FieldType::CHOICES))
    };
    let changes = Changes::read_from(members, is_new, context);
    let (conditional, condition_field) = read_conditional(members);
    let limits = read_limits(members);
    (Given { changes, kind, conditional, condition_field, limits }, closed.finish())
}

/// The condition, and the field that it names.
#[allow(clippy::option_option, reason = "what is stated to be null is not what is left out")]
fn read_conditional(members: &mut Members<'_>) -> (Option<Option<Condition>>, Option<Slug>) {
    if members.get("conditional").is_some_and(Json::is_null) {
        return (Some(None), None);
    }
    let read = members.object("conditional", |members| {
        let field = members.required("field", input::slug);
        let operator = members.required("operator", input::one_of(Operator::CHOICES));
        let value = members.get("value").cloned().map_or(Json::Null, Json::into_owned);
        let condition = field.zip(operator).map(|(field, operator)| Condition { field, operator, value });
        (condition.map(Some), field)
    });
    read.unwrap_or_default()
}

#[allow(clippy::option_option, reason = "what is stated to be null is not what is left out")]
fn read_limits(members: &mut Members<'_>) -> [Option<Option<i64>>; 4] {
    if members.get("limits").is_some_and(Json::is_null) {
        return [Some(None); 4];
    }
    let read = |members: &mut Members<'_>| LIMITS.map(|name| members.nullable(name, input::integer(0..=LIMIT)));
    members.object("limits", read).unwrap_or_default()
}
