//! Taking judges off entries.

use super::check_managed;
use crate::assigning::link;
use crate::assigning::reassigning::{Input, WORK};
use crate::assigning::rules;
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::jobs;
use crate::program::Program;
use crate::records::assignments::{Method, Status};
use crate::records::{assignments, entries, users};
use db::{Source, Tx};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// An entry and a body.
type State = (Slug, JsonObject<'static>);

/// Takes a judge off an entry, in a score set or in all; the judge is not assigned to it again.
#[utoipa::path(
    put,
    path = "/entry/{slug}/recuse",
    operation_id = "PutEntryRecuseV23",
    tag = "Assignments",
    request_body(content = ref("Recuse"), content_type = "application/json"),
    responses((status = 204, description = "The judge is off the entry"))
)]
pub(super) async fn recuse(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_recuse(tx, writing))).await
}

async fn write_recuse(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (pair, score_set, stored) = read(tx, writing).await?;
    writing.precondition_of(&stored)?;
    link::recuse(tx, &writing.program, &writing.origin, pair, score_set, writing.ids()).await?;
    Ok(Reply::NoContent)
}

/// Lifts what `recuse` did, and a conflict of interest that the judge has declared.
#[utoipa::path(
    put,
    path = "/entry/{slug}/unrecuse",
    operation_id = "PutEntryUnrecuseV23",
    tag = "Assignments",
    request_body(content = ref("Recuse"), content_type = "application/json"),
    responses((status = 204, description = "The judge may judge the entry again"))
)]
pub(super) async fn unrecuse(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_unrecuse(tx, writing))).await
}

async fn write_unrecuse(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (pair, score_set, stored) = read(tx, writing).await?;
    let (account, program, origin) = (writing.account(), &writing.program, &writing.origin);
    if score_set.is_some() && link::is_off_everywhere(tx, account, program, pair).await? {
        let refused = "The judge was taken off the entry in all score sets, and is not back in one alone.";
        return Err(ApiError::State(refused.to_owned()));
    }
    for found in assignments::store::of_pair(tx, account, pair, score_set, &program.context).await? {
        if found.value.method == Method::Recused
            && found.value.status == Status::Complete
            && let Some(message) = link::refusal_to_return(tx, account, program, (&found.value, origin.at)).await?
        {
            return Err(ApiError::State(message));
        }
    }
    writing.precondition_of(&stored)?;
    link::unrecuse(tx, account, program, origin, pair, score_set).await?;
    Ok(Reply::NoContent)
}

/// The entry and the judge, the score set where one is named, and what is stored of the entry.
async fn read(
    tx: &mut Tx,
    writing: &Writing<State>,
) -> Result<((Slug, Slug), Option<Slug>, entries::store::Stored), ApiError> {
    let (slug, body) = &*writing.state;
    let account = writing.account();
    let entry = entries::store::find_for_update(tx, account, *slug).await?.ok_or(ApiError::NotFound)?;
    check_managed(&writing.access, entry.head()?.chapter, None)?;
    let mut members = Members::closed(body);
    let judge = members.required("judge", input::slug);
    let score_set = members.nullable("score_set", input::slug).flatten();
    let mut violations = members.finish();
    check_score_set(&writing.program, score_set, &mut violations);
    if let Some(judge) = judge
        && users::store::roles_of(account, Source::Snapshot(tx), judge).await?.is_none()
    {
        violations.add("judge", format!("{judge} is no user of the account"));
    }
    let judge = violations.or(judge)?;
    Ok(((*slug, judge), score_set, entry))
}

fn check_score_set(program: &Program, score_set: Option<Slug>, violations: &mut Violations) {
    if let Some(slug) = score_set.filter(|slug| program.score_sets.live(*slug).is_none()) {
        violations.add("score_set", format!("{slug} is no score set of the account"));
    }
}

/// Takes a judge off all open sheets of a score set, by a job that gives them to others.
#[utoipa::path(
    post,
    path = "/assignment/reassign",
    operation_id = "PostAssignmentReassignV23",
    tag = "Assignments",
    request_body(content = ref("Reassign"), content_type = "application/json"),
    responses((status = 202, description = "A job does it; `Location` is its address"))
)]
pub(super) async fn reassign(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let reply = caller.write(body, |tx, writing| Box::pin(write_reassign(tx, writing))).await?;
    caller.app().wakes.add(caller.account());
    Ok(reply)
}

async fn write_reassign(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let mut members = Members::closed(&writing.state);
    let judge = members.required("judge", input::slug);
    let score_set = members.required("score_set", input::slug);
    let mut violations = members.finish();
    if let Some(slug) = score_set {
        rules::check_score_set(program, slug, &mut violations);
    }
    if let Some(judge) = judge
        && users::store::roles_of(account, Source::Snapshot(tx), judge).await?.is_none()
    {
        violations.add("judge", format!("{judge} is no user of the account"));
    }
    let (judge, score_set) = violations.or(judge.zip(score_set))?;
    let actor = writing.origin.actor.to_string();
    let input = Input { judge: judge.to_string(), score_set: score_set.to_string(), actor };
    let job = jobs::add(tx, account, (WORK.kind, input.to_json()), &writing.origin, writing.ids()).await?;
    Ok(Reply::Accepted { location: Some(format!("/job/{job}")) })
}
