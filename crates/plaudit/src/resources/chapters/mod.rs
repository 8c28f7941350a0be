//! The operations of chapters.

pub mod read;
pub mod upload;
pub mod write;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::services::App;

/// The routes of chapters.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read::list, write::create))
        .routes(routes!(read::show, write::update, write::delete))
        .routes(routes!(upload::upload))
}
