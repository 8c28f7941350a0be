//! `plaudit restore`: fills a database, of either engine, from a backup.
//!
//! One transaction: the manifest is verified, and the log of every account, before anything counts. The bytes of files
//! come first; without their records they harm nothing.

use std::path::PathBuf;

use super::archive::{FILES, Reader};
use super::progress::Progress;
use super::{Failure, chain, open, open_file, say, store};
use crate::config::Config;
use crate::storage::Storage;
use db::tables::TABLES;
use db::{Db, Tx};

/// How many rows a statement adds.
const BATCH_SIZE: i64 = 64;

/// What to restore.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file that `backup` wrote
    file: PathBuf,
    /// Replace what the database holds
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    drop(open_file(&arguments.file)?);
    let mut reader = Reader::open(&arguments.file)?;
    let (db, storage) = open(config).await?;
    let restored = restore(&db, &storage, &mut reader, arguments.force).await;
    db.close().await;
    let (rows, files) = restored?;
    say(&format!("{rows} rows and {files} files as of {}", reader.manifest.created))?;
    match reader.manifest.missing_files() {
        0 => Ok(()),
        missing => Err(Failure::Failed(format!(
            "{missing} files are missing in the backup, whose storage did not have them; everything else was restored"
        ))),
    }
}

async fn restore(db: &Db, storage: &Storage, reader: &mut Reader, force: bool) -> Result<(u64, u64), Failure> {
    let mut tx = db.begin().await?;
    let schema = store::schema(&mut tx).await?;
    if schema != reader.manifest.schema {
        return Err(Failure::Failed(format!(
            "the backup has the schema {}, and this plaudit has {}: restore it with the version that made it, then migrate",
            reader.manifest.schema.last().map_or("of nothing", String::as_str),
            schema.last().map_or("none", String::as_str)
        )));
    }
    if !store::is_empty(&mut tx).await? && !force {
        return Err(Failure::Failed("the database is not empty; --force replaces everything in it".to_owned()));
    }
    store::clear(&mut tx).await?;
    let mut rows = 0;
    let mut progress = Progress::new();
    for (table, columns) in TABLES {
        fill(&mut tx, reader, table, columns, &mut progress).await?;
        rows += reader.verify(table)?;
    }
    drop(progress);
    for head in store::heads(&mut tx).await? {
        if let (Some(fault), _) = chain::fault(&mut tx, &head).await? {
            return Err(Failure::Failed(format!("account {}: {fault}; nothing was restored", head.slug)));
        }
    }
    let files = put_files(storage, reader).await?;
    tx.commit().await?;
    db.analyze().await;
    Ok((rows, files))
}

async fn fill(
    tx: &mut Tx,
    reader: &mut Reader,
    table: &str,
    columns: &[&str],
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut place = 0;
    let mut done = 0;
    loop {
        let rows = reader.rows(table, columns, place, BATCH_SIZE)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        place = *last;
        done += rows.len() as u64;
        store::fill(tx, table, columns, rows.into_iter().map(|(_, values)| values).collect()).await?;
        progress.at(done, "rows");
    }
}

async fn put_files(storage: &Storage, reader: &mut Reader) -> Result<u64, Failure> {
    let mut progress = Progress::new();
    let (mut place, mut done) = (0, 0);
    while let Some(file) = reader.file(place)? {
        place = file.place;
        storage.put(&file.account, &file.token, file.bytes.into()).await?;
        done += 1;
        progress.at(done, "files");
    }
    reader.verify(FILES)
}
