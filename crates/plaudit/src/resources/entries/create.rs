//! New entries, and copies of old ones.

use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::log::Action;
use crate::records::entries::contributors::{self, Contributor};
use crate::records::entries::store::{self, Change};
use crate::records::entries::{Entry, rules};
use crate::records::people;
use crate::resources::entries::facts;
use db::{DbError, Tx};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// Makes an entry, which gets the next number of the account.
#[utoipa::path(post, path = "/entry", operation_id = "PostEntryV23", tag = "Entries")]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let program = &writing.program;
    let (given, violations) = rules::body::read_create(&writing.state);
    let known = facts::facts(tx, program, given.entrant, given.category).await?;
    let identity = facts::identity(tx, writing).await?;
    let entry = rules::writing::create(program, (given, violations), &known, identity)?;
    written(tx, writing, entry, false).await
}

async fn written<S>(tx: &mut Tx, writing: &Writing<S>, entry: Entry, is_copy: bool) -> Result<Reply, ApiError> {
    let slug = entry.slug;
    let change = Change { before: None, after: entry, deleted: false, is_copy };
    let stored = store::write(tx, writing.account(), &writing.program, &writing.origin, change).await?;
    Ok(crate::resources::entries::created(stored, slug))
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
    let known = facts::facts(tx, program, Some(entry.entrant), Some(entry.category)).await?;
    let identity = facts::identity(tx, writing).await?;
    let copy = rules::writing::copy(program, &entry, &known, identity)?;
    writing.precondition(found.revision)?;
    for contributor in contributors::store::of_entry(tx, account, entry.slug, &program.context).await? {
        copy_contributor(tx, writing, contributor, copy.slug).await?;
    }
    written(tx, writing, copy, true).await
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
