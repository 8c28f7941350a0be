//! The set-up of a file: held in memory, laid over what the account has, and checked as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Error;
use super::account::AccountOfFile as AboutAccount;
use super::fault::{Faults, SourceLocation};
use super::import::{Import, Item};
use super::reading::Held;
use super::schema::members;
use super::store::{self, Space};
use super::webhooks;
use crate::program::accounts::Account;
use crate::program::bounds;
use crate::program::chapters::{Candidate, may_manage};
use crate::program::fields::{self, Field, Resource};
use crate::program::seasons::{self, Season, Status};
use crate::program::tabs::{Tab, TabKind};
use crate::program::{
    Context, InProgram, Member, Program, Record, SetupRecord, for_setup_kind, references, store as program_store,
};
use crate::records::{StoredRow, entries, users};
use db::{AccountId, Tx};
use kernel::input::{self, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Token};

type References = Vec<(&'static str, Kind, Slug)>;

/// The set-up records of an account by kind and slug.
pub(super) type Rows = BTreeMap<(Kind, Slug), StoredRow>;

/// What of the set-up is to be written.
pub(super) struct Changes {
    /// What is stored.
    pub(super) stored: Rows,
    /// The records that will not be what is stored, by kind and slug.
    pub(super) changed: Rows,
    /// Where the file has the records that could be read.
    reads: Reads,
}

/// The set-up records of the file that could be read, by kind and slug.
type Reads = BTreeMap<(Kind, Slug), SourceLocation>;

/// The set-up of an account as it is stored.
pub(super) async fn rows_of(tx: &mut Tx, account: AccountId) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    program_store::each_since(tx, account, 0, |kind, slug, Record { value, revision, deleted }| {
        let row = StoredRow { revision, deleted, doc: value.to_owned(), ..StoredRow::default() };
        rows.extend(Kind::named(kind).map(|kind| ((kind, slug), row)));
        Ok(())
    })
    .await?;
    Ok(rows)
}

/// What was read of a set-up record: its stored form, whether it is what is stored, and the files that it names.
struct Told {
    doc: String,
    is_same: bool,
    files: Vec<(&'static str, Token)>,
}

/// Whether the set-up has a record, even in the trash.
pub(super) fn is_in(program: &Program, kind: Kind, slug: Slug) -> bool {
    for_setup_kind!(kind, T => T::records(program).any(slug).is_some()).unwrap_or(false)
}

/// Whether the set-up has a record that is not in the trash.
pub(super) fn is_live(program: &Program, kind: Kind, slug: Slug) -> bool {
    for_setup_kind!(kind, T => T::records(program).live(slug).is_some()).unwrap_or(false)
}

/// The members that a record keeps where an applied file leaves them out, with their own name for the other one too.
pub(super) fn kept(members: &'static [Member]) -> impl Iterator<Item = (&'static str, &'static str)> {
    members.iter().filter(|member| member.is_kept).map(|member| (member.name, member.name))
}

/// Reads a set-up record.
fn read(item: &mut Item, context: &Context, faults: &mut Faults<'_>) -> Option<Told> {
    fn typed<T: SetupRecord>(item: &mut Item, context: &Context, faults: &mut Faults<'_>) -> Option<Told> {
        let is_stored = |value: &T, found: &StoredRow| program_store::stored_as(value, found.deleted) == found.doc;
        let (value, is_same) = item.read_record::<T>(context, is_stored, faults)?;
        let files = value.files().into_iter().map(|(member, token)| (member, token.clone())).collect();
        Some(Told { doc: program_store::stored_as(&value, item.deleted), is_same, files })
    }
    for_setup_kind!(item.location.kind, T => typed::<T>(item, context, faults)).flatten()
}

/// What is wrong with the records of a kind among those that they refer to, each with its references. What is in the
/// trash does not have to fit.
fn check<T: InProgram>(program: &Program) -> Vec<(Slug, References, Violations)> {
    let checked = |value: &T| {
        let violations = value.check(program);
        (!violations.is_empty()).then(|| (value.slug(), value.references(), violations))
    };
    T::records(program).all_live().filter_map(checked).collect()
}

impl Import<'_> {
    /// The set-up as it is stored.
    pub(super) async fn stored_setup(&mut self) -> Result<Rows, Error> {
        rows_of(&mut self.tx, self.id).await
    }

    /// Reads and checks the set-up of the file; gives the program as it will be, and what is to be written.
    pub(super) async fn setup(&mut self, about: &AboutAccount, stored: Rows) -> Result<(Program, Changes), Error> {
        let account = &about.account;
        let context = account.context(self.origin.at);
        let mut written = Rows::new();
        let mut reads = Reads::new();
        let mut named = BTreeSet::new();
        let mut named_by = Vec::new();
        let mut named_files = Vec::new();
        let tabs = self.tabs(&stored)?;
        for Held { location, object } in std::mem::take(&mut self.reading.setup) {
            let Some(slug) = Slug::parse(&location.name) else { continue };
            let kind = location.kind;
            let found = stored.get(&(kind, slug)).cloned();
            let mut item = Item::new(location, object, found, &mut self.faults);
            named.insert((kind, slug));
            if kind == Kind::Field {
                state_resource(&mut item.object, &tabs);
            }
            if kind == Kind::Webhook {
                webhooks::complete(&mut item, self.apply.is_some(), self.deployment.ids, self.origin.at);
            }
            if self.apply.is_some() {
                item.keep(kept(members(kind)));
            }
            named_by.push((item.location.clone(), references(members(kind), &item.object)));
            if let (Kind::Category, Some(stated)) = (kind, item.object.get("entry_count").and_then(Json::as_i64)) {
                self.stated_counts.push((item.location.clone(), slug, stated));
            }
            let Some(reported) = read(&mut item, &context, &mut self.faults) else { continue };
            let Told { doc, is_same, files } = reported;
            named_files.push((item.location.clone(), files));
            if !is_same {
                written.insert((kind, slug), StoredRow { deleted: item.deleted, doc, ..StoredRow::default() });
            }
            reads.insert((kind, slug), item.location);
        }
        let mut changes = Changes { stored, changed: written, reads };
        let any_language = Context::any_language(self.origin.at);
        if self.apply.is_some_and(|mode| !mode.keep) {
            super::apply::leave_out(&named, &mut changes, &any_language)?;
        } else {
            archive_before(&named, &mut changes, &any_language)?;
        }
        let program = if self.check_kept(about, &changes)? {
            self.program(account, &changes)?
        } else {
            // Other records are checked all the same, with what the account had.
            self.program(&Account { languages: Locale::ALL.to_vec(), ..account.clone() }, &changes)?
        };
        self.check_setup(&program, &changes);
        self.check_meanings(&program, &changes).await?;
        // A record that cannot be read may still name what is not there.
        for (location, references) in named_by {
            self.check_references(&location, &program, references).await?;
        }
        for (location, files) in named_files {
            for (member, token) in files {
                if !self.has(Kind::File, token.as_str()).await? {
                    self.faults.member(&location, member, format!("there is no file {token}"));
                }
            }
        }
        Ok((program, changes))
    }

    /// What each tab is for, of those that are stored and of those of the file.
    fn tabs(&self, stored: &Rows) -> Result<BTreeMap<Slug, TabKind>, Error> {
        let context = Context::any_language(self.origin.at);
        let mut tabs = BTreeMap::new();
        for ((_, slug), row) in stored.iter().filter(|((kind, _), _)| *kind == Kind::Tab) {
            tabs.insert(*slug, program_store::parse::<Tab>(&row.doc, &context)?.kind);
        }
        for Held { location, object } in self.reading.setup.iter().filter(|held| held.location.kind == Kind::Tab) {
            let kind = object.get("type").and_then(|json| input::one_of(TabKind::CHOICES)(json).ok());
            if let (Some(slug), Some(kind)) = (Slug::parse(&location.name), kind) {
                tabs.insert(slug, kind);
            }
        }
        Ok(tabs)
    }

    /// The program as it will be.
    fn program(&self, account: &Account, changes: &Changes) -> Result<Program, Error> {
        let mut program = Program::new(self.id, 0, account.clone(), &Arc::from(""), self.origin.at);
        program.lengths = self.deployment.lengths;
        let kept = changes.stored.iter().filter(|(key, _)| !changes.changed.contains_key(key));
        for ((kind, _), row) in kept.chain(&changes.changed) {
            program.add(*kind, &row.as_record())?;
        }
        Ok(program)
    }

    /// What the file does not have must still be readable: it may use a language that the account no longer has.
    fn check_kept(&mut self, about: &AboutAccount, changes: &Changes) -> Result<bool, Error> {
        let context = about.account.context(self.origin.at);
        let mut holds = true;
        let kept = |(key, _): &(&(Kind, Slug), &StoredRow)| !changes.reads.contains_key(*key);
        let rows = changes.stored.iter().filter(|(key, _)| !changes.changed.contains_key(key)).chain(&changes.changed);
        for ((kind, slug), row) in rows.filter(kept) {
            let violations = for_setup_kind!(*kind, T => program_store::violations::<T>(&row.doc, &context));
            for (member, message) in violations.transpose()?.unwrap_or_default().iter() {
                holds = false;
                let location = SourceLocation::new(0, *kind, slug.as_str());
                self.faults.stored(about.location.as_ref(), &location, member, message);
            }
        }
        Ok(holds)
    }

    /// What answers, contributors and attachments have their meaning from stays as soon as there are some.
    async fn check_meanings(&mut self, program: &Program, changes: &Changes) -> Result<(), Error> {
        for (key, row) in &changes.changed {
            let (Some(stored), Some(location)) = (changes.stored.get(key), changes.reads.get(key)) else { continue };
            let violations = match key.0 {
                Kind::Field => self.new_meaning(program, &stored.doc, &row.doc).await?,
                Kind::Tab => self.new_type(&stored.doc, &row.doc).await?,
                _ => continue,
            };
            self.faults.violations(location, &violations);
        }
        Ok(())
    }

    /// What is wrong with what a field has become.
    async fn new_meaning(&mut self, program: &Program, before: &str, after: &str) -> Result<Violations, Error> {
        let context = Context::any_language(self.origin.at);
        let field: Field = program_store::parse(before, &context)?;
        let violations = fields::keeps_meaning(&field, &program_store::parse(after, &context)?);
        let may_have_answers = match (field.resource, fields::season_of(&field, program)) {
            _ if violations.is_empty() => false,
            (Resource::Users, _) => self.has_any(Kind::User).await?,
            _ if store::is_answered(&mut self.tx, self.id, field.slug).await? => true,
            (_, Some(season)) => store::has_entries(&mut self.tx, self.id, season).await?,
            (_, None) => self.has_any(Kind::Entry).await?,
        };
        Ok(if may_have_answers { violations } else { Violations::default() })
    }

    /// What is wrong with what a tab has become: its type is that of what stands on it.
    async fn new_type(&mut self, before: &str, after: &str) -> Result<Violations, Error> {
        let context = Context::any_language(self.origin.at);
        let [before, after] = [before, after].map(|doc| program_store::parse::<Tab>(doc, &context));
        let (before, after) = (before?, after?);
        let mut violations = Violations::default();
        if before.kind != after.kind && store::is_stood_on(&mut self.tx, self.id, before.slug).await? {
            violations.add("type", format!("must stay {}, because something stands on the tab", before.kind.name()));
        }
        Ok(violations)
    }

    /// Tells of counts that the file states and that are not those of the records.
    pub(super) async fn check_counts(&mut self) -> Result<(), Error> {
        // Without what was not written because of faults, nothing can be told.
        if !self.faults.is_empty() {
            return Ok(());
        }
        for (location, category, stated) in std::mem::take(&mut self.stated_counts) {
            let count = entries::store::of_category(&mut self.tx, self.id, category).await?;
            if stated != count {
                let message = format!("is computed and must be {count} or left out");
                self.faults.member(&location, "entry_count", message);
            }
        }
        Ok(())
    }

    /// What records of the set-up must be to each other.
    fn check_setup(&mut self, program: &Program, changes: &Changes) {
        let reads = &changes.reads;
        for kind in Kind::ALL {
            for (slug, references, violations) in for_setup_kind!(kind, T => check::<T>(program)).unwrap_or_default() {
                // A record that the file does not have can only be wrong because of what it refers to.
                let cause = || references.iter().find_map(|(_, kind, slug)| reads.get(&(*kind, *slug)));
                self.tell(reads, kind, slug, cause, &violations);
            }
        }
        let count = bounds::count(program);
        if count > bounds::RECORDS {
            let most = bounds::RECORDS;
            self.faults
                .file(format!("makes the account have {count} set-up records with the trash; it may have {most}"));
        }
        for (kind, count, most) in bounds::beyond(program) {
            self.faults.file(format!("makes the account have {count} {}; it may have {most}", kind.plural()));
        }
        for (owner, slug, kind, count) in bounds::crowded(program) {
            let mut violations = Violations::default();
            violations.add(kind.plural(), format!("must be at most {}, and are {count} with the trash", bounds::OWNED));
            self.tell(reads, owner, slug, || None, &violations);
        }
        // What the file does not name goes to the trash only where nothing that it has names it, which is told there.
        for ((kind, slug), row) in changes.changed.iter().filter(|(key, row)| row.deleted && reads.contains_key(key)) {
            let was_live = changes.stored.get(&(*kind, *slug)).is_some_and(|before| !before.deleted);
            let judged = for_setup_kind!(*kind, T => T::records(program).any(*slug).map(|value| value.trash(program)));
            if let (true, Some(Some(Err(message)))) = (was_live && row.deleted, judged) {
                let mut violations = Violations::default();
                violations.add("deleted", message);
                self.tell(reads, *kind, *slug, || None, &violations);
            }
        }
        let active: Vec<Slug> = program
            .seasons
            .all_live()
            .filter(|season| season.status == Status::Active)
            .map(|season| season.slug)
            .collect();
        if active.len() > 1 {
            let line = |slug: &Slug| reads.get(&(Kind::Season, *slug)).map(|location| location.line);
            let last = active.iter().max_by_key(|slug| line(slug)).copied();
            let mut violations = Violations::default();
            let others = active.iter().filter(|slug| Some(**slug) != last).map(Slug::as_str).collect::<Vec<_>>();
            violations.add("status", format!("active is the status of {} already", others.join(", ")));
            if let Some(last) = last {
                self.tell(reads, Kind::Season, last, || None, &violations);
            }
        }
    }

    /// Tells what is wrong with a record where the file has it, or else where the file has what caused it.
    fn tell<'r>(
        &mut self,
        reads: &'r Reads,
        kind: Kind,
        slug: Slug,
        cause: impl FnOnce() -> Option<&'r SourceLocation>,
        violations: &Violations,
    ) {
        if let Some(location) = reads.get(&(kind, slug)) {
            self.faults.violations(location, violations);
            return;
        }
        let cause = cause();
        let location = SourceLocation::new(0, kind, slug.as_str());
        for (member, message) in violations.iter() {
            self.faults.stored(cause, &location, member, message);
        }
    }

    /// Writes what has changed of the set-up.
    pub(super) async fn write_setup(&mut self, changes: &Changes) -> Result<(), Error> {
        if !self.faults.is_empty() {
            return Ok(());
        }
        for ((kind, slug), row) in &changes.changed {
            let before = changes.stored.get(&(*kind, *slug));
            let action = self.action(before.map(|before| before.deleted), row.deleted);
            let revision = self.log_as(action, (*kind, slug.as_str()), row.doc.clone()).await?;
            let record = Record { revision, ..row.as_record() };
            program_store::put(&mut self.tx, self.id, (*kind, *slug), &record).await?;
        }
        Ok(())
    }

    /// Where the file has the user who no longer may manage chapters, or else one of the user's roles.
    fn cause(&mut self, candidate: &Candidate) -> Result<Option<SourceLocation>, Error> {
        let roles = candidate.roles.iter().map(|role| (Kind::Role, *role));
        for (kind, slug) in std::iter::once((Kind::User, candidate.slug)).chain(roles) {
            if let Some(line) = self.reading.names.line_of(Space::Kind(kind), slug.as_str())? {
                return Ok(Some(SourceLocation::new(line, kind, slug.as_str())));
            }
        }
        Ok(None)
    }

    /// Managers hold the role, unless they or their chapter are in the trash. The file may have taken it from one of a
    /// chapter that it does not have.
    pub(super) async fn check_every_manager(&mut self, program: &Program, changes: &Changes) -> Result<(), Error> {
        for chapter in program.chapters.all_live().filter(|chapter| !chapter.managers.is_empty()) {
            let location = changes.reads.get(&(Kind::Chapter, chapter.slug));
            let candidates = users::store::candidates(&mut self.tx, self.id, &chapter.managers).await?;
            for candidate in candidates.iter().filter(|candidate| !may_manage(program, &candidate.roles)) {
                let message = format!("{} does not hold the role of a chapter manager", candidate.slug);
                if let Some(location) = location {
                    self.faults.member(location, "managers", message);
                } else {
                    let cause = self.cause(candidate)?;
                    let location = SourceLocation::new(0, Kind::Chapter, chapter.slug.as_str());
                    self.faults.stored(cause.as_ref(), &location, "managers", &message);
                }
            }
        }
        Ok(())
    }
}

/// A field that does not say what it is about is about what its tab is for.
fn state_resource(field: &mut JsonObject, tabs: &BTreeMap<Slug, TabKind>) {
    let tab = field.get("tab").and_then(Json::as_str).and_then(Slug::parse);
    let resource = tab.and_then(|tab| fields::resource_of(*tabs.get(&tab)?));
    if let (None, Some(resource)) = (field.get("resource"), resource) {
        field.set("resource", Json::String(resource.name().into()));
    }
}

/// Activating a season archives the one before it, also where the file does not name that.
fn archive_before(named: &BTreeSet<(Kind, Slug)>, changes: &mut Changes, context: &Context) -> Result<(), Error> {
    let Changes { stored, changed, .. } = changes;
    let mut activated = Vec::new();
    let mut others = Vec::new();
    let kept = stored.iter().filter(|(key, _)| !changed.contains_key(key));
    for (key, row) in kept.chain(changed.iter()).filter(|((kind, _), row)| *kind == Kind::Season && !row.deleted) {
        let season: Season = program_store::parse(&row.doc, context)?;
        match (season.status == Status::Active, named.contains(key)) {
            (true, true) => activated.push(season.slug),
            (_, false) => others.push(season),
            _ => {}
        }
    }
    if let [activated] = activated[..]
        && let Some(archived) = seasons::activate(&others, activated, context.now)
    {
        let row = StoredRow { doc: program_store::stored(&archived), ..StoredRow::default() };
        changed.insert((Kind::Season, archived.slug), row);
    }
    Ok(())
}
