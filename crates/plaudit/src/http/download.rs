//! Signed, time-limited download addresses, and the answer to one.
//!
//! An address is `/download/{account slug}/{token}?expires={seconds}&signature={signature}`. The signature is the
//! HMAC-SHA256 of everything before `&signature=`, in base64url without padding. Slugs and tokens are letters, so the
//! signed text can be read in one way only.

use std::ops::Range;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};

use crate::storage::{Storage, StorageError};

/// What is known of a file that is to be sent.
#[derive(Clone, Copy, Debug)]
pub struct FileDetails<'a> {
    /// The slug of its account.
    pub account: &'a str,
    /// Its token.
    pub token: &'a str,
    /// The name that it was uploaded under.
    pub filename: &'a str,
    /// Its media type, by content.
    pub mime: &'a str,
    /// Its length in bytes.
    pub size: u64,
}

/// What a `Range` header asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Portion {
    /// The whole: there is no header, or one that is not understood, or several ranges.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Nothing that there is.
    Unsatisfiable,
}

impl Portion {
    /// Reads a `Range` header for a file of `size` bytes.
    pub fn of(header: Option<&HeaderValue>, size: u64) -> Self {
        header.and_then(|value| value.to_str().ok()).and_then(|text| Self::parse(text, size)).unwrap_or(Self::Whole)
    }

    fn parse(text: &str, size: u64) -> Option<Self> {
        let number = |text: &str| match text.trim() {
            digits if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().unwrap_or(u64::MAX))
            }
            _ => None,
        };
        let (unit, range) = text.split_once('=')?;
        let (first, last) = range.trim().split_once('-')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let part = if first.is_empty() {
            size.saturating_sub(number(last)?)..size
        } else {
            let first = number(first)?;
            let last = if last.trim().is_empty() { u64::MAX } else { number(last)? };
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(size)
        };
        Some(if part.start < part.end { Self::Part(part) } else { Self::Unsatisfiable })
    }
}

/// The answer with a file's content, or the part of it that `portion` says. The headers keep a browser from showing
/// or running what people uploaded: it is saved under its name.
pub fn response(file: &FileDetails<'_>, portion: &Portion, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let (status, length, range) = match portion {
        Portion::Whole => (StatusCode::OK, file.size, None),
        Portion::Part(part) => {
            let range = format!("bytes {}-{}/{}", part.start, part.end.saturating_sub(1), file.size);
            (StatusCode::PARTIAL_CONTENT, part.end.saturating_sub(part.start), Some(range))
        }
        Portion::Unsatisfiable => {
            *response.body_mut() = Body::empty();
            (StatusCode::RANGE_NOT_SATISFIABLE, 0, Some(format!("bytes */{}", file.size)))
        }
    };
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Some(range) = range.and_then(|range| HeaderValue::try_from(range).ok()) {
        headers.insert(header::CONTENT_RANGE, range);
    }
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=900"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    if *portion != Portion::Unsatisfiable {
        let unknown = HeaderValue::from_static("application/octet-stream");
        headers.insert(header::CONTENT_TYPE, HeaderValue::try_from(file.mime).unwrap_or(unknown));
        let attachment = HeaderValue::from_static("attachment");
        let disposition = HeaderValue::try_from(content_disposition(file.filename)).unwrap_or(attachment);
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// The answer to a download whose address has been verified. The caller passes the `Range` header on only when there
/// is no `If-Range`: a file's address has no validator that it could be compared with.
pub async fn serve_file(
    storage: &Storage,
    file: &FileDetails<'_>,
    range: Option<&HeaderValue>,
) -> Result<Response<Body>, StorageError> {
    let portion = Portion::of(range, file.size);
    let part = match &portion {
        Portion::Unsatisfiable => return Ok(response(file, &portion, Body::empty())),
        Portion::Part(part) => Some(part.clone()),
        Portion::Whole => None,
    };
    let (actual, pieces) = storage.get_stream(file.account, file.token, part).await?;
    if actual != file.size {
        let name = format!("{}/{}", file.account, file.token);
        return Err(StorageError::Length { name, actual, expected: file.size });
    }
    Ok(response(file, &portion, Body::from_stream(pieces)))
}

/// `Content-Disposition` with the name twice: in ASCII, and as it is (RFC 6266).
fn content_disposition(filename: &str) -> String {
    let mut value = String::from("attachment; filename=\"");
    let mut encoded = String::new();
    for letter in filename.chars().filter(|letter| !is_misleading(*letter)) {
        let letter = if matches!(letter, '/' | '\\') { '_' } else { letter };
        value.push(if matches!(letter, ' '..='~') && !matches!(letter, '"' | '%') { letter } else { '_' });
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                encoded.push('%');
                encoded.push_str(&hex::encode_upper([byte]));
            }
        }
    }
    if encoded.is_empty() {
        return "attachment; filename=\"file\"; filename*=UTF-8''file".to_owned();
    }
    value.push_str("\"; filename*=UTF-8''");
    value.push_str(&encoded);
    value
}

/// Control characters, and those that turn the direction of writing, so that `exe.txt` can be made of `txt.exe`.
fn is_misleading(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::storage::Settings;

    #[test]
    fn ranges_are_read() {
        let portion = |text: &'static str| Portion::of(Some(&HeaderValue::from_static(text)), 10);
        assert_eq!(Portion::of(None, 10), Portion::Whole);
        assert_eq!(portion("bytes=0-0"), Portion::Part(0..1));
        assert_eq!(portion("Bytes = 2-5"), Portion::Part(2..6));
        assert_eq!(portion("bytes=2-"), Portion::Part(2..10));
        assert_eq!(portion("bytes=-3"), Portion::Part(7..10));
        assert_eq!(portion("bytes=-30"), Portion::Part(0..10));
        assert_eq!(portion("bytes=9-99999999999999999999999"), Portion::Part(9..10));
        for nothing in ["bytes=10-", "bytes=10-20", "bytes=-0"] {
            assert_eq!(portion(nothing), Portion::Unsatisfiable, "{nothing}");
        }
        for ignored in ["", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "items=0-1", "bytes=0-1,3-4"] {
            assert_eq!(portion(ignored), Portion::Whole, "{ignored}");
        }
        assert_eq!(Portion::of(Some(&HeaderValue::from_static("bytes=0-")), 0), Portion::Unsatisfiable);
    }

    #[test]
    fn names_are_given_twice_and_cannot_mislead() {
        let name = content_disposition;
        assert_eq!(name("a b.pdf"), "attachment; filename=\"a b.pdf\"; filename*=UTF-8''a%20b.pdf");
        assert_eq!(name("Übung.txt"), "attachment; filename=\"_bung.txt\"; filename*=UTF-8''%C3%9Cbung.txt");
        let tricky = "attachment; filename=\"_x_..__41\"; filename*=UTF-8''%22x_.._%2541";
        assert_eq!(name("\"x\\../%41"), tricky);
        assert_eq!(name("a\r\nb\u{202E}txt.exe"), "attachment; filename=\"abtxt.exe\"; filename*=UTF-8''abtxt.exe");
        assert_eq!(name("\n"), "attachment; filename=\"file\"; filename*=UTF-8''file");
    }

    async fn served(range: Option<&'static str>, size: u64) -> Result<(Response<()>, Bytes), StorageError> {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&Settings::at(&format!("file:{}", folder.path().display()))).unwrap();
        storage.put("Account", "Token", Bytes::from_static(b"0123456789")).await.unwrap();
        let file = FileDetails { account: "Account", token: "Token", filename: "a.txt", mime: "text/html", size };
        let answer = serve_file(&storage, &file, range.map(HeaderValue::from_static).as_ref()).await?;
        let (parts, body) = answer.into_parts();
        Ok((Response::from_parts(parts, ()), body.collect().await.unwrap().to_bytes()))
    }

    #[tokio::test]
    async fn a_file_is_sent_whole_with_headers_that_keep_browsers_from_running_it() {
        let (answer, body) = served(None, 10).await.unwrap();
        assert_eq!((answer.status().as_u16(), body.as_ref()), (200, b"0123456789".as_slice()));
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(header("content-length"), "10");
        assert_eq!(header("content-type"), "text/html");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "sandbox");
        assert_eq!(header("accept-ranges"), "bytes");
        assert!(header("content-disposition").starts_with("attachment;"));
    }

    #[tokio::test]
    async fn a_part_is_206_and_one_beyond_the_end_is_416() {
        let (answer, body) = served(Some("bytes=3-5"), 10).await.unwrap();
        assert_eq!((answer.status().as_u16(), body.as_ref()), (206, b"345".as_slice()));
        assert_eq!(answer.headers()["content-range"], "bytes 3-5/10");
        assert_eq!(answer.headers()["content-length"], "3");
        let (answer, body) = served(Some("bytes=10-"), 10).await.unwrap();
        assert_eq!((answer.status().as_u16(), body.len()), (416, 0));
        assert_eq!(answer.headers()["content-range"], "bytes */10");
    }

    #[tokio::test]
    async fn a_file_of_another_length_than_its_record_is_a_fault() {
        let refused = served(None, 11).await.unwrap_err();
        assert!(matches!(refused, StorageError::Length { actual: 10, expected: 11, .. }));
    }
}
