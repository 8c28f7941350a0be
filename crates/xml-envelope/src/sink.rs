//! The end of the output, with room beyond it.

/// Short pieces are copied as a block of this size, of which only the piece counts: a copy of fixed length is a few
/// instructions, while one of any length is a call.
pub(crate) const BLOCK: usize = 32;

/// How much room is made at once.
const ROOM: usize = 512;

/// A writer that keeps the vector longer than what is written, so that most writes need no growth.
pub(crate) struct Sink<'o> {
    out: &'o mut Vec<u8>,
    /// Where the next byte goes; what lies beyond is void.
    at: usize,
}

impl<'o> Sink<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        let at = out.len();
        Self { out, at }
    }

    /// Cuts off the room.
    pub(crate) fn finish(self) {
        self.out.truncate(self.at);
    }

    /// Lets something else append.
    pub(crate) fn outside(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.out.truncate(self.at);
        append(self.out);
        self.at = self.out.len();
    }

    /// Lets a writer append up to `length` bytes.
    #[inline]
    pub(crate) fn fill<R>(&mut self, length: usize, write: impl FnOnce(&mut Room<'_>) -> R) -> R {
        if self.out.len() - self.at < length {
            self.grow(length);
        }
        let mut room = Room { bytes: &mut self.out[self.at..], used: 0 };
        let result = write(&mut room);
        self.at += room.used;
        result
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize) {
        self.out.resize(self.at + length + ROOM, 0);
    }
}

/// Room for some bytes. It lives in registers, where the sink does not.
pub(crate) struct Room<'r> {
    bytes: &'r mut [u8],
    used: usize,
}

impl Room<'_> {
    /// How many bytes fit.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Appends the low `length` bytes of a word, at most eight; needs room for eight.
    #[inline]
    pub(crate) fn word(&mut self, word: u64, length: usize) {
        self.bytes[self.used..self.used + 8].copy_from_slice(&word.to_le_bytes());
        self.used += length;
    }

    /// Appends a byte.
    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes[self.used] = byte;
        self.used += 1;
    }

    /// Appends bytes of any number.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Appends the first `length` bytes; that there are more of them helps. Needs room for a block.
    #[inline]
    pub(crate) fn start_of(&mut self, bytes: &[u8], length: usize) {
        match bytes.first_chunk::<BLOCK>() {
            Some(block) if length <= BLOCK => {
                self.bytes[self.used..self.used + BLOCK].copy_from_slice(block);
                self.used += length;
            }
            _ => self.bytes(&bytes[..length]),
        }
    }

    /// What [`Room::replaced`] needs.
    pub(crate) const REPLACED: usize = 72;

    /// Appends what the table has for each of the low `count` bytes of a word; an entry holds its length at the top.
    #[inline]
    pub(crate) fn replaced(&mut self, word: u64, count: usize, table: &[u64; 256]) {
        let room = &mut self.bytes[self.used..self.used + Self::REPLACED];
        let mut written = 0;
        let mut ends = [0; 9];
        // All eight are written and only some of them count: that is quicker than to stop.
        for (index, byte) in word.to_le_bytes().into_iter().enumerate() {
            let entry = table[usize::from(byte)];
            // Eight entries have 40 bytes at most; the mask only spares the check.
            let start = written & 63;
            room[start..start + 8].copy_from_slice(&entry.to_le_bytes());
            written += (entry >> 56) as usize;
            ends[index + 1] = written;
        }
        self.used += ends[count];
    }
}
