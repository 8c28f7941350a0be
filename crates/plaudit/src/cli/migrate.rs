//! `plaudit migrate`: brings the database to the newest schema, its documents to the form that is written, and says what it
//! did. After an interruption it is run again, and goes on.

use super::{Failure, open_migrated, rewrite_documents, say, with_database};
use crate::config::Config;
use crate::log::FORM;

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let (db, applied) = open_migrated(config).await?;
    with_database(db, async |db| {
        for step in &applied {
            say(&format!("applied {step}"))?;
        }
        if applied.is_empty() {
            say("the schema is current")?;
        }
        match rewrite_documents(db, FORM).await? {
            0 => Ok(()),
            count => say(&format!("rewrote {count} documents to form {FORM}")),
        }
    })
    .await
}
