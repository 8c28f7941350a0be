//! What is kept for the lists of attachments and contributors.

mod page;

use std::collections::BTreeMap;

pub use self::page::find;
pub(in crate::belongings) use self::page::{Page, page};
use super::{Belonging, Owner};
use crate::db::{AccountId, DbError, Row, Tx};
use crate::ids::derived_number;
use crate::log::{self, Action, Change, Origin};
use crate::text::Slug;

/// The segment of what is listed nowhere.
const NOWHERE: i64 = 0;

/// What a segment stands for.
type Meaning = (Belonging, Slug, Owner);

/// How the counts of segments have changed in a transaction. They are written once, with [`write_segments`], because a
/// row that one transaction writes again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments(BTreeMap<i64, Counted>);

/// How the count of a segment has changed, and what it stands for where something was added to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    change: i64,
    meaning: Option<Meaning>,
}

impl Segments {
    /// Something is in a segment no more.
    fn leave(&mut self, segment: i64, count: i64) {
        if segment != NOWHERE {
            self.0.entry(segment).or_default().change -= count;
        }
    }

    /// Something is in the segment of this meaning from now on; gives its number.
    fn enter(&mut self, (of, tab, mut owner): Meaning, count: i64) -> i64 {
        // No filter asks for the title.
        owner.title_key.clear();
        let meaning = (of, tab, owner);
        let number = number_of(&meaning);
        let counted = self.0.entry(number).or_default();
        counted.change += count;
        counted.meaning = Some(meaning);
        number
    }
}

/// Counts a record that is about to be written, and gives its segment and the title of its entry after case folding.
/// Where the entry is written later in the transaction, its [`follow`] puts both right.
pub async fn settle(
    tx: &mut Tx,
    account: AccountId,
    (of, name): (Belonging, &str),
    (entry, tab): (Slug, Slug),
    deleted: bool,
    segments: &mut Segments,
) -> Result<(i64, String), DbError> {
    let sql = match of {
        Belonging::Attachment => "SELECT segment FROM attachments WHERE account = $1 AND token = $2",
        Belonging::Contributor => "SELECT segment FROM contributors WHERE account = $1 AND slug = $2",
    };
    let before = tx.first_for_update(sql, &[account.into(), name.into()], |row| row.integer(0)).await?;
    let owner = crate::entries::store::owner(tx, account, entry).await?;
    let title_key = owner.as_ref().map_or_else(String::new, |owner| owner.title_key.clone());
    segments.leave(before.unwrap_or(NOWHERE), 1);
    let segment = match owner.filter(|owner| !owner.deleted && !deleted) {
        Some(owner) => segments.enter((of, tab, owner), 1),
        None => NOWHERE,
    };
    Ok((segment, title_key))
}

/// Keeps beside what belongs to an entry what the entry is now.
pub async fn follow(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    owner: &Owner,
    segments: &mut Segments,
) -> Result<(), DbError> {
    let mut groups = Vec::new();
    // SQLite must not look through all of the account by tab.
    let sql = "SELECT 'attachment', tab || '' AS of_tab, segment, count(*) FROM attachments \
               WHERE account = $1 AND entry = $2 AND deleted = 0 GROUP BY of_tab, segment \
               UNION ALL SELECT 'contributor', tab || '' AS of_tab, segment, count(*) FROM contributors \
               WHERE account = $1 AND entry = $2 AND deleted = 0 GROUP BY of_tab, segment";
    tx.each(sql, &[account.into(), entry.into()], |row| {
        let of = if row.text(0)? == "attachment" { Belonging::Attachment } else { Belonging::Contributor };
        groups.push((of, slug(row, 1)?, row.integer(2)?, row.integer(3)?));
        Ok(())
    })
    .await?;
    for (of, tab, before, count) in groups {
        segments.leave(before, count);
        let segment = if owner.deleted { NOWHERE } else { segments.enter((of, tab, owner.clone()), count) };
        let sql = match of {
            Belonging::Attachment => {
                "UPDATE attachments SET segment = $5, entry_key = $6 \
                 WHERE account = $1 AND entry = $2 AND tab || '' = $3 AND segment = $4 AND deleted = 0"
            }
            Belonging::Contributor => {
                "UPDATE contributors SET segment = $5, entry_key = $6 \
                 WHERE account = $1 AND entry = $2 AND tab || '' = $3 AND segment = $4 AND deleted = 0"
            }
        };
        let title_key = owner.title_key.clone().into();
        tx.later(sql, vec![account.into(), entry.into(), tab.into(), before.into(), segment.into(), title_key]).await?;
    }
    Ok(())
}

/// Tells in the log that what belongs to an entry shows another title of it, or another season.
pub async fn renew(tx: &mut Tx, account: AccountId, origin: &Origin, entry: Slug) -> Result<(), DbError> {
    for of in Belonging::ALL {
        let (sql, update) = match of {
            Belonging::Attachment => (
                "SELECT token, doc FROM attachments WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY place, token",
                "UPDATE attachments SET revision = $3 WHERE account = $1 AND token = $2",
            ),
            Belonging::Contributor => (
                "SELECT slug, doc FROM contributors WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY slug",
                "UPDATE contributors SET revision = $3 WHERE account = $1 AND slug = $2",
            ),
        };
        let mut found = Vec::new();
        tx.each(sql, &[account.into(), entry.into()], |row| {
            found.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
            Ok(())
        })
        .await?;
        for (name, document) in found {
            let change = Change { kind: of.kind(), slug: &name, action: Action::Renewed, events: &[], document };
            let revision = log::append(tx, account, origin, change).await?;
            tx.later(update, vec![account.into(), name.into(), revision.into()]).await?;
        }
    }
    Ok(())
}

/// The number of a segment; none is [`NOWHERE`].
fn number_of((of, tab, owner): &Meaning) -> i64 {
    let (kind, Owner { season, category, .. }) = (of.kind(), owner);
    derived_number(&format!("{kind} {season}{category}{tab}"))
}

/// Writes how the counts have changed.
pub async fn write_segments(tx: &mut Tx, account: AccountId, segments: Segments) -> Result<(), DbError> {
    for (segment, Counted { change, meaning }) in segments.0.into_iter().filter(|(_, counted)| counted.change != 0) {
        let Some((of, tab, owner)) = meaning else {
            tx.later(
                "UPDATE belonging_segments SET total = total + $3 WHERE account = $1 AND segment = $2",
                vec![account.into(), segment.into(), change.into()],
            )
            .await?;
            continue;
        };
        tx.later(
            "INSERT INTO belonging_segments (account, segment, kind, season, category, tab, total) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (account, segment) DO UPDATE SET total = belonging_segments.total + excluded.total",
            vec![
                account.into(),
                segment.into(),
                of.kind().name().into(),
                owner.season.into(),
                owner.category.into(),
                tab.into(),
                change.into(),
            ],
        )
        .await?;
    }
    Ok(())
}

/// Tells what is kept for the lists and is not what there is: the count of a segment, and of a record the segment or the
/// title of its entry.
pub async fn each_wrong(tx: &mut Tx, account: AccountId, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    const ALL: &str = "(SELECT 'attachment' AS kind, token AS name, entry, tab, segment, entry_key, deleted \
        FROM attachments WHERE account = $1 UNION ALL SELECT 'contributor' AS kind, slug AS name, entry, tab, segment, \
        entry_key, deleted FROM contributors WHERE account = $1) AS b";
    let counts = format!(
        "SELECT segment, CAST(sum(kept) AS BIGINT), CAST(sum(there) AS BIGINT) FROM \
         (SELECT segment, total AS kept, 0 AS there FROM belonging_segments WHERE account = $1 \
         UNION ALL SELECT b.segment, 0, count(*) FROM {ALL} WHERE b.segment <> 0 GROUP BY b.segment) AS compared \
         GROUP BY segment HAVING sum(kept) <> sum(there) ORDER BY segment"
    );
    tx.each(&counts, &[account.into()], |row| {
        let (segment, kept, there) = (row.integer(0)?, row.integer(1)?, row.integer(2)?);
        each(format!("segment {segment}: {kept} attachments or contributors are counted and {there} are there"));
        Ok(())
    })
    .await?;
    let places = format!(
        "SELECT b.kind, b.name FROM {ALL} JOIN entries e ON e.account = $1 AND e.slug = b.entry \
         LEFT JOIN belonging_segments s ON s.account = $1 AND s.segment = b.segment AND s.kind = b.kind \
         AND s.tab = b.tab AND s.season = e.season AND s.category = e.category \
         WHERE (b.deleted + e.deleted = 0 AND (s.segment IS NULL OR b.entry_key <> e.title_key)) \
         OR (b.deleted + e.deleted > 0 AND b.segment <> 0) ORDER BY b.kind, b.name"
    );
    tx.each(&places, &[account.into()], |row| {
        each(format!("{} {}: it is listed as if its entry were another one", row.text(0)?, row.text(1)?));
        Ok(())
    })
    .await
}

fn slug(row: &Row<'_>, column: usize) -> Result<Slug, DbError> {
    let text = row.text(column)?;
    Slug::parse(text).ok_or_else(|| DbError::Failed(format!("a stored slug is broken: {text}")))
}
