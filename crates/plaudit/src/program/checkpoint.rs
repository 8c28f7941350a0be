//! Checkpoints of set-ups: all records of an account in one compressed text, so that a large snapshot is loaded from few
//! bytes and one row.
//!
//! - A checkpoint holds every record as it stood after the change of its number. What was changed since is read from the
//!   records, so that an old checkpoint costs time and tells nothing wrong. It names its change by number and hash: one
//!   of another history, such as that of before a restored backup, is none.
//! - It is made from a snapshot by the node that had to read many records one by one for it, and is no part of the
//!   change log. It may be deleted at any time.
//! - One that cannot be read is passed over, and so is every one when a record of it turns out not to be readable.
//!
//! A record is a line: its kind, its slug, 1 where it is in the trash and else 0, its revision, and its stored form, with
//! tabs between them. Stored forms are JSON text of one line, in which tabs are escaped. The lines are compressed as one
//! LZ4 block behind their length.

use std::fmt::{Display, Write as _};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::{Program, Record, store};
use crate::db::{Db, DbError};
use crate::text::Slug;

/// From how many records on that were read one by one a checkpoint is worth making.
const RECORDS: usize = 256;
/// The share of all records that these must have: one of so many.
const SHARE: usize = 4;
/// The most bytes of lines; a larger set-up has no checkpoint.
const BYTES: usize = 16 << 20;
/// What the lines' length takes in front of the block.
const LENGTH: usize = 4;

/// Whether so many records, of so many in all, were too many to be read one by one.
pub(super) fn is_wanted(read_singly: usize, all: usize) -> bool {
    read_singly >= RECORDS && read_singly.saturating_mul(SHARE) >= all
}

/// The lines of a checkpoint.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    /// Adds a record.
    pub(super) fn add(&mut self, kind: &str, slug: Slug, record: &Record<impl Display>) {
        let Record { value, revision, deleted } = record;
        let _ = writeln!(self.0, "{kind}\t{slug}\t{}\t{revision}\t{value}", u8::from(*deleted));
    }

    /// The checkpoint; nothing where it would be too large.
    pub(super) fn packed(&self) -> Option<Vec<u8>> {
        (self.0.len() <= BYTES).then(|| lz4_flex::block::compress_prepend_size(self.0.as_bytes()))
    }

    /// The lines of a checkpoint; nothing where they cannot be read.
    pub(super) fn unpacked(packed: &[u8]) -> Option<Self> {
        let length = u32::from_le_bytes(*packed.first_chunk::<LENGTH>()?);
        if usize::try_from(length).ok()? > BYTES {
            return None;
        }
        String::from_utf8(lz4_flex::block::decompress_size_prepended(packed).ok()?).ok().map(Self)
    }

    /// The records with the name of their kind and their slug; nothing where a line cannot be read.
    pub(super) fn records(&self) -> Option<Vec<(&str, Slug, Record<&str>)>> {
        self.0.split_terminator('\n').map(record).collect()
    }
}

fn record(line: &str) -> Option<(&str, Slug, Record<&str>)> {
    let mut parts = line.splitn(5, '\t');
    let mut part = || parts.next();
    let (kind, slug, deleted, revision, value) = (part()?, part()?, part()?, part()?, part()?);
    Some((kind, Slug::parse(slug)?, Record { value, revision: revision.parse().ok()?, deleted: deleted == "1" }))
}

/// Checkpoints that are being written while requests are answered.
#[derive(Debug, Default)]
pub(super) struct Writing(Mutex<JoinSet<()>>);

impl Writing {
    /// Begins to write the checkpoint of a snapshot.
    pub(super) fn begin(&self, db: &Db, program: &Arc<Program>) {
        let (db, program) = (db.clone(), Arc::clone(program));
        let mut tasks = self.0.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            if let Err(error) = write(&db, program).await {
                tracing::warn!(%error, "the checkpoint of a set-up could not be written");
            }
        });
    }

    /// Waits until those that were begun are written.
    pub(super) async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.0.lock());
        tasks.join_all().await;
    }
}

async fn write(db: &Db, program: Arc<Program>) -> Result<(), DbError> {
    let (account, mark) = (program.id, program.mark());
    let packed = tokio::task::spawn_blocking(move || program.lines()?.packed()).await;
    let Some(packed) = packed.map_err(|error| DbError::Failed(error.to_string()))? else { return Ok(()) };
    db.write(account, (account, mark, packed), |tx, (account, mark, packed)| {
        Box::pin(store::put_checkpoint(tx, *account, *mark, packed))
    })
    .await
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn the_records_of_a_checkpoint_are_those_that_it_was_made_from(
            stored in vec(("[a-z_]{1,9}", "[A-Za-z]{8}", any::<bool>(), any::<i64>(), any::<String>()), 0..40),
        ) {
            let stored: Vec<_> = stored
                .iter()
                .map(|(kind, slug, deleted, revision, text)| {
                    let value = crate::document::object(|object| object.text("name", text));
                    (kind.as_str(), Slug::parse(slug).unwrap(), Record { value, revision: *revision, deleted: *deleted })
                })
                .collect();
            let mut lines = Lines::default();
            let mut expected = Vec::new();
            for (kind, slug, record) in &stored {
                let record = Record { value: record.value.as_str(), revision: record.revision, deleted: record.deleted };
                lines.add(kind, *slug, &record);
                expected.push((*kind, *slug, record));
            }
            let unpacked = Lines::unpacked(&lines.packed().unwrap()).unwrap();
            prop_assert_eq!(unpacked.records(), Some(expected));
        }

        #[test]
        fn bytes_that_are_no_checkpoint_are_passed_over(bytes in vec(any::<u8>(), 0..200)) {
            drop(Lines::unpacked(&bytes).as_ref().map(Lines::records));
        }
    }

    #[test]
    fn a_checkpoint_with_a_broken_line_or_a_length_that_lies_is_passed_over() {
        let mut lines = Lines::default();
        let value = json!({"slug": "Chapteraa"}).to_string();
        lines.add("chapter", Slug::parse("ChapterA").unwrap(), &Record { value: &value, revision: 7, deleted: true });
        assert_eq!(lines.records().unwrap().len(), 1);
        let mut packed = lines.packed().unwrap();
        packed[..LENGTH].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Lines::unpacked(&packed).is_none());
        lines.0.push_str("chapter\tChapterB\t0\tmany\t{}\n");
        assert!(lines.records().is_none());
    }

    #[test]
    fn few_records_read_singly_are_no_reason_for_a_checkpoint() {
        assert!(!is_wanted(255, 255));
        assert!(is_wanted(256, 256));
        assert!(!is_wanted(300, 2_000));
        assert!(is_wanted(500, 2_000));
    }
}
