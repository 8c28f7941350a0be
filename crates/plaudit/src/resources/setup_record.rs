//! What the operations that change set-up records have in common.

use crate::http::{ApiError, Reply, Writing};
use crate::log::Action;
use crate::program::{InProgram, Record, store};
use db::Tx;
use kernel::text::Slug;

/// A record that is not in the trash, for a change of it.
pub(super) async fn find<T: InProgram, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    slug: Slug,
) -> Result<Record<T>, ApiError> {
    let found = store::find_for_update::<T>(tx, writing.account(), slug, &writing.program.context).await?;
    found.ok_or(ApiError::NotFound)
}

/// Writes a record that was changed, unless it is as it was; gives its revision.
pub(super) async fn update<T: InProgram + PartialEq, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    before: &Record<T>,
    after: T,
) -> Result<i64, ApiError> {
    writing.precondition(before.revision)?;
    if after == before.value {
        return Ok(before.revision);
    }
    Ok(store::change(tx, writing.account(), &writing.origin, Action::Updated, after).await?)
}

/// Puts a record into the trash, or brings it back.
pub(super) async fn set_deleted<T: InProgram, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    record: Record<T>,
    action: Action,
) -> Result<Reply, ApiError> {
    writing.precondition(record.revision)?;
    store::change(tx, writing.account(), &writing.origin, action, record.value).await?;
    Ok(Reply::no_content())
}
