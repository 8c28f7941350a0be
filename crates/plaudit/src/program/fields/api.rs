//! The operations of fields.

use axum::Router;

use super::{Field, trash};
use crate::app::App;
use crate::db::Tx;
use crate::http::openapi::Error;
use crate::http::{ApiError, Caller, PathSlug, Reply, Writer, Writing};
use crate::kind::Kind;
use crate::log::{self, Action, Change};
use crate::program::{Record, store};
use crate::text::Slug;

/// The routes of fields.
pub fn routes() -> Router<App> {
    Router::new().route("/field/{slug}", axum::routing::delete(delete))
}

/// Puts a field into the trash, which hides its answers and loses none of them.
#[utoipa::path(
    delete,
    path = "/field/{slug}",
    operation_id = "DeleteFieldV23",
    tag = "Fields",
    params(("slug" = String, Path, description = "The field", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 204, description = "The field is in the trash"),
        (status = "4XX", description = "Why it is not, such as the condition of another field that names it", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn delete(caller: Caller, PathSlug(slug): PathSlug, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, slug) = (writing.account(), *writing.state);
    let found = store::find_for_update::<Field>(tx, account, slug, &writing.program.context).await?;
    let field = found.ok_or(ApiError::NotFound)?;
    trash(&writing.program, slug).map_err(ApiError::State)?;
    writing.precondition(field.revision)?;
    let change = Change {
        kind: Kind::Field,
        slug: slug.as_str(),
        action: Action::Trashed,
        events: &[],
        document: store::stored(&field.value),
    };
    let revision = log::append(tx, account, &writing.origin, change).await?;
    store::save(tx, account, &Record { value: field.value, revision, deleted: true }).await?;
    Ok(Reply::no_content())
}
