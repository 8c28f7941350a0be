//! The type of a content, told by its first bytes and, where these are a container's, by what it contains.

use memchr::memmem;
use sha2::{Digest as _, Sha256};

use crate::records::files::sample::Sample;
use crate::records::files::{compound, image};

/// What a file's bytes tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The media type.
    pub mime: String,
    /// The number of bytes.
    pub size: i64,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    /// The width of the image in pixels, where the content is one of a common kind.
    pub image_width: Option<i64>,
    /// The height of the image in pixels.
    pub image_height: Option<i64>,
}

impl Content {
    /// What these bytes tell.
    pub fn of(bytes: &[u8]) -> Self {
        Self::told_by(&Sample::of(bytes), &Sha256::digest(bytes))
    }

    /// What the bytes of this sample and hash tell.
    pub fn told_by(sample: &Sample<'_>, sha256: &[u8]) -> Self {
        let mime = content_type(sample);
        let sides = image::size(mime, sample.head);
        Self {
            mime: mime.to_owned(),
            size: i64::try_from(sample.size).unwrap_or(i64::MAX),
            sha256: hex::encode(sha256),
            image_width: sides.map(|(width, _)| i64::from(width)),
            image_height: sides.map(|(_, height)| i64::from(height)),
        }
    }
}

/// What is not known to be anything else.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// Contents that their first bytes tell.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
];

/// The media type of a content.
fn content_type(sample: &Sample<'_>) -> &'static str {
    let bytes = sample.head;
    if let Some((_, mime)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return mime;
    }
    match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [_, _, _, _, b'f', b't', b'y', b'p', b1, b2, b3, b4, ..] => of_brand([*b1, *b2, *b3, *b4]),
        [_, _, _, _, b'm', b'o', b'o', b'v', ..] => "video/quicktime",
        [0x1a, 0x45, 0xdf, 0xa3, ..] => of_ebml(bytes),
        [b'O', b'g', b'g', b'S', ..] => of_ogg(bytes),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => "image/bmp",
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => compound::of_zip(sample),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => compound::of_ole(sample),
        [0xff, second, third, ..] if is_mpeg_audio(*second, *third) => "audio/mpeg",
        // Some programs leave blanks before the header, and readers take it (ISO 32000-1, annex H.3).
        _ if bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start().starts_with(b"%PDF-") => {
            "application/pdf"
        }
        _ => of_text(bytes, sample.is_whole()),
    }
}

/// The major brand of an ISO base media file.
fn of_brand(brand: [u8; 4]) -> &'static str {
    match &brand {
        b"qt  " => "video/quicktime",
        b"M4A " | b"M4B " => "audio/mp4",
        b"avif" | b"avis" => "image/avif",
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => "image/heic",
        [b'3', b'g', ..] => "video/3gpp",
        [b'i', b's', b'o', _] | [b'm', b'p', b'4', _] | b"avc1" | b"M4V " | b"dash" | b"MSNV" | b"mmp4" => "video/mp4",
        _ => UNKNOWN,
    }
}

/// The document type of an EBML file stands in its header.
fn of_ebml(bytes: &[u8]) -> &'static str {
    let header = &bytes[..bytes.len().min(64)];
    if memmem::find(header, b"\x42\x82\x84webm").is_some() {
        "video/webm"
    } else if memmem::find(header, b"\x42\x82\x88matroska").is_some() {
        "video/x-matroska"
    } else {
        UNKNOWN
    }
}

/// The first packet of an Ogg stream names its codec; it begins after the page header and its segment table.
fn of_ogg(bytes: &[u8]) -> &'static str {
    let segments = bytes.get(26).copied().map_or(0, usize::from);
    let packet = bytes.get(27 + segments..).unwrap_or_default();
    if packet.starts_with(b"\x80theora") {
        "video/ogg"
    } else if [b"OpusHead".as_slice(), b"\x01vorbis", b"Speex   ", b"\x7fFLAC"]
        .iter()
        .any(|head| packet.starts_with(head))
    {
        "audio/ogg"
    } else {
        "application/ogg"
    }
}

/// Whether the bytes after 0xFF go on as the header of an MPEG audio frame of layer III.
fn is_mpeg_audio(second: u8, third: u8) -> bool {
    let version = second >> 3 & 3;
    let layer = second >> 1 & 3;
    let (bit_rate, sampling_rate) = (third >> 4, third >> 2 & 3);
    second >= 0xe0 && version != 1 && layer == 1 && (1..15).contains(&bit_rate) && sampling_rate != 3
}

/// The type of a text, of which only the beginning is told where it is not whole.
fn of_text(bytes: &[u8], is_whole: bool) -> &'static str {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return "text/plain";
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The beginning may end within a character.
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return UNKNOWN,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.is_empty() || text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}')) {
        return UNKNOWN;
    }
    if root_is_svg(text) {
        "image/svg+xml"
    } else if is_json(text, is_whole) {
        "application/json"
    } else if is_table(text, is_whole) {
        "text/csv"
    } else {
        "text/plain"
    }
}

/// Whether the text is a JSON object or array, or the beginning of one.
fn is_json(text: &str, is_whole: bool) -> bool {
    text.trim_start().starts_with(['{', '['])
        && match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => true,
            Err(error) => !is_whole && error.is_eof(),
        }
}

/// Whether the first element of an XML text, after declaration, comments and document type, is `svg`.
fn root_is_svg(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!DOCTYPE") && rest.split('>').next().is_some_and(|head| head.contains('[')) => "]>",
            _ if rest.starts_with("<!DOCTYPE") => ">",
            _ => {
                let name = rest.strip_prefix("<svg:svg").or_else(|| rest.strip_prefix("<svg"));
                return name
                    .is_some_and(|after| after.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/'));
            }
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
}

/// Whether the text has at least two records, all with the same number of fields and more than one (RFC 4180). The last
/// record of a text that is not whole does not count.
fn is_table(text: &str, is_whole: bool) -> bool {
    let mut widths = Vec::new();
    let (mut commas, mut quoted, mut empty) = (0_usize, false, true);
    for byte in text.bytes().chain(is_whole.then_some(b'\n')) {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => commas += 1,
            b'\n' if !quoted => {
                if !empty {
                    widths.push(commas);
                }
                (commas, empty) = (0, true);
                continue;
            }
            _ => {}
        }
        empty &= byte == b'\r';
    }
    !(quoted && is_whole) && widths.len() >= 2 && widths[0] > 0 && widths.iter().all(|width| *width == widths[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content_type(bytes: &[u8]) -> &'static str {
        super::content_type(&Sample::of(bytes))
    }

    #[test]
    fn a_long_text_is_told_by_its_beginning() {
        let long = |begin: &str, line: &str| {
            let mut text = begin.to_owned();
            while text.len() <= crate::records::files::HEAD {
                text.push_str(line);
            }
            content_type(text.as_bytes())
        };
        assert_eq!(long("", "Grüße, überall "), "text/plain", "the beginning ends within a character or not");
        assert_eq!(long("x", "Grüße, überall "), "text/plain");
        assert_eq!(long("[0", ",1"), "application/json");
        assert_eq!(long("[0", ",x"), "text/plain");
        assert_eq!(long("a,b\n", "1,\"two\nlines\"\n"), "text/csv");
        assert_eq!(long("a,b\n", "1,2,3\n"), "text/plain");
    }

    #[test]
    fn the_first_bytes_tell_the_type() {
        for (bytes, mime) in [
            (b"%PDF-1.7".as_slice(), "application/pdf"),
            (b"\xef\xbb\xbf\r\n%PDF-1.7", "application/pdf"),
            (b"A text about %PDF-1.7", "text/plain"),
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
            (b"RIFF\0\0\0\0AVI LIST", UNKNOWN),
            (b"II*\0\x08\0\0\0", "image/tiff"),
            (b"\0\0\0\x18ftypmp42", "video/mp4"),
            (b"\0\0\0\x14ftypqt  ", "video/quicktime"),
            (b"\0\0\0\x14ftypnone", UNKNOWN),
            (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm", "video/webm"),
            (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska", "video/x-matroska"),
            (b"ID3\x04", "audio/mpeg"),
            (b"BM\x46\0\0\0\0\0\0\0\x36", "image/bmp"),
            (b"\0\0\0\x18ftyphevc", "image/heic"),
            (b"PK\x07\x08PK\x03\x04", "application/zip"),
            (b"\xff\xfb\x90\x64", "audio/mpeg"),
            (b"\xff\xff\xff\xff", UNKNOWN),
            (b"", UNKNOWN),
            (b"\0\x01\x02", UNKNOWN),
        ] {
            assert_eq!(content_type(bytes), mime, "{bytes:?}");
        }
    }

    #[test]
    fn an_ogg_stream_is_told_by_its_first_packet() {
        let ogg = |packet: &[u8]| {
            let mut bytes = b"OggS\0\x02".to_vec();
            bytes.resize(26, 0);
            bytes.extend_from_slice(&[1, 30]);
            bytes.extend_from_slice(packet);
            bytes
        };
        assert_eq!(content_type(&ogg(b"\x01vorbis")), "audio/ogg");
        assert_eq!(content_type(&ogg(b"OpusHead")), "audio/ogg");
        assert_eq!(content_type(&ogg(b"\x80theora")), "video/ogg");
        assert_eq!(content_type(b"OggS"), "application/ogg");
    }

    #[test]
    fn text_is_told_by_what_it_says() {
        for (text, mime) in [
            ("Plain words, and more.", "text/plain"),
            ("\u{feff}Grüße", "text/plain"),
            ("<p>not a page of ours</p>", "text/plain"),
            ("{\"a\": [1]}", "application/json"),
            ("{a}", "text/plain"),
            ("a,b\r\n1,\"x, y\"\r\n", "text/csv"),
            ("a,b\n1\n", "text/plain"),
            ("a\nb\n", "text/plain"),
            ("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "image/svg+xml"),
            ("<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE svg>\n<svg>", "image/svg+xml"),
            ("<svg:svg xmlns:svg=\"http://www.w3.org/2000/svg\"/>", "image/svg+xml"),
            ("<svgx>", "text/plain"),
            ("a\u{0}b", UNKNOWN),
        ] {
            assert_eq!(content_type(text.as_bytes()), mime, "{text:?}");
        }
        assert_eq!(content_type(b"\xc3\x28 broken"), UNKNOWN);
    }

    #[test]
    fn a_content_tells_all_that_is_kept_of_it() {
        let content = Content::of(b"GIF89a\x05\0\x07\0");
        assert_eq!((content.mime.as_str(), content.size), ("image/gif", 10));
        assert_eq!((content.image_width, content.image_height), (Some(5), Some(7)));
        assert_eq!(Content::of(b"words").image_width, None);
    }
}
