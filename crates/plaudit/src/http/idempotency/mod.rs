//! `Idempotency-Key`: the first answer of a key is given again, byte for byte, for a day.
//!
//! - The answer of a write is kept in the transaction of the write, so that a crash between the two cannot make a
//!   repeated request act twice. Errors are kept after the fact: repeating them does no harm.
//! - A second request while the first still runs is refused. Where the first runs on another node, the second waits for
//!   its transaction and then finds its answer.
//! - The same key with another request (method, path, query, format, languages or body) is refused. The request is what
//!   the client sent, so that a retry finds its answer whatever became of the service meanwhile.
//! - An answer that is longer than [`LONGEST`] is not kept, nor is one for which the account has no room left: a repeat is
//!   409 with the address of what was done, and does nothing.
//! - Faults of ours, and requests that were refused for their rate, their key or a role, are not kept.

pub mod store;

use sha2::{Digest, Sha256};

use super::reply::Recorded;
use super::{ApiError, answer};
use crate::render::accept::Format;
use crate::services::RequestName;

/// The longest key.
pub const KEY_LENGTH: usize = 255;

/// The longest body of an answer that is kept, in bytes (contract, section 1).
pub const LONGEST: usize = 64 << 10;

/// A request that carries an idempotency key.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Which request it is.
    pub name: RequestName,
    /// The hash of everything that makes it this request.
    pub request: [u8; 32],
    /// The address of the record that it is about, or of the list that it adds to.
    pub location: String,
}

/// What stands in place of an answer that was forgotten, where nobody knows any more what it was about.
fn mark() -> Recorded {
    let mut mark = answer::record_error(&ApiError::AnswerNotKept(String::new()), Format::Json);
    mark.headers.retain(|(_, value)| !value.is_empty());
    mark
}

/// The hash of a request, over its parts with their lengths.
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
