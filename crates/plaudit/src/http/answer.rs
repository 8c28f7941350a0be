//! Makes the answer of a reply or an error: status, headers and rendered body.

use std::hash::BuildHasher;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use foldhash::quality::FixedState;
use sha2::{Digest, Sha256};

use super::caller::RequestContext;
use super::reply::Recorded;
use super::{ApiError, Reply, precondition};
use crate::access::Sight;
use crate::program::Program;
use crate::records::users::Person;
use crate::render::accept::Format;
use crate::render::language::{self, Languages};
use crate::render::{self, Content, Renderer};

/// When to ask again for a stream that there was no room for; nobody knows when one ends.
const STREAM_RETRY_SECONDS: u32 = 10;

/// When to ask again where there was no room for an answer or an upload: some of those on their way end within seconds.
const ROOM_RETRY_SECONDS: u32 = 5;

/// What a state begins with, as no other part of a tag does.
const STATE: &str = "s";

/// How many bytes of an answer are hashed at once.
const DIGESTED: u64 = 256 << 10;

/// What tells the representations of one record apart: the edition of the deployment (its address and program), the
/// format, the languages and the language of labels.
pub(super) fn representation(edition: &str, format: Format, languages: &Languages) -> String {
    let format = match format {
        Format::Json => 'j',
        Format::Xml => 'x',
    };
    if languages.is_default() {
        return format!("{edition}{format}");
    }
    let codes: Vec<_> = languages.locales().iter().map(|locale| locale.code()).collect();
    format!("{edition}{format}{}-{}", codes.join("-"), languages.first_requested().code())
}

/// The `ETag`, without quotes, of a record of these documents at this revision, shown with this version of the program.
/// `named` stands for the names of others that it shows. The documents are part of it because another history, such as
/// that of a restored backup, can reach the same revision.
pub(super) fn tag(
    context: &RequestContext,
    (revision, version): (i64, i64),
    (document, detail): (&str, Option<&str>),
    named: &str,
) -> String {
    let hash = FixedState::default().hash_one((document, detail));
    let stop = if named.is_empty() { "" } else { "." };
    format!("{revision}.{version}.{hash:x}.{}{stop}{named}", context.representation())
}

/// What a record shows, whatever the format and languages of the request: a hash of it in JSON and in every language. It
/// stands in the tags of whoever does not see everything, in place of a revision.
pub(super) fn state(
    context: &RequestContext,
    program: &Arc<Program>,
    (document, detail, sight): (&str, Option<&str>, Sight),
    people: &[Person],
) -> Result<String, ApiError> {
    let account = &program.account;
    let languages = language::parse(Some("all"), &account.languages, account.default_language)
        .map_err(|code| ApiError::Internal(format!("the account has no language {code}")))?;
    let mut renderer = Renderer::new(&context.app, program, languages, Format::Json, 0);
    renderer.naming(people.iter().cloned()).seen(sight).overdraw();
    Ok(format!("{STATE}{}", digest(&renderer.record(document, detail)?, "")?))
}

/// A hash of content and of what else decides a tag.
fn digest(content: &Content, more: &str) -> Result<String, ApiError> {
    let mut hash = Sha256::new();
    hash.update(more);
    let mut at = 0;
    while at < content.len() {
        let part = content.part(at..at + DIGESTED).map_err(|error| ApiError::Internal(error.to_string()))?;
        at += part.len() as u64;
        hash.update(&part);
        if part.is_empty() {
            return Err(ApiError::Internal("an answer is shorter than it is".to_owned()));
        }
    }
    Ok(hex::encode(&hash.finalize()[..16]))
}

/// The status, own headers and body of a success. Whoever does not see everything is given a tag of what is shown alone.
pub(super) fn record(reply: Reply, context: &RequestContext, program: &Arc<Program>) -> Result<Recorded, ApiError> {
    let is_replayed = matches!(reply, Reply::Replay(_));
    let mut recorded = recorded(reply, context, program)?;
    if is_replayed || context.access.sees_all() {
        return Ok(recorded);
    }
    if let Some((_, tag)) = recorded.headers.iter_mut().find(|(name, _)| *name == header::ETAG) {
        let made = tag.to_str().unwrap_or_default().trim_matches('"').split('.').next().unwrap_or_default();
        // What is no record has no state.
        let state = if made.starts_with(STATE) { made } else { "" };
        let shown = digest(&recorded.body, &context.representation())?;
        let made = HeaderValue::try_from(format!("\"{state}.{shown}\""));
        *tag = made.map_err(|error| ApiError::Internal(error.to_string()))?;
    }
    Ok(recorded)
}

fn recorded(reply: Reply, context: &RequestContext, program: &Arc<Program>) -> Result<Recorded, ApiError> {
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(context.format.media_type()));
    let mut headers = Vec::with_capacity(3);
    let tell = |headers: &mut Vec<_>, name: HeaderName, text: String| {
        // Tags and addresses are made of what headers take.
        headers.extend(HeaderValue::try_from(text).map(|value| (name, value)));
    };
    Ok(match reply {
        Reply::Record { document, detail, revision, version, created, named, people, sight } => {
            headers.push(content_type);
            let mut renderer = context.renderer(program);
            if version.is_some() {
                renderer.overdraw();
            }
            let version = version.unwrap_or(program.version);
            let etag = if context.access.sees_all() {
                tag(context, (revision, version), (&document, detail.as_deref()), &named)
            } else {
                state(context, program, (&document, detail.as_deref(), sight), &people)?
            };
            renderer.naming(people).seen(sight);
            let body = renderer.record(&document, detail.as_deref())?;
            tell(&mut headers, header::ETAG, format!("\"{}\"", body.dated(etag)));
            let status = if created.is_some() { 201 } else { 200 };
            if let Some(path) = created {
                tell(&mut headers, header::LOCATION, format!("{}{path}", program.base_url()));
            }
            Recorded { status, headers, body }
        }
        Reply::Stated { status, document, tag } => {
            headers.push(content_type);
            tell(&mut headers, header::ETAG, format!("\"{tag}.{}\"", context.representation()));
            let body = context.renderer(program).record(&document, None)?;
            Recorded { status, headers, body }
        }
        Reply::Accepted { location } => {
            if let Some(path) = location {
                tell(&mut headers, header::LOCATION, format!("{}{path}", program.base_url()));
            }
            Recorded { status: 202, headers, body: Content::default() }
        }
        Reply::NoContent => Recorded { status: 204, headers, body: Content::default() },
        Reply::Body { content, etag } => {
            headers.push(content_type);
            tell(&mut headers, header::ETAG, format!("\"{}\"", content.dated(etag)));
            Recorded { status: 200, headers, body: content }
        }
        Reply::Replay(recorded) => Arc::unwrap_or_clone(recorded),
        // A stream is answered by itself, as it is no answer that could be kept.
        Reply::Stream(_) => return Err(ApiError::Internal("a stream in a write".to_owned())),
    })
}

/// The status, own headers and body of an error.
pub(super) fn record_error(error: &ApiError, format: Format) -> Recorded {
    let mut headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static(format.media_type()))];
    if let ApiError::RateLimited(seconds) = error {
        headers.push((header::RETRY_AFTER, HeaderValue::from(*seconds)));
    }
    if let ApiError::TooManyStreams(_) = error {
        headers.push((header::RETRY_AFTER, HeaderValue::from(STREAM_RETRY_SECONDS)));
    }
    if let ApiError::NoRoom(_) | ApiError::Unavailable(_) | ApiError::DatabaseAway(_) = error {
        headers.push((header::RETRY_AFTER, HeaderValue::from(ROOM_RETRY_SECONDS)));
    }
    if let ApiError::AnswerNotKept(location) = error {
        headers.extend(HeaderValue::try_from(location).map(|location| (header::LOCATION, location)));
    }
    Recorded { status: error.status(), headers, body: render::plain(format, &error.document()).into() }
}

/// The answer to a request, 304 where the client has the representation already. `known` are its `If-None-Match`.
pub(super) fn response(recorded: Recorded, method: &Method, known: &[HeaderValue]) -> Response {
    let reads = method == Method::GET || method == Method::HEAD;
    let etag = || {
        let (_, value) = recorded.headers.iter().find(|(name, _)| *name == header::ETAG)?;
        Some(value.to_str().ok()?.trim_matches('"'))
    };
    let unchanged = reads && !known.is_empty() && etag().is_some_and(|etag| precondition::none_match(known, etag));
    let mut response = if unchanged { Response::new(Body::empty()) } else { Response::new(Body::from(recorded.body)) };
    let status = if unchanged { 304 } else { recorded.status };
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in recorded.headers {
        if !(unchanged && name == header::CONTENT_TYPE) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
