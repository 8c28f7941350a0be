//! Requests to attachments.

pub mod upload;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{self, ApiError, Body, Caller, PathField, PathToken, RawQuery, Reply, Writer, Writing};
use crate::lists::page::{ListQuery, list_parameters};
use crate::log::{self, Action, Change};
use crate::program::{Program, Record};
use crate::records::entries::attachments::list::LIST;
use crate::records::entries::attachments::rules::{self, Given};
use crate::records::entries::attachments::{Attachment, store};
use crate::records::entries::{self, Cause, EntryHead, check_changeable, refresh_detail};
use crate::records::files;
use crate::render::Renderer;
use crate::services::App;
use db::{DbError, Source, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Slug, Token};

/// The routes of attachments.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, update, delete))
        .routes(routes!(update_field))
        .routes(routes!(upload::upload))
}

list_parameters!(Query, LIST.spec);

/// A page of attachments of entries that are not in the trash. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/attachment",
    operation_id = "GetAttachmentCollectionV23",
    tag = "Attachments",
    params(Query)
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let program = caller.program();
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        renderer.item(&document(program, texts[0], texts[1], texts[2])?.0, None);
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), &show).await
}

/// What is shown of an attachment, and the name of its file.
fn document(program: &Program, doc: &str, title: &str, file: &str) -> Result<(String, String), DbError> {
    let attachment = store::parse(doc, &program.context)?;
    let filename = if file.is_empty() { String::new() } else { files::store::facts(file)?.filename };
    Ok((rules::document(&attachment, title, &filename), filename))
}

/// An attachment.
#[utoipa::path(get, path = "/attachment/{token}", operation_id = "GetAttachmentV23", tag = "Attachments")]
pub async fn show(caller: Caller, PathToken(token): PathToken) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::find(&caller.app().db, caller.account(), &token).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, shown) = found.ok_or(ApiError::NotFound)?;
    let file = shown.file.unwrap_or_default();
    let (document, filename) = document(program, &shown.doc, &shown.title, &file)?;
    Ok(Reply::ok(document, revision).naming(&[&shown.title, &filename]))
}

struct Request {
    token: Token,
    body: JsonObject<'static>,
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(put, path = "/attachment/{token}", operation_id = "PutAttachmentV23", tag = "Attachments")]
pub async fn update(
    caller: Caller,
    PathToken(token): PathToken,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(Request { token, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let Request { token, body } = &*writing.state;
    change(tx, writing, token, rules::read_update(body), Reply::ok).await
}

struct AnswerRequest {
    token: Token,
    field: Slug,
    body: JsonObject<'static>,
}

/// Gives an attachment the answer to one field.
#[utoipa::path(
    put, path = "/attachment/{token}/update-field/{field}", operation_id = "PutAttachmentUpdateFieldV23", tag = "Entries (realtime)",
    request_body = ref("UpdateAnswer"),
    responses((status = 201, description = "The attachment, with the answer", body = ref("Attachment"))),
)]
pub async fn update_field(
    caller: Caller,
    PathToken(token): PathToken,
    PathField(field): PathField,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(AnswerRequest { token, field, body }, |tx, writing| Box::pin(write_answer(tx, writing))).await
}

async fn write_answer(tx: &mut Tx, writing: &Writing<AnswerRequest>) -> Result<Reply, ApiError> {
    let AnswerRequest { token, field, body } = &*writing.state;
    if writing.program.fields.live(*field).is_none() {
        return Err(ApiError::NotFound);
    }
    let reply = |document, revision| Reply::created(document, revision, Kind::Attachment, token.as_str());
    change(tx, writing, token, rules::read_answer(body, *field), reply).await
}

/// Changes an attachment as a body says that was read with these violations; answers with what is shown then.
async fn change<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    token: &Token,
    given: (Given, Violations),
    reply: impl FnOnce(String, i64) -> Reply + Send,
) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, token, &program.context).await?.ok_or(ApiError::NotFound)?;
    let before = found.value;
    let entry = entries::store::find_for_update(tx, account, before.entry).await?.ok_or(ApiError::NotFound)?;
    let head = entry.head()?;
    let after = rules::update(program, &head, &before, given, writing.origin.at)?;
    check_changeable(program, &head)?;
    writing.precondition(found.revision)?;
    let revision =
        if after == before { found.revision } else { write(tx, writing, after.clone(), Action::Updated).await? };
    let filename = files::store::names(account, Source::Snapshot(tx), std::slice::from_ref(token)).await?.pop();
    let filename = filename.map(|(_, filename)| filename).unwrap_or_default();
    let document = rules::document(&after, head.title(), &filename);
    Ok(reply(document, revision).naming(&[head.title(), &filename]))
}

/// Logs and writes an attachment, and has its entry show it.
async fn write<S>(tx: &mut Tx, writing: &Writing<S>, attachment: Attachment, action: Action) -> Result<i64, ApiError> {
    let (account, program, origin) = (writing.account(), &writing.program, &writing.origin);
    let entry = attachment.entry;
    let change = Change {
        kind: Kind::Attachment,
        slug: attachment.token.as_str(),
        action,
        events: &[],
        document: attachment.stored(),
    };
    let revision = log::append(tx, account, origin, change).await?;
    let record = Record { value: attachment, revision, deleted: action == Action::Trashed };
    store::put(tx, account, &record).await?;
    refresh_detail(tx, account, program, origin, entry, Cause::EntryChildren).await?;
    Ok(revision)
}

/// Puts an attachment into the trash. Its file stays.
#[utoipa::path(delete, path = "/attachment/{token}", operation_id = "DeleteAttachmentV23", tag = "Attachments")]
pub async fn delete(caller: Caller, PathToken(token): PathToken, _: Writer) -> Result<Reply, ApiError> {
    caller.write(token, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Token>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, &writing.state, &program.context).await?;
    let found = found.ok_or(ApiError::NotFound)?;
    let entry = entries::store::find_for_update(tx, account, found.value.entry).await?.ok_or(ApiError::NotFound)?;
    let head: EntryHead<'_> = entry.head()?;
    check_changeable(program, &head)?;
    writing.precondition(found.revision)?;
    write(tx, writing, found.value, Action::Trashed).await?;
    Ok(Reply::no_content())
}
