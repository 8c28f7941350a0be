//! Files as answers of users.

use crate::http::{ApiError, Caller, Path, PathField, Reply, Upload, Uploaded, Writer, Writing};
use crate::log::Action;
use crate::program::fields::{Resource, validate_file};
use crate::records::users::store::{self, Stored};
use crate::records::users::writing::{update_events, write};
use db::Tx;
use kernel::json::Json;
use kernel::text::Slug;

/// Gives a user a file as the answer to a field about users, in place of the one before. The field says what types of
/// files it takes, told by their content, and how large they may be.
#[utoipa::path(post, path = "/user/{slug}/upload/{field}", operation_id = "PostUserUploadV23", tag = "Users")]
pub async fn upload(
    caller: Caller,
    Path(user): Path<Slug>,
    Path(PathField(field)): Path<PathField>,
    _: Writer,
    upload: Upload,
) -> Result<Reply, ApiError> {
    upload.write(caller, (user, field), |tx, writing| Box::pin(write_file(tx, writing))).await
}

async fn write_file(tx: &mut Tx, writing: &Writing<Uploaded<(Slug, Slug)>>) -> Result<Reply, ApiError> {
    let Uploaded { received, state: (user, field) } = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, *user).await?.filter(|found| !found.deleted);
    let Stored { user: before, revision, .. } = found.ok_or(ApiError::NotFound)?;
    let asked = program.fields.live(*field).ok_or(ApiError::NotFound)?;
    let mut members = received.members();
    let file = received.file(&mut members, writing.origin.at);
    let wrong = match &file {
        _ if asked.resource != Resource::Users => {
            Err((format!("user_fields.{field}"), "is no field about users".to_owned().into()))
        }
        _ if !asked.is_file() => Err((format!("user_fields.{field}"), "takes no file".to_owned().into())),
        Some(file) => validate_file(asked, &file.filename, &file.content.mime, file.content.size)
            .map_err(|wrong| ("data".to_owned(), wrong)),
        None => Ok(()),
    };
    if let Err((member, wrong)) = wrong {
        members.faults(&member, &wrong);
    }
    let file = members.finish().or(file)?;
    writing.precondition(revision)?;
    let reply = received.record(tx, writing, &file).await?;
    let mut after = before.clone();
    after.user_fields.set(*field, Some(Json::String(file.token.as_str().to_owned().into())));
    after.updated = writing.origin.at;
    let events = update_events(&before, &after);
    write(tx, account, &writing.origin, &after, Action::Updated, &events).await?;
    Ok(reply)
}
