//! Names that lie about what a file is.
//!
//! The type of a file is told by its content, so that an image under the name of another type is what it is. A name lies
//! where it claims a type that no text is and the content is one, or where every file of that type begins in one way and
//! the content is of no known type: such a file is broken, or something else in disguise.

use crate::records::files::rules::UNKNOWN;

/// Extensions of contents that are always known by their bytes.
const ALWAYS_KNOWN: &[&str] = &["gif", "jpeg", "jpg", "png", "webp"];

/// Extensions of contents that are never a text, and not always known: a brand of video that is new, a document that is
/// encrypted or was wrapped for a printer.
const NEVER_TEXTS: &[&str] = &[
    "3gp", "avif", "bmp", "docx", "flac", "heic", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "oga", "ogg", "ogv",
    "opus", "pdf", "pptx", "tif", "tiff", "wav", "webm", "xlsx", "zip",
];

/// Contents that people can read.
const TEXTS: &[&str] = &["application/json", "image/svg+xml", "text/csv", "text/plain"];

/// Refuses a content of this media type under a name that claims a type which the content cannot be.
pub fn check_name(filename: &str, mime: &str) -> Result<(), String> {
    let Some((_, extension)) = filename.rsplit_once('.') else { return Ok(()) };
    let claims = |extensions: &[&str]| extensions.iter().any(|one| one.eq_ignore_ascii_case(extension));
    let is_text = TEXTS.contains(&mime);
    let lies = (is_text && claims(NEVER_TEXTS)) || ((is_text || mime == UNKNOWN) && claims(ALWAYS_KNOWN));
    if lies {
        Err(format!("is named .{} and is no such file: its content is {mime}", extension.to_ascii_lowercase()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_lies_where_no_file_of_its_type_has_such_a_content() {
        for (filename, mime) in [
            ("photo.png", "text/plain"),
            ("photo.PNG", UNKNOWN),
            ("a.b.pdf", "application/json"),
            ("film.mp4", "text/csv"),
            ("report.docx", "text/plain"),
            ("logo.jpg", "image/svg+xml"),
        ] {
            assert!(check_name(filename, mime).is_err(), "{filename} {mime}");
        }
        assert_eq!(
            check_name("photo.PNG", UNKNOWN).unwrap_err(),
            "is named .png and is no such file: its content is application/octet-stream"
        );
    }

    #[test]
    fn a_file_of_a_known_type_has_any_name() {
        for (filename, mime) in [
            ("photo.png", "image/png"),
            ("photo.png", "image/jpeg"),
            ("notes.txt", "image/png"),
            ("notes.txt", UNKNOWN),
            ("film.mp4", UNKNOWN),
            ("letter.doc", "text/plain"),
            ("report.docx", "application/zip"),
            ("printed.pdf", UNKNOWN),
            ("photo.jpg", "image/bmp"),
            ("png", "text/plain"),
            ("data.indd", UNKNOWN),
            ("", UNKNOWN),
        ] {
            assert_eq!(check_name(filename, mime), Ok(()), "{filename} {mime}");
        }
    }
}
