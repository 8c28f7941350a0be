//! Into the trash and back.

use crate::assigning::link;
use crate::http::{ApiError, Caller, Path, Reply, Writer, Writing};
use crate::order_flow::Ordering;
use crate::records::entries::{Entry, rules, store};
use db::Tx;
use kernel::text::Slug;

/// Puts an entry into the trash. Its number stays its own.
#[utoipa::path(delete, path = "/entry/{slug}", operation_id = "DeleteEntryV23", tag = "Entries")]
pub async fn delete(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let account = writing.account();
    let found = store::find_for_update(tx, account, *writing.state).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    writing.manages(&head)?;
    writing.precondition_of(&found)?;
    write_trash(tx, writing, (&found, &head), true).await
}

/// Writes whether an entry is in the trash, and what follows for its orders.
async fn write_trash(
    tx: &mut Tx,
    writing: &Writing<Slug>,
    (found, head): (&store::Stored, &Entry),
    deleted: bool,
) -> Result<Reply, ApiError> {
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let mut after = head.clone();
    let consequences = ordering.follow(tx, Some((head, found.deleted)), (&mut after, deleted)).await?;
    store::write_head(tx, &writing.program, &writing.origin, (found, head), after, deleted).await?;
    ordering.finish(tx, (head.slug, &head.title), consequences).await?;
    Ok(Reply::NoContent)
}

/// Brings an entry back from the trash.
#[utoipa::path(post, path = "/entry/{slug}/restore", operation_id = "PostEntryRestoreV23", tag = "Entries")]
pub async fn restore(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_restore(tx, writing))).await
}

async fn write_restore(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let found = store::find_any_for_update(tx, account, *writing.state).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    writing.manages(&head)?;
    if !found.deleted {
        return Err(ApiError::State("The entry is not in the trash.".to_owned()));
    }
    let category = program.categories.any(head.category);
    if let Some(category) = category.filter(|category| category.entrant_max_entries.is_some()) {
        let has = store::count_of_entrant(tx, account, head.entrant, category.slug).await?;
        rules::takes_another(category, has)
            .map_err(|message| ApiError::State(format!("The entry cannot be restored: its category {message}.")))?;
    }
    writing.precondition_of(&found)?;
    link::return_sheets(tx, account, program, &writing.origin, &head).await?;
    write_trash(tx, writing, (&found, &head), false).await
}
