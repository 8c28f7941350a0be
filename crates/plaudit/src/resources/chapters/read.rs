//! Reading chapters.

use crate::http::{ApiError, Caller, IncludeSettings, PathSlug, RawQuery, Reply};
use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow, list_parameters, words};
use crate::program::chapters::{Chapter, Status, document};
use crate::resources::setup_list::{self, Of, SetupList, columns};

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(words!(Status)), "Whether they can be chosen").by(Narrow::Is("status")),
    Filter::season("The season, or `all`").by(Narrow::Season("of_season")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];
const CELLS: &[(&str, Of<Chapter>); 7] = &[
    ("created", Of::Time(|chapter| chapter.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Translated(|chapter, _| Some(&chapter.name))),
    ("of_season", Of::Slug(|chapter| Some(chapter.season))),
    ("season", Of::Translated(|chapter, program| Some(&program.seasons.any(chapter.season)?.name))),
    ("status", Of::Word(|chapter| chapter.status.name())),
    ("updated", Of::Time(|chapter| chapter.updated)),
];

/// `GET /chapter` (contract, section 4).
static LIST: SetupList<Chapter> = SetupList {
    path: "/chapter",
    spec: ListSpec::new(FILTERS, &["created", "name", "season", "status", "updated"]),
    cells: CELLS,
    columns: &columns(CELLS),
};
list_parameters!(Query, LIST.spec);

/// A chapter as this caller is shown it.
fn shown(chapter: &Chapter, caller: &Caller) -> String {
    let label = caller.languages().first_requested().status_label(chapter.status == Status::Active);
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
        (status = 200, description = "The page", body = ref("ChapterPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    setup_list::page(&caller, raw.as_deref(), &LIST, |chapter| shown(chapter, &caller)).await
}

/// A chapter.
#[utoipa::path(
    get,
    path = "/chapter/{slug}",
    operation_id = "GetChapterV23",
    tag = "Chapters",
    params(
        ("include" = Option<String>, Query, description = "`settings` adds the members of create and update", pattern = "^settings$"),
    ),
    responses(
        (status = 200, description = "The chapter", body = ref("Chapter")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug, include: IncludeSettings) -> Result<Reply, ApiError> {
    let chapter = caller.program().chapters.live_record(slug).ok_or(ApiError::NotFound)?;
    let shown = shown(&chapter.value, &caller);
    let shown = include.added_to(shown, |settings| Chapter::write_settings(&chapter.value, settings));
    setup_list::show(&caller, chapter.revision, shown).await
}
