//! Jobs: work that a request begins and does not wait for.
//!
//! - A job is added in the transaction of the request ([`add`]), so that it is there exactly when the change is.
//! - An account does one job at a time, the oldest first, and accounts take turns: the lease of their jobs is given back after
//!   each, and who was served longest ago comes first. So an account with many jobs never delays another's by more than one.
//! - A job does its work in steps ([`Run::step`]), each of them one transaction with the checkpoint that the next one goes on
//!   from: what a step does to the database is done exactly once, whatever node dies when. What cannot be in a transaction, such
//!   as a message, is done between two steps and named by the job and the item, so that doing it twice does no harm.
//! - A run that fails is begun again after a pause. A job that was begun eight times without a step that got on has failed; one
//!   that waits for others' servers is begun for a day.
//! - What fails of a job's items is told by the job, which is done all the same.
//! - A job that is cancelled stops before its next step; what was done stays.

pub mod mail;
mod rules;
mod runner;
pub mod store;

use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use self::store::Added;
use crate::leases::{LeaseName, NEVER, store as leases};
use crate::log::Origin;
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::document;
use kernel::ids::Ids;
use kernel::kind::{Class, Kind};
use kernel::text::{Slug, Timestamp};

pub use rules::{Failure, Outcome, Patience, Progress, Report, State, overdue};
pub use runner::{Run, Step, StepWork, work};

/// A kind of job.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Its name, which jobs are stored and shown with.
    pub kind: &'static str,
    /// How long is tried what fails.
    pub patience: Patience,
    /// Does it. An end without an error is the end of the job.
    pub run: for<'r> fn(&'r mut Run) -> BoxFuture<'r, Result<(), JobError>>,
}

/// Why a run ends before its job does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The job was cancelled, or goes on elsewhere.
    #[error("the job goes on elsewhere, or not at all")]
    Stopped,
    /// Another run may do better; a sentence for whoever asks for the job.
    #[error("{0}")]
    Failed(String),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// A job as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its slug.
    pub slug: Slug,
    /// What it does.
    pub kind: String,
    /// Where it stands.
    pub state: State,
    /// What is told of it.
    pub report: Report,
    /// When it was added.
    pub created: Timestamp,
    /// When it was first begun.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub finished: Option<Timestamp>,
}

impl Job {
    /// A number that is another one whenever a job's document is, for conditions of requests.
    pub fn revision(document: &str) -> i64 {
        (FixedState::default().hash_one(document) >> 1).cast_signed()
    }

    /// The document that is shown.
    pub fn document(&self) -> String {
        let Self { slug, kind, state, report, created, started, finished } = self;
        document::object(|object| {
            object.slug("slug", *slug);
            object.text("kind", kind);
            object.text("state", state.name());
            object.object("progress", |object| {
                object.integer("done", report.progress.done);
                object.optional_integer("total", report.progress.total);
                object.integer("failed", report.progress.failed);
            });
            object.list("results", |list| {
                for Outcome { kind, slug } in &report.results {
                    match (Kind::named(kind), Slug::parse(slug)) {
                        (Some(kind), Some(slug)) if kind.class() == Class::SetUp => list.reference(kind, slug),
                        (Some(kind), _) => list.object(|object| {
                            object.text("slug", slug);
                            object.link("link", kind, slug);
                            // What people make has no name that is translated.
                            object.object("name", |_| ());
                        }),
                        (None, _) => {}
                    }
                }
            });
            object.list("errors", |list| {
                for Failure { item, message } in &report.errors {
                    list.object(|object| {
                        object.text("item", item);
                        object.text("message", message);
                    });
                }
            });
            object.time("created", *created);
            object.optional_time("started", *started);
            object.optional_time("finished", *finished);
        })
    }
}

/// Adds a job of a kind, with its input as JSON. After the commit its account is to be woken
/// ([`Wakes::add`](crate::services::wakes::Wakes::add)).
pub async fn add(
    tx: &mut Tx,
    account: AccountId,
    (kind, input): (&'static str, String),
    origin: &Origin,
    ids: &Ids,
) -> Result<Slug, DbError> {
    let slug = ids.slug();
    let added = Added { slug, kind, input, actor: origin.actor.to_string(), created: origin.at };
    store::insert(tx, account, added).await?;
    leases::put(tx, account, LeaseName::Jobs, (NEVER, 0, "{}")).await?;
    Ok(slug)
}
