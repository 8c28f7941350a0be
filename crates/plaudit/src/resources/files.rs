//! Requests to files.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Sight;
use crate::http::{ApiError, Caller, Path, Reader, Reply};
use crate::records::files::store;
use crate::records::{documents, entries, users};
use crate::services::App;
use kernel::text::{Slug, Token};

/// The members of second documents that show files.
const SHOWN: [&str; 4] = ["entry_fields", "attachments", "contributors", "user_fields"];

/// The routes of files.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// What is known of a file, with an address that it can be downloaded from for a while; `mime`, `size` and the size of an
/// image are told by its content.
#[utoipa::path(get, path = "/file/{token}", operation_id = "GetFileV23", tag = "Files")]
pub async fn show(caller: Caller, Path(token): Path<Token>, _: Reader) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::show(&caller.app().db, caller.account(), &token, &program.context).await?;
    let (_, file) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, file) = file.ok_or(ApiError::NotFound)?;
    if !caller.access().sees_all() && !is_shown(&caller, &token).await? {
        return Err(ApiError::NotFound);
    }
    Ok(Reply::ok(file.shown(), revision))
}

/// Whether a record that the caller sees shows a file: as an image of the set-up, as a document, as an attachment, or as an
/// answer that is seen.
async fn is_shown(caller: &Caller, token: &Token) -> Result<bool, ApiError> {
    let (program, access, account) = (caller.program(), caller.access(), caller.account());
    let is_image = program.categories.all_live().any(|category| category.images.contains(token))
        || program.chapters.all_live().any(|chapter| chapter.image.as_ref() == Some(token));
    if is_image {
        return Ok(true);
    }
    let _turn = caller.app().pages.take(account).await;
    let is_seen = |sight: Sight, detail: &str| {
        let is_readable = |field: Slug| {
            let field = program.fields.live(field).filter(|field| field.is_file());
            field.is_some_and(|field| sight == Sight::Whole || field.applicant.read)
        };
        shows(detail, token, &is_readable)
    };
    let (db, seen) = (&caller.app().db, (access.user(), access.chapters()));
    let documents = documents::store::has_file(db, account, token, |reader, chapter| {
        access.document(Slug::parse(chapter), Slug::parse(reader))
    });
    if documents.await? {
        return Ok(true);
    }
    let entries = entries::store::mentioning(db, account, token, seen, |chapter, entrant, detail| {
        access.entry(chapter, entrant).is_some_and(|sight| is_seen(sight, detail))
    });
    if entries.await? {
        return Ok(true);
    }
    let users = users::store::mentioning(db, account, token, seen, |user, detail| {
        is_seen(if access.user() == Some(user) { Sight::Applicant } else { Sight::Whole }, detail)
    });
    Ok(users.await?)
}

/// Whether a second document shows a file: as an attachment, or as the answer to a field that is readable.
fn shows(detail: &str, token: &Token, is_readable: &dyn Fn(Slug) -> bool) -> bool {
    fn walk(value: &serde_json::Value, token: &str, is_readable: &dyn Fn(Slug) -> bool) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(|item| walk(item, token, is_readable)),
            serde_json::Value::Object(members) => members.iter().any(|(name, value)| match (name.as_str(), value) {
                ("token", serde_json::Value::String(text)) => text == token,
                (name, serde_json::Value::String(text)) if text == token => Slug::parse(name).is_some_and(is_readable),
                (_, value) => walk(value, token, is_readable),
            }),
            _ => false,
        }
    }
    let value: serde_json::Value = serde_json::from_str(detail).unwrap_or_default();
    let mut shown = SHOWN.iter().filter_map(|member| value.get(member));
    shown.any(|value| walk(value, token.as_str(), is_readable))
}
