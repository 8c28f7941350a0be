//! The operations of jobs.
//!
//! - The list begins with what was added last. Its cursor names the last job of a page, whatever is added or ends meanwhile.
//! - A job that waits or runs can be cancelled: 204. One that has ended cannot: 422.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;

use crate::access::Sight;
use crate::http::{ApiError, Caller, Path, RawQuery, Reader, Reply, Writer, entity_tag};
use crate::jobs::store::{self, Asked};
use crate::jobs::{Job, State};
use crate::lists::page::{
    Cursor, Filter, FilterKind, ListQuery, ListQueryError, ListSpec, MAXIMUM_PER_PAGE, walked_page,
};
use crate::render::RenderError;
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use kernel::text::{Slug, Timestamp};

const FILTERS: &[Filter] = &[
    Filter::new("kind", FilterKind::Text { max: 64 }, "What the job does"),
    Filter::new("state", FilterKind::OneOf(State::NAMES), "Where the job stands"),
];
const SPEC: ListSpec = ListSpec::walked(FILTERS, MAXIMUM_PER_PAGE);

/// The routes of jobs.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let named = |method, path, id| (method, path, id, "Jobs");
    OpenApiRouter::new()
        .routes(operation(
            named(HttpMethod::Get, "/job", "GetJobCollectionV23"),
            "A page of jobs. What was added last comes first.",
            Takes::Query(SPEC.parameters()),
            list,
        ))
        .routes(operation(
            named(HttpMethod::Get, "/job/{slug}", "GetJobV23"),
            "How far a job is.",
            Takes::Nothing,
            show,
        ))
        .routes(operation(
            named(HttpMethod::Delete, "/job/{slug}", "DeleteJobV23"),
            "Cancels what a job has not done yet; what it has done stays. A job that has ended cannot be cancelled.",
            Takes::Nothing,
            cancel,
        ))
}

async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    caller.permit()?;
    let state = query.word("state").and_then(State::named);
    let behind = query.cursor.as_ref().filter(|cursor| !cursor.is_start()).map(position).transpose()?;
    let per_page = usize::try_from(query.per_page).unwrap_or(usize::MAX);
    let asked = Asked { kind: query.text("kind").map(str::to_owned), state, behind, most: per_page.saturating_add(1) };
    let mut jobs = store::page(&caller.app().db, caller.account(), &asked).await?;
    let has_more = jobs.len() > per_page;
    jobs.truncate(per_page);
    let mut documents = Vec::with_capacity(jobs.len());
    for (job, version) in &jobs {
        current(&caller, *version)?;
        documents.push(job.document());
    }
    let longest = caller.app().settings.budgets.page_bytes;
    if documents.iter().map(String::len).sum::<usize>() > longest {
        return Err(RenderError::PageTooLong(longest).into());
    }
    let last = jobs.last().filter(|_| has_more).map(|(job, _)| {
        let position = [&job.created.as_microseconds().to_be_bytes(), job.slug.as_str().as_bytes()].concat();
        query.cursor_behind(position, 0)
    });
    let document = walked_page(|list| documents.iter().for_each(|document| list.raw(document)), last.as_deref());
    let (version, representation) = (caller.program().version, caller.representation());
    let etag = entity_tag(format!("{document}\n{version}\n{representation}"));
    Ok(Reply::Body { content: caller.renderer().record(&document, None)?, etag })
}

/// The job that a cursor names.
fn position(cursor: &Cursor) -> Result<(Timestamp, Slug), ListQueryError> {
    let read = || {
        let (created, slug) = cursor.position.split_at_checked(size_of::<i64>())?;
        let created = Timestamp::from_microseconds(i64::from_be_bytes(created.try_into().ok()?));
        Some((created, Slug::parse(std::str::from_utf8(slug).ok()?)?))
    };
    read().ok_or_else(|| ListQueryError::of("cursor names no job"))
}

/// Checks that what was read is shown with the program that it was read with.
fn current(caller: &Caller, version: i64) -> Result<(), ApiError> {
    if version == caller.program().version { Ok(()) } else { Err(ApiError::Stale) }
}

async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let found = store::find(&caller.app().db, caller.account(), slug).await?;
    let (job, version) = found.ok_or(ApiError::NotFound)?;
    current(&caller, version)?;
    let document = job.document();
    caller.shown((&document, None, Sight::Whole), Job::revision(&document), None)
}

async fn cancel(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller
        .write(slug, |tx, writing| {
            Box::pin(async move {
                let (account, slug) = (writing.account(), *writing.state);
                let (job, _) = store::find_for_update(tx, account, slug).await?.ok_or(ApiError::NotFound)?;
                if job.state.is_ended() {
                    return Err(ApiError::State(format!("The job is {}, and cannot be cancelled.", job.state)));
                }
                writing.precondition(Job::revision(&job.document()))?;
                store::end(tx, account, slug, (State::Cancelled, writing.origin.at)).await?;
                Ok(Reply::NoContent)
            })
        })
        .await
}
