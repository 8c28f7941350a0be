//! The operations of chapters.

use std::borrow::Cow;

use utoipa_axum::router::OpenApiRouter;

use crate::access::Access;
use crate::http::ApiError;
use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::program::Program;
use crate::program::chapters::{self, Candidate, Changes, Chapter, Status, document};
use crate::records::users;
use crate::resources::images::{self, Illustrated};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Given, Related, SetupResource, Writable};
use crate::services::App;
use db::{DbError, Tx};
use kernel::document::Object;
use kernel::text::{Timestamp, Token};

/// The routes of chapters.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Chapter>("GetChapterCollectionV23"))
        .routes(setup_record::create::<Chapter>("PostChapterV23", "Makes a chapter."))
        .routes(setup_record::show_with_settings::<Chapter>("GetChapterV23"))
        .routes(setup_record::update::<Chapter>("PutChapterV23"))
        .routes(setup_record::delete::<Chapter>(
            "DeleteChapterV23",
            "Puts a chapter into the trash; its entries keep their reference and show its name.",
        ))
        .routes(images::upload::<Chapter>(
            "PostChapterUploadV23",
            "Gives a chapter an image, in place of the one that it had.",
        ))
}

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(Status::NAMES), "Whether they can be chosen").by(Narrow::Is("status")),
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

impl SetupResource for Chapter {
    const GROUP: &'static str = "Chapters";
    const LIST: &'static SetupList<Self> = &SetupList {
        spec: ListSpec::new(FILTERS, &["created", "name", "season", "status", "updated"]),
        cells: CELLS,
        columns: &columns(CELLS),
    };

    fn seen(&self, access: &Access, _: &Program) -> Option<Cow<'_, Self>> {
        let hidden = || Cow::Owned(Self { managers: Vec::new(), ..self.clone() });
        Some(if access.sees_managers(self) { Cow::Borrowed(self) } else { hidden() })
    }

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program, related.label_locale.status_label(self.status == Status::Active))
    }
}

impl Writable for Chapter {
    async fn written(before: Option<&Self>, given: &Given<'_>, tx: &mut Tx) -> Result<Self, ApiError> {
        let Given { program, slug, body, now, .. } = *given;
        let changes = Changes::read(body, before.is_none(), &program.context);
        let found = candidates(tx, program, &changes.0).await?;
        Ok(match before {
            None => chapters::create(program, changes, &found, slug, now)?,
            Some(before) => chapters::update(program, before, changes, &found, now)?,
        })
    }

    fn write_settings(&self, settings: &mut Object<'_>) {
        Self::write_settings(self, settings);
    }
}

/// The users of the account among those who are named as managers.
async fn candidates(tx: &mut Tx, program: &Program, changes: &Changes) -> Result<Vec<Candidate>, DbError> {
    match changes.managers.as_deref() {
        None | Some([]) => Ok(Vec::new()),
        Some(named) => users::store::candidates(tx, program.id, named).await,
    }
}

impl Illustrated for Chapter {
    fn max_image_width(&self) -> Option<i64> {
        self.max_image_width
    }

    fn illustrated(self, image: Token, now: Timestamp) -> Result<Self, ApiError> {
        Ok(Self { image: Some(image), updated: now, ..self })
    }
}
