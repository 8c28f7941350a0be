//! What stands outside the interface and needs no key: health, documents, downloads; and what every answer carries.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use futures_util::FutureExt;
use tower::{Service, ServiceExt as _};
use tracing::Instrument as _;

use crate::access::operations::OPERATIONS;
use crate::http::download::{FileDetails, serve_file};
use crate::http::server::ClientAddress;
use crate::http::{ApiError, pipeline};
use crate::program::accounts;
use crate::records::users::links::{Followed, Purpose};
use crate::records::{files, orders, users};
use crate::render;
use crate::render::accept::Format;
use crate::services::disks::Disk;
use crate::services::{self, App, traces};
use crate::signing;
use db::{DbError, Source};
use kernel::clock::Stopwatch;
use kernel::document;
use kernel::text::Slug;

/// The header of a request's identifier.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The routes outside the interface.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .route("/download/{account}/{token}", get(download))
        .route("/confirm/{account}/{token}", followed(Purpose::Confirm))
        .route("/sign-in/{account}/{token}", followed(Purpose::SignIn))
}

/// Ready means that the database answers. A node whose disk is full or whose storage is away is ready, because it reads;
/// the answer says what it cannot do.
async fn ready(State(app): State<App>) -> Response {
    let (is_ready, database) = match database(&app).await {
        Ok(state) => (true, state),
        Err(error) => {
            tracing::error!(%error, "the database does not answer");
            (false, "does not answer")
        }
    };
    let (word, status) =
        if is_ready { ("ready", StatusCode::OK) } else { ("not ready", StatusCode::SERVICE_UNAVAILABLE) };
    (status, format!("{word}\ndatabase: {database}\nstorage: {}\n", storage(&app))).into_response()
}

/// What is well.
pub const WELL: &str = "answers";

/// How the database is; an error where it does not answer.
pub async fn database(app: &App) -> Result<&'static str, DbError> {
    services::store::maintenance(&app.db, &app.settings.region).await?;
    Ok(if app.full_disks.contains(Disk::Database) { "its disk is full, writes are refused" } else { WELL })
}

/// How the storage of files was when it was looked at last.
pub fn storage(app: &App) -> &'static str {
    if app.storage_is_away() {
        "does not answer, what needs files fails"
    } else if app.full_disks.contains(Disk::Files) {
        "its disk is full, uploads are refused"
    } else {
        WELL
    }
}

/// The signed part of a download address.
#[derive(Default, serde::Deserialize)]
struct Signed {
    expires: String,
    signature: String,
}

async fn download(
    State(app): State<App>,
    method: Method,
    Path((account, token)): Path<(String, String)>,
    signed: Result<Query<Signed>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    if let Some(text) = app.maintenance() {
        let document = document::object(|object| object.text("status", &text));
        return (StatusCode::SERVICE_UNAVAILABLE, [(header::CONTENT_TYPE, "application/json")], document)
            .into_response();
    }
    let now = app.clock.now().as_seconds();
    let verified = signed
        .map_err(|_| signing::Refused::Tampered)
        .and_then(|signed| app.signer.verify(&account, &token, &signed.expires, &signed.signature, now));
    if let Err(refused) = verified {
        return (StatusCode::FORBIDDEN, format!("{refused}\n")).into_response();
    }
    if let Some((order, form)) = orders::Form::of_token(&token) {
        return invoice(&app, &account, (order, form)).await.unwrap_or_else(|error| failed(&error));
    }
    match files::store::find_by_address(&app.db, &account, &token).await {
        Ok(Some(file)) => {
            let details = FileDetails {
                account: &account,
                token: &token,
                filename: &file.filename,
                mime: &file.mime,
                size: file.size.unsigned_abs(),
            };
            // A range of what may have changed since (RFC 9110, section 13.1.5) is answered with the whole, and HEAD has none (14.2).
            let is_part = method == Method::GET && !headers.contains_key(header::IF_RANGE);
            let range = headers.get(header::RANGE).filter(|_| is_part);
            serve_file(&app.storage, &details, range).await.unwrap_or_else(|error| failed(&error))
        }
        Ok(None) => (StatusCode::NOT_FOUND, "the file is gone\n").into_response(),
        Err(error) => failed(&error),
    }
}

/// The invoice of an order; 422 tells what a form of it lacks.
async fn invoice(app: &App, account: &str, (order, form): (Slug, orders::Form)) -> Result<Response, DbError> {
    let gone = || (StatusCode::NOT_FOUND, "the order is gone\n").into_response();
    let mut tx = app.db.snapshot().await?;
    let account = match Slug::parse(account) {
        Some(slug) => accounts::store::find(&mut tx, slug).await?,
        None => None,
    };
    let Some(account) = account else { return Ok(gone()) };
    let program = app.programs.in_transaction(&mut tx, account).await?;
    let found = orders::store::billed(account, Source::Snapshot(&mut tx), order.as_str()).await?;
    tx.commit().await?;
    let (Some(program), Some(billed)) = (program, found.filter(|found| !found.order.deleted)) else {
        return Ok(gone());
    };
    let mut response = match form.of(&billed, &program) {
        Ok(written) => ([(header::CONTENT_TYPE, form.media_type())], written).into_response(),
        Err(lacks) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{lacks}\n")).into_response(),
    };
    let filename = form.filename(&billed.order.invoice_number);
    let headers = response.headers_mut();
    if let Ok(disposition) = HeaderValue::from_str(&format!("inline; filename=\"{filename}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    Ok(response)
}

/// How a link of a user is followed. HEAD does nothing, so that a link is not used up by a look at it.
fn followed(purpose: Purpose) -> MethodRouter<App> {
    let follow = async move |State(app), Path(path), signed| follow(&app, purpose, path, signed).await;
    get(follow).post(follow).head(async || StatusCode::NO_CONTENT)
}

async fn follow(
    app: &App,
    purpose: Purpose,
    (account, token): (String, String),
    signed: Result<Query<Signed>, QueryRejection>,
) -> Response {
    if let Some(text) = app.maintenance() {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{text}\n")).into_response();
    }
    let Query(Signed { expires, signature }) = signed.unwrap_or_default();
    let link = Followed { purpose, account: &account, token: &token, expires: &expires, signature: &signature };
    let mut response = match users::links::follow(
        (&app.db, &app.programs),
        (&app.signer, &app.settings.region),
        link,
        app.clock.now(),
    )
    .await
    {
        Ok(Some(_)) if purpose == Purpose::Confirm => "Thank you: you are confirmed.\n".into_response(),
        Ok(Some(follower)) => {
            let document = document::object(|object| {
                object.slug("account", follower.account);
                object.slug("user", follower.user);
            });
            ([(header::CONTENT_TYPE, "application/json")], document).into_response()
        }
        // Whether it was used, has ended or never was is told to nobody.
        Ok(None) => (StatusCode::FORBIDDEN, "the link is not valid, or not any more\n").into_response(),
        Err(error @ DbError::DiskFull(_)) => {
            app.full_disks.set(Disk::Database, true);
            tracing::error!(%error, "a link could not be followed");
            (StatusCode::INSUFFICIENT_STORAGE, "the disk of the database is full; try again later\n").into_response()
        }
        Err(error) => failed(&error),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "a request outside the interface failed");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// Leaves of an answer what HEAD is answered: all but the body (RFC 9110, section 9.3.2).
fn without_body(response: &mut Response) {
    // Neither of these has the length of a body (RFC 9110, section 8.6).
    if [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status()) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
    } else if let Some(length) = http_body::Body::size_hint(response.body()).exact() {
        // What has no body any more tells the length that it had.
        response.headers_mut().entry(header::CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    *response.body_mut() = Body::empty();
}

/// The most bytes of a path in the log.
const LOGGED_PATH: usize = 256;

/// What is measured apart of what stands outside the interface.
const ROUTES: [&str; 9] = [
    "/",
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/docs/{operation}",
    "/download/{account}/{token}",
    "/confirm/{account}/{token}",
    "/sign-in/{account}/{token}",
];

/// The route of a path, as it is described; empty where there is none. Whoever is refused before routing has one too.
fn route_of(path: &str) -> &'static str {
    static ROUTER: LazyLock<matchit::Router<&'static str>> = LazyLock::new(|| {
        let mut router = matchit::Router::new();
        let of_interface = OPERATIONS.iter().filter_map(|operation| Some(operation.route.split_once(' ')?.1));
        for route in ROUTES.into_iter().chain(of_interface) {
            // Several operations have one path, which is there already for all but the first.
            let _ = router.insert(route, route);
        }
        router
    });
    ROUTER.at(path).map_or("", |found| found.value)
}

/// The name of a method that the interface has; empty for any other, so that nobody makes measurements of their own.
fn name_of(method: &Method) -> &'static str {
    let names = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"];
    names.into_iter().find(|name| method == *name).unwrap_or_default()
}

/// Answers every request: gives the request its identifier, turns a panic into an answer, counts and logs. Whatever is
/// logged on the way has the fields of the request; account and key are told by whoever finds them.
pub async fn with_request_id<S>(app: App, inner: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let id = app.request_id();
    let method = request.method().clone();
    let path = request.uri().path();
    let route = (name_of(&method), route_of(path));
    let client = request.extensions().get::<ClientAddress>().map(|address| tracing::field::display(address.0));
    let span = tracing::error_span!(
        target: "plaudit::request", "request",
        %id, client, %method, route = route.1, path = &path[..path.floor_char_boundary(LOGGED_PATH)],
        account = tracing::field::Empty, key = tracing::field::Empty,
    );
    if app.settings.traces {
        traces::join(&span, request.headers());
    }
    let stopwatch = Stopwatch::start();
    let answered = AssertUnwindSafe(inner.oneshot(request)).catch_unwind().instrument(span.clone()).await;
    let mut response = match answered {
        Ok(Ok(response)) => response,
        Err(_) => {
            let error = ApiError::Internal("a layer panicked".to_owned());
            let body = render::plain(Format::Json, &error.document());
            let headers = [(header::CONTENT_TYPE, Format::Json.media_type())];
            (StatusCode::INTERNAL_SERVER_ERROR, headers, body).into_response()
        }
    };
    let (status, elapsed) = (response.status().as_u16(), stopwatch.elapsed());
    app.metrics.count(route, status, elapsed);
    if app.settings.traces {
        traces::end(&span, status);
    }
    if app.settings.log_requests {
        let microseconds = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        tracing::info!(target: "plaudit::request", parent: &span, status, microseconds);
    }
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// Answers a request whose head cannot be read, of which nothing is known but why: counts and logs it. It counts in nobody's window.
pub fn refuse(app: &App, status: u16) -> (Vec<(HeaderName, String)>, String) {
    let id = app.request_id();
    app.metrics.count(("", ""), status, Duration::ZERO);
    if app.settings.log_requests {
        tracing::info!(target: "plaudit::request", %id, status, "the head of a request could not be read");
    }
    let message = match status {
        414 => "The address of the request is too long.",
        431 => "The head of the request has too many bytes or too many headers; 32 KB and 100 headers are taken.",
        _ => "The request is no HTTP/1.1 that can be read.",
    };
    let body = document::object(|object| {
        object.text("message", message);
        object.integer("status_code", status.into());
    });
    let window = pipeline::unknown_window(app).map(|(name, value)| (name, value.to_string()));
    (window.into_iter().chain([(REQUEST_ID, id)]).collect(), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_route_and_what_is_none_has_none() {
        for operation in OPERATIONS {
            let (_, route) = operation.route.split_once(' ').unwrap();
            assert_eq!(route_of(&route.replace(['{', '}'], "x")), route);
            assert_eq!(route_of(route), route);
        }
        assert_eq!([route_of("/docs/GetEntryV23"), route_of("/nothing"), route_of("")], ["/docs/{operation}", "", ""]);
    }
}
