//! The snapshot of an account's set-up, its loading and its keeping.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use parking_lot::RwLock;

use super::accounts::{self, Account};
use super::categories::Category;
use super::chapters::Chapter;
use super::criteria::Criterion;
use super::discounts::Discount;
use super::document_templates::DocumentTemplate;
use super::fields::Field;
use super::forms::Form;
use super::keys::{self, ApiKey};
use super::panels::Panel;
use super::prices::Price;
use super::review_stages::ReviewStage;
use super::roles::Role;
use super::rounds::Round;
use super::score_sets::ScoreSet;
use super::seasons::{Season, Status as SeasonStatus};
use super::tabs::Tab;
use super::taxes::Tax;
use super::{Context, InProgram, Record, Records, SetupRecord, for_setup_kind, store};
use crate::clock::Clock;
use crate::db::{AccountId, Db, DbError};
use crate::document;
use crate::kind::Kind;
use crate::text::{Locale, Slug, Timestamp, Translated};

/// A reference as it is shown in the account's default language, in both formats.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The JSON object.
    pub json: String,
    /// What stands between the tags in XML.
    pub xml: Vec<u8>,
}

/// Hashes slugs quickly: a page looks up hundreds of references. Slugs are drawn at random or chosen by the operator, so
/// that nobody gains by making them collide. A multiplication and a rotation a word.
#[derive(Clone, Copy, Debug, Default)]
struct SlugHasher(u64);

impl Hasher for SlugHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    }
}

/// What an account has set up, at one version.
#[derive(Debug)]
pub struct Program {
    /// The account's number within the database.
    pub id: AccountId,
    /// The version that was read.
    pub version: i64,
    /// The account itself.
    pub account: Account,
    /// What reading a record depends on; its time is that of the loading.
    pub context: Context,
    /// The account's API keys, each with the hash of its secret.
    pub keys: HashMap<Slug, (ApiKey, [u8; 32])>,
    /// Seasons.
    pub seasons: Records<Season>,
    /// Chapters.
    pub chapters: Records<Chapter>,
    /// Forms.
    pub forms: Records<Form>,
    /// Tabs of forms.
    pub tabs: Records<Tab>,
    /// Categories.
    pub categories: Records<Category>,
    /// Fields.
    pub fields: Records<Field>,
    /// Roles.
    pub roles: Records<Role>,
    /// Taxes.
    pub taxes: Records<Tax>,
    /// Prices.
    pub prices: Records<Price>,
    /// Discounts.
    pub discounts: Records<Discount>,
    /// Rounds.
    pub rounds: Records<Round>,
    /// Score sets.
    pub score_sets: Records<ScoreSet>,
    /// Criteria of score sets.
    pub criteria: Records<Criterion>,
    /// Panels of judges.
    pub panels: Records<Panel>,
    /// Review stages.
    pub review_stages: Records<ReviewStage>,
    /// Templates of documents.
    pub document_templates: Records<DocumentTemplate>,
    base_url: Arc<str>,
    fragments: HashMap<(char, Slug), Fragment, BuildHasherDefault<SlugHasher>>,
}

impl Program {
    /// Loads the snapshot of an account. `None` where there is no such account.
    pub async fn load(db: &Db, id: AccountId, base_url: &Arc<str>, clock: &Clock) -> Result<Option<Self>, DbError> {
        let now = clock.now();
        let open = Context { languages: Vec::new(), default_language: Locale::EnGb, now };
        let Some((version, account)) = accounts::store::versioned(db, id, &open).await? else { return Ok(None) };
        let mut program = Self::new(id, version, account, base_url, now);
        store::each(db, id, |kind, row| match Kind::named(kind) {
            Some(kind) => program.add(kind, &row),
            None => Err(DbError::Failed(format!("{kind} is no kind of record"))),
        })
        .await?;
        keys::store::each(db, id, &program.context.clone(), |key, hash| {
            program.keys.insert(key.slug, (key, hash));
        })
        .await?;
        program.complete();
        Ok(Some(program))
    }

    /// The program of an account without any records.
    #[must_use]
    pub fn new(id: AccountId, version: i64, account: Account, base_url: &Arc<str>, now: Timestamp) -> Self {
        Self {
            id,
            version,
            context: account.context(now),
            account,
            keys: HashMap::new(),
            seasons: Records::default(),
            chapters: Records::default(),
            forms: Records::default(),
            tabs: Records::default(),
            categories: Records::default(),
            fields: Records::default(),
            roles: Records::default(),
            taxes: Records::default(),
            prices: Records::default(),
            discounts: Records::default(),
            rounds: Records::default(),
            score_sets: Records::default(),
            criteria: Records::default(),
            panels: Records::default(),
            review_stages: Records::default(),
            document_templates: Records::default(),
            base_url: Arc::clone(base_url),
            fragments: HashMap::default(),
        }
    }

    /// Adds a record in its stored form.
    pub fn add(&mut self, kind: Kind, row: &Record<&str>) -> Result<(), DbError> {
        fn parsed<T: InProgram>(program: &mut Program, row: &Record<&str>) -> Result<(), DbError> {
            let value: T = store::parse(row.value, &program.context)?;
            let record = Record { revision: row.revision, deleted: row.deleted, value };
            T::records_mut(program).insert(record.value.slug(), record);
            Ok(())
        }
        for_setup_kind!(kind, T => parsed::<T>(self, row))
            .unwrap_or_else(|| Err(DbError::Failed(format!("{kind} is no kind of set-up record"))))
    }

    /// Makes what references show, when all records are there.
    pub fn complete(&mut self) {
        fn slugs<T: SetupRecord>(records: &Records<T>) -> impl Iterator<Item = (Kind, Slug)> + '_ {
            records.all().map(|record| (T::KIND, record.value.slug()))
        }
        let all: Vec<_> = slugs(&self.seasons)
            .chain(slugs(&self.chapters))
            .chain(slugs(&self.forms))
            .chain(slugs(&self.tabs))
            .chain(slugs(&self.categories))
            .chain(slugs(&self.roles))
            .chain(slugs(&self.prices))
            .chain(slugs(&self.rounds))
            .chain(slugs(&self.score_sets))
            .chain(slugs(&self.panels))
            .chain(slugs(&self.review_stages))
            .collect();
        let default = [self.account.default_language];
        for (kind, slug) in all {
            if let Some(json) = self.reference(kind.letter(), slug, &default) {
                let xml = document::inner_xml(&json);
                self.fragments.insert((kind.letter(), slug), Fragment { json, xml });
            }
        }
    }

    /// A reference in the default language, made once when the snapshot was loaded.
    #[must_use]
    pub fn fragment(&self, letter: char, slug: Slug) -> Option<&Fragment> {
        self.fragments.get(&(letter, slug))
    }

    /// The JSON object that a reference shows in these locales: `{slug, link, name}`, with `title` in place of `name`
    /// for a price, and `{slug, type, created_at, updated_at}` for a tab (specification, sections 1, 2.4 and 2.7).
    #[must_use]
    pub fn reference(&self, letter: char, slug: Slug, locales: &[Locale]) -> Option<String> {
        fn name_of<T: SetupRecord>(records: &Records<T>, slug: Slug) -> Option<(Kind, &'static str, &Translated)> {
            Some((T::KIND, "name", records.any(slug)?.name()?))
        }
        let (kind, member, name) = match letter {
            's' => name_of(&self.seasons, slug)?,
            'h' => name_of(&self.chapters, slug)?,
            'f' => name_of(&self.forms, slug)?,
            'c' => name_of(&self.categories, slug)?,
            'r' => name_of(&self.roles, slug)?,
            'R' => name_of(&self.rounds, slug)?,
            'S' => name_of(&self.score_sets, slug)?,
            'P' => name_of(&self.panels, slug)?,
            'v' => name_of(&self.review_stages, slug)?,
            'p' => (Kind::Price, "title", self.prices.any(slug)?.name()?),
            't' => {
                let tab = self.tabs.any(slug)?;
                return Some(document::object(|object| {
                    object.slug("slug", slug);
                    object.text("type", tab.kind.name());
                    object.time("created_at", tab.created);
                    object.time("updated_at", tab.updated);
                }));
            }
            _ => return None,
        };
        Some(document::object(|object| {
            object.slug("slug", slug);
            object.text("link", &format!("{}/{}/{slug}", self.base_url, kind.path()));
            object.object(member, |object| {
                for locale in locales {
                    object.text(locale.code(), name.in_locale(*locale));
                }
            });
        }))
    }

    /// The season that lists mean when they name none.
    #[must_use]
    pub fn active_season(&self) -> Option<&Season> {
        self.seasons.all_live().find(|season| season.status == SeasonStatus::Active)
    }

    /// The deployment's base address, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

/// The most snapshots that are kept; past it all are dropped and loaded again as they are asked for.
const KEPT: usize = 10_000;

/// The snapshots of a node.
#[derive(Debug)]
pub struct Programs {
    db: Db,
    clock: Clock,
    base_url: Arc<str>,
    loaded: RwLock<HashMap<AccountId, Arc<Program>>>,
    keys: RwLock<HashMap<[u8; 32], (AccountId, Slug)>>,
    turns: [tokio::sync::Mutex<()>; 64],
}

impl Programs {
    /// No snapshots yet.
    #[must_use]
    pub fn new(db: Db, clock: Clock, base_url: &str) -> Self {
        let turns = std::array::from_fn(|_| tokio::sync::Mutex::default());
        Self { db, clock, base_url: base_url.into(), loaded: RwLock::default(), keys: RwLock::default(), turns }
    }

    /// Waits for the account's turn, so that writes that have to run again do not outdate each other's snapshots.
    pub async fn turn(&self, account: AccountId) -> tokio::sync::MutexGuard<'_, ()> {
        let turn = usize::try_from(account.0.unsigned_abs() % self.turns.len() as u64).unwrap_or_default();
        self.turns[turn].lock().await
    }

    /// The snapshot at hand, or a new one. `None` where there is no such account.
    pub async fn get(&self, account: AccountId) -> Result<Option<Arc<Program>>, DbError> {
        let loaded = self.loaded.read().get(&account).cloned();
        match loaded {
            Some(program) => Ok(Some(program)),
            None => self.reload(account).await,
        }
    }

    /// A new snapshot.
    pub async fn reload(&self, account: AccountId) -> Result<Option<Arc<Program>>, DbError> {
        let program = Program::load(&self.db, account, &self.base_url, &self.clock).await?.map(Arc::new);
        let mut loaded = self.loaded.write();
        if loaded.len() >= KEPT {
            loaded.clear();
        }
        match &program {
            Some(program) => loaded.insert(account, Arc::clone(program)),
            None => loaded.remove(&account),
        };
        Ok(program)
    }

    /// The snapshot of `program`'s account as it is now: the same one where its version still is the account's.
    pub async fn confirm(&self, program: Arc<Program>) -> Result<Option<Arc<Program>>, DbError> {
        let version = accounts::store::version(&self.db, program.id).await?;
        if version == Some(program.version) { Ok(Some(program)) } else { self.reload(program.id).await }
    }

    /// The account and slug of the key with this hash. Whether the key is still good is told by the account's snapshot.
    pub async fn of_key(&self, hash: &[u8; 32]) -> Result<Option<(AccountId, Slug)>, DbError> {
        let known = self.keys.read().get(hash).copied();
        if known.is_some() {
            return Ok(known);
        }
        let found = keys::store::find_by_hash(&self.db, hash).await?;
        if let Some(found) = found {
            let mut keys = self.keys.write();
            if keys.len() >= KEPT {
                keys.clear();
            }
            keys.insert(*hash, found);
        }
        Ok(found)
    }
}
