//! Files that are stored part by part, as their bytes come.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, TryStreamExt as _};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload, PutPayloadMut};
use tokio::task::JoinSet;

use super::{StorageError, failed};

/// How long parts of a file that is not kept may be on their way before it is taken back nevertheless: they are in memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stores a file in parts of so many bytes, of which two are in memory; one that is no longer than a part is written at
/// once. Where this fails, nothing of the file is left.
pub(super) async fn put(
    store: &dyn ObjectStore,
    key: &Path,
    part: usize,
    mut pieces: impl Stream<Item = std::io::Result<Bytes>> + Unpin,
) -> Result<(), StorageError> {
    let mut held = PutPayloadMut::new();
    let mut sent: Option<Sent> = None;
    let stored = async {
        while let Some(mut piece) = pieces.try_next().await.map_err(StorageError::Read)? {
            while held.content_length() + piece.len() > part {
                held.push(piece.split_to(part - held.content_length()));
                let sent = match &mut sent {
                    Some(sent) => sent,
                    None => sent.insert(Sent::new(store.put_multipart(key).await.map_err(failed)?)),
                };
                // The part before this one is stored first.
                sent.finish_parts().await.map_err(failed)?;
                sent.send(std::mem::take(&mut held).freeze());
            }
            held.push(piece);
        }
        let Some(sent) = &mut sent else { return store.put(key, held.freeze()).await.map(drop).map_err(failed) };
        sent.send(held.freeze());
        sent.finish_parts().await.map_err(failed)?;
        sent.upload.complete().await.map(drop).map_err(failed)
    };
    let outcome = stored.await;
    if let (Some(sent), Err(_)) = (sent, &outcome) {
        sent.take_back().await;
    }
    outcome
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
    pub(super) fn send(&mut self, part: PutPayload) {
        self.parts.spawn(self.upload.put_part(part));
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
