//! Pages for people: what stands at the address of the service, and the reference of its interface.
//!
//! - A page can be read without scripts and has nothing from elsewhere; a script adds search, code and calls.
//! - The reference is made of the OpenAPI document, and says nothing of its own about an operation.
//! - Addresses are relative, so that the service can stand below a path of another server.

mod members;
mod operation;
mod reference;
mod start;

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use maud::{DOCTYPE, Markup, html};
use parking_lot::Mutex;
use serde_json::Value;

pub use start::start;

use self::reference::{INDEX, Reference};
use crate::render::accept::Format;
use crate::services::App;

/// What a page may load: its own style, script and pictures, and the answers of the service.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const NOT_SNIFFED: (HeaderName, &str) = (header::X_CONTENT_TYPE_OPTIONS, "nosniff");
/// A page must not meet the script of another version.
const REVALIDATED: (HeaderName, &str) = (header::CACHE_CONTROL, "no-cache");

/// The routes of the reference and of what pages consist of.
pub fn routes(document: &'static Value) -> Router<App> {
    let reference = Reference { document };
    let favicon = || get(async || asset("image/svg+xml", include_str!("favicon.svg")));
    Router::new()
        .route("/docs", get(async move || reference_page(reference, INDEX)))
        .route("/docs/", get(async || Redirect::permanent("../docs")))
        .route("/docs/{name}", get(async move |Path(name): Path<String>| reference_page(reference, &name)))
        .route("/docs/website.css", get(async || asset("text/css", include_str!("website.css"))))
        .route("/docs/website.js", get(async || asset("text/javascript", include_str!("website.js"))))
        .route("/favicon.svg", favicon())
        .route("/favicon.ico", favicon())
}

/// Whether the one who asks reads pages: a browser names HTML first, and clients of the interface do not.
pub fn reads_pages(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.trim_start().starts_with("text/html"))
}

/// A page of the reference. Each is written once, because anybody may ask for it as often as there is room for requests.
fn reference_page(reference: Reference, name: &str) -> Response {
    static WRITTEN: Mutex<BTreeMap<String, Bytes>> = Mutex::new(BTreeMap::new());
    if let Some(written) = WRITTEN.lock().get(name) {
        return page(written.clone());
    }
    let Some(content) = reference.page(name) else {
        let content =
            html! { main #main { h1 { "There is no such page" } p { a href="../docs" { "All operations" } } } };
        let content = layout("Not found", "../", &content);
        return (StatusCode::NOT_FOUND, page(content.0.into())).into_response();
    };
    let written = Bytes::from(content.0);
    WRITTEN.lock().insert(name.to_owned(), written.clone());
    page(written)
}

fn page(html: Bytes) -> Response {
    let html_type = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    ([html_type, (header::CONTENT_SECURITY_POLICY, POLICY), NOT_SNIFFED, REVALIDATED], html).into_response()
}

fn asset(media_type: &'static str, content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, media_type), NOT_SNIFFED, REVALIDATED], content).into_response()
}

/// A whole page. `root` leads from the page to where the service stands.
fn layout(title: &str, root: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Plaudit" }
                link rel="icon" type="image/svg+xml" href={ (root) "favicon.svg" };
                link rel="stylesheet" href={ (root) "docs/website.css" };
                script src={ (root) "docs/website.js" } defer {}
            }
            body data-root=(root) {
                a .skip href="#main" { "Skip to the content" }
                header .site {
                    a .brand href={ @if root.is_empty() { "." } @else { (root) } } {
                        img src={ (root) "favicon.svg" } alt="" width="28" height="28";
                        "Plaudit"
                    }
                    nav aria-label="Site" {
                        a href={ (root) "docs" } { "Reference" }
                        a href={ (root) "openapi.json" } { "OpenAPI" }
                        button #theme type="button" hidden { "Dark" }
                    }
                }
                (content)
            }
        }
    }
}

/// A request that any key of an account can make; the script puts in where the page was found.
fn first_call() -> Markup {
    let accept = Format::Json.media_type();
    let lines = ["curl 'http://127.0.0.1:8080/entry'", "-H 'x-api-key: …'", &format!("-H 'Accept: {accept}'")];
    html! { pre tabindex="0" { code data-first { (lines.join(" \\\n  ")) } } }
}

/// A text of the document: paragraphs, and between backticks what stands in code.
fn prose(text: &str) -> Markup {
    html! { @for paragraph in text.split("\n\n") { p { (line(paragraph)) } } }
}

/// A text of one paragraph.
fn line(text: &str) -> Markup {
    html! {
        @for (piece, is_code) in text.split('`').zip([false, true].into_iter().cycle()) {
            @if is_code { code { (piece) } } @else { (piece) }
        }
    }
}
