//! Conditions: whether a field is shown among the answers of its record.
//!
//! - A condition compares the answer to the field that it names. A field that is itself not shown, or is in the trash,
//!   has no answer here.
//! - What has no answer is equal to nothing, contains nothing and is in no order, so that the operators with `not` and
//!   `none` hold. A checkbox that nobody has ticked is false.
//! - Numbers are compared by value, dates and times by time (a date and time without a zone as if it were in UTC), texts
//!   exactly.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::validate::{check_answer, is_answered, is_option};
use super::{Condition, Field, FieldType, Operator, form_of};
use crate::program::bounds::{self, CHAIN};
use crate::program::{Program, Records};
use kernel::input::{Violations, Wrong};
use kernel::json::Json;
use kernel::text::{Date, Slug, Timestamp, compare_decimals};

/// How a condition compares, by what its field is.
impl FieldType {
    /// Whether conditions can compare answers to fields of this type so.
    pub fn is_compared_by(self, operator: Operator) -> bool {
        use Operator::{
            Answered, AtLeast, AtMost, Contains, Equals, GreaterThan, LessThan, NoneOf, NotContains, NotEquals, OneOf,
            Unanswered,
        };
        let operators: &[Operator] = match self {
            Self::Content | Self::Formula => &[],
            Self::File | Self::Table => &[Answered, Unanswered],
            Self::Checkbox => &[Answered, Unanswered, Equals, NotEquals],
            Self::CheckboxList => &[Answered, Unanswered, Contains, NotContains, OneOf, NoneOf],
            Self::Country | Self::DropDownList | Self::Radio => {
                &[Answered, Unanswered, Equals, NotEquals, OneOf, NoneOf]
            }
            Self::Email | Self::Lookup | Self::Phone | Self::Text | Self::Textarea | Self::Url => {
                &[Answered, Unanswered, Equals, NotEquals, OneOf, NoneOf, Contains, NotContains]
            }
            Self::Currency | Self::Date | Self::DateTime | Self::Numeric | Self::Time => {
                &[Answered, Unanswered, Equals, NotEquals, GreaterThan, LessThan, AtLeast, AtMost]
            }
        };
        operators.contains(&operator)
    }
}

/// Which fields are shown where a record has certain answers. The condition of each field is evaluated once, however many
/// fields depend on it.
pub struct ShownFields<'s, A> {
    fields: &'s Records<Field>,
    answer: A,
    /// Whether fields with a condition are shown; `None` where that depends on itself.
    known: HashMap<Slug, Option<bool>>,
}

impl<'s, A: Fn(Slug) -> Option<&'s Json<'s>>> ShownFields<'s, A> {
    /// The fields of a program that are shown with these answers.
    pub fn of(program: &'s Program, answer: A) -> Self {
        Self::among(&program.fields, answer)
    }

    pub(super) fn among(fields: &'s Records<Field>, answer: A) -> Self {
        Self { fields, answer, known: HashMap::new() }
    }

    /// Whether a field is shown. A field has one condition at the most, so that the fields that decide are a chain: it is
    /// walked to its end, or to a field that is known, and evaluated from there.
    pub fn is_shown(&mut self, field: &Field) -> bool {
        let mut chain = Vec::new();
        let mut last = field;
        let mut is_shown = loop {
            match self.known.get(&last.slug) {
                Some(Some(is_shown)) => break *is_shown,
                // A circle shows nothing. It cannot be set up, and a stored one must not keep a request busy.
                Some(None) => return false,
                None => {}
            }
            let Some(condition) = &last.conditional else { break true };
            let Some(named) = self.fields.live(condition.field) else {
                let kind = self.fields.any(condition.field).map_or(FieldType::Text, |field| field.kind);
                break holds(condition, kind, None);
            };
            self.known.insert(last.slug, None);
            chain.push((last.slug, condition, named));
            last = named;
        };
        for (slug, condition, named) in chain.into_iter().rev() {
            let given = if is_shown { (self.answer)(named.slug) } else { None };
            is_shown = holds(condition, named.kind, given);
            self.known.insert(slug, Some(is_shown));
        }
        is_shown
    }
}

/// Whether a condition holds with an answer to the field that it names, which is of this type.
fn holds(condition: &Condition, kind: FieldType, answer: Option<&Json>) -> bool {
    let given = answer.filter(|answer| is_answered(kind, answer));
    let value = &condition.value;
    let wanted = || value.as_array().unwrap_or_default().iter();
    let is_any = || match given {
        Some(Json::Array(chosen)) => wanted().any(|value| chosen.contains(value)),
        Some(answer) => wanted().any(|value| order(kind, answer, value) == Some(Ordering::Equal)),
        None => false,
    };
    let is_equal = || match given {
        Some(answer) => order(kind, answer, value) == Some(Ordering::Equal),
        None => kind == FieldType::Checkbox && value.as_bool() == Some(false),
    };
    let contains = || match (given, value.as_str()) {
        (Some(Json::Array(chosen)), Some(_)) => chosen.contains(value),
        (Some(Json::String(text)), Some(part)) => text.contains(part),
        _ => false,
    };
    let compared = || given.and_then(|answer| order(kind, answer, value));
    match condition.operator {
        Operator::Answered => given.is_some(),
        Operator::Unanswered => given.is_none(),
        Operator::Equals => is_equal(),
        Operator::NotEquals => !is_equal(),
        Operator::Contains => contains(),
        Operator::NotContains => !contains(),
        Operator::OneOf => is_any(),
        Operator::NoneOf => !is_any(),
        Operator::GreaterThan => compared() == Some(Ordering::Greater),
        Operator::LessThan => compared() == Some(Ordering::Less),
        Operator::AtLeast => compared().is_some_and(Ordering::is_ge),
        Operator::AtMost => compared().is_some_and(Ordering::is_le),
    }
}

/// How two answers to a field of this type compare; nothing where they are no such answers.
fn order(kind: FieldType, left: &Json, right: &Json) -> Option<Ordering> {
    match kind {
        FieldType::Checkbox => Some(left.as_bool()?.cmp(&right.as_bool()?)),
        FieldType::Numeric | FieldType::Currency => compare_decimals(left.as_number()?, right.as_number()?),
        FieldType::DateTime => Some(moment(left.as_str()?)?.cmp(&moment(right.as_str()?)?)),
        // Dates and times of day are written so that their texts are in order.
        _ => Some(left.as_str()?.cmp(right.as_str()?)),
    }
}

/// The time that an answer to a field of the type `datetime` names.
fn moment(text: &str) -> Option<Timestamp> {
    let Some((date, time)) = text.split_once(' ') else { return Timestamp::parse(text) };
    let (hours, minutes) = time.split_once(':')?;
    let seconds = (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?) * 60;
    Some(Timestamp::from_seconds(Date::parse(date)?.start().as_seconds() + seconds))
}

/// What is wrong with the condition of a live field: the field that it names is live, of the same form and about the same,
/// is compared in a way that its type has and with what can be an answer to it, does not itself depend on the first, and
/// is not at the end of as many conditions as may follow one another. Each field of a chain is checked for itself.
pub(super) fn check(program: &Program, field: &Field, violations: &mut Violations) {
    if let Some(condition) = &field.conditional
        && let Some(found) = check_field(program, field, condition.field, (true, 0), violations)
    {
        check_comparison(condition, found, violations);
    }
}

/// The field that a condition of another one names, and what is wrong with naming it. Without `is_placed` neither the form
/// nor what the field is about is known. So many `dependants` follow one another from the field on.
pub(super) fn check_field<'p>(
    program: &'p Program,
    field: &Field,
    named: Slug,
    (is_placed, dependants): (bool, usize),
    violations: &mut Violations,
) -> Option<&'p Field> {
    if named == field.slug {
        violations.add("conditional.field", "must not be the field itself");
        return None;
    }
    let Some(found) = program.fields.live(named) else {
        violations.add("conditional.field", format!("{named} is no field of the account"));
        return None;
    };
    if is_placed && form_of(found, program) != form_of(field, program) {
        violations.add("conditional.field", format!("{named} is a field of another form"));
    }
    if is_placed && found.resource != field.resource {
        let [about, other] = [field, found].map(|field| field.resource.name());
        violations.add("conditional.field", format!("{named} is about {other}, and this field about {about}"));
    }
    if depends_on(&program.fields, found, field.slug) {
        violations.add("conditional.field", format!("{named} is itself shown only by an answer to this field"));
    } else if dependants + 1 + deciding(&program.fields, found).count() > CHAIN {
        violations.add("conditional.field", format!("makes more than {CHAIN} conditions follow one another"));
    }
    Some(found)
}

/// What is wrong with how a condition compares answers to the field that it names.
pub(super) fn check_comparison(condition: &Condition, named: &Field, violations: &mut Violations) {
    if let Err((member, wrong)) = compares(condition, named) {
        violations.wrong(&format!("conditional.{member}"), &wrong);
    }
}

/// Whether a condition can compare answers to a field: why not, and which of its members is wrong.
pub(super) fn compares(condition: &Condition, named: &Field) -> Result<(), (&'static str, Wrong<()>)> {
    let Condition { operator, value, .. } = condition;
    if !named.kind.is_compared_by(*operator) {
        let possible = Operator::CHOICES.iter().filter(|(_, operator)| named.kind.is_compared_by(*operator));
        let possible: Vec<&str> = possible.map(|(name, _)| *name).collect();
        let kind = named.kind.name();
        if possible.is_empty() {
            return Err(("field", format!("is of the type {kind}, which has no answers to compare").into()));
        }
        let message = format!("must be one of {} for a field of the type {kind}", possible.join(", "));
        return Err(("operator", message.into()));
    }
    let in_value = |message: String| ("value", Wrong::from(message));
    let is_answer = |value: &Json| {
        if value.is_null() {
            return Err(in_value("is required for this operator".to_owned()));
        }
        if !is_answered(named.kind, value) && named.kind != FieldType::Checkbox {
            return Err(in_value("must not be empty".to_owned()));
        }
        check_answer(named, value).and_then(|()| is_option(named, value)).map_err(|wrong| ("value", wrong))
    };
    match operator {
        Operator::Answered | Operator::Unanswered if value.is_null() => Ok(()),
        Operator::Answered | Operator::Unanswered => Err(in_value("must be left out for this operator".to_owned())),
        Operator::OneOf | Operator::NoneOf => match value.as_array() {
            Some([]) | None => Err(in_value("must be a list of at least one value for this operator".to_owned())),
            Some(values) => values.iter().try_for_each(|value| match named.kind {
                FieldType::CheckboxList => is_answer(&Json::Array(vec![value.clone()])),
                _ => is_answer(value),
            }),
        },
        Operator::Contains | Operator::NotContains if named.kind == FieldType::CheckboxList => {
            is_answer(&Json::Array(vec![value.clone()]))
        }
        // A part of an address is no address.
        Operator::Contains | Operator::NotContains => match value.as_str() {
            Some(part) if !part.is_empty() => Ok(()),
            _ => Err(in_value("must be a string that is not empty".to_owned())),
        },
        _ => is_answer(value),
    }
}

/// The fields whose answers decide whether a field is shown: the one that its condition names, and those that decide about
/// that one.
fn deciding<'r>(fields: &'r Records<Field>, field: &'r Field) -> impl Iterator<Item = &'r Field> {
    bounds::followed(fields, field, named)
}

fn named(field: &Field) -> Option<Slug> {
    Some(field.conditional.as_ref()?.field)
}

/// Whether a field is shown by answers among which are those to another one, however many fields are in between.
fn depends_on(fields: &Records<Field>, field: &Field, other: Slug) -> bool {
    deciding(fields, field).any(|deciding| deciding.slug == other)
}

/// How many conditions follow one another at the most from the one on this field on.
pub(super) fn dependants(fields: &Records<Field>, slug: Slug) -> usize {
    bounds::followers(fields, slug, named)
}

/// Whether more conditions follow one another than may, up to that of a field.
pub(super) fn is_too_deep(fields: &Records<Field>, field: &Field) -> bool {
    deciding(fields, field).count() > CHAIN
}

/// The live field that the condition of a field names, and what is wrong where it no longer takes what it is compared with.
pub(super) fn broken_of<'p>(program: &'p Program, field: &Field) -> Option<(&'p Field, String)> {
    let condition = field.conditional.as_ref()?;
    let named = program.fields.live(condition.field)?;
    compares(condition, named).err().map(|(_, wrong)| (named, wrong.to_string()))
}

/// Which conditions of live fields compare with what a changed field no longer takes: each with the field that has it.
pub(super) fn broken_by<'p>(program: &'p Program, changed: &Field) -> Option<(&'p Field, String)> {
    program.fields.all_live().find_map(|field| {
        let condition = field.conditional.as_ref().filter(|condition| condition.field == changed.slug)?;
        compares(condition, changed).err().map(|(_, wrong)| (field, wrong.to_string()))
    })
}

#[cfg(test)]
mod tests;
