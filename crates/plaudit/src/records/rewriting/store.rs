//! The statements by which rows of an older form are found and rewritten.

use crate::log::forms::{FORMS, Forms};
use crate::records::store::{NO, PAGE, Rows, StoredRow, filled, is_in_trash, rows, write_set};
use db::{AccountId, Db, DbError, Tx, Value};
use kernel::kind::Kind;

/// The next rows of a kind whose documents have an older form than this one, by account; `None` at the end. `last` becomes the
/// last of them. The form stands in the statement, so that a partial index serves it.
// tidy: every account -- a new form is the installation's
pub(super) async fn older(
    db: &Db,
    (kind, form): (Kind, i64),
    last: &mut (AccountId, String),
) -> Result<Option<Vec<(AccountId, Vec<String>)>>, DbError> {
    let Some(Rows { table, key, .. }) = rows(kind).filter(|_| form > 0) else { return Ok(None) };
    let of_kind = if kind.is_setup() { format!("kind = '{kind}' AND ") } else { String::new() };
    let sql = format!(
        "SELECT account, {key} FROM {table} WHERE {of_kind}doc_form < {form} AND (account, {key}) > ($1, $2) \
         ORDER BY account, {key} LIMIT {PAGE}"
    );
    let mut found: Vec<(AccountId, Vec<String>)> = Vec::new();
    db.each(&sql, &[last.0.into(), last.1.as_str().into()], |row| {
        let (account, name) = (AccountId(row.integer(0)?), row.text(1)?.to_owned());
        match found.last_mut().filter(|(of, _)| *of == account) {
            Some((_, names)) => names.push(name),
            None => found.push((account, vec![name])),
        }
        Ok(())
    })
    .await?;
    let Some((account, names)) = found.last() else { return Ok(None) };
    *last = (*account, names.last().cloned().unwrap_or_default());
    Ok(Some(found))
}

/// Rewrites a record that has an older form, before a part of its row is written. No statement where no row can have one.
pub async fn rewrite_record(tx: &mut Tx, account: AccountId, kind: Kind, name: &str) -> Result<(), DbError> {
    let form = FORMS.last(kind, FORMS.written);
    if form <= FORMS.oldest {
        return Ok(());
    }
    let (_, faults) = rewrite(tx, account, (&FORMS, kind, form), &[name.to_owned()]).await?;
    faults.into_iter().next().map_or(Ok(()), |fault| Err(DbError::Failed(fault)))
}

/// Rewrites those of these records that still have an older form, and what follows from their documents. Returns how many were
/// rewritten, and a description of each that cannot be.
pub(super) async fn rewrite(
    tx: &mut Tx,
    account: AccountId,
    (forms, kind, form): (&Forms, Kind, i64),
    names: &[String],
) -> Result<(u64, Vec<String>), DbError> {
    let Some(rows) = rows(kind) else { return Ok((0, Vec::new())) };
    let (list, values) = filled(names, 2, vec![account.into()]);
    // A writer of the account locks its row first.
    if tx.head(account).await?.is_none() {
        return Ok((0, Vec::new()));
    }
    let sql = format!("{} AND doc_form < {form} AND {} IN ({list})", rows.select(kind, ""), rows.key);
    let found: Vec<_> = tx.all(&sql, &values, StoredRow::read).await?;
    let (mut count, mut faults) = (0, Vec::new());
    for (name, row) in found {
        let made = row.rewritten(forms, kind, form).and_then(|row| Ok(((rows.derived)(&row.doc)?, row)));
        match made {
            Ok((derived, row)) => {
                put(tx, account, (kind, &rows, &name), columns_of(&rows, row, derived.columns)).await?;
                for (set, values) in rows.sets.iter().zip(derived.sets) {
                    write_set(tx, account, set, (&name, false), values).await?;
                }
                count += 1;
            }
            Err(error) => faults.push(format!("account {}, {kind} {name}: {error}", account.0)),
        }
    }
    Ok((count, faults))
}

/// The columns of a row that follow from its documents, and these.
fn columns_of(rows: &Rows, row: StoredRow, derived: Vec<Value<'static>>) -> Vec<(&'static str, Value<'static>)> {
    let mut columns: Vec<_> = (rows.columns)().into_iter().zip(derived).collect();
    if rows.deleted != NO {
        columns.push(("deleted", is_in_trash(&row.doc).into()));
    }
    if rows.detail == "detail" {
        columns.push(("detail", row.detail.into()));
    }
    columns.extend([("doc", row.doc.into()), ("doc_form", row.form.into())]);
    columns
}

async fn put(
    tx: &mut Tx,
    account: AccountId,
    (kind, rows, name): (Kind, &Rows, &str),
    columns: Vec<(&'static str, Value<'static>)>,
) -> Result<(), DbError> {
    let places: Vec<_> = (3..).zip(&columns).map(|(place, (column, _))| format!("{column} = ${place}")).collect();
    let (table, changes, key) = (rows.table, places.join(", "), rows.key);
    let sql = format!("UPDATE {table} SET {changes} WHERE {} AND {key} = $2", Rows::of_account(kind));
    let values = [account.into(), name.to_owned().into()].into_iter();
    tx.enqueue(sql, values.chain(columns.into_iter().map(|(_, value)| value)).collect()).await
}
