//! What is read of others to make documents.

use std::collections::HashMap;

use crate::program::document_templates::Subject;
use crate::records::store::filled;
use db::{AccountId, DbError, Tx};

/// How many records are looked for by a statement.
const BATCH_SIZE: usize = 500;

/// The chapters of the records of these slugs that are there, each a word; none for what is of no chapter.
pub async fn chapters_of(
    tx: &mut Tx,
    account: AccountId,
    subject: Subject,
    slugs: &[String],
) -> Result<HashMap<String, String>, DbError> {
    let from = match subject {
        Subject::Entry => "SELECT r.slug, r.chapter FROM entries r",
        Subject::User => "SELECT r.slug, '' FROM users r",
        Subject::Order => "SELECT r.slug, r.chapters FROM orders r",
        Subject::Assignment => {
            "SELECT r.slug, e.chapter FROM assignments r JOIN entries e ON e.account = r.account AND e.slug = r.entry"
        }
        Subject::ScoreSet => "SELECT r.slug, '' FROM setup_records r",
    };
    let mut found = HashMap::with_capacity(slugs.len());
    for slugs in slugs.chunks(BATCH_SIZE) {
        let (list, mut values) = filled(slugs, 2, vec![account.into()]);
        let mut sql = format!("{from} WHERE r.account = $1 AND r.slug IN ({list}) AND r.deleted = 0");
        if subject == Subject::ScoreSet {
            values.push(subject.kind().name().into());
            sql = format!("{sql} AND r.kind = ${}", values.len());
        }
        tx.each(&sql, &values, |row| {
            found.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
            Ok(())
        })
        .await?;
    }
    Ok(found)
}
