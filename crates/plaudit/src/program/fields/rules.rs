//! Pure rules of fields.

use super::conditions::{self, broken_by};
use super::standing::{form_of, resource_of, season_of};
use super::{Field, FieldType, Given, LIMIT, Limits, Resource};
use crate::program::bounds::CHAIN;
use crate::program::tabs::Tab;
use crate::program::{Context, Program, Records};
use kernel::input::Violations;
use kernel::text::{Slug, Timestamp, Translated};

pub(super) const ABOVE_MAXIMUM: &str = "must not be above the maximum";
const CURRENCY_STAYS: &str = "must stay what it is, so that amounts keep their meaning";

fn stays(kind: FieldType) -> String {
    format!("must stay {}, so that answers keep their meaning", kind.name())
}

/// What a field may not become once there are answers, which have their meaning from it.
pub fn keeps_meaning(before: &Field, after: &Field) -> Violations {
    let mut violations = Violations::default();
    if after.resource != before.resource {
        let resource = before.resource.name();
        violations.add("resource", format!("must stay {resource}, so that answers keep their meaning"));
    }
    if after.kind != before.kind {
        violations.add("type", stays(before.kind));
    } else if before.kind == FieldType::Currency && after.currency != before.currency {
        violations.add("currency", CURRENCY_STAYS);
    }
    violations
}

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

/// Whether a field can come back from the trash: its tab, its form and the field that its condition names are there, that one is
/// not at the end of too long a chain, and it has such answers still as the condition compares with.
pub(crate) fn restore(program: &Program, field: &Field) -> Result<(), String> {
    let mut missing = Vec::new();
    if let Some(tab) = field.tab.filter(|tab| program.tabs.live(*tab).is_none()) {
        missing.push(format!("its tab {tab}"));
    }
    if let Some(form) = form_of(field, program).filter(|form| program.forms.live(*form).is_none()) {
        missing.push(format!("its form {form}"));
    }
    let named = field.conditional.as_ref().map(|condition| condition.field);
    if let Some(named) = named.filter(|named| program.fields.live(*named).is_none()) {
        missing.push(format!("the field {named}, which its condition names,"));
    }
    match missing.as_slice() {
        [] if conditions::is_too_deep(&program.fields, field) => {
            Err(format!("The field cannot be restored: more than {CHAIN} conditions would follow one another."))
        }
        [] => match conditions::broken_of(program, field) {
            None => Ok(()),
            Some((named, wrong)) => Err(format!(
                "The field cannot be restored: its condition compares the field {} ({}) with what that takes no more ({wrong}).",
                named.slug,
                named.title.first()
            )),
        },
        [one] => Err(format!("The field cannot be restored: {one} is in the trash.")),
        all => Err(format!("The field cannot be restored: {} are in the trash.", all.join(" and "))),
    }
}

/// The field that a body makes, which was read with these violations.
pub(crate) fn create(
    program: &Program,
    slug: Slug,
    (mut given, mut violations): (Given, Violations),
    now: Timestamp,
) -> Result<Field, Violations> {
    let stated = given.changes.tab.flatten();
    let tab = stated.and_then(|tab| tab_of(program, tab, &mut violations));
    if let Some(form) = given.changes.form.take().flatten() {
        match tab {
            Some(tab) if tab.form != form => {
                violations.add("form", format!("is not the form of the tab, which is {}", tab.form));
            }
            None if program.forms.live(form).is_none() => {
                violations.add("form", format!("{form} is no form of the account"));
            }
            _ => {}
        }
    }
    let form = tab.map(|tab| tab.form);
    let resource = tab.and_then(|tab| resource_of(tab.kind));
    let last = program.fields.all_live().filter(|field| field.tab == stated).map(|field| field.order).max();
    // A field whose type is not known is told of and not made.
    let kind = given.kind.unwrap_or(FieldType::Text);
    let context = Context { now, ..program.context.clone() };
    let blank = Field::blank(slug, kind, Translated::default(), &context).ok_or_else(Violations::default)?;
    let mut field = Field {
        season: form.and_then(|form| program.forms.any(form)).and_then(|form| form.season),
        form,
        resource: resource.unwrap_or(Resource::Entries),
        order: last.unwrap_or(0).saturating_add(1).min(LIMIT),
        ..blank
    };
    apply(&mut field, &given);
    validate(program, (None, &field), &given, (given.kind.is_some(), tab.is_some()), &mut violations);
    violations.or(Some(field))
}

/// The field after an update that was read with these violations.
pub(crate) fn update(
    program: &Program,
    before: &Field,
    (mut given, mut violations): (Given, Violations),
    now: Timestamp,
) -> Result<Field, Violations> {
    let form = form_of(before, program);
    if given.kind.is_some_and(|kind| kind != before.kind) {
        violations.add("type", stays(before.kind));
    }
    if given.changes.form.take().is_some_and(|stated| stated != form) {
        violations.add("form", "must stay the form that the field is on");
    }
    let has_currency = before.kind == FieldType::Currency;
    if has_currency && given.changes.currency.is_some_and(|currency| currency != before.currency) {
        violations.add("currency", CURRENCY_STAYS);
    }
    if let Some(tab) = given.changes.tab.flatten().filter(|tab| Some(*tab) != before.tab)
        && let Some(tab) = tab_of(program, tab, &mut violations)
    {
        if Some(tab.form) != form {
            violations.add("tab", "must be a tab of the form that the field is on");
        }
        if resource_of(tab.kind).is_some_and(|resource| resource != before.resource) {
            violations.add("tab", format!("must be a tab for fields about {}", before.resource.name()));
        }
    }
    let mut field = before.clone();
    apply(&mut field, &given);
    validate(program, (Some(before), &field), &given, (true, true), &mut violations);
    if given.changes.options.is_some()
        && let Some((other, why)) = broken_by(program, &field)
    {
        let title = other.title.first();
        violations
            .add("options", format!("are compared with by the field {} ({title}), whose value {why}", other.slug));
    }
    if field != *before {
        field.updated = now;
    }
    violations.or(Some(field))
}

/// A tab that can have fields; otherwise why it cannot.
fn tab_of<'p>(program: &'p Program, slug: Slug, violations: &mut Violations) -> Option<&'p Tab> {
    let Some(tab) = program.tabs.live(slug) else {
        violations.add("tab", format!("{slug} is no tab of the account"));
        return None;
    };
    if resource_of(tab.kind).is_none() {
        violations.add("tab", format!("{slug} is of the type {}, which has no fields", tab.kind.name()));
    }
    if program.forms.live(tab.form).is_none() {
        violations.add("tab", format!("{slug} belongs to a form that is in the trash"));
    }
    Some(tab)
}

/// Puts into a field what a body says.
fn apply(field: &mut Field, given: &Given) {
    given.changes.clone().apply(field);
    if let Some(conditional) = &given.conditional {
        field.conditional.clone_from(conditional);
    }
    for (held, stated) in field.limits.in_order().into_iter().zip(given.limits) {
        *held = stated.unwrap_or(*held);
    }
}

/// What a body must not have made of a field. `is_typed` and `is_placed`: whether its type and its tab are known, without
/// which nothing can be said of what depends on them.
fn validate(
    program: &Program,
    (before, field): (Option<&Field>, &Field),
    given: &Given,
    (is_typed, is_placed): (bool, bool),
    violations: &mut Violations,
) {
    if is_typed {
        check_type(field, &["limits"], violations);
    }
    let is_required_now = field.required && before.is_none_or(|before| !before.required);
    if is_typed && is_placed && is_required_now && field.is_never_answered() {
        let resource = field.resource.name();
        violations.add("required", format!("cannot be true, because no files are uploaded to fields about {resource}"));
    }
    for name in field.limits.contradictions() {
        violations.add(format!("limits.{name}"), ABOVE_MAXIMUM);
    }
    if let Some(Some(categories)) = &given.changes.categories {
        // What the field names already can stay, even from the trash.
        let is_kept =
            |category| before.is_some_and(|before| before.categories.iter().flatten().any(|held| held == category));
        let gone = categories.iter().filter(|category| program.categories.live(**category).is_none());
        for category in gone.filter(|category| !is_kept(*category)) {
            violations.add("categories", format!("{category} is no category of the account"));
        }
        if is_placed {
            check_categories(program, field, violations);
        }
    }
    if let Some(named) = given.condition_field
        && let place = (is_placed, conditions::dependants(&program.fields, field.slug))
        && let Some(found) = conditions::check_field(program, field, named, place, violations)
        && let Some(Some(condition)) = &given.conditional
    {
        conditions::check_comparison(condition, found, violations);
    }
}

/// Which members a field has although its type does not have them, and which its type needs. `limits` is what the member
/// of the limits is called, or the members that they are. A member that something is wrong with already is passed over.
fn check_type(field: &Field, limits: &[&'static str], violations: &mut Violations) {
    let kind = field.kind;
    let mut reported = |member: &'static str, message: String| {
        let is_part =
            |name: &str| name.strip_prefix(member).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if !violations.iter().any(|(name, _)| is_part(name)) {
            violations.add(member, message);
        }
    };
    let of_type = format!("a field of the type {}", kind.name());
    let is_of = |other: FieldType| kind == other;
    for (member, is_there, belongs, is_needed) in [
        ("options", !field.options.is_empty(), kind.has_options(), !is_of(FieldType::Lookup)),
        ("columns", !field.columns.is_empty(), is_of(FieldType::Table), true),
        ("currency", field.currency.is_some(), is_of(FieldType::Currency), true),
        ("file_types", !field.file_types.is_empty(), is_of(FieldType::File), false),
        ("max_file_size", field.max_file_size.is_some(), is_of(FieldType::File), false),
        ("required", field.required, kind.takes_answers(), false),
    ] {
        if is_there && !belongs {
            reported(member, format!("is no member of {of_type}"));
        } else if belongs && is_needed && !is_there {
            reported(member, format!("is required for {of_type}, and must not be empty"));
        }
    }
    if field.limits != Limits::default() && !kind.has_limits() {
        for member in limits {
            reported(member, format!("is no member of {of_type}"));
        }
    }
}

/// The categories that a field names are of its season and form.
fn check_categories(program: &Program, field: &Field, violations: &mut Violations) {
    let (season, form) = (season_of(field, program), form_of(field, program));
    for slug in field.categories.iter().flatten() {
        let Some(category) = program.categories.any(*slug) else { continue };
        if season.is_some_and(|season| season != category.season) {
            violations.add("categories", format!("{slug} is a category of another season"));
        }
        if form.zip(category.form).is_some_and(|(form, other)| form != other) {
            violations.add("categories", format!("{slug} is a category of another form"));
        }
    }
}

/// What is wrong with a field among the records that it refers to. References to records that do not exist are found
/// elsewhere.
pub(crate) fn check(field: &Field, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let tab = field.tab.and_then(|tab| program.tabs.any(tab));
    if let (Some(stated), Some(tab)) = (field.form, tab)
        && stated != tab.form
    {
        violations.add("form", format!("is not the form of the tab, which is {}", tab.form));
    }
    if let Some(tab) = tab
        && field.resource != Resource::Users
        && resource_of(tab.kind) != Some(field.resource)
    {
        let (about, kind) = (field.resource.name(), tab.kind.name());
        violations.add("tab", format!("is of the type {kind}, which has no fields about {about}"));
    }
    let form = form_of(field, program).and_then(|form| program.forms.any(form));
    if let (Some(stated), Some(season)) = (field.season, form.and_then(|form| form.season))
        && stated != season
    {
        violations.add("season", format!("is not the season of the form, which is {season}"));
    }
    let limits: Vec<&str> = [
        ("maximum_characters", field.limits.maximum_characters),
        ("maximum_words", field.limits.maximum_words),
        ("minimum_characters", field.limits.minimum_characters),
        ("minimum_words", field.limits.minimum_words),
    ]
    .into_iter()
    .filter_map(|(name, limit)| limit.map(|_| name))
    .collect();
    check_type(field, &limits, &mut violations);
    check_categories(program, field, &mut violations);
    // What is in the trash is validated when it comes back. Whether a field can go there is asked of that field.
    let named = field.conditional.as_ref().and_then(|condition| program.fields.live(condition.field));
    if named.is_some() && program.fields.live(field.slug).is_some() {
        conditions::check(program, field, &mut violations);
    }
    violations
}

#[cfg(test)]
mod tests;
