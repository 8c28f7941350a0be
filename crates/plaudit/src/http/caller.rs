//! The caller of a request that was checked, and the way in which handlers write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use futures_util::future::BoxFuture;

use super::idempotency::{self, Claim};
use super::precondition::IfMatch;
use super::reply::{Recorded, tag_of_people};
use super::{ApiError, Reply, answer};
use crate::access::operations::Operation;
use crate::access::{Access, Sight};
use crate::log::{Actor, Origin};
use crate::program::Program;
use crate::program::keys::{ApiKey, Scope};
use crate::records::entries::{self, Entry};
use crate::records::users::{self, Person};
use crate::render::Renderer;
use crate::render::accept::Format;
use crate::render::language::Languages;
use crate::services::App;
use crate::signing::expiry;
use crate::turns::Turn;
use db::{AccountId, DbError, Source, Tx};
use kernel::ids::Ids;
use kernel::text::{Locale, Slug, Timestamp};

/// Who calls, in what format and languages: everything that was checked before the handler.
#[derive(Clone)]
pub struct Caller(Arc<RequestContext>, Option<&'static Operation>);

#[derive(Clone)]
pub(super) struct RequestContext {
    pub(super) app: App,
    pub(super) program: Arc<Program>,
    pub(super) key: Slug,
    pub(super) key_hash: [u8; 32],
    pub(super) access: Access,
    /// Whether it was asked if the person of the key has the operation: nothing is answered before that.
    pub(super) was_asked: Arc<AtomicBool>,
    pub(super) format: Format,
    pub(super) languages: Languages,
    pub(super) now: Timestamp,
    pub(super) headers: Arc<HeaderMap>,
    pub(super) if_match: Option<IfMatch>,
    pub(super) claim: Option<Claim>,
    /// Kept until the request is answered, once its body is a long one.
    pub(super) turn: Arc<OnceLock<Turn>>,
}

impl Caller {
    pub(super) fn new(context: RequestContext) -> Self {
        Self(Arc::new(context), None)
    }

    /// The caller, who is about the same operation as another one.
    pub(super) fn like(self, other: &Self) -> Self {
        Self(self.0, other.1)
    }

    pub(super) fn context(&self) -> &RequestContext {
        &self.0
    }

    /// The running server.
    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// The account of the caller's key.
    pub fn account(&self) -> AccountId {
        self.0.program.id
    }

    /// The slug of the caller's key.
    pub fn key(&self) -> Slug {
        self.0.key
    }

    /// The account's program.
    pub fn program(&self) -> &Arc<Program> {
        &self.0.program
    }

    /// What the key may do and see.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Refuses an operation that no role of the key's person has: step 10 of the contract's section 1.
    pub fn permit(&self) -> Result<(), ApiError> {
        self.0.was_asked.store(true, Ordering::Relaxed);
        if self.0.access.may(self.1) { Ok(()) } else { Err(ApiError::NotPermitted) }
    }

    /// Whether it was asked if the key has the operation; of a key of the account nobody asks.
    pub(super) fn was_permitted(&self) -> bool {
        self.0.access.user().is_none() || self.0.was_asked.load(Ordering::Relaxed)
    }

    /// What the key sees of an entry; 404 where that is nothing.
    pub fn sight_of(&self, entry: &Entry) -> Result<Sight, ApiError> {
        self.0.access.entry(entry.chapter, entry.entrant).ok_or(ApiError::NotFound)
    }

    /// What the key sees of a user; 404 where that is nothing.
    pub async fn sight_of_user(&self, user: Slug) -> Result<Sight, ApiError> {
        let (access, source) = (&self.0.access, Source::Db(&self.0.app.db));
        let is_of_chapters = users::store::has_entry_in(self.account(), source, user, access.chapters()).await?;
        access.person(user, is_of_chapters).ok_or(ApiError::NotFound)
    }

    /// The headers of the request; the request that handlers take from has none.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// The languages of the answer.
    pub fn languages(&self) -> &Languages {
        &self.0.languages
    }

    /// The time of the request.
    pub fn now(&self) -> Timestamp {
        self.0.now
    }

    /// Writes the body of an answer to this caller.
    pub fn renderer(&self) -> Renderer {
        self.0.renderer(&self.0.program)
    }

    /// 200 with a record that was read with the program at hand and shows a person, rendered from where it lies.
    pub fn shown(
        &self,
        (document, detail, sight): (&str, Option<&str>, Sight),
        revision: i64,
        person: Option<Person>,
    ) -> Result<Reply, ApiError> {
        let named = tag_of_people(person.as_slice());
        let etag = if self.0.access.sees_all() {
            answer::tag(&self.0, (revision, self.0.program.version), (document, detail), &named)
        } else {
            answer::state(&self.0, &self.0.program, (document, detail, sight), person.as_slice())?
        };
        let mut renderer = self.renderer();
        renderer.naming(person).seen(sight);
        Ok(Reply::Body { content: renderer.record(document, detail)?, etag })
    }

    /// What an answer depends on besides its records: the format and the languages. Part of every `ETag`.
    pub fn representation(&self) -> String {
        self.0.representation()
    }

    /// Refuses the request where `If-Match` names another revision. To be asked when everything else is right, just
    /// before the change (RFC 9110, section 13.2.1).
    pub fn precondition(&self, revision: i64) -> Result<(), ApiError> {
        self.0.precondition(revision)
    }

    /// Whether the caller's key may write.
    pub fn writes(&self) -> bool {
        self.0.program.keys.get(&self.0.key).is_some_and(|(key, _)| key.scope == Scope::ReadWrite)
    }

    /// Whether it is shown secrets of the set-up: who may change them all.
    pub fn shows_secrets(&self) -> bool {
        self.writes() && self.0.access.is_manager()
    }

    /// Waits until a long body of the account may be read, and keeps the turn until the request is answered.
    pub(super) async fn take_turn(&self) {
        if self.0.turn.get().is_none() {
            let turn = self.0.app.long_bodies.take(self.account()).await;
            // A request has one body.
            drop(self.0.turn.set(turn));
        }
    }

    /// Runs `work` in a transaction of the caller's account. Inside it the program is the account's current one: where
    /// it changed since the request was checked, it is read again while nobody else can change it. The answer to an
    /// idempotency key is kept in the same transaction.
    pub async fn write<S>(&self, state: S, work: Work<S>) -> Result<Reply, ApiError>
    where
        S: Send + Sync + 'static,
    {
        self.write_shared(Arc::new(state), work).await
    }

    /// Like [`Caller::write`], with a state that the caller of it keeps.
    pub(super) async fn write_shared<S>(&self, state: Arc<S>, work: Work<S>) -> Result<Reply, ApiError>
    where
        S: Send + Sync + 'static,
    {
        let run = Run { state, work, context: Arc::clone(&self.0), operation: self.1 };
        let (reply, program) = self.0.app.db.write(self.account(), run, Run::run).await?;
        if program.webhooks.slugs().next().is_some() || matches!(reply, Reply::Accepted { .. }) {
            self.0.app.wakes.add(self.account());
        }
        if Arc::ptr_eq(&program, &self.0.program) {
            return Ok(reply);
        }
        self.0.app.programs.keep_newer(&program);
        // What was written with a newer program than the request was checked by is shown with it too.
        Ok(Reply::Replay(Arc::new(answer::record(reply, &self.0, &program)?)))
    }
}

/// What a handler does in a transaction.
pub(super) type Work<S> = for<'a> fn(&'a mut Tx, &'a Writing<S>) -> BoxFuture<'a, Result<Reply, ApiError>>;

/// What a handler knows inside its transaction.
pub struct Writing<S> {
    /// The account's program, fresh within the transaction.
    pub program: Arc<Program>,
    /// Who acts, and when.
    pub origin: Origin,
    /// What the key may do and see, fresh within the transaction.
    pub access: Access,
    /// What the handler brought along.
    pub state: Arc<S>,
    context: Arc<RequestContext>,
}

impl<S> Writing<S> {
    /// The account.
    pub fn account(&self) -> AccountId {
        self.program.id
    }

    /// The language of localised labels.
    pub fn label_locale(&self) -> Locale {
        self.context.languages.first_requested()
    }

    /// The running server.
    pub fn app(&self) -> &App {
        &self.context.app
    }

    /// Where the identifiers of new records come from.
    pub fn ids(&self) -> &Ids {
        &self.context.app.ids
    }

    /// What the key sees of an entry; 404 where that is nothing.
    pub fn sight_of(&self, entry: &Entry) -> Result<Sight, ApiError> {
        self.access.entry(entry.chapter, entry.entrant).ok_or(ApiError::NotFound)
    }

    /// Refuses what an applicant may not do with an entry, and 404 where it is not seen.
    pub fn manages(&self, entry: &Entry) -> Result<(), ApiError> {
        match self.sight_of(entry)? {
            Sight::Whole => Ok(()),
            Sight::Applicant | Sight::Judged(_) => Err(ApiError::NotPermitted),
        }
    }

    /// Whether the key sees a user.
    pub async fn sees_user(&self, tx: &mut Tx, user: Slug) -> Result<bool, DbError> {
        let (access, source) = (&self.access, Source::Snapshot(tx));
        let is_of_chapters = users::store::has_entry_in(self.account(), source, user, access.chapters()).await?;
        Ok(access.person(user, is_of_chapters).is_some())
    }

    /// [`Writing::precondition`] of an entry as it stands.
    pub fn precondition_of(&self, entry: &entries::store::Stored) -> Result<(), ApiError> {
        let shown = (entry.doc.as_str(), Some(entry.detail.as_str()));
        self.precondition_shown(|| self.sight_of(&entry.head()?), entry.revision, shown, entry.person.as_slice())
    }

    /// [`Writing::precondition`] of a record of an entry, as it is shown: the tags of whoever does not see everything are
    /// of that alone.
    pub fn precondition_shown(
        &self,
        sight: impl FnOnce() -> Result<Sight, ApiError>,
        revision: i64,
        (document, detail): (&str, Option<&str>),
        people: &[Person],
    ) -> Result<(), ApiError> {
        if !self.compares_what_is_shown() {
            return self.precondition(revision);
        }
        self.precondition_seen((document, detail, sight()?), people)
    }

    /// Whether `If-Match` is there and compares what is shown, as the tags of whoever does not see everything do: then
    /// [`Writing::precondition_seen`] is to be asked and not [`Writing::precondition`].
    pub fn compares_what_is_shown(&self) -> bool {
        self.context.if_match.is_some() && !self.context.access.sees_all()
    }

    /// [`Writing::precondition`] of a record by its documents, how much of them is shown, and the people whom it shows.
    pub fn precondition_seen(&self, shown: (&str, Option<&str>, Sight), people: &[Person]) -> Result<(), ApiError> {
        let state = answer::state(&self.context, &self.program, shown, people)?;
        let holds = self.context.if_match.as_ref().is_none_or(|condition| condition.holds(&state));
        if holds { Ok(()) } else { Err(ApiError::PreconditionFailed) }
    }

    /// [`Caller::precondition`] of a write.
    pub fn precondition(&self, revision: i64) -> Result<(), ApiError> {
        self.context.precondition(revision)
    }
}

struct Run<S> {
    state: Arc<S>,
    work: Work<S>,
    context: Arc<RequestContext>,
    operation: Option<&'static Operation>,
}

impl<S: Send + Sync + 'static> Run<S> {
    /// The answer, with the program that it was made with.
    fn run<'a>(tx: &'a mut Tx, run: &'a Self) -> BoxFuture<'a, Result<(Reply, Arc<Program>), ApiError>> {
        Box::pin(async move {
            let (context, account) = (&run.context, run.context.program.id);
            let head = tx.head(account).await?.ok_or(ApiError::KeyRefused)?;
            let program = if head.version == context.program.version {
                Arc::clone(&context.program)
            } else {
                let fresh = context.app.programs.in_transaction(tx, account).await?.ok_or(ApiError::KeyRefused)?;
                admitted(&context.app, &fresh, context.key, &context.key_hash, context.now)
                    .ok_or(ApiError::KeyRefused)?;
                fresh
            };
            // A role that was taken away meanwhile is in force, and so is a chapter.
            let access = access_of(Source::Snapshot(tx), &program, context.access.user()).await?;
            if !access.may(run.operation) {
                return Err(ApiError::NotPermitted);
            }
            let actor = access.user().map_or(Actor::Key(context.key), Actor::User);
            let writing = Writing {
                origin: Origin { actor, source: "api", at: context.now },
                access: access.of_writer(),
                program: Arc::clone(&program),
                context: Arc::clone(context),
                state: Arc::clone(&run.state),
            };
            if let Some(claim) = &context.claim {
                // The first request may have been answered while this one waited for the account: on another node, or
                // here after its client had gone away.
                match idempotency::store::find(account, Source::Snapshot(tx), claim, context.oldest_kept()).await? {
                    Some((request, _)) if request != claim.request => return Err(ApiError::IdempotencyMismatch),
                    Some((_, recorded)) => return Ok((Reply::Replay(Arc::new(recorded.replayed())), program)),
                    None => {}
                }
            }
            // What is done is told: nothing is begun where there is no room to tell it.
            context.app.budgets.check_room(account)?;
            let mut reply = (run.work)(tx, &writing).await?;
            tx.hold(reply.len());
            if program.is_broken() {
                return Err(super::pipeline::unreadable());
            }
            if let (Reply::Record { version, .. }, Some(head)) = (&mut reply, tx.head(account).await?) {
                *version = Some(head.version);
            }
            let Some(claim) = &context.claim else { return Ok((reply, program)) };
            let recorded = answer::record(reply, context, &program)?;
            context.keep(tx, account, claim, &recorded).await?;
            Ok((Reply::Replay(Arc::new(recorded)), program))
        })
    }
}

impl RequestContext {
    /// What an answer depends on besides its records.
    pub(super) fn representation(&self) -> String {
        answer::representation(&self.app.edition, self.format, &self.languages)
    }

    fn precondition(&self, revision: i64) -> Result<(), ApiError> {
        match &self.if_match {
            Some(condition) if !condition.holds(&revision.to_string()) => Err(ApiError::PreconditionFailed),
            _ => Ok(()),
        }
    }

    /// The renderer of an answer with this program, which inside a transaction is the fresh one.
    pub(super) fn renderer(&self, program: &Arc<Program>) -> Renderer {
        Renderer::new(&self.app, program, self.languages, self.format, self.expires())
    }

    /// When the addresses of files in an answer stop being good, in seconds since 1970-01-01 UTC.
    pub(super) fn expires(&self) -> i64 {
        expiry(self.now.as_seconds(), self.app.settings.download_seconds)
    }

    /// Keeps the answer to an idempotency key.
    pub(super) async fn keep(
        &self,
        tx: &mut Tx,
        account: AccountId,
        claim: &Claim,
        recorded: &Recorded,
    ) -> Result<(), DbError> {
        let location = recorded.headers.iter().find(|(name, _)| *name == header::LOCATION);
        let location = location.and_then(|(_, location)| location.to_str().ok()).unwrap_or(&claim.location).to_owned();
        let mark = answer::record_error(&ApiError::AnswerNotKept(location), self.format);
        let quota = self.app.settings.idempotency_bytes;
        idempotency::store::keep(tx, account, claim, (recorded, &mark), quota, (self.now, self.oldest_kept())).await
    }

    /// Answers to idempotency keys from this time on are still good.
    pub(super) fn oldest_kept(&self) -> Timestamp {
        Timestamp::from_seconds(self.now.as_seconds() - self.app.settings.idempotency_seconds)
    }
}

/// The key, where it gives access: it is known, not revoked, not expired, and its account is open and of this region.
pub(super) fn admitted<'p>(
    app: &App,
    program: &'p Program,
    key: Slug,
    hash: &[u8; 32],
    now: Timestamp,
) -> Option<&'p ApiKey> {
    let (key, kept) = program.keys.get(&key)?;
    let in_region = program.account.region.as_ref().is_none_or(|region| *region == app.settings.region);
    (kept == hash && key.is_good(now) && program.account.is_open() && in_region).then_some(key)
}

/// What a key of this person may do and see, or one of the account; the key of who is no user of it is refused.
pub(super) async fn access_of(source: Source<'_>, program: &Program, user: Option<Slug>) -> Result<Access, ApiError> {
    let Some(user) = user else { return Ok(Access::ACCOUNT) };
    let roles = users::store::roles_of(program.id, source, user).await?.ok_or(ApiError::KeyRefused)?;
    Ok(Access::of(program, user, &roles))
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        let caller = caller.ok_or_else(|| ApiError::Internal("a route is outside the pipeline".to_owned()))?;
        if caller.0.access.user().is_none() {
            return Ok(caller);
        }
        let path = parts.extensions.get::<MatchedPath>();
        Ok(Self(caller.0, path.and_then(|path| Operation::at(parts.method.as_str(), path.as_str()))))
    }
}
