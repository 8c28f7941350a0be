//! Pure rules of entries.

pub(crate) mod answers;
pub(crate) mod body;
pub(super) mod deadline;
pub(super) mod events;
pub(crate) mod length;
mod screening;
mod status;
pub(crate) mod tags;
pub(crate) mod writing;

use crate::program::Program;
use crate::program::categories::Category;
use crate::program::chapters::{Chapter, Status};
use crate::program::fields::FieldType;
use crate::program::seasons::Status as SeasonStatus;
use crate::records::Refusal;
use crate::records::answers::Answers;
use crate::records::entries::Entry;
use kernel::input::Violations;
use kernel::text::Slug;

/// The entry in another chapter.
pub fn change_chapter(program: &Program, entry: &Entry, chapter: Slug) -> Result<Entry, Refusal> {
    let violations =
        offered(program.chapters.live(chapter), Some(entry.season), program.categories.any(entry.category), chapter);
    if !violations.is_empty() {
        return Err(Refusal::Invalid(violations));
    }
    check_season(program, entry.season)?;
    if chapter != entry.chapter {
        check_unlocked(program, entry.category)?;
    }
    Ok(Entry { chapter, ..entry.clone() })
}

/// Refuses to change what belongs to an entry of a season that is over or of a locked category.
pub fn check_changeable(program: &Program, entry: &Entry) -> Result<(), Refusal> {
    check_season(program, entry.season)?;
    check_unlocked(program, entry.category)
}

/// Refuses to change an entry of a locked category.
fn check_unlocked(program: &Program, category: Slug) -> Result<(), Refusal> {
    match program.categories.any(category) {
        Some(category) if category.locked => {
            Err(Refusal::State("The category of the entry is locked, so that the entry cannot change.".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Refuses to change an entry of a season that is over.
pub(crate) fn check_season(program: &Program, season: Slug) -> Result<(), Refusal> {
    match season_status(program, season) {
        SeasonStatus::Draft | SeasonStatus::Active => Ok(()),
        SeasonStatus::Archived => Err(Refusal::State(
            "The season of the entry is archived, so that only its title, tags, moderation and grant can change."
                .to_owned(),
        )),
        SeasonStatus::Destroyed => Err(destroyed()),
    }
}

/// Refuses to change what can still change of an entry of an archived season: its title, tags, moderation and grant.
pub(crate) fn check_not_destroyed(program: &Program, season: Slug) -> Result<(), Refusal> {
    if season_status(program, season) == SeasonStatus::Destroyed { Err(destroyed()) } else { Ok(()) }
}

/// A season that is gone altogether was destroyed.
fn season_status(program: &Program, season: Slug) -> SeasonStatus {
    program.seasons.any(season).map_or(SeasonStatus::Destroyed, |season| season.status)
}

fn destroyed() -> Refusal {
    Refusal::State("The season of the entry is destroyed, so that the entry cannot change.".to_owned())
}

/// Whether an entrant who has entries in a category can have another one there; otherwise why not.
pub(crate) fn takes_another(category: &Category, has: i64) -> Result<(), String> {
    match category.entrant_max_entries {
        Some(most) if has >= most => Err(format!("takes at most {most} entries of one entrant, who has {has} in it")),
        _ => Ok(()),
    }
}

/// Why an entry of a season and category cannot be in a chapter: everything that applies. `found` is the chapter of
/// that slug, unless it is in the trash.
pub(crate) fn offered(
    found: Option<&Chapter>,
    season: Option<Slug>,
    category: Option<&Category>,
    chapter: Slug,
) -> Violations {
    let mut violations = Violations::default();
    let Some(found) = found else {
        violations.add("chapter", format!("{chapter} is no chapter of the account"));
        return violations;
    };
    if found.status != Status::Active {
        violations.add("chapter", "is not active");
    }
    if season.is_some_and(|season| found.season != season) {
        violations.add("chapter", "belongs to another season than the entry");
    }
    if category.is_some_and(|category| !category.offers(chapter)) {
        violations.add("chapter", "does not offer the category of the entry");
    }
    violations
}

/// How many of these answers are files.
pub(super) fn files_among(program: &Program, answers: &Answers) -> i64 {
    let is_file = |field| program.fields.any(field).is_some_and(|field| field.kind == FieldType::File);
    let files = answers.iter().filter(|(field, _)| is_file(*field));
    i64::try_from(files.count()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
