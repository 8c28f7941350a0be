//! The course of an import, and what its stages share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::BufRead;

use futures_util::future::BoxFuture;

use super::apply::ApplyMode;
use super::fault::{Faults, Report, SourceLocation};
use super::reading::{Held, LINES, RecordReader};
use super::staging::Claim;
use super::store::{self, Position, Space, Waiting};
use super::{Count, Deployment, Error, FileSource, Outcome, Source};
use crate::log::{self, Action, Actor, Change, Origin};
use crate::program::fields::{Resource, check_answer};
use crate::program::{Context, Member, Program, RecordMembers, any_kind, references, setup_kinds};
use crate::records::StoredRow;
use crate::records::answers::Answers;
use crate::records::casting_votes::CastingVote;
use crate::records::conflicts::Conflict;
use crate::records::lots::Lot;
use crate::records::publications::Publication;
use crate::records::recusals::Recusal;
use crate::records::store::{self as rows, key};
use db::{AccountId, DbError, Tx};
use kernel::clock::Stopwatch;
use kernel::input::{Members, Wrong};
use kernel::json::{Json, Object as JsonObject, parse_object};
use kernel::kind::{Class, Kind};
use kernel::text::{Slug, Token};

/// Adds or replaces the records of a file. `account` is the account that it is about where it has no record of it.
pub async fn import<R: BufRead + Send>(
    deployment: Deployment<'_>,
    mut source: Source<'_, R>,
    account: Option<Slug>,
    report: &mut dyn Report,
) -> Result<Outcome, Error> {
    let mut faults = Faults::new(source.name, report);
    let mut reading = RecordReader::new()?;
    reading.read(source.name, &mut source.reader, &mut faults)?;
    let tx = deployment.db.begin().await?;
    let mut import = Import::new(deployment, source.files, (reading, faults), tx);
    match import.whole(account).await {
        Ok(outcome) if outcome.faults == 0 && outcome.account.is_some() => import.commit().await.map(|()| outcome),
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            import.release_claim().await;
            Err(error)
        }
    }
}

/// An import that is going on.
pub(super) struct Import<'i> {
    pub(super) deployment: Deployment<'i>,
    pub(super) files: FileSource<'i>,
    pub(super) faults: Faults<'i>,
    pub(super) reading: RecordReader,
    pub(super) tx: Tx,
    /// Where the import stages its account.
    pub(super) claim: Option<Claim>,
    /// Since when others may have been kept from writing.
    pub(super) begun: Stopwatch,
    /// The account; [`AccountId::NONE`], which has no records, where it does not exist and a fault keeps it from being
    /// made.
    pub(super) id: AccountId,
    pub(super) origin: Origin,
    pub(super) changed: BTreeMap<Kind, u64>,
    /// Users who are known to be there.
    users: HashSet<Slug>,
    /// What an apply is to do; `None` for an import.
    pub(super) apply: Option<ApplyMode>,
    /// The numbers of entries that the file says categories have.
    pub(super) stated_counts: Vec<(SourceLocation, Slug, i64)>,
}

/// A record whose turn has come: its members without those that identify it.
pub(super) struct Item {
    pub(super) location: SourceLocation,
    pub(super) object: JsonObject<'static>,
    pub(super) deleted: bool,
    /// What is stored under its name.
    pub(super) found: Option<StoredRow>,
    states_update: bool,
}

/// The records of a kind on their way through its stage.
pub(super) struct Queue {
    kind: Kind,
    taken: Position,
    /// Whether the account has records of the kind.
    pub(super) is_stored: bool,
    done: u64,
}

/// Members that a record may leave out and then keeps, with the other name that some kinds have for them.
const KEPT: &[(&str, &str)] = &[
    ("created", "created_at"),
    ("created_at", "created"),
    ("updated", "updated_at"),
    ("updated_at", "updated"),
    ("local_id", "local_id"),
];

impl Item {
    pub(super) fn new(
        location: SourceLocation,
        mut object: JsonObject<'static>,
        found: Option<StoredRow>,
        faults: &mut Faults<'_>,
    ) -> Self {
        object.remove("kind");
        object.remove(key(location.kind));
        let deleted = match object.remove("deleted") {
            None => false,
            Some(Json::Bool(deleted)) => deleted,
            Some(_) => {
                faults.member(&location, "deleted", "must be true or false");
                false
            }
        };
        let states_update = object.get("updated").or(object.get("updated_at")).is_some();
        let mut item = Self { location, object, deleted, found, states_update };
        item.keep(KEPT.iter().copied());
        item
    }

    /// Takes members that are left out, under both of their names, from what is stored.
    pub(super) fn keep(&mut self, names: impl IntoIterator<Item = (&'static str, &'static str)>) {
        let Some(Ok(stored)) = self.found.as_ref().map(|found| parse_object(found.doc.as_bytes())) else { return };
        for (name, other) in names {
            if let (None, None, Some(value)) = (self.object.get(name), self.object.get(other), stored.get(name)) {
                self.object.set(name, value.clone().into_owned());
            }
        }
    }

    /// The slug of a record that is identified by one.
    pub(super) fn slug(&self) -> Option<Slug> {
        Slug::parse(&self.location.name)
    }

    /// A record that has changed and does not say when has changed now.
    fn stamp(&mut self, context: &Context) -> bool {
        if self.states_update || self.found.is_none() {
            return false;
        }
        let name = if self.object.get("updated_at").is_some() { "updated_at" } else { "updated" };
        self.object.set(name, Json::String(context.now.to_string().into()));
        true
    }

    /// Reads the record with the reader of its kind; `None` where it is wrong, which is told.
    pub(super) fn read<T>(
        &self,
        reader: impl FnOnce(&mut Members<'_>) -> Option<T>,
        faults: &mut Faults<'_>,
    ) -> Option<T> {
        let mut members = Members::closed(&self.object);
        let value = reader(&mut members);
        members.finish().or(value).map_err(|violations| faults.violations(&self.location, &violations)).ok()
    }

    /// Reads the record; where it is not what is stored, as `is_stored` tells, and does not say when it changed, it is
    /// stamped with the time of the run. `None` where it is wrong, which is told.
    pub(super) fn read_current<T>(
        &mut self,
        context: &Context,
        reader: impl Fn(&mut Members<'_>) -> Option<T>,
        is_stored: impl FnOnce(&T, &StoredRow) -> bool,
        faults: &mut Faults<'_>,
    ) -> Option<(T, bool)> {
        let value = self.read(&reader, faults)?;
        let same = self.found.as_ref().is_some_and(|found| found.deleted == self.deleted && is_stored(&value, found));
        if same || !self.stamp(context) {
            return Some((value, same));
        }
        self.read(&reader, faults).map(|value| (value, false))
    }

    /// Reads a record that has a slug in the same way.
    pub(super) fn read_record<T: RecordMembers<Key = Slug>>(
        &mut self,
        context: &Context,
        is_stored: impl FnOnce(&T, &StoredRow) -> bool,
        faults: &mut Faults<'_>,
    ) -> Option<(T, bool)> {
        let slug = self.slug()?;
        self.read_current(context, |members| T::read(members, slug, context), is_stored, faults)
    }
}

/// Checks and writes a record.
type Each<I> = for<'a> fn(&'a mut I, &'a Program, Item) -> BoxFuture<'a, Result<(), Error>>;

/// How many records change what the database knows of its tables.
const MANY: u64 = 1_000;

/// The most records that are remembered of a kind, so that they need not be looked up again.
pub(super) const REMEMBERED: usize = 10_000;

impl<'i> Import<'i> {
    /// One that has read its file and begins its work.
    pub(super) fn new(
        deployment: Deployment<'i>,
        files: FileSource<'i>,
        (reading, faults): (RecordReader, Faults<'i>),
        tx: Tx,
    ) -> Self {
        Self {
            deployment,
            files,
            faults,
            reading,
            tx,
            claim: None,
            begun: Stopwatch::start(),
            id: AccountId::NONE,
            origin: Origin { actor: Actor::Operator, source: "system", at: deployment.clock.now() },
            changed: BTreeMap::new(),
            users: HashSet::new(),
            apply: None,
            stated_counts: Vec::new(),
        }
    }
}

impl Import<'_> {
    /// All stages; gives the account and its slug, unless the file is about none.
    async fn run(&mut self, account: Option<Slug>) -> Result<Option<Slug>, Error> {
        let Some(found) = self.account(account).await? else { return Ok(None) };
        let slug = found.account.slug;
        let stored = self.stored_setup().await?;
        self.name_the_nameless().await?;
        let (program, changes) = self.setup(&found, stored).await?;
        self.write_account(&found).await?;
        self.users(&program).await?;
        self.owner(&found).await?;
        self.check_every_manager(&program, &changes).await?;
        self.write_setup(&changes).await?;
        self.follow_criteria(&program, &changes).await?;
        let had_details = self.has_any(Kind::Contributor).await? || self.has_any(Kind::Attachment).await?;
        for kind in Kind::ALL {
            self.each(&program, kind).await?;
        }
        self.entries(&program, had_details).await?;
        self.refresh_entries(&program).await?;
        self.check_seasons().await?;
        self.check_counts().await?;
        self.orders(&program).await?;
        Ok(Some(slug))
    }

    /// Checks and writes the records of a kind of which each stands by itself.
    async fn each(&mut self, program: &Program, kind: Kind) -> Result<(), Error> {
        let each: Each<Self> = match kind {
            Kind::File => |import, program, item| Box::pin(import.file(program, item)),
            Kind::Contributor => |import, program, item| Box::pin(import.contributor(program, item)),
            Kind::Attachment => |import, program, item| Box::pin(import.attachment(program, item)),
            Kind::ReviewTask => |import, program, item| Box::pin(import.review_task(program, item)),
            Kind::Assignment => |import, program, item| Box::pin(import.assignment(program, item)),
            Kind::Conflict => |import, program, item| Box::pin(import.simple::<Conflict>(program, item)),
            Kind::Recusal => |import, program, item| Box::pin(import.simple::<Recusal>(program, item)),
            Kind::CastingVote => |import, program, item| Box::pin(import.of_score_set::<CastingVote>(program, item)),
            Kind::Lot => |import, program, item| Box::pin(import.of_score_set::<Lot>(program, item)),
            Kind::Publication => |import, program, item| Box::pin(import.simple::<Publication>(program, item)),
            Kind::Document => |import, program, item| Box::pin(import.document(program, item)),
            // These have stages of their own, and items, payments and scores are read with their orders and assignments.
            setup_kinds!([any_kind](Account, ApiKey, User, Entry, Order, OrderItem, Payment, Score)) => return Ok(()),
        };
        let mut queue = self.begin(kind).await?;
        while let Some(batch) = self.batch(&mut queue).await? {
            for item in batch {
                // The storage is asked for files, which takes long.
                self.give_way().await?;
                each(self, program, item).await?;
            }
        }
        Ok(())
    }

    fn outcome(&self, account: Option<Slug>) -> Outcome {
        let counts = self.reading.counts.iter().map(|(kind, read)| Count {
            kind: *kind,
            read: *read,
            changed: self.changed.get(kind).copied().unwrap_or(0),
        });
        Outcome { account, counts: counts.collect(), faults: self.faults.count() }
    }

    /// All stages, and then the bytes of files are put in their place; with faults, what is durable already is removed.
    async fn whole(&mut self, account: Option<Slug>) -> Result<Outcome, Error> {
        let found = self.run(account).await?;
        let outcome = self.outcome(found);
        match outcome.account {
            Some(account) if outcome.faults == 0 => {
                self.put_blobs(account).await?;
                self.finish_staging().await?;
                (self.deployment.follow)(&mut self.tx, self.id).await?;
            }
            _ if self.has_committed() => self.remove_staged().await?,
            _ => {}
        }
        Ok(outcome)
    }

    /// Makes everything durable. A commit that fails may yet have taken; bytes too many do no harm, and bytes too few would.
    async fn commit(self) -> Result<(), Error> {
        self.tx.commit().await?;
        if self.changed.values().sum::<u64>() >= MANY {
            self.deployment.db.analyze().await;
        }
        Ok(())
    }

    /// Whether the account has any record of a kind, the ones of this import included.
    pub(super) async fn has_any(&mut self, kind: Kind) -> Result<bool, DbError> {
        rows::has_any(&mut self.tx, self.id, kind).await
    }

    /// Gives every record without a slug or token one that neither the file nor the account has, an attachment the token of its file,
    /// and takes it apart.
    async fn name_the_nameless(&mut self) -> Result<(), Error> {
        while let Some(Held { location, mut object }) = self.reading.nameless_setup.pop() {
            let name = self.free_name(location.kind).await?;
            object.set("slug", Json::String(name.into()));
            self.reading.record(location, object, None, &mut self.faults)?;
        }
        // What a record owns comes after it, and may have no name either.
        for kind in Kind::ALL.into_iter().filter(|kind| kind.class() == Class::People) {
            let mut taken = Position::default();
            while let Some(nameless) = self.reading.names.next(Space::Nameless(kind), &mut taken)? {
                self.give_way().await?;
                for Waiting { line, content, .. } in nameless {
                    let Ok(mut object) = parse_object(&content) else { continue };
                    // An attachment has the token of its file.
                    let of_file = object.get("file").filter(|_| kind == Kind::Attachment).and_then(Json::as_str);
                    let name = match of_file.and_then(Token::parse) {
                        Some(file) => file.as_str().to_owned(),
                        None => self.free_name(kind).await?,
                    };
                    object.set(key(kind), Json::String(name.into()));
                    self.reading.record(SourceLocation::new(line, kind, ""), object, None, &mut self.faults)?;
                }
            }
        }
        for (kind, owner) in LINES {
            self.reading.names.each_orphan_line((kind, owner), |line, name| {
                let location = SourceLocation::new(line, kind, "");
                self.faults.member(&location, owner.name(), format!("the file has no {} {name}", owner.words()));
            })?;
        }
        Ok(())
    }

    async fn free_name(&mut self, kind: Kind) -> Result<String, DbError> {
        loop {
            let ids = self.deployment.ids;
            let name = if key(kind) == "token" { ids.token().as_str().to_owned() } else { ids.slug().to_string() };
            if !self.has(kind, &name).await? {
                return Ok(name);
            }
        }
    }

    /// The records of a kind, to be taken by [`Import::batch`].
    pub(super) async fn begin(&mut self, kind: Kind) -> Result<Queue, Error> {
        Ok(Queue { kind, taken: Position::default(), is_stored: self.has_any(kind).await?, done: 0 })
    }

    /// The next records of a stage, each with what is stored under its name, after telling how far it is; nothing at the
    /// end.
    pub(super) async fn batch(&mut self, queue: &mut Queue) -> Result<Option<Vec<Item>>, Error> {
        if queue.done > 0 {
            self.faults.progress(queue.kind.plural(), queue.done);
        }
        self.give_way().await?;
        let (mut objects, mut names) = (Vec::new(), Vec::new());
        let batch = self.reading.names.next(Space::Kind(queue.kind), &mut queue.taken)?;
        for Waiting { line, content, .. } in batch.into_iter().flatten() {
            // The line was parsed when it was read, so that nothing is lost here.
            let Ok(object) = parse_object(&content).map(JsonObject::into_owned) else { continue };
            names.push(object.get(key(queue.kind)).and_then(Json::as_str).unwrap_or_default().to_owned());
            objects.push((line, object));
        }
        queue.done += objects.len() as u64;
        let mut found = HashMap::new();
        if queue.is_stored {
            found = rows::named(&mut self.tx, self.id, queue.kind, &names).await?;
        }
        let item = |((line, object), name): ((u64, JsonObject<'static>), String)| {
            let stored = found.remove(&name);
            Item::new(SourceLocation::new(line, queue.kind, name), object, stored, &mut self.faults)
        };
        let items: Vec<Item> = objects.into_iter().zip(names).map(item).collect();
        Ok(Some(items).filter(|items| !items.is_empty()))
    }

    /// The next names that were noted after the last one, which becomes the last of these; none at the end. Those of records
    /// of a kind that the file has are left out.
    pub(super) async fn noted(
        &mut self,
        space: Space,
        unless: Option<Kind>,
        last: &mut String,
    ) -> Result<Vec<String>, Error> {
        self.give_way().await?;
        let noted = self.reading.names.noted_after(space, unless, last)?;
        if let Some(end) = noted.last() {
            last.clone_from(end);
        }
        Ok(noted)
    }

    /// Whether the file or the account has a record.
    pub(super) async fn has(&mut self, kind: Kind, name: &str) -> Result<bool, DbError> {
        Ok(self.reading.names.has(kind, name)? || rows::exists(&mut self.tx, self.id, kind, name).await?)
    }

    /// Tells of every reference to a record that neither the file nor the account has.
    pub(super) async fn check_references<M: AsRef<str>>(
        &mut self,
        location: &SourceLocation,
        program: &Program,
        references: Vec<(M, Kind, Slug)>,
    ) -> Result<(), DbError> {
        for (member, kind, slug) in references {
            if kind.is_setup() && self.is_left_out(program, kind, slug)? {
                let message = format!("the file does not have the {kind} {slug}, which would go to the trash");
                self.faults.member(location, member.as_ref(), message);
                continue;
            }
            let is_known = kind == Kind::User && self.users.contains(&slug) || super::setup::is_in(program, kind, slug);
            let is_there = is_known || self.has(kind, slug.as_str()).await?;
            if is_there && kind == Kind::User {
                if self.users.len() >= REMEMBERED {
                    self.users.clear();
                }
                self.users.insert(slug);
            }
            if !is_there {
                let mut message = format!("there is no {kind} {slug}");
                if let Some(other) = self.kind_of(program, slug)? {
                    let _ = write!(message, "; {slug} is a {other}");
                }
                self.faults.member(location, member.as_ref(), message);
            }
        }
        Ok(())
    }

    /// Tells of a record that cannot be read what it names that is not there: all faults are told at once.
    pub(super) async fn check_unread(
        &mut self,
        item: &Item,
        members: &[Member],
        program: &Program,
    ) -> Result<(), Error> {
        let named = references(members, &item.object);
        Ok(self.check_references(&item.location, program, named).await?)
    }

    /// Whether an apply would leave a record in the trash that is stored, because its file does not have it.
    fn is_left_out(&mut self, program: &Program, kind: Kind, slug: Slug) -> Result<bool, DbError> {
        let is_there = super::setup::is_in(program, kind, slug);
        let is_wanted = self.apply.is_none() || super::setup::is_live(program, kind, slug);
        Ok(is_there && !is_wanted && !self.reading.names.has(kind, slug.as_str())?)
    }

    /// What a slug is, where it is not what it was taken for.
    fn kind_of(&mut self, program: &Program, slug: Slug) -> Result<Option<Kind>, DbError> {
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_setup()) {
            if super::setup::is_in(program, kind, slug) || self.reading.names.has(kind, slug.as_str())? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    /// Tells of answers to fields that do not exist, and of values that their fields do not take. Options and columns
    /// that a field no longer has are not asked for, so that an export always is a good import.
    pub(super) fn check_answers(
        &mut self,
        location: &SourceLocation,
        program: &Program,
        (member, resource): (&str, Resource),
        answers: &Answers,
    ) -> Result<(), DbError> {
        for (slug, value) in answers.iter() {
            let checked = match program.fields.any(slug) {
                Some(field) if field.resource != resource => {
                    Err(format!("is a field about {}, and not about {}", field.resource.name(), resource.name()).into())
                }
                Some(field) => {
                    check_answer(field, value).and_then(|()| Ok(self.deployment.lengths.check_answer(value)?))
                }
                None if self.reading.names.has(Kind::Field, slug.as_str())? => Ok(()),
                None => Err(format!("there is no field {slug}").into()),
            };
            let wrong = checked.err();
            for message in wrong.iter().flat_map(Wrong::messages) {
                self.faults.member(location, &format!("{member}.{slug}"), message);
            }
        }
        Ok(())
    }

    /// Checks a value that no other record may have. `holder` is who has it in the account; where that record is in
    /// the file as well it will be replaced, so that only the file decides.
    pub(super) async fn check_unique(
        &mut self,
        location: &SourceLocation,
        (space, unique): (Space, store::Unique),
        (member, value): (&str, &str),
        holder: Option<Slug>,
    ) -> Result<(), DbError> {
        if let Some(first) = self.reading.names.claim(space, value, location.line)? {
            self.faults.member(location, member, format!("is that of line {first} too"));
        }
        let Some(holder) = holder.filter(|holder| holder.as_str() != location.name) else { return Ok(()) };
        if !self.reading.names.has(location.kind, holder.as_str())? {
            self.faults.member(location, member, format!("is that of the {} {holder}", location.kind));
        } else if self.faults.is_empty() {
            store::withdraw(&mut self.tx, self.id, unique, holder).await?;
        }
        Ok(())
    }

    /// Logs a record that was added or replaced; gives its revision.
    pub(super) async fn log(&mut self, kind: Kind, name: &str, document: String) -> Result<i64, DbError> {
        self.log_as(Action::Imported, (kind, name), document).await
    }

    /// Logs what was done to a record; gives its revision.
    pub(super) async fn log_as(
        &mut self,
        action: Action,
        (kind, slug): (Kind, &str),
        document: String,
    ) -> Result<i64, DbError> {
        *self.changed.entry(kind).or_default() += 1;
        log::append(&mut self.tx, self.id, &self.origin, Change { kind, slug, action, events: &[], document }).await
    }

    /// What is done to a record of the set-up that was in the trash or not, or not there, and will be or not.
    pub(super) fn action(&self, before: Option<bool>, deleted: bool) -> Action {
        match (&self.apply, before, deleted) {
            (None, ..) => Action::Imported,
            (Some(_), before, deleted) => super::plan::action(before, deleted),
        }
    }
}
