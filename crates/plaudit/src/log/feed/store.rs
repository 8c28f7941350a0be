//! Stretches of the table of changes.

use super::{Logged, Mark, Of};
use crate::log::forms::FORMS;
use crate::log::{Actor, Event};
use db::{AccountId, Committed, DbError, Row, Source, hash_of_change};
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// Where an account stands, and whether its log has a change; nothing where there is no such account.
pub async fn standing(
    account: AccountId,
    source: &mut Source<'_>,
    mark: Mark,
) -> Result<Option<(Committed, bool)>, DbError> {
    let sql = "SELECT a.version, a.sequence, a.hash, \
               (SELECT c.hash FROM changes c WHERE c.account = a.id AND c.sequence = $2) FROM accounts a WHERE a.id = $1";
    let mut found = None;
    source
        .each(sql, &[account.into(), mark.sequence.into()], |row| {
            let hash = row.bytes(3).ok().map(hash_of_change).transpose()?;
            let is_there = mark == Mark::START || hash.is_some_and(|hash| Mark::of(mark.sequence, &hash) == mark);
            found = Some((Committed::read(row, 0)?, is_there));
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The most changes that [`stretch`] reads at once.
const STRETCH: usize = 256;

/// Reads at most 256 changes after one sequence number and up to another. Gives those that are wanted, and the number up to
/// which it has read. With `documents` they have their documents, of so many bytes in all: it reads less where they have more,
/// but at least one. Where a number is missing, other than between those of one record, it is an error.
pub async fn stretch(
    account: AccountId,
    source: &mut Source<'_>,
    of: Of<'_>,
    (after, to): (i64, i64),
    documents: Option<usize>,
) -> Result<(Vec<Logged>, i64), DbError> {
    let mut values = vec![account.into(), after.into(), to.into()];
    let (of_record, document) = match of {
        Of::All => (String::new(), "doc".to_owned()),
        Of::Kind(kind) => (String::new(), format!("CASE WHEN kind = '{kind}' THEN doc END")),
        Of::Record(kind, slug) => {
            values.push(slug.into());
            (format!("AND kind = '{kind}' AND slug = $4 "), "doc".to_owned())
        }
    };
    let range =
        format!("FROM changes WHERE account = $1 AND sequence > $2 AND sequence <= $3 {of_record}ORDER BY sequence");
    // How far is read is known before any document is.
    let heads = format!(
        "SELECT sequence, at, actor, source, kind, slug, action, events, hash, CAST(octet_length(doc) AS BIGINT) \
         {range} LIMIT {STRETCH}"
    );
    let mut left = documents.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(i64::MAX);
    let (mut changes, mut reached, mut rows, mut is_full) = (Vec::new(), after, 0, false);
    source
        .each(&heads, &values, |row| {
            let sequence = row.integer(0)?;
            let length = row.optional_integer(9)?.unwrap_or_default();
            if is_full {
                return Ok(());
            }
            if of_record.is_empty() && sequence != reached + 1 {
                return Err(DbError::Failed(format!("the change log of {account:?} has no change {}", reached + 1)));
            }
            if of.has(row.text(4)?) {
                is_full = length > left && !changes.is_empty();
                if is_full {
                    return Ok(());
                }
                left = (left - length).max(0);
                changes.push(read(row)?);
            }
            (reached, rows) = (sequence, rows + 1);
            Ok(())
        })
        .await?;
    if !of_record.is_empty() && !is_full && rows < STRETCH {
        reached = to;
    }
    if documents.is_some() && !changes.is_empty() {
        values[2] = reached.into();
        let mut wanted = changes.iter_mut().peekable();
        source
            .each(&format!("SELECT sequence, doc_form, {document} {range}"), &values, |row| {
                let sequence = row.integer(0)?;
                if let Some(change) = wanted.next_if(|change| change.sequence == sequence) {
                    let form = row.integer(1)?;
                    change.document = row.optional_text(2)?.map(|text| FORMS.logged(change.kind, form, text));
                }
                Ok(())
            })
            .await?;
    }
    Ok((changes, reached))
}

impl Of<'_> {
    fn has(self, kind: &str) -> bool {
        !matches!(self, Self::Kind(wanted) if wanted.name() != kind)
    }
}

fn read(row: &Row<'_>) -> Result<Logged, DbError> {
    let unknown = |what: &str, name: &str| DbError::Failed(format!("the change log has the unknown {what} {name}"));
    let (actor, kind) = (row.text(2)?, row.text(4)?);
    Ok(Logged {
        sequence: row.integer(0)?,
        at: Timestamp::from_microseconds(row.integer(1)?),
        actor: Actor::parse(actor).ok_or_else(|| unknown("actor", actor))?,
        source: row.text(3)?.to_owned(),
        kind: Kind::named(kind).ok_or_else(|| unknown("kind", kind))?,
        slug: row.text(5)?.to_owned(),
        action: row.text(6)?.to_owned(),
        events: row.text(7)?.split(',').filter_map(Event::named).collect(),
        document: None,
        length: row.optional_integer(9)?.and_then(|length| usize::try_from(length).ok()).unwrap_or_default(),
        hash: hash_of_change(row.bytes(8)?)?,
    })
}
