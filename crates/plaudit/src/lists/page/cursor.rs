//! The position of a list that is walked by cursor.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The longest text of a cursor.
pub(super) const MAXIMUM_LENGTH: usize = 4096;
/// The bytes of the seal, and of the count between it and the position.
const PART_LENGTH: usize = 8;

/// What is walked: a list with its filters and sort. The cursors of one walk are none of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walk([u8; PART_LENGTH]);

impl Walk {
    /// The walk that this text describes.
    pub fn of(described: &str) -> Self {
        Self(first_of(&Sha256::digest(described)))
    }

    /// What tells that a cursor is of this walk and whole. It needs no secret: nothing of a cursor is trusted.
    fn seal(self, rest: &[u8]) -> [u8; PART_LENGTH] {
        first_of(&Sha256::new().chain_update(self.0).chain_update(rest).finalize())
    }
}

fn first_of(hash: &[u8]) -> [u8; PART_LENGTH] {
    hash.first_chunk().copied().unwrap_or_default()
}

/// Where a page begins: after a record, which the list describes in bytes of its own.
///
/// To the client it is opaque text. It also carries how many records came before, so that the envelope of a page
/// reached by cursor still tells its place, and a seal of the walk that it is of. Nothing in it is secret and nothing of
/// it is trusted: the list checks the position as it would check any input, and a wrong count changes only the numbers
/// shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The number of records on the pages before.
    pub rows_before: u64,
    /// The list's own description of the last record before; empty at the beginning of the list.
    pub position: Vec<u8>,
}

impl Cursor {
    /// Whether this is the beginning of a list.
    pub fn is_start(&self) -> bool {
        self.position.is_empty()
    }

    /// The text of the cursor in a walk; empty at the beginning of a list.
    ///
    /// Positions are below 3 KB: a list that sorts by a long text keeps only its beginning in the position.
    pub fn encode(&self, walk: Walk) -> String {
        if self.is_start() {
            return String::new();
        }
        let rest = [&self.rows_before.to_be_bytes()[..], &self.position].concat();
        URL_SAFE_NO_PAD.encode([&walk.seal(&rest)[..], &rest].concat())
    }

    /// The cursor of a text, when it is one of this walk.
    pub fn decode(text: &str, walk: Walk) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        if text.len() > MAXIMUM_LENGTH {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (seal, rest) = bytes.split_first_chunk::<PART_LENGTH>()?;
        let (count, position) = rest.split_first_chunk::<PART_LENGTH>()?;
        let rows_before = u64::from_be_bytes(*count);
        let is_sound = *seal == walk.seal(rest) && !position.is_empty() && i64::try_from(rows_before).is_ok();
        is_sound.then(|| Self { rows_before, position: position.to_vec() })
    }
}
