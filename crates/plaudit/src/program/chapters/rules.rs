//! Pure rules of chapters.

use super::{Changes, Chapter};
use crate::program::roles::RoleType;
use crate::program::{Context, Program};
use kernel::document::{self};
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// A user who is named as a manager, with the roles that the user holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The user.
    pub slug: Slug,
    /// The user's roles.
    pub roles: Vec<Slug>,
}

/// Whether who holds these roles may manage chapters: one of them is that of a chapter manager or a program manager.
pub fn may_manage(program: &Program, roles: &[Slug]) -> bool {
    let mut kinds = roles.iter().filter_map(|role| program.roles.live(*role)).map(|role| role.kind);
    kinds.any(|kind| matches!(kind, RoleType::ChapterManager | RoleType::ProgramManager))
}

/// The managers of these slugs; `found` are those of them that are users of the account. Who manages the chapter `before` can stay,
/// also in the trash or without the role.
fn managers(
    named: Vec<Slug>,
    (before, found): (&[Slug], &[Candidate]),
    program: &Program,
    violations: &mut Violations,
) -> Vec<Slug> {
    let mut managers = Vec::with_capacity(named.len());
    for slug in named {
        match found.iter().find(|candidate| candidate.slug == slug) {
            _ if before.contains(&slug) => managers.push(slug),
            None => violations.add("managers", format!("{slug} is no user of the account")),
            Some(candidate) if !may_manage(program, &candidate.roles) => {
                violations.add("managers", format!("{slug} does not hold the role of a chapter manager"));
            }
            Some(_) => managers.push(slug),
        }
    }
    managers
}

/// The chapter that a body makes, which was read with these violations; `found` are the users among the named managers
/// that the account has.
pub fn create(
    program: &Program,
    (mut changes, mut violations): (Changes, Violations),
    found: &[Candidate],
    slug: Slug,
    now: Timestamp,
) -> Result<Chapter, Violations> {
    if let Some(season) = changes.season.filter(|season| program.seasons.live(*season).is_none()) {
        violations.add("season", format!("{season} is no season of the account"));
    }
    changes.managers = changes.managers.map(|named| managers(named, (&[], found), program, &mut violations));
    let made = || {
        let (season, name, _) = (changes.season?, changes.name.clone()?, changes.status?);
        let mut chapter = Chapter::blank(slug, season, name, &Context { now, ..program.context.clone() })?;
        changes.apply(&mut chapter);
        Some(chapter)
    };
    violations.or(made())
}

/// The chapter after an update that was read with these violations; `found` are the users among the named managers that
/// the account has.
pub fn update(
    program: &Program,
    chapter: &Chapter,
    (mut changes, mut violations): (Changes, Violations),
    found: &[Candidate],
    now: Timestamp,
) -> Result<Chapter, Violations> {
    changes.managers =
        changes.managers.map(|named| managers(named, (&chapter.managers, found), program, &mut violations));
    let mut after = chapter.clone();
    changes.apply(&mut after);
    if after != *chapter {
        after.updated = now;
    }
    violations.or(Some(after))
}

/// The chapter as it is shown (specification, section 2.6).
pub fn document(chapter: &Chapter, program: &Program, label: &str) -> String {
    document::object(|object| {
        object.slug("slug", chapter.slug);
        object.translated("name", &chapter.name);
        object.translated("description", &chapter.description);
        object.text("status", label);
        object.list("managers", |list| {
            for manager in &chapter.managers {
                list.manager(*manager);
            }
        });
        // A season that was destroyed since leaves no dangling reference.
        if program.seasons.any(chapter.season).is_some() {
            object.reference("season", Kind::Season, chapter.season);
        } else {
            object.null("season");
        }
        object.time("created", chapter.created);
        object.time("updated", chapter.updated);
    })
}

#[cfg(test)]
mod tests;
