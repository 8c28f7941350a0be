//! The operations of chapters.

pub mod read;
pub mod upload;
pub mod write;

use std::collections::BTreeMap;

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

/// The body of `PostChapterV23`, for its description.
#[derive(utoipa::ToSchema)]
pub struct CreateChapter {
    /// The season that the chapter belongs to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub season: String,
    /// `active` or `inactive`.
    pub status: String,
    /// Texts by the code of their locale; the name in the account's default language is required.
    pub translated: ChapterTexts,
    /// The most pixels that the chapter's image is wide.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_image_width: Option<i32>,
    /// The slugs of the users who manage the chapter. Each holds the role of a chapter manager.
    pub managers: Option<Vec<String>>,
}

/// The body of `PutChapterV23`, for its description. What is left out keeps its value.
#[derive(utoipa::ToSchema)]
pub struct UpdateChapter {
    /// `active` or `inactive`.
    pub status: Option<String>,
    /// Texts by the code of their locale.
    pub translated: Option<ChapterTexts>,
    /// The most pixels that the chapter's image is wide.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_image_width: Option<i32>,
    /// The slugs of the users who manage the chapter. Each holds the role of a chapter manager.
    pub managers: Option<Vec<String>>,
}

/// The texts of a chapter.
#[derive(utoipa::ToSchema)]
pub struct ChapterTexts {
    /// The name.
    pub name: Option<BTreeMap<String, String>>,
    /// The heading of the image.
    pub image_heading: Option<BTreeMap<String, String>>,
}
