//! The set-up of a file: held in memory, laid over what the account has, and checked as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Error;
use super::fault::{Faults, Place};
use super::import::{Import, Item};
use super::reading::Held;
use super::store::{self, Found, SetupRow};
use crate::input::Violations;
use crate::kind::Kind;
use crate::program::accounts::Account;
use crate::program::chapters::{Chapter, Manager};
use crate::program::seasons::Status;
use crate::program::{Context, InProgram, Program, Record, SetupRecord, for_setup_kind, store as program_store};
use crate::text::Slug;

type References = Vec<(&'static str, Kind, Slug)>;

/// The set-up records of an account by kind and slug.
type Rows = BTreeMap<(Kind, Slug), SetupRow>;

/// What of the set-up is to be written.
pub(super) struct Changes {
    /// What is stored.
    stored: Rows,
    /// The records of the file that are not what is stored, by kind and slug.
    changed: Rows,
}

/// A set-up record of the file that could be read.
struct Read {
    place: Place,
    references: References,
}

/// Whether the set-up has a record, even in the trash.
pub(super) fn is_in(program: &Program, kind: Kind, slug: Slug) -> bool {
    for_setup_kind!(kind, T => T::records(program).any(slug).is_some()).unwrap_or(false)
}

/// Reads a set-up record: its stored form, whether it is what is stored, and what it refers to.
fn read(item: &mut Item, context: &Context, faults: &mut Faults<'_>) -> Option<(String, bool, References)> {
    fn typed<T: SetupRecord>(
        item: &mut Item,
        context: &Context,
        faults: &mut Faults<'_>,
    ) -> Option<(String, bool, References)> {
        let is_stored = |value: &T, found: &Found| program_store::stored(value) == found.doc;
        let (value, is_same) = item.read_current::<T>(context, is_stored, faults)?;
        Some((program_store::stored(&value), is_same, value.references()))
    }
    for_setup_kind!(item.place.kind, T => typed::<T>(item, context, faults)).flatten()
}

/// What is wrong with the records of a kind among those that they refer to, each with its references.
fn check<T: InProgram>(program: &Program) -> Vec<(Slug, References, Violations)> {
    let checked = |record: &Record<T>| {
        let violations = record.value.check(program);
        (!violations.is_empty()).then(|| (record.value.slug(), record.value.references(), violations))
    };
    T::records(program).all().filter_map(checked).collect()
}

impl Import<'_> {
    /// Reads and checks the set-up of the file; gives the program as it will be, and what is to be written.
    pub(super) async fn setup(&mut self, account: &Account) -> Result<(Program, Changes), Error> {
        let context = account.context(self.origin.at);
        let mut stored = Rows::new();
        store::setup_rows(&mut self.tx, self.id, |kind, slug, row| {
            stored.insert((kind, slug), row);
        })
        .await?;
        let mut changed = Rows::new();
        let mut records = Vec::new();
        for Held { place, object } in std::mem::take(&mut self.reading.setup) {
            let Some(slug) = Slug::parse(&place.name) else { continue };
            let kind = place.kind;
            let found = stored.get(&(kind, slug)).map(|row| found(kind, row, &context));
            let mut item = Item::new(place, object, found, &mut self.faults);
            let Some((doc, is_same, references)) = read(&mut item, &context, &mut self.faults) else { continue };
            if !is_same {
                changed.insert((kind, slug), SetupRow { deleted: item.deleted, revision: 0, doc });
            }
            records.push(Read { place: item.place, references });
        }
        let mut program = Program::new(self.id, 0, account.clone(), &Arc::from(""), self.origin.at);
        for ((kind, slug), row) in &stored {
            let row = changed.get(&(*kind, *slug)).unwrap_or(row);
            program.add(*kind, &row.as_record())?;
        }
        for ((kind, _), row) in changed.iter().filter(|(key, _)| !stored.contains_key(key)) {
            program.add(*kind, &row.as_record())?;
        }
        self.check_setup(&program, &records);
        for Read { place, references } in records {
            self.check_references(&place, &program, references).await?;
        }
        Ok((program, Changes { stored, changed }))
    }

    /// What records of the set-up must be to each other.
    fn check_setup(&mut self, program: &Program, records: &[Read]) {
        let line_of = |kind: Kind, slug: Slug| {
            let name = slug.to_string();
            records.iter().find(|read| read.place.kind == kind && read.place.name == name).map(|read| read.place.line)
        };
        for kind in Kind::ALL {
            for (slug, references, violations) in for_setup_kind!(kind, T => check::<T>(program)).unwrap_or_default() {
                // A record that the file does not have can only be wrong because of what it refers to.
                let line = line_of(kind, slug)
                    .or_else(|| references.into_iter().find_map(|(_, kind, slug)| line_of(kind, slug)));
                self.tell(kind, slug, line, &violations);
            }
        }
        let active: Vec<Slug> = program
            .seasons
            .all_live()
            .filter(|season| season.status == Status::Active)
            .map(|season| season.slug)
            .collect();
        if active.len() > 1 {
            let last = active.iter().max_by_key(|slug| line_of(Kind::Season, **slug)).copied();
            let mut violations = Violations::default();
            let others = active.iter().filter(|slug| Some(**slug) != last).map(Slug::as_str).collect::<Vec<_>>();
            violations.add("status", format!("active is the status of {} already", others.join(", ")));
            if let Some(last) = last {
                self.tell(Kind::Season, last, line_of(Kind::Season, last), &violations);
            }
        }
    }

    fn tell(&mut self, kind: Kind, slug: Slug, line: Option<u64>, violations: &Violations) {
        let place = Place { line: line.unwrap_or_default(), kind, name: slug.to_string() };
        for (member, message) in violations.iter() {
            self.faults.stored(line, &place, member, message);
        }
    }

    /// Writes what has changed of the set-up, chapters with the names of their managers.
    pub(super) async fn write_setup(&mut self, program: &Program, mut changes: Changes) -> Result<(), Error> {
        if !self.faults.is_empty() {
            return Ok(());
        }
        for chapter in program.chapters.all().filter(|chapter| !chapter.value.managers.is_empty()) {
            self.name_managers(&chapter.value, &mut changes).await?;
        }
        for ((kind, slug), row) in &changes.changed {
            let revision = self.log(*kind, slug.as_str(), row.doc.clone()).await?;
            let row = SetupRow { revision, ..row.clone() };
            store::put_setup(&mut self.tx, self.id, *kind, *slug, row).await?;
        }
        if !changes.changed.is_empty() {
            program_store::raise_version(&mut self.tx, self.id).await?;
        }
        Ok(())
    }

    /// A chapter shows the names of its managers; they may have changed although the chapter has not.
    async fn name_managers(&mut self, chapter: &Chapter, changes: &mut Changes) -> Result<(), Error> {
        let mut chapter = chapter.clone();
        for Manager { slug, first_name, last_name } in &mut chapter.managers {
            if let Some(user) = self.summary(*slug).await? {
                (*first_name, *last_name) = (user.first_name, user.last_name);
            }
        }
        let key = (Kind::Chapter, chapter.slug);
        let stored = changes.stored.get(&key);
        let deleted = changes.changed.get(&key).or(stored).is_some_and(|row| row.deleted);
        let row = SetupRow { deleted, revision: 0, doc: program_store::stored(&chapter) };
        if stored.is_some_and(|stored| stored.doc == row.doc && stored.deleted == row.deleted) {
            changes.changed.remove(&key);
        } else {
            changes.changed.insert(key, row);
        }
        Ok(())
    }
}

/// What is stored of a record of the set-up. The names of a chapter's managers are no part of what a file says of it.
fn found(kind: Kind, row: &SetupRow, context: &Context) -> Found {
    let mut doc = row.doc.clone();
    if kind == Kind::Chapter
        && let Ok(chapter) = program_store::parse::<Chapter>(&doc, context)
    {
        doc = program_store::stored(&without_names(chapter));
    }
    Found { deleted: row.deleted, doc, more: String::new(), flag: false }
}

/// A chapter as a file has it, with managers of whom only the slug is said.
pub(super) fn without_names(mut chapter: Chapter) -> Chapter {
    for manager in &mut chapter.managers {
        manager.first_name.clear();
        manager.last_name.clear();
    }
    chapter
}
