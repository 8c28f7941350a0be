//! Everything that is not a success: one variant for every row of the contract's section 1.

use std::collections::HashMap;

use crate::lists::page::ListQueryError;
use crate::records::Refusal;
use crate::render::RenderError;
use crate::services::budgets::{NoRoom, SpoolError};
use crate::services::disks::Disk;
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
    /// 403: no role of the key's person has the operation.
    #[error("No role of the person to whom the API key belongs has this operation.")]
    NotPermitted,
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
    /// 503: what the operation needs is not installed; says what.
    #[error("{0}")]
    Unavailable(String),
    /// All that is checked before the body is right; only that was asked for. Never answered.
    #[error("the body is awaited")]
    BodyAwaited,
    /// The snapshot of the program was older than the records; the request is checked again.
    #[error("the program has changed meanwhile")]
    Stale,
    /// 503: the database does not answer. The cause is logged and never told.
    #[error("The database does not answer at present; try again in some seconds.")]
    DatabaseAway(String),
    /// 507: a disk is full, and nothing was changed. The cause is logged and never told.
    #[error("The disk of {0} is full. Nothing was changed; reading goes on.")]
    DiskFull(Disk, String),
    /// 500: a fault of ours. The cause is logged and never told.
    #[error("{0}")]
    Internal(String),
}

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::DiskFull(cause) => Self::DiskFull(Disk::Database, cause),
            // Whoever could try again has done so.
            DbError::Again(cause) | DbError::Busy(cause) => Self::DatabaseAway(cause),
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        if error.is_disk_full() {
            return Self::DiskFull(Disk::Files, error.to_string());
        }
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
            Refusal::Db(error) => error.into(),
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

/// The most bytes of an answer, so that a small request has no large one.
const SIZE: usize = 64 << 10;
/// What of them is left for the message, and for what stands around the errors.
const AROUND: usize = 1 << 10;

/// How many bytes a message about a member takes in an answer, in the format that takes more.
fn size(name: &str, message: &str) -> usize {
    let json = document::object(|errors| errors.texts(name, [message]));
    json.len().max(document::inner_xml(&json).len())
}

/// Each member with what is wrong with it, in the order in which members were found wrong, and how many messages that
/// is: all of them, unless they are too long together.
fn reported(violations: &Violations) -> (usize, Vec<(&str, Vec<&str>)>) {
    let mut members: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places = HashMap::new();
    let (mut count, mut length) = (0, 0);
    for (name, message) in violations.iter() {
        length += size(name, message);
        if length > SIZE - AROUND {
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
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::InvalidQuery(_) | Self::PageTooLong(_) => 400,
            Self::Unauthorized => 401,
            Self::KeyRefused | Self::ReadOnlyKey | Self::NotPermitted => 403,
            Self::NoSuchPath | Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::StillRunning | Self::AnswerNotKept(_) => 409,
            Self::PreconditionFailed => 412,
            Self::TooLarge(_) | Self::FileTooLarge(_) => 413,
            Self::Invalid(_) | Self::State(_) | Self::IdempotencyMismatch => 422,
            Self::RateLimited(_) | Self::TooManyStreams(_) => 429,
            Self::Maintenance(_) | Self::NoRoom(_) | Self::Unavailable(_) | Self::DatabaseAway(_) => 503,
            Self::BodyAwaited | Self::Stale | Self::Internal(_) => 500,
            Self::DiskFull(..) => 507,
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
    pub fn document(&self) -> String {
        document::object(|object| {
            if let Self::Maintenance(_) | Self::DatabaseAway(_) = self {
                object.text("status", &self.to_string());
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
    use std::io::ErrorKind::StorageFull;

    use super::*;
    use crate::render;
    use crate::render::accept::Format;

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
        for name in ["member", "\0", "<", "&", "\u{7f}", "é"] {
            let mut violations = Violations::default();
            for number in 0..20_000 {
                violations.add(format!("{number}{}", name.repeat(50)), "<\0>".repeat(1_000));
            }
            let document = ApiError::from(violations).document();
            let sizes = [document.len(), render::plain(Format::Xml, &document).len()];
            assert!(
                sizes.into_iter().all(|size| size <= SIZE) && sizes.into_iter().any(|size| size > SIZE / 2),
                "{sizes:?}"
            );
            assert!(document.starts_with(r#"{"message":"The request has members that are not valid; 19"#));
            assert!(document.contains("more faults are not reported."));
        }
    }

    #[test]
    fn a_full_disk_is_507_wherever_it_was_met_and_its_cause_is_not_told() {
        let file = object_store::Error::Generic { store: "file", source: Box::new(std::io::Error::from(StorageFull)) };
        for (error, disk) in [
            (ApiError::from(DbError::DiskFull("at 17".to_owned())), "the database"),
            (Refusal::from(DbError::DiskFull("at 17".to_owned())).into(), "the database"),
            (StorageError::Store(file).into(), "the stored files"),
        ] {
            let message = format!("The disk of {disk} is full. Nothing was changed; reading goes on.");
            assert_eq!(error.document(), format!(r#"{{"message":"{message}","status_code":507}}"#));
        }
    }
}
