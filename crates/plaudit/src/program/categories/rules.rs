//! Pure rules of categories.

use std::collections::BTreeSet;

use super::{Category, Changes};
use crate::program::bounds::{self, CHAIN};
use crate::program::forms::FormType;
use crate::program::{Context, Program, Records};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// What is wrong with a category among the records that it refers to. References to records that do not exist are
/// found elsewhere.
pub(super) fn check(category: &Category, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let mut same_season = |member: &str, season: Option<Slug>| {
        if season.is_some_and(|season| season != category.season) {
            violations.add(member, "must belong to the season of the category");
        }
    };
    for chapter in &category.chapters {
        same_season("chapters", program.chapters.any(*chapter).map(|chapter| chapter.season));
    }
    same_season("form", category.form.and_then(|form| program.forms.any(form)?.season));
    if let Some(parent) = category.parent {
        same_season("parent", program.categories.any(parent).map(|parent| parent.season));
        check_parent(&program.categories, parent, Some((category.slug, 0)), &mut violations);
    }
    violations
}

/// The category that a body makes, which was read with these violations.
pub fn create(
    program: &Program,
    (changes, mut violations): (Changes, Violations),
    slug: Slug,
    now: Timestamp,
) -> Result<Category, Violations> {
    let season = changes.season.filter(|season| {
        let is_there = program.seasons.live(*season).is_some();
        if !is_there {
            violations.add("season", format!("{season} is no season of the account"));
        }
        is_there
    });
    refer(program, season, None, &changes, &mut violations);
    let made = || {
        let (season, name, _) = (season?, changes.name.clone()?, changes.status?);
        let mut category = Category::blank(slug, season, name, &Context { now, ..program.context.clone() })?;
        changes.apply(&mut category);
        category.form = category.form.or_else(|| first_form(program, season));
        Some(category)
    };
    violations.or(made())
}

/// The form of a category that names none: the first one for entries of its season.
fn first_form(program: &Program, season: Slug) -> Option<Slug> {
    let of_season = program.forms.all_live().filter(|form| {
        form.kind == FormType::Entry && !form.archived && form.season.is_none_or(|other| other == season)
    });
    of_season.min_by_key(|form| (form.created, form.slug)).map(|form| form.slug)
}

/// The category after an update that was read with these violations.
pub fn update(
    program: &Program,
    category: &Category,
    (changes, mut violations): (Changes, Violations),
    now: Timestamp,
) -> Result<Category, Violations> {
    refer(program, Some(category.season), Some(category), &changes, &mut violations);
    let mut after = category.clone();
    changes.apply(&mut after);
    if after != *category {
        after.updated = now;
    }
    violations.or(Some(after))
}

/// Reads the body that makes a category: packing slips are made or not where there are instructions for them.
pub fn read_create(body: &JsonObject<'_>, context: &Context) -> (Changes, Violations) {
    let (changes, mut violations) = Changes::read(body, true, context);
    let instructions = changes.packing_slip_instructions.as_ref();
    let has_instructions = instructions.is_some_and(|map| map.iter().any(|(_, text)| !text.trim().is_empty()));
    if has_instructions && body.get("pdf_packing_slip").is_none() {
        violations.add("pdf_packing_slip", "is required with packing_slip_instructions");
    }
    (changes, violations)
}

/// What is wrong with the records that a body names: each is there, and of the season of the category, where that is
/// known. What the category names already can stay, even from the trash.
fn refer(
    program: &Program,
    season: Option<Slug>,
    before: Option<&Category>,
    changes: &Changes,
    violations: &mut Violations,
) {
    let is_other = |of: Slug| season.is_some_and(|season| season != of);
    let kept: BTreeSet<Slug> = before.iter().flat_map(|before| before.chapters.iter().copied()).collect();
    for chapter in changes.chapters.iter().flatten().filter(|chapter| !kept.contains(chapter)) {
        match program.chapters.live(*chapter) {
            None => violations.add("chapters", format!("{chapter} is no chapter of the account")),
            Some(found) if is_other(found.season) => {
                violations.add("chapters", format!("{chapter} belongs to another season than the category"));
            }
            Some(_) => {}
        }
    }
    if let Some(form) = changes.form.flatten() {
        match program.forms.live(form) {
            None => violations.add("form", format!("{form} is no form of the account")),
            Some(found) if found.season.is_some_and(is_other) => {
                violations.add("form", format!("{form} belongs to another season than the category"));
            }
            Some(_) => {}
        }
    }
    let parent = changes.parent.flatten().filter(|parent| before.is_none_or(|before| before.parent != Some(*parent)));
    if let Some(parent) = parent {
        match program.categories.live(parent) {
            None => violations.add("parent", format!("{parent} is no category of the account")),
            Some(found) if is_other(found.season) => {
                violations.add("parent", format!("{parent} belongs to another season than the category"));
            }
            Some(_) => {
                // Nothing is below a category that is new.
                let below = |before: &Category| {
                    (before.slug, bounds::followers(&program.categories, before.slug, |category| category.parent))
                };
                let category = before.map(below);
                check_parent(&program.categories, parent, category, violations);
            }
        }
    }
}

/// The children of a category that is about to be deleted, one level up.
pub fn moved_up(program: &Program, category: &Category, now: Timestamp) -> Vec<Category> {
    let parent = category.parent.filter(|parent| program.categories.live(*parent).is_some());
    let children = program.categories.all_live().filter(|child| child.parent == Some(category.slug));
    children.map(|child| Category { parent, updated: now, ..child.clone() }).collect()
}

/// A parent is not at the end of as many categories as may stand below one another, together with those below the child;
/// and neither the child itself, where it is there already, nor below it.
fn check_parent(
    categories: &Records<Category>,
    parent: Slug,
    child: Option<(Slug, usize)>,
    violations: &mut Violations,
) {
    let Some(found) = categories.any(parent) else { return };
    let above = || std::iter::once(found).chain(bounds::followed(categories, found, |category| category.parent));
    let (slug, below) = child.unzip();
    if above().any(|category| Some(category.slug) == slug) {
        violations.add("parent", "must not be the category itself or a descendant of it");
    } else if above().count() + below.unwrap_or(0) > CHAIN {
        violations.add("parent", format!("makes more than {CHAIN} categories stand below one another"));
    }
}

#[cfg(test)]
mod tests;
