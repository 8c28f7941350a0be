//! The position of a list that is walked by cursor.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The longest text of a cursor.
const MAXIMUM_LENGTH: usize = 4096;
/// The bytes of the count in front of the position.
const COUNT_LENGTH: usize = 8;

/// Where a page begins: after a record, which the list describes in bytes of its own.
///
/// To the client it is opaque text. It also carries how many records came before, so that the envelope of a page
/// reached by cursor still tells its place. Nothing in it is secret and nothing of it is trusted: the list checks
/// the position as it would check any input, and a wrong count changes only the numbers shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The number of records on the pages before.
    pub rows_before: u64,
    /// The list's own description of the last record before; empty at the beginning of the list.
    pub position: Vec<u8>,
}

impl Cursor {
    /// The beginning of a list.
    #[must_use]
    pub const fn start() -> Self {
        Self { rows_before: 0, position: Vec::new() }
    }

    /// Whether this is the beginning of a list.
    #[must_use]
    pub fn is_start(&self) -> bool {
        self.position.is_empty()
    }

    /// The text of the cursor; empty at the beginning of a list.
    ///
    /// Positions are below 3 KB: a list that sorts by a long text keeps only its beginning in the position.
    #[must_use]
    pub fn encode(&self) -> String {
        if self.is_start() {
            return String::new();
        }
        let count = self.rows_before.to_be_bytes();
        URL_SAFE_NO_PAD.encode([&count[..], &self.position].concat())
    }

    /// The cursor of a text, when it is one.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::start());
        }
        if text.len() > MAXIMUM_LENGTH {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (count, position) = bytes.split_first_chunk::<COUNT_LENGTH>()?;
        let rows_before = u64::from_be_bytes(*count);
        let is_sound = !position.is_empty() && i64::try_from(rows_before).is_ok();
        is_sound.then(|| Self { rows_before, position: position.to_vec() })
    }
}
