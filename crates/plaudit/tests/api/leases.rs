//! A piece of background work is done by one node at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use db::{AccountId, DbError};
use kernel::text::Slug;
use plaudit::leases::store::{self, Taken, Turn, Wanted};
use plaudit::leases::{self, Held, LeaseName, NEVER, Work, Works};
use plaudit::services::App;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::both_engines;
use crate::harness::Server;

/// How long a lease of these tests is held, in microseconds.
const LENGTH: i64 = 10_000_000;

fn webhook() -> LeaseName {
    LeaseName::Webhook(Slug::parse("WebhookA").unwrap())
}

/// What a node takes of everything.
fn wanted(server: &Server, node: &str) -> Wanted {
    let now = server.app.database_clock.now();
    let (owner, until) = (format!("{node} 1"), now + LENGTH);
    Wanted { owner, account: None, without: BTreeSet::new(), most: 100, most_jobs: 100, now, until }
}

/// The accounts and names of what is taken.
async fn take(server: &Server, wanted: Wanted) -> Vec<(AccountId, LeaseName)> {
    let taken = store::take(&server.db, wanted).await.unwrap();
    taken.into_iter().map(|Taken { account, name, .. }| (account, name)).collect()
}

async fn put(server: &Server, account: AccountId, name: LeaseName, position: i64, due: i64) {
    let state = (account, name, position, due);
    server
        .db
        .write(account, state, |tx, (account, name, position, due)| {
            Box::pin(store::put(tx, *account, *name, (*position, *due, "{}")))
        })
        .await
        .map_err(|error: DbError| error)
        .unwrap();
}

/// The signal of a lease, where the node holds it.
async fn hold(server: &Server, account: AccountId, name: LeaseName, node: &'static str) -> Option<i64> {
    server
        .db
        .write(account, (account, name, node), |tx, (account, name, node)| {
            Box::pin(async move { store::hold(tx, *account, *name, &format!("{node} 1")).await })
        })
        .await
        .map_err(|error: DbError| error)
        .unwrap()
        .map(|(signal, _)| signal)
}

async fn give_back(server: &Server, account: AccountId, name: LeaseName, due: i64) {
    let state = (account, name, due, server.app.database_clock.now());
    server
        .db
        .write(account, state, |tx, (account, name, due, now)| {
            Box::pin(store::give_back(tx, *account, *name, *due, *now))
        })
        .await
        .map_err(|error: DbError| error)
        .unwrap();
}

async fn signal(server: &Server, account: AccountId, name: LeaseName) {
    let state = (account, name, server.app.database_clock.now());
    server
        .db
        .write(account, state, |tx, (account, name, now)| Box::pin(store::signal(tx, *account, *name, *now)))
        .await
        .map_err(|error: DbError| error)
        .unwrap();
}

/// Work that tells when it begins, and ends when it may.
struct Told {
    begun: mpsc::UnboundedSender<LeaseName>,
    may_end: Arc<Semaphore>,
}

impl Works for Told {
    fn work(&self, _: App, held: Held) -> Option<Work> {
        self.begun.send(held.name).unwrap();
        let may_end = Arc::clone(&self.may_end);
        Some(Box::pin(async move {
            may_end.acquire().await.unwrap().forget();
            Ok(())
        }))
    }
}

both_engines! {
    async fn a_lease_whose_work_still_runs_is_not_begun_by_the_same_node(server) {
        let account = server.account("AccountA").await;
        let ((stop, stopped), (begun, mut begins)) = (oneshot::channel(), mpsc::unbounded_channel());
        let may_end = Arc::new(Semaphore::new(0));
        let works = Arc::new(Told { begun, may_end: Arc::clone(&may_end) });
        put(&server, account, LeaseName::Jobs, NEVER, 0).await;
        let node = tokio::spawn(leases::run(server.app.clone(), works, stopped));
        assert_eq!(begins.recv().await, Some(LeaseName::Jobs));
        // Somebody has removed it and made it anew.
        give_back(&server, account, LeaseName::Jobs, 0).await;
        put(&server, account, webhook(), NEVER, 0).await;
        server.app.wakes.add(account);
        assert_eq!(begins.recv().await, Some(webhook()), "the jobs come first, and still run");
        may_end.add_permits(2);
        assert_eq!(begins.recv().await, Some(LeaseName::Jobs));
        may_end.add_permits(1);
        drop(stop);
        node.await.unwrap();
    }

    async fn a_lease_is_held_by_one_node_until_it_has_ended(server) {
        let account = server.account("AccountA").await;
        put(&server, account, LeaseName::Jobs, NEVER, 0).await;
        assert_eq!(take(&server, wanted(&server, "one")).await, [(account, LeaseName::Jobs)]);
        assert_eq!(take(&server, wanted(&server, "other")).await, []);
        server.clock.advance(10);
        assert_eq!(take(&server, wanted(&server, "other")).await, [], "it is held until its last moment");
        server.clock.advance(1);
        assert_eq!(hold(&server, account, LeaseName::Jobs, "one").await, Some(0), "nobody has taken it yet");
        assert_eq!(take(&server, wanted(&server, "other")).await, [(account, LeaseName::Jobs)]);
        assert_eq!(hold(&server, account, LeaseName::Jobs, "one").await, None);
        assert_eq!(hold(&server, account, LeaseName::Jobs, "other").await, Some(0));
    }

    async fn a_lease_is_taken_when_it_is_due_or_behind_the_log(server) {
        let account = server.account("AccountA").await;
        server.put("/entry/EntryOne/update-title", r#"{"title":"A title"}"#).await.expect(200);
        let sequence = server.db.latest(account);
        put(&server, account, webhook(), sequence, NEVER).await;
        put(&server, AccountId::NONE, LeaseName::Upkeep, NEVER, NEVER).await;
        assert_eq!(take(&server, wanted(&server, "one")).await, []);
        server.put("/chapter/ChapterN", r#"{"status":"inactive"}"#).await.expect(200);
        assert_eq!(take(&server, wanted(&server, "one")).await, [(account, webhook())]);
        let now = server.app.database_clock.now();
        give_back(&server, account, webhook(), now).await;
        put(&server, AccountId::NONE, LeaseName::Upkeep, 0, now).await;
        let both = [(AccountId::NONE, LeaseName::Upkeep), (account, webhook())];
        assert_eq!(take(&server, wanted(&server, "one")).await, both, "what there is becomes due earlier, never later");
        put(&server, AccountId::NONE, LeaseName::Upkeep, 0, NEVER).await;
        give_back(&server, AccountId::NONE, LeaseName::Upkeep, now + 1).await;
        assert_eq!(take(&server, wanted(&server, "one")).await, []);
    }

    async fn who_was_served_longest_ago_comes_first_and_jobs_have_places_of_their_own(server) {
        let [a, b] = [server.account("AccountA").await, server.account("AccountB").await];
        for account in [a, b] {
            put(&server, account, LeaseName::Jobs, NEVER, 0).await;
        }
        put(&server, a, webhook(), NEVER, 0).await;
        let one_job = |server: &Server| Wanted { most_jobs: 1, ..wanted(server, "one") };
        assert_eq!(take(&server, one_job(&server)).await, [(a, LeaseName::Jobs), (a, webhook())]);
        server.clock.advance(1);
        give_back(&server, a, LeaseName::Jobs, 0).await;
        assert_eq!(take(&server, one_job(&server)).await, [(b, LeaseName::Jobs)]);
        server.clock.advance(1);
        give_back(&server, b, LeaseName::Jobs, 0).await;
        let of_b = Wanted { account: Some(b), ..wanted(&server, "one") };
        assert_eq!(take(&server, Wanted { most: 0, ..wanted(&server, "one") }).await, []);
        assert_eq!(take(&server, Wanted { most_jobs: 0, ..of_b.clone() }).await, []);
        assert_eq!(take(&server, Wanted { without: [b].into(), ..of_b.clone() }).await, []);
        assert_eq!(take(&server, of_b).await, [(b, LeaseName::Jobs)]);
        assert_eq!(take(&server, wanted(&server, "one")).await, [(a, LeaseName::Jobs)]);
    }

    async fn a_node_renews_what_it_works_for_and_learns_of_signals(server) {
        let account = server.account("AccountA").await;
        put(&server, account, LeaseName::Jobs, NEVER, 0).await;
        put(&server, account, webhook(), NEVER, 0).await;
        take(&server, wanted(&server, "one")).await;
        signal(&server, account, webhook()).await;
        let now = server.app.database_clock.now();
        let working = |owner: &str| [((account, webhook()), owner.into())].into();
        store::renew(&server.db, "one", working("one 2"), now + 9 * LENGTH).await.unwrap();
        let renewed = store::renew(&server.db, "one", working("one 1"), now + 3 * LENGTH).await.unwrap();
        let shown: Vec<_> = renewed.iter().map(|held| (held.name, held.signal, held.until - now)).collect();
        assert_eq!(shown, [(LeaseName::Jobs, 0, LENGTH), (webhook(), 1, 3 * LENGTH)]);
        let turn = Turn { position: 7, due: NEVER, state: r#"{"a":1}"#.to_owned(), until: now + 2 * LENGTH };
        server.db.write(account, (account, turn), |tx, (account, turn)| {
            Box::pin(store::end_turn(tx, *account, webhook(), turn.clone()))
        }).await.map_err(|error: DbError| error).unwrap();
        server.clock.advance(25);
        assert_eq!(take(&server, wanted(&server, "other")).await, [(account, LeaseName::Jobs)], "no turn shortens a lease");
        give_back(&server, account, webhook(), NEVER).await;
        signal(&server, account, webhook()).await;
        let mut taken = store::take(&server.db, wanted(&server, "other")).await.unwrap();
        let Taken { position, state, signal, .. } = taken.pop().unwrap();
        assert_eq!((position, state.as_str(), signal), (7, r#"{"a":1}"#, 2));
        store::give_back_all(&server.db, "other", now).await.unwrap();
        assert_eq!(hold(&server, account, webhook(), "other").await, None);
        assert_eq!(take(&server, wanted(&server, "one")).await.len(), 2);
    }

    async fn a_lease_that_another_node_asks_for_is_left_to_it_for_as_long_as_a_lease_lasts(server) {
        let account = server.account("AccountA").await;
        let names = ["WebhookA", "WebhookB", "WebhookC"].map(|slug| LeaseName::Webhook(Slug::parse(slug).unwrap()));
        for name in names {
            put(&server, account, name, NEVER, 0).await;
        }
        put(&server, account, LeaseName::Jobs, NEVER, 0).await;
        take(&server, wanted(&server, "one")).await;
        let now = server.app.database_clock.now();
        assert_eq!(store::shares(&server.db, now).await.unwrap(), [("one".to_owned(), 3)].into(), "jobs do not count");
        assert_eq!(store::shares(&server.db, now + LENGTH + 1).await.unwrap(), [].into());

        let none = BTreeSet::new();
        let first = store::unasked(&server.db, "one", &none, 1).await.unwrap();
        assert_eq!(first, [(account, names[0])]);
        store::ask(&server.db, "one", "two", first).await.unwrap();
        let shares = [("one".to_owned(), 2), ("two".to_owned(), 1)];
        assert_eq!(store::shares(&server.db, now).await.unwrap(), shares.into(), "who has asked for one does not ask again");
        let left = store::unasked(&server.db, "one", &none, 9).await.unwrap();
        assert_eq!(left, [(account, names[1]), (account, names[2])]);
        assert_eq!(store::unasked(&server.db, "one", &[account].into(), 9).await.unwrap(), []);
        store::ask(&server.db, "one", "three", vec![(account, names[0])]).await.unwrap();
        store::ask(&server.db, "three", "two", vec![(account, names[1])]).await.unwrap();
        let renewed = store::renew(&server.db, "one", BTreeMap::new(), now + LENGTH).await.unwrap();
        let asked_for: Vec<_> = renewed.iter().filter(|held| held.is_asked_for).map(|held| held.name).collect();
        assert_eq!(asked_for, [names[0]], "by one node alone, and of who has it");

        for name in names {
            give_back(&server, account, name, now).await;
        }
        assert_eq!(take(&server, wanted(&server, "one")).await, [(account, names[1]), (account, names[2])]);
        assert_eq!(take(&server, wanted(&server, "two")).await, [(account, names[0])]);
        give_back(&server, account, names[0], now).await;
        assert_eq!(take(&server, wanted(&server, "one")).await, [(account, names[0])], "it was asked for once");
        store::ask(&server.db, "one", "two", vec![(account, names[0])]).await.unwrap();
        give_back(&server, account, names[0], now).await;
        server.clock.advance(11);
        let others = take(&server, wanted(&server, "three")).await;
        assert!(others.contains(&(account, names[0])), "a node that died gets nothing");
    }
}
