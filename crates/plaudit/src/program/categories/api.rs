//! The operations of categories.

pub mod read;
pub mod upload;
pub mod write;

use std::collections::BTreeMap;

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

/// The body of `PostCategoryV23`, for its description.
#[derive(utoipa::ToSchema)]
pub struct CreateCategory {
    /// The season that the category belongs to.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub season: String,
    /// `active` or `inactive`.
    pub status: String,
    /// Texts by the code of their locale; the name in the account's default language is required.
    pub translated: CategoryTexts,
    /// The slugs of the chapters that offer the category, all of its season; none means every chapter of it.
    pub chapters: Option<Vec<String>>,
    /// Into how many divisions the entries are judged apart; 1 without it.
    #[schema(minimum = 1)]
    pub divisions: Option<i32>,
    /// How many entries an entrant can have in the category; null means any number.
    pub entrant_max_entries: Option<i32>,
    /// Whether the title of an entry is filled in for the entrant.
    pub fill_entry_name: Option<bool>,
    /// The most pixels that an image is wide; null means any number.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_image_width: Option<i32>,
    /// The form of the entries; the season's first one without it.
    pub form: Option<String>,
    /// The category that it is a part of, of its season.
    pub parent: Option<String>,
    /// 0, 1 or null.
    pub promoted: Option<i32>,
    /// Whether packing slips are made; required with `packing_slip_instructions`.
    pub pdf_packing_slip: Option<bool>,
}

/// The body of `PutCategoryV23`, for its description. What is left out keeps its value.
#[derive(utoipa::ToSchema)]
pub struct UpdateCategory {
    /// `active` or `inactive`.
    pub status: Option<String>,
    /// Texts by the code of their locale.
    pub translated: Option<CategoryTexts>,
    /// The slugs of the chapters that offer the category, all of its season; none means every chapter of it.
    pub chapters: Option<Vec<String>>,
    /// Into how many divisions the entries are judged apart.
    #[schema(minimum = 1)]
    pub divisions: Option<i32>,
    /// How many entries an entrant can have in the category; null means any number.
    pub entrant_max_entries: Option<i32>,
    /// Whether the title of an entry is filled in for the entrant.
    pub fill_entry_name: Option<bool>,
    /// The most pixels that an image is wide; null means any number.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_image_width: Option<i32>,
    /// The category that it is a part of; neither the category itself nor a descendant of it. Null means none.
    pub parent: Option<String>,
    /// Whether packing slips are made.
    pub pdf_packing_slip: Option<bool>,
    /// Whether the entries can no longer be changed.
    pub locked: Option<bool>,
}

/// The texts of a category.
#[derive(utoipa::ToSchema)]
pub struct CategoryTexts {
    /// The name.
    pub name: Option<BTreeMap<String, String>>,
    /// The description.
    pub description: Option<BTreeMap<String, String>>,
    /// What the title of an entry is called.
    pub entry_name_label: Option<BTreeMap<String, String>>,
    /// The heading of the images.
    pub image_heading: Option<BTreeMap<String, String>>,
    /// What is printed on a packing slip.
    pub packing_slip_instructions: Option<BTreeMap<String, String>>,
    /// A short name.
    pub shortcode: Option<BTreeMap<String, String>>,
}
