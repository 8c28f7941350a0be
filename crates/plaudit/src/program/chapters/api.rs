//! The operations of chapters.

pub mod read;
pub mod upload;
pub mod write;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

/// The routes of chapters.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/chapter", get(read::list).post(write::create))
        .route("/chapter/{slug}", get(read::show).put(write::update).delete(write::delete))
        .route("/chapter/{slug}/upload", post(upload::upload))
}
