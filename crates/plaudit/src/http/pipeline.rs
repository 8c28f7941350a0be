//! Checks every request of the interface in the order of the contract's section 1, steps 1 to 7; the handlers' arguments
//! check the rest. One answer per request, always the first that applies.
//!
//! A request is checked by the snapshot at hand, which may be older than the database. A success is never given from a
//! stale one, because the statement that reads or writes a record compares the version; and before an error is given,
//! the version is compared too, and the request checked again where it changed.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use futures_util::FutureExt;
use tower::ServiceExt as _;

use super::caller::{RequestContext, access_of, admitted};
use super::idempotency::{self, Claim};
use super::precondition::IfMatch;
use super::reply::{Outcome, Recorded};
use super::server::ClientAddress;
use super::{ApiError, Caller, Reply, answer, event_stream, extract, upload};
use crate::program::{Program, accounts, keys};
use crate::render::accept::{self, Format};
use crate::render::language;
use crate::services::App;
use crate::services::RunningRequest;
use crate::services::rate_limit::{self, Counted, Standing};
use db::Source;
use kernel::text::{Slug, Timestamp};

/// The header of the key.
const KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The header of the languages.
pub(super) const LANGUAGE: HeaderName = HeaderName::from_static("x-api-language");
/// The header of the idempotency key.
const IDEMPOTENCY: HeaderName = HeaderName::from_static("idempotency-key");
/// The header of the requests of a window.
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// The header of the requests that are left of a window.
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// The header of the end of a window.
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// How often a request is checked again because the program changed.
const MAX_ATTEMPTS: usize = 8;

/// The key that a request carries, when there is a record of it.
#[derive(Clone)]
struct KnownKey {
    program: Arc<Program>,
    slug: Slug,
    hash: [u8; 32],
}

/// Answers a request to the interface.
pub(crate) async fn handle(app: App, interface: Router, mut request: Request) -> Response {
    let format = accept::parse(single(request.headers(), &header::ACCEPT)).unwrap_or(Format::Json);
    let method = request.method().clone();
    let tags: Vec<HeaderValue> = request.headers().get_all(header::IF_NONE_MATCH).iter().cloned().collect();
    if let Some(text) = app.maintenance() {
        let recorded = answer::record_error(&ApiError::Maintenance(text), format);
        return answer::response(recorded, &method, &tags);
    }
    let now = app.clock.now();
    let hash = single(request.headers(), &KEY).and_then(|key| keys::hash(key.trim_ascii()));
    let address = request.extensions().get::<ClientAddress>().map(|address| address.0);
    let (known, standing) = match count(&app, hash, address).await {
        Ok(counted) => counted,
        Err(error @ ApiError::RateLimited(_)) => {
            return answer::response(answer::record_error(&error, format), &method, &tags);
        }
        Err(error) => {
            let response = answer::response(answer::record_error(&reported(&app, error), format), &method, &[]);
            return with_rate_limit(response, unknown_window(&app));
        }
    };
    if let Some(known) = &known {
        let span = tracing::Span::current();
        span.record("account", known.program.account.slug.as_str()).record("key", known.slug.as_str());
    }
    let headers = Arc::new(std::mem::take(request.headers_mut()));
    let (answered, mut extra) = match admit(&app, &headers, known, now).await {
        Ok(caller) => run(&app, caller, request, interface).await,
        Err(error) => (answer::record_error(&reported(&app, error), format).into(), HeaderMap::new()),
    };
    let mut response = match answered {
        Answered::Whole(recorded) => answer::response(recorded, &method, &tags),
        Answered::Stream(response) => response,
        Answered::BodyAwaited => {
            let error = ApiError::Internal("a body was awaited and never read".to_owned());
            answer::response(answer::record_error(&reported(&app, error), format), &method, &tags)
        }
    };
    for (name, value) in extra.drain() {
        if let Some(name) = name {
            response.headers_mut().insert(name, value);
        }
    }
    with_rate_limit(response, of_window(standing))
}

/// The headers of section 8 of the specification.
fn of_window(standing: Standing) -> [(HeaderName, i64); 3] {
    [(RATE_LIMIT, standing.limit), (RATE_REMAINING, standing.remaining), (RATE_RESET, standing.reset)]
}

/// The same where nothing is known of the caller's window: every answer tells of one.
pub(crate) fn unknown_window(app: &App) -> [(HeaderName, i64); 3] {
    let limit = app.settings.requests_per_minute;
    of_window(Standing { limit, remaining: limit, reset: app.clock.now().as_seconds() + 60 })
}

/// What a request is answered with.
enum Answered {
    Whole(Recorded),
    /// Nothing yet: all that is checked before the body is right, and only that was asked for.
    BodyAwaited,
    Stream(Response),
}

impl From<Recorded> for Answered {
    fn from(recorded: Recorded) -> Self {
        Self::Whole(recorded)
    }
}

/// Adds the headers of a window. 429 for another reason than the window carries no figures of it either, nor does 503.
fn with_rate_limit(mut response: Response, window: [(HeaderName, i64); 3]) -> Response {
    if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&response.status()) {
        return response;
    }
    for (name, value) in window {
        response.headers_mut().insert(name, HeaderValue::from(value));
    }
    response
}

/// A header that stands once; one that stands twice is like one that cannot be read.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.as_bytes())
}

fn header_bytes<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h [u8] {
    headers.get(name).map_or(&[], |value| value.as_bytes())
}

/// A fault of ours is logged where its answer is made, and nowhere else.
fn reported(app: &App, error: ApiError) -> ApiError {
    match &error {
        ApiError::Internal(cause) => tracing::error!(%cause, "a request failed"),
        ApiError::DatabaseAway(cause) => tracing::error!(%cause, "the database did not answer a request"),
        ApiError::DiskFull(disk, cause) => {
            app.full_disks.set(*disk, true);
            tracing::error!(%cause, "a request found the disk of {disk} full");
        }
        _ => {}
    }
    error
}

/// Step 2: finds the key and counts the request.
async fn count(
    app: &App,
    hash: Option<[u8; 32]>,
    address: Option<IpAddr>,
) -> Result<(Option<KnownKey>, Standing), ApiError> {
    let address = Counted::Address(rate_limit::network(address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))));
    let known = match hash {
        Some(hash) => find_key(app, hash, address).await?,
        None => None,
    };
    let Some(mut known) = known else {
        let standing = app.rate_limiter.count(address, app.settings.requests_per_minute, &app.clock);
        return standing.map(|standing| (None, standing)).map_err(ApiError::RateLimited);
    };
    let limit = known.program.account.rate_limit;
    let seconds = match app.count_key(known.program.id, known.slug, limit).await {
        Ok(standing) => return Ok((Some(known), standing)),
        Err(seconds) => seconds,
    };
    // The operator may have raised the limit since the snapshot was taken.
    if let Some(program) = app.programs.confirm(Arc::clone(&known.program)).await? {
        known.program = program;
    }
    let fresh = known.program.account.rate_limit;
    if fresh == limit {
        return Err(ApiError::RateLimited(seconds));
    }
    let standing = app.count_key(known.program.id, known.slug, fresh).await;
    standing.map(|standing| (Some(known), standing)).map_err(ApiError::RateLimited)
}

async fn find_key(app: &App, hash: [u8; 32], address: Counted) -> Result<Option<KnownKey>, ApiError> {
    let found = if let Some(found) = app.programs.known_key(&hash) {
        Some(found)
    } else {
        let limit = app.settings.requests_per_minute;
        app.rate_limiter.look_up(address, limit, &app.clock).map_err(ApiError::RateLimited)?;
        app.programs.find_key(&hash).await?
    };
    let Some((account, slug)) = found else { return Ok(None) };
    let program = app.programs.get(account).await?;
    Ok(program.map(|program| KnownKey { program, slug, hash }))
}

/// Steps 3 to 6.
async fn admit(
    app: &App,
    headers: &Arc<HeaderMap>,
    known: Option<KnownKey>,
    now: Timestamp,
) -> Result<Caller, ApiError> {
    let format =
        accept::parse(single(headers, &header::ACCEPT)).map_err(|error| ApiError::BadRequest(error.to_string()))?;
    let given = headers.get_all(KEY).iter().any(|key| !key.as_bytes().trim_ascii().is_empty());
    if !given {
        return Err(ApiError::Unauthorized);
    }
    let mut known = known.ok_or(ApiError::KeyRefused)?;
    match check_key(app, headers, &known, format, now).await {
        Err(ApiError::KeyRefused | ApiError::BadRequest(_)) => {
            let fresh = app.programs.confirm(Arc::clone(&known.program)).await?;
            known.program = fresh.ok_or(ApiError::KeyRefused)?;
            check_key(app, headers, &known, format, now).await
        }
        outcome => outcome,
    }
}

/// Steps 5 and 6, by one snapshot.
async fn check_key(
    app: &App,
    headers: &Arc<HeaderMap>,
    known: &KnownKey,
    format: Format,
    now: Timestamp,
) -> Result<Caller, ApiError> {
    let program = &known.program;
    let key = admitted(app, program, known.slug, &known.hash, now).ok_or(ApiError::KeyRefused)?;
    if !is_addressed(app, headers, program).await? {
        return Err(ApiError::KeyRefused);
    }
    let access = access_of(Source::Db(&app.db), program, key.user).await?;
    let languages = languages(headers, program)?;
    Ok(Caller::new(RequestContext {
        app: app.clone(),
        program: Arc::clone(program),
        key: known.slug,
        key_hash: known.hash,
        access,
        was_asked: Arc::default(),
        format,
        languages,
        now,
        headers: Arc::clone(headers),
        if_match: IfMatch::of(headers),
        claim: None,
        turn: Arc::default(),
    }))
}

fn languages(headers: &HeaderMap, program: &Program) -> Result<language::Languages, ApiError> {
    let mut listed = String::new();
    for value in headers.get_all(LANGUAGE) {
        // Several lines of one header are one list (RFC 9110, section 5.3).
        listed.push_str(&String::from_utf8_lossy(value.as_bytes()));
        listed.push(',');
    }
    let account = &program.account;
    language::parse(Some(&listed), &account.languages, account.default_language).map_err(|code| {
        let codes: Vec<_> = account.languages.iter().map(|locale| locale.code()).collect();
        ApiError::BadRequest(format!(
            "x-api-language: {code} is not supported; the account has {} (or all).",
            codes.join(", ")
        ))
    })
}

/// Whether the host name that was addressed is open to the account: the deployment's, the account's own, or nobody's.
async fn is_addressed(app: &App, headers: &HeaderMap, program: &Program) -> Result<bool, ApiError> {
    let lines = headers.get_all(header::HOST).iter().count();
    let host = headers.get(header::HOST).map_or(Ok(""), |host| host.to_str()).unwrap_or(":");
    if lines > 1 {
        return Err(ApiError::BadRequest("Host: is given more than once.".to_owned()));
    }
    // An address of version 6 has colons of its own, and stands in brackets.
    let has_no_port = |host: &str| host.ends_with(']') || !host.contains(':');
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match host.rsplit_once(':') {
        _ if has_no_port(host) => host,
        Some((name, port)) if is_port(port) && has_no_port(name) => name,
        _ => {
            return Err(ApiError::BadRequest(
                "Host: must be a host name or an address, perhaps with a port.".to_owned(),
            ));
        }
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if program.account.hosts.contains(&host) {
        return Ok(true);
    }
    if host == app.host || !accounts::valid_host(&host) {
        return Ok(true);
    }
    let owner = accounts::store::of_host(&app.db, &host).await?;
    Ok(owner.is_none_or(|owner| owner == program.id))
}

/// Runs the handler, again where the program changed meanwhile. The headers are those that the router adds.
async fn run(app: &App, caller: Caller, request: Request, interface: Router) -> (Answered, HeaderMap) {
    let format = caller.context().format;
    let name = match idempotency_name(&caller, request.method()) {
        Ok(Some(name)) => name,
        Ok(None) => return run_handler(app, caller, request, interface).await,
        Err(error) => return (answer::record_error(&error, format).into(), HeaderMap::new()),
    };
    // What is wrong with path, method and scope is told before the body is read, with the header as without it.
    let mut ahead = Request::new(Body::empty());
    *ahead.method_mut() = request.method().clone();
    *ahead.uri_mut() = request.uri().clone();
    ahead.extensions_mut().insert(extract::BeforeBody);
    match run_handler(app, caller.clone(), ahead, interface.clone()).await {
        (Answered::BodyAwaited, _) => {}
        refused => return refused,
    }
    match claimed(caller, request, name).await {
        Ok(Claimed::New(caller, request, _guard)) => run_handler(app, caller, *request, interface).await,
        Ok(Claimed::Answered(recorded)) => (recorded.into(), HeaderMap::new()),
        Err(error) => (answer::record_error(&reported(app, error), format).into(), HeaderMap::new()),
    }
}

enum Claimed {
    New(Caller, Box<Request>, RunningRequest),
    Answered(Recorded),
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// The idempotency key of a write, where it carries one.
fn idempotency_name(caller: &Caller, method: &Method) -> Result<Option<String>, ApiError> {
    let headers = caller.headers();
    if !headers.contains_key(IDEMPOTENCY) || ![Method::POST, Method::PUT, Method::DELETE].contains(method) {
        return Ok(None);
    }
    let name = single(headers, &IDEMPOTENCY).and_then(|name| std::str::from_utf8(name).ok()).map(str::trim);
    let is_good = |name: &&str| {
        (1..=idempotency::KEY_LENGTH).contains(&name.len()) && name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    name.filter(is_good).map(|name| Some(name.to_owned())).ok_or_else(|| {
        let length = idempotency::KEY_LENGTH;
        ApiError::BadRequest(format!(
            "The Idempotency-Key must stand once, with 1 to {length} visible ASCII characters."
        ))
    })
}

/// Takes the request's idempotency key, or finds the answer that was given to it.
async fn claimed(caller: Caller, request: Request, name: String) -> Result<Claimed, ApiError> {
    let context = caller.context();
    let (parts, body) = request.into_parts();
    let (identity, body) = if upload::is_upload(parts.uri.path()) {
        let (hash, body) = upload::spool(&context.app, caller.account(), body).await?;
        (Bytes::copy_from_slice(&hash), body)
    } else {
        let bytes = match extract::read(&caller, body).await {
            // A body that is too large is refused at its place in the order, by the operation that reads it.
            Err(ApiError::TooLarge(limit)) => vec![b' '; limit + 1].into(),
            read => read?,
        };
        (bytes.clone(), Body::from(bytes))
    };
    // The request is what the client sent: where the service is, and what it is of, may change in a day.
    let languages = context.headers.get_all(LANGUAGE).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>().join(&b',');
    let fingerprint = idempotency::fingerprint(&[
        parts.method.as_str().as_bytes(),
        parts.uri.path_and_query().map_or("", |path| path.as_str()).as_bytes(),
        context.format.media_type().as_bytes(),
        &languages,
        header_bytes(&context.headers, &header::CONTENT_TYPE),
        header_bytes(&context.headers, &header::IF_MATCH),
        &identity,
    ]);
    let record: Vec<&str> = parts.uri.path().split('/').take(3).collect();
    let location = format!("{}{}", context.program.base_url(), record.join("/"));
    let claim = Claim { name: (caller.account(), context.key, name), request: fingerprint, location };
    // Whoever runs with the key may itself be a retry, to which the first answer is just being given.
    let guard = context.app.running.begin(&claim.name);
    let request = Request::from_parts(parts, body);
    let source = Source::Db(&context.app.db);
    if let Some((fingerprint, recorded)) =
        idempotency::store::find(caller.account(), source, &claim, context.oldest_kept()).await?
    {
        if fingerprint != claim.request {
            return Err(ApiError::IdempotencyMismatch);
        }
        return Ok(Claimed::Answered(recorded.replayed()));
    }
    let guard = guard.ok_or(ApiError::StillRunning)?;
    let caller = Caller::new(RequestContext { claim: Some(claim), ..context.clone() });
    Ok(Claimed::New(caller, Box::new(request), guard))
}

async fn run_handler(app: &App, mut caller: Caller, request: Request, interface: Router) -> (Answered, HeaderMap) {
    let (mut parts, mut body) = request.into_parts();
    for _ in 0..MAX_ATTEMPTS {
        let mut request = Request::new(std::mem::take(&mut body));
        // A read has no body, so that it can be run again; a write does so within its transaction.
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = parts.uri.clone();
        *request.extensions_mut() = std::mem::take(&mut parts.extensions);
        request.extensions_mut().insert(caller.clone());
        let answered = AssertUnwindSafe(interface.clone().oneshot(request)).catch_unwind().await;
        let (outcome, extra) = outcome_of(answered);
        let error = match outcome {
            Ok(_) if !caller.was_permitted() => {
                ApiError::Internal("an operation did not ask whether the person of the key has it".to_owned())
            }
            Ok(Reply::Stream(opening)) => {
                let response = event_stream::response(caller, &parts.method, opening);
                return (Answered::Stream(response), extra);
            }
            Ok(reply) => {
                let recorded = answer::record(reply, caller.context(), caller.program());
                if caller.program().is_broken() {
                    let refused = answer::record_error(&reported(app, unreadable()), caller.context().format);
                    return (refused.into(), extra);
                }
                match recorded {
                    Ok(recorded) => return (Answered::Whole(recorded), extra),
                    Err(error) => error,
                }
            }
            Err(ApiError::BodyAwaited) => return (Answered::BodyAwaited, extra),
            Err(_) if caller.program().is_broken() => unreadable(),
            Err(error) => error,
        };
        let is_read = is_read(&parts.method);
        match fresh(app, &caller).await {
            Err(refused) => {
                return (answer::record_error(&reported(app, refused), caller.context().format).into(), extra);
            }
            Ok(Some(changed)) if is_read => caller = changed,
            Ok(None) if is_read && matches!(error, ApiError::Stale) => {}
            Ok(_) => return (keep_error(&caller, reported(app, error)).await.into(), extra),
        }
    }
    let error = ApiError::Internal("the program changed faster than it could be read".to_owned());
    (answer::record_error(&reported(app, error), caller.context().format).into(), HeaderMap::new())
}

/// What is answered in place of what was made of a broken program.
pub(super) fn unreadable() -> ApiError {
    ApiError::Internal("the program cannot be read".to_owned())
}

/// What a handler gave back, and the headers that the router added to it.
fn outcome_of(
    answered: Result<Result<Response, Infallible>, Box<dyn std::any::Any + Send>>,
) -> (Result<Reply, ApiError>, HeaderMap) {
    match answered {
        Err(_) => (Err(ApiError::Internal("a handler panicked".to_owned())), HeaderMap::new()),
        Ok(Ok(response)) => {
            let (mut parts, _) = response.into_parts();
            let outcome = parts.extensions.remove::<Outcome>().and_then(|outcome| outcome.take());
            parts.headers.remove(header::CONTENT_TYPE);
            parts.headers.remove(header::CONTENT_LENGTH);
            let unknown = || Err(ApiError::Internal("a route answered past the renderer".to_owned()));
            (outcome.unwrap_or_else(unknown), parts.headers)
        }
    }
}

/// The caller checked by the account's current program: `None` where it is the one that the caller has.
async fn fresh(app: &App, caller: &Caller) -> Result<Option<Caller>, ApiError> {
    let program = app.programs.confirm(Arc::clone(caller.program())).await?.ok_or(ApiError::KeyRefused)?;
    if program.version == caller.program().version {
        return Ok(None);
    }
    again(caller, program, caller.now()).await.map(Some)
}

/// The caller checked by a program and as of a time.
pub async fn again(caller: &Caller, program: Arc<Program>, now: Timestamp) -> Result<Caller, ApiError> {
    let context = caller.context();
    let known = KnownKey { program, slug: context.key, hash: context.key_hash };
    Ok(check_key(&context.app, &context.headers, &known, context.format, now).await?.like(caller))
}

/// An error answer, kept where the request carries an idempotency key; a fault of ours is not kept.
async fn keep_error(caller: &Caller, error: ApiError) -> Recorded {
    let context = caller.context();
    let recorded = answer::record_error(&error, context.format);
    // What a key may not do now it may do when its person has another role.
    let is_passing = matches!(
        error,
        ApiError::StillRunning
            | ApiError::IdempotencyMismatch
            | ApiError::KeyRefused
            | ApiError::ReadOnlyKey
            | ApiError::NotPermitted
    );
    let kept = recorded.status < 500 && !is_passing;
    if let Some(claim) = context.claim.clone().filter(|_| kept) {
        let state = (caller.clone(), claim, recorded.clone());
        let outcome = context
            .app
            .db
            .write(caller.account(), state, |tx, (caller, claim, recorded)| {
                Box::pin(caller.context().keep(tx, caller.account(), claim, recorded))
            })
            .await;
        if let Err(error) = outcome {
            tracing::warn!(%error, "an answer could not be kept for its idempotency key");
        }
    }
    recorded
}
