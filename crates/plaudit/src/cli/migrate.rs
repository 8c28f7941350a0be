//! `plaudit migrate`: brings the database to the newest schema and says what it did.

use super::{Failure, open_migrated, say};
use crate::config::Config;

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let (db, applied) = open_migrated(config).await?;
    db.close().await;
    for step in &applied {
        say(&format!("applied {step}"))?;
    }
    if applied.is_empty() {
        say("the schema is current")?;
    }
    Ok(())
}
