//! The task behind a connection to PostgreSQL, which gives way once whenever it is woken.
//!
//! The runtime of several threads runs a task that was woken right after the one that woke it. So a connection would send
//! each statement by itself, though the next request that wants one is ready to run. A task that wakes itself goes to the end of
//! the queue, as tokio 1.54 does it, and so the connection sends what all of them want in one call of the system, and reads
//! the answers in one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use deadpool_postgres::Connect;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

/// Opens connections through a layer and runs the tasks behind them.
pub(super) struct InTurns<T>(pub(super) T);

impl<T> Connect for InTurns<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        let (config, layer) = (config.clone(), self.0.clone());
        Box::pin(async move {
            let (client, connection) = config.connect(layer).await?;
            let task = tokio::spawn(async move {
                if let Err(error) = (GivesWay { inner: connection, has_given_way: false }).await {
                    let source = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%error, source, "a connection to PostgreSQL ended");
                }
            });
            Ok((client, task))
        })
    }
}

/// A future that lets everything that is ready run before each of its own steps.
struct GivesWay<F> {
    inner: F,
    has_given_way: bool,
}

impl<F: Future + Unpin> Future for GivesWay<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.has_given_way = !self.has_given_way;
        if self.has_given_way {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn every_step_is_made_at_the_second_turn_and_asks_for_it() {
        let counted = Arc::new(Wakes::default());
        let waker = Arc::clone(&counted).into();
        let mut context = Context::from_waker(&waker);
        let mut steps = 0;
        let inner = std::future::poll_fn(|_| {
            steps += 1;
            if steps == 2 { Poll::Ready(steps) } else { Poll::Pending }
        });
        let mut gives_way = GivesWay { inner, has_given_way: false };
        let mut turn = || Pin::new(&mut gives_way).poll(&mut context);
        let turns = [turn(), turn(), turn(), turn()];
        assert_eq!(turns, [Poll::Pending, Poll::Pending, Poll::Pending, Poll::Ready(2)]);
        assert_eq!(counted.0.load(Ordering::Relaxed), 2);
    }
}
