//! The statements by which rows of an older form are found and rewritten.

use crate::log::forms::Forms;
use crate::records::store::{NO, PAGE, Rows, StoredRow, filled, is_in_trash, rows, write_set};
use db::{AccountId, Db, DbError, Tx, Value};
use kernel::kind::Kind;

/// The rows of a kind whose documents have an older form than this one, after one of an account: some, by account. The last
/// one becomes the one after which it goes on. The form stands in the statement, so that a partial index serves it.
// tidy: every account -- a new form is the installation's
pub(super) async fn older(
    db: &Db,
    (kind, form): (Kind, i64),
    last: &mut (AccountId, String),
) -> Result<Option<Vec<(AccountId, Vec<String>)>>, DbError> {
    let Some(Rows { table, key, .. }) = rows(kind) else { return Ok(None) };
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

/// Rewrites those of these records that still have an older form, and what follows from their documents. Gives how many were
/// rewritten, and which cannot be.
pub(super) async fn rewrite(
    tx: &mut Tx,
    account: AccountId,
    (forms, kind, form): (&Forms, Kind, i64),
    names: &[String],
) -> Result<(u64, Vec<String>), DbError> {
    let Some(rows) = rows(kind) else { return Ok((0, Vec::new())) };
    let (list, values) = filled(names, 2, vec![account.into()]);
    // Whoever changes a record of the account locks its row first.
    if tx.head(account).await?.is_none() {
        return Ok((0, Vec::new()));
    }
    let select = rows.select(kind, ", doc_form");
    let sql = format!("{select} AND doc_form < {form} AND {} IN ({list})", rows.key);
    let found: Vec<_> = tx.all(&sql, &values, |row| Ok((StoredRow::read(row)?, row.integer(6)?))).await?;
    let (mut count, mut faults) = (0, Vec::new());
    for ((name, row), from) in found {
        match rewritten(forms, (kind, &rows), &row, (from, form)) {
            Ok(rewritten) => {
                put(tx, account, (kind, &rows), &name, rewritten).await?;
                count += 1;
            }
            Err(error) => faults.push(format!("account {}, {kind} {name}: {error}", account.0)),
        }
    }
    Ok((count, faults))
}

/// A row of the new form: the columns that follow from its documents, these, and the rows of tables of values.
struct Rewritten {
    columns: Vec<(&'static str, Value<'static>)>,
    sets: Vec<Vec<Vec<Value<'static>>>>,
}

fn rewritten(
    forms: &Forms,
    (kind, rows): (Kind, &Rows),
    row: &StoredRow,
    step: (i64, i64),
) -> Result<Rewritten, DbError> {
    let doc = forms.rewritten(kind, &row.doc, step)?.into_owned();
    let derived = (rows.derived)(&doc)?;
    let mut columns: Vec<_> = (rows.columns)().into_iter().zip(derived.columns).collect();
    if rows.deleted != NO {
        columns.push(("deleted", is_in_trash(&doc).into()));
    }
    if rows.detail == "detail" {
        columns.push(("detail", forms.rewritten(kind, &row.detail, step)?.into_owned().into()));
    }
    columns.extend([("doc", doc.into()), ("doc_form", step.1.into())]);
    Ok(Rewritten { columns, sets: derived.sets })
}

async fn put(
    tx: &mut Tx,
    account: AccountId,
    (kind, rows): (Kind, &Rows),
    name: &str,
    rewritten: Rewritten,
) -> Result<(), DbError> {
    let places: Vec<_> = (3..).zip(&rewritten.columns).map(|(place, (name, _))| format!("{name} = ${place}")).collect();
    let sql = format!(
        "UPDATE {} SET {} WHERE {} AND {} = $2",
        rows.table,
        places.join(", "),
        Rows::of_account(kind),
        rows.key
    );
    let values = [account.into(), name.to_owned().into()].into_iter();
    tx.enqueue(sql, values.chain(rewritten.columns.into_iter().map(|(_, value)| value)).collect()).await?;
    for (set, rows) in rows.sets.iter().zip(rewritten.sets) {
        write_set(tx, account, set, (name, false), rows).await?;
    }
    Ok(())
}
