//! Keeps the body of an upload with an `Idempotency-Key` on disk while its hash is made: the hash tells whether the
//! request is the one that the key belongs to, and has to be known before the handler runs.

use std::io::SeekFrom;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use crate::http::{ApiError, extract};
use crate::services::Settings;

/// The bytes that are read back at once.
const PIECE: usize = 64 * 1024;

/// Reads a body to its end; gives its hash, and the body again. A body that is too large is cut: the operation refuses
/// it at its place in the order.
pub(in crate::http) async fn spool(mut body: Body, settings: &Settings) -> Result<([u8; 32], Body), ApiError> {
    let failed = |error: std::io::Error| ApiError::Internal(format!("an upload could not be kept: {error}"));
    let pause = Duration::from_secs(settings.body_timeout_seconds);
    let largest = super::largest_body(settings);
    let mut file = File::from_std(tempfile::tempfile().map_err(failed)?);
    let mut hash = Sha256::new();
    let mut length = 0_usize;
    while length <= largest
        && let Some(piece) = extract::next_piece(&mut body, pause).await?
    {
        hash.update(&piece);
        file.write_all(&piece).await.map_err(failed)?;
        length = length.saturating_add(piece.len());
    }
    file.flush().await.map_err(failed)?;
    file.seek(SeekFrom::Start(0)).await.map_err(failed)?;
    let pieces = try_unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok::<_, std::io::Error>((length > 0).then(|| (Bytes::from(piece), file)))
    });
    Ok((hash.finalize().into(), Body::from_stream(pieces)))
}
