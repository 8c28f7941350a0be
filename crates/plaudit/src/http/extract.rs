//! What handlers take from a request. Their arguments stand in the order in which a request is checked.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use http_body_util::BodyExt as _;

use super::{ApiError, Caller};
use crate::lists::page::asks_for_settings;
use crate::render::content::Draft;
use kernel::document::{Object, extended};
use kernel::json;
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, Token};

/// A part of the path; a malformed one is 400.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

/// What stands in a path.
pub trait PathPart: Sized {
    /// The name of the parameter.
    const NAME: &'static str;
    /// What is answered where it is malformed.
    const MALFORMED: &'static str;
    /// Reads it.
    const PARSE: fn(&str) -> Option<Self>;
    /// Whether a text that cannot be read is only longer than anything that there is.
    const IS_TOO_LONG: fn(&str) -> bool = |_| false;
}

impl PathPart for Slug {
    const NAME: &'static str = "slug";
    const MALFORMED: &'static str = "The slug in the path must be exactly 8 ASCII letters.";
    const PARSE: fn(&str) -> Option<Self> = Self::parse;
}

impl PathPart for Token {
    const NAME: &'static str = "token";
    const MALFORMED: &'static str = "The token in the path must be ASCII letters.";
    const PARSE: fn(&str) -> Option<Self> = Self::parse;
    const IS_TOO_LONG: fn(&str) -> bool =
        |token| token.len() > 64 && token.bytes().all(|byte| byte.is_ascii_alphabetic());
}

/// The user in the path, by a slug or an e-mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathUser {
    /// By the slug.
    Slug(Slug),
    /// By the e-mail address, as it was given.
    Email(String),
}

impl PathPart for PathUser {
    const NAME: &'static str = "slug";
    const MALFORMED: &'static str =
        "The user in the path must be a slug of exactly 8 ASCII letters, or an e-mail address.";
    const PARSE: fn(&str) -> Option<Self> = |name| {
        let email = || kernel::input::email(&Json::String(name.into())).ok().map(Self::Email);
        Slug::parse(name).map(Self::Slug).or_else(email)
    };
}

/// The slug of a field behind the record's own in the path.
#[derive(Clone, Copy, Debug)]
pub struct PathField(pub Slug);

impl PathPart for PathField {
    const NAME: &'static str = "field";
    const MALFORMED: &'static str = "The slug of the field in the path must be exactly 8 ASCII letters.";
    const PARSE: fn(&str) -> Option<Self> = |slug| Slug::parse(slug).map(Self);
}

/// The slug of a tab behind the record's own in the path.
#[derive(Clone, Copy, Debug)]
pub struct PathTab(pub Slug);

impl PathPart for PathTab {
    const NAME: &'static str = "tab";
    const MALFORMED: &'static str = "The slug of the tab in the path must be exactly 8 ASCII letters.";
    const PARSE: fn(&str) -> Option<Self> = |slug| Slug::parse(slug).map(Self);
}

/// The tags in the path, with commas between them; percent-encoded text that is not UTF-8 is malformed.
#[derive(Clone, Debug)]
pub struct PathTags(pub String);

impl PathPart for PathTags {
    const NAME: &'static str = "tags";
    const MALFORMED: &'static str = "The tags in the path must be UTF-8.";
    const PARSE: fn(&str) -> Option<Self> = |tags| Some(Self(tags.to_owned()));
}

impl<S: Send + Sync, T: PathPart> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let part = params.as_ref().and_then(|params| params.iter().find(|(name, _)| *name == T::NAME));
        let text = part.map_or("", |(_, text)| text);
        T::PARSE(text).map(Self).ok_or_else(|| {
            if T::IS_TOO_LONG(text) { ApiError::NotFound } else { ApiError::BadRequest(T::MALFORMED.to_owned()) }
        })
    }
}

/// Whether a single read is asked for the settings as well, by `include=settings`; another value is 400.
#[derive(Clone, Copy, Debug)]
pub struct IncludeSettings(bool);

impl IncludeSettings {
    /// The document, with the members of create and update in `settings` where they were asked for.
    pub fn added_to(self, document: String, write: impl FnOnce(&mut Object<'_>)) -> String {
        if self.0 { extended(&document, |object| object.object("settings", write)) } else { document }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IncludeSettings {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(asks_for_settings(parts.uri.query())?))
    }
}

/// Beside a request of which only what comes before its body is to be checked: [`Writer`] ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeBody;

/// Stands where an operation reads, behind what the path has: a person without a role that has it is refused.
#[derive(Clone, Copy, Debug)]
pub struct Reader;

impl<S: Send + Sync> FromRequestParts<S> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Caller::from_request_parts(parts, state).await?.permit().map(|()| Self)
    }
}

/// Stands where an operation writes: a key that only reads is refused, and a person without a role that has it.
#[derive(Clone, Copy, Debug)]
pub struct Writer;

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        if !caller.writes() {
            return Err(ApiError::ReadOnlyKey);
        }
        caller.permit()?;
        if parts.extensions.get::<BeforeBody>().is_some() { Err(ApiError::BodyAwaited) } else { Ok(Self) }
    }
}

/// A body that is a JSON object.
#[derive(Clone, Debug)]
pub struct Body(pub JsonObject<'static>);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, state).await?;
        let bytes = match read(&caller, body).await {
            // Of a body that is too long, its type is told first.
            Err(ApiError::TooLarge(_)) if !is_json(caller.headers()) => return Err(not_json()),
            read => read?,
        };
        if bytes.trim_ascii().is_empty() {
            return Err(empty());
        }
        if !is_json(caller.headers()) {
            return Err(not_json());
        }
        Ok(Self(json::parse_object(&bytes).map_err(|error| no_object(&error))?.into_owned()))
    }
}

pub(super) fn empty() -> ApiError {
    ApiError::BadRequest("The request body is empty.".to_owned())
}

pub(super) fn not_json() -> ApiError {
    ApiError::BadRequest("The Content-Type of the request must be application/json.".to_owned())
}

pub(super) fn no_object(error: &json::BodyError) -> ApiError {
    ApiError::BadRequest(format!("The request body is not a JSON object: {error}."))
}

/// Whether a body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    // Two of them leave open which one is meant.
    let (Some(media_type), None) = (given.next(), given.next()) else { return false };
    let media_type = media_type.to_str().unwrap_or_default();
    // A parameter such as charset=utf-8 says nothing that JSON does not say itself.
    media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// The bytes of a piece of a body after which others go first.
const LONG_PIECE: usize = 8 << 10;

/// The next bytes of a body, which must come within `pause`; nothing at its end.
pub(super) async fn next_piece(body: &mut axum::body::Body, pause: Duration) -> Result<Option<Bytes>, ApiError> {
    loop {
        match tokio::time::timeout(pause, body.frame()).await {
            Err(_) => return Err(ApiError::BadRequest("The request body did not arrive in time.".to_owned())),
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(piece) = frame.into_data() {
                    if piece.len() >= LONG_PIECE {
                        // Else whoever sends fast has a processor until all has come, and others' sockets are not looked at.
                        tokio::task::yield_now().await;
                    }
                    return Ok(Some(piece));
                }
            }
            Ok(Some(Err(_))) => return Err(ApiError::BadRequest("The request body broke off.".to_owned())),
        }
    }
}

/// The bytes of a body beyond which few are taken apart at the same time: as members it takes many times as much.
const LONG: usize = 64 << 10;

/// Reads a body of at most `max_body_bytes`. What is long waits within the budgets until all of it has come, and then for a
/// turn of the account.
pub(super) async fn read(caller: &Caller, mut body: axum::body::Body) -> Result<Bytes, ApiError> {
    let app = caller.app();
    let (limit, pause) = (app.settings.max_body_bytes, Duration::from_secs(app.settings.body_timeout_seconds));
    // A body that announces too much is refused before any of it is read.
    if http_body::Body::size_hint(&body).lower() > limit as u64 {
        return Err(ApiError::TooLarge(limit));
    }
    let mut draft = Draft::new(app.budgets.clone(), caller.account());
    let mut length = 0;
    while let Some(piece) = next_piece(&mut body, pause).await? {
        length += piece.len();
        if length > limit {
            return Err(ApiError::TooLarge(limit));
        }
        draft.append(piece).await?;
    }
    if length > LONG {
        caller.take_turn().await;
    }
    let content = axum::body::Body::from(draft.end()?).collect().await;
    Ok(content.map_err(|error| ApiError::Internal(error.to_string()))?.to_bytes())
}
