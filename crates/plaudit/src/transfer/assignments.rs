//! The assignments of a file, with the scores that stand on lines of their own, and the conflicts, recusals, casting
//! votes and lots.

use std::collections::BTreeSet;

use super::Error;
use super::import::{Import, Item};
use super::setup::Changes;
use super::store::Space;
use crate::program::criteria::Criterion;
use crate::program::store::{parse, stored_as};
use crate::program::{Context, Program, Record, RecordMembers as _};
use crate::records::StoredRow;
use crate::records::assignments::{Assignment, AssignmentSlug, rules};
use crate::records::people::{self, OfScoreSet, PeopleRecord};
use crate::records::standings;
use db::Source;
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::Slug;

impl Import<'_> {
    /// Checks and writes an assignment, and what the sheets of its entry come to.
    pub(super) async fn assignment(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let Some(slug) = AssignmentSlug::parse(&item.location.name) else { return Ok(()) };
        self.join_lines(&mut item, Kind::Score, "scores")?;
        let states_status = item.object.get("status").is_some();
        let status = |value: &Assignment| Assignment { status: rules::status(value, program), ..value.clone() };
        let reader = |members: &mut Members<'_>| Assignment::read(members, slug, &program.context);
        let is_stored = |value: &Assignment, found: &StoredRow| stored_as(&status(value), found.deleted) == found.doc;
        let read = item.read_current(&program.context, reader, is_stored, &mut self.faults);
        let Some((read, is_same)) = read else { return self.check_unread(&item, Assignment::MEMBERS, program).await };
        let assignment = status(&read);
        if states_status && read.status != assignment.status {
            let message = format!("is computed and must be {} or left out", assignment.status);
            self.faults.member(&item.location, "status", message);
        }
        self.faults.violations(&item.location, &rules::check(&assignment, program));
        self.check_references(&item.location, program, assignment.references()).await?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        let before = item.found.as_ref().map(|found| stored(found, &program.context)).transpose()?;
        let document = stored_as(&assignment, item.deleted);
        let revision = self.log(Kind::Assignment, slug.as_str(), document).await?;
        let after = Record { value: assignment, revision, deleted: item.deleted };
        people::put(&mut self.tx, self.id, &after, None).await?;
        standings::store::shift(&mut self.tx, self.id, program, (before.as_ref(), None), &after).await?;
        Ok(())
    }

    /// Checks and writes a record whose references are all that is to be checked.
    pub(super) async fn simple<T>(&mut self, program: &Program, mut item: Item) -> Result<(), Error>
    where
        T: PeopleRecord<Key = Slug>,
    {
        let is_stored = |value: &T, found: &StoredRow| stored_as(value, found.deleted) == found.doc;
        let read = item.read_record::<T>(&program.context, is_stored, &mut self.faults);
        let Some((value, is_same)) = read else { return self.check_unread(&item, T::MEMBERS, program).await };
        self.check_references(&item.location, program, value.references()).await?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_record(&item, value).await
    }

    /// Checks and writes a record of which its score set has one.
    pub(super) async fn of_score_set<T: OfScoreSet>(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let is_stored = |value: &T, found: &StoredRow| stored_as(value, found.deleted) == found.doc;
        let read = item.read_record::<T>(&program.context, is_stored, &mut self.faults);
        let Some((value, is_same)) = read else { return self.check_unread(&item, T::MEMBERS, program).await };
        let location = &item.location;
        self.faults.violations(location, &value.check());
        self.check_references(location, program, value.references()).await?;
        if !item.deleted {
            let score_set = value.score_set();
            let space = Space::OfScoreSet(T::KIND);
            if let Some(first) = self.reading.names.claim(space, score_set.as_str(), location.line)? {
                self.faults.member(location, "score_set", format!("is that of line {first} too"));
            }
            let source = &mut Source::Snapshot(&mut self.tx);
            let stored = people::of_score_set::<T>(source, self.id, score_set, &program.context).await?;
            let other = stored.and_then(|(_, found)| found).map(|found| *found.value.key());
            // One that the file has as well is what the file says.
            if let Some(other) = other.filter(|other| other.as_str() != location.name)
                && !self.reading.names.has(T::KIND, other.as_str())?
            {
                self.faults.member(location, "score_set", format!("is that of the {} {other}", T::KIND));
            }
        }
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_record(&item, value).await
    }

    /// Has what stands of sheets follow the score sets and criteria that were changed.
    pub(super) async fn follow_criteria(&mut self, program: &Program, changes: &Changes) -> Result<(), Error> {
        if !self.faults.is_empty() || !self.has_any(Kind::Assignment).await? {
            return Ok(());
        }
        let mut score_sets = BTreeSet::new();
        for ((kind, slug), row) in &changes.changed {
            match kind {
                Kind::ScoreSet => {
                    score_sets.insert(*slug);
                }
                Kind::Criterion => {
                    let before = changes.stored.get(&(*kind, *slug)).into_iter();
                    for row in before.chain([row]) {
                        score_sets
                            .insert(parse::<Criterion>(&row.doc, &Context::any_language(self.origin.at))?.score_set);
                    }
                }
                _ => {}
            }
        }
        if !score_sets.is_empty() {
            standings::store::refresh(&mut self.tx, self.id, program, &self.origin, &score_sets).await?;
        }
        Ok(())
    }
}

/// The assignment of a row.
fn stored(row: &StoredRow, context: &Context) -> Result<Record<Assignment>, Error> {
    Ok(Record { value: parse(&row.doc, context)?, revision: row.revision, deleted: row.deleted })
}
