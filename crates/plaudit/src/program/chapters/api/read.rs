//! Reading chapters.

use crate::http::openapi::Error;
use crate::http::page::{Filter, FilterKind, ListQuery, ListSpec, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::chapters::{Chapter, Status, document, key};
use crate::program::listing::{self, Listing, is_in_season, is_selected_by_trash};
use crate::text::status_label;

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(words!(Status)), "Whether they can be chosen"),
    Filter::season("The season, or `all`"),
    Filter::deleted(),
];
const SPEC: ListSpec = ListSpec::new(FILTERS, &["created", "name", "season", "status", "updated"]);
list_parameters!(Query, SPEC);

/// A chapter as this caller is shown it.
fn shown(chapter: &Chapter, caller: &Caller) -> String {
    let label = status_label(chapter.status == Status::Active, caller.languages().first_requested());
    document(chapter, caller.program(), label)
}

/// A page of chapters. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/chapter",
    operation_id = "GetChapterCollectionV23",
    tag = "Chapters",
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
    let status = query.word("status");
    let records = program.chapters.all().filter(|record| {
        status.is_none_or(|status| status == record.value.status.name())
            && is_in_season(&query, program, Some(record.value.season))
            && is_selected_by_trash(&query, "deleted", record.deleted)
    });
    let listing = Listing {
        path: "/chapter",
        query: &query,
        records: records.collect(),
        key: &|chapter, order| key(chapter, order, program),
        document: &|record| shown(&record.value, &caller),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}

/// A chapter.
#[utoipa::path(
    get,
    path = "/chapter/{slug}",
    operation_id = "GetChapterV23",
    tag = "Chapters",
    params(("slug" = String, Path, description = "The chapter", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The chapter"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let chapter = caller.program().chapters.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, chapter.revision, shown(&chapter.value, &caller)).await
}
