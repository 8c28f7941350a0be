//! Requests to entries.

pub mod create;
mod facts;
pub mod list;
pub mod realtime;
pub mod show;
pub mod summary;
pub mod tags;
pub mod trash;
pub mod update;
pub mod upload;

use axum::Router;
use axum::routing::{get, post, put};

use super::Refusal;
use super::store::Stored;
use crate::app::App;
use crate::http::{ApiError, Reply};
use kernel::ids::Ids;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of entries.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/entry", get(list::list).post(create::create))
        .route("/entry/summary", get(summary::summary))
        .route("/entry/{slug}", get(show::show).put(update::update).delete(trash::delete))
        .route("/entry/{slug}/copy", post(create::copy))
        .route("/entry/{slug}/restore", post(trash::restore))
        .route("/entry/{slug}/tag/{tags}", put(tags::add).delete(tags::remove))
        .route("/entry/{slug}/upload/{field}", post(upload::upload))
        .route("/entry/{slug}/update-title", put(realtime::update_title))
        .route("/entry/{slug}/update-field/{field}", put(realtime::update_field))
        .route("/entry/{slug}/update-category", put(realtime::update_category))
        .route("/entry/{slug}/update-chapter", put(realtime::update_chapter))
}

/// A request about one entry, with a body.
struct Request {
    slug: Slug,
    body: JsonObject<'static>,
}

/// A request that makes records, whose slugs are drawn in its transaction.
trait Made {
    /// Where slugs come from.
    fn ids(&self) -> &Ids;
}

/// 200 with an entry.
fn shown(stored: Stored) -> Reply {
    Reply::detailed(stored.doc, stored.detail, stored.revision).showing(stored.person)
}

/// 201 with an entry.
fn created(stored: Stored, slug: Slug) -> Reply {
    Reply::created_detailed(stored.doc, stored.detail, stored.revision, Kind::Entry, slug.as_str())
        .showing(stored.person)
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(violations) => Self::Invalid(violations),
            Refusal::State(message) => Self::State(message),
        }
    }
}
