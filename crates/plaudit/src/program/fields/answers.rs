//! Shows answers: the array of a record's field answers (specification, section 2.3) from its stored answer map.
//!
//! What an answer shows of its field is made once for a snapshot of the program. The answer itself is text that this
//! program has written, so that most of it is copied as it stands.

use std::borrow::Cow;
use std::sync::Arc;

use super::validate::cell;
use super::{Field, FieldType, rank};
use crate::program::tabs::Tab;
use crate::program::{Program, Record, Records};
use kernel::json::{Json, Object as JsonObject, RawMembers, parse_value};
use kernel::text::{Locale, Slug, Translated, write_json_string};

/// Room for the answers of a usual form, so that only those of longer ones are moved as they are gathered.
const USUAL_ANSWERS: usize = 16;

/// What every answer to a field shows of it.
#[derive(Debug)]
pub struct AnswerHead {
    field: Arc<Record<Field>>,
    rank: (i64, i64, Slug),
    /// The object up to the value of `translated`.
    json: Box<str>,
}

impl AnswerHead {
    /// What answers to a field show of it in these locales.
    pub fn of(field: Arc<Record<Field>>, tabs: &Records<Tab>, base_url: &str, locales: &[Locale]) -> Self {
        let mut out = Vec::with_capacity(256);
        let Field { slug, label, title, .. } = &field.value;
        out.extend_from_slice(b"{\"slug\":\"");
        out.extend_from_slice(slug.as_bytes());
        out.extend_from_slice(b"\",\"link\":\"");
        out.extend_from_slice(base_url.as_bytes());
        out.extend_from_slice(b"/field/");
        out.extend_from_slice(slug.as_bytes());
        out.extend_from_slice(b"\",\"label\":");
        if label.is_empty() {
            write_locales(&mut out, locales, |out, locale| write_json_string(&escaped(title.in_locale(locale)), out));
        } else {
            write_texts(&mut out, locales, label);
        }
        out.extend_from_slice(b",\"title\":");
        write_texts(&mut out, locales, title);
        out.extend_from_slice(b",\"translated\":");
        // Only whole strings were written.
        let json = String::from_utf8(out).unwrap_or_default().into_boxed_str();
        Self { rank: rank(&field.value, tabs), field, json }
    }
}

/// Writes the array of the answers of a stored map, `{"<field slug>": value}`, in these locales; `is_default` where they
/// are the account's default language. Answers to trashed, unknown or unwanted fields are left out. `download` writes the
/// signed address of a file as a JSON string.
pub fn write_answers(
    out: &mut Vec<u8>,
    answers: &str,
    program: &Program,
    (locales, is_default): (&[Locale], bool),
    is_wanted: &dyn Fn(&Slug) -> bool,
    download: &dyn Fn(&mut Vec<u8>, &str),
) {
    let shown = Shown { locales, is_wanted, download };
    if is_default {
        shown.all(out, answers, |slug| program.answer_head(slug));
    } else {
        shown.all(out, answers, |slug| {
            let field = program.fields.shared_live(slug)?;
            Some(AnswerHead::of(field, &program.tabs, program.base_url(), locales))
        });
    }
}

/// What showing an answer depends on.
struct Shown<'p> {
    locales: &'p [Locale],
    is_wanted: &'p dyn Fn(&Slug) -> bool,
    download: &'p dyn Fn(&mut Vec<u8>, &str),
}

impl Shown<'_> {
    fn all<H: std::borrow::Borrow<AnswerHead>>(
        &self,
        out: &mut Vec<u8>,
        answers: &str,
        head: impl Fn(Slug) -> Option<H>,
    ) {
        let mut shown: Vec<(H, &str)> = Vec::with_capacity(USUAL_ANSWERS);
        let wanted = |slug| Slug::parse(slug).filter(self.is_wanted);
        shown.extend(RawMembers::of(answers).filter_map(|(slug, value)| Some((head(wanted(slug)?)?, value))));
        shown.sort_unstable_by_key(|(head, _)| head.borrow().rank);
        out.push(b'[');
        for (index, (head, value)) in shown.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.answer(out, head.borrow(), value);
        }
        out.push(b']');
    }

    fn answer(&self, out: &mut Vec<u8>, head: &AnswerHead, value: &str) {
        let field = &head.field.value;
        out.extend_from_slice(head.json.as_bytes());
        // What was stored is always a value.
        let parsed = || parse_value(value.as_bytes()).unwrap_or(Json::Null);
        match field.kind {
            FieldType::Table => {
                self.locales(out, |out, _| out.extend_from_slice(b"\"\""));
                if let Some(cells) = stored_cells(value) {
                    self.table(out, field, &cells, write_quoted);
                } else {
                    let parsed = parsed();
                    let cells = parsed.as_object().into_iter().flat_map(JsonObject::iter);
                    let cells: Vec<_> = cells.map(|(reference, text)| (reference, plain(text))).collect();
                    self.table(out, field, &cells, write_json_string);
                }
            }
            FieldType::File => {
                self.locales(out, |out, _| out.extend_from_slice(b"\"\""));
                self.file(out, &parsed());
            }
            kind => {
                // A text is shown as it is stored.
                if value.starts_with('"') && !kind.has_options() {
                    self.locales(out, |out, _| out.extend_from_slice(value.as_bytes()));
                    out.extend_from_slice(b",\"value\":");
                    out.extend_from_slice(value.as_bytes());
                } else if let Some(text) = stored_text(value) {
                    let is_chosen = value.starts_with('"');
                    self.locales(out, |out, locale| {
                        if is_chosen {
                            write_json_string(field.option_label(text, locale), out);
                        } else {
                            write_quoted(text, out);
                        }
                    });
                    out.extend_from_slice(b",\"value\":");
                    write_quoted(text, out);
                } else {
                    let value = parsed();
                    self.locales(out, |out, locale| write_json_string(&displayed(field, &value, locale), out));
                    out.extend_from_slice(b",\"value\":");
                    write_json_string(&plain(&value), out);
                }
            }
        }
        out.push(b'}');
    }

    fn table(&self, out: &mut Vec<u8>, field: &Field, cells: &[(&str, Cow<'_, str>)], write: fn(&str, &mut Vec<u8>)) {
        let mut rows: Vec<u32> = cells.iter().filter_map(|(reference, _)| Some(cell(reference)?.1)).collect();
        rows.sort_unstable();
        rows.dedup();
        out.extend_from_slice(b",\"dynamicRows\":[");
        for (index, row) in rows.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(itoa::Buffer::new().format(row).as_bytes());
        }
        out.extend_from_slice(b"],\"values\":{");
        for (index, (reference, text)) in cells.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write(reference, out);
            out.push(b':');
            write(text, out);
        }
        out.extend_from_slice(b"},\"schema\":{\"columns\":[");
        for (index, column) in field.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"key\":");
            write_json_string(&column.key, out);
            out.extend_from_slice(b",\"label\":");
            write_texts(out, self.locales, &column.label);
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }

    fn file(&self, out: &mut Vec<u8>, value: &Json) {
        out.extend_from_slice(b",\"value\":null,\"token\":");
        match value.as_str().filter(|token| !token.is_empty()) {
            Some(token) => {
                write_json_string(token, out);
                out.extend_from_slice(b",\"download\":");
                (self.download)(out, token);
            }
            None => out.extend_from_slice(b"null,\"download\":null"),
        }
    }

    fn locales(&self, out: &mut Vec<u8>, write: impl Fn(&mut Vec<u8>, Locale)) {
        write_locales(out, self.locales, write);
    }
}

fn write_texts(out: &mut Vec<u8>, locales: &[Locale], map: &Translated) {
    write_locales(out, locales, |out, locale| write_json_string(map.in_locale(locale), out));
}

/// An object with a value for each locale, whose codes need no escapes.
fn write_locales(out: &mut Vec<u8>, locales: &[Locale], write: impl Fn(&mut Vec<u8>, Locale)) {
    out.push(b'{');
    for (index, locale) in locales.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(locale.code().as_bytes());
        out.extend_from_slice(b"\":");
        write(out, *locale);
    }
    out.push(b'}');
}

/// A text that needs no escapes, as a JSON string.
fn write_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// The plain text of a stored value that is no list or object and has no escapes: it needs none either.
fn stored_text(value: &str) -> Option<&str> {
    match value.as_bytes().first()? {
        b'"' if memchr::memchr(b'\\', value.as_bytes()).is_none() => value.get(1..value.len() - 1),
        b'"' | b'{' | b'[' => None,
        b'n' => Some(""),
        _ => Some(value),
    }
}

/// The cells of a stored table, where none of them has escapes, or a list or an object in it.
fn stored_cells(table: &str) -> Option<Vec<(&str, Cow<'_, str>)>> {
    if memchr::memchr(b'\\', table.as_bytes()).is_some() {
        return None;
    }
    RawMembers::of(table).map(|(reference, value)| Some((reference, Cow::Borrowed(stored_text(value)?)))).collect()
}

/// The answer as plain text, whatever its type.
fn plain<'v>(value: &'v Json<'_>) -> Cow<'v, str> {
    match value {
        Json::Null => Cow::Borrowed(""),
        Json::Bool(true) => Cow::Borrowed("true"),
        Json::Bool(false) => Cow::Borrowed("false"),
        Json::Number(text) | Json::String(text) => Cow::Borrowed(text),
        Json::Array(items) => Cow::Owned(items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        // A field whose type was changed may keep an answer of its type before.
        Json::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// The answer as people read it: options by their labels.
fn displayed<'a>(field: &'a Field, value: &'a Json<'_>, locale: Locale) -> Cow<'a, str> {
    if !field.kind.has_options() {
        return plain(value);
    }
    match value {
        Json::String(chosen) => Cow::Borrowed(field.option_label(chosen, locale)),
        Json::Array(items) => {
            let labels = items.iter().map(|item| {
                item.as_str().map_or_else(|| plain(item), |chosen| Cow::Borrowed(field.option_label(chosen, locale)))
            });
            Cow::Owned(labels.collect::<Vec<_>>().join(", "))
        }
        _ => plain(value),
    }
}

/// Plain text as HTML.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"']) {
        return Cow::Borrowed(text);
    }
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{field, tabs};
    use super::*;
    use crate::program::Record;

    fn shown(fields: &[Field], locales: &[Locale], answers: &str) -> String {
        let mut records = Records::default();
        for value in fields {
            let deleted = value.slug.as_str().ends_with("TTT");
            records.insert(value.slug, Record { value: value.clone(), revision: 1, deleted });
        }
        let download = |out: &mut Vec<u8>, token: &str| write_json_string(&format!("signed:{token}"), out);
        let tabs = tabs();
        let base_url = "https://example.org";
        let mut out = Vec::new();
        Shown { locales, is_wanted: &|_| true, download: &download }
            .all(&mut out, answers, |slug| Some(AnswerHead::of(records.shared_live(slug)?, &tabs, base_url, locales)));
        String::from_utf8(out).unwrap()
    }

    /// The members that follow the title.
    fn end(members: &str, locales: &[Locale], answer: &str) -> String {
        let all = shown(&[field("FieldAAA", members)], locales, &format!(r#"{{"FieldAAA":{answer}}}"#));
        let at = all.find(r#""translated""#).unwrap();
        all[at..all.len() - 2].to_owned()
    }

    #[test]
    fn a_simple_answer_has_all_members_in_order() {
        let label = r#""type":"text","label":{"en_GB":"<b>Why</b>"}"#;
        let text = shown(&[field("FieldAAA", label)], &[Locale::EnGb, Locale::DeDe], r#"{"FieldAAA":"a \"b\""}"#);
        let expected = r#"[{"slug":"FieldAAA","link":"https://example.org/field/FieldAAA","label":{"en_GB":"<b>Why</b>","de_DE":""},"title":{"en_GB":"Q & A","de_DE":""},"translated":{"en_GB":"a \"b\"","de_DE":"a \"b\""},"value":"a \"b\""}]"#;
        assert_eq!(text, expected);
        let untitled = shown(&[field("FieldAAA", r#""type":"text""#)], &[Locale::EnGb], r#"{"FieldAAA":""}"#);
        assert!(untitled.contains(r#""label":{"en_GB":"Q &amp; A"}"#), "a field without a label shows its title");
    }

    #[test]
    fn a_simple_value_is_always_a_string() {
        let en = [Locale::EnGb];
        for (kind, answer, value) in [
            ("checkbox", "true", "true"),
            ("checkbox", "false", "false"),
            ("numeric", "12.50", "12.50"),
            ("checkboxlist", r#"["a","b"]"#, "a, b"),
            ("text", "null", ""),
        ] {
            let expected = format!(r#""translated":{{"en_GB":"{value}"}},"value":"{value}""#);
            assert_eq!(end(&format!(r#""type":"{kind}""#), &en, answer), expected);
        }
    }

    #[test]
    fn options_are_translated_by_their_labels() {
        let options = r#""options":["a",{"value":"b","label":{"de_DE":"Bä"}}]"#;
        let both = [Locale::EnGb, Locale::DeDe];
        assert_eq!(
            end(&format!(r#""type":"checkboxlist",{options}"#), &both, r#"["a","b"]"#),
            r#""translated":{"en_GB":"a, b","de_DE":"a, Bä"},"value":"a, b""#
        );
        assert_eq!(
            end(&format!(r#""type":"radio",{options}"#), &both, r#""b""#),
            r#""translated":{"en_GB":"b","de_DE":"Bä"},"value":"b""#
        );
    }

    #[test]
    fn a_table_shows_its_rows_cells_and_columns() {
        let columns = r#""type":"table","columns":[{"key":"A","label":{"en_GB":"Year"}},{"key":"B"}]"#;
        assert_eq!(
            end(columns, &[Locale::EnGb], r#"{"A10":"x","B2":"y","A2":""}"#),
            r#""translated":{"en_GB":""},"dynamicRows":[2,10],"values":{"A10":"x","B2":"y","A2":""},"schema":{"columns":[{"key":"A","label":{"en_GB":"Year"}},{"key":"B","label":{"en_GB":""}}]}"#
        );
        assert_eq!(
            end(r#""type":"table""#, &[Locale::EnGb], "null"),
            r#""translated":{"en_GB":""},"dynamicRows":[],"values":{},"schema":{"columns":[]}"#
        );
    }

    #[test]
    fn a_file_shows_its_token_and_address() {
        let file = r#""type":"file""#;
        assert_eq!(
            end(file, &[Locale::EnGb], r#""TokenTokenToken""#),
            r#""translated":{"en_GB":""},"value":null,"token":"TokenTokenToken","download":"signed:TokenTokenToken""#
        );
        assert_eq!(
            end(file, &[Locale::EnGb], "null"),
            r#""translated":{"en_GB":""},"value":null,"token":null,"download":null"#
        );
    }

    #[test]
    fn trashed_and_unknown_fields_are_left_out_and_the_others_are_ordered() {
        let fields = [
            field("FieldAAA", r#""type":"text","tab":"TabBBBBB""#),
            field("FieldBBB", r#""type":"text","tab":"TabAAAAA""#),
            field("FieldTTT", r#""type":"text","tab":"TabAAAAA""#),
        ];
        let answers = r#"{"FieldAAA":"1","FieldTTT":"2","FieldXXX":"3","FieldBBB":"4"}"#;
        let text = shown(&fields, &[Locale::EnGb], answers);
        let slugs: Vec<&str> = text.split(r#"{"slug":""#).skip(1).map(|part| &part[..8]).collect();
        assert_eq!(slugs, ["FieldBBB", "FieldAAA"]);
        assert_eq!(shown(&fields, &[Locale::EnGb], "{}"), "[]");
    }

    proptest! {
        #[test]
        fn a_stored_value_is_shown_as_if_it_were_parsed(
            value in prop_oneof![
                r#""[a-zé<>& ,:{}\[\]]{0,8}""#.prop_map(String::from),
                r#""([a-z]|\\"|\\\\|\\n){0,6}""#.prop_map(String::from),
                any::<i32>().prop_map(|number| number.to_string()),
                prop_oneof![Just("null"), Just("true"), Just("false"), Just("[1,\"a\"]"), Just("{\"a\":\"b\"}")]
                    .prop_map(str::to_owned),
            ]
        ) {
            let mut expected = Vec::new();
            write_json_string(&plain(&parse_value(value.as_bytes()).unwrap()), &mut expected);
            if let Some(text) = stored_text(&value) {
                let mut quoted = Vec::new();
                write_quoted(text, &mut quoted);
                prop_assert_eq!(&quoted, &expected);
            }
            let table = format!(r#"{{"A1":{value}}}"#);
            if let Some(cells) = stored_cells(&table) {
                let mut quoted = Vec::new();
                write_quoted(&cells[0].1, &mut quoted);
                prop_assert_eq!((cells.len(), cells[0].0, &quoted), (1, "A1", &expected));
            } else {
                prop_assert_eq!(stored_text(&value), None);
            }
        }
    }
}
