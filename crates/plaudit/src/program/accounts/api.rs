//! The operation of the account, which reads only.

use axum::Router;
use axum::routing::get;

use super::rules;
use crate::app::App;
use crate::http::{ApiError, Caller, Reply};
use crate::users;

/// The route of the account.
pub fn routes() -> Router<App> {
    Router::new().route("/account", get(show))
}

/// The account of the caller's key.
#[utoipa::path(
    get,
    path = "/account",
    operation_id = "GetAccountV23",
    tag = "Account",
    responses(
        (status = 200, description = "The account", body = ref("Account")),
    ),
)]
pub async fn show(caller: Caller) -> Result<Reply, ApiError> {
    let (app, program) = (caller.app(), caller.program());
    let read = users::store::owner(&app.db, caller.account(), program.account.owner).await?;
    let (_, owner) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (owner, revision) = owner.map_or((None, 0), |(owner, revision)| (Some(owner), revision));
    let document = rules::document(&program.account, owner.as_ref(), &app.settings.region);
    // The program's version tells changes of the account, and the owner's revision those of the name.
    Ok(Reply::ok(document, revision))
}
