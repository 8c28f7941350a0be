//! Connections to PostgreSQL on which several short reads are under way at once.
//!
//! - Most of what the read of one row costs is waking: the service wakes the database's process, and that the service.
//!   Reads that are sent one behind the other, without waiting for answers in between, wake both once for many of them.
//! - A read takes a connection from the pool as long as few are shared, and lets others join it; later ones join the one
//!   that the fewest use. Who leaves last gives it back.
//! - At most half of the pool is shared, so that pages and writes find connections however many short reads there are.
//! - A shared connection never holds a transaction. A read that is given up takes nothing from those behind it, because the
//!   driver receives its answer all the same.

use std::sync::{Arc, Weak};
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError, TimeoutType, Timeouts};
use parking_lot::Mutex;

use super::DbError;

/// How many reads may use a connection at once before one waits for the pool: enough that both sides always have work, and
/// so few that a connection that hangs takes few with it.
const CROWD: usize = 64;

/// A connection that is used together.
pub(super) type Shared = Arc<Object>;

/// The connections of a pool that are shared at the moment.
pub(super) struct Sharing {
    most: usize,
    open: Mutex<Vec<Weak<Object>>>,
}

/// Which connection a read may use.
enum Choice {
    /// One of its own, if the pool has one; otherwise this one.
    OwnOr(Option<Shared>),
    /// This one.
    Join(Shared),
    /// One of the pool, when it has one.
    Wait,
}

impl Sharing {
    /// For a pool of so many connections.
    pub(super) fn of(pool_size: usize) -> Self {
        Self { most: (pool_size / 2).max(1), open: Mutex::default() }
    }

    /// A connection for a short read outside of any transaction.
    pub(super) async fn client(&self, pool: &Pool) -> Result<Shared, DbError> {
        match self.choose() {
            Choice::Join(shared) => return Ok(shared),
            Choice::OwnOr(Some(shared)) => {
                let at_once = Timeouts { wait: Some(Duration::ZERO), ..pool.timeouts() };
                return match pool.timeout_get(&at_once).await {
                    Ok(client) => Ok(self.share(client)),
                    Err(PoolError::Timeout(TimeoutType::Wait)) => Ok(shared),
                    Err(error) => Err(error.into()),
                };
            }
            Choice::OwnOr(None) | Choice::Wait => {}
        }
        Ok(self.share(pool.get().await?))
    }

    fn choose(&self) -> Choice {
        let open = self.open.lock();
        let mut count = 0;
        let mut least: Option<(usize, Shared)> = None;
        for shared in open.iter().filter_map(Weak::upgrade).filter(|shared| !shared.is_closed()) {
            count += 1;
            // The count contains the reference that was just made.
            let users = Arc::strong_count(&shared) - 1;
            if least.as_ref().is_none_or(|(fewest, _)| users < *fewest) {
                least = Some((users, shared));
            }
        }
        drop(open);
        let free = least.filter(|(users, _)| *users < CROWD).map(|(_, shared)| shared);
        match free {
            free if count < self.most => Choice::OwnOr(free),
            Some(shared) => Choice::Join(shared),
            None => Choice::Wait,
        }
    }

    /// Lets others join, unless enough are shared.
    fn share(&self, client: Object) -> Shared {
        let shared = Arc::new(client);
        let mut open = self.open.lock();
        open.retain(|held| held.upgrade().is_some_and(|held| !held.is_closed()));
        if open.len() < self.most {
            open.push(Arc::downgrade(&shared));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::Manager;
    use tokio_postgres::NoTls;

    use super::*;

    /// A pool of four connections, of which two may be shared.
    #[expect(clippy::disallowed_methods, reason = "the server of the tests is no setting of the service")]
    fn pool() -> (Pool, Sharing) {
        let url = std::env::var("PLAUDIT_TEST_POSTGRES")
            .expect("PLAUDIT_TEST_POSTGRES names no server; `cargo xtask test` starts one");
        let manager = Manager::new(url.parse().unwrap(), NoTls);
        (Pool::builder(manager).max_size(4).build().unwrap(), Sharing::of(4))
    }

    #[tokio::test]
    async fn half_of_the_pool_is_shared_and_given_back_by_the_last_who_uses_it() {
        let (pool, sharing) = pool();
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(sharing.client(&pool).await.unwrap());
        }
        let users = |first: usize| held.iter().filter(|shared| Arc::ptr_eq(shared, &held[first])).count();
        assert!(!Arc::ptr_eq(&held[0], &held[1]));
        assert_eq!((users(0), users(1)), (3, 3));
        assert_eq!((pool.status().size, pool.status().available), (2, 0));
        held.truncate(1);
        assert_eq!(pool.status().available, 1);
        held.clear();
        assert_eq!(pool.status().available, 2);
        assert!(sharing.client(&pool).await.unwrap().query_one("SELECT 1", &[]).await.is_ok());
    }

    #[tokio::test]
    async fn where_the_pool_has_no_other_the_shared_one_is_joined_at_once() {
        let (pool, sharing) = pool();
        let shared = sharing.client(&pool).await.unwrap();
        let taken = [pool.get().await.unwrap(), pool.get().await.unwrap(), pool.get().await.unwrap()];
        assert!(Arc::ptr_eq(&shared, &sharing.client(&pool).await.unwrap()));
        drop(taken);
        assert!(!Arc::ptr_eq(&shared, &sharing.client(&pool).await.unwrap()));
    }

    #[tokio::test]
    async fn a_crowd_takes_no_more_and_the_next_read_uses_a_connection_alone() {
        let (pool, sharing) = pool();
        let mut held = Vec::new();
        for _ in 0..2 * CROWD {
            held.push(sharing.client(&pool).await.unwrap());
        }
        assert_eq!(pool.status().size, 2);
        let alone = sharing.client(&pool).await.unwrap();
        assert_eq!(pool.status().size, 3);
        assert!(held.iter().all(|shared| !Arc::ptr_eq(shared, &alone)));
        // It is not shared, so it is given back while the others are still crowded.
        drop(alone);
        assert_eq!(pool.status().available, 1);
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_not_joined() {
        let (pool, sharing) = pool();
        let ended = sharing.client(&pool).await.unwrap();
        // Whether this ends with an answer or with the connection is for the database to say.
        let _ = ended.simple_query("SELECT pg_terminate_backend(pg_backend_pid())").await;
        while !ended.is_closed() {
            tokio::task::yield_now().await;
        }
        for _ in 0..6 {
            let shared = sharing.client(&pool).await.unwrap();
            assert!(!Arc::ptr_eq(&shared, &ended));
            assert!(shared.query_one("SELECT 1", &[]).await.is_ok());
        }
    }
}
