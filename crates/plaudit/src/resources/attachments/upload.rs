//! New attachments.

use crate::access::{Sight, applicant};
use crate::http::upload::answer;
use crate::http::{ApiError, Caller, Path, PathTab, Reply, Upload, Uploaded, Writer, Writing};
use crate::log::Action;
use crate::records::answers::Answers;
use crate::records::entries::attachments::{Attachment, MOST, rules};
use crate::records::entries::{self, check_changeable};
use crate::records::people;
use crate::resources::entry_children::write;
use db::Tx;
use kernel::kind::Kind;
use kernel::text::Slug;

/// Attaches a file to an entry, on a tab for attachments of its form. It is of any type, at most 256 MB large.
#[utoipa::path(
    post, path = "/entry/{slug}/attachment/{tab}", operation_id = "PostEntryAttachmentV23", tag = "Attachments",
    request_body = ref("UploadAttachment"),
    responses((status = 201, description = "The name, token and address of the attachment", body = ref("UploadedFile"))),
)]
pub async fn upload(
    caller: Caller,
    Path(entry): Path<Slug>,
    Path(PathTab(tab)): Path<PathTab>,
    _: Writer,
    upload: Upload,
) -> Result<Reply, ApiError> {
    upload.write(caller, (entry, tab), |tx, writing| Box::pin(write_upload(tx, writing))).await
}

async fn write_upload(tx: &mut Tx, writing: &Writing<Uploaded<(Slug, Slug)>>) -> Result<Reply, ApiError> {
    let Uploaded { received, state } = &*writing.state;
    let (entry_slug, tab) = *state;
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let entry = entries::store::find_for_update(tx, account, entry_slug).await?.ok_or(ApiError::NotFound)?;
    let head = entry.head()?;
    let sight = writing.sight_of(&head)?;
    if program.tabs.live(tab).is_none() {
        return Err(ApiError::NotFound);
    }
    let mut members = received.members();
    let file = received.file(&mut members, now);
    let mut given = rules::read_upload(&mut members, tab);
    let blank = Attachment {
        token: received.token().clone(),
        entry: entry_slug,
        tab,
        order: 0,
        attachment_fields: Answers::default(),
        created: now,
        updated: now,
    };
    let mut violations = members.finish();
    if sight == Sight::Applicant {
        let member = ("attachment_fields", "tab");
        applicant::check_answers(program, member, &mut given.attachment_fields, &mut violations);
    }
    let attachment = rules::update(program, &head, &blank, (given, violations), now)?;
    let file = file.ok_or_else(|| ApiError::Internal("an upload without a fault has no file".to_owned()))?;
    check_changeable(program, &head)?;
    if people::count_of_entry::<Attachment>(tx, account, entry_slug).await? >= MOST {
        return Err(ApiError::State(format!("The entry has {MOST} attachments, which are the most.")));
    }
    writing.precondition_of(&entry)?;
    received.keep(tx, writing, &file).await?;
    let revision = write(tx, writing, attachment, Action::Created).await?;
    Ok(answer(&file, Kind::Attachment, revision))
}
