//! The operations of forms, which read only.

use utoipa_axum::router::OpenApiRouter;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::program::forms::{Form, FormType, document};
use crate::resources::setup_list::{Of, SetupList, columns, one_or_every};
use crate::resources::setup_record::{self, Related, SetupResource};
use crate::services::App;

/// The routes of forms.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Form>("GetFormCollectionV23"))
        .routes(setup_record::show::<Form>("GetFormV23"))
}

const FILTERS: &[Filter] = &[
    Filter::new("form_type", FilterKind::OneOf(FormType::NAMES), "What they are for").by(Narrow::Is("type")),
    Filter::season("The season, or `all`; a form that belongs to no season is in the list of each")
        .by(Narrow::SeasonOrEvery("in_season")),
    Filter::archived().by(Narrow::Lifecycle("archived")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];
const ORDERS: &[&str] =
    &["callToAction", "chapter_option", "content_block", "created", "name", "season", "slug", "type", "updated"];
const CELLS: &[(&str, Of<Form>); 12] = &[
    ("archived", Of::Flag(|form| form.archived)),
    ("callToAction", Of::Translated(|form, _| Some(&form.call_to_action))),
    ("chapter_option", Of::Word(|form| form.chapter_option.name())),
    ("content_block", Of::Translated(|form, program| Some(&program.content_blocks.any(form.content_block?)?.name))),
    ("created", Of::Time(|form| form.created)),
    ("deleted", Of::Deleted),
    ("in_season", Of::Set(|form, _| one_or_every(form.season))),
    ("name", Of::Translated(|form, _| Some(&form.name))),
    ("season", Of::Translated(|form, program| Some(&program.seasons.any(form.season?)?.name))),
    ("slug", Of::Slug(|form| Some(form.slug))),
    ("type", Of::Word(|form| form.kind.name())),
    ("updated", Of::Time(|form| form.updated)),
];

impl SetupResource for Form {
    const GROUP: &'static str = "Forms";
    const LIST: &'static SetupList<Self> =
        &SetupList { spec: ListSpec::new(FILTERS, ORDERS), cells: CELLS, columns: &columns(CELLS) };

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program)
    }
}
