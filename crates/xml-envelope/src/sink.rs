//! The end of the output, with room beyond it.

/// Short pieces are copied as a block of this size, of which only the piece counts: a copy of fixed length is a few
/// instructions, while one of any length is a call.
const BLOCK: usize = 32;

/// How much room is made at once.
const ROOM: usize = 512;

/// A writer that keeps the vector longer than what is written, so that most writes need no growth.
pub(crate) struct Sink<'o> {
    out: &'o mut Vec<u8>,
    /// Where the next byte goes; what lies beyond is void.
    at: usize,
}

/// Bytes of which the first ones count; that there are more of them helps to copy these.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'b> {
    bytes: &'b [u8],
    length: usize,
}

impl<'b> Piece<'b> {
    /// The first `length` bytes.
    #[inline]
    pub(crate) fn new(bytes: &'b [u8], length: usize) -> Self {
        Self { bytes, length }
    }

    #[inline]
    pub(crate) fn bytes(self) -> &'b [u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    fn block(self) -> Option<&'b [u8; BLOCK]> {
        self.bytes.first_chunk().filter(|_| self.length <= BLOCK)
    }
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

    /// Appends bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Appends a tag: the bytes before its name, the name, and the bytes behind.
    #[inline]
    pub(crate) fn tag(&mut self, before: &[u8], name: Piece<'_>, behind: &[u8]) {
        let Some(block) = name.block() else {
            return [before, name.bytes(), behind].into_iter().for_each(|bytes| self.bytes(bytes));
        };
        let room = self.room(before.len() + BLOCK + behind.len());
        let end = before.len() + name.length;
        room[..before.len()].copy_from_slice(before);
        room[before.len()..before.len() + BLOCK].copy_from_slice(block);
        room[end..end + behind.len()].copy_from_slice(behind);
        self.at += end + behind.len();
    }

    /// Appends an element: its name, and what stands between the tags.
    #[inline]
    pub(crate) fn element(&mut self, name: Piece<'_>, text: Piece<'_>) {
        let (Some(name_block), Some(text_block)) = (name.block(), text.block()) else {
            return self.long_element(name, text);
        };
        // Tags have five bytes beside the name; one check serves all that is written.
        let room = self.room(4 * BLOCK);
        let text_at = name.length + 2;
        let close_at = text_at + text.length;
        let end = close_at + name.length + 2;
        room[1..=BLOCK].copy_from_slice(name_block);
        room[text_at..text_at + BLOCK].copy_from_slice(text_block);
        room[close_at + 2..close_at + 2 + BLOCK].copy_from_slice(name_block);
        room[0] = b'<';
        room[text_at - 1] = b'>';
        room[close_at..close_at + 2].copy_from_slice(b"</");
        room[end] = b'>';
        self.at += end + 1;
    }

    #[inline(never)]
    fn long_element(&mut self, name: Piece<'_>, text: Piece<'_>) {
        self.tag(b"<", name, b">");
        self.bytes(text.bytes());
        self.tag(b"</", name, b">");
    }

    /// The next bytes, so many.
    #[inline]
    fn room(&mut self, length: usize) -> &mut [u8] {
        if self.out.len() - self.at < length {
            self.grow(length);
        }
        &mut self.out[self.at..self.at + length]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize) {
        self.out.resize(self.at + length + ROOM, 0);
    }
}
