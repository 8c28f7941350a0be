//! The schema: one folder of steps, the same SQL on both engines, recorded by refinery in the database.
//!
//! A step may be one with which older programs go on: what it adds, they do without. Its name says since which step, as in
//! `V9__more_columns_since_7`: programs that know step 7 serve a database that has it. Any other step ends those that do not
//! know it.

use super::tls::Target;
use super::{Backend, Db, DbError, Settings};

// The macro writes a module of its own, which documents nothing.
#[allow(missing_docs, clippy::pedantic, unreachable_pub)]
mod steps {
    refinery::embed_migrations!("migrations");
}

/// On PostgreSQL text is compared by the locale of the database unless told otherwise; a domain tells it once, and
/// SQLite takes the domain's name for a type of text.
const POSTGRES_DOMAIN: &str = "DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_type WHERE typname = 'ordered_text' AND typnamespace = current_schema()::regnamespace)
    THEN CREATE DOMAIN ordered_text AS TEXT COLLATE \"C\"; END IF; END $$";

/// PostgreSQL would compress what is in a row of more than 2,000 bytes or so, and a page of documents costs half as much
/// again where each is unpacked. So documents that requests read stay as they are where a page of the table has room for
/// the row; those of the log, which are many and seldom read, are packed. A table that knows is not told again, and being
/// told keeps nobody from reading or writing it.
const POSTGRES_ROWS: &str = "DO $$ DECLARE documents RECORD; BEGIN
    FOR documents IN
        SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'changes'
        AND attname = 'doc' AND atttypid = to_regtype('ordered_text') AND pg_has_role(relowner, 'USAGE')
        AND array_to_string(reloptions, ',') LIKE '%toast_tuple_target%' IS NOT TRUE
        ORDER BY relname
    LOOP
        EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = %s)',
            documents.relname, least(8160, current_setting('block_size')::integer - 32));
    END LOOP; END $$";

/// The windows of the rate limit change with requests that change nothing else, and are worth nothing after a minute: they go
/// past the server's log, so that none of these requests waits for a disk. A crash or a failover empties the table.
const POSTGRES_WINDOWS: &str = "DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_class WHERE relname = 'rate_windows' AND relpersistence = 'p'
        AND relnamespace = current_schema()::regnamespace AND pg_has_role(relowner, 'USAGE'))
    THEN ALTER TABLE rate_windows SET UNLOGGED; END IF; END $$";

/// Keeps two nodes that start together from migrating together. The number is arbitrary and only has to stay.
const POSTGRES_LOCK: &str = "SELECT pg_advisory_lock(7205759403792)";

/// A step that waits for a table keeps others from the table: it fails instead, and the next start tries again.
const POSTGRES_PATIENCE: &str = "SET lock_timeout = '10s'";

/// What the engines say of a database that no step was applied to.
const NO_HISTORY: [&str; 2] =
    ["no such table: refinery_schema_history", "relation \"refinery_schema_history\" does not exist"];

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The names of the steps that were applied now, in order.
    pub applied: Vec<String>,
}

/// Brings the database to the newest schema. Every step is a transaction of its own.
pub async fn run(db: &Db, settings: &Settings) -> Result<Migrated, DbError> {
    refuse_unknown(db).await?;
    // What follows is the rest of the step's SQL.
    let failed =
        |error: refinery::Error| DbError::Failed(error.to_string().lines().next().unwrap_or_default().to_owned());
    // Steps that are missing here are those that may be.
    let runner = steps::migrations::runner().set_abort_missing(false);
    let report = match &db.0.backend {
        Backend::Sqlite(sqlite) => {
            let mut connection = sqlite.connect()?;
            tokio::task::spawn_blocking(move || runner.run(&mut connection.connection))
                .await
                .map_err(|error| DbError::Failed(error.to_string()))?
                .map_err(failed)?
        }
        Backend::Postgres(_) => {
            let Target { config, tls } = Target::of(&settings.url)?;
            let (mut client, connection) = config.connect(tls).await?;
            let driver = tokio::spawn(connection);
            client.batch_execute(POSTGRES_LOCK).await?;
            client.batch_execute(POSTGRES_PATIENCE).await?;
            client.batch_execute(POSTGRES_DOMAIN).await?;
            let report = runner.run_async(&mut client).await.map_err(failed)?;
            client.batch_execute(POSTGRES_ROWS).await?;
            client.batch_execute(POSTGRES_WINDOWS).await?;
            drop(client);
            driver.abort();
            report
        }
    };
    // A newer program may have migrated while this one waited for it.
    refuse_unknown(db).await?;
    Ok(Migrated { applied: report.applied_migrations().iter().map(ToString::to_string).collect() })
}

async fn refuse_unknown(db: &Db) -> Result<(), DbError> {
    match unknown(db).await?.first() {
        Some(step) => Err(DbError::Failed(format!(
            "its schema has {step}, which this plaudit does not know: a newer one made it"
        ))),
        None => Ok(()),
    }
}

/// The names of all steps, in order.
pub fn all() -> Vec<String> {
    steps::migrations::runner().get_migrations().iter().map(ToString::to_string).collect()
}

/// The steps that the database has, by number and name; none where it keeps no history of them.
async fn applied(db: &Db) -> Result<Vec<(i64, String)>, DbError> {
    let mut applied = Vec::new();
    let sql = "SELECT CAST(version AS BIGINT), name FROM refinery_schema_history ORDER BY version";
    let read = db
        .each(sql, &[], |row| {
            applied.push((row.integer(0)?, row.text(1)?.to_owned()));
            Ok(())
        })
        .await;
    match read {
        Ok(()) => Ok(applied),
        Err(DbError::Failed(error)) if NO_HISTORY.iter().any(|text| error.contains(text)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The names of the steps that the database lacks, in order. Empty: the schema is the one this program knows.
pub async fn pending(db: &Db) -> Result<Vec<String>, DbError> {
    let applied = applied(db).await?.len();
    Ok(all().into_iter().skip(applied).collect())
}

/// The names of the steps that the database has and with which this program cannot go on, in order: a newer one made them.
pub async fn unknown(db: &Db) -> Result<Vec<String>, DbError> {
    let known = all().len();
    let unknown = applied(db).await?.into_iter().skip(known).filter(|(_, name)| !is_compatible(name, known));
    Ok(unknown.map(|(number, name)| format!("V{number}__{name}")).collect())
}

/// Whether programs whose last step has this number go on with a step of this name.
fn is_compatible(name: &str, known: usize) -> bool {
    name.rsplit_once("_since_").and_then(|(_, since)| since.parse().ok()).is_some_and(|since: usize| since <= known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_only_adds_names_the_step_since_which_programs_go_on() {
        assert!(is_compatible("more_columns_since_7", 7) && is_compatible("more_columns_since_7", 8));
        for name in ["more_columns_since_7", "more_columns", "since_6", "more_since_", "more_since_x"] {
            assert!(!is_compatible(name, 6), "{name}");
        }
    }

    #[tokio::test]
    async fn a_new_database_that_is_closed_leaves_an_empty_log() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new.db");
        let settings = Settings::at(&format!("sqlite:{}", file.display()));
        let db = Db::open(&settings).await.unwrap();
        run(&db, &settings).await.unwrap();
        let log = || std::fs::metadata(folder.path().join("new.db-wal")).unwrap().len();
        assert!(log() > 0);
        db.close().await;
        assert_eq!(log(), 0);
    }
}
