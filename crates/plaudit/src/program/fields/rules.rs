//! Pure rules of fields.

use super::{Field, FieldType};
use crate::input::{self, Violations};
use crate::program::tabs::Tab;
use crate::program::taxes::country;
use crate::program::{Program, Records};
use crate::text::{Date, Json, Money, Slug, Timestamp};

/// Whether a field can be trashed: not while the condition of another live field names it.
pub fn trash(program: &Program, slug: Slug) -> Result<(), String> {
    unnamed(&program.fields, slug)
}

fn unnamed(fields: &Records<Field>, slug: Slug) -> Result<(), String> {
    let names_it = |field: &&Field| {
        field.slug != slug && field.conditional.as_ref().is_some_and(|condition| condition.field == slug)
    };
    match fields.all_live().find(names_it) {
        None => Ok(()),
        Some(other) => Err(format!(
            "The field cannot be trashed: the condition of the field {} ({}) names it.",
            other.slug,
            other.title.first()
        )),
    }
}

/// The form of a field: its own, or that of its tab.
#[must_use]
pub fn form_of(field: &Field, program: &Program) -> Option<Slug> {
    field.form.or_else(|| Some(program.tabs.any(field.tab?)?.form))
}

/// What is wrong with a field among the records that it refers to. References to records that do not exist are found
/// elsewhere.
pub(super) fn check(field: &Field, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let form_of_tab = field.tab.and_then(|tab| program.tabs.any(tab)).map(|tab| tab.form);
    if let (Some(stated), Some(form)) = (field.form, form_of_tab)
        && stated != form
    {
        violations.add("form", format!("is not the form of the tab, which is {form}"));
    }
    let form = form_of(field, program).and_then(|form| program.forms.any(form));
    if let (Some(stated), Some(season)) = (field.season, form.and_then(|form| form.season))
        && stated != season
    {
        violations.add("season", format!("is not the season of the form, which is {season}"));
    }
    violations
}

/// The place of a field's answer among others: by the order of its tab, its own order and its slug. Fields without a
/// tab come last.
#[must_use]
pub fn rank(field: &Field, tabs: &Records<Tab>) -> (i64, i64, Slug) {
    let tab = field.tab.and_then(|tab| tabs.any(tab));
    (tab.map_or(i64::MAX, |tab| tab.order), field.order, field.slug)
}

/// Whether cells can begin with a key: it must not end in a digit, or the row's number would have no beginning.
pub(super) fn is_column_key(key: &str) -> bool {
    key.bytes().last().is_some_and(|byte| !byte.is_ascii_digit())
}

/// The parts of a cell's reference: the key of the column, and the number of the row from 1.
pub(super) fn cell(reference: &str) -> Option<(&str, u32)> {
    let key = reference.trim_end_matches(|character: char| character.is_ascii_digit());
    let row = &reference[key.len()..];
    if key.is_empty() || row.starts_with('0') { None } else { Some((key, row.parse().ok()?)) }
}

/// Whether a value has the shape of an answer to a field (contract, section 6); null is no answer and always has it.
pub fn check_answer(field: &Field, value: &Json) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match field.kind {
        FieldType::Checkbox => input::flag(value).map(drop),
        FieldType::CheckboxList => {
            input::list(field.options.len().max(1_000), |item| option(field, item))(value).map(drop)
        }
        FieldType::Content => Err("must be left out: content has no answer".to_owned()),
        FieldType::Formula => Err("must be left out: a formula is computed".to_owned()),
        FieldType::Country => country(value).map(drop),
        FieldType::Currency | FieldType::Numeric => number(field, value),
        FieldType::Date => input::date(value).map(drop),
        FieldType::DateTime => shaped(value, is_date_time, "a date and time such as 2026-01-31 08:30"),
        FieldType::Time => shaped(value, is_time, "a time such as 08:30"),
        FieldType::Radio | FieldType::DropDownList => option(field, value),
        FieldType::Email => shaped(value, is_email, "an e-mail address"),
        FieldType::Phone => shaped(value, is_phone, "a telephone number as in E.164, such as +441632960123"),
        FieldType::Url => shaped(value, is_url, "an address that begins with https://"),
        FieldType::Table => table(field, value),
        FieldType::File => input::token(value).map(drop),
        FieldType::Text | FieldType::Textarea | FieldType::Lookup => shaped(value, |_| true, "a string"),
    }
}

fn shaped(value: &Json, is: fn(&str) -> bool, what: &str) -> Result<(), String> {
    if value.as_str().is_some_and(is) { Ok(()) } else { Err(format!("must be {what}")) }
}

fn option(field: &Field, value: &Json) -> Result<(), String> {
    let text = value.as_str().ok_or_else(|| "must be the value of an option".to_owned())?;
    if field.options.is_empty() || field.options.iter().any(|option| option.value == text) {
        Ok(())
    } else {
        Err("must be the value of one of the field's options".to_owned())
    }
}

fn number(field: &Field, value: &Json) -> Result<(), String> {
    let text = value.as_number().ok_or_else(|| "must be a number".to_owned())?;
    match field.currency {
        Some(currency) if field.kind == FieldType::Currency => {
            Money::parse(text, currency).map(drop).map_err(|error| format!("is wrong: {error}"))
        }
        _ => Ok(()),
    }
}

fn table(field: &Field, value: &Json) -> Result<(), String> {
    let cells = value.as_object().ok_or_else(|| "must be a map of cells such as A1 to strings".to_owned())?;
    for (reference, text) in cells.iter() {
        let known = |key: &str| field.columns.is_empty() || field.columns.iter().any(|column| column.key == key);
        if !cell(reference).is_some_and(|(key, _)| known(key)) {
            return Err(format!("has the cell {reference}, which is no column's key and the number of a row"));
        }
        if text.as_str().is_none() {
            return Err(format!("has no string in the cell {reference}"));
        }
    }
    Ok(())
}

fn is_date_time(text: &str) -> bool {
    let written = text.split_once(' ').is_some_and(|(date, time)| Date::parse(date).is_some() && is_time(time));
    written || Timestamp::parse(text).is_ok()
}

fn is_time(text: &str) -> bool {
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':')
        .is_some_and(|(hours, minutes)| two_digits(hours) && two_digits(minutes) && hours < "24" && minutes < "60")
}

fn is_email(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    parts.is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty()) && !text.contains(char::is_whitespace)
}

fn is_phone(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (2..=15).contains(&digits.len()) && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").unwrap_or_default();
    !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{field, tabs};
    use super::*;
    use crate::http::json_body::parse_value;
    use crate::program::Record;

    fn accepts(members: &str, answer: &str) -> bool {
        check_answer(&field("FieldAAA", members), &parse_value(answer.as_bytes()).unwrap()).is_ok()
    }

    #[test]
    fn answers_have_the_shape_of_their_type() {
        for (members, right, wrong) in [
            (r#""type":"checkbox""#, "true", r#""true""#),
            (r#""type":"checkboxlist","options":["a","b"]"#, r#"["b","a"]"#, r#"["c"]"#),
            (r#""type":"radio","options":["a"]"#, r#""a""#, r#""b""#),
            (r#""type":"drop-down-list""#, r#""anything""#, "1"),
            (r#""type":"country""#, r#""NZ""#, r#""nz""#),
            (r#""type":"currency","currency":"USD""#, "12.50", "12.505"),
            (r#""type":"numeric""#, "-1e3", r#""1""#),
            (r#""type":"date""#, r#""2024-02-29""#, r#""2023-02-29""#),
            (r#""type":"datetime""#, r#""2024-02-29 23:59""#, r#""2024-02-29 24:00""#),
            (r#""type":"datetime""#, r#""2024-02-29T10:00:00Z""#, r#""2024-02-29""#),
            (r#""type":"time""#, r#""00:00""#, r#""8:30""#),
            (r#""type":"email""#, r#""a@b""#, r#""a b@c""#),
            (r#""type":"phone""#, r#""+441632960123""#, r#""01632960123""#),
            (r#""type":"url""#, r#""https://example.org/a""#, r#""http://example.org""#),
            (r#""type":"table","columns":[{"key":"A"}]"#, r#"{"A1":"x","A12":""}"#, r#"{"B1":"x"}"#),
            (r#""type":"table""#, r#"{"AB7":"x"}"#, r#"{"A0":"x"}"#),
            (r#""type":"table""#, "{}", r#"{"A1":1}"#),
            (r#""type":"file""#, r#""TokenTokenToken""#, r#""short""#),
            (r#""type":"text""#, r#""""#, "1"),
            (r#""type":"content""#, "null", r#""x""#),
            (r#""type":"formula""#, "null", "1"),
        ] {
            assert!(accepts(members, right), "{members} {right}");
            assert!(!accepts(members, wrong), "{members} {wrong}");
            assert!(accepts(members, "null"), "{members}: null is no answer");
        }
    }

    #[test]
    fn a_field_that_a_live_condition_names_cannot_be_trashed() {
        let named = field("FieldAAA", r#""type":"text""#);
        let naming = field("FieldBBB", r#""type":"text","conditional_field":"FieldAAA""#);
        let mut fields = Records::default();
        fields.insert(named.slug, Record { value: named.clone(), revision: 1, deleted: false });
        fields.insert(naming.slug, Record { value: naming.clone(), revision: 2, deleted: false });
        assert!(unnamed(&fields, named.slug).unwrap_err().contains("FieldBBB"));
        assert_eq!(unnamed(&fields, naming.slug), Ok(()));
        fields.insert(naming.slug, Record { value: naming, revision: 3, deleted: true });
        assert_eq!(unnamed(&fields, named.slug), Ok(()), "a trashed field has no say");
    }

    #[test]
    fn answers_are_ordered_by_tab_then_field_then_slug() {
        let mut fields = [
            field("FieldAAA", r#""type":"text","resource":"users","tab":null"#),
            field("FieldBBB", r#""type":"text","tab":"TabBBBBB""#),
            field("FieldDDD", r#""type":"text","tab":"TabAAAAA","order":2"#),
            field("FieldCCC", r#""type":"text","tab":"TabAAAAA","order":2"#),
            field("FieldEEE", r#""type":"text","tab":"TabAAAAA","order":1"#),
        ];
        fields.sort_by_key(|field| rank(field, &tabs()));
        let slugs: Vec<String> = fields.iter().map(|field| field.slug.to_string()).collect();
        assert_eq!(slugs, ["FieldEEE", "FieldCCC", "FieldDDD", "FieldBBB", "FieldAAA"]);
    }
}
