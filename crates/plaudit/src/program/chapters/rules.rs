//! Pure rules of chapters.

use super::{Chapter, IMAGE_WIDTH, MANAGERS, Manager, NAME_LENGTH, Status};
use crate::document::{self, Object};
use crate::input::{self, Members, Violations};
use crate::kind::Kind;
use crate::program::{Context, Program};
use crate::text::{JsonObject, Slug, Timestamp, Translated};

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

/// Reads the body of an update; what is wrong with it is told together with what [`update`] finds.
pub fn read_update(body: &JsonObject, context: &Context) -> (Update, Violations) {
    let mut members = Members::closed(body);
    let languages = &context.languages;
    let status = members.optional("status", input::one_of(Status::CHOICES));
    let texts = members.object("translated", |members| {
        let name = members.optional("name", input::translated(languages, NAME_LENGTH));
        if name.as_ref().and_then(|name| name.get(context.default_language)).is_some_and(|name| name.trim().is_empty())
        {
            members.fault("name", format!("{} must not be blank", context.default_language));
        }
        (name, members.optional("image_heading", input::translated(languages, NAME_LENGTH)))
    });
    let (name, image_heading) = texts.unwrap_or_default();
    let max_image_width = members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH));
    let managers = members.optional("managers", input::list(MANAGERS, input::slug));
    if let Some(managers) = &managers {
        for (index, manager) in managers.iter().enumerate() {
            if managers[..index].contains(manager) {
                members.fault("managers", format!("names {manager} twice"));
            }
        }
    }
    (Update { status, name, image_heading, max_image_width, managers }, members.finish())
}

/// The chapter after an update that was read with these violations; `found` are the users among the named managers that
/// the account has.
pub fn update(
    chapter: &Chapter,
    (update, mut violations): (Update, Violations),
    found: &[Manager],
    now: Timestamp,
) -> Result<Chapter, Violations> {
    let mut changed = chapter.clone();
    changed.status = update.status.unwrap_or(changed.status);
    if let Some(name) = update.name {
        changed.name.merge(name);
    }
    if let Some(image_heading) = update.image_heading {
        changed.image_heading.merge(image_heading);
    }
    changed.max_image_width = update.max_image_width.unwrap_or(changed.max_image_width);
    if let Some(managers) = update.managers {
        changed.managers.clear();
        for slug in managers {
            match found.iter().find(|manager| manager.slug == slug) {
                Some(manager) => changed.managers.push(manager.clone()),
                None => violations.add("managers", format!("{slug} is no user of the account")),
            }
        }
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
                list.object(|object| write_manager(object, manager));
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

fn write_manager(object: &mut Object<'_>, manager: &Manager) {
    object.slug("slug", manager.slug);
    object.link("link", Kind::User, manager.slug.as_str());
    object.text("first_name", &manager.first_name);
    object.text("last_name", &manager.last_name);
}
