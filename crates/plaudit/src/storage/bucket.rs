//! A bucket behind the interface of S3.
//!
//! - A bucket is addressed by path (`ENDPOINT/BUCKET/KEY`), which every server of the interface understands.
//! - Content is read by a request for each piece, two of them ahead: a slow client holds no connection to the bucket, and
//!   the time that a request may take is that of a piece, whatever the file's size is.
//! - Every request has an end, and one that failed is made again while that can help.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{StreamExt as _, iter};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};

use super::{Pieces, Settings, StorageError, failed};

/// Bytes that are read at once.
pub(super) const PIECE: u64 = 1 << 20;
/// Pieces that are read ahead.
const AHEAD: usize = 2;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a request may take, which sends one part or reads one piece.
const REQUEST: Duration = Duration::from_mins(1);
/// For how long a request that failed is made again.
const RETRY: Duration = Duration::from_mins(1);
/// How often.
const RETRIES: usize = 5;

/// Opens a bucket. Nothing is asked of it yet.
pub(super) fn open(settings: &Settings, bucket: &str, prefix: &str) -> Result<Arc<dyn ObjectStore>, StorageError> {
    // Without keys of its own the machine's role is used, which AWS tells by variables of its own.
    let builder = if settings.access_key_id.is_empty() {
        AmazonS3Builder::from_env()
    } else {
        AmazonS3Builder::new()
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(settings.secret_access_key.reveal())
    };
    let options = ClientOptions::new().with_connect_timeout(CONNECT).with_timeout(REQUEST);
    // Plain HTTP is for a server on the same machine or network, and only where its address says so.
    let options = options.with_allow_http(settings.endpoint.starts_with("http://"));
    let retry = RetryConfig { backoff: BackoffConfig::default(), max_retries: RETRIES, retry_timeout: RETRY };
    let mut builder = builder
        .with_bucket_name(bucket)
        .with_virtual_hosted_style_request(false)
        // One file is removed at a time, and not every server knows how to remove many.
        .with_disable_bulk_delete(true)
        .with_client_options(options)
        .with_retry(retry);
    if !settings.region.is_empty() {
        builder = builder.with_region(&settings.region);
    }
    if !settings.endpoint.is_empty() {
        builder = builder.with_endpoint(settings.endpoint.trim_end_matches('/'));
    }
    // A second installation is refused and would be the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = builder.build().map_err(StorageError::Store)?;
    Ok(if prefix.is_empty() { Arc::new(store) } else { Arc::new(PrefixStore::new(store, prefix)) })
}

/// Reads a part of a file.
pub(super) fn pieces(store: Arc<dyn ObjectStore>, key: Path, part: Range<u64>) -> Pieces {
    let end = part.end;
    let starts = std::iter::successors(Some(part.start), |start| start.checked_add(PIECE));
    let parts = starts.take_while(move |start| *start < end).map(move |start| start..end.min(start + PIECE));
    let read = move |part: Range<u64>| {
        let (store, key) = (Arc::clone(&store), key.clone());
        async move {
            let (wanted, name) = (part.end - part.start, key.to_string());
            let piece = store.get_range(&key, part).await.map_err(failed)?;
            // A file that has become shorter fails here, and the answer breaks off instead of ending early.
            match piece.len() as u64 {
                actual if actual == wanted => Ok(piece),
                actual => Err(StorageError::Length { name, actual, expected: wanted }),
            }
        }
    };
    iter(parts).map(read).buffered(AHEAD).boxed()
}
