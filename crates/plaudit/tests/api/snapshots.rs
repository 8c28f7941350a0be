//! The snapshot of a program: brought up to date by what has changed, it is the one that would be loaded anew.

use std::sync::Arc;

use kernel::text::Slug;
use plaudit::program::Program;
use serde_json::json;
use tower::ServiceExt;

use crate::both_engines;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, Server};

/// Everything that a program holds, in an order of its own.
fn shown(program: &Program) -> String {
    let mut keys: Vec<_> = program.keys.iter().map(|entry| format!("{entry:?}")).collect();
    keys.sort();
    let fragments = ["sSeasonAc", "hChapterN", "hChapterS", "fFormEntr", "cCategChi", "rRoleEntr"].map(|reference| {
        let (letter, slug) = reference.split_at(1);
        let fragment = program.fragment(letter.chars().next().unwrap(), Slug::parse(slug).unwrap());
        fragment.map(|fragment| (fragment.json.clone(), fragment.xml.clone()))
    });
    let records = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        program.seasons,
        program.chapters,
        program.forms,
        program.tabs,
        program.categories,
        program.fields,
        program.roles,
        program.taxes,
        program.prices
    );
    format!("{} {:?} {keys:?} {fragments:?} {records}", program.version, program.account)
}

/// The program that the service has is the one that is in the database.
async fn is_current(server: &Server) {
    let account = server.account("AccountA").await;
    let kept = server.app.programs.reload(account).await.unwrap().unwrap();
    let mut tx = server.db.snapshot().await.unwrap();
    let loaded = Program::load(&mut tx, account, &Arc::from(BASE), &server.clock).await.unwrap().unwrap();
    let (kept, loaded) = (shown(&kept), shown(&loaded));
    let same = kept.bytes().zip(loaded.bytes()).take_while(|(kept, loaded)| kept == loaded).count();
    let from = |shown: &str| {
        String::from_utf8_lossy(&shown.as_bytes()[same.saturating_sub(200)..]).chars().take(400).collect::<String>()
    };
    assert!(kept == loaded, "kept {}\nloaded {}", from(&kept), from(&loaded));
}

/// How many snapshots were loaded whole, and how many were brought up to date.
fn loads(server: &Server) -> (u64, u64) {
    let loads = server.app.programs.loads();
    (loads.whole.read().0, loads.changes.read().0)
}

both_engines! {
    async fn a_snapshot_brought_up_to_date_is_the_one_that_is_loaded(server) {
        is_current(&server).await;
        let (whole, changes) = loads(&server);
        server.put("/chapter/ChapterN", r#"{"translated":{"name":{"en_GB":"Far north"}}}"#).await.expect(200);
        is_current(&server).await;
        server.delete("/chapter/ChapterS").await.expect(204);
        server.delete("/field/FieldTxt").await.expect(204);
        is_current(&server).await;
        let lines = r#"{"kind":"chapter","slug":"ChapterZ","season":"SeasonAc","name":{"en_GB":"Z"}}
{"kind":"chapter","slug":"ChapterA","season":"SeasonAc","name":{"en_GB":"A"}}
{"kind":"role","slug":"RoleEntr","name":{"en_GB":"Participant"}}"#;
        server.import(&of_account_a(lines)).await;
        is_current(&server).await;
        server.new_key("AccountA", plaudit::program::keys::Scope::Read).await;
        is_current(&server).await;
        let (whole_now, changes_now) = loads(&server);
        assert_eq!(whole_now, whole, "nothing was loaded whole");
        assert!(changes_now >= changes + 4, "{changes} {changes_now}");
        is_current(&server).await;
        assert_eq!(loads(&server), (whole_now, changes_now), "nothing has changed");
    }

    async fn two_nodes_may_change_one_set_up_at_the_same_time(server) {
        let other = server.other_process().await;
        let node = plaudit::router::new(server.app.clone());
        let changes = (0..40).map(|number| {
            let chapter = ["/chapter/ChapterN", "/chapter/ChapterS"][number / 2 % 2];
            let body = json!({"translated": {"name": {"en_GB": format!("Chapter {number}")}}}).to_string();
            let request = server.request("PUT", chapter, &[], Some(&body));
            let of = if number % 2 == 0 { node.clone() } else { other.clone() };
            async move { of.oneshot(request).await.unwrap().status() }
        });
        let statuses = futures_util::future::join_all(changes).await;
        assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        is_current(&server).await;
    }

    async fn a_database_with_another_history_is_loaded_whole(server) {
        is_current(&server).await;
        let (whole, _) = loads(&server);
        let account = server.account("AccountA").await;
        // As after a restore: the versions may meet, the hashes of changes do not.
        server
            .db
            .write(account, account, |tx, account| {
                Box::pin(async move {
                    tx.execute("UPDATE changes SET hash = $2 WHERE account = $1", &[(*account).into(), vec![0_u8; 32].into()])
                        .await
                        .map(drop)
                })
            })
            .await
            .map_err(|error: db::DbError| error)
            .unwrap();
        is_current(&server).await;
        assert_eq!(loads(&server).0, whole + 1);
    }

    async fn a_record_that_cannot_be_read_is_a_fault_for_whoever_needs_it_and_for_nobody_else(server) {
        let account = server.account("AccountA").await;
        server
            .db
            .write(account, account, |tx, account| {
                let sql = "UPDATE setup_records SET doc = '{\"slug\":5}' WHERE account = $1 AND slug = 'ChapterN'";
                Box::pin(async move { tx.execute(sql, &[(*account).into()]).await.map(drop) })
            })
            .await
            .map_err(|error: db::DbError| error)
            .unwrap();
        let server = server.restart().await;
        server.get("/season").await.expect(200);
        let before = server.changes("AccountA").await;
        for _ in 0..2 {
            server.get("/chapter/ChapterN").await.expect(500);
            server.get("/entry/EntryOne").await.expect(500);
            server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterN"}"#).await.expect(500);
            server.get("/season").await.expect(200);
            server.get("/chapter/ChapterS").await.expect(200);
        }
        assert_eq!(server.changes("AccountA").await, before);
    }

    async fn a_changed_record_that_cannot_be_read_is_a_fault_for_whoever_needs_it_and_for_nobody_else(server) {
        server.get("/chapter/ChapterN").await.expect(200);
        server.put("/chapter/ChapterN", r#"{"translated":{"name":{"en_GB":"Far north"}}}"#).await.expect(200);
        // As another node of a newer version may write it.
        server.import(&of_account_a(r#"{"kind":"chapter","slug":"ChapterN","season":"SeasonAc","name":{"en_GB":"N"}}"#)).await;
        run_sql(&server, "UPDATE setup_records SET doc = '5' || doc WHERE account = $1 AND slug = 'ChapterN'").await;
        for _ in 0..2 {
            server.get("/season").await.expect(200);
            server.get("/chapter/ChapterS").await.expect(200);
            server.get("/chapter/ChapterN").await.expect(500);
        }
    }
}

/// Runs a statement of which the account is the parameter.
async fn run_sql(server: &Server, sql: &'static str) {
    let account = server.account("AccountA").await;
    let work = server.db.write(account, (account, sql), |tx, (account, sql)| {
        Box::pin(async move { tx.execute(sql, &[(*account).into()]).await.map(drop) })
    });
    work.await.map_err(|error: db::DbError| error).unwrap();
}
