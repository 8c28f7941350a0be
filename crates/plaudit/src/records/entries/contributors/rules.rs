//! Pure rules of contributors.

use crate::lists::number_key;
use crate::program::Program;
use crate::program::fields::Resource;
use crate::program::tabs::TabKind;
use crate::records::answers::{self, Answers};
use crate::records::answers::{Asked, given_to};
use crate::records::entries::Entry;
use crate::records::entries::contributors::Contributor;
use kernel::document::{self, Object};
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, folded};

/// Writes a contributor as its entry shows it (specification, section 2.5).
pub fn write_shown(contributor: &Contributor, object: &mut Object<'_>) {
    object.slug("slug", contributor.slug);
    object.reference("tab", Kind::Tab, contributor.tab);
    object.answers("contributor_fields", &contributor.fields.to_json());
}

/// A contributor as it is shown on its own (contract, section 6), with the title and the season of its entry.
pub(crate) fn document(contributor: &Contributor, title: &str, season: Slug) -> String {
    document::object(|object| {
        object.object("entry", |object| {
            object.named(Kind::Entry, contributor.entry, ("title", title));
        });
        object.time("created", contributor.created);
        object.answers("fields", &contributor.fields.to_json());
        object.reference("season", Kind::Season, season);
        object.slug("slug", contributor.slug);
        object.reference("tab", Kind::Tab, contributor.tab);
        object.time("updated", contributor.updated);
    })
}

/// What a body says of a new contributor.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) entry: Option<Slug>,
    pub(crate) tab: Option<Slug>,
    pub(crate) fields: Option<JsonObject<'static>>,
}

/// Reads the body of a new contributor.
pub(crate) fn read_create(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let entry = members.required("entry", input::slug);
    let tab = members.required("tab", input::slug);
    let fields = members.optional("fields", answers::given);
    (Given { entry, tab, fields }, members.finish())
}

/// Reads the body of an update.
pub(crate) fn read_update(body: &JsonObject) -> (Option<JsonObject<'static>>, Violations) {
    let mut members = Members::closed(body);
    let fields = members.optional("fields", answers::given);
    (fields, members.finish())
}

/// The tab of a new contributor, where it can be that; otherwise why not. `entry` is its own, where there is that.
pub(crate) fn tab_of(program: &Program, entry: Option<&Entry>, tab: Slug, violations: &mut Violations) -> Option<Slug> {
    let is_right = program
        .tabs
        .live(tab)
        .is_some_and(|found| found.kind == TabKind::Contributors && entry.is_none_or(|entry| found.form == entry.form));
    if !is_right {
        violations.add("tab", format!("{tab} is no tab for contributors of the entry's form"));
    }
    is_right.then_some(tab)
}

/// The answers after these were given to a contributor of an entry on a tab; what is `None` is not known.
pub(crate) fn answers_after(
    program: &Program,
    (entry, tab): (Option<&Entry>, Option<Slug>),
    before: &Answers,
    given: Option<&JsonObject>,
    violations: &mut Violations,
) -> Answers {
    let Some(given) = given else { return before.clone() };
    let asked = Asked {
        member: "fields",
        resource: Resource::Contributors,
        form: entry.map(|entry| entry.form),
        tab,
        category: entry.map(|entry| entry.category),
    };
    given_to(program, asked, before, given, violations)
}

/// The contributor of an entry after these answers; where nothing changes, as it was.
pub(crate) fn answered(
    program: &Program,
    entry: &Entry,
    before: &Contributor,
    given: Option<&JsonObject>,
    violations: &mut Violations,
    now: Timestamp,
) -> Contributor {
    let fields = answers_after(program, (Some(entry), Some(before.tab)), &before.fields, given, violations);
    let mut after = Contributor { fields, ..before.clone() };
    if after != *before {
        after.updated = now;
    }
    after
}

/// What lists sort an answer by: numbers by their value and before texts, texts after case folding. Never empty.
pub(super) fn sort_key(answer: &Json) -> String {
    let text = match answer {
        Json::Number(text) => {
            if let Ok(number) = text.parse::<f64>() {
                return format!("n{:016x}", number_key(number));
            }
            text.to_string()
        }
        Json::String(text) => text.to_string(),
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    // PostgreSQL has no text with this character in it.
    format!("t{}", folded(&text).replace('\0', "\u{fffd}"))
}

/// The answer of which this is the key by which lists sort, after case folding, where it is a text: what an e-mail address is compared
/// with.
pub fn text_of(sort_key: &str) -> Option<&str> {
    sort_key.strip_prefix('t').map(str::trim)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> String {
        sort_key(&Json::Number(text.to_owned().into()))
    }

    fn text(text: &str) -> String {
        sort_key(&Json::String(text.to_owned().into()))
    }

    #[test]
    fn numbers_sort_by_value_and_before_texts() {
        let ordered = ["-1e300", "-2", "-1.5", "-0.1", "0", "0.1", "2", "10", "1e300"];
        assert!(ordered.windows(2).all(|pair| number(pair[0]) < number(pair[1])));
        assert_eq!(number("-0"), number("0"));
        assert_eq!(number("1.50"), number("1.5"));
        assert!(number("1e300") < text(""));
    }

    #[test]
    fn texts_sort_without_case_and_keys_have_a_bound() {
        assert_eq!(text("ÅSE"), text("åse"));
        assert!(text("abc") < text("ABD"));
        assert!(text(&"\u{1F600}".repeat(1_000)).len() <= 4 * 512 + 1);
        assert!(!text("\0").contains('\0') && !text("").is_empty());
        assert_eq!(sort_key(&Json::Bool(true)), "ttrue");
        assert_eq!(sort_key(&Json::Array(vec![Json::String("b".into()), Json::String("A".into())])), "tb, a");
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_numbers(left in -1e9..1e9_f64, right in -1e9..1e9_f64) {
            let keys = number(&left.to_string()).cmp(&number(&right.to_string()));
            prop_assert_eq!(keys, left.partial_cmp(&right).unwrap());
        }
    }
}
