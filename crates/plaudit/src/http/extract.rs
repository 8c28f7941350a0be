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
use kernel::document::{Object, extended};
use kernel::json;
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, Token};

/// The slug in the path; a malformed one is 400.
#[derive(Clone, Copy, Debug)]
pub struct PathSlug(pub Slug);

/// The user in the path, by a slug or an e-mail address; what is neither is 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathUser {
    /// By the slug.
    Slug(Slug),
    /// By the e-mail address, as it was given.
    Email(String),
}

/// The token in the path; a malformed one is 400.
#[derive(Clone, Debug)]
pub struct PathToken(pub Token);

async fn path_part<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<String> {
    let params = RawPathParams::from_request_parts(parts, state).await.ok()?;
    params.iter().find(|(param, _)| *param == name).map(|(_, value)| value.to_owned())
}

impl<S: Send + Sync> FromRequestParts<S> for PathSlug {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let slug = path_part(parts, state, "slug").await;
        slug.as_deref()
            .and_then(Slug::parse)
            .map(Self)
            .ok_or_else(|| ApiError::BadRequest("The slug in the path must be exactly 8 ASCII letters.".to_owned()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let name = path_part(parts, state, "slug").await.unwrap_or_default();
        if let Some(slug) = Slug::parse(&name) {
            return Ok(Self::Slug(slug));
        }
        let email = kernel::input::email(&Json::String(name.into()));
        email.map(Self::Email).map_err(|_| {
            let message = "The user in the path must be a slug of exactly 8 ASCII letters, or an e-mail address.";
            ApiError::BadRequest(message.to_owned())
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathToken {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let token = path_part(parts, state, "token").await;
        token
            .as_deref()
            .and_then(Token::parse)
            .map(Self)
            .ok_or_else(|| ApiError::BadRequest("The token in the path must be ASCII letters.".to_owned()))
    }
}

/// The slug of a field behind the record's own in the path; a malformed one is 400.
#[derive(Clone, Copy, Debug)]
pub struct PathField(pub Slug);

impl<S: Send + Sync> FromRequestParts<S> for PathField {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let slug = path_part(parts, state, "field").await;
        slug.as_deref().and_then(Slug::parse).map(Self).ok_or_else(|| {
            ApiError::BadRequest("The slug of the field in the path must be exactly 8 ASCII letters.".to_owned())
        })
    }
}

/// The slug of a tab behind the record's own in the path; a malformed one is 400.
#[derive(Clone, Copy, Debug)]
pub struct PathTab(pub Slug);

impl<S: Send + Sync> FromRequestParts<S> for PathTab {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let slug = path_part(parts, state, "tab").await;
        slug.as_deref().and_then(Slug::parse).map(Self).ok_or_else(|| {
            ApiError::BadRequest("The slug of the tab in the path must be exactly 8 ASCII letters.".to_owned())
        })
    }
}

/// The query string as it stands.
#[derive(Clone, Debug)]
pub struct RawQuery(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for RawQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(parts.uri.query().map(str::to_owned)))
    }
}

/// Whether a single read is asked for the settings as well, by `include=settings`; another value is 400.
#[derive(Clone, Copy, Debug)]
pub struct IncludeSettings(bool);

impl IncludeSettings {
    /// The document, with the members of create and update in `settings` where they were asked for.
    #[must_use]
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

/// Stands where an operation writes: a key that only reads is refused.
#[derive(Clone, Copy, Debug)]
pub struct Writer;

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        if !caller.writes() {
            return Err(ApiError::ReadOnlyKey);
        }
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
        let settings = &caller.app().settings;
        let bytes = read(body, settings.max_body_bytes, Duration::from_secs(settings.body_timeout_seconds)).await?;
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

/// The next bytes of a body, which must come within `pause`; nothing at its end.
pub(super) async fn next_piece(body: &mut axum::body::Body, pause: Duration) -> Result<Option<Bytes>, ApiError> {
    loop {
        match tokio::time::timeout(pause, body.frame()).await {
            Err(_) => return Err(ApiError::BadRequest("The request body did not arrive in time.".to_owned())),
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
            Ok(Some(Err(_))) => return Err(ApiError::BadRequest("The request body broke off.".to_owned())),
        }
    }
}

/// Reads a body of at most `limit` bytes, with `pause` at the most between two parts of it.
pub(super) async fn read(mut body: axum::body::Body, limit: usize, pause: Duration) -> Result<Bytes, ApiError> {
    // A body that announces too much is refused before any of it is read.
    if http_body::Body::size_hint(&body).lower() > limit as u64 {
        return Err(ApiError::TooLarge(limit));
    }
    let mut bytes = Vec::new();
    while let Some(piece) = next_piece(&mut body, pause).await? {
        if piece.len() > limit - bytes.len() {
            return Err(ApiError::TooLarge(limit));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.into())
}
