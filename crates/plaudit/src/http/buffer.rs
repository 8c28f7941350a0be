//! Buffers of large answers, used again.
//!
//! A page of a list has some hundred kilobytes, a record some. Memory of such a size goes back to the system when it is
//! freed, and comes back as empty pages that the system clears one by one as they are written; that costs more than the
//! writing. So the buffer of an answer that was sent is kept for the next one of its size. The number and size of those
//! that are kept are bounded.

use bytes::Bytes;
use parking_lot::Mutex;

/// The most buffers of each size that are kept.
const KEPT: usize = 32;
/// The smallest buffers of each size, in bytes; of the first size all have so many.
const SIZES: [usize; 2] = [16 << 10, 32 << 10];
/// A buffer that is so many times as large as what it holds is too wide for it. One that has grown by doubling is not.
const WIDE: usize = 4;
/// The largest buffer that is kept, in bytes.
const LARGEST: usize = 1 << 20;

static FREE: [Mutex<Vec<Vec<u8>>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

/// An empty buffer with room for so many bytes: one that was used before where there is one.
#[must_use]
pub(super) fn with_capacity(capacity: usize) -> Vec<u8> {
    let size = usize::from(capacity > SIZES[0]);
    let mut buffer = FREE[size].lock().pop().unwrap_or_default();
    buffer.reserve(capacity.max(SIZES[size]));
    buffer
}

/// The size that a buffer of this capacity is kept among.
fn size(capacity: usize) -> Option<usize> {
    match capacity {
        capacity if capacity == SIZES[0] => Some(0),
        capacity if (SIZES[1]..=LARGEST).contains(&capacity) => Some(1),
        _ => None,
    }
}

/// The bytes of a buffer, whose memory is used again when they have been sent. What takes little of a large buffer
/// leaves it at once.
#[must_use]
pub(super) fn bytes(buffer: Vec<u8>) -> Bytes {
    let (size, is_wide) = (size(buffer.capacity()), buffer.len() < buffer.capacity() / WIDE);
    match size {
        None => Bytes::from(buffer),
        Some(1) if is_wide => Bytes::copy_from_slice(Sent(buffer).as_ref()),
        Some(_) => Bytes::from_owner(Sent(buffer)),
    }
}

/// The bytes of an answer that is kept: they hold no buffer that is too wide.
#[must_use]
pub(super) fn lasting(bytes: &Bytes) -> Bytes {
    if bytes.len() < SIZES[1] { Bytes::copy_from_slice(bytes) } else { bytes.clone() }
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
        let Some(size) = size(buffer.capacity()) else { return };
        buffer.clear();
        let mut free = FREE[size].lock();
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
        for wanted in SIZES {
            let mut buffer = with_capacity(wanted);
            buffer.extend_from_slice(b"an answer");
            let sent = bytes(buffer);
            let also = sent.clone();
            assert_eq!(sent, "an answer");
            drop(sent);
            assert_eq!(also, "an answer", "it goes back only when nobody reads it any more");
            drop(also);
            let again = with_capacity(wanted);
            assert!(again.is_empty() && again.capacity() >= wanted);
        }
    }

    #[test]
    fn what_is_kept_holds_no_buffer_that_is_much_larger() {
        let mut buffer = with_capacity(LARGEST);
        buffer.extend_from_slice(b"a short page");
        let memory = buffer.as_ptr();
        assert_ne!(bytes(buffer).as_ptr(), memory);
        let mut buffer = with_capacity(LARGEST);
        buffer.resize(LARGEST / WIDE, b' ');
        let memory = buffer.as_ptr();
        assert_eq!(lasting(&bytes(buffer)).as_ptr(), memory, "a long one is not copied");
        let mut buffer = with_capacity(1);
        buffer.extend_from_slice(b"a record");
        let memory = buffer.as_ptr();
        let sent = bytes(buffer);
        assert_eq!(sent.as_ptr(), memory);
        assert_ne!(lasting(&sent).as_ptr(), memory);
    }
}
