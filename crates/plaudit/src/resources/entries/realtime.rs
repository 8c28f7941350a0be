//! Changes of one thing, each of which reaches every open stream.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Sight;
use crate::http::{ApiError, Body, Caller, Path, PathField, Reply, Writer, Writing};
use crate::order_flow::Ordering;
use crate::records::entries::rules::body;
use crate::records::entries::{change_chapter, store};
use crate::resources::entries::check_chapter;
use crate::resources::entries::update::{change, update};
use crate::services::App;
use db::Tx;
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// The group of these operations.
const GROUP: &str = "Entries (realtime)";

/// The routes of changes of one thing.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(update(
            ("/entry/{slug}/update-title", "PutEntryUpdateTitleV23", GROUP),
            "Gives an entry another title.",
            ("UpdateTitle", body::read_title),
        ))
        .routes(routes!(update_field))
        .routes(update(
            ("/entry/{slug}/update-category", "PutEntryUpdateCategoryV23", GROUP),
            "Moves an entry to another category of its season and form, which is active, not locked and offered in its \
             chapter.",
            ("UpdateEntryCategory", body::read_category),
        ))
        .routes(routes!(update_chapter))
}

/// Gives an entry the answer to one field.
#[utoipa::path(
    put,
    path = "/entry/{slug}/update-field/{field}",
    operation_id = "PutEntryUpdateFieldV23",
    tag = GROUP,
    request_body = ref("UpdateAnswer")
)]
pub async fn update_field(
    caller: Caller,
    Path(slug): Path<Slug>,
    Path(PathField(field)): Path<PathField>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, field, body), |tx, writing| Box::pin(write_answer(tx, writing))).await
}

async fn write_answer(tx: &mut Tx, writing: &Writing<(Slug, Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (slug, field, body) = &*writing.state;
    if writing.program.fields.live(*field).is_none_or(|field| !writing.access.field(field)) {
        return Err(ApiError::NotFound);
    }
    change(tx, writing, *slug, body::read_answer(body, *field)).await
}

/// Moves an entry to another chapter, which is active, belongs to the entry's season and offers its category.
#[utoipa::path(
    put,
    path = "/entry/{slug}/update-chapter",
    operation_id = "PutEntryUpdateChapterV23",
    tag = GROUP,
    request_body = ref("UpdateEntryChapter")
)]
pub async fn update_chapter(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_chapter(tx, writing))).await
}

async fn write_chapter(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (account, (slug, body)) = (writing.account(), &*writing.state);
    let found = store::find_for_update(tx, account, *slug).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    let sight = writing.sight_of(&head)?;
    let chapter = read_chapter(body)?;
    if sight == Sight::Whole && chapter != head.chapter {
        let mut violations = Violations::default();
        check_chapter(&writing.access, Some(chapter), &mut violations);
        violations.or(Some(()))?;
    }
    let mut moved = change_chapter(&writing.program, &head, chapter)?;
    writing.precondition_of(&found)?;
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let consequences = ordering.follow(tx, Some((&head, false)), (&mut moved, false)).await?;
    let stored = store::write_head(tx, &writing.program, &writing.origin, (&found, &head), moved, false).await?;
    ordering.finish(tx, (head.slug, &head.title), consequences).await?;
    Ok(crate::resources::entries::shown(stored, sight))
}

/// Reads the body, of which only the chapter counts: other members are passed over (specification, section 4.2).
fn read_chapter(body: &JsonObject) -> Result<Slug, ApiError> {
    let mut members = Members::open(body);
    let chapter = members.required("chapter", input::slug);
    Ok(members.finish().or(chapter)?)
}
