//! In which seasons users have entries, for the filters of their list.

use std::collections::BTreeMap;

use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Keeps in which seasons a user has entries: to be called, in the same transaction and after the entry was written and
/// logged, where an entry of the user is added, goes to the trash or comes back, or changes its season or entrant. `seasons`
/// tells of each season whether the user is known to have an entry in it; where it is not known, the entries are asked.
pub async fn note_seasons(
    tx: &mut Tx,
    account: AccountId,
    user: Slug,
    seasons: &BTreeMap<Slug, bool>,
) -> Result<(), DbError> {
    let mut changed = 0;
    for (season, is_known) in seasons {
        let has_entry = *is_known || has_entry(tx, account, user, *season).await?;
        let sql = if has_entry {
            "INSERT INTO user_seasons (account, slug, season) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        } else {
            "DELETE FROM user_seasons WHERE account = $1 AND slug = $2 AND season = $3"
        };
        changed += tx.execute(sql, &[account.into(), user.into(), season.into()]).await?;
    }
    if changed == 0 {
        return Ok(());
    }
    let head = tx.head(account).await?.ok_or_else(|| DbError::Failed("no such account".to_owned()))?;
    let sequence = head.sequence;
    tx.enqueue(
        "UPDATE users SET list_revision = $3 WHERE account = $1 AND slug = $2",
        vec![account.into(), user.into(), sequence.into()],
    )
    .await
}

/// Keeps in which seasons users have entries where one entry changed: its entrant, its season and whether it is out of the
/// trash, before and after. Where these are the same, nothing is done.
pub async fn move_entry(
    tx: &mut Tx,
    account: AccountId,
    before: Option<(Slug, Slug, bool)>,
    after: (Slug, Slug, bool),
) -> Result<(), DbError> {
    if before == Some(after) {
        return Ok(());
    }
    let mut users: BTreeMap<Slug, BTreeMap<Slug, bool>> = BTreeMap::new();
    if let Some((user, season, _)) = before {
        users.entry(user).or_default().insert(season, false);
    }
    let (user, season, is_live) = after;
    users.entry(user).or_default().insert(season, is_live);
    for (user, seasons) in users {
        note_seasons(tx, account, user, &seasons).await?;
    }
    Ok(())
}

/// Whether a user has an entry in a season that is not in the trash.
async fn has_entry(tx: &mut Tx, account: AccountId, entrant: Slug, season: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND entrant = $2 AND season || '' = $3 AND deleted = 0 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), entrant.into(), season.into()], |_| Ok(())).await?.is_some())
}
