//! Changes of an entry.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::access::{Sight, applicant};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::order_flow::Ordering;
use crate::records::entries::rules::answers::EntryChildren;
use crate::records::entries::rules::body::Given;
use crate::records::entries::store::{self, Change};
use crate::records::entries::{Status, rules};
use crate::records::review_tasks;
use crate::resources::entries::{check_chapter, facts};
use crate::resources::operation::{Takes, operation};
use crate::review_flow::Flow;
use crate::services::App;
use db::Tx;
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// What reads the body of an update.
type Read = fn(&JsonObject<'_>) -> (Given, Violations);

/// An operation that changes what its body names; everything else keeps its value. The body has a schema and is read by `read`.
pub(super) fn update(
    (path, id, group): (&str, &'static str, &'static str),
    about: &str,
    (schema, read): (&'static str, Read),
) -> UtoipaMethodRouter<App> {
    let handler = async move |caller: Caller, Path(slug): Path<Slug>, _: Writer, Body(body): Body| {
        caller.write((slug, body, read), |tx, writing| Box::pin(write_update(tx, writing))).await
    };
    operation((HttpMethod::Put, path, id, group), about, Takes::Body(schema), handler)
}

async fn write_update(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>, Read)>) -> Result<Reply, ApiError> {
    let (slug, body, read) = &*writing.state;
    change(tx, writing, *slug, read(body)).await
}

/// Changes an entry as a body says that was read with these violations.
pub(super) async fn change<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: Slug,
    (mut given, mut violations): (Given, Violations),
) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, slug).await?.ok_or(ApiError::NotFound)?;
    let before = found.entry()?;
    let sight = writing.sight_of(&before)?;
    match sight {
        Sight::Applicant | Sight::Judged(_) => applicant::check(program, &mut given, &mut violations),
        Sight::Whole => {
            let moved = given.chapter.filter(|chapter| *chapter != before.chapter);
            check_chapter(&writing.access, moved, &mut violations);
        }
    }
    let entrant = given.entrant.filter(|entrant| *entrant != before.entrant);
    let category = given.category.filter(|category| *category != before.category);
    let mut known = if entrant.is_some() || category.is_some() {
        let (entrant, category) = (entrant.unwrap_or(before.entrant), category.unwrap_or(before.category));
        facts::facts(tx, writing, Some(entrant), Some(category)).await?
    } else {
        rules::writing::Facts::default()
    };
    known.by_applicant = sight == Sight::Applicant;
    let hands_in = matches!(given.status, Some(Status::Submitted | Status::Resubmitted));
    let hands_in = hands_in && given.status != Some(before.status);
    let mut entry_children = EntryChildren::default();
    if hands_in {
        entry_children = facts::entry_children(tx, program, slug).await?;
        known.review_tasks = review_tasks::store::of_entry(tx, account, slug, &program.context).await?;
    }
    let now = writing.origin.at;
    let mut after = rules::writing::update(program, &before, (given, violations), &known, &entry_children, now)?;
    writing.precondition_of(&found)?;
    if hands_in {
        Flow { program, origin: &writing.origin, ids: writing.ids() }.begin_after_submission(tx, &mut after).await?;
    }
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let consequences = ordering.follow(tx, Some((&before, false)), (&mut after, false)).await?;
    let title = after.title.clone();
    let change = Change { before: Some(&found), after, deleted: false, is_copy: false };
    let stored = store::write(tx, account, program, &writing.origin, change).await?;
    ordering.finish(tx, (slug, &title), consequences).await?;
    Ok(crate::resources::entries::shown(stored, sight))
}
