//! The snapshot of an account's set-up, its loading and its keeping.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use super::accounts::store::Mark;
use super::accounts::{self, Account};
use super::fields::{AnswerHead, Lengths};
use super::keys::{self, ApiKey};
use super::record::StoredContext;
use super::seasons::{Season, Status as SeasonStatus};
use super::views::Views;
use super::{Context, InProgram, Record, SetUp, for_setup_kind, store};
use db::{AccountId, DbError, Tx};
use kernel::clock::Clock;
use kernel::document;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp, Translated};

/// A reference as it is shown in the account's default language, in both formats.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The JSON object.
    pub json: String,
    /// What stands between the tags in XML.
    pub xml: Vec<u8>,
}

type Shown = OnceLock<Option<Arc<Fragment>>>;
type Heads = HashMap<Slug, OnceLock<Option<Arc<AnswerHead>>>, RandomState>;

/// What an account has set up, at one version: its set-up records, for which it stands, and what follows from them. A copy
/// shares the records with the original.
#[derive(Clone, Debug)]
pub struct Program {
    /// The account's number within the database.
    pub id: AccountId,
    /// The version that was read.
    pub version: i64,
    /// The account itself.
    pub account: Account,
    /// What reading a record depends on; its time is that of the loading.
    pub context: Context,
    /// How long what people write may be.
    pub lengths: Lengths,
    /// The account's API keys, each with the hash of its secret.
    pub keys: HashMap<Slug, (ApiKey, [u8; 32])>,
    set_up: SetUp,
    base_url: Arc<str>,
    /// What references show, made when it is first asked for: of most records it never is.
    fragments: HashMap<(char, Slug), Shown, RandomState>,
    /// What answers show of each field, made likewise.
    heads: Heads,
    /// What its lists are answered from.
    pub views: Views,
    /// The account's last change when it was loaded.
    mark: Mark,
    reading: Arc<StoredContext>,
}

/// What became of a snapshot that may be stale.
#[derive(Debug)]
pub(super) enum Renewal {
    /// Nothing has changed.
    Same,
    /// It was brought up to date.
    Changed(Program),
    /// It was loaded anew.
    Loaded(Program),
    /// There is no such account any more.
    Gone,
}

fn parsed<T: InProgram>(program: &Program, row: &Record<&str>) -> Result<(Slug, Record<T>), DbError> {
    let value: T = store::parse(row.value, &program.context)?;
    Ok((value.slug(), Record { revision: row.revision, deleted: row.deleted, value }))
}

fn unknown(kind: &str) -> DbError {
    DbError::Failed(format!("{kind} is no kind of set-up record"))
}

/// The account's own record is read before its languages are known.
fn open_context(now: Timestamp) -> Context {
    Context { languages: Vec::new(), default_language: Locale::EnGb, now }
}

impl Deref for Program {
    type Target = SetUp;

    fn deref(&self) -> &SetUp {
        &self.set_up
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut SetUp {
        &mut self.set_up
    }
}

impl Program {
    /// Loads the snapshot of an account as it stands in a transaction that sees one state. `None` where there is no such
    /// account.
    pub async fn load(tx: &mut Tx, id: AccountId, base_url: &Arc<str>, clock: &Clock) -> Result<Option<Self>, DbError> {
        let now = clock.now();
        let Some(state) = accounts::store::state(tx, id, None, &open_context(now)).await? else { return Ok(None) };
        let mut program = Self::new(id, state.version, state.account, base_url, now);
        program.mark = state.mark;
        store::each_since(tx, id, 0, |kind, slug, row| program.push(kind, slug, &row)).await?;
        program.load_keys(tx).await?;
        program.complete();
        Ok(Some(program))
    }

    /// The snapshot as it is in a transaction that sees one state: of the records only those are read that were changed
    /// since.
    pub(super) async fn renewed(&self, tx: &mut Tx, clock: &Clock) -> Result<Renewal, DbError> {
        let now = clock.now();
        let state = accounts::store::state(tx, self.id, Some(self.mark), &open_context(now)).await?;
        let Some(state) = state else { return Ok(Renewal::Gone) };
        if state.version == self.version && state.is_continued && !self.is_broken() {
            return Ok(Renewal::Same);
        }
        let context = state.account.context(now);
        // Other languages would be read and shown in every record.
        let is_read_alike =
            context.languages == self.context.languages && context.default_language == self.context.default_language;
        if !state.is_continued || !is_read_alike || self.is_broken() {
            let loaded = Self::load(tx, self.id, &self.base_url, clock).await?;
            return Ok(loaded.map_or(Renewal::Gone, Renewal::Loaded));
        }
        let mut program =
            Self { version: state.version, account: state.account, context, mark: state.mark, ..self.clone() };
        let mut changed = Vec::new();
        let read = store::each_since(tx, self.id, self.mark.sequence, |kind, _, row| {
            changed.push(program.add_named(kind, &row)?);
            Ok(())
        });
        if let Err(error) = read.await {
            // In a snapshot that is loaded a record that cannot be read is a fault for those alone who ask for it.
            tracing::warn!(%error, "what was changed of a program cannot be read");
            let loaded = Self::load(tx, self.id, &self.base_url, clock).await?;
            return Ok(loaded.map_or(Renewal::Gone, Renewal::Loaded));
        }
        program.load_keys(tx).await?;
        // The place of an answer depends on its tab.
        if changed.iter().any(|(kind, _)| matches!(kind, Kind::Field | Kind::Tab)) {
            program.forget_heads();
        }
        for (kind, slug) in changed {
            program.forget_shown(kind, slug);
        }
        Ok(Renewal::Changed(program))
    }

    async fn load_keys(&mut self, tx: &mut Tx) -> Result<(), DbError> {
        let (context, keys) = (&self.context, &mut self.keys);
        keys.clear();
        keys::store::each(tx, self.id, context, |key, hash| {
            keys.insert(key.slug, (key, hash));
        })
        .await
    }

    /// Whether it is of a later state of the account than another snapshot.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.version != other.version && self.mark.sequence > other.mark.sequence
    }

    /// The program of an account without any records.
    pub fn new(id: AccountId, version: i64, account: Account, base_url: &Arc<str>, now: Timestamp) -> Self {
        Self {
            id,
            version,
            context: account.context(now),
            lengths: Lengths::default(),
            reading: Arc::new(StoredContext::new(account.context(now))),
            account,
            keys: HashMap::new(),
            set_up: SetUp::default(),
            base_url: Arc::clone(base_url),
            fragments: HashMap::default(),
            heads: Heads::default(),
            views: Views::default(),
            mark: Mark::default(),
        }
    }

    /// Adds or replaces a record in its stored form; gives its slug.
    pub fn add(&mut self, kind: Kind, row: &Record<&str>) -> Result<Slug, DbError> {
        fn add<T: InProgram>(program: &mut Program, row: &Record<&str>) -> Result<Slug, DbError> {
            let (slug, record) = parsed::<T>(program, row)?;
            T::records_mut(program).insert(slug, record);
            Ok(slug)
        }
        self.views = Views::default();
        for_setup_kind!(kind, T => add::<T>(self, row)).unwrap_or_else(|| Err(unknown(kind.name())))
    }

    /// Adds a record, of which the latest stays when the program is completed.
    fn push(&mut self, kind: &str, slug: Slug, row: &Record<&str>) -> Result<(), DbError> {
        fn push<T: InProgram>(program: &mut Program, slug: Slug, row: &Record<&str>) {
            let reading = Arc::clone(&program.reading);
            T::records_mut(program).push(slug, row, &reading);
        }
        let known = Kind::named(kind).ok_or_else(|| unknown(kind))?;
        for_setup_kind!(known, T => push::<T>(self, slug, row)).ok_or_else(|| unknown(kind))
    }

    /// Whether a record was asked for that cannot be read. What was made of such a program is not to be believed.
    pub fn is_broken(&self) -> bool {
        self.reading.is_broken()
    }

    /// An error where the program is broken: what nobody asked for ends with it before it commits what it made.
    pub fn intact(&self) -> Result<(), DbError> {
        if self.is_broken() { Err(DbError::Failed("the program cannot be read".to_owned())) } else { Ok(()) }
    }

    fn add_named(&mut self, kind: &str, row: &Record<&str>) -> Result<(Kind, Slug), DbError> {
        let kind = Kind::named(kind).ok_or_else(|| unknown(kind))?;
        Ok((kind, self.add(kind, row)?))
    }

    /// Arranges the records when all of them are there, and makes room for what is shown of them.
    pub fn complete(&mut self) {
        fn slugs<T: InProgram>(program: &mut Program) -> Vec<Slug> {
            let records = T::records_mut(program);
            records.arrange();
            records.slugs().collect()
        }
        for kind in Kind::ALL {
            for slug in for_setup_kind!(kind, T => slugs::<T>(self)).unwrap_or_default() {
                self.forget_shown(kind, slug);
            }
        }
        self.fragments.shrink_to_fit();
        self.forget_heads();
    }

    /// What references to a record show is made anew when it is next asked for.
    fn forget_shown(&mut self, kind: Kind, slug: Slug) {
        self.fragments.insert((kind.letter(), slug), Shown::new());
    }

    /// What answers show of fields is made anew when it is next asked for.
    fn forget_heads(&mut self) {
        self.heads = self.fields.slugs().map(|slug| (slug, OnceLock::new())).collect();
    }

    /// What answers to a field show of it in the default language; nothing where it is in the trash.
    pub fn answer_head(&self, slug: Slug) -> Option<&AnswerHead> {
        let make = || {
            let field = self.fields.shared_live(slug)?;
            let locales = [self.account.default_language];
            Some(Arc::new(AnswerHead::of(field, &self.tabs, &self.base_url, &locales)))
        };
        self.heads.get(&slug)?.get_or_init(make).as_deref()
    }

    /// A reference in the default language, made once for a snapshot.
    pub fn fragment(&self, letter: char, slug: Slug) -> Option<&Fragment> {
        let make = || {
            let mut json = self.reference(letter, slug, &[self.account.default_language])?;
            let mut xml = document::inner_xml(&json);
            json.shrink_to_fit();
            xml.shrink_to_fit();
            Some(Arc::new(Fragment { json, xml }))
        };
        self.fragments.get(&(letter, slug))?.get_or_init(make).as_deref()
    }

    /// The JSON object that a reference shows in these locales: `{slug, link, name}`, with `title` in place of `name`
    /// for a price, and `{slug, type, created_at, updated_at}` for a tab (specification, sections 1, 2.4 and 2.7).
    pub fn reference(&self, letter: char, slug: Slug, locales: &[Locale]) -> Option<String> {
        fn name_of<T: InProgram>(program: &Program, slug: Slug) -> Option<&Translated> {
            T::records(program).any(slug)?.name()
        }
        let kind = Kind::ALL.into_iter().find(|kind| kind.letter() == letter)?;
        if kind == Kind::Tab {
            let tab = self.tabs.any(slug)?;
            return Some(document::object(|object| {
                object.slug("slug", slug);
                object.text("type", tab.kind.name());
                object.time("created_at", tab.created);
                object.time("updated_at", tab.updated);
            }));
        }
        let name = for_setup_kind!(kind, T => name_of::<T>(self, slug)).flatten()?;
        let member = if kind == Kind::Price { "title" } else { "name" };
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
    pub fn active_season(&self) -> Option<&Season> {
        self.seasons.all_live().find(|season| season.status == SeasonStatus::Active)
    }

    /// The deployment's base address, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}
