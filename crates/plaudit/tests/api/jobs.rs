//! Jobs: each of their effects once, whatever breaks off, and every account in its turn.

use std::collections::BTreeSet;
use std::pin::pin;
use std::task::Poll;

use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};
use plaudit::background::{self, Works};
use plaudit::jobs::store::Added;
use plaudit::jobs::{self, Failure, Job, JobError, Outcome, Patience, Report, Run, State, Step, Work};
use plaudit::leases::LeaseName;
use plaudit::leases::store::{self as leases, Wanted};
use plaudit::log::{Actor, Origin};
use plaudit::program::keys::Scope;
use tokio::sync::oneshot;

use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::ACCOUNT_B;

/// The kinds of jobs of these tests.
const WORKS: Works = Works {
    jobs: &[
        Work { kind: "counts", patience: Patience::MINUTES, run: |run| Box::pin(count(run)) },
        Work {
            kind: "breaks",
            patience: Patience::MINUTES,
            run: |_| Box::pin(async { Err(JobError::Failed("The sea is rough.".to_owned())) }),
        },
        Work { kind: "takes a number", patience: Patience::MINUTES, run: |run| Box::pin(run.step((), take_number)) },
        Work { kind: "tells", patience: Patience::MINUTES, run: |run| Box::pin(run.step((), tell)) },
        Work { kind: "hangs", patience: Patience::MINUTES, run: |run| Box::pin(hang(run)) },
        Work { kind: "cancels itself", patience: Patience::MINUTES, run: |run| Box::pin(cancel_itself(run)) },
    ],
};

/// Counts to the number of its input, each number in a step of its own.
async fn count(run: &mut Run) -> Result<(), JobError> {
    let to: usize = run.input.parse().unwrap();
    while run.checkpoint().len() < to {
        run.step(to, count_one).await?;
    }
    Ok(())
}

fn count_one<'a>(tx: &'a mut Tx, to: &'a usize, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        tx.execute(EFFECT, &[step.account.into()]).await?;
        step.report.progress.total = Some(i64::try_from(*to).unwrap());
        step.report.done(1);
        step.checkpoint.push('|');
        Ok(())
    })
}

/// An effect on the database that can be counted.
const EFFECT: &str = "INSERT INTO idempotent_usage (account, bytes) VALUES ($1, 1) \
                      ON CONFLICT (account) DO UPDATE SET bytes = idempotent_usage.bytes + 1";

/// Tells as what is done how many jobs of all accounts were done with it.
fn take_number<'a>(tx: &'a mut Tx, (): &'a (), step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        let sql = format!("{EFFECT} RETURNING bytes");
        let number = tx.first(&sql, &[AccountId::NONE.into()], |row| row.integer(0)).await?;
        step.report.done(number.unwrap());
        Ok(())
    })
}

fn tell<'a>(_: &'a mut Tx, (): &'a (), step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        step.report.result(Kind::Category, "CategChi");
        step.report.result(Kind::Entry, "EntryOne");
        step.report.done(2);
        step.report.failed("EntryTwo", "The entry is in the trash.");
        Ok(())
    })
}

/// Says that it has begun, and never gets on.
async fn hang(run: &mut Run) -> Result<(), JobError> {
    run.app.wakes.add(run.account());
    std::future::pending().await
}

async fn cancel_itself(run: &mut Run) -> Result<(), JobError> {
    run.step(2, count_one).await?;
    let state = (run.account(), run.job(), run.app.clock.now());
    run.app
        .db
        .write(run.account(), state, |tx, (account, job, now)| {
            Box::pin(jobs::store::end(tx, *account, *job, (State::Cancelled, *now)))
        })
        .await
        .map_err(|error: DbError| error)?;
    run.step(2, count_one).await
}

async fn add(server: &Server, account: AccountId, kind: &'static str, input: &'static str) -> Slug {
    let origin = Origin { actor: Actor::System, source: "system", at: server.clock.now() };
    let state = (account, kind, input, origin, server.ids.clone());
    server
        .db
        .write(account, state, |tx, (account, kind, input, origin, ids)| {
            Box::pin(jobs::add(tx, *account, (kind, (*input).to_owned()), origin, ids))
        })
        .await
        .map_err(|error: DbError| error)
        .unwrap()
}

/// Jobs that have ended, that run and that wait, for the answers of the interface.
pub async fn put(server: &Server) {
    let account = server.account("AccountA").await;
    let now = server.clock.now();
    server
        .db
        .write(account, (account, now), |tx, (account, now)| {
            Box::pin(async move {
                let [ended, half_done, waits] = JOBS.map(|slug| Slug::parse(slug).unwrap());
                for (slug, seconds) in [(ended, 2), (half_done, 1), (waits, 0)] {
                    let created = Timestamp::from_seconds(now.as_seconds() - seconds);
                    let (input, actor) = ("{}".to_owned(), Actor::System.to_string());
                    let added = Added { slug, kind: "webhook_replay", input, actor, created };
                    jobs::store::insert(tx, *account, added).await?;
                }
                let mut report = Report::default();
                report.result(Kind::Category, "CategChi");
                report.result(Kind::Entry, "EntryOne");
                report.done(2);
                report.failed("EntryTwo", "The entry is in the trash.");
                jobs::store::begin(tx, *account, half_done, (1, *now)).await?;
                jobs::store::step(tx, *account, half_done, ("2", &report)).await?;
                jobs::store::end(tx, *account, ended, (State::Done, *now)).await
            })
        })
        .await
        .map_err(|error: DbError| error)
        .unwrap();
}

/// The jobs that [`put`] adds, the oldest first.
const JOBS: [&str; 3] = ["JobEnded", "JobHalfD", "JobWaits"];

/// The slugs of a page, and where the next one begins.
async fn page(server: &Server, query: &str) -> (Vec<String>, Option<String>) {
    let page = server.get(&format!("/job?{query}")).await.expect(200).json();
    let slugs = page["data"].as_array().unwrap().iter().map(|job| job["slug"].as_str().unwrap().to_owned());
    (slugs.collect(), page["next_cursor"].as_str().map(str::to_owned))
}

async fn find(server: &Server, account: AccountId, job: Slug) -> Job {
    jobs::store::find(&server.db, account, job).await.unwrap().unwrap().0
}

/// How many effects jobs have had on an account.
async fn effects(server: &Server, account: AccountId) -> i64 {
    let sql = "SELECT bytes FROM idempotent_usage WHERE account = $1";
    server.db.first(sql, &[account.into()], |row| row.integer(0)).await.unwrap().unwrap_or(0)
}

async fn settle(server: &Server) {
    background::settle(&server.app, WORKS).await.unwrap();
}

/// Does work until it was looked at so many times, and drops it wherever it is then, as a node that dies.
async fn settle_and_die(server: &Server, looks: usize) {
    let mut settling = pin!(background::settle(&server.app, WORKS));
    let mut looked = 0;
    std::future::poll_fn(|context| {
        looked += 1;
        if settling.as_mut().poll(context).is_ready() || looked > looks { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    // The lease of the dead ends.
    server.clock.advance(11);
}

both_engines! {
    async fn each_step_of_a_job_is_done_once_however_often_nodes_die(server) {
        let account = server.account("AccountA").await;
        let job = add(&server, account, "counts", "100").await;
        for death in 0..24 {
            settle_and_die(&server, 1 + death % 8).await;
        }
        // What a dead node had handed over to the database may hold the lease for a moment.
        while !find(&server, account, job).await.state.is_ended() {
            settle(&server).await;
        }
        let Job { state, report, finished, .. } = find(&server, account, job).await;
        assert_eq!((state, report.progress.done, report.progress.total), (State::Done, 100, Some(100)));
        assert_eq!(effects(&server, account).await, 100);
        assert!(finished.is_some());
    }

    async fn an_account_does_one_job_at_a_time_and_accounts_take_turns(server) {
        let [a, b] = [server.account("AccountA").await, server.account("AccountB").await];
        let mut jobs = Vec::new();
        for account in [a, a, a, b] {
            server.clock.advance(1);
            jobs.push((account, add(&server, account, "takes a number", "{}").await));
        }
        settle(&server).await;
        let mut numbers = Vec::new();
        for (account, job) in jobs {
            numbers.push(find(&server, account, job).await.report.progress.done);
        }
        assert_eq!(numbers, [1, 3, 4, 2]);
    }

    async fn a_run_that_fails_is_begun_again_after_a_pause_and_fails_with_the_eighth(server) {
        let account = server.account("AccountA").await;
        let job = add(&server, account, "breaks", "{}").await;
        let begun = find(&server, account, job).await;
        assert_eq!((begun.state, begun.started), (State::Queued, None));
        let first = server.clock.now();
        for pause in [2, 4, 8, 16, 32, 64, 128] {
            settle(&server).await;
            let Job { state, report, started, .. } = find(&server, account, job).await;
            assert_eq!((state, report.errors.len(), started), (State::Queued, 0, Some(first)), "{pause}");
            let before = server.db.statements();
            server.clock.advance(pause - 1);
            settle(&server).await;
            assert_eq!(server.db.statements() - before, 1, "nothing is due yet");
            server.clock.advance(1);
        }
        settle(&server).await;
        let Job { state, report, .. } = find(&server, account, job).await;
        let error = Failure { item: String::new(), message: "The sea is rough.".to_owned() };
        assert_eq!((state, report.errors), (State::Failed, vec![error]));
    }

    async fn a_job_that_takes_its_nodes_with_it_ends(server) {
        let account = server.account("AccountA").await;
        let job = add(&server, account, "hangs", "{}").await;
        for _ in 0..8 {
            tokio::select! {
                _ = background::settle(&server.app, WORKS) => panic!("it does not hang"),
                _ = server.app.wakes.next() => server.clock.advance(11),
            }
        }
        assert_eq!(find(&server, account, job).await.state, State::Running);
        let next = add(&server, account, "counts", "1").await;
        settle(&server).await;
        let Job { state, report, .. } = find(&server, account, job).await;
        assert_eq!((state, report.errors.len()), (State::Failed, 1));
        assert_eq!(find(&server, account, next).await.state, State::Done);
    }

    async fn a_job_of_a_kind_that_nobody_knows_does_not_hold_up_others(server) {
        let account = server.account("AccountA").await;
        let unknown = add(&server, account, "of tomorrow", "{}").await;
        let known = add(&server, account, "counts", "1").await;
        settle(&server).await;
        assert_eq!(find(&server, account, unknown).await.state, State::Queued);
        assert_eq!(find(&server, account, known).await.state, State::Done);
    }

    async fn a_job_that_is_cancelled_stops_before_its_next_step(server) {
        let account = server.account("AccountA").await;
        let running = add(&server, account, "cancels itself", "{}").await;
        settle(&server).await;
        assert_eq!(effects(&server, account).await, 1, "what was done stays");
        let Job { state, finished, .. } = find(&server, account, running).await;
        assert_eq!((state, finished), (State::Cancelled, Some(server.clock.now())));
    }

    async fn what_fails_of_a_job_is_told_by_it_and_it_is_done_all_the_same(server) {
        let account = server.account("AccountA").await;
        let job = add(&server, account, "tells", "{}").await;
        settle(&server).await;
        let Job { state, report, .. } = find(&server, account, job).await;
        assert_eq!((state, report.progress.done, report.progress.failed), (State::Done, 2, 1));
        let result = |kind: &str, slug: &str| Outcome { kind: kind.to_owned(), slug: slug.to_owned() };
        assert_eq!(report.results, [result("category", "CategChi"), result("entry", "EntryOne")]);
        let error = Failure { item: "EntryTwo".to_owned(), message: "The entry is in the trash.".to_owned() };
        assert_eq!(report.errors, [error]);
    }

    async fn a_job_is_begun_when_its_account_is_woken_and_left_to_others_when_the_node_ends(server) {
        let account = server.account("AccountA").await;
        let (stop, stopped) = oneshot::channel();
        let node = tokio::spawn(background::run(server.app.clone(), WORKS, stopped));
        let job = add(&server, account, "counts", "1000000").await;
        server.app.wakes.add(account);
        while find(&server, account, job).await.report.progress.done == 0 {
            tokio::task::yield_now().await;
        }
        drop(stop);
        node.await.unwrap();
        assert_eq!(find(&server, account, job).await.state, State::Running);
        let now = server.app.database_clock.now();
        let (owner, without, until) = ("other 1".to_owned(), BTreeSet::new(), now + 1);
        let wanted = Wanted { owner, account: Some(account), without, most: 10, most_jobs: 10, now, until };
        let taken = leases::take(&server.db, wanted).await.unwrap();
        assert_eq!(taken.iter().map(|taken| taken.name).collect::<Vec<_>>(), [LeaseName::Jobs]);
    }

    async fn nothing_is_done_for_an_account_that_is_suspended(server) {
        let account = server.account("AccountB").await;
        let job = add(&server, account, "counts", "1").await;
        let suspended = ACCOUNT_B.lines().next().unwrap().replace("\"features\"", "\"suspended\":true,\"features\"");
        server.import(&suspended).await;
        settle(&server).await;
        assert_eq!(find(&server, account, job).await.state, State::Queued);
        server.import(&suspended.replace("true", "false")).await;
        settle(&server).await;
        assert_eq!(find(&server, account, job).await.state, State::Done);
    }

    async fn jobs_that_ended_are_forgotten_thirty_days_later(server) {
        let account = server.account("AccountA").await;
        let done = add(&server, account, "counts", "1").await;
        settle(&server).await;
        server.clock.advance(30 * 86_400);
        let waiting = add(&server, account, "of tomorrow", "{}").await;
        background::begin_upkeep(&server.app).await.unwrap();
        settle(&server).await;
        assert_eq!(find(&server, account, done).await.state, State::Done, "not before their time is over");
        server.clock.advance(601);
        settle(&server).await;
        assert_eq!(jobs::store::find(&server.db, account, done).await.unwrap(), None);
        assert_eq!(find(&server, account, waiting).await.state, State::Queued);
    }

    // GetJobCollectionV23
    async fn jobs_are_listed_by_kind_and_state_the_last_one_first(server) {
        put(&server).await;
        let all = ["JobWaits", "JobHalfD", "JobEnded"].map(str::to_owned);
        assert_eq!(page(&server, "").await, (all.to_vec(), None));
        for (query, expected) in [
            ("state=running", &all[1..2]),
            ("kind=webhook_replay&state=done", &all[2..]),
            ("kind=mail", &[]),
            ("kind=webhook_replay", &all[..]),
        ] {
            assert_eq!(page(&server, query).await, (expected.to_vec(), None), "{query}");
        }
        let (first, cursor) = page(&server, "per_page=2").await;
        assert_eq!(first, all[..2]);
        server.clock.advance(1);
        add(&server, server.account("AccountA").await, "counts", "1").await;
        let next = format!("per_page=2&cursor={}", cursor.unwrap());
        assert_eq!(page(&server, &next).await, (all[2..].to_vec(), None), "what was added since does not move a page");
        for query in ["colour=red", "state=open", "page=1", "order=created", "per_page=101", "cursor=nonsense", "count=none"] {
            server.get(&format!("/job?{query}")).await.expect(400);
        }
    }

    // GetJobV23, DeleteJobV23
    async fn a_job_that_waits_or_runs_is_cancelled_and_one_that_has_ended_is_not(server) {
        put(&server).await;
        for slug in ["JobWaits", "JobHalfD"] {
            let path = format!("/job/{slug}");
            let tag = server.get(&path).await.expect(200).header("etag").unwrap().to_owned();
            server.delete_with(&path, &[("if-match", "\"7.1.other\"")]).await.expect(412);
            server.delete_with(&path, &[("if-match", &tag)]).await.expect(204);
            let job = server.get(&path).await.expect(200).json();
            assert_eq!((job["state"].as_str(), job["finished"].is_string()), (Some("cancelled"), true), "{job}");
        }
        for slug in JOBS {
            let answer = server.delete(&format!("/job/{slug}")).await.expect(422);
            assert!(answer.json().get("errors").is_none());
        }
        settle(&server).await;
        assert_eq!(server.get("/job/JobWaits").await.expect(200).json()["state"], "cancelled");
    }

    async fn a_job_of_another_account_is_an_unknown_one_and_a_key_that_reads_cancels_nothing(server) {
        let mut server = server;
        put(&server).await;
        server.key = server.new_key("AccountA", Scope::Read).await;
        server.delete("/job/JobWaits").await.expect(403);
        server.key = server.new_key("AccountB", Scope::ReadWrite).await;
        assert_eq!(page(&server, "").await, (vec![], None));
        for slug in ["JobWaits", "NoSuchJo"] {
            server.get(&format!("/job/{slug}")).await.expect(404);
            server.delete(&format!("/job/{slug}")).await.expect(404);
        }
        server.get("/job/short").await.expect(400);
    }
}
