//! Requests to files.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, Path, Reply};
use crate::records::files::store;
use crate::services::App;
use kernel::text::Token;

/// The routes of files.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// What is known of a file, with an address that it can be downloaded from for a while; `mime`, `size` and the size of an
/// image are told by its content.
#[utoipa::path(get, path = "/file/{token}", operation_id = "GetFileV23", tag = "Files")]
pub async fn show(caller: Caller, Path(token): Path<Token>) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::show(&caller.app().db, caller.account(), &token, &program.context).await?;
    let (_, file) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, file) = file.ok_or(ApiError::NotFound)?;
    Ok(Reply::ok(file.shown(), revision))
}
