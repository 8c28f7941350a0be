//! Making, changing and deleting categories.

use crate::http::{ApiError, Body, Caller, PathSlug, Reply, Writer, Writing};
use crate::log::Action;
use crate::program::categories::{self, Category, Changes, document, moved_up, read_create};
use crate::program::store;
use crate::records::files;
use crate::resources::setup_record;
use db::{DbError, Tx};
use kernel::ids::Ids;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

struct Creating {
    ids: Ids,
    body: JsonObject<'static>,
}

/// Makes a category.
#[utoipa::path(
    post,
    path = "/category",
    operation_id = "PostCategoryV23",
    tag = "Categories",
    request_body(content = ref("CreateCategory"), content_type = "application/json"),
    responses(
        (status = 201, description = "The category", body = ref("Category")),
    ),
)]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let ids = caller.app().ids.clone();
    caller.write(Creating { ids, body }, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<Creating>) -> Result<Reply, ApiError> {
    let Creating { ids, body } = &*writing.state;
    let program = &writing.program;
    let slug = program.categories.free_slug(ids);
    let category = categories::create(program, read_create(body, &program.context), slug, writing.origin.at)?;
    let shown = document(&category, program, &[]);
    let revision = store::change(tx, writing.account(), &writing.origin, Action::Created, category).await?;
    Ok(Reply::created(shown, revision, Kind::Category, slug.as_str()))
}

struct Updating {
    slug: Slug,
    body: JsonObject<'static>,
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(
    put,
    path = "/category/{slug}",
    operation_id = "PutCategoryV23",
    tag = "Categories",
    request_body(content = ref("UpdateCategory"), content_type = "application/json"),
    responses(
        (status = 200, description = "The category", body = ref("Category")),
    ),
)]
pub async fn update(caller: Caller, PathSlug(slug): PathSlug, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(Updating { slug, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Updating>) -> Result<Reply, ApiError> {
    let (Updating { slug, body }, program) = (&*writing.state, &writing.program);
    let before = setup_record::find::<Category, _>(tx, writing, *slug).await?;
    let body = Changes::read(body, false, &program.context);
    let category = categories::update(program, &before.value, body, writing.origin.at)?;
    let shown = shown(tx, writing, &category).await?;
    let revision = setup_record::update(tx, writing, &before, category).await?;
    Ok(Reply::ok(shown, revision))
}

async fn shown<S>(tx: &mut Tx, writing: &Writing<S>, category: &Category) -> Result<String, DbError> {
    let names = files::store::names_in(tx, writing.account(), &category.images).await?;
    Ok(document(category, &writing.program, &names))
}

/// Puts a category into the trash. Its children move one level up; its entries keep their reference and show its name.
#[utoipa::path(
    delete,
    path = "/category/{slug}",
    operation_id = "DeleteCategoryV23",
    tag = "Categories",
    responses(
        (status = 204, description = "The category is in the trash"),
    ),
)]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let category = setup_record::find::<Category, _>(tx, writing, *writing.state).await?;
    writing.precondition(category.revision)?;
    for child in moved_up(&writing.program, &category.value, writing.origin.at) {
        store::change(tx, writing.account(), &writing.origin, Action::Updated, child).await?;
    }
    setup_record::set_deleted(tx, writing, category, Action::Trashed).await
}
