//! A record of the set-up, and how it stands in the snapshot.

use std::collections::BTreeMap;

use super::Program;
use crate::document::Object;
use crate::input::{Members, Violations};
use crate::kind::Kind;
use crate::text::{Locale, Slug, Timestamp, Translated};

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

/// A kind of set-up record: read from and written to its program-file form.
pub trait SetupRecord: Clone + Send + Sync + Sized + 'static {
    /// Its kind.
    const KIND: Kind;

    /// Reads the program-file form. `slug` is the record's own or the one that it is given; the members `kind` and
    /// `slug` have been read. What is wrong is left in `members`.
    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self>;

    /// Writes the members of the program-file form after `kind` and `slug`.
    fn write(&self, object: &mut Object<'_>);

    /// The record's slug.
    fn slug(&self) -> Slug;

    /// The name that references show, for kinds that are referred to.
    fn name(&self) -> Option<&Translated> {
        None
    }

    /// Every slug that the record refers to, with the member that does and the kind it must have.
    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        Vec::new()
    }

    /// What is wrong with the record among those that it refers to. References to records that do not exist are found
    /// elsewhere.
    fn check(&self, _: &Program) -> Violations {
        Violations::default()
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

/// The records of one kind, ordered by slug.
#[derive(Clone, Debug)]
pub struct Records<T>(BTreeMap<Slug, Record<T>>);

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Records<T> {
    /// Adds or replaces a record.
    pub fn insert(&mut self, slug: Slug, record: Record<T>) {
        self.0.insert(slug, record);
    }

    /// The record, unless it is in the trash.
    #[must_use]
    pub fn live(&self, slug: Slug) -> Option<&T> {
        self.0.get(&slug).filter(|record| !record.deleted).map(|record| &record.value)
    }

    /// The record with what the store knows of it, unless it is in the trash.
    #[must_use]
    pub fn live_record(&self, slug: Slug) -> Option<&Record<T>> {
        self.0.get(&slug).filter(|record| !record.deleted)
    }

    /// The record, even in the trash.
    #[must_use]
    pub fn any(&self, slug: Slug) -> Option<&T> {
        self.0.get(&slug).map(|record| &record.value)
    }

    /// All records that are not in the trash, by slug.
    pub fn all_live(&self) -> impl Iterator<Item = &T> {
        self.0.values().filter(|record| !record.deleted).map(|record| &record.value)
    }

    /// All records with what the store knows of them, by slug.
    pub fn all(&self) -> impl Iterator<Item = &Record<T>> {
        self.0.values()
    }
}
