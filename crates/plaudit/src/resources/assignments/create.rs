//! Linking and unlinking.
//!
//! - A body with `entries` and `judges` is done by a job, one with `entry` and `judge` at once.
//! - A link in the trash, or one that has lost its cause, is restored; one that is there is changed. All are 201.

use super::{check_managed, find_any, precondition};
use crate::assigning::facts::{self, Scope};
use crate::assigning::link::{self, Link};
use crate::assigning::linking::{Input, WORK};
use crate::assigning::rules;
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::jobs;
use crate::records::assignments::{AssignmentSlug, Cause, Method, Sheet};
use crate::records::standings::store::FoundSheet;
use db::{Source, Tx};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The most entries, and the most judges, of one body.
const MANY: usize = 10_000;

/// The most pairs of one body: a job works at them for minutes, and the account's other jobs wait.
const PAIRS: usize = 1_000_000;

/// What a body says.
struct Given {
    is_bulk: bool,
    score_set: Option<Slug>,
    entries: Vec<Slug>,
    judges: Vec<Slug>,
    rounds: Vec<Slug>,
}

/// Assigns a judge to an entry; `entries` and `judges` in place of `entry` and `judge` assign each of these to each
/// of those, by a job.
#[utoipa::path(
    post,
    path = "/assignment",
    operation_id = "PostAssignmentV23",
    tag = "Assignments",
    request_body(content = ref("CreateAssignment"), content_type = "application/json"),
    responses(
        (status = 201, description = "The assignment; `Location` is its address",
            body = ref("Assignment"), content_type = "application/json"),
        (status = 202, description = "A job does it; `Location` is its address"),
    )
)]
pub(super) async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let reply = caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await?;
    caller.app().wakes.add(caller.account());
    Ok(reply)
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let (given, mut violations) = read(&writing.state);
    let score_set = given.score_set.and_then(|slug| rules::check_score_set(program, slug, &mut violations));
    let are_rounds_right = violations.iter().all(|(member, _)| !member.starts_with("rounds"));
    if are_rounds_right || !given.rounds.is_empty() {
        rules::check_rounds(program, &given.rounds, score_set, &mut violations);
    }
    let [entry, judge] = if given.is_bulk { ["entries", "judges"] } else { ["entry", "judge"] };
    let scope = Scope::These(given.entries.clone());
    let mut facts = facts::store::read(&mut Source::Snapshot(tx), program, &scope, &given.judges).await?;
    // What is not of the chapters of their manager is as what does not exist.
    facts.entries.retain(|_, entry| writing.access.manages(entry.chapter));
    for slug in &given.entries {
        if let Err(message) = rules::check_entry(&facts, *slug, score_set) {
            violations.add(entry, message);
        }
    }
    for slug in &given.judges {
        if let Err(message) = rules::check_judge(&facts, program, *slug) {
            violations.add(judge, message);
        }
    }
    let one = given.entries.first().copied().zip(given.judges.first().copied()).filter(|_| !given.is_bulk);
    // Nothing is told of an entry that is not seen.
    let seen = one.filter(|(entry, _)| facts.entries.contains_key(entry));
    if let Some(message) = seen.and_then(|pair| link::refusal(&facts, pair, score_set)) {
        violations.add("judge", message);
    }
    let score_set = violations.or(given.score_set)?;
    if let Some((entry, judge)) = one {
        let link = Link { entry, judge, score_set, rounds: given.rounds, cause: Cause::Manual, panels: Vec::new() };
        link::write(tx, account, program, &writing.origin, &link).await?;
        let FoundSheet { record, shown, .. } = find_any(tx, writing, link.slug()).await?;
        let document = shown.document(program);
        let created = Reply::created(document, record.revision, Kind::Assignment, link.slug().as_str());
        return Ok(created.naming(&shown.names()));
    }
    let texts = |slugs: &[Slug]| slugs.iter().map(Slug::to_string).collect();
    let input = Input {
        score_set: score_set.to_string(),
        entries: texts(&given.entries),
        judges: texts(&given.judges),
        rounds: texts(&given.rounds),
        actor: writing.origin.actor.to_string(),
    };
    let job = jobs::add(tx, account, (WORK.kind, input.to_json()), &writing.origin, writing.ids()).await?;
    Ok(Reply::Accepted { location: Some(format!("/job/{job}")) })
}

/// Reads the body of one link, or of many.
fn read(body: &JsonObject<'_>) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let is_bulk = members.has("entries") || members.has("judges");
    let score_set = members.required("score_set", input::slug);
    let mut slugs = |one: &str, many: &str| {
        if is_bulk {
            let read = members.required(many, input::slugs(MANY));
            if read.as_ref().is_some_and(Vec::is_empty) {
                members.fault(many, "must have at least 1 item");
            }
            read.unwrap_or_default()
        } else {
            members.required(one, input::slug).into_iter().collect()
        }
    };
    let (entries, judges) = (slugs("entry", "entries"), slugs("judge", "judges"));
    let pairs = entries.len() * judges.len();
    if pairs > PAIRS {
        members.fault("entries", format!("makes {pairs} assignments with `judges`; at most {PAIRS} are made at once"));
    }
    let rounds = members.required("rounds", input::slugs(crate::records::assignments::LIST_LENGTH)).unwrap_or_default();
    (Given { is_bulk, score_set, entries, judges, rounds }, members.finish())
}

/// Takes a judge off an entry who was assigned by hand or by chance. A sheet that says something is kept and does not count.
#[utoipa::path(delete, path = "/assignment/{slug}", operation_id = "DeleteAssignmentV23", tag = "Assignments")]
pub(super) async fn delete(caller: Caller, Path(slug): Path<AssignmentSlug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<AssignmentSlug>) -> Result<Reply, ApiError> {
    let (account, program, slug) = (writing.account(), &writing.program, *writing.state);
    let found = find_any(tx, writing, slug).await?;
    check_managed(&writing.access, found.shown.chapter, slug.judge())?;
    let before = &found.record;
    if !matches!(before.value.method, Method::Manual | Method::Random) {
        let method = before.value.method;
        return Err(ApiError::State(format!(
            "The assignment is {method}; only manual and random ones can be deleted."
        )));
    }
    precondition(writing, &found, Sheet::WHOLE)?;
    link::remove(tx, account, program, &writing.origin, before).await?;
    Ok(Reply::NoContent)
}
