//! The list of fields: its filters and its sorts.

use super::{Field, FieldType, Protection, form_of, is_asked_in, season_of};
use crate::http::page::{Filter, FilterKind, FilterValue, ListQuery, ListSpec, words};
use crate::program::listing::{SortKey, is_in_season, is_selected_by_trash};
use crate::program::{Program, Record};
use crate::text::{Slug, folded};

/// What fields can be asked for by; the interface does not have referees among them.
const RESOURCES: &[&str] = &["entries", "users", "attachments", "contributors"];

/// What the query of the list may say.
pub(super) const SPEC: ListSpec = ListSpec::new(
    &[
        Filter::new(
            "conditional",
            FilterKind::SlugOr(&["only", "none"]),
            "`only` fields with a condition, `none` of them, or those whose condition names this field",
        ),
        Filter::new("protection", FilterKind::OneOf(words!(Protection)), "How well their answers are protected"),
        Filter::new("resource", FilterKind::OneOf(RESOURCES), "What they ask about"),
        Filter::new("type", FilterKind::OneOf(words!(FieldType)), "The type"),
        Filter::new("category", FilterKind::Slug, "The category that they are asked in"),
        Filter::new("form", FilterKind::Slug, "The form"),
        Filter::new("tab", FilterKind::Slug, "The tab"),
        Filter::season("The season, or `all`"),
        Filter::deleted(),
    ],
    &[
        "title",
        "resource",
        "type",
        "updated",
        "created",
        "categories",
        "order",
        "tab",
        "form",
        "auto_scoring",
        "category_count",
    ],
);

/// Whether the filters of a query select a field.
pub(super) fn is_selected(record: &Record<Field>, query: &ListQuery, program: &Program) -> bool {
    let field = &record.value;
    let is_word = |filter: &str, name: &str| query.word(filter).is_none_or(|word| word == name);
    let is_slug = |filter: &str, slug: Option<Slug>| query.slug(filter).is_none_or(|wanted| slug == Some(wanted));
    let named = field.conditional.as_ref().map(|condition| condition.field);
    let is_conditional = match query.filter("conditional") {
        Some(FilterValue::Word("only")) => named.is_some(),
        Some(FilterValue::Word(_)) => named.is_none(),
        _ => is_slug("conditional", named),
    };
    is_conditional
        && is_word("protection", field.protection.name())
        && is_word("resource", field.resource.name())
        && is_word("type", field.kind.name())
        && is_slug("form", form_of(field, program))
        && is_slug("tab", field.tab)
        && query.slug("category").is_none_or(|category| is_asked_in(field, category, program))
        && is_in_season(query, program, season_of(field, program))
        && is_selected_by_trash(query, "deleted", record.deleted)
}

/// What the list is sorted by. All categories come behind any number of them; several are compared by their names, one
/// after the other. Fields of one tab stay together, also where another tab has the same name.
pub(super) fn key(field: &Field, order: &str, program: &Program) -> SortKey {
    let name = |name: Option<&str>, slug: Option<Slug>| match (name, slug) {
        (Some(name), Some(slug)) => SortKey::Text(format!("{name}\0{slug}")),
        _ => SortKey::Absent,
    };
    let language = program.account.default_language;
    match order {
        "title" => SortKey::translated(&field.title, program),
        "resource" => SortKey::Text(field.resource.name().to_owned()),
        "type" => SortKey::Text(field.kind.name().to_owned()),
        "created" => SortKey::Integer(field.created.as_microseconds()),
        "categories" => match &field.categories {
            None => SortKey::Text(char::MAX.to_string()),
            Some(categories) => {
                let live = categories.iter().filter_map(|category| program.categories.live(*category));
                let mut names: Vec<String> = live.map(|category| folded(category.name.in_locale(language))).collect();
                names.sort_unstable();
                if names.is_empty() { SortKey::Absent } else { SortKey::Text(names.join("\0")) }
            }
        },
        "order" => SortKey::Integer(field.order),
        "tab" => {
            let tab = field.tab.and_then(|tab| program.tabs.any(tab));
            name(tab.map(|tab| tab.name.in_locale(language)), field.tab)
        }
        "form" => {
            let form = form_of(field, program);
            name(form.and_then(|form| program.forms.any(form)).map(|form| form.name.in_locale(language)), form)
        }
        "auto_scoring" => SortKey::Integer(field.auto_scoring),
        "category_count" => SortKey::Integer(field.categories.as_ref().map_or(i64::MAX, |categories| {
            let live = categories.iter().filter(|category| program.categories.live(**category).is_some());
            i64::try_from(live.count()).unwrap_or(i64::MAX)
        })),
        _ => SortKey::Integer(field.updated.as_microseconds()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::fields::Resource;

    #[test]
    fn what_fields_ask_about_is_all_that_there_is_but_referees() {
        let names = Resource::CHOICES.iter().map(|(name, _)| *name).filter(|name| *name != "referees");
        assert_eq!(RESOURCES, names.collect::<Vec<_>>());
    }
}
