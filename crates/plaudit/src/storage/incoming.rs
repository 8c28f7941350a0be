//! Files that are being received.

use std::sync::Arc;

use bytes::BytesMut;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart};

use super::{StorageError, failed};

/// The bytes that are held before a part is written; a bucket takes no smaller parts than this.
pub const PART: usize = 5 << 20;

/// From how many bytes on a file is expected to be a large one.
const SMALL: usize = 256 << 10;

/// A file that is being received, and seen by nobody before it is whole. At most two parts of it are in memory. Dropped,
/// it leaves nothing behind.
pub struct Incoming {
    store: Arc<dyn ObjectStore>,
    key: Path,
    held: BytesMut,
    sent: Option<WriteMultipart>,
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
                    self.sent.insert(WriteMultipart::new_with_chunk_size(upload, PART))
                };
                // The part before this one is stored first, so that a fast client does not fill the memory.
                sent.wait_for_capacity(1).await.map_err(failed)?;
                sent.put(std::mem::take(&mut self.held).freeze());
            }
        }
        Ok(())
    }

    /// Keeps the file. When this returns, it is stored whole; where it fails, nothing of it is left.
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
            runtime.spawn(abort(sent));
        }
    }
}

async fn abort(sent: WriteMultipart) {
    if let Err(error) = sent.abort().await {
        tracing::warn!(%error, "what was received of a file could not be removed");
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Incoming").field(&self.key).finish()
    }
}
