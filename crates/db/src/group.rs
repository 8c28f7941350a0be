//! Writes that wait for their commit, with their types erased.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::{DbError, Tx};

/// A write: a function of a transaction and of what it needs. It may await nothing but the transaction.
pub type Work<S, T, E> = for<'a> fn(&'a mut Tx, &'a S) -> BoxFuture<'a, Result<T, E>>;

/// A write in a group, whatever its types are.
pub(super) trait Job: Send {
    /// Runs the work; `true` keeps what it did, `false` undoes it.
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, bool>;

    /// Whether the work failed in a way that a second run may cure.
    fn wants_another_run(&self) -> bool;

    /// Answers the caller: with the outcome of the work, or with the error of the commit.
    fn answer(self: Box<Self>, committed: Result<(), DbError>);
}

struct TypedJob<S, T, E> {
    state: S,
    work: Work<S, T, E>,
    outcome: Option<Result<T, E>>,
    again: bool,
    reply: oneshot::Sender<Result<T, E>>,
}

/// Makes a job of a write, and the receiver of its outcome.
pub(super) fn job<S, T, E>(state: S, work: Work<S, T, E>) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>)
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(TypedJob { state, work, outcome: None, again: false, reply }), answer)
}

impl<S, T, E> Job for TypedJob<S, T, E>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
{
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, bool> {
        async move {
            self.again = false;
            tx.clear_fault();
            let outcome = match AssertUnwindSafe((self.work)(tx, &self.state)).catch_unwind().await {
                Ok(Ok(done)) => tx.flush().await.map(|()| done).map_err(E::from),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(E::from(DbError::Failed("a write panicked; nothing of it was kept".to_owned()))),
            };
            self.again = tx.met_conflict();
            let kept = outcome.is_ok();
            self.outcome = Some(outcome);
            kept
        }
        .boxed()
    }

    fn wants_another_run(&self) -> bool {
        self.again
    }

    fn answer(self: Box<Self>, committed: Result<(), DbError>) {
        // A refusal may come of what another write of the group did, and is worth no more than that.
        let outcome = match (self.outcome, committed) {
            (_, Err(error)) => Err(E::from(error)),
            (Some(outcome), Ok(())) => outcome,
            (None, Ok(())) => Err(E::from(DbError::Failed("a write was never run".to_owned()))),
        };
        // A caller that has gone away needs no answer; the change itself stands.
        drop(self.reply.send(outcome));
    }
}
