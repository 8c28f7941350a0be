//! The content of an answer or a request (RFC 9110, section 6.4), in pieces.
//!
//! - A list is written into buffers of one size, one after the other, so that nothing that was written is copied because
//!   the list turns out longer than another, and nobody has to guess how long it will be. A record is one piece.
//! - Content of more than a short piece is counted in the budgets of the node. What they do not let wait in memory waits in
//!   the spool, and is read from there as the client takes it.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use futures_util::stream::{self, Stream, StreamExt as _};
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::render::buffer;
use crate::services::budgets::{Budgets, Memory, SpoolError, SpoolFile};
use db::AccountId;

/// How far a piece is at least filled before the next one is begun, whatever was written before: a long text must not
/// leave those behind it a piece each.
const FILLED: usize = buffer::PIECE / 4 * 3;

/// For how many seconds the tag of content with addresses stays the same: a third of how long these are good.
const TAGGED: i64 = 300;

/// The content of an answer.
#[derive(Clone, Debug, Default)]
pub struct Content {
    held: Held,
    good_until: Option<i64>,
}

/// Where content waits.
#[derive(Clone, Debug)]
enum Held {
    /// Apart from the others, so that a record needs no list of pieces. It is not counted where it is short.
    One(Bytes),
    Pieces(Vec<Bytes>, Arc<Memory>),
    Spooled(Arc<SpoolFile>),
}

impl Default for Held {
    fn default() -> Self {
        Self::One(Bytes::new())
    }
}

impl Content {
    fn of(held: Held) -> Self {
        Self { held, good_until: None }
    }

    /// The same content, which shows addresses that are good until this time, in seconds since 1970-01-01 UTC.
    pub(super) fn good_until(self, time: i64) -> Self {
        Self { good_until: Some(time), ..self }
    }

    /// An `ETag`, without quotes, that is another one from time to time where the content shows addresses that end: who is
    /// told that nothing has changed has addresses that are good for a while yet.
    pub(crate) fn dated(&self, etag: String) -> String {
        match self.good_until {
            Some(time) => format!("{etag}.{:x}", time.div_euclid(TAGGED)),
            None => etag,
        }
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> u64 {
        match &self.held {
            Held::One(piece) => piece.len() as u64,
            Held::Pieces(pieces, _) => pieces.iter().map(|piece| piece.len() as u64).sum(),
            Held::Spooled(file) => file.len(),
        }
    }

    /// A part of its bytes; it ends where they end at the latest.
    pub(crate) fn part(&self, range: Range<u64>) -> io::Result<Bytes> {
        let pieces = match &self.held {
            Held::One(piece) => std::slice::from_ref(piece),
            Held::Pieces(pieces, _) => pieces,
            Held::Spooled(file) => return file.part(range),
        };
        let (mut at, mut part) = (0, Vec::new());
        for piece in pieces {
            let within =
                |place: u64| usize::try_from(place.saturating_sub(at)).map_or(piece.len(), |n| n.min(piece.len()));
            part.extend_from_slice(&piece[within(range.start)..within(range.end)]);
            at += piece.len() as u64;
        }
        Ok(part.into())
    }

    /// The bytes of content that is one piece, as all of at most 64 KiB is.
    pub(crate) fn short(&self) -> Option<&Bytes> {
        if let Held::One(piece) = &self.held { Some(piece) } else { None }
    }
}

impl From<Vec<u8>> for Content {
    fn from(buffer: Vec<u8>) -> Self {
        Self::of(Held::One(buffer::bytes(buffer)))
    }
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        let left = content.len();
        match content.held {
            Held::One(piece) => Self::from(piece),
            Held::Pieces(pieces, memory) => {
                Self::new(Sending { pieces: stream::iter(pieces.into_iter().map(Ok)), left, _memory: Some(memory) })
            }
            Held::Spooled(file) => Self::new(Sending { pieces: Box::pin(file.pieces()), left, _memory: None }),
        }
    }
}

/// Content on its way.
struct Sending<S> {
    pieces: S,
    /// How many bytes are still to be handed over.
    left: u64,
    /// Given back when everything has been sent, or the client has gone away.
    _memory: Option<Arc<Memory>>,
}

impl<S: Stream<Item = io::Result<Bytes>> + Unpin> HttpBody for Sending<S> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = ready!(self.pieces.poll_next_unpin(context)).transpose()?;
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
pub(crate) struct Draft {
    full: Vec<Bytes>,
    open: Vec<u8>,
    /// The most bytes that were written at once.
    longest: usize,
    budgets: Budgets,
    account: AccountId,
    /// Whether no quota keeps it out of the spool.
    pub(super) overdraws: bool,
    memory: Option<Memory>,
    /// Where all that was written before waits, instead of in memory.
    file: Option<SpoolFile>,
}

impl Draft {
    /// Content of an answer to an account, with nothing in it yet.
    pub(crate) fn new(budgets: Budgets, account: AccountId) -> Self {
        let (full, open) = (Vec::new(), Vec::new());
        Self { full, open, longest: 0, budgets, account, overdraws: false, memory: None, file: None }
    }

    /// Makes room for so many bytes at the beginning.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.open = buffer::with_capacity(bytes);
    }

    /// Begins a piece with room for something long, which then need not grow.
    pub(crate) fn begin_piece(&mut self, bytes: usize) -> Result<(), SpoolError> {
        if !self.open.is_empty() {
            self.close()?;
        }
        self.reserve(bytes);
        Ok(())
    }

    /// Lets something be written at the end, in a new piece where it would hardly fit.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), SpoolError> {
        let room = self.open.capacity() - self.open.len();
        if room < self.longest && self.open.len() >= FILLED {
            self.close()?;
        }
        if self.open.capacity() == 0 {
            self.reserve(buffer::PIECE);
        }
        let before = self.open.len();
        write(&mut self.open);
        self.longest = self.longest.max(self.open.len() - before);
        if self.open.len() > buffer::PIECE { self.close() } else { Ok(()) }
    }

    /// Writes what has come of a body at the end; what may go to the disk is written where that may take its time.
    pub(crate) async fn append(&mut self, piece: Bytes) -> Result<(), SpoolError> {
        if self.open.len() < FILLED && self.open.len() + piece.len() <= buffer::PIECE {
            return self.write(|out| out.extend_from_slice(&piece));
        }
        let mut draft = std::mem::replace(self, Self::new(self.budgets.clone(), self.account));
        let written = tokio::task::spawn_blocking(move || {
            draft.write(|out| out.extend_from_slice(&piece))?;
            Ok::<_, SpoolError>(draft)
        });
        *self = written.await.map_err(io::Error::other)??;
        Ok(())
    }

    /// Puts the open piece where the others are.
    fn close(&mut self) -> Result<(), SpoolError> {
        // A piece that goes to the spool is read from the buffer that is used again.
        let piece = buffer::bytes(std::mem::take(&mut self.open));
        let (budgets, account, most) = (&self.budgets, self.account, self.budgets.limits().answer_bytes as u64);
        let memory = self.memory.get_or_insert_with(|| budgets.memory(account));
        let is_short = memory.overdraws || memory.len() + piece.len() as u64 <= most;
        if self.file.is_none() && is_short && memory.grow(piece.len()) {
            self.full.push(piece);
            return Ok(());
        }
        match self.spool(&piece) {
            Err(_) if self.overdraws => self.keep(piece),
            spooled => spooled,
        }
    }

    /// Puts a piece into the spool, and those before it.
    fn spool(&mut self, piece: &[u8]) -> Result<(), SpoolError> {
        let file = if let Some(file) = &mut self.file {
            file
        } else {
            let mut file = self.budgets.spool(self.account, self.overdraws)?;
            for piece in &self.full {
                file.write(piece)?;
            }
            self.full.clear();
            self.memory = None;
            self.file.insert(file)
        };
        file.write(piece)
    }

    /// Keeps a piece, those before it and those behind it in memory, because the spool fails and they tell what was done.
    fn keep(&mut self, piece: Bytes) -> Result<(), SpoolError> {
        if let Some(file) = self.file.take() {
            self.full.push(file.part(0..file.len())?);
        }
        self.full.push(piece);
        let mut memory = self.budgets.memory(self.account);
        memory.overdraws = true;
        memory.grow(self.full.iter().map(Bytes::len).sum());
        self.memory = Some(memory);
        Ok(())
    }

    /// What was written.
    pub(crate) fn end(mut self) -> Result<Content, SpoolError> {
        if self.full.is_empty() && self.file.is_none() {
            return Ok(self.open.into());
        }
        if !self.open.is_empty() {
            self.close()?;
        }
        Ok(Content::of(match (self.file, self.memory) {
            (Some(file), _) => Held::Spooled(Arc::new(file)),
            (None, Some(memory)) => Held::Pieces(self.full, Arc::new(memory)),
            (None, None) => Held::default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;
    use proptest::prelude::*;

    use super::*;
    use crate::services::budgets::{Limits, NoRoom};

    fn budgets(answer_bytes: usize) -> Budgets {
        Budgets::new(Limits {
            answer_bytes,
            memory_bytes: 1 << 24,
            page_bytes: 1 << 30,
            spool_directory: None,
            spool_bytes: 1 << 25,
            account_spool_bytes: 1 << 24,
        })
    }

    fn write(draft: &mut Draft, lengths: &[usize]) -> Vec<u8> {
        let mut expected = Vec::new();
        for (letter, length) in (b'a'..=b'z').cycle().zip(lengths) {
            let text = vec![letter; *length];
            draft.write(|out| out.extend_from_slice(&text)).unwrap();
            expected.extend(text);
        }
        expected
    }

    fn written(budgets: &Budgets, lengths: &[usize]) -> (Content, Vec<u8>) {
        let mut draft = Draft::new(budgets.clone(), AccountId(1));
        let expected = write(&mut draft, lengths);
        (draft.end().unwrap(), expected)
    }

    async fn sent(content: Content) -> Vec<u8> {
        Body::from(content).collect().await.unwrap().to_bytes().to_vec()
    }

    proptest! {
        #[test]
        fn what_was_written_is_what_is_sent_whatever_the_pieces_and_wherever_they_wait(
            lengths in proptest::collection::vec(prop_oneof![0_usize..6_000, 30_000_usize..90_000], 0..60),
            share in prop_oneof![Just(0), Just(200_000), Just(1 << 24)],
        ) {
            let budgets = budgets(share);
            let (content, expected) = written(&budgets, &lengths);
            prop_assert_eq!(content.len(), expected.len() as u64);
            let is_spooled = matches!(content.held, Held::Spooled(_));
            prop_assert_eq!(is_spooled, expected.len() > share && content.short().is_none());
            prop_assert_eq!(budgets.spool_bytes(), if is_spooled { expected.len() as u64 } else { 0 });
            prop_assert_eq!(HttpBody::size_hint(&Body::from(content.clone())).exact(), Some(expected.len() as u64));
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let middle = expected.len() / 3..expected.len() / 2;
            let part = content.part(middle.start as u64..middle.end as u64).unwrap();
            prop_assert_eq!(&part[..], &expected[middle]);
            prop_assert_eq!(runtime.block_on(sent(content)), expected);
            prop_assert_eq!((budgets.memory_bytes(), budgets.spool_bytes()), (0, 0));
        }
    }

    #[test]
    fn what_was_written_stays_where_it_is_as_the_content_grows() {
        let (content, _) = written(&budgets(1 << 24), &[2_000; 200]);
        let Held::Pieces(pieces, _) = content.held else { panic!("{content:?}") };
        assert!(pieces.len() > 5);
        assert!(pieces.iter().all(|piece| piece.len() <= buffer::PIECE));
    }

    #[test]
    fn a_long_text_leaves_those_behind_it_no_piece_each() {
        let mut lengths = [6_000; 100];
        lengths[0] = 60_000;
        let (content, expected) = written(&budgets(1 << 24), &lengths);
        let Held::Pieces(pieces, _) = content.held else { panic!("{content:?}") };
        assert!(pieces.len() < 13, "{} pieces for {}", pieces.len(), expected.len());
    }

    #[test]
    fn memory_is_given_back_when_a_client_goes_away() {
        let budgets = budgets(1 << 24);
        let (content, expected) = written(&budgets, &[2_000; 200]);
        assert_eq!(budgets.memory_bytes(), expected.len() as u64);
        let mut body = Body::from(content);
        assert!(body.frame().now_or_never().unwrap().is_some());
        assert_eq!(budgets.memory_bytes(), expected.len() as u64);
        drop(body);
        assert_eq!(budgets.memory_bytes(), 0);
    }

    #[test]
    fn content_without_room_is_refused_unless_it_overdraws() {
        let budgets = budgets(0);
        let (held, _) = written(&budgets, &[1 << 16; 255]);
        let mut draft = Draft::new(budgets.clone(), AccountId(1));
        let text = |draft: &mut Draft| draft.write(|out| out.extend_from_slice(&vec![b'x'; 70_000]));
        assert!(matches!(text(&mut draft), Err(SpoolError::NoRoom(NoRoom::OfAccount))));
        let mut draft = Draft::new(budgets, AccountId(1));
        draft.overdraws = true;
        assert!(text(&mut draft).is_ok());
        drop(held);
    }

    #[test]
    fn what_was_done_is_told_from_memory_where_the_spool_fails() {
        let nowhere = Limits { spool_directory: Some("/dev/null/spool".into()), ..budgets(100_000).limits().clone() };
        let budgets = Budgets::new(nowhere);
        let mut draft = Draft::new(budgets.clone(), AccountId(1));
        draft.overdraws = true;
        let expected = write(&mut draft, &[70_000; 300]);
        let content = draft.end().unwrap();
        assert!(budgets.memory_bytes() > 1 << 24);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(sent(content)) == expected);
        assert_eq!(budgets.memory_bytes(), 0);
        let mut draft = Draft::new(budgets, AccountId(1));
        let text = vec![b'x'; 70_000];
        draft.write(|out| out.extend_from_slice(&text)).unwrap();
        assert!(draft.write(|out| out.extend_from_slice(&text)).is_err(), "a read is refused");
    }
}
