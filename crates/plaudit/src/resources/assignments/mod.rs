//! The operations of assignments.

mod create;
mod plan;
mod progress;
mod recuse;
mod score;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, Path, PathPart, Reader, Reply};
use crate::program::Program;
use crate::records::assignments::{Assignment, AssignmentSlug, LIST, Shown};
use crate::records::people;
use crate::resources::operation::{Takes, operation};
use crate::resources::people_list::people_list;
use crate::services::App;
use db::DbError;

impl PathPart for AssignmentSlug {
    const NAME: &'static str = "slug";
    const MALFORMED: &'static str = "The slug in the path must be 25 ASCII letters, those of what it links and J or R.";
    const PARSE: fn(&str) -> Option<Self> = Self::parse;
}

/// The routes of assignments.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of assignments of entries that are not in the trash. Without `order` what was changed last comes \
                 first.";
    OpenApiRouter::new()
        .routes(people_list(("GetAssignmentCollectionV23", "Assignments"), about, &LIST, |caller, renderer, texts| {
            let program = caller.program();
            Ok(renderer.item(&Shown::read(program, texts)?.document(program), None)?)
        }))
        .routes(routes!(create::create))
        .routes(operation(
            (HttpMethod::Get, "/assignment/progress", "GetAssignmentProgressV23", "Assignments"),
            "How far the judges of a score set are, and which of its entries are short of judges.",
            Takes::Query(progress::SPEC.parameters()),
            progress::progress,
        ))
        .routes(routes!(recuse::reassign))
        .routes(routes!(plan::plan))
        .routes(routes!(plan::show))
        .routes(routes!(plan::apply))
        .routes(routes!(plan::undo))
        .routes(routes!(show, create::delete))
        .routes(routes!(score::score))
        .routes(routes!(score::abstain))
        .routes(routes!(score::conflict))
        .routes(routes!(score::reopen))
        .routes(routes!(recuse::recuse))
        .routes(routes!(recuse::unrecuse))
}

/// An assignment, with the sheet.
#[utoipa::path(get, path = "/assignment/{slug}", operation_id = "GetAssignmentV23", tag = "Assignments")]
pub async fn show(caller: Caller, Path(slug): Path<AssignmentSlug>, _: Reader) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = people::find_of_entry::<Assignment>(&caller.app().db, caller.account(), &slug, &LIST.shown).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, texts) = found.ok_or(ApiError::NotFound)?;
    let shown = Shown::read(program, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    if !caller.access().assignment(shown.chapter, shown.assignment.judge) {
        return Err(ApiError::NotFound);
    }
    Ok(reply(program, &texts, |document| Reply::ok(document, revision))?)
}

/// An answer that shows an assignment, from the columns that the list declares.
fn reply(program: &Program, texts: &[String], make: impl FnOnce(String) -> Reply) -> Result<Reply, DbError> {
    let shown = Shown::read(program, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(make(shown.document(program)).naming(&shown.names()))
}
