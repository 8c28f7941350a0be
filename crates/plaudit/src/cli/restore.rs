//! `plaudit restore`: fills a database, of either engine, from a backup.
//!
//! - The whole backup is read and held against its manifest before anything is written, so that a damaged one changes
//!   nothing.
//! - The rows are one transaction, in which the log of every account is verified. Files that the storage lacks are stored
//!   before its commit, and removed again where that fails. Files that are there with other bytes, which only `--force`
//!   replaces, are replaced after it.
//! - Nobody has the work in the background that the rows are of: a node that runs still, against advice, does none of it with what
//!   it knows of other rows.

use std::path::PathBuf;

use futures_util::TryStreamExt as _;

use super::archive::{FILES, Reader, StoredFile};
use super::progress::Progress;
use super::{Failure, chain, open, open_file, say, store};
use crate::config::Config;
use crate::leases::store as leases;
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
    let mut tx = db.snapshot().await?;
    let schema = store::schema(&mut tx).await?;
    if schema != reader.manifest.schema {
        return Err(Failure::Failed(format!(
            "the backup has the schema {}, and this plaudit has {}: restore it with the version that made it, then migrate",
            reader.manifest.schema.last().map_or("of nothing", String::as_str),
            schema.last().map_or("none", String::as_str)
        )));
    }
    check_empty(&mut tx, force).await?;
    let mut tables = Vec::with_capacity(TABLES.len());
    for table in TABLES {
        tables.push((*table, tx.columns(table).await?));
    }
    drop(tx);
    // Nothing is written before everything was read and is what the manifest tells.
    for (table, columns) in &tables {
        each_batch(None, reader, (table, columns)).await?;
    }
    let files = compare(storage, reader).await?;
    if let (Some(name), false) = (&files.other, force) {
        return Err(Failure::Failed(format!("the storage has other bytes under {name}; --force replaces them")));
    }
    let mut tx = db.begin().await?;
    check_empty(&mut tx, force).await?;
    store::clear(&mut tx).await?;
    let mut rows = 0;
    for (table, columns) in &tables {
        rows += each_batch(Some(&mut tx), reader, (table, columns)).await?;
    }
    leases::free_all(&mut tx).await?;
    for head in store::heads(&mut tx).await? {
        let mut faults = Vec::new();
        chain::each_wrong(&mut tx, &head, |fault| faults.push(fault)).await?;
        if let Some(fault) = faults.first() {
            return Err(Failure::Failed(format!("account {}: {fault}; nothing was restored", head.slug)));
        }
    }
    if let Err(error) = put(storage, reader, &files.missing).await {
        for place in &files.missing {
            if let Some(file) = reader.file(place - 1)? {
                // What cannot be removed is told by the storage's own fault, and harms nothing without a record.
                let _ = storage.delete(&file.account, &file.token).await;
            }
        }
        return Err(error);
    }
    tx.commit().await?;
    put(storage, reader, &files.others).await?;
    db.analyze().await;
    Ok((rows, files.count))
}

async fn check_empty(tx: &mut Tx, force: bool) -> Result<(), Failure> {
    if force || store::is_empty(tx).await? {
        return Ok(());
    }
    Err(Failure::Failed("the database is not empty; --force replaces everything in it".to_owned()))
}

/// Reads the rows of a table, and adds them where there is a transaction for it; tells how many there are.
async fn each_batch(
    mut tx: Option<&mut Tx>,
    reader: &mut Reader,
    (table, columns): (&str, &[String]),
) -> Result<u64, Failure> {
    let mut progress = Progress::new();
    let (mut place, mut done) = (0, 0);
    loop {
        let rows = reader.rows(table, columns, place, BATCH_SIZE)?;
        let Some((last, _)) = rows.last() else { return reader.verify(table) };
        place = *last;
        done += rows.len() as u64;
        progress.at(done, if tx.is_some() { "rows" } else { "rows verified" });
        if let Some(tx) = &mut tx {
            store::fill(tx, table, columns, rows.into_iter().map(|(_, values)| values).collect()).await?;
        }
    }
}

/// How the files of a backup stand to those of the storage, by their places in the backup.
#[derive(Default)]
struct Files {
    count: u64,
    /// Those that the storage does not have.
    missing: Vec<i64>,
    /// Those that it has with other bytes.
    others: Vec<i64>,
    /// The name of the first of these.
    other: Option<String>,
}

/// Verifies the files, and compares them with those of the storage.
async fn compare(storage: &Storage, reader: &mut Reader) -> Result<Files, Failure> {
    let mut files = Files::default();
    let mut progress = Progress::new();
    let mut place = 0;
    while let Some(file) = reader.file(place)? {
        place = file.place;
        match stands(storage, &file).await? {
            None => files.missing.push(place),
            Some(true) => {}
            Some(false) => {
                files.others.push(place);
                files.other.get_or_insert_with(|| format!("{}/{}", file.account, file.token));
            }
        }
        files.count += 1;
        progress.at(files.count, "files verified");
    }
    reader.verify(FILES)?;
    Ok(files)
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

/// Stores the files at these places, each at once.
async fn put(storage: &Storage, reader: &mut Reader, places: &[i64]) -> Result<(), Failure> {
    let mut progress = Progress::new();
    for (done, place) in (1..).zip(places) {
        if let Some(file) = reader.file(place - 1)? {
            storage.put(&file.account, &file.token, file.bytes.into()).await?;
        }
        progress.at(done, "files");
    }
    Ok(())
}
