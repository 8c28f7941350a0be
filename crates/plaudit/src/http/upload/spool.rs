//! Keeps the body of an upload with an `Idempotency-Key` in the spool while its hash is made: the hash tells whether the
//! request is the one that the key belongs to, and has to be known before the handler runs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use sha2::{Digest, Sha256};

use crate::http::{ApiError, extract};
use crate::services::App;
use db::AccountId;

/// Reads a body of an account to its end; gives its hash, and the body again. A body that is too large is cut: the
/// operation refuses it at its place in the order.
pub(in crate::http) async fn spool(
    app: &App,
    account: AccountId,
    mut body: Body,
) -> Result<([u8; 32], Body), ApiError> {
    let pause = Duration::from_secs(app.settings.body_timeout_seconds);
    let largest = super::largest_body(&app.settings) as u64;
    let mut file = app.budgets.spool(account, false)?;
    let mut hash = Sha256::new();
    while file.len() <= largest
        && let Some(piece) = extract::next_piece(&mut body, pause).await?
    {
        hash.update(&piece);
        let written = tokio::task::spawn_blocking(move || file.write(&piece).map(|()| file)).await;
        file = written.map_err(|error| ApiError::Internal(format!("an upload could not be kept: {error}")))??;
    }
    Ok((hash.finalize().into(), Body::from_stream(Arc::new(file).pieces())))
}
