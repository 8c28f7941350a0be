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

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, Sight};
use crate::http::Reply;
use crate::records::entries::list::PLAIN;
use crate::records::entries::rules::body::read_update;
use crate::records::entries::store::Stored;
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of entries.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(operation(
            (HttpMethod::Get, "/entry", "GetEntryCollectionV23", "Entries"),
            "A page of entries. Without `order` what was changed last comes first.",
            Takes::Query(PLAIN.spec.parameters()),
            list::list,
        ))
        .routes(operation(
            (HttpMethod::Get, "/entry/summary", "GetEntrySummaryV23", "Entries"),
            "How many entries each chapter, category and status has, those in the trash and archived ones left out.",
            Takes::Query(summary::SPEC.parameters()),
            summary::summary,
        ))
        .routes(routes!(create::create))
        .routes(routes!(show::show, trash::delete))
        .routes(update::update(
            ("/entry/{slug}", "PutEntryV23", "Entries"),
            "Changes what the body names; everything else keeps its value.",
            ("UpdateEntry", read_update),
        ))
        .routes(routes!(create::copy))
        .routes(routes!(trash::restore))
        .routes(routes!(upload::upload))
        .merge(tags::routes())
        .merge(realtime::routes())
}

/// 200 with an entry, of which so much is seen.
fn shown(stored: Stored, sight: Sight) -> Reply {
    Reply::detailed(stored.doc, stored.detail, stored.revision).showing(stored.person).seen(sight)
}

/// 201 with an entry, of which so much is seen.
fn created(stored: Stored, slug: Slug, sight: Sight) -> Reply {
    Reply::created_detailed(stored.doc, stored.detail, stored.revision, Kind::Entry, slug.as_str())
        .showing(stored.person)
        .seen(sight)
}

/// Tells that an entry would go to a chapter that the key's person does not manage.
fn check_chapter(access: &Access, chapter: Option<Slug>, violations: &mut Violations) {
    if chapter.is_some_and(|chapter| !access.sees_all() && !access.chapters().contains(&chapter)) {
        violations.add("chapter", "is not a chapter that you manage");
    }
}
