//! Keeps the body of an upload with an `Idempotency-Key` while its hash is made: the hash tells whether the request is the one
//! that the key belongs to, and has to be known before the handler runs.

use std::time::Duration;

use axum::body::Body;
use sha2::{Digest, Sha256};

use crate::http::{ApiError, extract};
use crate::render::content::Draft;
use crate::services::App;
use db::AccountId;

/// Reads a body of an account to its end; gives its hash, and the body again. A body that is too large is cut, and not read
/// where it announces that: the operation refuses it at its place in the order.
pub(in crate::http) async fn spool(
    app: &App,
    account: AccountId,
    mut body: Body,
) -> Result<([u8; 32], Body), ApiError> {
    let pause = Duration::from_secs(app.settings.body_timeout_seconds);
    let largest = super::largest_body(&app.settings);
    if http_body::Body::size_hint(&body).lower() > largest as u64 {
        return Ok(([0; 32], body));
    }
    let mut draft = Draft::new(app.budgets.clone(), account);
    let (mut hash, mut length) = (Sha256::new(), 0);
    while length <= largest
        && let Some(piece) = extract::next_piece(&mut body, pause).await?
    {
        length += piece.len();
        hash.update(&piece);
        draft.append(piece).await?;
    }
    Ok((hash.finalize().into(), draft.end()?.into()))
}
