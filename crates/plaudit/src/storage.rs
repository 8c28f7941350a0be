//! The bytes of files: attachments, documents, images.
//!
//! A file is kept under `<account slug>/<token>`. Both are ASCII letters and nothing else, so that no name can lead
//! out of the storage; a name that is not is refused here, wherever it came from. The content under a token is never
//! changed by the service: a new upload has a new token.

mod bucket;
mod folder;
mod location;
mod parts;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
pub(crate) use folder::make as make_folder;
use futures_util::stream::{BoxStream, Stream, StreamExt as _, TryStreamExt as _};
pub use location::{Location, Secret, Settings};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectStore, ObjectStoreExt as _, PutPayload};

use crate::turns::Turns;

/// What can go wrong with files.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The storage address is not one.
    #[error("{0:?} is no storage address; allowed is file:DIRECTORY or s3://BUCKET/PREFIX")]
    Address(String),
    /// The folder of the storage cannot be used.
    #[error("the storage folder {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An account slug or a token that is not 1 to 64 ASCII letters.
    #[error("{0:?} is no name of a stored file")]
    Name(String),
    /// There is no such file.
    #[error("there is no stored file {0}")]
    Missing(String),
    /// The stored file is not as long as its record says.
    #[error("the stored file {name} has {actual} bytes and should have {expected}")]
    Length {
        /// Account and token.
        name: String,
        /// Bytes there are.
        actual: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// The bytes of a file that is to be stored cannot be read.
    #[error("what is to be stored cannot be read: {0}")]
    Read(#[source] std::io::Error),
    /// The store failed.
    #[error("the file storage failed: {0}")]
    Store(#[source] object_store::Error),
}

impl StorageError {
    /// Whether the disk of the folder is full, or what its user may have of it.
    pub fn is_disk_full(&self) -> bool {
        let causes = std::iter::successors(Some(self as &dyn std::error::Error), |error| error.source());
        causes
            .filter_map(|error| error.downcast_ref::<std::io::Error>())
            .any(|error| matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded))
    }
}

/// How many files are stored at the same time.
const TOGETHER: usize = 8;
/// How many of one account.
const TOGETHER_OF_ACCOUNT: usize = 2;

/// The least that a part of a file has in a bucket, the last one excepted.
const PART_OF_BUCKET: usize = 5 << 20;

/// What a part of a file has in a folder.
const PART_OF_FOLDER: usize = 1 << 20;

/// The content of a file, piece by piece.
pub type Pieces = BoxStream<'static, Result<Bytes, StorageError>>;

/// The place where files are kept. Cloning is cheap; the clones are the same place.
#[derive(Clone)]
pub struct Storage {
    store: Arc<dyn ObjectStore>,
    /// The folder, unless it is a bucket.
    folder: Option<Arc<std::path::Path>>,
    /// Of those who store files.
    turns: Turns<String>,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What object_store tells of a bucket is more than a log needs.
        formatter.debug_struct("Storage").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Storage {
    /// Opens the storage of these settings; a folder is made when it does not exist, a bucket must be there.
    pub fn open(settings: &Settings) -> Result<Self, StorageError> {
        let turns = Turns::new(TOGETHER, TOGETHER_OF_ACCOUNT);
        match Location::parse(&settings.url)? {
            Location::Folder(folder) => {
                folder::make(&folder).map_err(|source| StorageError::Folder { folder: folder.clone(), source })?;
                let store = LocalFileSystem::new_with_prefix(&folder).map_err(StorageError::Store)?;
                Ok(Self { store: Arc::new(store.with_fsync(true)), folder: Some(folder.into()), turns })
            }
            Location::Bucket { bucket, prefix } => {
                Ok(Self { store: bucket::open(settings, &bucket, &prefix)?, folder: None, turns })
            }
        }
    }

    /// Whether the storage is there; a bucket is taken for it.
    pub fn is_there(settings: &Settings) -> Result<bool, StorageError> {
        Ok(!matches!(Location::parse(&settings.url)?, Location::Folder(folder) if !folder.is_dir()))
    }

    /// Opens the storage to read from. A folder that is not there has no files, and is not made.
    pub fn open_to_read(settings: &Settings) -> Result<Self, StorageError> {
        if Self::is_there(settings)? {
            return Self::open(settings);
        }
        let turns = Turns::new(TOGETHER, TOGETHER_OF_ACCOUNT);
        Ok(Self { store: Arc::new(InMemory::new()), folder: None, turns })
    }

    /// Keeps a file. When this returns, the file is on disk whole; before that, nothing is seen of it. An earlier one
    /// of the same name is replaced.
    pub async fn put(&self, account: &str, token: &str, bytes: Bytes) -> Result<(), StorageError> {
        let key = key(account, token)?;
        self.store.put(&key, PutPayload::from(bytes)).await.map_err(failed)?;
        Ok(())
    }

    /// Keeps a file whose bytes come piece by piece, as [`Storage::put`] does; where it fails, nothing is left of it. Some
    /// files are stored at the same time, and others wait for their turn: parts of them are in memory.
    pub async fn put_stream(
        &self,
        account: &str,
        token: &str,
        pieces: impl Stream<Item = std::io::Result<Bytes>> + Unpin,
    ) -> Result<(), StorageError> {
        let key = key(account, token)?;
        let _turn = self.turns.take(account.to_owned()).await;
        let part = if self.folder.is_some() { PART_OF_FOLDER } else { PART_OF_BUCKET };
        parts::put(&*self.store, &key, part, pieces).await
    }

    /// The content of a file and its size, or a part of the content; a part ends at the end of the file at the latest.
    pub async fn get_stream(
        &self,
        account: &str,
        token: &str,
        part: Option<Range<u64>>,
    ) -> Result<(u64, Pieces), StorageError> {
        let key = key(account, token)?;
        if self.folder.is_none() {
            let size = self.store.head(&key).await.map_err(failed)?.size;
            let part = part.map_or(0..size, |part| part.start.min(size)..part.end.min(size));
            return Ok((size, bucket::pieces(Arc::clone(&self.store), key, part)));
        }
        let options = GetOptions { range: part.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.store.get_opts(&key, options).await.map_err(failed)?;
        let (size, part) = (found.meta.size, found.range.clone());
        let pieces = match found.payload {
            GetResultPayload::File(file, _) => folder::pieces(file, part),
            GetResultPayload::Stream(stream) => stream.map_err(StorageError::Store).boxed(),
        };
        Ok((size, pieces))
    }

    /// A part of a file at once; it ends at the end of the file at the latest.
    pub async fn get_range(&self, account: &str, token: &str, part: Range<u64>) -> Result<Bytes, StorageError> {
        let (_, pieces) = self.get_stream(account, token, Some(part)).await?;
        let pieces: Vec<Bytes> = pieces.try_collect().await?;
        Ok(match <[Bytes; 1]>::try_from(pieces) {
            Ok([piece]) => piece,
            Err(pieces) => pieces.concat().into(),
        })
    }

    /// The bytes of a file.
    pub async fn size(&self, account: &str, token: &str) -> Result<u64, StorageError> {
        let found = self.store.head(&key(account, token)?).await.map_err(failed)?;
        Ok(found.size)
    }

    /// Whether there is such a file.
    pub async fn exists(&self, account: &str, token: &str) -> Result<bool, StorageError> {
        match self.size(account, token).await {
            Ok(_) => Ok(true),
            Err(StorageError::Missing(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a file; that it is not there is no fault.
    pub async fn delete(&self, account: &str, token: &str) -> Result<(), StorageError> {
        match self.store.delete(&key(account, token)?).await.map_err(failed) {
            Ok(()) | Err(StorageError::Missing(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a file and, in a folder, what a crash left of it while it was received. The parts that a crash leaves in a
    /// bucket are for the bucket's own rules to remove.
    pub async fn discard(&self, account: &str, token: &str) -> Result<(), StorageError> {
        self.delete(account, token).await?;
        match &self.folder {
            Some(folder) => folder::remove_unfinished(folder, account, token)
                .await
                .map_err(|source| StorageError::Folder { folder: folder.to_path_buf(), source }),
            None => Ok(()),
        }
    }
}

fn check_name(name: &str) -> Result<(), StorageError> {
    if (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        Ok(())
    } else {
        Err(StorageError::Name(name.to_owned()))
    }
}

fn key(account: &str, token: &str) -> Result<Path, StorageError> {
    check_name(account)?;
    check_name(token)?;
    Ok(Path::from_iter([account, token]))
}

fn failed(error: object_store::Error) -> StorageError {
    match error {
        object_store::Error::NotFound { path, .. } => StorageError::Missing(path),
        error => StorageError::Store(error),
    }
}
