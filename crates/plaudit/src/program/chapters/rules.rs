//! Pure rules of chapters.

use super::{Chapter, IMAGE_WIDTH, MANAGERS, Status};
use crate::program::NAME_LENGTH;
use crate::program::roles::RoleType;
use crate::program::{Context, Program};
use kernel::document::{self, Object};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The body of a create: what is `None` was left out or is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Create {
    season: Option<Slug>,
    status: Option<Status>,
    name: Option<Translated>,
    image_heading: Translated,
    max_image_width: Option<i64>,
    /// The managers, by slug.
    pub managers: Vec<Slug>,
}

/// The body of an update (specification, section 4.3): what is `None` keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The new status.
    pub status: Option<Status>,
    /// Texts that replace those of the same locales.
    pub name: Option<Translated>,
    /// Texts that replace those of the same locales.
    pub image_heading: Option<Translated>,
    /// The new width; `Some(None)` takes the limit away.
    pub max_image_width: Option<Option<i64>>,
    /// The new managers.
    pub managers: Option<Vec<Slug>>,
}

/// A user who is named as a manager, with the roles that the user holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The user.
    pub slug: Slug,
    /// The user's roles.
    pub roles: Vec<Slug>,
}

/// Whether who holds these roles may manage chapters: one of them is that of a chapter manager or a program manager.
#[must_use]
pub fn may_manage(program: &Program, roles: &[Slug]) -> bool {
    let mut kinds = roles.iter().filter_map(|role| program.roles.live(*role)).map(|role| role.kind);
    kinds.any(|kind| matches!(kind, RoleType::ChapterManager | RoleType::ProgramManager))
}

/// Reads the body of a create; what is wrong with it is told together with what [`create`] finds.
#[must_use]
pub fn read_create(body: &JsonObject, context: &Context) -> (Create, Violations) {
    let mut members = Members::closed(body);
    let season = members.required("season", input::slug);
    let status = members.required("status", input::one_of(Status::CHOICES));
    if !members.has("translated") {
        members.fault("translated", "is required");
    }
    let texts = members.object("translated", |members| {
        let name = members.required("name", context.name(true));
        (name, read_heading(members, context))
    });
    let (name, image_heading) = texts.unwrap_or_default();
    let max_image_width = members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH)).flatten();
    let managers = members.optional("managers", input::slugs(MANAGERS)).unwrap_or_default();
    let image_heading = image_heading.unwrap_or_default();
    (Create { season, status, name, image_heading, max_image_width, managers }, members.finish())
}

/// Reads the body of an update; what is wrong with it is told together with what [`update`] finds.
#[must_use]
pub fn read_update(body: &JsonObject, context: &Context) -> (Update, Violations) {
    let mut members = Members::closed(body);
    let status = members.optional("status", input::one_of(Status::CHOICES));
    let texts = members.object("translated", |members| {
        let name = members.optional("name", context.name(false));
        (name, read_heading(members, context))
    });
    let (name, image_heading) = texts.unwrap_or_default();
    let max_image_width = members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH));
    let managers = members.optional("managers", input::slugs(MANAGERS));
    (Update { status, name, image_heading, max_image_width, managers }, members.finish())
}

fn read_heading(members: &mut Members<'_>, context: &Context) -> Option<Translated> {
    members.optional("image_heading", input::translated(&context.languages, NAME_LENGTH))
}

/// Writes the members of create and update as they stand (contract, section 5).
pub(crate) fn write_settings(chapter: &Chapter, object: &mut Object<'_>) {
    object.slug("season", chapter.season);
    object.text("status", chapter.status.name());
    object.object("translated", |object| {
        object.translated("name", &chapter.name);
        object.translated("image_heading", &chapter.image_heading);
    });
    object.optional_integer("max_image_width", chapter.max_image_width);
    object.slugs("managers", &chapter.managers);
}

/// The managers of these slugs; `found` are those of them that are users of the account.
fn managers(named: Vec<Slug>, found: &[Candidate], program: &Program, violations: &mut Violations) -> Vec<Slug> {
    let mut managers = Vec::with_capacity(named.len());
    for slug in named {
        match found.iter().find(|candidate| candidate.slug == slug) {
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
    (create, mut violations): (Create, Violations),
    found: &[Candidate],
    slug: Slug,
    now: Timestamp,
) -> Result<Chapter, Violations> {
    if let Some(season) = create.season.filter(|season| program.seasons.live(*season).is_none()) {
        violations.add("season", format!("{season} is no season of the account"));
    }
    let managers = managers(create.managers, found, program, &mut violations);
    let made = || {
        Some(Chapter {
            slug,
            season: create.season?,
            name: create.name?,
            description: Translated::default(),
            status: create.status?,
            image_heading: create.image_heading,
            image: None,
            max_image_width: create.max_image_width,
            managers,
            created: now,
            updated: now,
        })
    };
    violations.or(made())
}

/// The chapter after an update that was read with these violations; `found` are the users among the named managers that
/// the account has.
pub fn update(
    program: &Program,
    chapter: &Chapter,
    (update, mut violations): (Update, Violations),
    found: &[Candidate],
    now: Timestamp,
) -> Result<Chapter, Violations> {
    let mut changed = chapter.clone();
    changed.status = update.status.unwrap_or(changed.status);
    if let Some(name) = update.name {
        changed.name.merge(&name);
    }
    if let Some(image_heading) = update.image_heading {
        changed.image_heading.merge(&image_heading);
    }
    changed.max_image_width = update.max_image_width.unwrap_or(changed.max_image_width);
    if let Some(named) = update.managers {
        changed.managers = managers(named, found, program, &mut violations);
    }
    if changed != *chapter {
        changed.updated = now;
    }
    violations.or(Some(changed))
}

/// The chapter as it is shown (specification, section 2.6).
#[must_use]
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
