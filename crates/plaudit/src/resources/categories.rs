//! The operations of categories.

use std::collections::HashMap;

use utoipa_axum::router::OpenApiRouter;

use crate::http::{self, ApiError, Caller};
use crate::lists::ENTRIES;
use crate::lists::page::{Ask, EVERY, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::program::Program;
use crate::program::categories::{
    self, Category, Changes, IMAGES, Status, chapter_count, document, item, moved_up, read_create,
};
use crate::resources::images::{self, Illustrated};
use crate::resources::setup_list::{Counts, Of, SetupList, columns};
use crate::resources::setup_record::{self, Given, Related, SetupResource, Writable};
use crate::services::App;
use db::Tx;
use kernel::document::Object;
use kernel::text::{Slug, Timestamp, Token};

/// The routes of categories.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Category>("GetCategoryCollectionV23"))
        .routes(setup_record::create::<Category>("PostCategoryV23", "Makes a category."))
        .routes(setup_record::show_with_settings::<Category>("GetCategoryV23"))
        .routes(setup_record::update::<Category>("PutCategoryV23"))
        .routes(setup_record::delete::<Category>(
            "DeleteCategoryV23",
            "Puts a category into the trash. Its children move one level up; its entries keep their reference and show its \
             name.",
        ))
        .routes(images::upload::<Category>("PostCategoryUploadV23", "Adds an image to a category."))
}

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(Status::NAMES), "Whether they can be chosen").by(Narrow::Is("status")),
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

impl SetupResource for Category {
    const GROUP: &'static str = "Categories";
    const LIST: &'static SetupList<Self> =
        &SetupList { spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program, related.filenames)
    }

    fn item(&self, related: &Related<'_>, entry_count: u64) -> String {
        item(self, related.program, entry_count)
    }

    fn named_files(&self) -> &[Token] {
        &self.images
    }

    async fn counts(caller: &Caller, query: &ListQuery) -> Result<Option<Counts>, ApiError> {
        let mut asks = vec![Ask::Is("deleted", "0".to_owned())];
        Narrow::Season("season").asks("season", query, caller.program(), &mut asks);
        let counts = http::list::count(caller, ENTRIES, &asks, &["category"]).await?;
        let of: HashMap<Slug, u64> =
            counts.iter().filter_map(|(values, count)| Some((Slug::parse(values.first()?)?, *count))).collect();
        Ok(Some(Counts { order: "entry_count", of }))
    }
}

impl Writable for Category {
    async fn written(before: Option<&Self>, given: &Given<'_>, _: &mut Tx) -> Result<Self, ApiError> {
        let Given { program, slug, body, now, .. } = *given;
        Ok(match before {
            None => categories::create(program, read_create(body, &program.context), slug, now)?,
            Some(before) => categories::update(program, before, Changes::read(body, false, &program.context), now)?,
        })
    }

    fn write_settings(&self, settings: &mut Object<'_>) {
        Self::write_settings(self, settings);
    }

    fn changed_by_trash(&self, program: &Program, now: Timestamp) -> Vec<Self> {
        moved_up(program, self, now)
    }
}

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

impl Illustrated for Category {
    fn max_image_width(&self) -> Option<i64> {
        self.max_image_width
    }

    fn illustrated(mut self, image: Token, now: Timestamp) -> Result<Self, ApiError> {
        if self.images.len() >= IMAGES {
            return Err(ApiError::State(format!("The category has {IMAGES} images, and can have no more.")));
        }
        self.images.push(image);
        self.updated = now;
        Ok(self)
    }
}
