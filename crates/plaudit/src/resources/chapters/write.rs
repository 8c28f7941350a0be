//! Making, changing and deleting chapters.

use crate::http::{ApiError, Body, Caller, PathSlug, Reply, Writer, Writing};
use crate::log::Action;
use crate::program::chapters::{self, Candidate, Changes, Chapter, Status, document};
use crate::program::store;
use crate::records::users::{self, Person};
use crate::resources::setup_record;
use db::{AccountId, DbError, Source, Tx};
use kernel::ids::Ids;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

struct Creating {
    ids: Ids,
    body: JsonObject<'static>,
}

/// Makes a chapter.
#[utoipa::path(
    post,
    path = "/chapter",
    operation_id = "PostChapterV23",
    tag = "Chapters",
    request_body(content = ref("CreateChapter"), content_type = "application/json"),
    responses(
        (status = 201, description = "The chapter", body = ref("Chapter")),
    ),
)]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let ids = caller.app().ids.clone();
    caller.write(Creating { ids, body }, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<Creating>) -> Result<Reply, ApiError> {
    let Creating { ids, body } = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let create = Changes::read(body, true, &program.context);
    let found = candidates(tx, account, &create.0).await?;
    let slug = program.chapters.free_slug(ids);
    let chapter = chapters::create(program, create, &found, slug, writing.origin.at)?;
    let shown = shown(&chapter, writing);
    let revision = store::change(tx, account, &writing.origin, Action::Created, chapter).await?;
    let managers = managers(tx, account, &shown).await?;
    Ok(Reply::created(shown, revision, Kind::Chapter, slug.as_str()).showing(managers))
}

struct Updating {
    slug: Slug,
    body: JsonObject<'static>,
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(
    put,
    path = "/chapter/{slug}",
    operation_id = "PutChapterV23",
    tag = "Chapters",
    request_body(content = ref("UpdateChapter"), content_type = "application/json"),
    responses(
        (status = 200, description = "The chapter", body = ref("Chapter")),
    ),
)]
pub async fn update(caller: Caller, PathSlug(slug): PathSlug, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(Updating { slug, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Updating>) -> Result<Reply, ApiError> {
    let Updating { slug, body } = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let before = setup_record::find::<Chapter, _>(tx, writing, *slug).await?;
    let update = Changes::read(body, false, &program.context);
    let found = candidates(tx, account, &update.0).await?;
    let chapter = chapters::update(program, &before.value, update, &found, writing.origin.at)?;
    let shown = shown(&chapter, writing);
    let managers = managers(tx, account, &shown).await?;
    let revision = setup_record::update(tx, writing, &before, chapter).await?;
    Ok(Reply::ok(shown, revision).showing(managers))
}

async fn candidates(tx: &mut Tx, account: AccountId, changes: &Changes) -> Result<Vec<Candidate>, DbError> {
    match changes.managers.as_deref() {
        None | Some([]) => Ok(Vec::new()),
        Some(named) => users::store::candidates(tx, account, named).await,
    }
}

async fn managers(tx: &mut Tx, account: AccountId, shown: &str) -> Result<Vec<Person>, DbError> {
    users::store::shown_in(account, Source::Snapshot(tx), [shown]).await
}

fn shown<S>(chapter: &Chapter, writing: &Writing<S>) -> String {
    let label = writing.label_locale().status_label(chapter.status == Status::Active);
    document(chapter, &writing.program, label)
}

/// Puts a chapter into the trash; its entries keep their reference and show its name.
#[utoipa::path(
    delete,
    path = "/chapter/{slug}",
    operation_id = "DeleteChapterV23",
    tag = "Chapters",
    responses(
        (status = 204, description = "The chapter is in the trash"),
    ),
)]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let chapter = setup_record::find::<Chapter, _>(tx, writing, *writing.state).await?;
    setup_record::set_deleted(tx, writing, chapter, Action::Trashed).await
}
