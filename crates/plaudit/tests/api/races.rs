//! Requests at the same time.

use std::sync::Arc;

use kernel::text::Slug;
use plaudit::log;

use crate::both_engines;
use crate::harness::Server;

/// Asserts that the log of an account has no gap and that its chain verifies; gives the number of its changes.
async fn verified_log(server: &Server, slug: &str) -> i64 {
    let account = server.account(slug).await;
    let mut tx = server.db.snapshot().await.unwrap();
    let (mut hash, mut last) = (log::origin(Slug::parse(slug).unwrap()), 0);
    log::each_of_account(&mut tx, account, |entry| {
        assert_eq!(entry.sequence, last + 1, "the log has a gap");
        hash = entry.chained(&hash);
        assert_eq!(entry.hash, hash, "the chain breaks at {}", entry.sequence);
        last = entry.sequence;
        Ok(())
    })
    .await
    .unwrap();
    drop(tx);
    let sql = "SELECT sequence, hash FROM accounts WHERE id = $1";
    let head = |row: &db::Row<'_>| Ok((row.integer(0)?, row.bytes(1)?.to_vec()));
    let head = server.db.first(sql, &[account.into()], head).await.unwrap().unwrap();
    assert_eq!(head, (last, hash.to_vec()), "the account's head is its last change");
    last
}

/// Runs tasks on all threads and waits for them.
async fn all<T: Send + 'static>(tasks: impl Iterator<Item = impl Future<Output = T> + Send + 'static>) -> Vec<T> {
    let tasks: Vec<_> = tasks.map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

/// Adds one to the number that is a chapter's name: reads it, and writes it if nobody did meanwhile.
async fn increment(server: Arc<Server>) -> usize {
    let path = "/chapter/ChapterS";
    for attempt in 0.. {
        let read = server.put(path, "{}").await.expect(200);
        let number: u64 = read.json()["name"]["en_GB"].as_str().unwrap().parse().unwrap();
        let body = format!(r#"{{"translated":{{"name":{{"en_GB":"{}"}}}}}}"#, number + 1);
        let tag = read.header("etag").unwrap().to_owned();
        let written = server.put_with(path, &body, &[("if-match", &tag)]).await;
        match written.status {
            200 => return attempt,
            status => assert_eq!(status, 412, "{}", written.text()),
        }
    }
    unreachable!()
}

both_engines! {
    async fn concurrent_read_modify_writes_of_one_record_lose_none(server) {
        server.put("/chapter/ChapterS", r#"{"translated":{"name":{"en_GB":"0"}}}"#).await.expect(200);
        let before = server.changes("AccountA").await.len();
        let server = Arc::new(server);
        let attempts: usize = all((0..100).map(|_| increment(Arc::clone(&server)))).await.iter().sum();
        println!("races: 100 read-modify-writes, {attempts} refused");
        let last = server.put("/chapter/ChapterS", "{}").await.expect(200);
        assert_eq!(last.json()["name"]["en_GB"], "100");
        assert_eq!(server.changes("AccountA").await.len(), before + 100);
        verified_log(&server, "AccountA").await;
    }

    async fn concurrent_writes_leave_a_log_without_gaps_and_a_chain_that_verifies(server) {
        let before = verified_log(&server, "AccountA").await;
        let server = Arc::new(server);
        let tasks = (0..120).map(|number: usize| {
            let server = Arc::clone(&server);
            async move {
                let name = format!("Name {number}");
                let answer = match number % 4 {
                    0 => server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await,
                    1 => server.put("/entry/EntryTwo/update-chapter", r#"{"chapter":"ChapterN"}"#).await,
                    2 => {
                        let body = format!(r#"{{"translated":{{"name":{{"de_DE":"{name}"}}}}}}"#);
                        server.put("/chapter/ChapterN", &body).await
                    }
                    _ => {
                        let body = format!(r#"{{"translated":{{"name":{{"de_DE":"{name}"}}}}}}"#);
                        server.put("/chapter/ChapterX", &body).await
                    }
                };
                answer.expect(200);
            }
        });
        all(tasks).await;
        let after = verified_log(&server, "AccountA").await;
        // The first move of the first entry is a change; the second entry never moves.
        assert_eq!(after - before, 30 + 30 + 1);
    }

    async fn accounts_that_write_at_once_have_logs_of_their_own(server) {
        let of_b = server.new_key("AccountB", plaudit::program::keys::Scope::ReadWrite).await;
        let server = Arc::new(server);
        let tasks = (0..80).map(|number: usize| {
            let (server, of_b) = (Arc::clone(&server), of_b.clone());
            async move {
                let body = format!(r#"{{"max_image_width":{}}}"#, number + 1);
                if number.is_multiple_of(2) {
                    server.put("/chapter/ChapterN", &body).await.expect(200);
                } else {
                    server.put_with("/chapter/BChapter", &body, &[("x-api-key", &of_b)]).await.expect(200);
                }
            }
        });
        let before = (verified_log(&server, "AccountA").await, verified_log(&server, "AccountB").await);
        all(tasks).await;
        let after = (verified_log(&server, "AccountA").await, verified_log(&server, "AccountB").await);
        assert_eq!((after.0 - before.0, after.1 - before.1), (40, 40));
    }

    async fn a_record_is_deleted_once_however_many_try(server) {
        let server = Arc::new(server);
        let tasks = (0..30).map(|_| {
            let server = Arc::clone(&server);
            async move { server.delete("/chapter/ChapterN").await.status }
        });
        let statuses = all(tasks).await;
        assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1);
        assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 29);
        verified_log(&server, "AccountA").await;
    }

    async fn an_import_leaves_a_chain_that_verifies(server) {
        assert!(verified_log(&server, "AccountA").await > 30);
        assert!(verified_log(&server, "AccountB").await > 5);
    }
}
