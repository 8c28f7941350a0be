//! `plaudit migrate`: brings the database to the newest schema, its documents to the form that is written, and says what it
//! did. Who was interrupted runs it again, and it goes on.

use super::{Failure, open_migrated, rewrite_documents, say, with_database};
use crate::config::Config;
use crate::log::FORM;

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let (db, applied) = open_migrated(config).await?;
    let rewritten = with_database(db, async |db| rewrite_documents(db, FORM).await).await?;
    for step in &applied {
        say(&format!("applied {step}"))?;
    }
    if applied.is_empty() {
        say("the schema is current")?;
    }
    if rewritten > 0 {
        say(&format!("rewrote {rewritten} documents to form {FORM}"))?;
    }
    Ok(())
}
