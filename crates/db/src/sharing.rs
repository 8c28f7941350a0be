//! Connections to PostgreSQL on which several lookups are under way at once.
//!
//! - Most of what the read of one row costs is waking: the service wakes the database's process, and that the service.
//!   Lookups that are sent one behind the other, without waiting for answers in between, wake both once for many of them.
//! - A lookup takes a connection from the pool as long as few are shared, and lets others join it; later ones join the one
//!   that the fewest use. Who leaves last gives it back.
//! - At most half of the pool is shared for long, so that pages and writes find connections while lookups go on. Beyond what
//!   shared connections take, and before the first is open, a lookup queues for the pool like everybody.
//! - A shared connection never holds a transaction. A lookup that is given up takes nothing from those behind it, because the
//!   driver receives its answer all the same.
//! - A connection that left a lookup without an answer is closed and not given back: whoever got it next would wait as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError, TimeoutType, Timeouts};
use parking_lot::Mutex;

use super::DbError;

/// How many lookups may use a connection at once before one waits for the pool: enough that both sides always have work,
/// and so few that a connection that hangs takes few with it.
const CROWD: usize = 64;
/// How long a lookup that could join a connection waits for another one to be opened.
const OPENING: Duration = Duration::from_secs(3);

/// A connection that is used together.
pub(super) struct Shared {
    client: Option<Object>,
    is_poisoned: AtomicBool,
}

impl Shared {
    fn of(client: Object) -> Self {
        Self { client: Some(client), is_poisoned: AtomicBool::new(false) }
    }

    /// The connection.
    pub(super) fn client(&self) -> Result<&Object, DbError> {
        self.client.as_ref().ok_or_else(|| DbError::Failed("a shared connection is gone".to_owned()))
    }

    /// Nobody joins it any more, and it is closed when the last has left.
    pub(super) fn poison(&self) {
        self.is_poisoned.store(true, Ordering::Relaxed);
    }

    fn is_usable(&self) -> bool {
        !self.is_poisoned.load(Ordering::Relaxed) && self.client.as_ref().is_some_and(|client| !client.is_closed())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if *self.is_poisoned.get_mut()
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

/// The connections of a pool that are shared at the moment.
pub(super) struct Sharing {
    most: usize,
    open: Mutex<Vec<Weak<Shared>>>,
}

/// Which connection a lookup may use.
enum Choice {
    /// This one.
    Join(Arc<Shared>),
    /// One of the pool if it has one, otherwise this one.
    OpenOr(Arc<Shared>),
    /// One of the pool, as soon as it has one.
    Open,
}

impl Sharing {
    /// For a pool of so many connections.
    pub(super) fn of(pool_size: usize) -> Self {
        Self { most: (pool_size / 2).max(1), open: Mutex::default() }
    }

    /// A connection for a lookup outside of any transaction.
    pub(super) async fn join(&self, pool: &Pool) -> Result<Arc<Shared>, DbError> {
        let shared = match self.choose() {
            Choice::Join(shared) => return Ok(shared),
            Choice::OpenOr(shared) => shared,
            Choice::Open => return Ok(self.share(pool.get().await?)),
        };
        let at_once = Timeouts { wait: Some(Duration::ZERO), create: Some(OPENING), ..pool.timeouts() };
        match pool.timeout_get(&at_once).await {
            Ok(client) => Ok(self.share(client)),
            Err(PoolError::Timeout(TimeoutType::Wait)) => Ok(shared),
            Err(error) => {
                tracing::warn!(%error, "no other connection to PostgreSQL could be opened");
                Ok(shared)
            }
        }
    }

    fn choose(&self) -> Choice {
        let open = self.open.lock();
        let mut count = 0;
        let mut least: Option<(usize, Arc<Shared>)> = None;
        for shared in open.iter().filter_map(Weak::upgrade).filter(|shared| shared.is_usable()) {
            count += 1;
            // The count contains the reference that was just made.
            let users = Arc::strong_count(&shared) - 1;
            if least.as_ref().is_none_or(|(fewest, _)| users < *fewest) {
                least = Some((users, shared));
            }
        }
        drop(open);
        match least {
            Some((users, shared)) if users < CROWD && count < self.most => Choice::OpenOr(shared),
            Some((users, shared)) if users < CROWD => Choice::Join(shared),
            _ => Choice::Open,
        }
    }

    /// Lets others join, unless enough are shared.
    fn share(&self, client: Object) -> Arc<Shared> {
        let shared = Arc::new(Shared::of(client));
        let mut open = self.open.lock();
        open.retain(|held| held.upgrade().is_some_and(|held| held.is_usable()));
        if open.len() < self.most {
            open.push(Arc::downgrade(&shared));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::{Manager, Runtime};
    use tokio_postgres::NoTls;

    use super::*;

    /// A pool of four connections, of which two may be shared.
    #[expect(clippy::disallowed_methods, reason = "the server of the tests is no setting of the service")]
    fn pool() -> (Pool, Sharing) {
        let url = std::env::var("PLAUDIT_TEST_POSTGRES")
            .expect("PLAUDIT_TEST_POSTGRES names no server; `cargo xtask test` starts one");
        let manager = Manager::new(url.parse().unwrap(), NoTls);
        (Pool::builder(manager).max_size(4).runtime(Runtime::Tokio1).build().unwrap(), Sharing::of(4))
    }

    async fn answers(shared: &Shared) -> bool {
        shared.client().unwrap().query_one("SELECT 1", &[]).await.is_ok()
    }

    #[tokio::test]
    async fn half_of_the_pool_is_shared_and_given_back_by_the_last_who_uses_it() {
        let (pool, sharing) = pool();
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(sharing.join(&pool).await.unwrap());
        }
        let users = |first: usize| held.iter().filter(|shared| Arc::ptr_eq(shared, &held[first])).count();
        assert!(!Arc::ptr_eq(&held[0], &held[1]));
        assert_eq!((users(0), users(1)), (3, 3));
        assert_eq!((pool.status().size, pool.status().available), (2, 0));
        held.truncate(1);
        assert_eq!(pool.status().available, 1);
        held.clear();
        assert_eq!(pool.status().available, 2);
        assert!(answers(&sharing.join(&pool).await.unwrap()).await);
    }

    #[tokio::test]
    async fn where_the_pool_has_no_other_the_shared_one_is_joined_at_once() {
        let (pool, sharing) = pool();
        let shared = sharing.join(&pool).await.unwrap();
        let taken = [pool.get().await.unwrap(), pool.get().await.unwrap(), pool.get().await.unwrap()];
        assert!(Arc::ptr_eq(&shared, &sharing.join(&pool).await.unwrap()));
        drop(taken);
        assert!(!Arc::ptr_eq(&shared, &sharing.join(&pool).await.unwrap()));
    }

    #[tokio::test]
    async fn a_crowd_takes_no_more_and_the_next_read_uses_a_connection_alone() {
        let (pool, sharing) = pool();
        let mut held = Vec::new();
        for _ in 0..2 * CROWD {
            held.push(sharing.join(&pool).await.unwrap());
        }
        assert_eq!(pool.status().size, 2);
        let alone = sharing.join(&pool).await.unwrap();
        assert_eq!(pool.status().size, 3);
        assert!(held.iter().all(|shared| !Arc::ptr_eq(shared, &alone)));
        // It is not shared, so it is given back while the others are still crowded.
        drop(alone);
        assert_eq!(pool.status().available, 1);
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_not_joined() {
        let (pool, sharing) = pool();
        let ended = sharing.join(&pool).await.unwrap();
        // Whether this ends with an answer or with the connection is for the database to say.
        let _ = ended.client().unwrap().simple_query("SELECT pg_terminate_backend(pg_backend_pid())").await;
        while ended.is_usable() {
            tokio::task::yield_now().await;
        }
        for _ in 0..6 {
            let shared = sharing.join(&pool).await.unwrap();
            assert!(!Arc::ptr_eq(&shared, &ended));
            assert!(answers(&shared).await);
        }
    }

    #[tokio::test]
    async fn a_connection_that_left_a_lookup_without_an_answer_is_not_joined_and_not_given_back() {
        let (pool, sharing) = pool();
        let silent = sharing.join(&pool).await.unwrap();
        silent.poison();
        let next = sharing.join(&pool).await.unwrap();
        assert!(!Arc::ptr_eq(&silent, &next));
        assert_eq!(pool.status().size, 2);
        drop(silent);
        assert_eq!((pool.status().size, pool.status().available), (1, 0));
        assert!(answers(&next).await);
    }
}
