//! New entries, and copies of old ones.

use crate::access::{Sight, applicant};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::log::Action;
use crate::order_flow::Ordering;
use crate::records::entries::contributors::{self, Contributor};
use crate::records::entries::store::{self, Change};
use crate::records::entries::{Entry, Status, rules};
use crate::records::people;
use crate::resources::entries::{check_chapter, facts};
use crate::review_flow::Flow;
use db::{DbError, Tx};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// Makes an entry, which gets the next number of the account.
#[utoipa::path(post, path = "/entry", operation_id = "PostEntryV23", tag = "Entries")]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (program, access) = (&writing.program, &writing.access);
    let (mut given, mut violations) = rules::body::read_create(&writing.state);
    let place = given.chapter.zip(given.entrant).and_then(|(chapter, entrant)| access.entry(chapter, entrant));
    let own = access.user().filter(|user| given.entrant == Some(*user) && access.is_entrant());
    // Who enters and manages no chapter makes entries of nobody else, and is told no more of them than of an own one.
    let enters_alone = own.is_none() && access.is_entrant() && !access.sees_all() && access.chapters().is_empty();
    let is_applicant = enters_alone || own.is_some() && place != Some(Sight::Whole);
    let sight = if is_applicant { Sight::Applicant } else { Sight::Whole };
    if is_applicant {
        // An entry is the applicant's own, and in progress unless it is said.
        let entrant = given.entrant.take();
        given.status = given.status.filter(|status| *status != Status::InProgress);
        applicant::check(program, &mut given, &mut violations);
        given.entrant = entrant;
    } else if !access.sees_all() {
        if given.chapter.is_none() {
            violations.add("chapter", "is required: name a chapter that you manage");
        }
        check_chapter(access, given.chapter, &mut violations);
    }
    let mut known = facts::facts(tx, writing, given.entrant, given.category).await?;
    known.by_applicant = is_applicant;
    known.has_entrant &= !enters_alone;
    let identity = facts::identity(tx, writing).await?;
    let mut entry = rules::writing::create(program, (given, violations), &known, identity)?;
    if entry.status == Status::Submitted {
        let flow = Flow { program, origin: &writing.origin, ids: writing.ids() };
        flow.begin_after_submission(tx, &mut entry).await?;
    }
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let consequences = ordering.follow(tx, None, (&mut entry, false)).await?;
    let (slug, title) = (entry.slug, entry.title.clone());
    let reply = written(tx, writing, entry, (false, sight)).await?;
    ordering.finish(tx, (slug, &title), consequences).await?;
    Ok(reply)
}

async fn written<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    entry: Entry,
    (is_copy, sight): (bool, Sight),
) -> Result<Reply, ApiError> {
    let slug = entry.slug;
    let change = Change { before: None, after: entry, deleted: false, is_copy };
    let stored = store::write(tx, writing.account(), &writing.program, &writing.origin, change).await?;
    Ok(crate::resources::entries::created(stored, slug, sight))
}

/// Makes an entry in progress with the title, the answers and the contributors of another one. Files stay with that.
#[utoipa::path(post, path = "/entry/{slug}/copy", operation_id = "PostEntryCopyV23", tag = "Entries")]
pub async fn copy(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_copy(tx, writing))).await
}

async fn write_copy(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_for_update(tx, account, *writing.state).await?.ok_or(ApiError::NotFound)?;
    let entry = found.entry()?;
    writing.manages(&entry)?;
    let known = facts::facts(tx, writing, Some(entry.entrant), Some(entry.category)).await?;
    let identity = facts::identity(tx, writing).await?;
    let copy = rules::writing::copy(program, &entry, &known, identity)?;
    writing.precondition_of(&found)?;
    for contributor in contributors::store::of_entry(tx, account, entry.slug, &program.context).await? {
        copy_contributor(tx, writing, contributor, copy.slug).await?;
    }
    written(tx, writing, copy, (true, Sight::Whole)).await
}

/// Writes a contributor a second time, for another entry.
async fn copy_contributor(
    tx: &mut Tx,
    writing: &Writing<Slug>,
    contributor: Contributor,
    entry: Slug,
) -> Result<(), DbError> {
    let account = writing.account();
    let now = writing.origin.at;
    let copy = Contributor {
        slug: people::free_slug::<Contributor>(tx, account, writing.ids()).await?,
        entry,
        fields: rules::writing::without_files(&writing.program, &contributor.fields),
        created: now,
        updated: now,
        ..contributor
    };
    people::change(tx, account, &writing.origin, Action::Created, copy).await.map(drop)
}
