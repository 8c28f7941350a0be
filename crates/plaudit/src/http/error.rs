//! Everything that is not a success: one variant for every row of the contract's section 1.

use std::collections::HashMap;

use crate::lists::page::ListQueryError;
use crate::records::Refusal;
use crate::render::RenderError;
use crate::services::budgets::{NoRoom, SpoolError};
use crate::storage::StorageError;
use crate::streams::TooMany;
use db::DbError;
use kernel::document;
use kernel::input::Violations;

/// Why a request is not done, with the message of its answer, which [`ApiError::document`] makes.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// 503: the region is under maintenance; the operator's text.
    #[error("{0}")]
    Maintenance(String),
    /// 429: the window is full; whole seconds until it ends.
    #[error("Too many requests; try again in {0} seconds.")]
    RateLimited(i64),
    /// 400: the request cannot be read; says what is wrong and where.
    #[error("{0}")]
    BadRequest(String),
    /// 400: filters or page parameters of a list.
    #[error("{0}")]
    InvalidQuery(#[from] ListQueryError),
    /// 401: no key.
    #[error("The x-api-key header is missing.")]
    Unauthorized,
    /// 403: the key is not good here. One message for all causes, so that the answer is no oracle.
    #[error("The API key does not give access.")]
    KeyRefused,
    /// 403: the key reads only.
    #[error("The API key may read only; this operation writes.")]
    ReadOnlyKey,
    /// 404: no such path.
    #[error("There is no such path.")]
    NoSuchPath,
    /// 404: no such record; trashed records and those of other accounts are the same.
    #[error("There is no such record.")]
    NotFound,
    /// 405: the path has other methods; the router names them in `Allow`.
    #[error("The path does not have this method; Allow names those that it has.")]
    MethodNotAllowed,
    /// 409: the first request with this idempotency key is still running.
    #[error("The first request with this Idempotency-Key is still running.")]
    StillRunning,
    /// 409: the request with this idempotency key was done, and its answer is not kept; says where what was done is.
    #[error("The request with this Idempotency-Key was done; its answer is not kept. Location names what was done.")]
    AnswerNotKept(String),
    /// 412: the record is not the one that `If-Match` names.
    #[error("The record has changed since the ETag that If-Match names.")]
    PreconditionFailed,
    /// 413: the body is larger than this many bytes.
    #[error("The request body has more than {0} bytes.")]
    TooLarge(usize),
    /// 413: the file in the body is larger than this many bytes.
    #[error("The file has more than {0} bytes.")]
    FileTooLarge(usize),
    /// 422 with `errors`: members break rules.
    #[error("The request has members that are not valid.")]
    Invalid(Violations),
    /// 422 without `errors`: the record's state does not permit the operation.
    #[error("{0}")]
    State(String),
    /// 422: the idempotency key was used for another request.
    #[error("This Idempotency-Key was used for another request.")]
    IdempotencyMismatch,
    /// 429: there is no room for one more stream; says whose limit it is.
    #[error("{0}")]
    TooManyStreams(String),
    /// 400: the records of a page have more than this many bytes.
    #[error("{}", RenderError::PageTooLong(*.0))]
    PageTooLong(usize),
    /// 503: there is no room for the answer or the upload, and nothing was done.
    #[error("{0}")]
    NoRoom(#[from] NoRoom),
    /// All that is checked before the body is right; only that was asked for. Never answered.
    #[error("the body is awaited")]
    BodyAwaited,
    /// The snapshot of the program was older than the records; the request is checked again.
    #[error("the program has changed meanwhile")]
    Stale,
    /// 500: a fault of ours. The cause is logged and never told.
    #[error("{0}")]
    Internal(String),
}

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<SpoolError> for ApiError {
    fn from(error: SpoolError) -> Self {
        match error {
            SpoolError::NoRoom(no_room) => Self::NoRoom(no_room),
            SpoolError::Failed(_) => Self::Internal(error.to_string()),
        }
    }
}

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::PageTooLong(limit) => Self::PageTooLong(limit),
            RenderError::Spool(error) => error.into(),
        }
    }
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(violations) => Self::Invalid(violations),
            Refusal::State(message) => Self::State(message),
            Refusal::Failed(cause) => Self::Internal(cause),
        }
    }
}

impl From<TooMany> for ApiError {
    fn from(too_many: TooMany) -> Self {
        Self::TooManyStreams(match too_many {
            TooMany::OfKey(limit) => format!("The key has {limit} open streams, which is as many as a key may have."),
            TooMany::OnNode(limit) => format!("The service has {limit} open streams and takes no more at present."),
        })
    }
}

/// The most bytes of names and messages that an answer tells, so that a small request has no large answer.
const TOLD: usize = 1 << 18;

/// Each member with what is wrong with it, in the order in which members were found wrong, and how many messages that
/// is: all of them, unless they are too long together.
fn reported(violations: &Violations) -> (usize, Vec<(&str, Vec<&str>)>) {
    let mut members: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places = HashMap::new();
    let (mut count, mut length) = (0, 0);
    for (name, message) in violations.iter() {
        length += name.len() + message.len();
        if length > TOLD && count > 0 {
            break;
        }
        let place = *places.entry(name).or_insert(members.len());
        if place == members.len() {
            members.push((name, Vec::new()));
        }
        members[place].1.push(message);
        count += 1;
    }
    (count, members)
}

impl ApiError {
    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::InvalidQuery(_) | Self::PageTooLong(_) => 400,
            Self::Unauthorized => 401,
            Self::KeyRefused | Self::ReadOnlyKey => 403,
            Self::NoSuchPath | Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::StillRunning | Self::AnswerNotKept(_) => 409,
            Self::PreconditionFailed => 412,
            Self::TooLarge(_) | Self::FileTooLarge(_) => 413,
            Self::Invalid(_) | Self::State(_) | Self::IdempotencyMismatch => 422,
            Self::RateLimited(_) | Self::TooManyStreams(_) => 429,
            Self::Maintenance(_) | Self::NoRoom(_) => 503,
            Self::BodyAwaited | Self::Stale | Self::Internal(_) => 500,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Invalid(violations) => match violations.iter().count() - reported(violations).0 {
                0 => self.to_string(),
                more => format!("The request has members that are not valid; {more} more faults are not reported."),
            },
            Self::BodyAwaited | Self::Stale | Self::Internal(_) => {
                "The service has failed; the fault has been recorded.".to_owned()
            }
            _ => self.to_string(),
        }
    }

    /// The body of the answer (specification, section 7).
    #[must_use]
    pub fn document(&self) -> String {
        document::object(|object| {
            if let Self::Maintenance(text) = self {
                object.text("status", text);
                return;
            }
            object.text("message", &self.message());
            object.integer("status_code", i64::from(self.status()));
            match self {
                Self::Invalid(violations) => object.object("errors", |errors| {
                    for (name, messages) in reported(violations).1 {
                        errors.texts(name, messages);
                    }
                }),
                Self::InvalidQuery(error) => error.write(object),
                _ => {}
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_every_fault_by_its_member_unless_they_are_too_long_together() {
        let mut violations = Violations::default();
        for (name, message) in [("b", "one"), ("a", "two"), ("b", "three")] {
            violations.add(name, message);
        }
        assert_eq!(
            ApiError::from(violations).document(),
            r#"{"message":"The request has members that are not valid.","status_code":422,"errors":{"b":["one","three"],"a":["two"]}}"#
        );
        let mut violations = Violations::default();
        for number in 0..200_000 {
            violations.add(format!("member{number}"), "is not a member of this record");
        }
        let document = ApiError::from(violations).document();
        assert!((TOLD..2 * TOLD).contains(&document.len()), "{}", document.len());
        assert!(document.starts_with(r#"{"message":"The request has members that are not valid; 19"#));
        assert!(document.contains("more faults are not reported."));
        let mut violations = Violations::default();
        violations.add("a", "x".repeat(2 * TOLD));
        assert!(ApiError::from(violations).document().len() > 2 * TOLD, "the first one is reported whatever it is");
    }
}
