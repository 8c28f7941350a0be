//! The operations of users.

pub mod upload;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Sight;
use crate::erasing;
use crate::http::{ApiError, Body, Caller, Path, PathUser, Reader, Reply, Writer, Writing};
use crate::log::Action;
use crate::program::Program;
use crate::program::chapters::may_manage;
use crate::records::files;
use crate::records::users::identity::{self, Identity};
use crate::records::users::links::{Link, Purpose};
use crate::records::users::list::LIST;
use crate::records::users::store::{self, Named, Stored};
use crate::records::users::writing::{create_events, update_events, write};
use crate::records::users::{PasswordHash, User, body, detail, normal_email, shown};
use crate::resources::people_list::people_list;
use crate::services::App;
use db::Tx;
use kernel::document;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of users.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of users. Without `order` who was changed last comes first.";
    OpenApiRouter::new()
        .routes(people_list(("GetUserCollectionV23", "Users"), about, &LIST, |_, renderer, texts| {
            Ok(renderer.item(texts[0], None)?)
        }))
        .routes(routes!(create))
        .routes(routes!(show, update, delete))
        .routes(routes!(restore))
        .routes(routes!(erase))
        .routes(routes!(auth_token))
        .routes(routes!(upload::upload))
}

/// A user, by the slug or by the e-mail address.
#[utoipa::path(get, path = "/user/{slug}", operation_id = "GetUserV23", tag = "Users")]
pub async fn show(caller: Caller, Path(user): Path<PathUser>, _: Reader) -> Result<Reply, ApiError> {
    let email;
    let named = match &user {
        PathUser::Slug(slug) => Named::Slug(*slug),
        PathUser::Email(given) => {
            email = normal_email(given);
            Named::Email(&email)
        }
    };
    let read = store::show(&caller.app().db, caller.account(), named).await?;
    let (_, user) = read.filter(|(version, _)| *version == caller.program().version).ok_or(ApiError::Stale)?;
    let user = user.ok_or(ApiError::NotFound)?;
    let sight = if caller.access().sees_all() { Sight::Whole } else { caller.sight_of_user(user.slug).await? };
    Ok(Reply::detailed(user.doc, user.detail, user.revision).seen(sight))
}

/// Adds a user: a new person, or one whom the installation has already. What reaches people, their e-mail addresses and
/// mobile numbers, is unique in the installation.
#[utoipa::path(
    post, path = "/user", operation_id = "PostUserV23", tag = "Users",
    responses((status = 201, description = "The user; or, for a person who was there already, a `message` and no `Location`",
        body = ref("CreatedUser"))),
)]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let hash = hash(&caller, &body).await?;
    let ids = &caller.app().ids;
    caller.write((ids.slug(), ids.uuid(), body, hash), |tx, writing| Box::pin(write_create(tx, writing))).await
}

/// The hash of the password in a body, where there is a right one. It takes as long for a person who is there already.
async fn hash(caller: &Caller, body: &JsonObject<'_>) -> Result<Option<PasswordHash>, ApiError> {
    let Some(password) = body::password_of(body) else { return Ok(None) };
    let app = caller.app();
    app.passwords.hash(&app.ids, password).await.map(Some).map_err(ApiError::Internal)
}

type Creation = (Slug, String, JsonObject<'static>, Option<PasswordHash>);

async fn write_create(tx: &mut Tx, writing: &Writing<Creation>) -> Result<Reply, ApiError> {
    let (slug, person, body, hash) = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    if store::find_for_update(tx, account, *slug).await?.is_some() {
        return Err(ApiError::Internal(format!("the slug {slug} was drawn twice")));
    }
    let (given, violations) = body::read(body, None, program);
    let made = body::create(program, given, *slug, person, writing.origin.at);
    let mut user = made.ok_or_else(|| ApiError::Internal("a member of a user has no default".to_owned()))?;
    let email = user.email.as_deref().map(normal_email);
    let contacts = (person.as_str(), email.as_deref(), user.mobile.as_deref());
    let identity = identity::identify(tx, account, contacts, hash.as_ref(), violations).await?;
    if let Identity::Known { person, by_email } = &identity {
        user.global_id.clone_from(person);
        // Whatever else reaches the person is not this account's to know.
        if *by_email {
            user.mobile = None;
        }
    }
    let events = create_events(&user);
    let revision = write(tx, account, &writing.origin, &user, Action::Created, &events).await?;
    if identity != Identity::New {
        let document = document::object(|object| {
            object.text("message", "The person exists already and was added to the account.");
        });
        return Ok(Reply::Stated { status: 201, document, tag: revision.to_string() });
    }
    Ok(Reply::created_detailed(shown(&user, false), detail(&user), revision, Kind::User, slug.as_str()))
}

/// Changes what the body names; everything else keeps its value.
#[utoipa::path(put, path = "/user/{slug}", operation_id = "PutUserV23", tag = "Users")]
pub async fn update(caller: Caller, Path(slug): Path<Slug>, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let hash = hash(&caller, &body).await?;
    caller.write((slug, body, hash), |tx, writing| Box::pin(write_update(tx, writing))).await
}

/// A user that is not in the trash.
async fn live<S>(tx: &mut Tx, writing: &Writing<S>, slug: Slug) -> Result<Stored, ApiError> {
    let found = store::find_for_update(tx, writing.account(), slug).await?;
    found.filter(|found| !found.deleted).ok_or(ApiError::NotFound)
}

/// The chapters that a user manages and may not, as a text; nothing where there are none.
fn managed_without_role(program: &Program, user: &User) -> Option<String> {
    if may_manage(program, &user.roles) {
        return None;
    }
    let managed = program.chapters.all_live().filter(|chapter| chapter.managers.contains(&user.slug));
    let managed: Vec<&str> = managed.map(|chapter| chapter.slug.as_str()).collect();
    (!managed.is_empty()).then(|| managed.join(", "))
}

type Update = (Slug, JsonObject<'static>, Option<PasswordHash>);

async fn write_update(tx: &mut Tx, writing: &Writing<Update>) -> Result<Reply, ApiError> {
    let (slug, body, hash) = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let Stored { user: before, revision, .. } = live(tx, writing, *slug).await?;
    let (given, mut violations) = body::read(body, Some(&before), program);
    let mut after = body::update(&before, given, writing.origin.at);
    if after.email.is_none() && after.mobile.is_none() && (before.email.is_some() || before.mobile.is_some()) {
        let member = if before.email.is_some() { "email" } else { "mobile" };
        violations.add(member, "cannot be taken away, because nothing else reaches the user");
    }
    if hash.is_some() {
        after.updated = writing.origin.at;
    }
    if after.roles != before.roles
        && let Some(chapters) = managed_without_role(program, &after)
    {
        violations.add("roles", format!("must include that of a chapter manager, because the user manages {chapters}"));
    }
    let change = identity::look(tx, account, (&before, &after), hash.is_some(), &mut violations).await?;
    violations.or(Some(()))?;
    if let Some(change) = &change {
        change.permit()?;
    }
    writing.precondition(revision)?;
    if let Some(change) = &change {
        identity::make(tx, change, &after, hash.as_ref()).await?;
    }
    let shown = |user: &User| (shown(user, false), detail(user));
    if after == before && hash.is_none() {
        let (doc, detail) = shown(&before);
        return Ok(Reply::detailed(doc, detail, revision));
    }
    let events = update_events(&before, &after);
    let revision = write(tx, account, &writing.origin, &after, Action::Updated, &events).await?;
    let (doc, detail) = shown(&after);
    Ok(Reply::detailed(doc, detail, revision))
}

/// Puts a user into the trash, who keeps the records and stays in them by name.
#[utoipa::path(delete, path = "/user/{slug}", operation_id = "DeleteUserV23", tag = "Users")]
pub async fn delete(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let Stored { user, revision, .. } = live(tx, writing, *writing.state).await?;
    writing.precondition(revision)?;
    write(tx, writing.account(), &writing.origin, &user, Action::Trashed, &[]).await?;
    Ok(Reply::NoContent)
}

/// Brings a user back from the trash.
#[utoipa::path(post, path = "/user/{slug}/restore", operation_id = "PostUserRestoreV23", tag = "Users")]
pub async fn restore(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_restore(tx, writing))).await
}

async fn write_restore(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let found = store::find_for_update(tx, writing.account(), *writing.state).await?;
    let Stored { user, revision, deleted } = found.ok_or(ApiError::NotFound)?;
    if !deleted {
        return Err(ApiError::State("The user is not in the trash.".to_owned()));
    }
    if user.is_erased() {
        return Err(ApiError::State("The user was erased.".to_owned()));
    }
    if let Some(chapters) = managed_without_role(&writing.program, &user) {
        let message = format!("The user manages {chapters} without the role of a chapter manager.");
        return Err(ApiError::State(message));
    }
    writing.precondition(revision)?;
    write(tx, writing.account(), &writing.origin, &user, Action::Restored, &[]).await?;
    Ok(Reply::NoContent)
}

/// Erases a person for good: names, addresses, answers, comments and files of the user and of the user's entries, sheets, orders and
/// documents, here and in everything that is kept of the past. Records stay as shells, so that results and totals stand.
#[utoipa::path(post, path = "/user/{slug}/erase", operation_id = "PostUserEraseV23", tag = "Users")]
pub async fn erase(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    let app = caller.app().clone();
    let reply = caller.write((slug, app.ids.uuid()), |tx, writing| Box::pin(write_erase(tx, writing))).await?;
    app.db.checkpoint().await;
    // What fails here is done by the upkeep.
    if let Err(error) = files::sweep(&app.db, &app.storage, caller.now()).await {
        tracing::warn!(%error, "the bytes of erased files wait for the next upkeep");
    }
    Ok(reply)
}

async fn write_erase(tx: &mut Tx, writing: &Writing<(Slug, String)>) -> Result<Reply, ApiError> {
    let (account, (slug, person)) = (writing.account(), &*writing.state);
    let found = store::find_for_update(tx, account, *slug).await?.ok_or(ApiError::NotFound)?;
    writing.precondition(found.revision)?;
    erasing::erase(tx, account, &writing.program, &writing.origin, (*slug, person)).await?;
    Ok(Reply::NoContent)
}

/// A token by which a user signs in, once and within 60 seconds, at the address that is told with it. Whoever has it is the
/// user, and so a key that only reads gets none.
#[utoipa::path(
    get, path = "/user/{slug}/auth-token", operation_id = "GetUserAuthTokenV23", tag = "Users",
    responses((status = 200, description = "The token, and when it ends", body = ref("AuthToken"))),
)]
pub async fn auth_token(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    let (app, program) = (caller.app(), caller.program());
    let link = Link::new(Purpose::SignIn, app.ids.secret(40), caller.now());
    let address = format!("{}{}", program.base_url(), link.address(&app.signer, program.account.slug));
    caller.write((slug, link, address), |tx, writing| Box::pin(write_token(tx, writing))).await
}

async fn write_token(tx: &mut Tx, writing: &Writing<(Slug, Link, String)>) -> Result<Reply, ApiError> {
    let (slug, link, address) = &*writing.state;
    live(tx, writing, *slug).await?;
    link.keep(tx, writing.account(), *slug, writing.origin.at).await?;
    let document = document::object(|object| {
        object.text("auth_token", &link.token);
        object.text("link", address);
        object.time("expires", link.expires);
    });
    Ok(Reply::Stated { status: 200, document, tag: hex::encode(&link.hash()[..16]) })
}
