//! `plaudit backup`: one state of the whole database, and the bytes of every file that it names, in one file.
//!
//! The service may run meanwhile. The file can be restored on either engine. One that lacks files of the storage gets a
//! name of its own, so that it does not take the place of an earlier one that has them.

use std::path::PathBuf;

use futures_util::TryStreamExt as _;

use super::archive::{self, FILES, Writer};
use super::progress::Progress;
use super::{Failure, open_to_read, say, spare_database, store};
use crate::config::Config;
use crate::records;
use crate::storage::{Storage, StorageError};
use db::Tx;
use db::tables::TABLES;
use kernel::clock::Clock;
use kernel::kind::Kind;

/// What to back up to.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file to write; one of this name is replaced when the new one is whole
    file: PathBuf,
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let path = &arguments.file;
    if path.is_dir() {
        return Err(Failure::Usage(format!("{} is a folder; name the file to write", path.display())));
    }
    let incomplete = archive::incomplete(path);
    for written in [path, &archive::partial(path), &incomplete] {
        spare_database(config, written)?;
    }
    let (db, storage) = open_to_read(config).await?;
    let created = Clock::system().now().to_string();
    let mut tx = db.snapshot().await?;
    let mut writer = Writer::create(path, created, store::schema(&mut tx).await?)?;
    let mut rows = 0;
    let mut progress = Progress::new();
    for table in TABLES {
        let columns = tx.columns(table).await?;
        writer.begin(table, &columns)?;
        store::each_row(&mut tx, table, &columns, |row| {
            rows += 1;
            progress.at(rows, "rows");
            writer.row(row, columns.len())
        })
        .await?;
        writer.end(table);
    }
    drop(progress);
    let (files, missing) = copy_files(&mut tx, &storage, &mut writer).await?;
    drop(tx);
    let named = if missing == 0 { path } else { &incomplete };
    writer.finish(named)?;
    db.close().await;
    say(&format!("{rows} rows and {files} files in {}", named.display()))?;
    if missing == 0 {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{missing} files are missing in the storage and in {}, which is whole otherwise; {} was left alone",
        named.display(),
        path.display()
    )))
}

/// Copies the bytes of every file that the snapshot names; gives how many there were, and how many were missing.
async fn copy_files(tx: &mut Tx, storage: &Storage, writer: &mut Writer) -> Result<(u64, u64), Failure> {
    let mut missing = 0;
    let mut progress = Progress::new();
    let mut done = 0;
    for head in store::heads(tx).await? {
        let account = head.slug.as_str();
        let mut last = String::new();
        while let Some(found) = records::store::next(tx, head.account, Kind::File, &mut last).await? {
            for (token, _) in &found {
                match storage.get_stream(account, token, None).await {
                    Ok((size, mut pieces)) => {
                        let file = writer.file(account, token, size)?;
                        let mut offset = 0;
                        while let Some(piece) = pieces.try_next().await? {
                            writer.piece(file, offset, &piece)?;
                            offset += piece.len();
                        }
                    }
                    Err(StorageError::Missing(name)) => {
                        tracing::warn!(%name, "the storage does not have this file");
                        missing += 1;
                    }
                    Err(error) => return Err(error.into()),
                }
                done += 1;
                progress.at(done, "files");
            }
        }
    }
    Ok((writer.end(FILES), missing))
}
