//! What is HTTP and not one resource.
//!
//! - [`router`] is the whole service: the interface, whose requests go through `pipeline`, and what stands outside it.
//! - Handlers take what they need as arguments, in the order in which a request is checked, and give back a [`Reply`] or
//!   an [`ApiError`]; neither knows a format.
//! - `render` is the one place that knows JSON from XML.

pub mod accept;
mod answer;
mod buffer;
mod caller;
mod content;
pub mod download;
mod error;
mod event_stream;
mod extract;
pub mod idempotency;
pub mod language;
pub mod list;
pub mod metrics;
pub mod openapi;
pub mod page;
mod pipeline;
mod precondition;
mod public_routes;
pub mod rate_limit;
pub mod render;
pub mod reply;
pub mod server;
pub mod upload;

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt as _;
use tower::Service;

pub use caller::{Caller, Work, Writing};
pub use content::Content;
pub use error::ApiError;
pub use event_stream::{LastEventId, Opening};
pub use extract::{Body, IncludeSettings, PathField, PathSlug, PathTab, PathToken, PathUser, RawQuery, Writer};
pub use render::Renderer;
pub use reply::{Reply, entity_tag};
pub use upload::{Received, Upload, Uploaded};

use crate::app::App;
use crate::{attachments, contributors, entries, files, orders, program, users};

/// The whole service: the interface and what stands outside it.
pub fn router(app: App) -> Router {
    let interface = interface()
        .fallback(async || ApiError::NoSuchPath)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app.clone());
    // Not layers, which stand around each route and are copied with it for every request.
    let interface = around(interface, app.clone(), pipeline::handle);
    let inner = public_routes::routes().fallback_service(interface).with_state(app.clone());
    Router::new().fallback_service(around(inner, app, public_routes::with_request_id))
}

/// A service that hands every request on with what it is answered by.
fn around<F>(
    inner: Router,
    app: App,
    answer: fn(App, Router, Request) -> F,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone
where
    F: Future<Output = Response> + Send,
{
    tower::service_fn(move |request| answer(app.clone(), inner.clone(), request).map(Ok))
}

/// The routes of the interface, each slice's own.
fn interface() -> Router<App> {
    Router::new()
        .merge(program::accounts::routes())
        .merge(program::seasons::routes())
        .merge(program::forms::routes())
        .merge(program::taxes::routes())
        .merge(program::rounds::routes())
        .merge(program::score_sets::routes())
        .merge(program::linked::routes())
        .merge(program::categories::routes())
        .merge(program::chapters::routes())
        .merge(program::fields::routes())
        .merge(entries::routes())
        .merge(entries::stream::routes())
        .merge(attachments::routes())
        .merge(contributors::routes())
        .merge(files::routes())
        .merge(orders::routes())
        .merge(users::routes())
}
