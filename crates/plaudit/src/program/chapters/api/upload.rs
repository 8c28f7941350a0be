//! The image of a chapter.

use crate::http::{ApiError, Caller, PathSlug, Reply, Upload, Uploaded, Writer, Writing};
use crate::log::Action;
use crate::program::chapters::Chapter;
use crate::program::{images, store};
use db::Tx;
use kernel::text::Slug;

/// Gives a chapter an image, in place of the one that it had. It is a PNG, JPEG, GIF or WebP by its content, at most 256
/// MB large and not wider than `max_image_width`.
#[utoipa::path(
    post,
    path = "/chapter/{slug}/upload",
    operation_id = "PostChapterUploadV23",
    tag = "Chapters",
    request_body(content = ref("UploadFile"), content_type = "application/json"),
    responses(
        (status = 201, description = "The file of the image", body = ref("UploadedFile")),
    ),
)]
pub async fn upload(caller: Caller, PathSlug(slug): PathSlug, _: Writer, upload: Upload) -> Result<Reply, ApiError> {
    upload.write(caller, slug, |tx, writing| Box::pin(write_image(tx, writing))).await
}

async fn write_image(tx: &mut Tx, writing: &Writing<Uploaded<Slug>>) -> Result<Reply, ApiError> {
    let Uploaded { received, state: slug } = &*writing.state;
    let (account, now) = (writing.account(), writing.origin.at);
    let found = store::find_for_update::<Chapter>(tx, account, *slug, &writing.program.context).await?;
    let before = found.ok_or(ApiError::NotFound)?;
    let mut members = received.members();
    let file = received.file(&mut members, now);
    images::validate(&mut members, received.content(), before.value.max_image_width);
    let file = members.finish().or(file)?;
    writing.precondition(before.revision)?;
    let reply = received.record(tx, writing, &file).await?;
    let chapter = Chapter { image: Some(file.token), updated: now, ..before.value };
    store::change(tx, account, &writing.origin, Action::Updated, chapter).await?;
    Ok(reply)
}
