//! Signed, time-limited download addresses, and the answer to one.
//!
//! An address is `/download/{account slug}/{token}?expires={seconds}&signature={signature}`. The signature is the
//! HMAC-SHA256 of everything before `&signature=`, in base64url without padding. Slugs and tokens are letters, so the
//! signed text can be read in one way only.

use std::ops::Range;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::storage::{Storage, StorageError};

/// The length of a signature in an address: 32 bytes in base64.
const SIGNATURE: usize = 43;

/// Signs and verifies download addresses. The key is hashed once; every address starts from a copy of that state.
#[derive(Clone)]
pub struct DownloadSigner {
    keyed: Hmac<Sha256>,
    lifetime_seconds: i64,
}

impl std::fmt::Debug for DownloadSigner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DownloadSigner").finish_non_exhaustive()
    }
}

/// Why an address is refused; both are answered 403.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It was good once.
    #[error("the download address has expired")]
    Expired,
    /// It was not made here.
    #[error("the download address is not valid")]
    Tampered,
}

impl Refused {
    /// The status of the answer.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        StatusCode::FORBIDDEN
    }
}

impl DownloadSigner {
    /// A signer with this secret, whose addresses are good for at least `lifetime_seconds`.
    #[must_use]
    pub fn new(secret: &[u8; 32], lifetime_seconds: u32) -> Self {
        // HMAC fills a shorter key with zeros itself; a whole block cannot be refused.
        let mut block = [0; 64];
        block[..secret.len()].copy_from_slice(secret);
        Self { keyed: Hmac::new(&block.into()), lifetime_seconds: i64::from(lifetime_seconds) }
    }

    /// When an address made now ends: at a whole minute, so that answers made within one minute are the same.
    #[must_use]
    pub fn expiry(&self, now_unix: i64) -> i64 {
        let end = now_unix.saturating_add(self.lifetime_seconds);
        end.saturating_add((60 - end.rem_euclid(60)) % 60)
    }

    /// Appends the address of a file, from its first slash on. Account and token must be letters.
    pub fn write_address(&self, out: &mut Vec<u8>, account: &str, token: &str, expires_unix: i64) {
        let start = out.len();
        write_signed_part(out, account, token, expires_unix);
        let signature = self.signature(&out[start..]);
        out.extend_from_slice(b"&signature=");
        out.extend_from_slice(&signature);
    }

    /// Whether the parts of an address are as they were made, and still good.
    pub fn verify(
        &self,
        account: &str,
        token: &str,
        expires: &str,
        signature: &str,
        now_unix: i64,
    ) -> Result<(), Refused> {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let expires_unix: i64 = expires.parse().map_err(|_| Refused::Tampered)?;
        if !is_name(account) || !is_name(token) || expires_unix.to_string() != expires {
            return Err(Refused::Tampered);
        }
        let mut given = [0; 32];
        match URL_SAFE_NO_PAD.decode_slice(signature, &mut given) {
            Ok(32) => {}
            _ => return Err(Refused::Tampered),
        }
        let mut signed = Vec::with_capacity(64);
        write_signed_part(&mut signed, account, token, expires_unix);
        let mut state = self.keyed.clone();
        state.update(&signed);
        // `verify_slice` takes the same time wherever the two differ.
        state.verify_slice(&given).map_err(|_| Refused::Tampered)?;
        if now_unix < expires_unix { Ok(()) } else { Err(Refused::Expired) }
    }

    /// The signature of an address that is no download. What is signed is the address up to `&signature=`, so that its
    /// path tells what it is good for.
    #[must_use]
    pub fn signature_of(&self, signed: &str) -> String {
        self.signature(signed.as_bytes()).iter().copied().map(char::from).collect()
    }

    /// Whether this is the signature of an address; takes the same time wherever the two differ.
    #[must_use]
    pub fn is_signature_of(&self, signed: &str, signature: &str) -> bool {
        let mut given = [0; 32];
        let is_whole = matches!(URL_SAFE_NO_PAD.decode_slice(signature, &mut given), Ok(32));
        let mut state = self.keyed.clone();
        state.update(signed.as_bytes());
        state.verify_slice(&given).is_ok() && is_whole
    }

    fn signature(&self, signed: &[u8]) -> [u8; SIGNATURE] {
        let mut state = self.keyed.clone();
        state.update(signed);
        let mut text = [0; SIGNATURE];
        let written = URL_SAFE_NO_PAD.encode_slice(state.finalize().into_bytes(), &mut text);
        debug_assert_eq!(written.ok(), Some(SIGNATURE));
        text
    }
}

fn write_signed_part(out: &mut Vec<u8>, account: &str, token: &str, expires_unix: i64) {
    debug_assert!(account.bytes().chain(token.bytes()).all(|byte| byte.is_ascii_alphabetic()));
    out.extend_from_slice(b"/download/");
    out.extend_from_slice(account.as_bytes());
    out.push(b'/');
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(b"?expires=");
    out.extend_from_slice(itoa::Buffer::new().format(expires_unix).as_bytes());
}

/// The signature of one address, for tests and tools; the service keeps a [`DownloadSigner`].
#[must_use]
pub fn sign(secret: &[u8; 32], account: &str, token: &str, expires_unix: i64) -> String {
    let mut signed = Vec::with_capacity(64);
    write_signed_part(&mut signed, account, token, expires_unix);
    DownloadSigner::new(secret, 0).signature(&signed).iter().copied().map(char::from).collect()
}

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
    #[must_use]
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
#[must_use]
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

    const SECRET: [u8; 32] = [7; 32];

    fn signer() -> DownloadSigner {
        DownloadSigner::new(&SECRET, 900)
    }

    /// Account, token, expiry and signature of an address.
    fn parts(address: &str) -> [String; 4] {
        let (path, query) = address.strip_prefix("/download/").unwrap().split_once('?').unwrap();
        let (account, token) = path.split_once('/').unwrap();
        let (expires, signature) = query.strip_prefix("expires=").unwrap().split_once("&signature=").unwrap();
        [account, token, expires, signature].map(str::to_owned)
    }

    #[test]
    fn an_address_is_good_until_it_ends() {
        let mut out = b"https://x".to_vec();
        signer().write_address(&mut out, "AbCdEfGh", "TokenAbc", 1_800_000_000);
        let address = String::from_utf8(out.split_off(9)).unwrap();
        let [account, token, expires, signature] = parts(&address);
        assert_eq!([account.as_str(), &token, &expires], ["AbCdEfGh", "TokenAbc", "1800000000"]);
        assert_eq!(signature, sign(&SECRET, "AbCdEfGh", "TokenAbc", 1_800_000_000));
        let verify = |now| signer().verify(&account, &token, &expires, &signature, now);
        assert_eq!(verify(1_799_999_999), Ok(()));
        assert_eq!(verify(1_800_000_000), Err(Refused::Expired));
        let other = DownloadSigner::new(&[8; 32], 900);
        assert_eq!(other.verify(&account, &token, &expires, &signature, 0), Err(Refused::Tampered));
    }

    #[test]
    fn the_signature_is_plain_hmac() {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&SECRET).unwrap();
        mac.update(b"/download/A/B?expires=60");
        assert_eq!(sign(&SECRET, "A", "B", 60), URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
    }

    #[test]
    fn any_change_is_tampering() {
        let good = ["AbCdEfGh", "TokenAbc", "1800000000", &sign(&SECRET, "AbCdEfGh", "TokenAbc", 1_800_000_000)];
        let verify = |parts: [&str; 4]| signer().verify(parts[0], parts[1], parts[2], parts[3], 0);
        assert_eq!(verify(good), Ok(()));
        for position in 0..4 {
            for at in 0..good[position].len() {
                let mut changed = good[position].as_bytes().to_vec();
                changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
                let changed = String::from_utf8(changed).unwrap();
                let mut parts = good;
                parts[position] = &changed;
                assert_eq!(verify(parts), Err(Refused::Tampered), "{parts:?}");
            }
            for wrong in ["", "+1800000000", "01800000000", "../x", "é", "a?b"] {
                let mut parts = good;
                parts[position] = wrong;
                assert_eq!(verify(parts), Err(Refused::Tampered), "{parts:?}");
            }
        }
        assert_eq!(verify(["TokenAbc", "AbCdEfGh", good[2], good[3]]), Err(Refused::Tampered));
    }

    #[test]
    fn an_address_ends_at_a_whole_minute() {
        assert_eq!(signer().expiry(0), 900);
        assert_eq!(signer().expiry(1), 960);
        assert_eq!(signer().expiry(60), 960);
        assert_eq!(signer().expiry(61), 1020);
    }

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
