//! Files that are being received.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload};
use tokio::task::JoinSet;

use super::{StorageError, failed};

/// The bytes that are held before a part is written; a bucket takes no smaller parts than this.
pub const PART: usize = 5 << 20;

/// How long parts of a file that is not kept may be on their way before it is taken back nevertheless: they are in memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// From how many bytes on a file is expected to be a large one.
const SMALL: usize = 256 << 10;

/// A file that is being received, and seen by nobody before it is whole. At most two parts of it are in memory. Dropped,
/// it leaves nothing behind.
pub struct Incoming {
    store: Arc<dyn ObjectStore>,
    key: Path,
    held: BytesMut,
    sent: Option<Sent>,
}

impl Incoming {
    pub(super) fn new(store: Arc<dyn ObjectStore>, key: Path) -> Self {
        Self { store, key, held: BytesMut::new(), sent: None }
    }

    /// Takes the next piece.
    pub async fn write(&mut self, mut piece: &[u8]) -> Result<(), StorageError> {
        while !piece.is_empty() {
            let (now, later) = piece.split_at(piece.len().min(PART - self.held.len()));
            if self.held.capacity() < PART && self.held.len() + now.len() > SMALL {
                // What grows by doubling would take up to three times as much.
                self.held.reserve(PART - self.held.len());
            }
            self.held.extend_from_slice(now);
            piece = later;
            if self.held.len() == PART {
                let sent = if let Some(sent) = &mut self.sent {
                    sent
                } else {
                    let upload = self.store.put_multipart(&self.key).await.map_err(failed)?;
                    self.sent.insert(Sent::new(upload))
                };
                // The part before this one is stored first, so that a fast client does not fill the memory.
                sent.finish_parts().await.map_err(failed)?;
                sent.send(std::mem::take(&mut self.held).freeze());
            }
        }
        Ok(())
    }

    /// Keeps the file. When this returns, it is stored whole; where it fails, nothing of it is left.
    pub async fn keep(mut self) -> Result<(), StorageError> {
        let held = std::mem::take(&mut self.held).freeze();
        // It stays where dropping finds it until it is complete.
        let Some(sent) = &mut self.sent else {
            // A small file is written at once.
            return self.store.put(&self.key, PutPayload::from(held)).await.map(drop).map_err(failed);
        };
        if !held.is_empty() {
            sent.send(held);
        }
        let outcome = match sent.finish_parts().await {
            Ok(()) => sent.upload.complete().await.map(drop),
            Err(error) => Err(error),
        };
        let sent = self.sent.take();
        if let (Some(sent), Err(_)) = (sent, &outcome) {
            sent.take_back().await;
        }
        outcome.map_err(failed)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let (Some(sent), Ok(runtime)) = (self.sent.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(sent.take_back());
        }
    }
}

/// What was sent of a file, part by part.
pub(super) struct Sent {
    upload: Box<dyn MultipartUpload>,
    parts: JoinSet<object_store::Result<()>>,
}

impl Sent {
    pub(super) fn new(upload: Box<dyn MultipartUpload>) -> Self {
        Self { upload, parts: JoinSet::new() }
    }

    /// Sends the next part beside what the caller does.
    pub(super) fn send(&mut self, part: Bytes) {
        self.parts.spawn(self.upload.put_part(PutPayload::from(part)));
    }

    /// Waits until no part is on its way any more; one that failed fails this.
    async fn finish_parts(&mut self) -> object_store::Result<()> {
        let mut outcome = Ok(());
        while let Some(part) = self.parts.join_next().await {
            outcome = outcome.and(part.unwrap_or_else(|source| Err(object_store::Error::JoinError { source })));
        }
        outcome
    }

    /// Removes every part.
    pub(super) async fn take_back(mut self) {
        // A server stores a part that it has received also after its upload was taken back, and then nobody but the
        // bucket's own rules removes it; whether a part failed does not matter here.
        if tokio::time::timeout(PATIENCE, self.finish_parts()).await.is_err() {
            self.parts.shutdown().await;
        }
        if let Err(error) = self.upload.abort().await {
            tracing::warn!(%error, "what was received of a file could not be removed");
        }
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Incoming").field(&self.key).finish()
    }
}
