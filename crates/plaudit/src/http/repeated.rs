//! Requests that are repeated while nothing is committed: they are answered as before, without being judged anew.
//!
//! - A request is repeated by one that has the same key, address, host, `Accept` and `x-api-language`, byte for byte.
//!   Nothing else of a request decides what a read answers; `If-None-Match` is asked of the answer.
//! - The answer is good again while the database is as it was before and after the answer was made, the key has not
//!   expired, and addresses of files end at the same time. The clock decides nothing else of what is read.
//! - Only reads of records and lists are kept, when they are asked for the second time; what is made for the moment, as a
//!   link to sign in, is not.
//! - A repeated request is counted like any other. Where the caller has no requests left it is judged in full.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, header};

use super::judge::LANGUAGE;
use super::kept::{Keeper, Seen, Weigh};
use super::rate_limit::{Counted, Standing};
use super::reply::Recorded;
use super::{Caller, Reply};
use crate::app::App;
use crate::db::{CommitMark, Engine};
use crate::text::Timestamp;

/// The most bytes of answers that a node keeps.
const KEPT_BYTES: usize = 32 << 20;
/// The most bytes of memory of one answer that is kept.
const ANSWER_BYTES: usize = 1 << 20;
/// The longest request that is kept, in bytes.
const REQUEST_BYTES: usize = 2048;
/// What an answer takes besides its body and its request, roughly.
const OVERHEAD: usize = 512;

/// What a request says: nothing that stands in it can hold the line feed between its parts, but the hash, which is first
/// and always as long.
type Said = Vec<u8>;

/// The answers that a node keeps.
#[derive(Debug)]
pub struct Repeated {
    kept: Keeper<Said, Arc<Given>>,
    seen: Seen,
}

impl Default for Repeated {
    fn default() -> Self {
        Self { kept: Keeper::new(KEPT_BYTES, ANSWER_BYTES), seen: Seen::default() }
    }
}

/// An answer that was given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) recorded: Recorded,
    mark: CommitMark,
    counted: Counted,
    rate_limit: i64,
    key_expires: Option<Timestamp>,
    addresses_end: i64,
    said: usize,
}

impl Weigh for Arc<Given> {
    fn weight(&self) -> usize {
        self.recorded.body.memory() + self.said + OVERHEAD
    }
}

/// A request that came before.
pub(super) struct Repeatable {
    said: Said,
    mark: CommitMark,
    kept: Option<Arc<Given>>,
}

impl Repeatable {
    /// The request of a key with this hash, if it is one that only reads and came before.
    pub(super) fn of(app: &App, request: &Request, key: &[u8; 32]) -> Option<Self> {
        let uri = request.uri();
        // On PostgreSQL only a statement can tell whether anything was committed.
        let is_told_of_commits = app.db.engine() == Engine::Sqlite;
        if !is_told_of_commits || request.method() != Method::GET || uri.authority().is_some() {
            return None;
        }
        let mut said = Vec::with_capacity(256);
        said.extend_from_slice(key);
        said.extend_from_slice(uri.path_and_query()?.as_str().as_bytes());
        for name in [header::HOST, header::ACCEPT, LANGUAGE] {
            add_header(&mut said, request.headers(), &name)?;
        }
        (said.len() <= REQUEST_BYTES).then_some(())?;
        let Repeated { kept, seen } = &app.repeated;
        let kept = kept.get(&said);
        if kept.is_none() && !seen.came_before(seen.number(&said)) {
            return None;
        }
        Some(Self { said, mark: app.db.commit_mark()?, kept })
    }

    /// The answer that is still good, with where the caller stands after this request.
    pub(super) fn given(&self, app: &App, now: Timestamp) -> Option<(&Given, Standing)> {
        let given = self.kept.as_ref()?;
        let is_good = given.mark == self.mark
            && given.key_expires.is_none_or(|expires| now < expires)
            && given.addresses_end == app.signer.expiry(now.as_seconds());
        let standing = is_good.then(|| app.rate_limiter.count(given.counted, given.rate_limit, now).ok())??;
        Some((given, standing))
    }

    /// Keeps the answer to this request, where nothing was committed while it was made.
    pub(super) fn keep(self, caller: &Caller, recorded: &Recorded) {
        let app = caller.app();
        let Some((key, _)) = caller.program().keys.get(&caller.key()) else { return };
        if recorded.status != 200 || app.db.commit_mark() != Some(self.mark) {
            return;
        }
        let given = Given {
            recorded: Recorded {
                status: recorded.status,
                headers: recorded.headers.clone(),
                body: recorded.body.lasting(),
            },
            mark: self.mark,
            counted: Counted::Key(caller.account(), caller.key()),
            rate_limit: caller.program().account.rate_limit,
            key_expires: key.expires,
            addresses_end: caller.expires(),
            said: self.said.len(),
        };
        app.repeated.kept.keep(self.said, Arc::new(given));
    }
}

/// Whether this is what a record or a list was answered with, which the same state is always answered with.
pub(super) fn is_of_the_state(reply: &Reply) -> bool {
    matches!(reply, Reply::Record { .. } | Reply::Body { .. })
}

/// Adds a header that stands once or not at all.
fn add_header(said: &mut Said, headers: &HeaderMap, name: &HeaderName) -> Option<()> {
    let mut values = headers.get_all(name).iter();
    said.push(b'\n');
    match values.next() {
        Some(value) => said.extend_from_slice(value.as_bytes()),
        // No value has this byte either.
        None => said.push(b'\r'),
    }
    values.next().is_none().then_some(())
}
