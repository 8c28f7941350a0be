//! The bytes of files: attachments, documents, images.
//!
//! A file is kept under `<account slug>/<token>`. Both are ASCII letters and nothing else, so that no name can lead
//! out of the storage; a name that is not is refused here, wherever it came from. The content under a token is never
//! changed by the service: a new upload has a new token.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{BoxStream, StreamExt as _, TryStreamExt as _, try_unfold};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, GetResultPayload, ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart,
};

/// Bytes that are read from a file at once: one trip to the thread pool each.
const PIECE: usize = 256 * 1024;

/// What can go wrong with files.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The storage address is not one.
    #[error("{0:?} is no storage address; allowed is file:DIRECTORY")]
    Address(String),
    /// The storage address is of a kind that this build does not have.
    #[error("storage in {0} is not supported by this build; allowed is file:DIRECTORY")]
    Unsupported(&'static str),
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
    /// The store failed.
    #[error("the file storage failed: {0}")]
    Store(#[source] object_store::Error),
}

/// A storage address, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// `file:DIRECTORY`.
    Folder(PathBuf),
    /// `s3://BUCKET/PREFIX`.
    Bucket {
        /// The bucket.
        bucket: String,
        /// What the keys begin with, without slashes at the ends.
        prefix: String,
    },
}

impl Location {
    /// Parses `file:DIRECTORY`, `file:///DIRECTORY` or `s3://BUCKET/PREFIX`.
    pub fn parse(url: &str) -> Result<Self, StorageError> {
        let wrong = || StorageError::Address(url.to_owned());
        if let Some(rest) = url.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(wrong());
            }
            return Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() });
        }
        let folder = url.strip_prefix("file:").ok_or_else(wrong)?;
        let folder = match folder.strip_prefix("//") {
            Some(absolute) if absolute.starts_with('/') => absolute,
            Some(_) => return Err(wrong()),
            None => folder,
        };
        if folder.is_empty() || folder.contains('\0') { Err(wrong()) } else { Ok(Self::Folder(PathBuf::from(folder))) }
    }

    /// Fails for a location that this build cannot reach.
    pub fn supported(&self) -> Result<(), StorageError> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Bucket { .. } => Err(StorageError::Unsupported("s3")),
        }
    }
}

/// The content of a file, piece by piece.
pub type Pieces = BoxStream<'static, Result<Bytes, StorageError>>;

/// A file as [`Storage::list`] names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its token.
    pub token: String,
    /// Bytes.
    pub size: u64,
}

/// The place where files are kept. Cloning is cheap; the clones are the same place.
#[derive(Clone, Debug)]
pub struct Storage {
    store: Arc<dyn ObjectStore>,
}

impl Storage {
    /// Opens the storage at an address; a folder is made when it does not exist.
    pub fn open(url: &str) -> Result<Self, StorageError> {
        match Location::parse(url)? {
            Location::Folder(folder) => Self::folder(&folder),
            location @ Location::Bucket { .. } => {
                location.supported()?;
                Err(StorageError::Address(url.to_owned()))
            }
        }
    }

    fn folder(folder: &FilePath) -> Result<Self, StorageError> {
        make_folder(folder).map_err(|source| StorageError::Folder { folder: folder.to_owned(), source })?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(StorageError::Store)?;
        Ok(Self { store: Arc::new(store.with_fsync(true)) })
    }

    /// Keeps a file. When this returns, the file is on disk whole; before that, nothing is seen of it. An earlier one
    /// of the same name is replaced.
    pub async fn put(&self, account: &str, token: &str, bytes: Bytes) -> Result<(), StorageError> {
        let key = key(account, token)?;
        self.store.put(&key, PutPayload::from(bytes)).await.map_err(failed)?;
        Ok(())
    }

    /// Begins a file of this name whose bytes come piece by piece.
    pub fn receive(&self, account: &str, token: &str) -> Result<Incoming, StorageError> {
        let key = key(account, token)?;
        Ok(Incoming { store: Arc::clone(&self.store), key, held: BytesMut::new(), sent: None })
    }

    /// The content of a file and its size, or a part of the content; a part ends at the end of the file at the latest.
    pub async fn get_stream(
        &self,
        account: &str,
        token: &str,
        part: Option<Range<u64>>,
    ) -> Result<(u64, Pieces), StorageError> {
        let key = key(account, token)?;
        let options = GetOptions { range: part.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.store.get_opts(&key, options).await.map_err(failed)?;
        let (size, part) = (found.meta.size, found.range.clone());
        let pieces = match found.payload {
            GetResultPayload::File(file, _) => pieces(file, part),
            GetResultPayload::Stream(stream) => stream.map_err(StorageError::Store).boxed(),
        };
        Ok((size, pieces))
    }

    /// A part of a file at once; it ends at the end of the file at the latest.
    pub async fn get_range(&self, account: &str, token: &str, part: Range<u64>) -> Result<Bytes, StorageError> {
        self.store.get_range(&key(account, token)?, part).await.map_err(failed)
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

    /// The files of an account, in no order. What is not a file of ours is passed over.
    pub fn list(&self, account: &str) -> Result<BoxStream<'static, Result<Stored, StorageError>>, StorageError> {
        check_name(account)?;
        let found = self.store.list(Some(&Path::from(account)));
        let stored = found.map_err(StorageError::Store).try_filter_map(|meta| async move {
            let token = meta.location.filename().filter(|token| check_name(token).is_ok());
            Ok(token.map(|token| Stored { token: token.to_owned(), size: meta.size }))
        });
        Ok(stored.boxed())
    }
}

/// The bytes that are held before a part is written; a bucket takes no smaller parts than this.
const PART: usize = 5 << 20;

/// A file that is being received, and seen by nobody before it is whole. At most two parts of it are in memory. Dropped,
/// it leaves nothing behind.
pub struct Incoming {
    store: Arc<dyn ObjectStore>,
    key: Path,
    held: BytesMut,
    sent: Option<WriteMultipart>,
}

impl Incoming {
    /// Takes the next piece.
    pub async fn write(&mut self, mut piece: &[u8]) -> Result<(), StorageError> {
        while !piece.is_empty() {
            let (now, later) = piece.split_at(piece.len().min(PART - self.held.len()));
            self.held.extend_from_slice(now);
            piece = later;
            if self.held.len() == PART {
                let sent = if let Some(sent) = &mut self.sent {
                    sent
                } else {
                    let upload = self.store.put_multipart(&self.key).await.map_err(failed)?;
                    self.sent.insert(WriteMultipart::new_with_chunk_size(upload, PART))
                };
                // The part before this one is on disk first, so that a fast client does not fill the memory.
                sent.wait_for_capacity(1).await.map_err(failed)?;
                sent.put(std::mem::take(&mut self.held).freeze());
            }
        }
        Ok(())
    }

    /// Keeps the file. When this returns, it is on disk whole.
    pub async fn keep(mut self) -> Result<(), StorageError> {
        let held = std::mem::take(&mut self.held).freeze();
        match self.sent.take() {
            // A small file is written at once.
            None => self.store.put(&self.key, PutPayload::from(held)).await.map(drop).map_err(failed),
            Some(mut sent) => {
                sent.put(held);
                sent.finish().await.map(drop).map_err(failed)
            }
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let (Some(sent), Ok(runtime)) = (self.sent.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = sent.abort().await {
                    tracing::warn!(%error, "what was received of a file could not be removed");
                }
            });
        }
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Incoming").field(&self.key).finish()
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

/// Makes a folder that outlives a power cut: the folder above it is synced too.
fn make_folder(folder: &FilePath) -> std::io::Result<()> {
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
fn pieces(file: File, part: Range<u64>) -> Pieces {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn storage() -> (tempfile::TempDir, Storage) {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&format!("file:{}", folder.path().join("a/b").display())).unwrap();
        (folder, storage)
    }

    async fn whole(pieces: Pieces) -> Vec<u8> {
        pieces
            .try_fold(Vec::new(), |mut all, piece| async move {
                Ok({
                    all.extend(piece);
                    all
                })
            })
            .await
            .unwrap()
    }

    #[test]
    fn addresses_are_parsed() {
        let folder = |path: &str| Location::Folder(PathBuf::from(path));
        assert_eq!(Location::parse("file:./files").unwrap(), folder("./files"));
        assert_eq!(Location::parse("file:/var/files").unwrap(), folder("/var/files"));
        assert_eq!(Location::parse("file:///var/files").unwrap(), folder("/var/files"));
        let bucket = Location::Bucket { bucket: "b".to_owned(), prefix: "p/q".to_owned() };
        assert_eq!(Location::parse("s3://b/p/q/").unwrap(), bucket);
        for wrong in ["", "files", "file:", "file://host/x", "s3://", "s3:///p", "gs://b"] {
            assert!(Location::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Storage::open("s3://b").unwrap_err().to_string().contains("not supported by this build"));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let message = Storage::open("file:/dev/null/files").unwrap_err().to_string();
        assert!(message.contains("/dev/null/files"), "{message}");
    }

    #[tokio::test]
    async fn a_file_is_kept_read_listed_and_removed() {
        let (_folder, storage) = storage();
        let content: Vec<u8> = (0..PIECE * 2 + 17).map(|at| u8::try_from(at % 251).unwrap()).collect();
        assert!(!storage.exists("Account", "Token").await.unwrap());
        storage.put("Account", "Token", Bytes::from_static(b"first")).await.unwrap();
        storage.put("Account", "Token", Bytes::from(content.clone())).await.unwrap();
        storage.put("Account", "Other", Bytes::new()).await.unwrap();
        storage.put("Bccount", "Token", Bytes::new()).await.unwrap();
        assert_eq!(storage.size("Account", "Token").await.unwrap(), content.len() as u64);
        let (size, pieces) = storage.get_stream("Account", "Token", None).await.unwrap();
        assert_eq!((size, whole(pieces).await), (content.len() as u64, content.clone()));
        let (_, pieces) = storage.get_stream("Account", "Token", Some(5..PIECE as u64 + 9)).await.unwrap();
        assert_eq!(whole(pieces).await, content[5..PIECE + 9]);
        let end = storage.get_range("Account", "Token", PIECE as u64 * 2..u64::MAX).await.unwrap();
        assert_eq!(end, content[PIECE * 2..]);
        let (size, pieces) = storage.get_stream("Account", "Other", None).await.unwrap();
        assert_eq!((size, whole(pieces).await), (0, Vec::new()));
        let mut listed: Vec<Stored> = storage.list("Account").unwrap().try_collect().await.unwrap();
        listed.sort_by(|left, right| left.token.cmp(&right.token));
        let expected = [("Other", 0), ("Token", content.len() as u64)];
        assert_eq!(listed, expected.map(|(token, size)| Stored { token: token.to_owned(), size }));
        storage.delete("Account", "Token").await.unwrap();
        storage.delete("Account", "Token").await.unwrap();
        assert!(!storage.exists("Account", "Token").await.unwrap());
        let missing = storage.get_stream("Account", "Token", None).await;
        assert!(matches!(missing.err().unwrap(), StorageError::Missing(_)));
        let nothing: Vec<Stored> = storage.list("Nobody").unwrap().try_collect().await.unwrap();
        assert!(nothing.is_empty());
    }

    #[tokio::test]
    async fn an_unfinished_upload_is_not_listed() {
        let (folder, storage) = storage();
        storage.put("Account", "Token", Bytes::from_static(b"x")).await.unwrap();
        std::fs::write(folder.path().join("a/b/Account/Token#1"), "half").unwrap();
        std::fs::write(folder.path().join("a/b/Account/.hidden"), "other").unwrap();
        let listed: Vec<Stored> = storage.list("Account").unwrap().try_collect().await.unwrap();
        assert_eq!(listed.len(), 1);
        storage.put("Account", "Token", Bytes::from_static(b"yes")).await.unwrap();
        assert_eq!(storage.size("Account", "Token").await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_file_that_is_received_is_seen_when_it_is_whole() {
        let (folder, storage) = storage();
        let content: Vec<u8> = (0..2 * PART + 17).map(|at| u8::try_from(at % 251).unwrap()).collect();
        for length in [0, 3, PART, PART + 1, content.len()] {
            let mut incoming = storage.receive("Account", "Token").unwrap();
            for piece in content[..length].chunks(PART / 2 + 1) {
                incoming.write(piece).await.unwrap();
            }
            assert!(!storage.exists("Account", "Token").await.unwrap());
            incoming.keep().await.unwrap();
            let (size, pieces) = storage.get_stream("Account", "Token", None).await.unwrap();
            assert_eq!(size, length as u64);
            assert!(whole(pieces).await == content[..length]);
            storage.delete("Account", "Token").await.unwrap();
        }
        assert_eq!(std::fs::read_dir(folder.path().join("a/b/Account")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_file_that_is_not_kept_leaves_nothing() {
        let (folder, storage) = storage();
        let mut incoming = storage.receive("Account", "Token").unwrap();
        incoming.write(&vec![1; 2 * PART + 1]).await.unwrap();
        let files = || std::fs::read_dir(folder.path().join("a/b/Account")).unwrap().count();
        assert_eq!(files(), 1);
        drop(incoming);
        while files() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(storage.receive("..", "Token").is_err());
    }

    #[tokio::test]
    async fn names_cannot_lead_out() {
        let (_folder, storage) = storage();
        for name in ["", ".", "..", "a/b", "../x", "a\\b", "a.b", "a1", "é", "a\0", "%2e", &"a".repeat(65)] {
            let refused = storage.put(name, "Token", Bytes::new()).await.unwrap_err();
            assert!(matches!(refused, StorageError::Name(_)), "{name}");
            let refused = storage.put("Account", name, Bytes::new()).await.unwrap_err();
            assert!(matches!(refused, StorageError::Name(_)), "{name}");
            assert!(storage.list(name).is_err(), "{name}");
        }
    }
}
