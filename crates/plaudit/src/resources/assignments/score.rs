//! What judges give, and what keeps them from it.

use super::{check_managed, leads, of_other, precondition, reply};
use crate::access::judged;
use crate::assigning::link;
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::program::Record;
use crate::program::score_sets::ScoreSet;
use crate::records::assignments::scoring::{ScoringContext, check_link, check_scoring, check_sheet};
use crate::records::assignments::{Assignment, AssignmentSlug, COMMENT_LENGTH, Comment, Sheet, Shown, Status, store};
use crate::records::entries::Entry;
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
    let (before, head) = find(tx, writing, *slug).await?;
    let set = sheet(&before.value, program.score_sets.live(slug.score_set()))?;
    // What a judge gives other entries counts where it is shared out.
    let others = match before.value.judge {
        Some(judge) if set.mode().is_shared_out() => {
            store::complete_of_judge(tx, account, (judge, set.slug), &program.context).await?
        }
        _ => Vec::new(),
    };
    let ids = || writing.ids().slug();
    let context = ScoringContext { program, score_set: set, now, slug: &ids, others: &others, category: head.category };
    let after = context.scored(&before.value, body)?;
    check_link(&before.value).map_err(ApiError::State)?;
    check_shown(tx, account, set, &before.value).await?;
    check_scoring(&before.value, set, head.chapter, program, now).map_err(ApiError::State)?;
    finish(tx, writing, (&before, after)).await
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
    let (before, _) = find(tx, writing, *slug).await?;
    let mut members = Members::closed(body);
    let reason = members.nullable("reason", input::text(COMMENT_LENGTH)).flatten().unwrap_or_default();
    members.finish().or(Some(()))?;
    let set = linked_sheet(&before.value, writing.program.score_sets.live(slug.score_set()))?;
    check_shown(tx, writing.account(), set, &before.value).await?;
    let mut after = before.value.clone();
    after.abstention = Some(match &before.value.abstention {
        Some(abstention) if abstention.comment == reason => abstention.clone(),
        Some(abstention) => Comment { comment: reason, updated_at: writing.origin.at, ..abstention.clone() },
        None => written(writing, reason, before.value.judge),
    });
    finish(tx, writing, (&before, after)).await
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
    let (before, _) = find(tx, writing, *slug).await?;
    let mut members = Members::closed(body);
    let comment = members.required("comment", input::filled_text(COMMENT_LENGTH));
    let comment = members.finish().or(comment)?;
    let judge = before.value.judge;
    let Some(judge) = judge else {
        return Err(ApiError::State("A role has no conflicts of interest; its users do.".to_owned()));
    };
    precondition(tx, writing, &before).await?;
    let mut after = before.value.clone();
    after.is_conflicted = true;
    after.conflict.push(written(writing, comment, Some(judge)));
    link::change(tx, account, program, &writing.origin, (&before, after)).await?;
    let pair = (slug.entry(), judge);
    link::note_conflict(tx, account, program, &writing.origin, pair, writing.ids()).await?;
    let found = store::find_any_for_update(tx, account, *slug, &program.context).await?;
    show(tx, writing, (*slug, found.ok_or(ApiError::NotFound)?.revision)).await
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
    let (before, head) = find_any(tx, writing, *slug).await?;
    let is_led = leads(&writing.access, &writing.program, Source::Snapshot(tx), slug.score_set()).await?;
    // A lead judge does not reopen an own sheet.
    if !is_led || before.value.judge.is_some() && before.value.judge == writing.access.user() {
        check_managed(&writing.access, head.chapter, before.value.judge)?;
    }
    let mut members = Members::closed(body);
    let reason = members.required("reason", input::filled_text(COMMENT_LENGTH));
    let reason = members.finish().or(reason)?;
    let set = linked_sheet(&before.value, writing.program.score_sets.live(slug.score_set()))?;
    if !matches!(before.value.status, Status::Abstained | Status::Complete) {
        return Err(ApiError::State("The sheet is open.".to_owned()));
    }
    if before.value.abstention.is_some()
        && let Some(message) =
            link::refusal_to_return(tx, writing.account(), &writing.program, (&before.value, writing.origin.at)).await?
    {
        return Err(ApiError::State(message));
    }
    let reopening = Some(written(writing, reason, None));
    let after = Assignment { abstention: None, reopening, ..before.value.clone() };
    let reply = finish(tx, writing, (&before, after)).await?;
    let (access, program) = (&writing.access, &writing.program);
    if access.assignment(head.chapter, before.value.judge) {
        return Ok(reply);
    }
    // A lead judge sees no more of the sheets of others than other judges do.
    let texts = store::shown(tx, writing.account(), *slug).await?.ok_or(ApiError::NotFound)?;
    let shown = Shown::read(program, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let own = match access.judging() {
        Some(judge) => store::judged(&mut Source::Snapshot(tx), writing.account(), judge, &[slug.entry()]).await?,
        None => Vec::new(),
    };
    let nothing = Sheet { scores: false, comments: false, names: set.shows.names_of_judges };
    let sheet = of_other(program, &own, &shown.assignment).unwrap_or(nothing);
    let found = store::find_any_for_update(tx, writing.account(), *slug, &program.context).await?;
    let revision = found.ok_or(ApiError::NotFound)?.revision;
    Ok(Reply::ok(shown.seen(program, sheet), revision).naming(&shown.names()))
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

/// An assignment that is the caller's to fill in and not in the trash, and its entry, which is not either.
async fn find<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: AssignmentSlug,
) -> Result<(Record<Assignment>, Entry), ApiError> {
    let (found, entry) = find_any(tx, writing, slug).await?;
    if !writing.access.fills_in(found.value.judge) {
        check_managed(&writing.access, entry.chapter, found.value.judge)?;
    }
    Ok((found, entry))
}

/// The same, whoever sees it.
async fn find_any<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: AssignmentSlug,
) -> Result<(Record<Assignment>, Entry), ApiError> {
    let (account, context) = (writing.account(), &writing.program.context);
    store::find_with_entry_for_update(tx, account, slug, context).await?.ok_or(ApiError::NotFound)
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

/// Writes an assignment, unless nothing has changed, and answers with it.
async fn finish<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    (before, after): (&Record<Assignment>, Assignment),
) -> Result<Reply, ApiError> {
    precondition(tx, writing, before).await?;
    let slug = after.slug;
    let revision = if after == before.value {
        before.revision
    } else {
        link::change(tx, writing.account(), &writing.program, &writing.origin, (before, after)).await?
    };
    show(tx, writing, (slug, revision)).await
}

async fn show<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    (slug, revision): (AssignmentSlug, i64),
) -> Result<Reply, ApiError> {
    let texts = store::shown(tx, writing.account(), slug).await?.ok_or(ApiError::NotFound)?;
    Ok(reply(&writing.program, &texts, |document| Reply::ok(document, revision))?)
}
