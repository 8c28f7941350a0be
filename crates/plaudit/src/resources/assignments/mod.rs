//! The operations of assignments.

mod create;
mod list;
mod plan;
mod progress;
mod recuse;
mod score;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, Sight, judged};
use crate::http::{ApiError, Caller, Path, PathPart, Reader, Reply, Writing};
use crate::program::Program;
use crate::program::chapters::Status;
use crate::program::panels::Panel;
use crate::records::assignments::store::{self, Own};
use crate::records::assignments::{Assignment, AssignmentSlug, LIST, Sheet, Shown};
use crate::records::people::{ShownRow, find_shown};
use crate::records::standings::store::{FoundSheet, find_sheet};
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use db::{DbError, Source, Tx};
use kernel::text::Slug;

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
        .routes(operation(
            (HttpMethod::Get, "/assignment", "GetAssignmentCollectionV23", "Assignments"),
            about,
            Takes::Query(LIST.spec.parameters()),
            list::list,
        ))
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
    let read =
        find_shown::<Assignment>(&caller.app().db, caller.account(), &slug, ShownRow::of_entry(&LIST.shown)).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, texts) = found.ok_or(ApiError::NotFound)?;
    let shown = Shown::read(program, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let sheet = sheet(caller.access(), program, Source::Db(&caller.app().db), &shown).await?;
    // Who is told a slug knows who judges.
    let sheet = sheet.filter(|sheet| sheet.names).ok_or(ApiError::NotFound)?;
    Ok(Reply::ok(shown.seen(program, sheet), revision).naming(&shown.names()))
}

/// How much of an assignment is seen; nothing where it is as if it did not exist.
async fn sheet(
    access: &Access,
    program: &Program,
    mut source: Source<'_>,
    shown: &Shown,
) -> Result<Option<Sheet>, DbError> {
    let Shown { assignment, chapter, .. } = shown;
    if access.assignment(*chapter, assignment.judge) {
        return Ok(Some(Sheet::WHOLE));
    }
    let Some(judge) = access.judging() else { return Ok(None) };
    let own = store::judged(&mut source, program.id, judge, &[assignment.entry]).await?;
    Ok(of_other(program, &own, assignment))
}

/// How much of the assignment of another judge is seen by whoever has these.
fn of_other(program: &Program, own: &[Own], assignment: &Assignment) -> Option<Sheet> {
    let is_same = |own: &&Own| own.entry == assignment.entry && own.score_set == assignment.score_set;
    let own = own.iter().find(is_same).filter(|_| assignment.is_linked() && assignment.judge.is_some())?;
    let score_set = program.score_sets.live(assignment.score_set)?;
    judged::of_others(score_set.shows, own.is_complete)
}

/// Refuses who does not manage the chapter of an assignment; 404 where that is not seen either.
fn check_managed(access: &Access, chapter: Slug, judge: Option<Slug>) -> Result<(), ApiError> {
    if access.manages(chapter) {
        return Ok(());
    }
    Err(if access.assignment(chapter, judge) { ApiError::NotPermitted } else { ApiError::NotFound })
}

/// Whether the person leads the judges of a score set: a lead judge who has an assignment in it that holds, or whom a panel
/// of it that is active names.
async fn leads(access: &Access, program: &Program, source: Source<'_>, score_set: Slug) -> Result<bool, DbError> {
    let Some(judge) = access.lead_judge() else { return Ok(false) };
    let names =
        |panel: &Panel| panel.score_set == score_set && panel.status == Status::Active && panel.judges.contains(&judge);
    if program.score_sets.live(score_set).is_none() || program.panels.all_live().any(names) {
        return Ok(program.score_sets.live(score_set).is_some());
    }
    store::is_judge_of(program.id, source, (judge, score_set)).await
}

/// An assignment that is not in the trash, and whose entry is not either, whoever sees it.
async fn find_any<S>(tx: &mut Tx, writing: &Writing<S>, slug: AssignmentSlug) -> Result<FoundSheet, ApiError> {
    find_sheet(tx, writing.account(), slug, &writing.program).await?.ok_or(ApiError::NotFound)
}

/// [`Writing::precondition`] of an assignment of which so much is seen.
fn precondition<S>(writing: &Writing<S>, before: &FoundSheet, sheet: Sheet) -> Result<(), ApiError> {
    if !writing.compares_what_is_shown() {
        return writing.precondition(before.record.revision);
    }
    writing.precondition_seen((&before.shown.seen(&writing.program, sheet), None, Sight::Whole), &[])
}

/// An answer that shows an assignment whole.
fn reply(program: &Program, FoundSheet { record, shown, .. }: &FoundSheet) -> Reply {
    Reply::ok(shown.document(program), record.revision).naming(&shown.names())
}
