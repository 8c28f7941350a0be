//! A folder of this machine.
//!
//! Files are written beside their place, synced and moved there, by `object_store`. They are read here.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use futures_util::stream::{StreamExt as _, try_unfold};

use super::{Pieces, StorageError};

/// Bytes that are read from a file at once: one trip to the thread pool each.
pub(super) const PIECE: usize = 256 * 1024;

/// Makes a folder that outlives a power cut: the folder above it is synced too.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // The files are people's; other users of the machine have no business with them.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    {
        if let Some(above) = std::fs::canonicalize(folder)?.parent() {
            File::open(above)?.sync_all()?;
        }
    }
    Ok(())
}

/// Reads a part of a file; the store's own stream would go to the thread pool for every 8 KB.
pub(super) fn pieces(file: File, part: Range<u64>) -> Pieces {
    let broken = |error: std::io::Error| {
        StorageError::Store(object_store::Error::Generic { store: "file", source: Box::new(error) })
    };
    let stopped = |error| StorageError::Store(object_store::Error::JoinError { source: error });
    let state = (file, part.start, part.end);
    try_unfold(state, move |(mut file, start, end)| async move {
        if start >= end {
            return Ok(None);
        }
        let wanted = usize::try_from(end - start).unwrap_or(PIECE).min(PIECE);
        let reading = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; wanted];
            file.seek(SeekFrom::Start(start))?;
            // A file that has become shorter fails here, and the answer breaks off instead of ending early.
            file.read_exact(&mut piece)?;
            Ok((piece, file))
        });
        let (piece, file) = reading.await.map_err(stopped)?.map_err(broken)?;
        Ok(Some((Bytes::from(piece), (file, start + wanted as u64, end))))
    })
    .boxed()
}

/// Removes what an upload that a crash cut off left beside the place of its file, where `object_store` writes it: the first
/// name of these that is free.
pub(super) async fn remove_unfinished(folder: &Path, account: &str, token: &str) -> std::io::Result<()> {
    for number in 1..=UNFINISHED {
        match tokio::fs::remove_file(folder.join(account).join(format!("{token}#{number}"))).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A token is drawn anew for each upload, so that more than one is an accident already.
const UNFINISHED: u32 = 4;
