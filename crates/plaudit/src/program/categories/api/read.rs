//! Reading categories.

use std::collections::HashMap;

use crate::files;
use crate::http::openapi::Error;
use crate::http::page::{Ask, Filter, FilterKind, ListQuery, ListSpec, Narrow, list_parameters, words};
use crate::http::{self, ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::list::ENTRIES;
use crate::program::categories::{Category, Status, document, item, key};
use crate::program::listing::{self, Listing, is_in_season, is_selected_by_trash};
use crate::program::{Program, Record};
use crate::text::Slug;

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(words!(Status)), "Whether they can be chosen"),
    Filter::new("chapter", FilterKind::Slug, "The chapter that offers them"),
    Filter::new("form", FilterKind::Slug, "The form of their entries"),
    Filter::new("parent", FilterKind::Slug, "The category right above them"),
    Filter::season("The season, or `all`"),
    Filter::deleted(),
];
const ORDERS: &[&str] = &[
    "chapter_count",
    "created",
    "divisions",
    "entry_count",
    "form",
    "name",
    "parent",
    "promoted",
    "season",
    "shortcode",
    "status",
    "updated",
];
const SPEC: ListSpec = ListSpec::new(FILTERS, ORDERS);
list_parameters!(Query, SPEC);

/// A page of categories. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/category",
    operation_id = "GetCategoryCollectionV23",
    tag = "Categories",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    let program = caller.program();
    let mut asks = vec![Ask::Is("deleted", "0".to_owned())];
    Narrow::Season("season").asks("season", &query, program, &mut asks);
    let counts = http::list::count(&caller, ENTRIES, &asks, &["category"]).await?;
    let counts: HashMap<Slug, i64> = counts
        .iter()
        .filter_map(|(values, count)| Some((Slug::parse(values.first()?)?, i64::try_from(*count).unwrap_or(i64::MAX))))
        .collect();
    let count = |category: Slug| counts.get(&category).copied().unwrap_or(0);
    let records: Vec<_> = program.categories.all().filter(|record| is_selected(&query, program, record)).collect();
    let state: Vec<String> = records.iter().map(|record| count(record.value.slug).to_string()).collect();
    let listing = Listing {
        path: "/category",
        query: &query,
        records,
        key: &|category, order| key(category, order, program, count(category.slug)),
        document: &|record| item(&record.value, program, count(record.value.slug)),
    };
    listing::reply_with(&caller, raw.as_deref(), &listing, &state.join(","))
}

fn is_selected(query: &ListQuery, program: &Program, record: &Record<Category>) -> bool {
    let category = &record.value;
    let is_offered = |chapter: Slug| {
        let of_season = program.chapters.any(chapter).is_some_and(|chapter| chapter.season == category.season);
        of_season && category.offers(chapter)
    };
    query.word("status").is_none_or(|status| status == category.status.name())
        && query.slug("chapter").is_none_or(is_offered)
        && query.slug("form").is_none_or(|form| category.form == Some(form))
        && query.slug("parent").is_none_or(|parent| category.parent == Some(parent))
        && is_in_season(query, program, Some(category.season))
        && is_selected_by_trash(query, "deleted", record.deleted)
}

/// A category.
#[utoipa::path(
    get,
    path = "/category/{slug}",
    operation_id = "GetCategoryV23",
    tag = "Categories",
    params(("slug" = String, Path, description = "The category", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The category"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let category = program.categories.live_record(slug).ok_or(ApiError::NotFound)?;
    let images = &category.value.images;
    // The names of the files stand in their records alone.
    let (version, names) = files::store::names(&caller.app().db, caller.account(), images).await?;
    if version != Some(program.version) {
        return Err(ApiError::Stale);
    }
    Ok(Reply::ok(document(&category.value, program, &names), category.revision))
}
