//! The content of an answer (RFC 9110, section 6.4), in pieces.
//!
//! A list is written into buffers of one size, one after the other, so that nothing that was written is copied because
//! the list turns out longer than another, and nobody has to guess how long it will be. A record is one piece.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::render::buffer;

/// How far a piece is at least filled before the next one is begun, whatever was written before: a long text must not
/// leave those behind it a piece each.
const FILLED: usize = buffer::PIECE / 4 * 3;

/// For how many seconds the tag of content with addresses stays the same: a third of how long these are good.
const TAGGED: i64 = 300;

/// The content of an answer.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Apart from the others, so that a record needs no list of pieces.
    first: Bytes,
    rest: Vec<Bytes>,
    good_until: Option<i64>,
}

impl Content {
    /// The same content, which shows addresses that are good until this time, in seconds since 1970-01-01 UTC.
    #[must_use]
    pub(super) fn good_until(self, time: i64) -> Self {
        Self { good_until: Some(time), ..self }
    }

    /// An `ETag`, without quotes, that is another one from time to time where the content shows addresses that end: who is
    /// told that nothing has changed has addresses that are good for a while yet.
    #[must_use]
    pub(crate) fn dated(&self, etag: String) -> String {
        match self.good_until {
            Some(time) => format!("{etag}.{:x}", time.div_euclid(TAGGED)),
            None => etag,
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.pieces().map(Bytes::len).sum()
    }

    /// The bytes in one.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        if self.rest.is_empty() {
            return self.first.clone();
        }
        let mut whole = Vec::with_capacity(self.len());
        self.pieces().for_each(|piece| whole.extend_from_slice(piece));
        whole.into()
    }

    fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

impl From<Vec<u8>> for Content {
    fn from(buffer: Vec<u8>) -> Self {
        Self { first: buffer::bytes(buffer), rest: Vec::new(), good_until: None }
    }
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        if content.rest.is_empty() {
            return Self::from(content.first);
        }
        let left = content.len() as u64;
        Self::new(Sending { pieces: std::iter::once(content.first).chain(content.rest), left })
    }
}

/// Content on its way.
struct Sending<I> {
    pieces: I,
    /// How many bytes are still to be handed over.
    left: u64,
}

impl<I: Iterator<Item = Bytes> + Unpin> HttpBody for Sending<I> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.pieces.next();
        self.left -= next.as_ref().map_or(0, Bytes::len) as u64;
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Content that is being written.
#[derive(Default)]
pub(crate) struct Draft {
    full: Vec<Bytes>,
    open: Vec<u8>,
    /// The most bytes that were written at once.
    longest: usize,
}

impl Draft {
    /// Content with nothing in it yet.
    #[must_use]
    pub(crate) fn begin() -> Self {
        Self { open: buffer::with_capacity(buffer::PIECE), ..Self::default() }
    }

    /// Lets something be written at the end, in a new piece where it would hardly fit.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let room = self.open.capacity() - self.open.len();
        if room < self.longest && self.open.len() >= FILLED {
            let full = std::mem::replace(&mut self.open, buffer::with_capacity(buffer::PIECE));
            self.full.push(buffer::bytes(full));
        }
        let before = self.open.len();
        write(&mut self.open);
        self.longest = self.longest.max(self.open.len() - before);
    }

    /// What was written.
    #[must_use]
    pub(crate) fn end(self) -> Content {
        let mut pieces = self.full.into_iter().chain(std::iter::once(buffer::bytes(self.open)));
        Content { first: pieces.next().unwrap_or_default(), rest: pieces.collect(), good_until: None }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use proptest::prelude::*;

    use super::*;

    fn written(lengths: &[usize]) -> (Content, Vec<u8>) {
        let (mut draft, mut expected) = (Draft::begin(), Vec::new());
        for (letter, length) in (b'a'..=b'z').cycle().zip(lengths) {
            let text = vec![letter; *length];
            draft.write(|out| out.extend_from_slice(&text));
            expected.extend(text);
        }
        (draft.end(), expected)
    }

    fn sent(content: Content) -> Vec<u8> {
        let body = Body::from(content).collect();
        futures_util::FutureExt::now_or_never(body).unwrap().unwrap().to_bytes().to_vec()
    }

    proptest! {
        #[test]
        fn what_was_written_is_what_is_sent_whatever_the_pieces(
            lengths in proptest::collection::vec(prop_oneof![0_usize..6_000, 30_000_usize..90_000], 0..60),
        ) {
            let (content, expected) = written(&lengths);
            prop_assert_eq!(content.len(), expected.len());
            prop_assert_eq!(&content.whole(), &expected);
            prop_assert_eq!(HttpBody::size_hint(&Body::from(content.clone())).exact(), Some(expected.len() as u64));
            prop_assert_eq!(sent(content), expected);
        }
    }

    #[test]
    fn what_was_written_stays_where_it_is_as_the_content_grows() {
        let (content, _) = written(&[2_000; 200]);
        assert!(content.rest.len() > 4);
        assert!(content.pieces().all(|piece| piece.len() <= buffer::PIECE));
    }

    #[test]
    fn a_long_text_leaves_those_behind_it_no_piece_each() {
        let mut lengths = [6_000; 100];
        lengths[0] = 60_000;
        let (content, expected) = written(&lengths);
        assert!(content.rest.len() < 12, "{} pieces for {}", content.rest.len(), expected.len());
    }
}
