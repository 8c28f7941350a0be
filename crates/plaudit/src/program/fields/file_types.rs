//! The types of files that a field takes: extensions such as `pdf`, and media types such as `image/png` or `image/*`.
//!
//! The type of a file is told by its content. Only an extension whose contents cannot be told apart is asked of the file's name.

use kernel::input;
use kernel::json::Json;

/// The longest of them.
const LENGTH: usize = 100;
/// What [`read`] takes, but for the length.
pub(super) const PATTERN: &str = r"^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(/([*]|[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*))?$";

/// The extensions of contents that are told by their bytes, with their media types.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("3gp", &["video/3gpp"]),
    ("avif", &["image/avif"]),
    ("bmp", &["image/bmp"]),
    ("csv", &["text/csv", "text/plain"]),
    ("doc", &["application/msword"]),
    ("docx", &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]),
    ("flac", &["audio/flac"]),
    ("gif", &["image/gif"]),
    ("heic", &["image/heic"]),
    ("jpeg", &["image/jpeg"]),
    ("jpg", &["image/jpeg"]),
    ("json", &["application/json"]),
    ("m4a", &["audio/mp4", "video/mp4"]),
    ("m4v", &["video/mp4"]),
    ("mkv", &["video/x-matroska"]),
    ("mov", &["video/quicktime"]),
    ("mp3", &["audio/mpeg"]),
    ("mp4", &["video/mp4", "audio/mp4"]),
    ("oga", &["audio/ogg"]),
    ("ogg", &["audio/ogg", "video/ogg", "application/ogg"]),
    ("ogv", &["video/ogg"]),
    ("opus", &["audio/ogg"]),
    ("pdf", &["application/pdf"]),
    ("png", &["image/png"]),
    ("ppt", &["application/vnd.ms-powerpoint"]),
    ("pptx", &["application/vnd.openxmlformats-officedocument.presentationml.presentation"]),
    ("svg", &["image/svg+xml"]),
    ("tif", &["image/tiff"]),
    ("tiff", &["image/tiff"]),
    ("txt", &["text/plain", "text/csv"]),
    ("wav", &["audio/wav"]),
    ("webm", &["video/webm"]),
    ("webp", &["image/webp"]),
    ("xls", &["application/vnd.ms-excel"]),
    ("xlsx", &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"]),
    ("zip", &["application/zip"]),
];

/// Reads one of them; what was written in capitals is the same in small letters.
pub(super) fn read(json: &Json) -> Result<String, String> {
    let text = input::filled_text(LENGTH)(json)?.to_ascii_lowercase();
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c))
    };
    let is_type = match text.split_once('/') {
        Some((kind, part)) => is_name(kind) && (part == "*" || is_name(part)),
        None => is_name(&text),
    };
    if is_type {
        Ok(text)
    } else {
        Err("must be an extension such as pdf, or a media type such as image/png or image/*".to_owned())
    }
}

/// Whether a file is of one of these types, where none stands for every type.
pub(super) fn takes(types: &[String], filename: &str, mime: &str) -> bool {
    types.is_empty() || types.iter().any(|wanted| is_of(wanted, filename, mime))
}

fn is_of(wanted: &str, filename: &str, mime: &str) -> bool {
    if let Some(kind) = wanted.strip_suffix("/*") {
        return mime.split('/').next() == Some(kind);
    }
    if wanted.contains('/') {
        return mime == wanted;
    }
    match EXTENSIONS.iter().find(|(extension, _)| *extension == wanted) {
        Some((_, types)) => types.contains(&mime),
        None => filename
            .rsplit_once('.')
            .is_some_and(|(name, extension)| !name.is_empty() && extension.eq_ignore_ascii_case(wanted)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes_one(wanted: &str, filename: &str, mime: &str) -> bool {
        takes(&[wanted.to_owned()], filename, mime)
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(EXTENSIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_type_is_an_extension_or_a_media_type() {
        let read = |text: &str| read(&Json::String(text.into()));
        for right in ["pdf", "7z", "image/png", "image/*", "application/vnd.ms-excel"] {
            assert_eq!(read(right).unwrap(), right);
        }
        assert_eq!(read("PDF").unwrap(), "pdf");
        for wrong in ["", " ", ".pdf", "a b", "*", "*/*", "image/", "/png", "image/png/x", "p\u{e4}f", "image/png;q=1"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_content_decides_and_not_the_name() {
        assert!(takes(&[], "anything", "application/octet-stream"));
        assert!(takes_one("pdf", "a.png", "application/pdf"));
        assert!(!takes_one("pdf", "a.pdf", "image/png"));
        assert!(takes_one("image/*", "a", "image/webp"));
        assert!(!takes_one("image/*", "a", "imagery/webp"));
        assert!(takes_one("image/png", "a", "image/png"));
        assert!(!takes_one("image/png", "a.png", "image/jpeg"));
    }

    #[test]
    fn an_extension_whose_content_cannot_be_told_is_asked_of_the_name() {
        assert!(takes_one("indd", "Poster.INDD", "application/octet-stream"));
        assert!(!takes_one("indd", "poster.ai", "application/octet-stream"));
        assert!(!takes_one("indd", "indd", "application/octet-stream"));
        assert!(!takes_one("indd", ".indd", "application/octet-stream"));
    }
}
