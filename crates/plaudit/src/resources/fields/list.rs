//! The list of fields: its filters and its sorts.

use crate::lists::page::{Ask, EVERY, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::program::Program;
use crate::program::fields::{Field, FieldType, Protection, form_of, season_of};
use crate::resources::setup_list::{Of, SetupList, columns, one_or_every};
use kernel::text::{Slug, Translated, folded};

/// What fields can be asked for by; the interface does not have referees among them.
const RESOURCES: &[&str] = &["entries", "users", "attachments", "contributors"];

const FILTERS: &[Filter] = &[
    Filter::new(
        "conditional",
        FilterKind::SlugOr(&["only", "none"]),
        "`only` fields with a condition, `none` of them, or those whose condition names this field",
    )
    .by(Narrow::Has("conditional")),
    Filter::new("protection", FilterKind::OneOf(Protection::NAMES), "How well their answers are protected")
        .by(Narrow::Is("protection")),
    Filter::new("resource", FilterKind::OneOf(RESOURCES), "What they ask about").by(Narrow::Is("resource")),
    Filter::new("type", FilterKind::OneOf(FieldType::NAMES), "The type").by(Narrow::Is("type")),
    Filter::new("category", FilterKind::Slug, "The category that they are asked in").by(Narrow::By(asked_in)),
    Filter::new("form", FilterKind::Slug, "The form").by(Narrow::Has("in_form")),
    Filter::new("tab", FilterKind::Slug, "The tab").by(Narrow::Is("on_tab")),
    Filter::season("The season, or `all`").by(Narrow::SeasonOrEvery("in_season")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];
const ORDERS: &[&str] = &[
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
];
const CELLS: &[(&str, Of<Field>); 19] = &[
    ("asked_in", Of::Set(|field, _| asked(field))),
    ("auto_scoring", Of::Number(|field, _| field.auto_scoring)),
    ("categories", Of::Text(categories)),
    ("category_count", Of::Number(category_count)),
    ("conditional", Of::Set(|field, _| conditional(field))),
    ("created", Of::Time(|field| field.created)),
    ("deleted", Of::Deleted),
    ("for_applicants", Of::Flag(|field| field.applicant.read || field.applicant.write)),
    ("form", Of::Text(form)),
    ("in_form", Of::Set(|field, program| one_or_every(form_of(field, program)))),
    ("in_season", Of::Set(|field, program| one_or_every(season_of(field, program)))),
    ("on_tab", Of::Slug(|field| field.tab)),
    ("order", Of::Number(|field, _| field.order)),
    ("protection", Of::Word(|field| field.protection.name())),
    ("resource", Of::Word(|field| field.resource.name())),
    ("tab", Of::Text(tab)),
    ("title", Of::Translated(|field, _| Some(&field.title))),
    ("type", Of::Word(|field| field.kind.name())),
    ("updated", Of::Time(|field| field.updated)),
];

/// `GET /field` (contract, section 4).
pub(super) const LIST: SetupList<Field> =
    SetupList { spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };

/// What the filter `category` asks: [`crate::program::fields::is_asked_in`].
fn asked_in(query: &ListQuery, program: &Program) -> Vec<Ask> {
    let Some(slug) = query.slug("category") else { return Vec::new() };
    let Some(category) = program.categories.any(slug) else { return vec![Ask::Never] };
    let is_or_every = |column, slug: Slug| Ask::Has(column, vec![slug.to_string(), EVERY.to_owned()]);
    let mut asks = vec![is_or_every("asked_in", slug), is_or_every("in_season", category.season)];
    asks.extend(category.form.map(|form| is_or_every("in_form", form)));
    asks
}

/// The categories that a field names.
fn asked(field: &Field) -> Vec<String> {
    match &field.categories {
        None => vec![EVERY.to_owned()],
        Some(categories) => categories.iter().map(Slug::to_string).collect(),
    }
}

/// What the filter `conditional` finds a field by.
fn conditional(field: &Field) -> Vec<String> {
    match &field.conditional {
        None => vec!["none".to_owned()],
        Some(condition) => vec!["only".to_owned(), condition.field.to_string()],
    }
}

/// All categories come behind any number of them; several are compared by their names, one after the other.
fn categories(field: &Field, program: &Program) -> Option<String> {
    let Some(categories) = &field.categories else { return Some(char::MAX.to_string()) };
    let live = categories.iter().filter_map(|category| program.categories.live(*category));
    let language = program.account.default_language;
    let mut names: Vec<String> = live.map(|category| folded(category.name.in_locale(language))).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| names.join("\0"))
}

fn category_count(field: &Field, program: &Program) -> i64 {
    field.categories.as_ref().map_or(i64::MAX, |categories| {
        let live = categories.iter().filter(|category| program.categories.live(**category).is_some());
        i64::try_from(live.count()).unwrap_or(i64::MAX)
    })
}

fn form(field: &Field, program: &Program) -> Option<String> {
    let form = program.forms.any(form_of(field, program)?)?;
    Some(placed(&form.name, form.slug, program))
}

fn tab(field: &Field, program: &Program) -> Option<String> {
    let tab = program.tabs.any(field.tab?)?;
    Some(placed(&tab.name, tab.slug, program))
}

/// Fields of one form or tab stay together, also where another one has the same name.
fn placed(name: &Translated, slug: Slug, program: &Program) -> String {
    format!("{}\0{slug}", name.in_locale(program.account.default_language))
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
