//! The set-up of a file: held in memory, laid over what the account has, and checked as a whole.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Error;
use super::fault::Place;
use super::import::{Import, Item};
use super::reading::Held;
use super::store::{self, Found, SetupRow};
use crate::db::{Db, DbError, Settings, migrate};
use crate::input::Violations;
use crate::kind::Kind;
use crate::program::accounts::{self, Account};
use crate::program::categories::{self, Category};
use crate::program::chapters::{Chapter, Manager};
use crate::program::fields::Field;
use crate::program::forms::Form;
use crate::program::prices::Price;
use crate::program::roles::Role;
use crate::program::seasons::{Season, Status};
use crate::program::tabs::Tab;
use crate::program::taxes::Tax;
use crate::program::{Context, Program, SetupRecord, store as program_store};
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
    match kind {
        Kind::Season => program.seasons.any(slug).is_some(),
        Kind::Chapter => program.chapters.any(slug).is_some(),
        Kind::Form => program.forms.any(slug).is_some(),
        Kind::Tab => program.tabs.any(slug).is_some(),
        Kind::Category => program.categories.any(slug).is_some(),
        Kind::Field => program.fields.any(slug).is_some(),
        Kind::Role => program.roles.any(slug).is_some(),
        Kind::Tax => program.taxes.any(slug).is_some(),
        Kind::Price => program.prices.any(slug).is_some(),
        _ => false,
    }
}

/// Reads a set-up record: its stored form, whether it is what is stored, and what it refers to.
fn read(
    item: &mut Item,
    context: &Context,
    faults: &mut super::fault::Faults<'_>,
) -> Option<(String, bool, References)> {
    fn typed<T: SetupRecord>(
        item: &mut Item,
        context: &Context,
        faults: &mut super::fault::Faults<'_>,
    ) -> Option<(String, bool, References)> {
        let is_stored = |value: &T, found: &Found| program_store::stored(value) == found.doc;
        let (value, is_same) = item.read_current::<T>(context, is_stored, faults)?;
        Some((program_store::stored(&value), is_same, value.references()))
    }
    match item.place.kind {
        Kind::Season => typed::<Season>(item, context, faults),
        Kind::Chapter => typed::<Chapter>(item, context, faults),
        Kind::Form => typed::<Form>(item, context, faults),
        Kind::Tab => typed::<Tab>(item, context, faults),
        Kind::Category => typed::<Category>(item, context, faults),
        Kind::Field => typed::<Field>(item, context, faults),
        Kind::Role => typed::<Role>(item, context, faults),
        Kind::Tax => typed::<Tax>(item, context, faults),
        Kind::Price => typed::<Price>(item, context, faults),
        _ => None,
    }
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
        let mut merged = stored.clone();
        merged.extend(changed.iter().map(|(key, row)| (*key, row.clone())));
        let mut program = load(account, merged).await?;
        program.id = self.id;
        program.context = context;
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
        for category in program.categories.all() {
            let (category, violations) = (&category.value, categories::check(&category.value, program));
            if violations.is_empty() {
                continue;
            }
            // A category that the file does not have can only be wrong because of what it refers to.
            let line = line_of(Kind::Category, category.slug)
                .or_else(|| category.references().into_iter().find_map(|(_, kind, slug)| line_of(kind, slug)));
            self.tell(Kind::Category, category.slug, line, &violations);
        }
        for field in program.fields.all() {
            let violations = check_field(&field.value, program);
            if !violations.is_empty() {
                let line = line_of(Kind::Field, field.value.slug)
                    .or_else(|| field.value.references().into_iter().find_map(|(_, kind, slug)| line_of(kind, slug)));
                self.tell(Kind::Field, field.value.slug, line, &violations);
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

    /// Writes what has changed of the set-up, chapters with the names of their managers, and notes the entries whose
    /// documents show it.
    pub(super) async fn write_setup(&mut self, program: &Program, mut changes: Changes) -> Result<(), Error> {
        if !self.faults.is_empty() {
            return Ok(());
        }
        for chapter in program.chapters.all().filter(|chapter| !chapter.value.managers.is_empty()) {
            self.name_managers(&chapter.value, &mut changes).await?;
        }
        let mut reparented = HashSet::new();
        for ((kind, slug), row) in &changes.changed {
            if let (Kind::Category, Some(before)) = (kind, changes.stored.get(&(*kind, *slug))) {
                let before: Category = program_store::parse(&before.doc, &program.context)?;
                if program.categories.any(*slug).map(|category| category.parent) != Some(before.parent) {
                    reparented.insert(*slug);
                }
            }
            let revision = self.log(*kind, slug.as_str(), row.doc.clone()).await?;
            let row = SetupRow { revision, ..row.clone() };
            store::put_setup(&mut self.tx, self.id, *kind, *slug, row).await?;
        }
        if !changes.changed.is_empty() {
            program_store::raise_version(&mut self.tx, self.id).await?;
        }
        for category in reparented {
            for entry in crate::entries::store::of_category(&mut self.tx, self.id, category).await? {
                self.reading.names.note(store::Space::Touched, entry.as_str())?;
            }
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
    Found { deleted: row.deleted, doc, more: String::new() }
}

/// A chapter as a file has it, with managers of whom only the slug is said.
pub(super) fn without_names(mut chapter: Chapter) -> Chapter {
    for manager in &mut chapter.managers {
        manager.first_name.clear();
        manager.last_name.clear();
    }
    chapter
}

/// What is wrong with a field among the records that it refers to.
fn check_field(field: &Field, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let form_of_tab = field.tab.and_then(|tab| program.tabs.any(tab)).map(|tab| tab.form);
    if let (Some(stated), Some(form)) = (field.form, form_of_tab)
        && stated != form
    {
        violations.add("form", format!("is not the form of the tab, which is {form}"));
    }
    let form = field.form.or(form_of_tab).and_then(|form| program.forms.any(form));
    if let (Some(stated), Some(season)) = (field.season, form.and_then(|form| form.season))
        && stated != season
    {
        violations.add("season", format!("is not the season of the form, which is {season}"));
    }
    violations
}

/// The program that these records make, read by what reads it for the service: from a database, which is one of its own
/// because the import's transaction is seen by nobody else yet.
async fn load(account: &Account, rows: Rows) -> Result<Program, Error> {
    let directory = tempfile::Builder::new().prefix("plaudit-import-").tempdir()?;
    let settings = Settings::at(&format!("sqlite:{}", directory.path().join("program.db").display()));
    let db = Db::open(&settings).await?;
    migrate::run(&db, &settings).await?;
    let mut tx = db.begin().await?;
    let id = accounts::store::create(&mut tx, account).await?;
    for ((kind, slug), row) in rows {
        store::put_setup(&mut tx, id, kind, slug, row).await?;
    }
    tx.commit().await?;
    let clock = crate::clock::Clock::fixed(account.updated);
    let program = Program::load(&db, id, &Arc::from(""), &clock).await?;
    db.close().await;
    program.ok_or_else(|| DbError::Failed("the program of an import cannot be read".to_owned()).into())
}
