//! Plans of assignments: made, shown, applied and undone ([`planning`]).
//!
//! - A plan is worked out apart from the threads that answer requests, for few of an account at the same time, and changes
//!   nothing but that it is kept.
//! - Applying and undoing are one transaction each: all of it or nothing.

use crate::assigning::link::{self, Link};
use crate::assigning::planning::asked::{Asked, Method as PlanMethod, Whom};
use crate::assigning::planning::store::{self, Plan};
use crate::assigning::planning::{self, ENTRIES, JUDGES, State, applied};
use crate::assigning::rules;
use crate::http::{ApiError, Body, Caller, Path, Reader, Reply, Writer, Writing, entity_tag};
use crate::program::Program;
use crate::records::assignments::{Assignment, AssignmentSlug, Cause, Method};
use crate::records::people;
use db::{DbError, Source, Tx};
use kernel::input::{self, Members, Violations};
use kernel::json::{self, Json, Object as JsonObject};
use kernel::text::Slug;

/// The most new assignments of a plan, which are written in one transaction.
const MOST: usize = 30_000;

/// Plans who judges what, and keeps that for a day. Nothing is assigned before it is applied.
#[utoipa::path(
    post,
    path = "/assignment/plan",
    operation_id = "PostAssignmentPlanV23",
    tag = "Assignments",
    request_body(content = ref("PlanAssignments"), content_type = "application/json"),
    responses((status = 200, description = "The plan", body = ref("AssignmentPlan")))
)]
pub(super) async fn plan(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let app = caller.app();
    let program = app.programs.reload(caller.account()).await?.ok_or(ApiError::KeyRefused)?;
    let (asked, mut violations) = Asked::read(&body, &program)?;
    if asked.entries.is_none() {
        // Without names all entries would be read.
        std::mem::take(&mut violations).or(Some(()))?;
    }
    let turn = app.long_pages.take(caller.account()).await;
    let mut tx = app.db.snapshot().await?;
    let read = planning::read(&mut Source::Snapshot(&mut tx), &program, &asked).await?;
    tx.commit().await?;
    check_named(&program, &asked, &read, violations)?;
    let slug = app.ids.slug();
    let text = Json::Object(body).to_string();
    let worked_out = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work_out(slug, (&asked, text), read, &program)
    });
    let plan = worked_out.await.map_err(|error| ApiError::Internal(error.to_string()))??;
    caller.write(plan, |tx, writing| Box::pin(keep(tx, writing))).await
}

async fn keep(tx: &mut Tx, writing: &Writing<Plan>) -> Result<Reply, ApiError> {
    store::insert(tx, writing.account(), &writing.state, writing.origin.at).await?;
    Ok(stated(writing.state.doc.clone()))
}

fn stated(document: String) -> Reply {
    Reply::Stated { status: 200, tag: entity_tag(&document), document }
}

/// Refuses entries that cannot be judged, and people who do not judge, beside what is wrong already.
fn check_named(
    program: &Program,
    asked: &Asked,
    read: &planning::Read,
    mut violations: Violations,
) -> Result<(), ApiError> {
    let score_set = program.score_sets.any(asked.score_set);
    for entry in asked.entries.iter().flatten() {
        if let Err(message) = rules::check_entry(&read.facts, *entry, score_set) {
            violations.add("entries", message);
        }
    }
    match &asked.whom {
        Whom::Judges(judges) => {
            for judge in judges {
                if let Err(message) = rules::check_judge(&read.facts, program, *judge) {
                    violations.add("judges", message);
                }
            }
        }
        Whom::Role(role) if read.judges.is_empty() && program.roles.live(*role).is_some() => {
            violations.add("role", format!("nobody has {role}"));
        }
        Whom::Role(_) => {}
    }
    Ok(violations.or(Some(()))?)
}

fn work_out(
    slug: Slug,
    (asked, text): (&Asked, String),
    read: planning::Read,
    program: &Program,
) -> Result<Plan, ApiError> {
    let sequence = read.sequence;
    let state = State::new(asked, read, program.score_sets.any(asked.score_set));
    let mut violations = Violations::default();
    let (entries, judges) = state.size();
    let of_entries = if asked.entries.is_some() { "entries" } else { "filter" };
    if entries == 0 {
        violations.add(of_entries, "selects no entry");
    }
    if entries > ENTRIES {
        violations.add(of_entries, format!("selects {entries} entries; at most {ENTRIES} are planned at once"));
    }
    if judges > JUDGES {
        let of_judges = if matches!(asked.whom, Whom::Role(_)) { "role" } else { "judges" };
        let message =
            format!("makes {judges} judges, with those who judge these entries already; at most {JUDGES} are planned");
        violations.add(of_judges, message);
    }
    let new = state.new_assignments(asked);
    if new > MOST {
        violations.add(of_entries, format!("need {new} new assignments; at most {MOST} are planned at once"));
    }
    for (number, (entry, judge, _)) in (1..).zip(&asked.affinities) {
        if !state.has_entry(*entry) {
            violations.add(format!("affinities.{number}.entry"), format!("{entry} is not among the entries"));
        }
        if !state.has_judge(*judge) {
            violations.add(format!("affinities.{number}.judge"), format!("{judge} is not among the judges"));
        }
    }
    violations.or(Some(()))?;
    let made = state.plan(asked).map_err(|unsolved| {
        let mut violations = Violations::default();
        violations.add("plan", unsolved.to_string());
        violations
    })?;
    let hash = state.hash();
    let doc = made.document(slug, (sequence, &hash));
    Ok(Plan { slug, asked: text, state: hash, doc, undo: None, made: "[]".to_owned(), is_undone: false })
}

/// A plan that is kept.
#[utoipa::path(
    get,
    path = "/assignment/plan/{slug}",
    operation_id = "GetAssignmentPlanV23",
    tag = "Assignments",
    responses((status = 200, description = "The plan", body = ref("AssignmentPlan")))
)]
pub(super) async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let found = store::find(&caller.app().db, caller.account(), slug, caller.now()).await?;
    Ok(stated(found.ok_or(ApiError::NotFound)?.doc))
}

/// Assigns what was planned, where everything is still as the plan read it.
#[utoipa::path(
    post,
    path = "/assignment/apply",
    operation_id = "PostAssignmentApplyV23",
    tag = "Assignments",
    request_body(content = ref("ApplyPlan"), content_type = "application/json"),
    responses((status = 200, description = "What was assigned", body = ref("AppliedPlan")))
)]
pub(super) async fn apply(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_apply(tx, writing))).await
}

async fn write_apply(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let mut members = Members::closed(&writing.state);
    let slug = members.required("plan", input::slug);
    let mut violations = members.finish();
    let mut found = None;
    if let Some(slug) = slug {
        found = store::find_for_update(tx, account, slug, now).await?;
        if found.is_none() {
            violations.add("plan", format!("{slug} is no plan of the account"));
        }
    }
    let mut plan = violations.or(found)?;
    if plan.undo.is_some() {
        return Err(ApiError::State("The plan was applied already.".to_owned()));
    }
    let changed = || {
        let message = "Entries, judges, conflicts or assignments have changed since the plan was made; make a new one.";
        ApiError::State(message.to_owned())
    };
    let body = stored_object(&plan.asked)?;
    let (asked, violations) = Asked::read(&body, program).map_err(|_| changed())?;
    violations.or(Some(())).map_err(|_| changed())?;
    let read = planning::read(&mut Source::Snapshot(tx), program, &asked).await?;
    let state = State::new(&asked, read, program.score_sets.any(asked.score_set));
    if state.hash() != plan.state {
        return Err(changed());
    }
    let cause = match asked.method {
        PlanMethod::Random => Cause::Random,
        PlanMethod::Affinity => Cause::Manual,
    };
    let mut made = Vec::new();
    for (entry, judge) in planned(&plan)? {
        let link =
            Link { entry, judge, score_set: asked.score_set, rounds: asked.rounds.clone(), cause, panels: Vec::new() };
        link::write(tx, account, program, &writing.origin, &link).await?;
        made.push(link.slug());
    }
    let undo = writing.ids().slug();
    let slugs: Vec<&str> = made.iter().map(AssignmentSlug::as_str).collect();
    plan.undo = Some(undo);
    plan.made = serde_json::json!(slugs).to_string();
    store::update(tx, account, &plan, now).await?;
    Ok(stated(applied(&made, undo)))
}

fn broken(plan: &Plan) -> DbError {
    DbError::Failed(format!("the stored plan {} is broken", plan.slug))
}

fn stored_object(text: &str) -> Result<JsonObject<'_>, DbError> {
    json::parse_own(text).map_err(|_| DbError::Failed("a stored plan is broken".to_owned()))
}

/// The pairs of a plan that were not linked before.
fn planned(plan: &Plan) -> Result<Vec<(Slug, Slug)>, DbError> {
    let document = stored_object(&plan.doc)?;
    let Some(Json::Array(items)) = document.get("assignments") else { return Err(broken(plan)) };
    let mut pairs = Vec::with_capacity(items.len());
    for item in items {
        let Json::Object(item) = item else { return Err(broken(plan)) };
        let slug = |name| item.get(name).and_then(Json::as_str).and_then(Slug::parse).ok_or_else(|| broken(plan));
        if item.get("kept") == Some(&Json::Bool(false)) {
            pairs.push((slug("entry")?, slug("judge")?));
        }
    }
    Ok(pairs)
}

/// Takes back what a plan assigned, as long as none of it has scores.
#[utoipa::path(
    post,
    path = "/assignment/undo",
    operation_id = "PostAssignmentUndoV23",
    tag = "Assignments",
    request_body(content = ref("UndoPlan"), content_type = "application/json"),
    responses((status = 204, description = "Nothing of the plan is assigned any more"))
)]
pub(super) async fn undo(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_undo(tx, writing))).await
}

async fn write_undo(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let mut members = Members::closed(&writing.state);
    let undo = members.required("undo", input::slug);
    let mut violations = members.finish();
    let mut found = None;
    if let Some(undo) = undo {
        found = store::undone_by(tx, account, undo, now).await?;
        if found.is_none() {
            violations.add("undo", format!("{undo} undoes no plan of the account"));
        }
    }
    let mut plan = violations.or(found)?;
    if plan.is_undone {
        return Err(ApiError::State("The plan was undone already.".to_owned()));
    }
    let made: Vec<String> = serde_json::from_str(&plan.made).map_err(|_| broken(&plan))?;
    for slug in &made {
        let slug = AssignmentSlug::parse(slug).ok_or_else(|| broken(&plan))?;
        let found = people::find_for_update::<Assignment>(tx, account, &slug, &program.context).await?;
        // Whatever somebody deleted or took off since then is as it should be.
        let Some(before) = found.filter(|found| matches!(found.value.method, Method::Manual | Method::Random)) else {
            continue;
        };
        if before.value.has_scores() {
            return Err(ApiError::State(format!("{slug} has scores; nothing is undone.")));
        }
        link::remove(tx, account, program, &writing.origin, &before).await?;
    }
    plan.is_undone = true;
    store::update(tx, account, &plan, now).await?;
    Ok(Reply::NoContent)
}
