//! The operations of set-up records, each written once for all kinds. A kind says how it is shown ([`SetupResource`]) and, where
//! the interface changes it, what a body makes of it ([`Writable`]); its `routes` name the operations that it has.

use std::borrow::Cow;
use std::future::Future;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::access::Access;
use crate::http::{ApiError, Body, Caller, IncludeSettings, Path, RawQuery, Reader, Reply, Writer, Writing};
use crate::lists::page::{Ask, ListQuery, settings_parameter};
use crate::log::Action;
use crate::program::{InProgram, Program, Record, accounts, bounds, store};
use crate::records::files;
use crate::records::users::{self, Person};
use crate::resources::operation::{Takes, operation};
use crate::resources::setup_list::{self, Counts, SetupList};
use crate::services::App;
use db::{Source, Tx};
use kernel::document::Object;
use kernel::json::Object as JsonObject;
use kernel::text::{Locale, Slug, Timestamp, Token};

/// A kind of set-up record that the interface shows.
pub(super) trait SetupResource: InProgram {
    /// The group of its operations in the documentation.
    const GROUP: &'static str;
    /// Its list (contract, section 4).
    const LIST: &'static SetupList<Self>;

    /// The record as it is shown, with slots.
    fn document(&self, related: &Related<'_>) -> String;

    /// The record as its list shows it, with the number that the list counts.
    fn item(&self, related: &Related<'_>, _count: u64) -> String {
        self.document(related)
    }

    /// What is shown of it; nothing where it is as if it did not exist.
    fn seen(&self, _: &Access, _: &Program) -> Option<Cow<'_, Self>> {
        Some(Cow::Borrowed(self))
    }

    /// What is asked of the records of its list beside the query: that they are seen.
    fn asks(_: &Access) -> Vec<Ask> {
        Vec::new()
    }

    /// The files whose names it shows.
    fn named_files(&self) -> &[Token] {
        &[]
    }

    /// What its list counts for each record beside the program, as the account stands.
    fn counts(_: &Caller, _: &ListQuery) -> impl Future<Output = Result<Option<Counts>, ApiError>> + Send {
        async { Ok(None) }
    }
}

/// What a record shows beside its own members.
pub(super) struct Related<'r> {
    /// The account's program.
    pub program: &'r Program,
    /// The language of labels.
    pub label_locale: Locale,
    /// The names of its files.
    pub filenames: &'r [(Token, String)],
    /// Whether secrets are shown: to a key that writes.
    pub shows_secrets: bool,
}

/// What is given of a record that is written.
#[derive(Clone, Copy)]
pub(super) struct Given<'g> {
    /// The account's program.
    pub program: &'g Program,
    /// Its slug.
    pub slug: Slug,
    /// The body.
    pub body: &'g JsonObject<'static>,
    /// The running server.
    pub app: &'g App,
    /// The time of the request.
    pub now: Timestamp,
}

/// A kind of set-up record that the interface makes, changes and puts into the trash.
pub(super) trait Writable: SetupResource + PartialEq {
    /// The record that a body makes, or what an update makes of the one before.
    fn written(
        before: Option<&Self>,
        given: &Given<'_>,
        tx: &mut Tx,
    ) -> impl Future<Output = Result<Self, ApiError>> + Send;

    /// Writes the members of create and update as they stand, where a single read shows them on request.
    fn write_settings(&self, _: &mut Object<'_>) {}

    /// The other records that change when it goes to the trash, as they are then.
    fn changed_by_trash(&self, _: &Program, _now: Timestamp) -> Vec<Self> {
        Vec::new()
    }
}

/// `GET /{kind}`.
pub(super) fn list<T: SetupResource>(id: &'static str) -> UtoipaMethodRouter<App> {
    let (path, records) = (collection::<T>(), T::KIND.plural().replace('_', " "));
    let about = format!("A page of {records}. Without `order` what was changed last comes first.");
    operation((HttpMethod::Get, &path, id, T::GROUP), &about, Takes::Query(T::LIST.spec.parameters()), page::<T>)
}

/// `GET /{kind}/{slug}`.
pub(super) fn show<T: SetupResource>(id: &'static str) -> UtoipaMethodRouter<App> {
    let about = format!("A {}.", T::KIND.words());
    operation((HttpMethod::Get, &one::<T>(), id, T::GROUP), &about, Takes::Nothing, record::<T>)
}

/// `GET /{kind}/{slug}`, with the settings where they are asked for.
pub(super) fn show_with_settings<T: Writable>(id: &'static str) -> UtoipaMethodRouter<App> {
    let about = format!("A {}.", T::KIND.words());
    let takes = Takes::Query(vec![settings_parameter()]);
    operation((HttpMethod::Get, &one::<T>(), id, T::GROUP), &about, takes, record_with_settings::<T>)
}

/// `POST /{kind}`.
pub(super) fn create<T: Writable>(id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    operation((HttpMethod::Post, &collection::<T>(), id, T::GROUP), about, Takes::Nothing, make::<T>)
}

/// `PUT /{kind}/{slug}`.
pub(super) fn update<T: Writable>(id: &'static str) -> UtoipaMethodRouter<App> {
    let about = "Changes what the body names; everything else keeps its value.";
    operation((HttpMethod::Put, &one::<T>(), id, T::GROUP), about, Takes::Nothing, change::<T>)
}

/// `DELETE /{kind}/{slug}`.
pub(super) fn delete<T: Writable>(id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    operation((HttpMethod::Delete, &one::<T>(), id, T::GROUP), about, Takes::Nothing, trash::<T>)
}

fn collection<T: InProgram>() -> String {
    format!("/{}", T::KIND.path())
}

/// The path of a record.
pub(super) fn one<T: InProgram>() -> String {
    format!("/{}/{{slug}}", T::KIND.path())
}

async fn page<T: SetupResource>(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &T::LIST.spec)?;
    caller.permit()?;
    let counts = T::counts(&caller, &query).await?;
    let related = related_to(&caller, &[]);
    let show = |record: &T, count| Some(record.seen(caller.access(), caller.program())?.item(&related, count));
    let reply = setup_list::page(&caller, raw.as_deref(), (T::LIST, &query), counts.as_ref(), show).await?;
    // Who counted has compared the version.
    if counts.is_none() {
        confirm(&caller).await?;
    }
    Ok(reply)
}

async fn record<T: SetupResource>(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    single::<T>(&caller, slug, |_, document| document).await
}

async fn record_with_settings<T: Writable>(
    caller: Caller,
    Path(slug): Path<Slug>,
    include: IncludeSettings,
    _: Reader,
) -> Result<Reply, ApiError> {
    single::<T>(&caller, slug, |value, document| include.added_to(document, |object| value.write_settings(object)))
        .await
}

async fn single<T: SetupResource>(
    caller: &Caller,
    slug: Slug,
    completed: impl FnOnce(&T, String) -> String,
) -> Result<Reply, ApiError> {
    let record = T::records(caller.program()).live_record(slug).ok_or(ApiError::NotFound)?;
    let value = record.value.seen(caller.access(), caller.program()).ok_or(ApiError::NotFound)?;
    let db = &caller.app().db;
    let filenames = files::store::names(caller.account(), Source::Db(db), value.named_files()).await?;
    let related = related_to(caller, &filenames);
    shown(caller, record.revision, completed(&value, value.document(&related))).await
}

fn related_to<'r>(caller: &'r Caller, filenames: &'r [(Token, String)]) -> Related<'r> {
    let label_locale = caller.languages().first_requested();
    Related { program: caller.program(), label_locale, filenames, shows_secrets: caller.shows_secrets() }
}

/// A single set-up record of the snapshot.
pub(super) async fn shown(caller: &Caller, revision: i64, document: String) -> Result<Reply, ApiError> {
    let source = Source::Db(&caller.app().db);
    let people = users::store::shown_in(caller.account(), source, [document.as_str()]).await?;
    confirm(caller).await?;
    Ok(Reply::ok(document, revision).showing(people))
}

/// Compares the snapshot's version with the account's.
pub(super) async fn confirm(caller: &Caller) -> Result<(), ApiError> {
    let version = accounts::store::version(&caller.app().db, caller.account()).await?;
    if version == Some(caller.program().version) { Ok(()) } else { Err(ApiError::Stale) }
}

async fn make<T: Writable>(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_new::<T>(tx, writing))).await
}

/// Makes a record.
pub(super) async fn write_new<T: Writable>(
    tx: &mut Tx,
    writing: &Writing<JsonObject<'static>>,
) -> Result<Reply, ApiError> {
    let slug = T::records(&writing.program).free_slug(writing.ids());
    let given = given_of(writing, slug, &writing.state);
    let made = T::written(None, &given, tx).await?;
    bounds::check(given.program, None, &made).map_err(ApiError::State)?;
    let (document, people) = document_of(tx, writing, &made).await?;
    let revision = store::change(tx, writing.account(), &writing.origin, Action::Created, made).await?;
    Ok(Reply::created(document, revision, T::KIND, slug.as_str()).showing(people))
}

async fn change<T: Writable>(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_change::<T>(tx, writing))).await
}

/// Changes a record.
pub(super) async fn write_change<T: Writable>(
    tx: &mut Tx,
    writing: &Writing<(Slug, JsonObject<'static>)>,
) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let before = find::<T, _>(tx, writing, *slug).await?;
    let given = given_of(writing, *slug, body);
    let after = T::written(Some(&before.value), &given, tx).await?;
    bounds::check(given.program, Some(&before.value), &after).map_err(ApiError::State)?;
    let (document, people) = document_of(tx, writing, &after).await?;
    writing.precondition(before.revision)?;
    let revision = if after == before.value {
        before.revision
    } else {
        store::change(tx, writing.account(), &writing.origin, Action::Updated, after).await?
    };
    Ok(Reply::ok(document, revision).showing(people))
}

fn given_of<'g, S>(writing: &'g Writing<S>, slug: Slug, body: &'g JsonObject<'static>) -> Given<'g> {
    Given { program: &writing.program, slug, body, app: writing.app(), now: writing.origin.at }
}

/// A record as the answer to a write shows it, and the people in it.
async fn document_of<T: SetupResource, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    value: &T,
) -> Result<(String, Vec<Person>), ApiError> {
    let account = writing.account();
    let filenames = files::store::names(account, Source::Snapshot(tx), value.named_files()).await?;
    let (program, label_locale) = (&*writing.program, writing.label_locale());
    let document = value.document(&Related { program, label_locale, filenames: &filenames, shows_secrets: true });
    let people = users::store::shown_in(account, Source::Snapshot(tx), [document.as_str()]).await?;
    Ok((document, people))
}

async fn trash<T: Writable>(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_trash::<T>(tx, writing))).await
}

/// Puts a record into the trash.
pub(super) async fn write_trash<T: Writable>(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let record = find::<T, _>(tx, writing, *writing.state).await?;
    record.value.trash(&writing.program).map_err(ApiError::State)?;
    writing.precondition(record.revision)?;
    for other in record.value.changed_by_trash(&writing.program, writing.origin.at) {
        store::change(tx, writing.account(), &writing.origin, Action::Updated, other).await?;
    }
    store::change(tx, writing.account(), &writing.origin, Action::Trashed, record.value).await?;
    Ok(Reply::NoContent)
}

/// A record that is not in the trash, for a change of it.
pub(super) async fn find<T: InProgram, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: Slug,
) -> Result<Record<T>, ApiError> {
    let found = store::find_for_update::<T>(tx, writing.account(), slug, &writing.program.context).await?;
    found.ok_or(ApiError::NotFound)
}
