//! The operations of review tasks.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, Sight};
use crate::http::list::{Paged, slug};
use crate::http::{self, ApiError, Body, Caller, Path, RawQuery, Reader, Reply, Writer, Writing};
use crate::lists::page::{Ask, ListQuery};
use crate::program::review_stages::ReviewerKind;
use crate::program::{Program, store};
use crate::records::entries::rules::check_season;
use crate::records::entries::{self, Entry};
use crate::records::people::{self, ShownRow, find_shown};
use crate::records::review_tasks::list::LIST;
use crate::records::review_tasks::{OfEntry, ReviewTask, reviewer_key, rules};
use crate::records::users;
use crate::render::Renderer;
use crate::resources::operation::{Takes, operation};
use crate::review_flow::{Decided, Flow, check_decidable};
use crate::services::App;
use crate::views::Request;
use db::{AccountId, Source, Tx};
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Token};

/// The routes of review tasks.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of review tasks of entries that are not in the trash. What was changed last comes first.";
    OpenApiRouter::new()
        .routes(operation(
            (HttpMethod::Get, LIST.path, "GetReviewTaskCollectionV23", "Review tasks"),
            about,
            Takes::Query(LIST.spec.parameters()),
            list,
        ))
        .routes(routes!(create))
        .routes(routes!(show, delete))
        .routes(routes!(decide))
}

/// A page of the tasks that the caller sees.
async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let viewer = viewer(&caller).await?;
    let tasks = Tasks { program: caller.program(), viewer, reviewer: query.text("reviewer").map(reviewer_key) };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), tasks).await
}

/// A page of tasks.
struct Tasks<'q> {
    program: &'q Program,
    viewer: Viewer<'q>,
    /// The reviewer that the query asks for: a reviewer sees no other.
    reviewer: Option<String>,
}

impl Paged for Tasks<'_> {
    fn ask(&self, mut request: Request) -> Request {
        if let Some(email) = &self.viewer.email {
            let key = reviewer_key(email);
            let is_other = self.reviewer.as_ref().is_some_and(|reviewer| *reviewer != key);
            let is_asked = if is_other { Ask::Never } else { Ask::Has("reviewers", vec![key]) };
            let or_of_chapters = |ask| Ask::Any(vec![ask, self.viewer.access.of_chapters("entry.chapter")]);
            request.asks.extend([is_asked, Ask::Is("deleted", "0".to_owned())].map(or_of_chapters));
        }
        request
    }

    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        let (task, of_entry) = read(self.program, texts)?;
        // What the page was planned by has changed since.
        let task = self.viewer.seen(task, slug(texts[4])?).ok_or(ApiError::Stale)?;
        Ok(renderer.item(&task.document(&of_entry), None)?)
    }
}

/// Who looks at tasks.
struct Viewer<'a> {
    access: &'a Access,
    /// The address by which tasks are the person's, empty for none; nothing where all of them are seen.
    email: Option<String>,
}

impl Viewer<'_> {
    /// A task of an entry in this chapter as it is seen: by whom it asks, without the other reviewers; nothing where it is not seen.
    fn seen(&self, mut task: ReviewTask, chapter: Slug) -> Option<ReviewTask> {
        if let Some(email) = self.email.as_ref().filter(|_| !self.access.chapters().contains(&chapter)) {
            let key = reviewer_key(email);
            task.reviewer.retain(|reviewer| !email.is_empty() && reviewer_key(&reviewer.email) == key);
            return (!task.reviewer.is_empty()).then_some(task);
        }
        Some(task)
    }
}

async fn viewer(caller: &Caller) -> Result<Viewer<'_>, ApiError> {
    let access = caller.access();
    let user = access.user().filter(|_| !access.sees_all());
    Ok(Viewer { access, email: email_of(caller.account(), Source::Db(&caller.app().db), user).await? })
}

async fn email_of(account: AccountId, source: Source<'_>, user: Option<Slug>) -> Result<Option<String>, ApiError> {
    let Some(user) = user else { return Ok(None) };
    Ok(Some(users::store::email_of(account, source, user).await?.unwrap_or_default()))
}

/// A task and what it shows of its entry, from the columns that the list declares.
fn read(program: &Program, texts: &[&str]) -> Result<(ReviewTask, OfEntry), ApiError> {
    let of_entry = OfEntry { title: texts[1].to_owned(), category: slug(texts[2])?, season: slug(texts[3])? };
    Ok((store::parse(texts[0], &program.context)?, of_entry))
}

/// 200 with a task.
fn shown(task: &ReviewTask, of_entry: &OfEntry, revision: i64) -> Reply {
    let OfEntry { title, category, season } = of_entry;
    Reply::ok(task.document(of_entry), revision).naming(&[title, category.as_str(), season.as_str()])
}

fn of_entry(entry: &Entry) -> OfEntry {
    OfEntry { title: entry.title.clone(), category: entry.category, season: entry.season }
}

/// A review task.
#[utoipa::path(get, path = "/review-task/{token}", operation_id = "GetReviewTaskV23", tag = "Review tasks")]
pub async fn show(caller: Caller, Path(token): Path<Token>, _: Reader) -> Result<Reply, ApiError> {
    let (program, viewer) = (caller.program(), viewer(&caller).await?);
    let read_row =
        find_shown::<ReviewTask>(&caller.app().db, caller.account(), &token, ShownRow::of_entry(&LIST.shown)).await?;
    let (_, found) = read_row.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, texts) = found.ok_or(ApiError::NotFound)?;
    let (task, of_entry) = read(program, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let task = viewer.seen(task, slug(&texts[4])?).ok_or(ApiError::NotFound)?;
    Ok(shown(&task, &of_entry, revision))
}

/// Begins a review stage of an entry, and gives its task. Where a task of the stage waits already it is that one, and its reviewers
/// are looked up again.
#[utoipa::path(
    post, path = "/review-task", operation_id = "PostReviewTaskV23", tag = "Review tasks",
    responses((status = 200, description = "The task", body = ref("ReviewTask"))),
)]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let (stage, entry, mut violations) = rules::read_create(&writing.state);
    let stored = match entry {
        Some(entry) => entries::store::find_for_update(tx, account, entry).await?,
        None => None,
    };
    if let (Some(named), None) = (entry, &stored) {
        violations.add("entry", format!("{named} is no entry of the account"));
    }
    let found = stage.and_then(|stage| program.review_stages.live(stage));
    if let (Some(named), None) = (stage, found) {
        violations.add("review_stage", format!("{named} is no review stage of the account"));
    }
    let head = stored.as_ref().map(entries::store::Stored::head).transpose()?;
    if let (Some(stage), Some(head)) = (found, &head) {
        violations.append(rules::mismatches(stage, head.place()));
    }
    let ((stage, stored), head) = violations.or(found.zip(stored).zip(head))?;
    check_season(program, head.season)?;
    let asked = flow(writing).ask(tx, stage, &stored).await?;
    Ok(shown(&asked.value, &of_entry(&head), asked.revision))
}

fn flow<S>(writing: &Writing<S>) -> Flow<'_> {
    Flow { program: &writing.program, origin: &writing.origin, ids: writing.ids() }
}

/// Puts a review task into the trash. It does not count any more; what came of its decision stays.
#[utoipa::path(delete, path = "/review-task/{token}", operation_id = "DeleteReviewTaskV23", tag = "Review tasks")]
pub async fn delete(caller: Caller, Path(token): Path<Token>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(token, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Token>) -> Result<Reply, ApiError> {
    let (found, stored) = find(tx, writing, &writing.state).await?;
    check_season(&writing.program, stored.head()?.season)?;
    writing.precondition(found.revision)?;
    flow(writing).trash(tx, found.value, &stored).await?;
    Ok(Reply::NoContent)
}

/// Decides on a review task, once. What the stage says is done to the entry, and the stages that come next begin.
#[utoipa::path(
    put, path = "/review-task/{token}/decision", operation_id = "PutReviewTaskDecisionV23", tag = "Review tasks",
    request_body = ref("DecideReviewTask"),
)]
pub async fn decide(caller: Caller, Path(token): Path<Token>, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write((token, body), |tx, writing| Box::pin(write_decision(tx, writing))).await
}

async fn write_decision(tx: &mut Tx, writing: &Writing<(Token, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (token, body) = &*writing.state;
    let (found, stored) = find(tx, writing, token).await?;
    let access = &writing.access;
    let user = access.user().filter(|_| !access.is_manager());
    let email = email_of(writing.account(), Source::Snapshot(tx), user).await?;
    let viewer = Viewer { access, email };
    let head = stored.head()?;
    let Some(seen) = viewer.seen(found.value.clone(), head.chapter) else { return Err(ApiError::NotFound) };
    let is_asked = viewer.email.as_deref().is_none_or(|email| seen.asks(email));
    // An entrant who is named in an answer of the own entry does not decide on it.
    let asks_entrants = writing.program.review_stages.any(found.value.review_stage);
    let asks_entrants = asks_entrants.is_some_and(|stage| stage.reviewer_kinds.contains(&ReviewerKind::Entrant));
    if user == Some(head.entrant) && !asks_entrants || !is_asked {
        return Err(ApiError::NotPermitted);
    }
    let (decision, comment) = rules::read_decision(body)?;
    let stage = check_decidable(&writing.program, &found.value, &head)?;
    if writing.compares_what_is_shown() {
        writing.precondition_seen((&seen.document(&of_entry(&head)), None, Sight::Whole), &[])?;
    } else {
        writing.precondition(found.revision)?;
    }
    let decided = Decided { decision, comment };
    let written = flow(writing).decide(tx, (found.value, stage), &stored, decided).await?;
    let task = viewer.seen(written.value, head.chapter).ok_or(ApiError::NotFound)?;
    Ok(shown(&task, &of_entry(&head), written.revision))
}

/// A task and its entry, both locked; 404 where one of them is in the trash.
async fn find<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    token: &Token,
) -> Result<(crate::program::Record<ReviewTask>, entries::store::Stored), ApiError> {
    let (account, context) = (writing.account(), &writing.program.context);
    let found = people::find_for_update::<ReviewTask>(tx, account, token, context).await?.ok_or(ApiError::NotFound)?;
    let entry = entries::store::find_for_update(tx, account, found.value.entry).await?.ok_or(ApiError::NotFound)?;
    Ok((found, entry))
}
