//! Files as answers.

use crate::access::{Sight, applicant};
use crate::http::{ApiError, Caller, Path, PathField, Reply, Upload, Uploaded, Writer, Writing};
use crate::program::fields::validate_file;
use crate::records::entries::given::{FieldScope, file_field};
use crate::records::entries::rules::writing::give_file;
use crate::records::entries::store::{self, Change};
use db::Tx;
use kernel::text::Slug;

/// Gives an entry a file as the answer to a field, in place of the one that it had. The field says what types of files it
/// takes, told by their content, and how large they may be.
#[utoipa::path(post, path = "/entry/{slug}/upload/{field}", operation_id = "PostEntryUploadV23", tag = "Entries")]
pub async fn upload(
    caller: Caller,
    Path(entry): Path<Slug>,
    Path(PathField(field)): Path<PathField>,
    _: Writer,
    upload: Upload,
) -> Result<Reply, ApiError> {
    upload.write(caller, (entry, field), |tx, writing| Box::pin(write_file(tx, writing))).await
}

async fn write_file(tx: &mut Tx, writing: &Writing<Uploaded<(Slug, Slug)>>) -> Result<Reply, ApiError> {
    let Uploaded { received, state: (entry, field) } = &*writing.state;
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, *entry).await?.ok_or(ApiError::NotFound)?;
    let before = found.entry()?;
    let sight = writing.sight_of(&before)?;
    let asked = program.fields.live(*field).filter(|field| writing.access.field(field)).ok_or(ApiError::NotFound)?;
    let mut members = received.members();
    let file = received.file(&mut members, writing.origin.at);
    if sight == Sight::Applicant && !asked.applicant.write {
        members.fault(&format!("entry_fields.{field}"), applicant::NOT_THEIRS);
    }
    match file_field(program, FieldScope { form: Some(before.form), category: Some(before.category) }, *field) {
        Ok(found) => {
            if let Some(file) = &file
                && let Err(wrong) = validate_file(found, &file.filename, &file.content.mime, file.content.size)
            {
                members.faults("data", &wrong);
            }
        }
        Err(message) => members.fault(&format!("entry_fields.{field}"), message),
    }
    let after = give_file(program, &before, (*field, received.token()), members.finish())?;
    let file = file.ok_or_else(|| ApiError::Internal("an upload without a fault has no file".to_owned()))?;
    writing.precondition_of(&found)?;
    let reply = received.record(tx, writing, &file).await?;
    let change = Change { before: Some(&found), after, deleted: false, is_copy: false };
    store::write(tx, account, program, &writing.origin, change).await?;
    Ok(reply)
}
