//! A record of the set-up, and how it stands in the snapshot.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Program, RecordMembers, store};
use db::DbError;
use kernel::ids::Ids;
use kernel::input::{self, Violations};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp, Token, Translated};

/// What reading a record from outside depends on.
#[derive(Clone, Debug)]
pub struct Context {
    /// The languages of the account.
    pub languages: Vec<Locale>,
    /// The account's default language.
    pub default_language: Locale,
    /// The time of the run, for records that state none.
    pub now: Timestamp,
}

impl Context {
    /// The context for what may be in any language, such as what is stored already.
    pub fn any_language(now: Timestamp) -> Self {
        Self { languages: Locale::ALL.to_vec(), default_language: Locale::EnGb, now }
    }
}

/// What identifies a record.
pub trait RecordKey: Clone + Send + Sync + 'static {
    /// The member that has it.
    const MEMBER: &'static str;
    /// Reads it.
    const READ: fn(&Json) -> Result<Self, String>;

    /// Its text.
    fn as_str(&self) -> &str;
}

impl RecordKey for Slug {
    const MEMBER: &'static str = "slug";
    const READ: fn(&Json) -> Result<Self, String> = input::slug;

    fn as_str(&self) -> &str {
        self.as_str()
    }
}

impl RecordKey for Token {
    const MEMBER: &'static str = "token";
    const READ: fn(&Json) -> Result<Self, String> = input::token;

    fn as_str(&self) -> &str {
        self.as_str()
    }
}

/// A kind of record that is read from and written to its program-file form, which is what is stored.
pub trait StoredRecord: RecordMembers<Key: RecordKey> + Clone + Send + Sync + 'static {
    /// Its kind.
    const KIND: Kind;

    /// What identifies the record.
    fn key(&self) -> &Self::Key;
}

/// A kind of record that a slug identifies, such as every set-up record.
pub trait SetupRecord: StoredRecord<Key = Slug> {
    /// The record's slug.
    fn slug(&self) -> Slug {
        *self.key()
    }

    /// The name that references show, for kinds that are referred to.
    fn name(&self) -> Option<&Translated> {
        None
    }

    /// What is wrong with the record among those that it refers to. References to records that do not exist are found
    /// elsewhere.
    fn check(&self, _: &Program) -> Violations {
        Violations::default()
    }

    /// Whether the record can go to the trash: why not, in a sentence.
    fn trash(&self, _: &Program) -> Result<(), String> {
        Ok(())
    }
}

/// A set-up record with what the store knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<T> {
    /// The record.
    pub value: T,
    /// The sequence number of its last change.
    pub revision: i64,
    /// Whether it is in the trash.
    pub deleted: bool,
}

/// What stored records are read with, and whether one of them could not be.
#[derive(Debug)]
pub(super) struct StoredContext {
    context: Context,
    broken: AtomicBool,
}

impl StoredContext {
    pub(super) fn new(context: Context) -> Self {
        Self { context, broken: AtomicBool::new(false) }
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }
}

/// A record as it is stored.
struct Stored<T> {
    doc: Box<str>,
    reading: Arc<StoredContext>,
    read: fn(&str, &Context) -> Result<T, DbError>,
}

/// A record of the snapshot: at hand, or stored and read when it is first asked for.
struct Held<T> {
    revision: i64,
    deleted: bool,
    stored: Option<Stored<T>>,
    record: OnceLock<Option<Arc<Record<T>>>>,
}

impl<T> Held<T> {
    fn of(record: Record<T>) -> Self {
        let Record { revision, deleted, .. } = record;
        Self { revision, deleted, stored: None, record: OnceLock::from(Some(Arc::new(record))) }
    }

    fn record(&self) -> Option<&Arc<Record<T>>> {
        self.record.get_or_init(|| self.read()).as_ref()
    }

    fn read(&self) -> Option<Arc<Record<T>>> {
        let Stored { doc, reading, read } = self.stored.as_ref()?;
        match read(doc, &reading.context) {
            Ok(value) => Some(Arc::new(Record { value, revision: self.revision, deleted: self.deleted })),
            Err(error) => {
                tracing::error!(%error, "a program cannot be used");
                reading.broken.store(true, Ordering::Release);
                None
            }
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Held<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.record().fmt(formatter)
    }
}

/// The records of one kind, ordered by slug. A copy shares the records with the original.
#[derive(Debug)]
pub struct Records<T>(Vec<(Slug, Arc<Held<T>>)>);

impl<T> Clone for Records<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Records<T> {
    /// Adds or replaces a record.
    pub fn insert(&mut self, slug: Slug, record: Record<T>) {
        let record = Arc::new(Held::of(record));
        match self.0.last() {
            Some((last, _)) if *last >= slug => match self.position(slug) {
                Ok(index) => self.0[index].1 = record,
                Err(index) => self.0.insert(index, (slug, record)),
            },
            _ => self.0.push((slug, record)),
        }
    }

    /// Adds a stored record, wherever its place is. Nothing is found until they are arranged.
    pub(super) fn push(&mut self, slug: Slug, record: &Record<&str>, reading: &Arc<StoredContext>)
    where
        T: SetupRecord,
    {
        let Record { value: doc, revision, deleted } = *record;
        let stored = Stored { doc: doc.into(), reading: Arc::clone(reading), read: store::parse::<T> };
        let held = Held { revision, deleted, stored: Some(stored), record: OnceLock::new() };
        self.0.push((slug, Arc::new(held)));
    }

    /// Puts the records in order, of each the latest, and gives back the room that was made for more.
    pub(super) fn arrange(&mut self) {
        self.0.sort_unstable_by_key(|(slug, held)| (*slug, Reverse(held.revision)));
        self.0.dedup_by_key(|(slug, _)| *slug);
        self.0.shrink_to_fit();
    }

    fn position(&self, slug: Slug) -> Result<usize, usize> {
        self.0.binary_search_by_key(&slug, |(slug, _)| *slug)
    }

    fn find(&self, slug: Slug) -> Option<&Held<T>> {
        self.position(slug).ok().map(|index| &*self.0[index].1)
    }

    /// How many there are, those in the trash included.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The slugs of all records, in their order.
    pub fn slugs(&self) -> impl Iterator<Item = Slug> {
        self.0.iter().map(|(slug, _)| *slug)
    }

    /// The record, unless it is in the trash.
    pub fn live(&self, slug: Slug) -> Option<&T> {
        self.live_record(slug).map(|record| &record.value)
    }

    /// The record with what the store knows of it, unless it is in the trash.
    pub fn live_record(&self, slug: Slug) -> Option<&Record<T>> {
        self.find(slug).filter(|held| !held.deleted)?.record().map(|record| &**record)
    }

    /// The same, to be held on to.
    pub fn shared_live(&self, slug: Slug) -> Option<Arc<Record<T>>> {
        self.find(slug).filter(|held| !held.deleted)?.record().cloned()
    }

    /// The record, even in the trash.
    pub fn any(&self, slug: Slug) -> Option<&T> {
        self.find(slug)?.record().map(|record| &record.value)
    }

    /// A slug that none of them has.
    pub fn free_slug(&self, ids: &Ids) -> Slug {
        loop {
            let slug = ids.slug();
            if self.find(slug).is_none() {
                return slug;
            }
        }
    }

    /// All records that are not in the trash, by slug.
    pub fn all_live(&self) -> impl Iterator<Item = &T> {
        let held = self.0.iter().filter(|(_, held)| !held.deleted);
        held.filter_map(|(_, held)| held.record()).map(|record| &record.value)
    }

    /// All records with what the store knows of them, by slug.
    pub fn all(&self) -> impl Iterator<Item = &Record<T>> {
        self.0.iter().filter_map(|(_, held)| held.record()).map(|record| &**record)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_are_found_by_slug_and_come_in_its_order(inserted in vec(("[ab]{8}", any::<bool>()), 0..40)) {
            let mut records = Records::default();
            let mut expected = std::collections::BTreeMap::new();
            for (revision, (slug, deleted)) in (0..).zip(inserted) {
                let slug = Slug::parse(&slug).unwrap();
                records.insert(slug, Record { value: slug, revision, deleted });
                expected.insert(slug, (revision, deleted));
            }
            let all: Vec<_> = records.all().map(|record| (record.value, (record.revision, record.deleted))).collect();
            prop_assert_eq!(all, expected.clone().into_iter().collect::<Vec<_>>());
            let live: Vec<_> = expected.iter().filter(|(_, (_, deleted))| !deleted).map(|(slug, _)| *slug).collect();
            prop_assert_eq!(records.all_live().copied().collect::<Vec<_>>(), live.clone());
            for slug in expected.keys() {
                prop_assert_eq!(records.any(*slug), Some(slug));
                prop_assert_eq!(records.live(*slug).is_some(), live.contains(slug));
            }
            prop_assert_eq!(records.any(Slug::parse("cccccccc").unwrap()), None);
        }
    }
}
