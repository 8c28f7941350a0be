//! What judges give, and what keeps them from it.

use super::{check_managed, find_any, leads, precondition, reply};
use crate::access::judged;
use crate::assigning::link;
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::program::score_sets::ScoreSet;
use crate::records::assignments::scoring::{ScoringContext, check_link, check_scoring, check_sheet};
use crate::records::assignments::{
    Assignment, AssignmentSlug, COMMENT_LENGTH, Comment, DECLARATIONS, Sheet, Shown, Status, store,
};
use crate::records::standings::store::FoundSheet;
use db::{AccountId, Source, Tx};
use kernel::input::{self, Members};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// A slug and a body.
type State = (AssignmentSlug, JsonObject<'static>);

/// Gives points, a decision, a preference or votes, by the mode of the score set, while a judging round is open.
#[utoipa::path(
    put,
    path = "/assignment/{slug}/score",
    operation_id = "PutAssignmentScoreV23",
    tag = "Assignments",
    request_body(content = ref("UpdateScore"), content_type = "application/json")
)]
pub(super) async fn score(
    caller: Caller,
    Path(slug): Path<AssignmentSlug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_score(tx, writing))).await
}

async fn write_score(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let (slug, body) = &*writing.state;
    let found = find(tx, writing, *slug).await?;
    let before = &found.record.value;
    let set = sheet(before, program.score_sets.live(slug.score_set()))?;
    // What a judge gives other entries counts where it is shared out.
    let others = match before.judge {
        Some(judge) if set.mode().is_shared_out() => {
            store::complete_of_judge(tx, account, (judge, set.slug), &program.context).await?
        }
        _ => Vec::new(),
    };
    let ids = || writing.ids().slug();
    let Shown { category, chapter, .. } = found.shown;
    let context = ScoringContext { program, score_set: set, now, slug: &ids, others: &others, category };
    let after = context.scored(before, body)?;
    check_link(before).map_err(ApiError::State)?;
    check_shown(tx, account, set, before).await?;
    check_scoring(before, set, chapter, program, now).map_err(ApiError::State)?;
    finish(tx, writing, (found, after)).await
}

/// Notes that the judge does not judge the entry; what the sheet says stays.
#[utoipa::path(
    put,
    path = "/assignment/{slug}/abstain",
    operation_id = "PutAssignmentAbstainV23",
    tag = "Assignments",
    request_body(content = ref("Abstain"), content_type = "application/json")
)]
pub(super) async fn abstain(
    caller: Caller,
    Path(slug): Path<AssignmentSlug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_abstain(tx, writing))).await
}

async fn write_abstain(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let found = find(tx, writing, *slug).await?;
    let before = &found.record.value;
    let mut members = Members::closed(body);
    let reason = members.nullable("reason", input::text(COMMENT_LENGTH)).flatten().unwrap_or_default();
    members.finish().or(Some(()))?;
    let set = linked_sheet(before, writing.program.score_sets.live(slug.score_set()))?;
    check_shown(tx, writing.account(), set, before).await?;
    let mut after = before.clone();
    after.abstention = Some(match &before.abstention {
        Some(abstention) if abstention.comment == reason => abstention.clone(),
        Some(abstention) => Comment { comment: reason, updated_at: writing.origin.at, ..abstention.clone() },
        None => written(writing, reason, before.judge),
    });
    finish(tx, writing, (found, after)).await
}

/// Declares that the judge has a conflict of interest with the entry, in every score set. Only unrecusing lifts it.
#[utoipa::path(
    post,
    path = "/assignment/{slug}/conflict",
    operation_id = "PostAssignmentConflictV23",
    tag = "Assignments",
    request_body(content = ref("DeclareConflict"), content_type = "application/json"),
    responses((status = 200, description = "The assignment", body = ref("Assignment"), content_type = "application/json"))
)]
pub(super) async fn conflict(
    caller: Caller,
    Path(slug): Path<AssignmentSlug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_conflict(tx, writing))).await
}

async fn write_conflict(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let (slug, body) = &*writing.state;
    let found = find(tx, writing, *slug).await?;
    let mut members = Members::closed(body);
    let comment = members.required("comment", input::filled_text(COMMENT_LENGTH));
    let comment = members.finish().or(comment)?;
    let before = &found.record;
    let Some(judge) = before.value.judge else {
        return Err(ApiError::State("A role has no conflicts of interest; its users do.".to_owned()));
    };
    if before.value.conflict.len() >= DECLARATIONS {
        return Err(ApiError::State(format!("A sheet has at most {DECLARATIONS} declarations of conflicts.")));
    }
    precondition(writing, &found, Sheet::WHOLE)?;
    let mut after = before.value.clone();
    after.is_conflicted = true;
    after.conflict.push(written(writing, comment, Some(judge)));
    let pair = (slug.entry(), judge);
    // The assignment says so before it is noted of the pair, which marks what does not.
    let changed = link::change_sheet(tx, account, program, &writing.origin, (found, after)).await?;
    link::note_conflict(tx, account, program, &writing.origin, pair, writing.ids()).await?;
    Ok(reply(program, &changed))
}

/// Opens a sheet again: an abstention is taken back, a complete sheet can be changed.
#[utoipa::path(
    post,
    path = "/assignment/{slug}/reopen",
    operation_id = "PostAssignmentReopenV23",
    tag = "Assignments",
    request_body(content = ref("Reopen"), content_type = "application/json"),
    responses((status = 200, description = "The assignment", body = ref("Assignment"), content_type = "application/json"))
)]
pub(super) async fn reopen(
    caller: Caller,
    Path(slug): Path<AssignmentSlug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_reopen(tx, writing))).await
}

async fn write_reopen(tx: &mut Tx, writing: &Writing<State>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let found = find_any(tx, writing, *slug).await?;
    let before = &found.record.value;
    let is_led = leads(&writing.access, &writing.program, Source::Snapshot(tx), slug.score_set()).await?;
    // A lead judge does not reopen an own sheet.
    if !is_led || before.judge.is_some() && before.judge == writing.access.user() {
        check_managed(&writing.access, found.shown.chapter, before.judge)?;
    }
    let mut members = Members::closed(body);
    let reason = members.required("reason", input::filled_text(COMMENT_LENGTH));
    let reason = members.finish().or(reason)?;
    let set = linked_sheet(before, writing.program.score_sets.live(slug.score_set()))?;
    if !matches!(before.status, Status::Abstained | Status::Complete) {
        return Err(ApiError::State("The sheet is open.".to_owned()));
    }
    if before.abstention.is_some()
        && let Some(message) =
            link::refusal_to_return(tx, writing.account(), &writing.program, (before, writing.origin.at)).await?
    {
        return Err(ApiError::State(message));
    }
    let reopening = Some(written(writing, reason, None));
    let after = Assignment { abstention: None, reopening, ..before.clone() };
    // A lead judge sees no more of the sheets of others than other judges do.
    let program = &writing.program;
    let seen = super::sheet(&writing.access, program, Source::Snapshot(tx), &found.shown).await?;
    let nothing = Sheet { scores: false, comments: false, names: set.shows.names_of_judges };
    let sheet = seen.unwrap_or(nothing);
    let FoundSheet { record, shown, .. } = write(tx, writing, sheet, (found, after)).await?;
    Ok(Reply::ok(shown.seen(program, sheet), record.revision).naming(&shown.names()))
}

/// Refuses to change a sheet whose judge was shown what others gave.
async fn check_shown(tx: &mut Tx, account: AccountId, set: &ScoreSet, assignment: &Assignment) -> Result<(), ApiError> {
    let is_shown = judged::shows_others(set, assignment);
    if is_shown && store::others_gave(tx, account, (assignment.entry, set.slug), assignment.judge).await? {
        let refused = "The sheet is complete, and those of others were shown; it has to be reopened first.";
        return Err(ApiError::State(refused.to_owned()));
    }
    Ok(())
}

/// An assignment that is the caller's to fill in and not in the trash, and whose entry is not either.
async fn find<S>(tx: &mut Tx, writing: &Writing<S>, slug: AssignmentSlug) -> Result<FoundSheet, ApiError> {
    let found = find_any(tx, writing, slug).await?;
    let judge = found.record.value.judge;
    if !writing.access.fills_in(judge) {
        check_managed(&writing.access, found.shown.chapter, judge)?;
    }
    Ok(found)
}

/// The score set of a sheet that can be changed.
fn sheet<'s>(assignment: &Assignment, score_set: Option<&'s ScoreSet>) -> Result<&'s ScoreSet, ApiError> {
    check_sheet(assignment, score_set).map_err(ApiError::State)?;
    score_set.ok_or(ApiError::NotFound)
}

/// The same of a sheet whose judge is assigned to the entry.
fn linked_sheet<'s>(assignment: &Assignment, score_set: Option<&'s ScoreSet>) -> Result<&'s ScoreSet, ApiError> {
    let score_set = sheet(assignment, score_set)?;
    check_link(assignment).map_err(ApiError::State)?;
    Ok(score_set)
}

/// A new comment.
fn written<S>(writing: &Writing<S>, comment: String, user: Option<Slug>) -> Comment {
    let now = writing.origin.at;
    Comment { slug: writing.ids().slug(), comment, user, created_at: now, updated_at: now }
}

/// Writes an assignment of which so much is seen, unless nothing has changed.
async fn write<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    sheet: Sheet,
    (before, after): (FoundSheet, Assignment),
) -> Result<FoundSheet, ApiError> {
    precondition(writing, &before, sheet)?;
    if after == before.record.value {
        return Ok(before);
    }
    Ok(link::change_sheet(tx, writing.account(), &writing.program, &writing.origin, (before, after)).await?)
}

/// The same, and answers with it.
async fn finish<S>(tx: &mut Tx, writing: &Writing<S>, change: (FoundSheet, Assignment)) -> Result<Reply, ApiError> {
    Ok(reply(&writing.program, &write(tx, writing, Sheet::WHOLE, change).await?))
}
