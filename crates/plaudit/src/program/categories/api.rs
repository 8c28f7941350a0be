//! The operations of categories.

pub mod read;
pub mod upload;
pub mod write;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

/// The routes of categories.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/category", get(read::list).post(write::create))
        .route("/category/{slug}", get(read::show).put(write::update).delete(write::delete))
        .route("/category/{slug}/upload", post(upload::upload))
}
