//! Reading categories.

use std::collections::HashMap;

use crate::http::{self, ApiError, Caller, IncludeSettings, PathSlug, RawQuery, Reply};
use crate::lists::ENTRIES;
use crate::lists::page::{Ask, EVERY, Filter, FilterKind, ListQuery, ListSpec, Narrow, list_parameters, words};
use crate::program::Program;
use crate::program::categories::{Category, Status, chapter_count, document, item};
use crate::records::files;
use crate::resources::setup_list::{self, Counts, Of, SetupList, columns};
use kernel::text::Slug;

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(words!(Status)), "Whether they can be chosen").by(Narrow::Is("status")),
    Filter::new("chapter", FilterKind::Slug, "The chapter that offers them").by(Narrow::By(offered_in)),
    Filter::new("form", FilterKind::Slug, "The form of their entries").by(Narrow::Is("of_form")),
    Filter::new("parent", FilterKind::Slug, "The category right above them").by(Narrow::Is("below")),
    Filter::season("The season, or `all`").by(Narrow::Season("of_season")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
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
const CELLS: &[(&str, Of<Category>); 16] = &[
    ("below", Of::Slug(|category| category.parent)),
    ("chapter_count", Of::Number(|category, _| chapter_count(category))),
    ("created", Of::Time(|category| category.created)),
    ("deleted", Of::Deleted),
    ("divisions", Of::Number(|category, _| category.divisions)),
    ("form", Of::Translated(|category, program| Some(&program.forms.any(category.form?)?.name))),
    ("name", Of::Translated(|category, _| Some(&category.name))),
    ("of_form", Of::Slug(|category| category.form)),
    ("of_season", Of::Slug(|category| Some(category.season))),
    ("offered_in", Of::Set(|category, _| chapters(category))),
    ("parent", Of::Translated(|category, program| Some(&program.categories.any(category.parent?)?.name))),
    ("promoted", Of::Number(|category, _| category.promoted.map_or(i64::MIN, i64::from))),
    ("season", Of::Translated(|category, program| Some(&program.seasons.any(category.season)?.name))),
    ("shortcode", Of::Translated(|category, _| Some(&category.shortcode))),
    ("status", Of::Word(|category| category.status.name())),
    ("updated", Of::Time(|category| category.updated)),
];

/// `GET /category` (contract, section 4).
static LIST: SetupList<Category> =
    SetupList { path: "/category", spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };
list_parameters!(Query, LIST.spec);

/// The chapters that offer a category, where it names none all of its season.
fn chapters(category: &Category) -> Vec<String> {
    let every = category.chapters.is_empty().then(|| EVERY.to_owned());
    category.chapters.iter().map(Slug::to_string).chain(every).collect()
}

/// What the filter `chapter` asks.
fn offered_in(query: &ListQuery, program: &Program) -> Vec<Ask> {
    let Some(slug) = query.slug("chapter") else { return Vec::new() };
    let Some(chapter) = program.chapters.any(slug) else { return vec![Ask::Never] };
    let season = Ask::Is("of_season", chapter.season.to_string());
    vec![season, Ask::Has("offered_in", vec![slug.to_string(), EVERY.to_owned()])]
}

/// A page of categories. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/category",
    operation_id = "GetCategoryCollectionV23",
    tag = "Categories",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("CategoryPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let program = caller.program();
    let mut asks = vec![Ask::Is("deleted", "0".to_owned())];
    Narrow::Season("season").asks("season", &query, program, &mut asks);
    let counts = http::list::count(&caller, ENTRIES, &asks, &["category"]).await?;
    let of: HashMap<Slug, u64> =
        counts.iter().filter_map(|(values, count)| Some((Slug::parse(values.first()?)?, *count))).collect();
    let counts = Counts { order: "entry_count", of };
    let show = |category: &Category| item(category, program, counts.of.get(&category.slug).copied().unwrap_or(0));
    setup_list::page_with(&caller, raw.as_deref(), (&LIST, &query), Some(&counts), show).await
}

/// A category.
#[utoipa::path(
    get,
    path = "/category/{slug}",
    operation_id = "GetCategoryV23",
    tag = "Categories",
    params(
        ("include" = Option<String>, Query, description = "`settings` adds the members of create and update", pattern = "^settings$"),
    ),
    responses(
        (status = 200, description = "The category", body = ref("Category")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug, include: IncludeSettings) -> Result<Reply, ApiError> {
    let program = caller.program();
    let category = program.categories.live_record(slug).ok_or(ApiError::NotFound)?;
    let images = &category.value.images;
    // The names of the files stand in their records alone.
    let (version, names) = files::store::names(&caller.app().db, caller.account(), images).await?;
    if version != Some(program.version) {
        return Err(ApiError::Stale);
    }
    let shown = document(&category.value, program, &names);
    let shown = include.added_to(shown, |settings| Category::write_settings(&category.value, settings));
    Ok(Reply::ok(shown, category.revision))
}
