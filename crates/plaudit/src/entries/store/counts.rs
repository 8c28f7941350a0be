//! The table of the segments of entries and their counts.

use std::collections::BTreeMap;

use crate::belongings;
use crate::db::{AccountId, Db, DbError, Tx, Value};
use crate::entries::{CountChanges, Place, Status};
use crate::text::Slug;

/// What a segment stands for, in the order of the columns.
fn meaning(place: &Place) -> [Value<'static>; 12] {
    [
        place.segment().into(),
        place.season.into(),
        place.category.into(),
        place.chapter.into(),
        place.form.into(),
        place.division.into(),
        place.status.name().into(),
        place.moderation.name().into(),
        place.payment.name().into(),
        place.review.clone().into(),
        place.archived.into(),
        place.deleted.into(),
    ]
}

/// Writes what was noted of the counts.
pub async fn write_counts(tx: &mut Tx, account: AccountId, mut changes: CountChanges) -> Result<(), DbError> {
    belongings::store::write_segments(tx, account, std::mem::take(&mut changes.belongings)).await?;
    for (place, change) in changes.into_changes() {
        let mut values = vec![account.into()];
        values.extend(meaning(&place));
        values.push(change.into());
        tx.later(
            "INSERT INTO entry_counts (account, segment, season, category, chapter, form, division, status, \
             moderation, payment, review, archived, deleted, total) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
             ON CONFLICT (account, segment) DO UPDATE SET total = entry_counts.total + excluded.total",
            values,
        )
        .await?;
    }
    Ok(())
}

/// Counts an entry in another place than before.
pub(super) async fn move_count(tx: &mut Tx, account: AccountId, from: Option<Place>, to: Place) -> Result<(), DbError> {
    match from {
        Some(from) if from == to => Ok(()),
        // Both counts in one statement: this is the change that people make most often at once.
        Some(from) => {
            let mut values = vec![account.into()];
            values.extend(meaning(&from));
            values.extend(meaning(&to));
            tx.later(
                "INSERT INTO entry_counts (account, segment, season, category, chapter, form, division, status, \
                 moderation, payment, review, archived, deleted, total) VALUES \
                 ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, -1), \
                 ($1, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, 1) \
                 ON CONFLICT (account, segment) DO UPDATE SET total = entry_counts.total + excluded.total",
                values,
            )
            .await
        }
        None => {
            let mut changes = CountChanges::default();
            changes.note(None, Some(to));
            write_counts(tx, account, changes).await
        }
    }
}

/// How many entries each category has, those in the trash left out, and the version of the program: one statement
/// that gives a row for each category. `season` is the one whose categories are asked for; `None` means every season.
pub async fn by_category(
    db: &Db,
    account: AccountId,
    season: Option<Slug>,
) -> Result<(i64, BTreeMap<Slug, i64>), DbError> {
    let mut values = vec![account.into()];
    values.extend(season.map(Value::from));
    let sql = format!(
        "SELECT a.version, c.category, c.total FROM accounts a LEFT JOIN \
         (SELECT category, CAST(sum(total) AS BIGINT) AS total FROM entry_counts \
         WHERE account = $1 AND deleted = 0{} GROUP BY category) AS c ON a.id = $1 WHERE a.id = $1",
        if season.is_some() { " AND season = $2" } else { "" }
    );
    let mut version = -1;
    let mut totals = BTreeMap::new();
    db.each(&sql, &values, |row| {
        version = row.integer(0)?;
        if let (Some(category), Some(total)) = (row.optional_text(1)?.and_then(Slug::parse), row.optional_integer(2)?) {
            totals.insert(category, total);
        }
        Ok(())
    })
    .await?;
    Ok((version, totals))
}

/// How many entries a category has, those in the trash left out.
pub async fn of_category(tx: &mut Tx, account: AccountId, category: Slug) -> Result<i64, DbError> {
    let sql = "SELECT CAST(coalesce(sum(total), 0) AS BIGINT) FROM entry_counts \
               WHERE account = $1 AND category = $2 AND deleted = 0";
    let count = tx.first(sql, &[account.into(), category.into()], |row| row.integer(0)).await?;
    Ok(count.unwrap_or_default())
}

/// How many entries each division of a category has, those in the trash left out; 0 is no division.
pub(in crate::entries) async fn divisions(
    tx: &mut Tx,
    account: AccountId,
    season: Slug,
    category: Slug,
) -> Result<BTreeMap<i64, i64>, DbError> {
    let mut divisions = BTreeMap::new();
    tx.each(
        "SELECT division, CAST(sum(total) AS BIGINT) FROM entry_counts \
         WHERE account = $1 AND season = $2 AND category = $3 AND deleted = 0 GROUP BY division",
        &[account.into(), season.into(), category.into()],
        |row| {
            divisions.insert(row.integer(0)?, row.integer(1)?);
            Ok(())
        },
    )
    .await?;
    Ok(divisions)
}

/// The version of the program and how many entries there are of each chapter, category and status, those in the trash
/// and archived ones left out: one statement. `season` is the one that is asked for; `None` means every season.
pub(in crate::entries) async fn summary(
    db: &Db,
    account: AccountId,
    season: Option<Slug>,
) -> Result<(i64, Vec<(Slug, Slug, Status, i64)>), DbError> {
    let mut values = vec![account.into()];
    values.extend(season.map(Value::from));
    let sql = format!(
        "SELECT a.version, c.chapter, c.category, c.status, c.total FROM accounts a LEFT JOIN \
         (SELECT chapter, category, status, CAST(sum(total) AS BIGINT) AS total FROM entry_counts \
         WHERE account = $1 AND deleted = 0 AND archived = 0{} GROUP BY chapter, category, status \
         HAVING sum(total) > 0) AS c ON a.id = $1 WHERE a.id = $1",
        if season.is_some() { " AND season = $2" } else { "" }
    );
    let broken = || DbError::Failed("a count of entries cannot be read".to_owned());
    let mut version = -1;
    let mut totals = Vec::new();
    db.each(&sql, &values, |row| {
        version = row.integer(0)?;
        let Some(total) = row.optional_integer(4)? else { return Ok(()) };
        let slug = |column| Slug::parse(row.text(column)?).ok_or_else(broken);
        let status = row.text(3)?;
        let status = Status::CHOICES.iter().find(|(name, _)| *name == status).ok_or_else(broken)?.1;
        totals.push((slug(1)?, slug(2)?, status, total));
        Ok(())
    })
    .await?;
    Ok((version, totals))
}
