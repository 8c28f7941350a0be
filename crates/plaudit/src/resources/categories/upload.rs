//! The images of a category.

use crate::http::{ApiError, Caller, PathSlug, Reply, Upload, Writer};
use crate::program::categories::{Category, IMAGES};
use crate::resources::images::{self, Illustrated};
use kernel::text::{Timestamp, Token};

impl Illustrated for Category {
    fn max_image_width(&self) -> Option<i64> {
        self.max_image_width
    }

    fn illustrated(mut self, image: Token, now: Timestamp) -> Result<Self, ApiError> {
        if self.images.len() >= IMAGES {
            return Err(ApiError::State(format!("The category has {IMAGES} images, and can have no more.")));
        }
        self.images.push(image);
        self.updated = now;
        Ok(self)
    }
}

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
    upload.write(caller, slug, |tx, writing| Box::pin(images::write::<Category>(tx, writing))).await
}
