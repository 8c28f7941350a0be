//! The images of categories and chapters: what may be uploaded as one.
//!
//! - An image is a PNG, JPEG, GIF or WebP by its content, whatever its name is, and tells its size in pixels.
//! - It is not wider than the `max_image_width` of its record, where that has one. Images that are there already stay when
//!   the width is lowered.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::http::{ApiError, Caller, Path, Reply, Upload, Uploaded, Writer, Writing};
use crate::log::Action;
use crate::program::{InProgram, store};
use crate::records::files::Content;
use crate::resources::operation::{Takes, operation};
use crate::resources::setup_record::{self, SetupResource};
use crate::services::App;
use db::Tx;
use kernel::input::Members;
use kernel::text::{Slug, Timestamp, Token};

/// The types that are images here.
const TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A kind of record that has images.
pub(super) trait Illustrated: InProgram {
    /// The widest that an image may be, in pixels; nothing for no limit.
    fn max_image_width(&self) -> Option<i64>;

    /// The record with one more image, or with it in place of the one that it had. An error where it can have no more.
    fn illustrated(self, image: Token, now: Timestamp) -> Result<Self, ApiError>;
}

/// `POST /{kind}/{slug}/upload`; `about` says what becomes of the image.
pub(super) fn upload<T: SetupResource + Illustrated>(id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    let path = format!("{}/upload", setup_record::one::<T>());
    let about = format!(
        "{about} It is a PNG, JPEG, GIF or WebP by its content, at most 256 MB large and not wider than \
         `max_image_width`."
    );
    operation((HttpMethod::Post, &path, id, T::GROUP), &about, Takes::Nothing, receive::<T>)
}

async fn receive<T: Illustrated>(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    upload: Upload,
) -> Result<Reply, ApiError> {
    upload.write(caller, slug, |tx, writing| Box::pin(write::<T>(tx, writing))).await
}

/// Gives a record the image that was uploaded.
async fn write<T: Illustrated>(tx: &mut Tx, writing: &Writing<Uploaded<Slug>>) -> Result<Reply, ApiError> {
    let Uploaded { received, state: slug } = &*writing.state;
    let now = writing.origin.at;
    let before = setup_record::find::<T, _>(tx, writing, *slug).await?;
    let mut members = received.members();
    let file = received.file(&mut members, now);
    validate(&mut members, received.content(), before.value.max_image_width());
    let file = members.finish().or(file)?;
    let illustrated = before.value.illustrated(file.token.clone(), now)?;
    writing.precondition(before.revision)?;
    let reply = received.record(tx, writing, &file).await?;
    store::change(tx, writing.account(), &writing.origin, Action::Updated, illustrated).await?;
    Ok(reply)
}

/// Leaves what is wrong with an uploaded image in `members`, under `data`.
fn validate(members: &mut Members<'_>, content: Option<&Content>, max_image_width: Option<i64>) {
    let Some(content) = content else { return };
    if !TYPES.contains(&content.mime.as_str()) {
        members.fault("data", format!("must be a PNG, JPEG, GIF or WebP image, and is {}", content.mime));
        return;
    }
    let (Some(width @ 1..), Some(1..)) = (content.image_width, content.image_height) else {
        members.fault("data", "must be an image that tells its width and height");
        return;
    };
    if let Some(most) = max_image_width.filter(|most| width > *most) {
        members.fault("data", format!("must be at most {most} pixels wide, and is {width}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::json::Object as JsonObject;

    fn checked(bytes: &[u8], max_image_width: Option<i64>) -> Vec<String> {
        let object = JsonObject::new();
        let mut members = Members::closed(&object);
        validate(&mut members, Some(&Content::of(bytes)), max_image_width);
        members.finish().iter().map(|(member, message)| format!("{member} {message}")).collect()
    }

    #[test]
    fn an_image_is_told_by_its_content() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\0\x03";
        assert_eq!(checked(png, None), [""; 0]);
        assert_eq!(checked(b"GIF89a\x05\0\x07\0", Some(5)), [""; 0]);
        for wrong in [b"<svg/>".as_slice(), b"%PDF-1.7", b"", b"II*\0\x08\0\0\0"] {
            assert!(checked(wrong, None)[0].starts_with("data must be a PNG, JPEG, GIF or WebP image, and is "));
        }
    }

    #[test]
    fn an_image_tells_its_size_and_is_not_too_wide() {
        assert_eq!(checked(b"\x89PNG\r\n\x1a\n", None), ["data must be an image that tells its width and height"]);
        assert_eq!(checked(b"GIF89a\0\0\x07\0", None).len(), 1, "no width is no image");
        assert_eq!(checked(b"GIF89a\x05\0\x07\0", Some(4)), ["data must be at most 4 pixels wide, and is 5"]);
    }
}
