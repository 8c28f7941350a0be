//! `plaudit restore`: fills a database, of either engine, from a backup.
//!
//! - The whole backup is read and held against its manifest before anything is written, so that a damaged one changes
//!   nothing.
//! - The rows are one transaction, in which the log of every account is verified. Files that the storage lacks are stored
//!   before its commit, and removed again where it fails. Files that are there with other bytes, which only `--force`
//!   replaces, are replaced after it.

use std::path::PathBuf;

use futures_util::TryStreamExt as _;

use super::archive::{FILES, Reader, StoredFile};
use super::progress::Progress;
use super::{Failure, chain, open, open_file, say, store};
use crate::config::Config;
use crate::storage::{Storage, StorageError};
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
    // Nothing is written before everything was read and is what the manifest tells.
    for table in TABLES {
        each_batch(&mut tx, reader, table, false).await?;
    }
    let mut place = 0;
    while let Some(file) = reader.file(place)? {
        place = file.place;
        let is_other = matches!(stands(storage, &file).await?, Some(false));
        if is_other && !force {
            let name = format!("{}/{}", file.account, file.token);
            return Err(Failure::Failed(format!("the storage has other bytes under {name}; --force replaces them")));
        }
    }
    reader.verify(FILES)?;
    store::clear(&mut tx).await?;
    let mut rows = 0;
    for table in TABLES {
        rows += each_batch(&mut tx, reader, table, true).await?;
    }
    for head in store::heads(&mut tx).await? {
        if let (Some(fault), _) = chain::fault(&mut tx, &head).await? {
            return Err(Failure::Failed(format!("account {}: {fault}; nothing was restored", head.slug)));
        }
    }
    let mut made = Vec::new();
    if let Err(error) = put_missing(storage, reader, &mut made).await {
        for (account, token) in made {
            storage.delete(&account, &token).await?;
        }
        return Err(error);
    }
    tx.commit().await?;
    let files = replace_others(storage, reader).await?;
    db.analyze().await;
    Ok((rows, files))
}

/// Reads the rows of a table, and adds them where that is wanted; tells how many there are.
async fn each_batch(tx: &mut Tx, reader: &mut Reader, table: &str, is_wanted: bool) -> Result<u64, Failure> {
    let columns = tx.columns(table).await?;
    let mut progress = Progress::new();
    let (mut place, mut done) = (0, 0);
    loop {
        let rows = reader.rows(table, &columns, place, BATCH_SIZE)?;
        let Some((last, _)) = rows.last() else { return reader.verify(table) };
        place = *last;
        done += rows.len() as u64;
        if is_wanted {
            store::fill(tx, table, &columns, rows.into_iter().map(|(_, values)| values).collect()).await?;
        }
        progress.at(done, if is_wanted { "rows" } else { "rows verified" });
    }
}

/// Whether the storage has these bytes under the name of a file; nothing where it has none.
async fn stands(storage: &Storage, file: &StoredFile) -> Result<Option<bool>, StorageError> {
    let (size, mut pieces) = match storage.get_stream(&file.account, &file.token, None).await {
        Ok(found) => found,
        Err(StorageError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut rest = file.bytes.as_slice();
    if size != rest.len() as u64 {
        return Ok(Some(false));
    }
    while let Some(piece) = pieces.try_next().await? {
        match rest.strip_prefix(&*piece) {
            Some(after) => rest = after,
            None => return Ok(Some(false)),
        }
    }
    Ok(Some(rest.is_empty()))
}

/// Stores the files that the storage does not have, and notes which these are.
async fn put_missing(storage: &Storage, reader: &mut Reader, made: &mut Vec<(String, String)>) -> Result<(), Failure> {
    let mut progress = Progress::new();
    let (mut place, mut done) = (0, 0);
    while let Some(file) = reader.file(place)? {
        place = file.place;
        if !storage.exists(&file.account, &file.token).await? {
            made.push((file.account.clone(), file.token.clone()));
            storage.put(&file.account, &file.token, file.bytes.into()).await?;
        }
        done += 1;
        progress.at(done, "files");
    }
    reader.verify(FILES).map(drop)
}

/// Replaces the files that are not what the backup has, each at once; tells how many files it has.
async fn replace_others(storage: &Storage, reader: &mut Reader) -> Result<u64, Failure> {
    let mut place = 0;
    while let Some(file) = reader.file(place)? {
        place = file.place;
        if stands(storage, &file).await? != Some(true) {
            storage.put(&file.account, &file.token, file.bytes.into()).await?;
        }
    }
    reader.verify(FILES)
}
