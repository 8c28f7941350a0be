//! The snapshot of a program: brought up to date by what has changed, it is the one that would be loaded anew.

use std::sync::Arc;

use plaudit::program::Program;
use plaudit::text::Slug;

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
    let loaded = Program::load(&server.db, account, &Arc::from(BASE), &server.clock).await.unwrap().unwrap();
    assert_eq!(shown(&kept), shown(&loaded));
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
            .map_err(|error: plaudit::db::DbError| error)
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
            .map_err(|error: plaudit::db::DbError| error)
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
}
