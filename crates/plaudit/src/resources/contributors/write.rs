//! Changes of contributors.

use crate::http::{ApiError, Body, Caller, PathField, PathSlug, Reply, Writer, Writing};
use crate::log::{self, Action, Change};
use crate::program::{self, Record};
use crate::records::answers::Answers;
use crate::records::entries::contributors::{Contributor, MOST};
use crate::records::entries::{self, Cause, check_changeable, refresh_detail};
use crate::resources::contributors::{rules, store};
use db::Tx;
use kernel::ids::Ids;
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

struct Creation {
    body: JsonObject<'static>,
    ids: Ids,
}

/// Adds a contributor to an entry.
#[utoipa::path(post, path = "/contributor", operation_id = "PostContributorV23", tag = "Contributors")]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let ids = caller.app().ids.clone();
    caller.write(Creation { body, ids }, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<Creation>) -> Result<Reply, ApiError> {
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let (given, mut violations) = rules::read_create(&writing.state.body);
    let entry = match given.entry {
        Some(entry) => entries::store::find_for_update(tx, account, entry).await?,
        None => None,
    };
    if let (Some(named), None) = (given.entry, &entry) {
        violations.add("entry", format!("{named} is no entry of the account"));
    }
    let head = match &entry {
        Some(entry) => Some(entry.head()?),
        None => None,
    };
    let tab = given.tab.and_then(|tab| rules::tab_of(program, head.as_ref(), tab, &mut violations));
    let (place, none) = ((head.as_ref(), tab), Answers::default());
    let fields = rules::answers_after(program, place, &none, given.fields.as_ref(), &mut violations);
    let slug = store::free_slug(tx, account, &writing.state.ids).await?;
    let contributor = head.as_ref().zip(tab).map(|(head, tab)| Contributor {
        slug,
        entry: head.slug,
        tab,
        fields,
        created: now,
        updated: now,
    });
    let contributor = violations.or(contributor)?;
    if let Some(head) = &head {
        check_changeable(program, head)?;
    }
    if store::count(tx, account, contributor.entry).await? >= MOST {
        return Err(ApiError::State(format!("The entry has {MOST} contributors, which are the most.")));
    }
    let (title, season) = head.map(|head| (head.title().to_owned(), head.season)).ok_or(ApiError::NotFound)?;
    let revision = write(tx, writing, contributor.clone(), Action::Created).await?;
    let document = rules::document(&contributor, &title, season);
    let created = Reply::created(document, revision, Kind::Contributor, slug.as_str());
    Ok(created.naming(&[&title, season.as_str()]))
}

struct Request {
    slug: Slug,
    body: JsonObject<'static>,
}

/// Changes the answers that the body names; the others stay.
#[utoipa::path(put, path = "/contributor/{slug}", operation_id = "PutContributorV23", tag = "Contributors")]
pub async fn update(caller: Caller, PathSlug(slug): PathSlug, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let Request { slug, body } = &*writing.state;
    change(tx, writing, *slug, rules::read_update(body), Reply::ok).await
}

struct AnswerRequest {
    slug: Slug,
    field: Slug,
    body: JsonObject<'static>,
}

/// Gives a contributor the answer to one field.
#[utoipa::path(
    put, path = "/contributor/{slug}/update-field/{field}", operation_id = "PutContributorUpdateFieldV23", tag = "Entries (realtime)",
    request_body = ref("UpdateAnswer"),
    responses((status = 201, description = "The contributor, with the answer", body = ref("Contributor"))),
)]
pub async fn update_field(
    caller: Caller,
    PathSlug(slug): PathSlug,
    PathField(field): PathField,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write(AnswerRequest { slug, field, body }, |tx, writing| Box::pin(write_answer(tx, writing))).await
}

async fn write_answer(tx: &mut Tx, writing: &Writing<AnswerRequest>) -> Result<Reply, ApiError> {
    let AnswerRequest { slug, field, body } = &*writing.state;
    if writing.program.fields.live(*field).is_none() {
        return Err(ApiError::NotFound);
    }
    let reply = |document, revision| Reply::created(document, revision, Kind::Contributor, slug.as_str());
    change(tx, writing, *slug, rules::read_answer(body, *field), reply).await
}

/// Changes a contributor as a body says that was read with these violations; answers with what is shown then.
async fn change<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: Slug,
    (given, mut violations): (rules::Given, Violations),
    reply: impl FnOnce(String, i64) -> Reply + Send,
) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, slug, &program.context).await?.ok_or(ApiError::NotFound)?;
    let before = found.value;
    let entry = entries::store::find_for_update(tx, account, before.entry).await?.ok_or(ApiError::NotFound)?;
    let head = entry.head()?;
    let fields = given.fields.as_ref();
    let after = rules::answered(program, &head, &before, fields, &mut violations, writing.origin.at);
    let after = violations.or(Some(after))?;
    check_changeable(program, &head)?;
    writing.precondition(found.revision)?;
    let revision =
        if after == before { found.revision } else { write(tx, writing, after.clone(), Action::Updated).await? };
    let document = rules::document(&after, head.title(), head.season);
    Ok(reply(document, revision).naming(&[head.title(), head.season.as_str()]))
}

/// Logs and writes a contributor, and has its entry show it.
async fn write<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    contributor: Contributor,
    action: Action,
) -> Result<i64, ApiError> {
    let (account, program, origin) = (writing.account(), &writing.program, &writing.origin);
    let entry = contributor.entry;
    let change = Change {
        kind: Kind::Contributor,
        slug: contributor.slug.as_str(),
        action,
        events: &[],
        document: program::store::stored(&contributor),
    };
    let revision = log::append(tx, account, origin, change).await?;
    let record = Record { value: contributor, revision, deleted: action == Action::Trashed };
    store::put(tx, account, &record).await?;
    refresh_detail(tx, account, program, origin, entry, Cause::EntryChildren).await?;
    Ok(revision)
}

/// Puts a contributor into the trash.
#[utoipa::path(delete, path = "/contributor/{slug}", operation_id = "DeleteContributorV23", tag = "Contributors")]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, *writing.state, &program.context).await?;
    let found = found.ok_or(ApiError::NotFound)?;
    let entry = entries::store::find_for_update(tx, account, found.value.entry).await?.ok_or(ApiError::NotFound)?;
    check_changeable(program, &entry.head()?)?;
    writing.precondition(found.revision)?;
    write(tx, writing, found.value, Action::Trashed).await?;
    Ok(Reply::no_content())
}
