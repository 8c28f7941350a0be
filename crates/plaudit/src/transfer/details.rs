//! The contributors and attachments of a file.

use serde::Deserialize;

use super::Error;
use super::fault::SourceLocation;
use super::import::{Import, Item};
use super::store::Space;
use crate::program::fields::Resource;
use crate::program::tabs::TabKind;
use crate::program::{Program, Record, RecordMembers as _, store};
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::people::{self, PeopleRecord};
use crate::records::{StoredRow, entries};
use kernel::input::Members;
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Slug, Token};

/// What belongs to an entry.
#[derive(Deserialize)]
struct Owned {
    entry: Slug,
}

impl Import<'_> {
    /// Checks and writes a contributor, and notes its entry.
    pub(super) async fn contributor(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let is_stored = |value: &Contributor, found: &StoredRow| store::stored_as(value, found.deleted) == found.doc;
        let read = item.read_record::<Contributor>(&program.context, is_stored, &mut self.faults);
        let Some((contributor, is_same)) = read else {
            return self.check_unread(&item, Contributor::MEMBERS, program).await;
        };
        self.check_references(&item.location, program, contributor.references()).await?;
        self.check_tab(&item.location, program, (contributor.tab, TabKind::Contributors));
        if let Some(season) = item.object.get("season").and_then(Json::as_str).and_then(Slug::parse) {
            let stated = format!("{}{season}{}", contributor.entry, contributor.slug);
            self.reading.names.claim(Space::StatedSeason, &stated, item.location.line)?;
        }
        self.check_answers(&item.location, program, ("fields", Resource::Contributors), &contributor.fields)?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_child(&item, contributor.entry, contributor).await
    }

    /// Writes what belongs to an entry, and notes the entry.
    async fn write_child<T: PeopleRecord>(&mut self, item: &Item, entry: Slug, value: T) -> Result<(), Error> {
        self.note_entries(entry, item)?;
        self.write_record(item, value).await
    }

    /// Logs and writes a record.
    pub(super) async fn write_record<T: PeopleRecord>(&mut self, item: &Item, value: T) -> Result<(), Error> {
        let document = store::stored_as(&value, item.deleted);
        let revision = self.log(T::KIND, &item.location.name, document).await?;
        people::put(&mut self.tx, self.id, &Record { value, revision, deleted: item.deleted }, None).await?;
        Ok(())
    }

    /// Checks and writes an attachment, and notes its entry.
    pub(super) async fn attachment(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let Some(token) = Token::parse(&item.location.name) else { return Ok(()) };
        let reader = |members: &mut Members<'_>| Attachment::read(members, token.clone(), &program.context);
        let is_stored = |value: &Attachment, found: &StoredRow| store::stored_as(value, found.deleted) == found.doc;
        let read = item.read_current(&program.context, reader, is_stored, &mut self.faults);
        let Some((attachment, is_same)) = read else {
            return self.check_unread(&item, Attachment::MEMBERS, program).await;
        };
        self.check_references(&item.location, program, attachment.references()).await?;
        if !self.has(Kind::File, token.as_str()).await? {
            self.faults.member(&item.location, "token", format!("there is no file {token}"));
        }
        self.check_tab(&item.location, program, (attachment.tab, TabKind::Attachments));
        self.check_answers(
            &item.location,
            program,
            ("attachment_fields", Resource::Attachments),
            &attachment.attachment_fields,
        )?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_child(&item, attachment.entry, attachment).await
    }

    /// Tells of seasons that contributors state and that are not those of their entries, which come after them.
    pub(super) async fn check_seasons(&mut self) -> Result<(), Error> {
        let mut last = String::new();
        while self.faults.is_empty() {
            let noted = self.noted(Space::StatedSeason, None, &mut last).await?;
            if noted.is_empty() {
                break;
            }
            for stated in &noted {
                let parts = stated.split_at_checked(8).zip(stated.get(8..).and_then(|rest| rest.split_at_checked(8)));
                let Some(((entry, _), (season, contributor))) = parts else { continue };
                let Some(entry) = Slug::parse(entry) else { continue };
                let of_entry = entries::store::season_and_category(&mut self.tx, self.id, entry).await?;
                if let Some((of_entry, _)) = of_entry.filter(|(of_entry, _)| of_entry.as_str() != season) {
                    let line = self.reading.names.line_of(Space::StatedSeason, stated)?.unwrap_or_default();
                    let location = SourceLocation::new(line, Kind::Contributor, contributor);
                    let message = format!("is computed and must be {of_entry}, the season of the entry, or left out");
                    self.faults.member(&location, "season", message);
                }
            }
        }
        Ok(())
    }

    /// What belongs to an entry stands on a tab that is for it.
    fn check_tab(&mut self, location: &SourceLocation, program: &Program, (tab, kind): (Slug, TabKind)) {
        if let Some(found) = program.tabs.any(tab).filter(|found| found.kind != kind) {
            let message = format!(
                "{tab} is a tab of the type {}, and must be one of the type {}",
                found.kind.name(),
                kind.name()
            );
            self.faults.member(location, "tab", message);
        }
    }

    /// The documents of an entry show what belongs to it; so do those of the entry that it belonged to before.
    fn note_entries(&mut self, entry: Slug, item: &Item) -> Result<(), Error> {
        self.reading.names.claim(Space::Touched, entry.as_str(), item.location.line)?;
        let before: Option<Owned> = item.found.as_ref().and_then(|found| serde_json::from_str(&found.doc).ok());
        if let Some(before) = before.filter(|before| before.entry != entry) {
            self.reading.names.note(Space::Touched, before.entry.as_str())?;
        }
        Ok(())
    }
}
