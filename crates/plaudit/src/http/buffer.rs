//! Buffers of large answers, used again.
//!
//! A page of a list has some hundred kilobytes. Memory of that size goes back to the system when it is freed, and comes
//! back as empty pages that the system clears one by one as they are written; that costs more than the writing. So the
//! buffer of an answer that was sent is kept for the next one. The number and size of those that are kept are bounded.

use bytes::Bytes;
use parking_lot::Mutex;

/// The most buffers that are kept.
const KEPT: usize = 32;
/// The smallest buffer that is worth keeping, in bytes.
const SMALLEST: usize = 32 << 10;
/// The largest buffer that is kept, in bytes.
const LARGEST: usize = 1 << 20;

static FREE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer with room for so many bytes: one that was used before where there is one.
#[must_use]
pub(super) fn with_capacity(capacity: usize) -> Vec<u8> {
    if capacity < SMALLEST {
        return Vec::with_capacity(capacity);
    }
    let mut buffer = FREE.lock().pop().unwrap_or_default();
    buffer.reserve(capacity);
    buffer
}

/// The bytes of a buffer, whose memory is used again when they have been sent.
#[must_use]
pub(super) fn bytes(buffer: Vec<u8>) -> Bytes {
    if (SMALLEST..=LARGEST).contains(&buffer.capacity()) {
        Bytes::from_owner(Sent(buffer))
    } else {
        Bytes::from(buffer)
    }
}

/// A buffer that goes back when it is dropped.
struct Sent(Vec<u8>);

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.0);
        buffer.clear();
        let mut free = FREE.lock();
        if free.len() < KEPT {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_sent_comes_back_empty() {
        let mut buffer = with_capacity(SMALLEST);
        buffer.extend_from_slice(b"a page");
        let sent = bytes(buffer);
        let also = sent.clone();
        assert_eq!(sent, "a page");
        drop(sent);
        assert_eq!(also, "a page", "it goes back only when nobody reads it any more");
        drop(also);
        let again = with_capacity(SMALLEST);
        assert!(again.is_empty() && again.capacity() >= SMALLEST);
    }
}
