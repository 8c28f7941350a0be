//! `plaudit migrate`: brings the database to the newest schema and says what it did.

use super::{Failure, database_settings, say};
use crate::config::Config;
use db::{Db, migrate};

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let settings = database_settings(config);
    let db = Db::open(&settings).await?;
    let migrated = migrate::run(&db, &settings).await?;
    db.close().await;
    for step in &migrated.applied {
        say(&format!("applied {step}"))?;
    }
    if migrated.applied.is_empty() {
        say("the schema is current")?;
    }
    Ok(())
}
