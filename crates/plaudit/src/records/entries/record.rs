//! What program files may leave out of an entry, and what they may state that follows from others.

use crate::program::Program;
use crate::records::entries::Counts;
use kernel::input::{self, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::Slug;

/// What a record states of its computed members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// A parent that is stated to be null is not one that is left out.
#[allow(clippy::option_option)]
pub struct Stated {
    parent_category: Option<Option<Slug>>,
    contributor_count: Option<i64>,
    files_count: Option<i64>,
}

impl Stated {
    /// Looks them up in a record; what cannot be read is left to the reading of the record.
    pub fn of(record: &JsonObject) -> Self {
        let count = |name| record.get(name).and_then(|json| input::integer(0..=i64::MAX)(json).ok());
        Self {
            parent_category: record.get("parent_category").and_then(|json| match json {
                Json::Null => Some(None),
                json => input::slug(json).ok().map(Some),
            }),
            contributor_count: count("contributor_count"),
            files_count: count("files_count"),
        }
    }

    /// Whether it has the parent of the entry's category for another one.
    pub fn contradicts_parent(&self, parent: Option<Slug>) -> bool {
        self.parent_category.is_some_and(|stated| stated != parent)
    }

    /// Where it contradicts what was counted.
    pub fn contradictions(&self, counts: Counts) -> Violations {
        let mut violations = Violations::default();
        if self.contributor_count.is_some_and(|stated| stated != counts.contributors) {
            violations
                .add("contributor_count", format!("contradicts the contributors, who are {}", counts.contributors));
        }
        if self.files_count.is_some_and(|stated| stated != counts.files) {
            violations.add("files_count", format!("contradicts the files, which are {}", counts.files));
        }
        violations
    }
}

/// Adds the members that an entry's record may leave out and the program tells: the season and form of its category,
/// the first chapter of its season, and the next number.
pub fn complete(record: &mut JsonObject, program: &Program, next_local_id: i64) {
    let slug_of = |record: &JsonObject, name| record.get(name).and_then(|json| input::slug(json).ok());
    let add = |record: &mut JsonObject, name, value: Option<Slug>| {
        if let (None, Some(slug)) = (record.get(name), value) {
            record.set(name, Json::String(slug.to_string().into()));
        }
    };
    let category = slug_of(record, "category").and_then(|category| program.categories.any(category));
    add(record, "season", category.map(|category| category.season));
    add(record, "form", category.and_then(|category| category.form));
    let season = slug_of(record, "season");
    let chapters = program.chapters.all_live().filter(|chapter| Some(chapter.season) == season);
    let first = chapters.min_by_key(|chapter| (chapter.created, chapter.slug));
    add(record, "chapter", first.map(|chapter| chapter.slug));
    if record.get("local_id").is_none() {
        record.set("local_id", Json::Number(next_local_id.to_string().into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_must_agree_with_what_is_computed() {
        let parent = Slug::parse("AbCdEfGh").unwrap();
        let counts = Counts { contributors: 1, files: 2 };
        let number = |number: &'static str| Json::Number(number.into());
        let mut record = JsonObject::new();
        record.set("parent_category", Json::Null);
        record.set("contributor_count", number("1"));
        record.set("files_count", number("3"));
        let stated = Stated::of(&record);
        assert!(stated.contradictions(Counts { contributors: 1, files: 3 }).is_empty());
        assert!(stated.contradicts_parent(Some(parent)) && !stated.contradicts_parent(None));
        let found = stated.contradictions(counts);
        assert_eq!(found.iter().map(|(member, _)| member).collect::<Vec<_>>(), ["files_count"]);
        assert_eq!(Stated::of(&JsonObject::new()), Stated::default());
        assert!(Stated::default().contradictions(counts).is_empty());
        assert!(!Stated::default().contradicts_parent(Some(parent)));
    }
}
