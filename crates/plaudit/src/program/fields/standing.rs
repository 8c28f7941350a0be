//! Where fields stand, and where they are asked.

use super::{Field, Resource};
use crate::program::tabs::{Tab, TabKind};
use crate::program::{Program, Records};
use kernel::text::Slug;

/// The place of a field's answer among others: by the order of its tab, its own order and its slug. Fields without a
/// tab come last.
pub fn rank(field: &Field, tabs: &Records<Tab>) -> (i64, i64, Slug) {
    let tab = field.tab.and_then(|tab| tabs.any(tab));
    (tab.map_or(i64::MAX, |tab| tab.order), field.order, field.slug)
}

/// The form that a field belongs to: the one it states, or its tab's.
pub fn form_of(field: &Field, program: &Program) -> Option<Slug> {
    field.form.or_else(|| Some(program.tabs.any(field.tab?)?.form))
}

/// The season that a field belongs to: the one it states, or its form's.
pub fn season_of(field: &Field, program: &Program) -> Option<Slug> {
    field.season.or_else(|| program.forms.any(form_of(field, program)?)?.season)
}

/// What the fields of a tab ask about; nothing where there are none on it.
pub fn resource_of(tab: TabKind) -> Option<Resource> {
    match tab {
        TabKind::Start => None,
        TabKind::General | TabKind::Eligibility => Some(Resource::Entries),
        TabKind::Contributors => Some(Resource::Contributors),
        TabKind::Attachments => Some(Resource::Attachments),
        TabKind::Referees => Some(Resource::Referees),
    }
}

/// Whether a field is asked in a category: it names the category or all of them, and neither its season nor its form is
/// another one than the category's.
pub fn is_asked_in(field: &Field, category: Slug, program: &Program) -> bool {
    let Some(found) = program.categories.any(category) else { return false };
    let is_same = |one: Option<Slug>, other: Option<Slug>| one.is_none() || other.is_none() || one == other;
    field.applies_to(category)
        && is_same(season_of(field, program), Some(found.season))
        && is_same(form_of(field, program), found.form)
}
