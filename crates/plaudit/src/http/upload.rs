//! Uploads: a JSON object whose member `data` is a file in base64, read as it arrives and never held whole.
//!
//! - [`Upload`] stands as the last argument of a handler. It reads the body: the members beside `data` are kept, the
//!   data is decoded and waits where long answers do, and its size, hash and type are told on the way. A body that is no
//!   JSON object is 400, one that is too large 413, as everywhere.
//! - [`Upload::write`] stores the file and then runs the handler's work in its transaction. The work checks the
//!   members ([`Received::file`]) and records the file ([`Received::record`]). Where it does not, the file is removed.
//! - Before the first byte is stored the upload is announced, and forgotten in the transaction that records the file. What
//!   a crash leaves announced is removed by the sweep ([`files::sweep`]).
//! - A client that goes away before its body has come leaves nothing behind. One that goes away later is not told what
//!   came of it; the upload is finished all the same, so that there is never a record without its bytes.
//! - In memory is one piece of the body, and what the budgets let wait there.

mod decode;
mod scan;
mod spool;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};

use self::decode::{Decoder, NotBase64};
use self::scan::{Scanned, Scanner};
pub(super) use self::spool::spool;
use super::caller::Writing;
use super::{ApiError, Caller, Reply, extract};
use crate::records::files::{self, Content, File, Sample};
use crate::render::content::{Content as Waiting, Draft};
use crate::services::Settings;
use crate::services::budgets::NoRoom;
use db::{DbError, Tx};
use kernel::document;
use kernel::input::Members;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Timestamp, Token};

/// Whether a path takes uploads, whose bodies are larger than others.
pub(super) fn is_upload(path: &str) -> bool {
    path.split('/').nth(3).is_some_and(|part| part == "upload" || part == "attachment")
}

/// The most bytes that a body of an upload has: every character of its base64 may stand behind a backslash.
fn largest_body(settings: &Settings) -> usize {
    settings.max_upload_bytes.div_ceil(3).saturating_mul(8).saturating_add(settings.max_body_bytes)
}

/// The body of an upload that has come.
#[derive(Debug)]
pub struct Upload {
    received: Received,
    /// The file, where it can be recorded.
    content: Option<Waiting>,
}

/// What is known of a file that was uploaded.
#[derive(Debug)]
pub struct Received {
    members: JsonObject<'static>,
    reported: Result<Content, &'static str>,
    token: Token,
    is_recorded: AtomicBool,
}

/// What the work of an upload knows: what was received, and what the handler brought along.
#[derive(Debug)]
pub struct Uploaded<S> {
    /// The members and the file.
    pub received: Received,
    /// What the handler brought along.
    pub state: S,
}

/// What a handler does with an upload in a transaction.
pub type Work<S> = for<'a> fn(&'a mut Tx, &'a Writing<Uploaded<S>>) -> BoxFuture<'a, Result<Reply, ApiError>>;

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, state).await?;
        read(&caller, body).await
    }
}

impl Upload {
    /// Makes the file whole and runs `work` in a transaction of the caller's account. Where the work does not record
    /// the file, it is removed again.
    pub async fn write<S>(self, caller: Caller, state: S, work: Work<S>) -> Result<Reply, ApiError>
    where
        S: Send + Sync + 'static,
    {
        // A task of its own goes on when the client goes away.
        let finished = tokio::spawn(self.finish(caller, state, work)).await;
        finished.unwrap_or_else(|error| Err(ApiError::Internal(format!("an upload was not finished: {error}"))))
    }

    async fn finish<S>(self, caller: Caller, state: S, work: Work<S>) -> Result<Reply, ApiError>
    where
        S: Send + Sync + 'static,
    {
        let Self { received, content } = self;
        let is_kept = content.is_some();
        if let Some(content) = content {
            announce(&caller, &received.token).await?;
            let pieces = Body::from(content).into_data_stream().map_err(io::Error::other);
            let account = caller.program().account.slug;
            caller.app().storage.put_stream(account.as_str(), received.token.as_str(), pieces).await?;
        }
        let uploaded = Arc::new(Uploaded { received, state });
        let outcome = caller.write_shared(Arc::clone(&uploaded), work).await;
        let (account, token) = (caller.program().account.slug, &uploaded.received.token);
        let is_recorded = uploaded.received.is_recorded.load(Ordering::Acquire);
        let is_wanted = match &outcome {
            Ok(_) => is_recorded,
            // Nobody knows how a commit ended that failed, and bytes too many do less harm than bytes too few.
            Err(error) => is_recorded && matches!(error, ApiError::Internal(_)),
        };
        if is_kept && !is_wanted {
            match caller.app().storage.delete(account.as_str(), token.as_str()).await {
                Ok(()) => forget(&caller, token).await,
                Err(error) => tracing::warn!(%error, "an uploaded file that was refused is removed later"),
            }
        }
        outcome
    }
}

/// Notes that bytes are about to be stored, so that they are found where nobody gets to record them.
async fn announce(caller: &Caller, token: &Token) -> Result<(), ApiError> {
    let state = (caller.account(), token.clone(), caller.now());
    let announced: Result<(), DbError> = caller
        .app()
        .db
        .write(caller.account(), state, |tx, (account, token, now)| {
            Box::pin(files::store::announce(tx, *account, token, *now))
        })
        .await;
    Ok(announced?)
}

/// Forgets what was announced and is not there any more. Where that fails, the sweep does it.
async fn forget(caller: &Caller, token: &Token) {
    let state = (caller.account(), token.clone());
    let forgotten: Result<(), DbError> = caller
        .app()
        .db
        .write(caller.account(), state, |tx, (account, token)| Box::pin(files::store::forget(tx, *account, token)))
        .await;
    if let Err(error) = forgotten {
        tracing::warn!(%error, "an upload that was refused is forgotten later");
    }
}

impl Received {
    /// The members of the body. All of them are read by the work, `filename` and `data` by [`Received::file`].
    pub fn members(&self) -> Members<'_> {
        Members::closed(&self.members)
    }

    /// The token that the file gets.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// What the bytes tell, where they are base64.
    pub fn content(&self) -> Option<&Content> {
        self.reported.as_ref().ok()
    }

    /// The file that was uploaded; what is wrong with its name or its data is left in `members`.
    pub fn file(&self, members: &mut Members<'_>, now: Timestamp) -> Option<File> {
        let filename = members.required("filename", files::filename);
        members.get("data");
        let reported = match &self.reported {
            Ok(reported) => reported,
            Err(message) => {
                members.fault("data", *message);
                return None;
            }
        };
        let filename = filename?;
        if let Err(message) = files::check_name(&filename, &reported.mime) {
            members.fault("data", message);
        }
        Some(File {
            token: self.token.clone(),
            filename,
            content: reported.clone(),
            duration: None,
            metadata: document::object(|object| object.text("sha256", &reported.sha256)),
            created: now,
        })
    }

    /// Records the file, and answers with it. The last thing that the work does.
    pub async fn record<S>(&self, tx: &mut Tx, writing: &Writing<S>, file: &File) -> Result<Reply, ApiError> {
        let revision = self.keep(tx, writing, file).await?;
        Ok(answer(file, Kind::File, revision))
    }

    /// Records the file, and gives its revision.
    pub async fn keep<S>(&self, tx: &mut Tx, writing: &Writing<S>, file: &File) -> Result<i64, ApiError> {
        let recorded = files::store::record(tx, writing.account(), &writing.origin, file).await?;
        let removed = || ApiError::Internal("an upload took so long that its bytes were removed".to_owned());
        let revision = recorded.ok_or_else(removed)?;
        self.is_recorded.store(true, Ordering::Release);
        Ok(revision)
    }
}

/// The answer to an upload that made a record of this kind, which has the token of its file.
pub fn answer(file: &File, kind: Kind, revision: i64) -> Reply {
    let token = file.token.as_str();
    let shown = document::object(|object| {
        object.text("filename", &file.filename);
        object.text("token", token);
        object.link("link", kind, token);
    });
    Reply::created(shown, revision, kind, token)
}

/// The most bytes beside the data of an upload that are not counted in the memory of bodies.
const UNCOUNTED: usize = 64 << 10;

/// Reads a body to its end.
async fn read(caller: &Caller, mut body: Body) -> Result<Upload, ApiError> {
    let settings = &caller.app().settings;
    let largest = largest_body(settings);
    if http_body::Body::size_hint(&body).lower() > largest as u64 {
        return Err(ApiError::FileTooLarge(settings.max_upload_bytes));
    }
    let is_json = extract::is_json(caller.headers());
    let pause = Duration::from_secs(settings.body_timeout_seconds);
    let mut scanner = Scanner::new(settings.max_body_bytes);
    let mut receiving = Receiving::begin(caller);
    let mut memory = caller.app().budgets.memory(caller.account());
    let (mut length, mut counted) = (0_usize, 0);
    while let Some(piece) = extract::next_piece(&mut body, pause).await? {
        length = length.saturating_add(piece.len());
        if length > largest {
            return Err(ApiError::FileTooLarge(settings.max_upload_bytes));
        }
        let _turn = caller.app().upload_pieces.take(caller.account()).await;
        // It is not kept for the next piece: many clients may be slow to send that.
        let mut text = Vec::new();
        scanner.take(&piece, &mut text).map_err(|_| ApiError::TooLarge(settings.max_body_bytes))?;
        if !scanner.is_empty() && !is_json {
            return Err(extract::not_json());
        }
        let grown = scanner.kept().saturating_sub(counted);
        if scanner.kept() > UNCOUNTED && grown > 0 {
            if !memory.grow(grown) {
                return Err(NoRoom::OfAccount.into());
            }
            counted += grown;
        }
        drop(piece);
        receiving.take(&text).await?;
    }
    if scanner.is_empty() {
        return Err(extract::empty());
    }
    let Scanned { members, is_base64 } = scanner.finish().map_err(|error| extract::no_object(&error))?;
    receiving.finish(members, is_base64).await
}

/// A file whose bytes are coming.
struct Receiving {
    token: Token,
    draft: Draft,
    decoder: Result<Decoder, NotBase64>,
    size: u64,
    hash: Sha256,
    characters: usize,
    largest: usize,
    bytes: Vec<u8>,
}

impl Receiving {
    fn begin(caller: &Caller) -> Self {
        let app = caller.app();
        Self {
            token: app.ids.token(),
            draft: Draft::new(app.budgets.clone(), caller.account()),
            decoder: Ok(Decoder::default()),
            size: 0,
            hash: Sha256::new(),
            characters: 0,
            largest: app.settings.max_upload_bytes,
            bytes: Vec::new(),
        }
    }

    async fn take(&mut self, text: &[u8]) -> Result<(), ApiError> {
        self.characters = self.characters.saturating_add(text.len());
        if self.characters / 4 > self.largest.div_ceil(3) {
            return Err(ApiError::FileTooLarge(self.largest));
        }
        if let Ok(decoder) = &mut self.decoder
            && let Err(wrong) = decoder.take(text, &mut self.bytes)
        {
            // The rest of the body is read all the same: it may be no JSON, which is told first.
            self.decoder = Err(wrong);
        }
        self.pass_on().await
    }

    async fn pass_on(&mut self) -> Result<(), ApiError> {
        let bytes = std::mem::take(&mut self.bytes);
        if self.decoder.is_ok() {
            self.size += bytes.len() as u64;
            if self.size > self.largest as u64 {
                return Err(ApiError::FileTooLarge(self.largest));
            }
            self.hash.update(&bytes);
            self.draft.append(bytes.into()).await?;
        }
        Ok(())
    }

    async fn finish(mut self, members: JsonObject<'static>, is_base64: Option<bool>) -> Result<Upload, ApiError> {
        if let Ok(decoder) = &self.decoder
            && let Err(wrong) = decoder.finish(&mut self.bytes)
        {
            self.decoder = Err(wrong);
        }
        self.pass_on().await?;
        let content = self.draft.end()?;
        let reported = match (is_base64, &self.decoder) {
            (None, _) if members.get("data").is_none() => Err("is required"),
            (None, _) => Err("must be a string in base64"),
            (Some(true), Ok(_)) => Ok(told_by(&content, &self.hash.finalize())?),
            _ => Err("must be base64: letters, digits, + and /, with its padding and without blanks"),
        };
        let content = reported.is_ok().then_some(content);
        let received = Received { members, reported, token: self.token, is_recorded: AtomicBool::new(false) };
        Ok(Upload { received, content })
    }
}

/// What the bytes tell.
fn told_by(content: &Waiting, sha256: &[u8]) -> Result<Content, ApiError> {
    let size = content.len();
    let part = |range| content.part(range).map_err(|error| ApiError::Internal(format!("an upload is lost: {error}")));
    let (head, tail) = (part(0..files::HEAD as u64)?, part(size.saturating_sub(files::TAIL as u64)..size)?);
    Ok(Content::told_by(&Sample { head: &head, tail: &tail, size }, sha256))
}
