//! What a handler gives back: documents and statuses, no format.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::{ApiError, Opening};
use crate::access::Sight;
use crate::records::users::Person;
use crate::render::Content;
use kernel::kind::Kind;

/// The header of an answer that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The `ETag`, without quotes, of an answer that these bytes decide.
pub fn entity_tag(decides: impl AsRef<[u8]>) -> String {
    hex::encode(&Sha256::digest(decides)[..16])
}

/// What stands in an `ETag` for the names of other records that an answer shows.
pub fn tag_of_names(names: &[&str]) -> String {
    let mut hash = Sha256::new();
    for name in names {
        hash.update(name.len().to_be_bytes());
        hash.update(name);
    }
    hex::encode(&hash.finalize()[..6])
}

/// The same, for people whom an answer shows; empty where it shows none.
pub fn tag_of_people(people: &[Person]) -> String {
    let names: Vec<&str> = people.iter().flat_map(|person| [person.names.as_str(), &person.global_id]).collect();
    if names.is_empty() { String::new() } else { tag_of_names(&names) }
}

/// A success.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A record.
    Record {
        /// The stored document.
        document: String,
        /// The second document, for records that have one.
        detail: Option<String>,
        /// The record's revision, for its `ETag`.
        revision: i64,
        /// The version of the program after the write that this answers; `None` for reads.
        version: Option<i64>,
        /// 201 with this address in `Location`.
        created: Option<String>,
        /// What stands for the names of other records that it shows, for its `ETag`; empty where it shows none.
        named: String,
        /// The people whom it shows.
        people: Vec<Person>,
        /// How much of it is shown.
        sight: Sight,
    },
    /// An answer that is no record, and so has no address.
    Stated {
        /// The status.
        status: u16,
        /// The document, without slots.
        document: String,
        /// What tells it apart from other answers, for its `ETag`.
        tag: String,
    },
    /// 202, with this path in `Location` where it tells what becomes of it.
    Accepted {
        /// The path.
        location: Option<String>,
    },
    /// 204.
    NoContent,
    /// A body that was rendered by the handler, in the format of the request, with its `ETag` (without quotes).
    Body {
        /// The content.
        content: Content,
        /// The tag.
        etag: String,
    },
    /// 200 with a stream of events that goes on until it is closed.
    Stream(Arc<Opening>),
    /// An answer that was given before, to be given again byte for byte.
    Replay(Arc<Recorded>),
}

/// An answer as it was sent.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The status.
    pub status: u16,
    /// The headers that belong to the answer itself.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Content,
}

impl Recorded {
    /// The answer as it is given again.
    pub(super) fn replayed(mut self) -> Self {
        self.headers.push((REPLAYED, HeaderValue::from_static("true")));
        self
    }
}

impl Reply {
    /// How many bytes of documents it holds.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Record { document, detail, .. } => document.len() + detail.as_ref().map_or(0, String::len),
            Self::Stated { document, .. } => document.len(),
            Self::Accepted { .. } | Self::NoContent | Self::Body { .. } | Self::Stream(_) | Self::Replay(_) => 0,
        }
    }

    /// 200 with a record.
    pub fn ok(document: String, revision: i64) -> Self {
        Self::record(document, None, revision, None)
    }

    fn record(document: String, detail: Option<String>, revision: i64, created: Option<String>) -> Self {
        let (named, people) = (String::new(), Vec::new());
        Self::Record { document, detail, revision, version: None, created, named, people, sight: Sight::Whole }
    }

    /// 200 with a record that has a second document.
    pub fn detailed(document: String, detail: String, revision: i64) -> Self {
        Self::record(document, Some(detail), revision, None)
    }

    /// 201 with a record that was made.
    pub fn created(document: String, revision: i64, kind: Kind, identifier: &str) -> Self {
        let path = format!("/{}/{identifier}", kind.path());
        Self::record(document, None, revision, Some(path))
    }

    /// 201 with a record that was made and has a second document.
    pub fn created_detailed(document: String, detail: String, revision: i64, kind: Kind, identifier: &str) -> Self {
        Self::record(document, Some(detail), revision, Some(format!("/{}/{identifier}", kind.path())))
    }

    /// The same, of a record of which so much is shown.
    pub fn seen(mut self, shown: Sight) -> Self {
        if let Self::Record { sight, .. } = &mut self {
            *sight = shown;
        }
        self
    }

    /// The same, of a record that shows these names of others: another name is another `ETag`.
    pub fn naming(mut self, names: &[&str]) -> Self {
        if let Self::Record { named, .. } = &mut self {
            *named = tag_of_names(names);
        }
        self
    }

    /// The same, of a record that shows people: another name is another `ETag`.
    pub fn showing(mut self, shown: impl IntoIterator<Item = Person>) -> Self {
        if let Self::Record { named, people, .. } = &mut self {
            people.extend(shown);
            *named = tag_of_people(people);
        }
        self
    }
}

/// Carries the outcome of a handler to the layer that knows the format.
#[derive(Clone)]
pub(super) struct Outcome(Arc<Mutex<Option<Result<Reply, ApiError>>>>);

impl Outcome {
    pub(super) fn take(&self) -> Option<Result<Reply, ApiError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn carried(outcome: Result<Reply, ApiError>, status: StatusCode) -> Response {
    let mut response = status.into_response();
    response.extensions_mut().insert(Outcome(Arc::new(Mutex::new(Some(outcome)))));
    response
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        carried(Ok(self), StatusCode::OK)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        carried(Err(self), status)
    }
}
