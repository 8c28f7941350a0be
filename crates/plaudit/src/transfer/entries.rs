//! The entries of a file. They come after what belongs to them, so that their documents are made once. The seasons in
//! which their entrants have entries are kept beside the users.

use std::collections::BTreeMap;

use super::Error;
use super::fault::SourceLocation;
use super::import::{Import, Item, REMEMBERED};
use super::store::Space;
use crate::program::fields::{Field, Resource};
use crate::program::{Program, Record, RecordMembers as _};
use crate::records::entries::rules::length::check_length;
use crate::records::entries::{self, Cause, CountChanges, Counts, Entry, RelatedData, Stated};
use crate::records::{Refusal, StoredRow, users};
use db::DbError;
use kernel::kind::Kind;
use kernel::text::Slug;

/// What the stage of entries knows.
struct Stage<'p> {
    program: &'p Program,
    /// The highest number that an entry of the account had before.
    last_local_id: i64,
    /// Whether it had contributors or attachments before.
    had_details: bool,
    next_local_id: i64,
    counts: CountChanges,
    /// The users and seasons of the entries that were written; true where there is such an entry for certain.
    seasons: BTreeMap<Slug, BTreeMap<Slug, bool>>,
}

impl Import<'_> {
    /// Checks and writes the entries.
    pub(super) async fn entries(&mut self, program: &Program, had_details: bool) -> Result<(), Error> {
        let mut queue = self.begin(Kind::Entry).await?;
        let last_local_id = entries::store::last_local_id(&mut self.tx, self.id).await?;
        let next_local_id = last_local_id.max(self.reading.last_local_id).saturating_add(1);
        let mut stage = Stage {
            program,
            last_local_id,
            had_details,
            next_local_id,
            counts: CountChanges::default(),
            seasons: BTreeMap::new(),
        };
        while let Some(batch) = self.batch(&mut queue).await? {
            if stage.seasons.len() >= REMEMBERED {
                self.note_seasons(&mut stage).await?;
            }
            for item in batch {
                self.entry(&mut stage, item).await?;
            }
        }
        self.note_seasons(&mut stage).await?;
        if self.faults.is_empty() {
            entries::store::write_counts(&mut self.tx, self.id, stage.counts).await?;
        }
        Ok(())
    }

    async fn entry(&mut self, stage: &mut Stage<'_>, mut item: Item) -> Result<(), Error> {
        let program = stage.program;
        let stated = Stated::of(&item.object);
        let is_numbered = item.object.get("local_id").is_some();
        if item.object.get("payment_status").is_none() {
            item.keep([("payment_status", "payment_status")]);
            self.reading.names.note(Space::UnstatedPayment, &item.location.name)?;
        }
        entries::complete(&mut item.object, program, stage.next_local_id);
        if !is_numbered {
            stage.next_local_id = stage.next_local_id.saturating_add(1);
        }
        let before = item.found.as_ref().map(entries::store::of_row).transpose()?;
        let is_stored = |entry: &Entry, _: &StoredRow| before.as_ref() == Some(entry);
        let read = item.read_record::<Entry>(&program.context, is_stored, &mut self.faults);
        let Some((entry, _)) = read else { return self.check_unread(&item, Entry::MEMBERS, program).await };
        self.check_references(&item.location, program, entry.references()).await?;
        self.check_answers(&item.location, program, ("entry_fields", Resource::Entries), &entry.entry_fields)?;
        let parent = program.categories.any(entry.category).and_then(|category| category.parent);
        if stated.contradicts_parent(parent) {
            self.faults.member(&item.location, "parent_category", "contradicts the parent of the category");
        }
        let holder = if entry.local_id <= stage.last_local_id {
            entries::store::of_local_id(&mut self.tx, self.id, entry.local_id).await?
        } else {
            None
        };
        let number = entry.local_id.to_string();
        let unique = (Space::LocalId, super::store::Unique::LocalId);
        self.check_unique(&item.location, unique, ("local_id", &number), holder).await?;
        if !self.faults.is_empty() {
            return Ok(());
        }
        let around = self.related(stage, &entry).await?;
        let violations = stated.contradictions(around.counts);
        if !violations.is_empty() {
            self.faults.violations(&item.location, &violations);
            return Ok(());
        }
        if before.as_ref().is_some_and(|before| before.title != entry.title) {
            self.reading.names.note(Space::Retitled, entry.slug.as_str())?;
        }
        let held = before.as_ref().map(|before| (before.entrant, before.season));
        stage.note(held, (entry.entrant, entry.season), item.deleted);
        self.write_entry(item, entry, &around, (before, &mut stage.counts)).await
    }

    /// Keeps beside the users in which seasons they have entries.
    async fn note_seasons(&mut self, stage: &mut Stage<'_>) -> Result<(), Error> {
        if self.faults.is_empty() {
            for (user, seasons) in std::mem::take(&mut stage.seasons) {
                users::store::note_seasons(&mut self.tx, self.id, user, &seasons).await?;
            }
        }
        Ok(())
    }

    /// Writes an entry whose documents are not what is stored.
    async fn write_entry(
        &mut self,
        item: Item,
        entry: Entry,
        around: &RelatedData,
        (before, counts): (Option<Entry>, &mut CountChanges),
    ) -> Result<(), Error> {
        let doc = entry.document(around.counts, item.deleted);
        let detail = entries::detail(&entry.entry_fields, around);
        if item.found.as_ref().is_some_and(|found| found.doc == doc && found.detail == detail) {
            return Ok(());
        }
        let had = before.as_ref().zip(item.found.as_ref()).map(|(before, found)| (before, found.detail.as_str()));
        if let Err(message) = check_length(&self.deployment.lengths, had, &entry, [&doc, &detail]) {
            self.faults.member(&item.location, "entry_fields", message);
            return Ok(());
        }
        let revision = self.log(Kind::Entry, entry.slug.as_str(), kernel::document::whole(&doc, &detail)).await?;
        let before = before.as_ref().zip(item.found.as_ref()).map(|(before, found)| (before, found.deleted));
        let record = Record { value: entry, revision, deleted: item.deleted };
        entries::store::put(&mut self.tx, self.id, &record, around, before, counts).await?;
        Ok(())
    }

    /// What an entry shows of other records. Where nothing can belong to it, nothing is looked up.
    async fn related(&mut self, stage: &Stage<'_>, entry: &Entry) -> Result<RelatedData, DbError> {
        let program = stage.program;
        let is_file = |field: Slug| program.fields.any(field).is_some_and(Field::is_file);
        let has_details = stage.had_details
            || entry.entry_fields.iter().any(|(field, _)| is_file(field))
            || self.reading.names.line_of(Space::Touched, entry.slug.as_str())?.is_some();
        if has_details {
            return entries::store::related(&mut self.tx, self.id, program, entry).await;
        }
        Ok(RelatedData { contributors: Vec::new(), attachments: Vec::new(), counts: Counts::default() })
    }

    /// Makes the documents anew of entries that the file does not have and whose related data it has changed.
    pub(super) async fn refresh_entries(&mut self, program: &Program) -> Result<(), Error> {
        let mut last = String::new();
        while self.faults.is_empty() {
            let touched = self.noted(Space::Touched, Some(Kind::Entry), &mut last).await?;
            if touched.is_empty() {
                break;
            }
            for entry in touched.iter().filter_map(|entry| Slug::parse(entry)) {
                let (tx, cause) = (&mut self.tx, Cause::Import);
                match entries::store::refresh_detail(tx, self.id, program, &self.origin, entry, cause).await {
                    Ok(_) => {}
                    Err(Refusal::Invalid(violations)) => {
                        let line = self.reading.names.line_of(Space::Touched, entry.as_str())?.unwrap_or_default();
                        let location = SourceLocation::new(line, Kind::Entry, entry.as_str());
                        self.faults.violations(&location, &violations);
                    }
                    Err(refusal) => return Err(refusal.into()),
                }
            }
        }
        Ok(())
    }
}

impl Stage<'_> {
    /// Remembers the user and the season of an entry, and those that it had before.
    fn note(&mut self, held: Option<(Slug, Slug)>, (user, season): (Slug, Slug), deleted: bool) {
        let mut of = |user, season, is_there| {
            let known: &mut bool = self.seasons.entry(user).or_default().entry(season).or_default();
            *known = *known || is_there;
        };
        if let Some((user, season)) = held {
            of(user, season, false);
        }
        of(user, season, !deleted);
    }
}
