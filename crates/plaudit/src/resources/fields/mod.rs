//! The operations of fields.

pub mod list;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Body, Caller, IncludeSettings, PathSlug, RawQuery, Reply, Writer, Writing};
use crate::lists::page::list_parameters;
use crate::log::Action;
use crate::program::fields::{Field, document, read_create, read_update, rules, write_settings};
use crate::program::store;
use crate::resources::fields::list::LIST;
use crate::resources::{setup_list, setup_record};
use crate::services::App;
use db::Tx;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of fields.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(show, update, delete)).routes(routes!(restore))
}

list_parameters!(Query, LIST.spec);

struct Request {
    slug: Slug,
    body: JsonObject<'static>,
}

/// A page of fields. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/field",
    operation_id = "GetFieldCollectionV23",
    tag = "Fields",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("FieldPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    setup_list::page(&caller, raw.as_deref(), &LIST, |field| document(field, caller.program())).await
}

/// A field.
#[utoipa::path(
    get,
    path = "/field/{slug}",
    operation_id = "GetFieldV23",
    tag = "Fields",
    params(
        ("include" = Option<String>, Query, description = "`settings` adds the members of create and update", pattern = "^settings$"),
    ),
    responses(
        (status = 200, description = "The field", body = ref("Field")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug, include: IncludeSettings) -> Result<Reply, ApiError> {
    let program = caller.program();
    let field = program.fields.live_record(slug).ok_or(ApiError::NotFound)?;
    let shown = document(&field.value, program);
    let shown = include.added_to(shown, |settings| write_settings(&field.value, settings));
    setup_list::show(&caller, field.revision, shown).await
}

/// Makes a field on a tab.
#[utoipa::path(
    post,
    path = "/field",
    operation_id = "PostFieldV23",
    tag = "Fields",
    request_body(content = ref("CreateField"), content_type = "application/json"),
    responses(
        (status = 201, description = "The field; `Location` is its address", body = ref("Field")),
    ),
)]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let slug = caller.app().ids.slug();
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let Request { slug, body } = &*writing.state;
    let program = &writing.program;
    let field = rules::create(program, *slug, read_create(body, &program.context), writing.origin.at)?;
    if program.fields.any(*slug).is_some() {
        return Err(ApiError::Internal(format!("the slug {slug} was drawn twice")));
    }
    let shown = document(&field, program);
    let revision = store::change(tx, writing.account(), &writing.origin, Action::Created, field).await?;
    Ok(Reply::created(shown, revision, Kind::Field, slug.as_str()))
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(
    put,
    path = "/field/{slug}",
    operation_id = "PutFieldV23",
    tag = "Fields",
    request_body(content = ref("UpdateField"), content_type = "application/json"),
    responses(
        (status = 200, description = "The field", body = ref("Field")),
    ),
)]
pub async fn update(caller: Caller, PathSlug(slug): PathSlug, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(Request { slug, body }, |tx, writing| Box::pin(write_update(tx, writing))).await
}

async fn write_update(tx: &mut Tx, writing: &Writing<Request>) -> Result<Reply, ApiError> {
    let (Request { slug, body }, program) = (&*writing.state, &writing.program);
    let before = setup_record::find::<Field, _>(tx, writing, *slug).await?;
    let field = rules::update(program, &before.value, read_update(body, &program.context), writing.origin.at)?;
    let shown = document(&field, program);
    let revision = setup_record::update(tx, writing, &before, field).await?;
    Ok(Reply::ok(shown, revision))
}

/// Puts a field into the trash, which hides its answers and loses none of them.
#[utoipa::path(
    delete,
    path = "/field/{slug}",
    operation_id = "DeleteFieldV23",
    tag = "Fields",
    responses(
        (status = 204, description = "The field is in the trash"),
    ),
)]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let field = setup_record::find::<Field, _>(tx, writing, *writing.state).await?;
    rules::trash(&writing.program, field.value.slug).map_err(ApiError::State)?;
    setup_record::set_deleted(tx, writing, field, Action::Trashed).await
}

/// Brings a field back from the trash, and its answers with it.
#[utoipa::path(
    post,
    path = "/field/{slug}/restore",
    operation_id = "PostFieldRestoreV23",
    tag = "Fields",
    responses(
        (status = 204, description = "The field is back"),
    ),
)]
pub async fn restore(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_restore(tx, writing))).await
}

async fn write_restore(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, slug) = (writing.account(), *writing.state);
    let found = store::find_any_for_update::<Field>(tx, account, slug, &writing.program.context).await?;
    let field = found.ok_or(ApiError::NotFound)?;
    if !field.deleted {
        return Err(ApiError::State("The field is not in the trash.".to_owned()));
    }
    rules::restore(&writing.program, &field.value).map_err(ApiError::State)?;
    setup_record::set_deleted(tx, writing, field, Action::Restored).await
}
