//! What browsers ask of a service beside the interface: whether a page of another origin may use it (Fetch Standard,
//! section 3.3), and answers that are compressed (RFC 9110, section 12.5.3).
//!
//! - Origins that the settings do not name get no word of permission, so that browsers keep answers from their pages.
//!   Keys come in a header that pages set, so no cookies are ever permitted.
//! - Files are sent as they are: most are compressed, and parts of them are asked for. So are streams.
//! - A compressed answer keeps its `ETag`: the tag is of what the record is, and a client that compares it in `If-Match`
//!   must not fail because of how the answer came to it. `Vary` tells caches of the difference.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use tower::{Layer as _, ServiceExt as _};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::config::WebOrigin;

/// What is shorter fits into one packet as it is, in bytes.
const SHORT: u16 = 1_200;
/// For how long a browser needs not ask again.
const REMEMBERED: Duration = Duration::from_mins(10);
/// What pages may send beside what they always may.
const SENT: [&str; 9] = [
    "accept",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "range",
    "x-api-key",
    "x-api-language",
];
/// What pages may read beside what they always may.
const READ: [&str; 11] = [
    "content-disposition",
    "content-range",
    "etag",
    "idempotency-replayed",
    "link",
    "location",
    "retry-after",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

/// How web clients are answered.
#[derive(Clone, Debug)]
pub struct WebClients {
    cors: Option<CorsLayer>,
    compresses: bool,
}

impl WebClients {
    /// Permits these origins, or none, and compresses or does not.
    pub fn new(origins: &[WebOrigin], compresses: bool) -> Self {
        Self { cors: (!origins.is_empty()).then(|| cors(origins)), compresses }
    }

    /// Answers a request by what is within.
    pub async fn answer(self, inner: Router, request: Request) -> Response {
        let headers = request.headers();
        let compresses = self.compresses && headers.contains_key(header::ACCEPT_ENCODING);
        // OPTIONS is a question of a browser only where it names a method.
        let is_of_page = headers.contains_key(header::ORIGIN)
            && (request.method() != Method::OPTIONS || headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD));
        // A cache must not give a page what was not made for one.
        let varies = self.cors.is_some() && !is_of_page;
        let inner = match self.cors.filter(|_| is_of_page) {
            Some(cors) => Router::new().fallback_service(cors.layer(inner)),
            None => inner,
        };
        let mut response = if compresses {
            let Ok(response) = compression().layer(inner).oneshot(request).await;
            response.map(Body::new)
        } else {
            let Ok(response) = inner.oneshot(request).await;
            response
        };
        if varies {
            response.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
        }
        response
    }
}

fn cors(origins: &[WebOrigin]) -> CorsLayer {
    let names = |names: &[&'static str]| names.iter().map(|name| HeaderName::from_static(name)).collect::<Vec<_>>();
    let origin = if origins.iter().any(WebOrigin::is_any) {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin.as_str()).ok()))
    };
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(names(&SENT))
        .expose_headers(names(&READ))
        .max_age(REMEMBERED)
}

/// The lowest level: the time of the processor is what the service has least of.
fn compression() -> CompressionLayer<impl tower_http::compression::Predicate> {
    let is_no_file = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key(header::CONTENT_DISPOSITION)
    };
    let predicate = SizeAbove::new(SHORT).and(NotForContentType::SSE).and(NotForContentType::IMAGES).and(is_no_file);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate)
}
