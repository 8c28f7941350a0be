//! The operations that contributors and attachments have alike: both belong to an entry, change with it and are shown by it.

use std::future::Future;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::access::{Sight, applicant};
use crate::http::{self, ApiError, Body, Caller, Path, PathField, PathPart, Reader, Reply, Writer, Writing};
use crate::lists::List;
use crate::log::Action;
use crate::program::{Program, RecordKey as _};
use crate::records::entries::{self, Cause, Entry, check_changeable, refresh_detail};
use crate::records::people::{self, PeopleRecord, ShownRow, find_shown};
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use db::{AccountId, DbError, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// A kind of record that belongs to an entry.
pub(super) trait EntryChild: PeopleRecord<Key: PathPart> {
    /// The group of its operations in the documentation.
    const GROUP: &'static str;
    /// The member that has its answers.
    const ANSWERS: &'static str;
    /// Its list.
    const LIST: &'static List;
    /// What a body says of it.
    type Given: Send;

    /// Its entry.
    fn entry(&self) -> Slug;
    /// The answers that a body gives.
    fn answers(given: &mut Self::Given) -> &mut Option<JsonObject<'static>>;
    /// Reads the body of an update.
    fn read_update(body: &JsonObject<'_>) -> (Self::Given, Violations);
    /// Reads the body that gives the answer to one field.
    fn read_answer(body: &JsonObject<'_>, field: Slug) -> (Self::Given, Violations);
    /// The record after a body that was read with these violations; where nothing changes, as it was.
    fn updated(
        &self,
        program: &Program,
        head: &Entry,
        given: (Self::Given, Violations),
        now: Timestamp,
    ) -> Result<Self, Violations>;
    /// The document that is shown, and the names of others in it, from the columns that its list declares.
    fn document(program: &Program, texts: &[&str]) -> Result<(String, [String; 2]), DbError>;
    /// The document that is shown, and the names of others in it.
    fn shown(
        &self,
        tx: &mut Tx,
        account: AccountId,
        head: &Entry,
    ) -> impl Future<Output = Result<(String, [String; 2]), DbError>> + Send;
}

fn path<T: EntryChild>() -> String {
    format!("/{}/{{{}}}", T::KIND.path(), T::Key::NAME)
}

/// What the caller sees of a record whose entry's chapter and entrant stand last in what its list declares.
pub(super) fn sight(caller: &Caller, texts: &[&str]) -> Result<Sight, ApiError> {
    let slug = |at: usize| http::list::slug(texts.get(at).copied().unwrap_or_default());
    caller.access().entry(slug(3)?, slug(4)?).ok_or(ApiError::NotFound)
}

/// `GET /{kind}/{id}`.
pub(super) fn show<T: EntryChild>(id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    let handler = async |caller: Caller, Path(key): Path<T::Key>, _: Reader| {
        let program = caller.program();
        let read =
            find_shown::<T>(&caller.app().db, caller.account(), &key, ShownRow::of_entry(&T::LIST.shown)).await?;
        let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
        let (revision, texts) = found.ok_or(ApiError::NotFound)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let sight = sight(&caller, &texts)?;
        let (document, names) = T::document(program, &texts)?;
        Ok::<_, ApiError>(Reply::ok(document, revision).naming(&names.each_ref().map(String::as_str)).seen(sight))
    };
    operation((HttpMethod::Get, &path::<T>(), id, T::GROUP), about, Takes::Nothing, handler)
}

/// `PUT /{kind}/{id}`.
pub(super) fn update<T: EntryChild>(id: &'static str) -> UtoipaMethodRouter<App> {
    let handler = async |caller: Caller, Path(id): Path<T::Key>, _: Writer, Body(body): Body| {
        caller.write((id, body), |tx, writing| Box::pin(write_update::<T>(tx, writing))).await
    };
    let about = "Changes what the body names; everything else keeps its value.";
    operation((HttpMethod::Put, &path::<T>(), id, T::GROUP), about, Takes::Nothing, handler)
}

async fn write_update<T: EntryChild>(
    tx: &mut Tx,
    writing: &Writing<(T::Key, JsonObject<'static>)>,
) -> Result<Reply, ApiError> {
    let (id, body) = &*writing.state;
    change::<T, _>(tx, writing, id, T::read_update(body), |document, revision, _| Reply::ok(document, revision)).await
}

/// `PUT /{kind}/{id}/update-field/{field}`.
pub(super) fn update_field<T: EntryChild>(id: &'static str) -> UtoipaMethodRouter<App> {
    let handler = async |caller: Caller,
                         Path(id): Path<T::Key>,
                         Path(PathField(field)): Path<PathField>,
                         _: Writer,
                         Body(body): Body| {
        caller.write((id, field, body), |tx, writing| Box::pin(write_answer::<T>(tx, writing))).await
    };
    let path = format!("{}/update-field/{{field}}", path::<T>());
    let about = format!("Gives the {} the answer to one field.", T::KIND.words());
    operation((HttpMethod::Put, &path, id, "Entries (realtime)"), &about, Takes::Body("UpdateAnswer"), handler)
}

async fn write_answer<T: EntryChild>(
    tx: &mut Tx,
    writing: &Writing<(T::Key, Slug, JsonObject<'static>)>,
) -> Result<Reply, ApiError> {
    let (id, field, body) = &*writing.state;
    if writing.program.fields.live(*field).is_none_or(|field| !writing.access.field(field)) {
        return Err(ApiError::NotFound);
    }
    let reply = |document, revision, id: &str| Reply::created(document, revision, T::KIND, id);
    change::<T, _>(tx, writing, id, T::read_answer(body, *field), reply).await
}

/// Changes a record as a body says that was read with these violations; answers with what is shown then.
async fn change<T: EntryChild, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    id: &T::Key,
    (mut given, mut violations): (T::Given, Violations),
    reply: fn(String, i64, &str) -> Reply,
) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = people::find_for_update::<T>(tx, account, id, &program.context).await?.ok_or(ApiError::NotFound)?;
    let before = found.value;
    let entry = entries::store::find_for_update(tx, account, before.entry()).await?.ok_or(ApiError::NotFound)?;
    let head = entry.head()?;
    let sight = writing.sight_of(&head)?;
    if sight == Sight::Applicant {
        applicant::check_answers(program, (T::ANSWERS, "tab"), T::answers(&mut given), &mut violations);
    }
    let after = before.updated(program, &head, (given, violations), writing.origin.at)?;
    check_changeable(program, &head)?;
    precondition(tx, writing, &before, (&head, found.revision)).await?;
    let revision =
        if after == before { found.revision } else { write(tx, writing, after.clone(), Action::Updated).await? };
    let (document, names) = after.shown(tx, account, &head).await?;
    Ok(reply(document, revision, after.key().as_str()).naming(&names.each_ref().map(String::as_str)).seen(sight))
}

/// Refuses the write where `If-Match` names another state of a record.
async fn precondition<T: EntryChild, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    before: &T,
    (head, revision): (&Entry, i64),
) -> Result<(), ApiError> {
    if writing.access.sees_all() {
        return writing.precondition(revision);
    }
    let (document, _) = before.shown(tx, writing.account(), head).await?;
    writing.precondition_shown(|| writing.sight_of(head), revision, (&document, None), &[])
}

/// Logs and writes a record, and has its entry show it.
pub(super) async fn write<T: EntryChild, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    value: T,
    action: Action,
) -> Result<i64, ApiError> {
    let (account, origin, entry) = (writing.account(), &writing.origin, value.entry());
    let revision = people::change(tx, account, origin, action, value).await?;
    refresh_detail(tx, account, &writing.program, origin, entry, Cause::EntryChildren(T::ANSWERS)).await?;
    Ok(revision)
}

/// `DELETE /{kind}/{id}`.
pub(super) fn delete<T: EntryChild>(id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    let handler = async |caller: Caller, Path(id): Path<T::Key>, _: Writer| {
        caller.write(id, |tx, writing| Box::pin(write_trash::<T>(tx, writing))).await
    };
    operation((HttpMethod::Delete, &path::<T>(), id, T::GROUP), about, Takes::Nothing, handler)
}

async fn write_trash<T: EntryChild>(tx: &mut Tx, writing: &Writing<T::Key>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found =
        people::find_for_update::<T>(tx, account, &writing.state, &program.context).await?.ok_or(ApiError::NotFound)?;
    let entry = entries::store::find_for_update(tx, account, found.value.entry()).await?.ok_or(ApiError::NotFound)?;
    let head = entry.head()?;
    writing.sight_of(&head)?;
    check_changeable(program, &head)?;
    precondition(tx, writing, &found.value, (&head, found.revision)).await?;
    write(tx, writing, found.value, Action::Trashed).await?;
    Ok(Reply::NoContent)
}
