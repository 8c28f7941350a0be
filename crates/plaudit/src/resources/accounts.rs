//! The operation of the account, which reads only.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, Reader, Reply};
use crate::program::accounts::Account;
use crate::records::users::{self, Summary};
use crate::services::App;
use kernel::document;
use kernel::kind::Kind;

/// The route of the account.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// The account of the caller's key.
#[utoipa::path(get, path = "/account", operation_id = "GetAccountV23", tag = "Account")]
pub async fn show(caller: Caller, _: Reader) -> Result<Reply, ApiError> {
    let (app, program) = (caller.app(), caller.program());
    let read = users::store::owner(&app.db, caller.account(), program.account.owner).await?;
    let (_, owner) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    // Who owns the account is a user, whom not everybody sees.
    let is_seen = |owner: &Summary| caller.access().person(owner.slug, false).is_some();
    let owner = owner.filter(|(owner, _)| is_seen(owner));
    let (owner, revision) = owner.map_or((None, 0), |(owner, revision)| (Some(owner), revision));
    let shown = document(&program.account, owner.as_ref(), &app.settings.region);
    // The program's version tells changes of the account, and the owner's revision those of the name.
    Ok(Reply::ok(shown, revision))
}

/// The account as it is shown (contract, section 6); `region` is that of the deployment.
fn document(account: &Account, owner: Option<&Summary>, region: &str) -> String {
    let domains = if account.domains.is_empty() { &account.hosts } else { &account.domains };
    document::object(|object| {
        object.time("created", account.created);
        object.texts("domains", domains);
        object.text("global_id", &account.global_id);
        object.list("languages", |list| {
            for locale in &account.languages {
                list.object(|object| object.text("code", locale.code()));
            }
        });
        object.text("name", &account.name);
        match owner {
            Some(owner) => object.object("owner", |object| {
                object.named(Kind::User, owner.slug, ("name", &owner.name()));
                object.text("first_name", &owner.first_name);
                object.text("last_name", &owner.last_name);
            }),
            None => object.null("owner"),
        }
        object.text("product", &account.product);
        object.text("region", account.region.as_deref().unwrap_or(region));
        object.slug("slug", account.slug);
        object.text("timezone", &account.timezone);
        object.time("updated", account.updated);
    })
}
