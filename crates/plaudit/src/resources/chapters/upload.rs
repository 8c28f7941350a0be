//! The image of a chapter.

use crate::http::{ApiError, Caller, PathSlug, Reply, Upload, Writer};
use crate::program::chapters::Chapter;
use crate::resources::images::{self, Illustrated};
use kernel::text::{Timestamp, Token};

impl Illustrated for Chapter {
    fn max_image_width(&self) -> Option<i64> {
        self.max_image_width
    }

    fn illustrated(self, image: Token, now: Timestamp) -> Result<Self, ApiError> {
        Ok(Self { image: Some(image), updated: now, ..self })
    }
}

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
    upload.write(caller, slug, |tx, writing| Box::pin(images::write::<Chapter>(tx, writing))).await
}
