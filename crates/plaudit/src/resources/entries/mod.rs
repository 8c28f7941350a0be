//! Requests to entries.

pub mod create;
mod facts;
pub mod list;
pub mod realtime;
pub mod show;
pub mod stream;
pub mod summary;
pub mod tags;
pub mod trash;
pub mod update;
pub mod upload;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Reply;
use crate::records::entries::store::Stored;
use crate::services::App;
use kernel::ids::Ids;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of entries.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(summary::summary))
        .routes(routes!(show::show, update::update, trash::delete))
        .routes(routes!(create::copy))
        .routes(routes!(trash::restore))
        .routes(routes!(tags::add, tags::remove))
        .routes(routes!(upload::upload))
        .routes(routes!(realtime::update_title))
        .routes(routes!(realtime::update_field))
        .routes(routes!(realtime::update_category))
        .routes(routes!(realtime::update_chapter))
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
