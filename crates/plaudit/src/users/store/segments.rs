//! The table of segments, and what is kept beside users for the filters of the list.

use std::collections::BTreeMap;

use crate::db::{AccountId, DbError, Row, Tx};
use crate::text::{Locale, Slug};
use crate::users::{Segment, Slugs};

/// The numbers of segments that are known in a transaction, and how their counts have changed. They are written once,
/// with [`write_segments`], because a row that one transaction writes again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    numbers: BTreeMap<Segment, i64>,
    changes: BTreeMap<i64, i64>,
    last: Option<i64>,
}

impl Segments {
    /// Counts a user in a segment, or no longer.
    pub(super) fn count(&mut self, segment: i64, change: i64) {
        *self.changes.entry(segment).or_default() += change;
    }
}

/// The number of a segment, which is given one where it has none.
pub(super) async fn number_of(
    tx: &mut Tx,
    account: AccountId,
    segments: &mut Segments,
    segment: Segment,
) -> Result<i64, DbError> {
    if let Some(number) = segments.numbers.get(&segment) {
        return Ok(*number);
    }
    let season_joined = segment.season_joined.as_ref().map_or("", Slug::as_str);
    let (roles, seasons) = (segment.roles.text(), segment.seasons.text());
    let values = [
        account.into(),
        segment.deleted.into(),
        segment.confirmed.into(),
        segment.language.code().into(),
        season_joined.into(),
        (&roles).into(),
        (&seasons).into(),
    ];
    let sql = "SELECT segment FROM user_segments WHERE account = $1 AND deleted = $2 AND confirmed = $3 \
               AND language = $4 AND season_joined = $5 AND roles = $6 AND seasons = $7";
    let number = if let Some(number) = tx.first(sql, &values, |row| row.integer(0)).await? {
        number
    } else {
        let last = match segments.last {
            Some(last) => last,
            None => last_number(tx, account).await?,
        };
        segments.last = Some(last + 1);
        let mut values: Vec<_> = values.iter().map(crate::db::Value::to_owned).collect();
        values.push((last + 1).into());
        tx.later(
            "INSERT INTO user_segments (account, segment, deleted, confirmed, language, season_joined, roles, \
                 seasons, total) VALUES ($1, $8, $2, $3, $4, $5, $6, $7, 0)",
            values,
        )
        .await?;
        last + 1
    };
    segments.numbers.insert(segment, number);
    Ok(number)
}

async fn last_number(tx: &mut Tx, account: AccountId) -> Result<i64, DbError> {
    let sql = "SELECT coalesce(max(segment), 0) FROM user_segments WHERE account = $1";
    Ok(tx.first(sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// Writes how the counts have changed.
pub async fn write_segments(tx: &mut Tx, account: AccountId, segments: Segments) -> Result<(), DbError> {
    for (segment, change) in segments.changes.into_iter().filter(|(_, change)| *change != 0) {
        tx.later(
            "UPDATE user_segments SET total = total + $3 WHERE account = $1 AND segment = $2",
            vec![account.into(), segment.into(), change.into()],
        )
        .await?;
    }
    Ok(())
}

/// Keeps in which seasons a user has entries: to be called, in the same transaction and after the entry was written,
/// where an entry of the user is added, goes to the trash or comes back, or changes its season or entrant. `seasons`
/// tells of each season whether the user is known to have an entry in it; where it is not known, the entries are asked.
pub async fn note_seasons(
    tx: &mut Tx,
    account: AccountId,
    user: Slug,
    seasons: &BTreeMap<Slug, bool>,
    segments: &mut Segments,
) -> Result<(), DbError> {
    let found = tx
        .first_for_update(
            "SELECT segment, seasons FROM users WHERE account = $1 AND slug = $2",
            &[account.into(), user.into()],
            |row| Ok((row.integer(0)?, slugs(row, 1)?)),
        )
        .await?;
    let Some((number, before)) = found else { return Ok(()) };
    let mut after = before.clone();
    for (season, is_known) in seasons.iter().filter(|(season, is_known)| !(**is_known && before.contains(**season))) {
        let has_entry = *is_known || crate::entries::store::has_live(tx, account, user, *season).await?;
        after = after.with(*season, has_entry);
    }
    if after == before {
        return Ok(());
    }
    let text = after.text();
    let Some(held) = find(tx, account, number).await? else {
        return Err(DbError::Failed(format!("the user {user} has no segment")));
    };
    let moved = number_of(tx, account, segments, Segment { seasons: after, ..held }).await?;
    segments.count(number, -1);
    segments.count(moved, 1);
    tx.later(
        "UPDATE users SET seasons = $3, segment = $4 WHERE account = $1 AND slug = $2",
        vec![account.into(), user.into(), text.into(), moved.into()],
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
    let mut segments = Segments::default();
    for (user, seasons) in users {
        note_seasons(tx, account, user, &seasons, &mut segments).await?;
    }
    write_segments(tx, account, segments).await
}

async fn find(tx: &mut Tx, account: AccountId, number: i64) -> Result<Option<Segment>, DbError> {
    tx.first(
        "SELECT deleted, confirmed, language, season_joined, roles, seasons FROM user_segments \
         WHERE account = $1 AND segment = $2",
        &[account.into(), number.into()],
        |row| segment(row, 0),
    )
    .await
}

/// Reads six columns from `first` on as a segment.
pub(super) fn segment(row: &Row<'_>, first: usize) -> Result<Segment, DbError> {
    let broken = || DbError::Failed("a segment of users cannot be read".to_owned());
    Ok(Segment {
        deleted: row.flag(first)?,
        confirmed: row.flag(first + 1)?,
        language: Locale::parse(row.text(first + 2)?).ok_or_else(broken)?,
        season_joined: Slug::parse(row.text(first + 3)?),
        roles: slugs(row, first + 4)?,
        seasons: slugs(row, first + 5)?,
    })
}

/// Reads a column of slugs.
pub(super) fn slugs(row: &Row<'_>, column: usize) -> Result<Slugs, DbError> {
    Slugs::parse(row.text(column)?).ok_or_else(|| DbError::Failed("a list of slugs cannot be read".to_owned()))
}
