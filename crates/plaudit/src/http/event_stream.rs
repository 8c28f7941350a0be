//! Server-sent events (WHATWG HTML, section 9.2): the changes of entries as they happen.
//!
//! - A change is one event: `id` is its sequence number, `event` is `entry_created`, `entry_updated` or
//!   `entry_deleted`, `data` is a document in the format and languages of the request.
//! - `Last-Event-ID` resumes after that change. The first block names where the stream begins, and every sign of life
//!   how far it has got, so that a client that saw no event resumes from the right place, too.
//! - A long event is made for each reader and waits where long answers do. Where there is no room, the stream ends.
//! - A person is sent the changes of what the person sees. A stream of one entry ends when that is not seen any more.
//! - A stream is checked again with every sign of life and whenever the account's program changes, and one of a person before
//!   anything is sent; where the request would be refused now, the stream ends. It also ends when the region goes under maintenance, when its entry goes
//!   to the trash, and when the server stops. Whoever comes back is told why, and after which pause.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::Response;
use futures_util::{TryStreamExt as _, stream};
use memchr::memchr_iter;

use super::{ApiError, Caller, pipeline};
use crate::access::Sight;
use crate::program::Program;
use crate::records::entries::Entry;
use crate::render::content::Draft;
use crate::services::budgets::SpoolError;
use crate::streams::{EntryChange, News, Permit, Representation, Subscription};
use db::{BoxFuture, Committed, DbError};
use kernel::text::Slug;

/// The most bytes of an event that all readers share.
const SHORT: usize = 64 << 10;
/// What tells what applicants are sent apart from what others are.
const OF_APPLICANT: &str = "-applicant";
/// The media type of a stream.
const MEDIA_TYPE: &str = "text/event-stream";
/// The header that a client resumes with.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The shortest pause before a client comes back, in milliseconds.
const RETRY: u64 = 1_000;
/// The pauses of many clients are spread over this many milliseconds, so that they do not all come back at once.
const RETRY_SPREAD: u64 = 2_000;

/// A stream that a handler opens.
#[derive(Debug)]
pub struct Opening {
    /// The entry whose changes are wanted; all entries without one.
    pub entry: Option<Slug>,
    /// The change after which it begins.
    pub after: i64,
    /// Where the account stands.
    pub committed: Committed,
    /// Its place among the streams of the node.
    pub permit: Permit,
    /// Tells whether the entry is still there.
    pub is_there: for<'c> fn(&'c Caller, Slug) -> BoxFuture<'c, Result<bool, DbError>>,
}

impl Opening {
    async fn still_stands(&self, caller: &Caller) -> Result<bool, DbError> {
        match self.entry {
            Some(entry) => (self.is_there)(caller, entry).await,
            None => Ok(true),
        }
    }
}

/// The change after which the client wants to go on, if it names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastEventId(pub Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for LastEventId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let mut values = caller.headers().get_all(LAST_EVENT_ID).iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        let number = value.to_str().ok().and_then(number).filter(|_| values.next().is_none());
        let wrong = "Last-Event-ID must be the id of an event of this account's streams.";
        number.map(|number| Self(Some(number))).ok_or_else(|| ApiError::BadRequest(wrong.to_owned()))
    }
}

/// A sequence number, written as ids are.
fn number(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number >= 0 && number.to_string() == text).then_some(number)
}

/// The answer that is a stream.
pub(super) fn response(caller: Caller, method: &Method, opening: Arc<Opening>) -> Response {
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let stream = EventStream::open(caller, opening);
        Body::from_stream(stream::unfold(stream, async |mut stream| {
            let bytes = stream.next().await?;
            Some((Ok::<_, Infallible>(bytes), stream))
        }))
    };
    let mut response = Response::new(body);
    for (name, value) in [
        (header::CONTENT_TYPE, MEDIA_TYPE),
        (header::CACHE_CONTROL, "no-store"),
        // A proxy that collects an answer before it passes it on would hold every event back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What is to be sent next.
enum Piece {
    Change(Arc<EntryChange>),
    Text(String),
}

/// An open stream.
struct EventStream {
    caller: Caller,
    opening: Arc<Opening>,
    subscription: Subscription,
    representation: Representation,
    pieces: VecDeque<Piece>,
    /// A long event that is being sent.
    event: Option<BodyDataStream>,
    has_ended: bool,
}

impl EventStream {
    fn open(caller: Caller, opening: Arc<Opening>) -> Self {
        let app = caller.app();
        let position = (opening.after, opening.committed);
        let subscription = app.tails.subscribe(caller.program(), opening.entry, position);
        let begin = format!("retry: {}\nid: {}\n\n", retry(subscription.number()), opening.after);
        Self {
            representation: representation(&caller),
            caller,
            opening,
            subscription,
            pieces: VecDeque::from([Piece::Text(begin)]),
            event: None,
            has_ended: false,
        }
    }

    /// The next bytes; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = &mut self.event {
                match event.try_next().await {
                    Ok(Some(bytes)) => return Some(bytes),
                    Ok(None) => self.event = None,
                    Err(error) => {
                        tracing::warn!(%error, "a stream lost an event");
                        // What came of the event is no event before its blank line.
                        return None;
                    }
                }
            }
            match self.pieces.pop_front() {
                Some(Piece::Text(text)) => return Some(text.into()),
                Some(Piece::Change(change)) => {
                    // What follows a deletion can only be asked for again.
                    if self.opening.entry.is_some() && change.is_deletion() {
                        self.has_ended = true;
                        self.pieces.clear();
                    }
                    let caller = &self.caller;
                    let Some(sight) = sight(caller, &change) else {
                        if self.opening.entry.is_some() {
                            self.end();
                        }
                        continue;
                    };
                    let mut representation = self.representation.clone();
                    if sight == Sight::Applicant {
                        representation.0.push_str(OF_APPLICANT);
                    }
                    match change.rendered(&representation, SHORT, |change| event(caller, change, sight)) {
                        Ok(event) => return Some(event),
                        Err(event) => match waiting(caller, &event) {
                            Ok(event) => self.event = Some(event),
                            Err(error) => {
                                tracing::warn!(%error, "a stream has no room for an event");
                                self.end();
                            }
                        },
                    }
                }
                None if self.has_ended => return None,
                None => self.look().await,
            }
        }
    }

    /// Takes what there is, or waits until it is worth looking again.
    async fn look(&mut self) {
        let app = self.caller.app().clone();
        if app.tails.is_stopping() || app.maintenance().is_some() {
            return self.end();
        }
        let (news, program) = self.subscription.take();
        let is_beat = matches!(news, News::Beat(_));
        // What a person may see is looked up before anything is shown: a role is no part of the program.
        let is_of_person = self.caller.access().user().is_some() && !matches!(news, News::Nothing);
        if (is_beat || is_of_person || program.is_newer_than(self.caller.program()))
            && self.check_again(program).await.is_err()
        {
            return self.end();
        }
        match news {
            News::Changes(changes) => self.pieces.extend(changes.into_iter().map(Piece::Change)),
            News::Older(after, to) => match self.subscription.older((after, to)).await {
                Ok((changes, reached)) if changes.is_empty() => self.text(format!("id: {reached}\n\n")),
                Ok((changes, _)) => self.pieces.extend(changes.into_iter().map(Piece::Change)),
                Err(error) => {
                    tracing::warn!(%error, "a stream cannot go on");
                    self.end();
                }
            },
            News::Beat(position) => match self.opening.still_stands(&self.caller).await {
                Ok(true) => self.text(format!(":\nid: {position}\n\n")),
                Ok(false) => self.end(),
                Err(error) => tracing::warn!(%error, "a stream could not look after its entry"),
            },
            News::TooSlow | News::Lost => self.end(),
            News::Nothing => self.subscription.wait().await,
        }
    }

    /// Checks the request as if it came now.
    async fn check_again(&mut self, program: Arc<Program>) -> Result<(), ApiError> {
        let own = self.caller.program();
        let newest = if program.is_newer_than(own) { program } else { Arc::clone(own) };
        self.caller = pipeline::again(&self.caller, newest, self.caller.app().clock.now()).await?;
        if self.caller.program().is_broken() {
            return Err(pipeline::unreadable());
        }
        self.representation = representation(&self.caller);
        Ok(())
    }

    fn text(&mut self, text: String) {
        self.pieces.push_back(Piece::Text(text));
    }

    /// Nothing more is sent but how long to stay away: a change that was not sent must be the next that is asked for.
    fn end(&mut self) {
        self.has_ended = true;
        self.pieces.clear();
        self.text(format!("retry: {}\n\n", retry(self.subscription.number())));
    }
}

/// The pause of a stream of this number: neighbours come back at times far from each other.
fn retry(number: u64) -> u64 {
    RETRY + number.wrapping_mul(1_237) % RETRY_SPREAD
}

fn representation(caller: &Caller) -> Representation {
    let context = caller.context();
    (context.representation(), caller.program().version, context.expires())
}

/// A long event, which waits where long answers do.
fn waiting(caller: &Caller, event: &[u8]) -> Result<BodyDataStream, SpoolError> {
    let mut draft = Draft::new(caller.app().budgets.clone(), caller.account());
    for piece in event.chunks(SHORT) {
        draft.write(|out| out.extend_from_slice(piece))?;
    }
    Ok(Body::from(draft.end()?).into_data_stream())
}

/// What the caller sees of a change: what the caller sees of the entry after it.
fn sight(caller: &Caller, change: &EntryChange) -> Option<Sight> {
    if caller.access().sees_all() {
        return Some(Sight::Whole);
    }
    caller.sight_of(&Entry::of_document(&change.document).ok()?).ok()
}

/// A change as an event.
fn event(caller: &Caller, change: &EntryChange, sight: Sight) -> Vec<u8> {
    let mut renderer = caller.renderer();
    renderer.naming(change.people.iter().cloned()).seen(sight);
    let data = renderer.bytes(&change.document());
    let head = format!("id: {}\nevent: {}\n", change.sequence, change.event());
    let mut event = Vec::with_capacity(head.len() + data.len() + 64);
    event.extend_from_slice(head.as_bytes());
    // JSON has no line breaks. XML has those of its texts, and a client joins the lines of the data with them again; a
    // carriage return is written as a reference there.
    let mut begin = 0;
    for end in memchr_iter(b'\n', &data).chain([data.len()]) {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(&data[begin..end]);
        event.push(b'\n');
        begin = end + 1;
    }
    event.push(b'\n');
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_number_as_it_was_sent() {
        assert_eq!(number("0"), Some(0));
        assert_eq!(number("9223372036854775807"), Some(i64::MAX));
        for wrong in ["", " 1", "+1", "-1", "01", "1.0", "9223372036854775808", "x", "１"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn clients_come_back_at_different_times() {
        let mut pauses: Vec<_> = (0..2_000).map(retry).collect();
        pauses.sort_unstable();
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((pauses[0], pauses[1_999]), (RETRY, RETRY + RETRY_SPREAD - 1));
    }
}
