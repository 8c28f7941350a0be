//! The images of a category.

use crate::http::{ApiError, Caller, PathSlug, Reply, Upload, Uploaded, Writer, Writing};
use crate::log::Action;
use crate::program::categories::{Category, IMAGES};
use crate::program::{images, store};
use db::Tx;
use kernel::text::Slug;

/// Adds an image to a category. It is a PNG, JPEG, GIF or WebP by its content, at most 256 MB large and not wider than
/// `max_image_width`.
#[utoipa::path(
    post,
    path = "/category/{slug}/upload",
    operation_id = "PostCategoryUploadV23",
    tag = "Categories",
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
    let found = store::find_for_update::<Category>(tx, account, *slug, &writing.program.context).await?;
    let before = found.ok_or(ApiError::NotFound)?;
    let mut members = received.members();
    let file = received.file(&mut members, now);
    images::validate(&mut members, received.content(), before.value.max_image_width);
    let file = members.finish().or(file)?;
    if before.value.images.len() >= IMAGES {
        return Err(ApiError::State(format!("The category has {IMAGES} images, and can have no more.")));
    }
    writing.precondition(before.revision)?;
    let reply = received.record(tx, writing, &file).await?;
    let mut category = before.value;
    category.images.push(file.token);
    category.updated = now;
    store::change(tx, account, &writing.origin, Action::Updated, category).await?;
    Ok(reply)
}
