//! Buffers of answers, used again.
//!
//! Memory of some size goes back to the system when it is freed, and comes back as empty pages that the system clears one
//! by one as they are written; that costs more than the writing. So the buffer of an answer that was sent is kept for a
//! later one. Those that are kept have one of two sizes and are bounded in number, so that any of them serves and none has
//! to grow.

use bytes::Bytes;
use parking_lot::Mutex;

/// The sizes of the buffers that are kept, in bytes: one for a short record, one for a piece of a list.
const SIZES: [usize; 2] = [16 << 10, PIECE];
/// The most buffers of each size that are kept while nobody uses them: some MiB, more than the pages that are written at
/// once on the processors of a node.
const KEPT: [usize; 2] = [32, 256];
/// How much a piece of a list takes, in bytes.
pub(super) const PIECE: usize = 64 << 10;
/// A buffer of a piece that is so many times as large as what it holds is too wide for it.
const WIDE: usize = 4;

static FREE: [Mutex<Vec<Vec<u8>>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

/// An empty buffer with room for so many bytes: one that was used before where there is one.
pub(super) fn with_capacity(capacity: usize) -> Vec<u8> {
    match SIZES.iter().position(|size| capacity <= *size) {
        Some(size) => {
            // Nobody waits for the lock while memory is cleared.
            let used = FREE[size].lock().pop();
            used.unwrap_or_else(|| Vec::with_capacity(SIZES[size]))
        }
        None => Vec::with_capacity(capacity),
    }
}

/// Which of the sizes a buffer of this capacity has.
fn size(capacity: usize) -> Option<usize> {
    SIZES.iter().position(|size| *size == capacity)
}

/// The bytes of a buffer, whose memory is used again when they have been sent. What takes little of a piece leaves it at
/// once.
pub(super) fn bytes(buffer: Vec<u8>) -> Bytes {
    let capacity = buffer.capacity();
    match size(capacity) {
        None => Bytes::from(buffer),
        Some(1) if buffer.len() < capacity / WIDE => Bytes::copy_from_slice(Sent(buffer).as_ref()),
        Some(_) => Bytes::from_owner(Sent(buffer)),
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
        let Some(size) = size(buffer.capacity()) else { return };
        buffer.clear();
        let mut free = FREE[size].lock();
        if free.len() < KEPT[size] {
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
            buffer.resize(wanted / 2, b' ');
            let sent = bytes(buffer);
            assert_eq!(sent.len(), wanted / 2);
            let also = sent.clone();
            drop(sent);
            assert_eq!(also.len(), wanted / 2, "it goes back only when nobody reads it any more");
            drop(also);
            let again = with_capacity(wanted);
            assert!(again.is_empty() && again.capacity() == wanted);
        }
    }

    #[test]
    fn a_buffer_that_had_to_grow_is_not_kept() {
        let mut buffer = with_capacity(PIECE);
        buffer.resize(PIECE + 1, b' ');
        drop(bytes(buffer));
        assert!(FREE.iter().zip(SIZES).all(|(free, size)| free.lock().iter().all(|kept| kept.capacity() == size)));
        assert!(with_capacity(PIECE + 1).capacity() > PIECE);
    }

    #[test]
    fn what_takes_little_of_a_piece_leaves_it() {
        let mut buffer = with_capacity(PIECE);
        buffer.extend_from_slice(b"a short page");
        assert_eq!(&*bytes(buffer), b"a short page");
    }
}
