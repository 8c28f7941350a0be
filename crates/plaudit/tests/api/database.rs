//! The face of the database: what a transaction promises, on both engines.

use db::{AccountId, Db, DbError, Engine, Tx, Value};
use futures_util::FutureExt as _;

use crate::harness::Server;
use crate::{both_engines, harness};

async fn set(tx: &mut Tx, name: &str, message: &str) -> Result<(), DbError> {
    tx.execute("INSERT INTO maintenance (region, message) VALUES ($1, $2)", &[name.into(), message.into()]).await?;
    Ok(())
}

async fn get(db: &Db, name: &str) -> Option<String> {
    db.first("SELECT message FROM maintenance WHERE region = $1", &[name.into()], |row| Ok(row.text(0)?.to_owned()))
        .await
        .unwrap()
}

async fn write(db: &Db, name: &'static str, fails: bool) -> Result<(), DbError> {
    db.write(AccountId(7), (name, fails), |tx, (name, fails)| {
        Box::pin(async move {
            set(tx, name, "kept").await?;
            if *fails { Err(DbError::Failed("on purpose".to_owned())) } else { Ok(()) }
        })
    })
    .await
}

both_engines! {
    async fn a_write_that_fails_leaves_nothing_and_spares_the_others_of_its_group(server) {
        let db = &server.db;
        let (one, two, three) = tokio::join!(write(db, "one", false), write(db, "two", true), write(db, "three", false));
        assert!(one.is_ok() && two.is_err() && three.is_ok());
        assert_eq!(get(db, "one").await.as_deref(), Some("kept"));
        assert_eq!(get(db, "two").await, None);
        assert_eq!(get(db, "three").await.as_deref(), Some("kept"));
    }

    async fn a_write_that_panics_leaves_nothing_and_the_next_one_works(server) {
        let outcome: Result<(), DbError> = server
            .db
            .write(AccountId(7), (), |tx, ()| {
                Box::pin(async move {
                    set(tx, "before the panic", "lost").await?;
                    panic!("on purpose")
                })
            })
            .await;
        assert!(outcome.is_err());
        assert_eq!(get(&server.db, "before the panic").await, None);
        write(&server.db, "after", false).await.unwrap();
        assert_eq!(get(&server.db, "after").await.as_deref(), Some("kept"));
    }

    async fn a_statement_that_is_run_later_fails_its_own_write_alone(server) {
        let twice = |name: &'static str| {
            server.db.write(AccountId(7), name, |tx, name| {
                Box::pin(async move {
                    for _ in 0..2 {
                        let values = vec![(*name).into(), "x".into()];
                        tx.enqueue("INSERT INTO maintenance (region, message) VALUES ($1, $2)", values).await?;
                    }
                    Ok::<_, DbError>(())
                })
            })
        };
        let (broken, fine) = tokio::join!(twice("same"), write(&server.db, "other", false));
        assert!(matches!(broken, Err(DbError::Duplicate(_))), "{broken:?}");
        assert!(fine.is_ok());
        assert_eq!(get(&server.db, "same").await, None);
    }

    async fn a_parameter_is_named_by_its_number_wherever_it_stands(server) {
        let found = server
            .db
            .first("SELECT $2 || $1 || $2", &["a".into(), "b".into()], |row| Ok(row.text(0)?.to_owned()))
            .await
            .unwrap();
        assert_eq!(found.as_deref(), Some("bab"));
    }

    async fn lookups_at_once_get_their_own_answers_also_behind_some_that_were_given_up(server) {
        let number = async |number: i64| {
            server.db.fetch_pipelined("SELECT CAST($1 AS BIGINT)", &[number.into()], |row| row.integer(0)).await.unwrap()
        };
        let lookups = (0..200).map(|asked| async move {
            let first = number(asked).await;
            let _ = number(-1).now_or_never();
            (asked, first, number(asked + 200).await)
        });
        let answers = futures_util::future::join_all(lookups).await;
        assert_eq!(answers.len(), 200);
        for (asked, first, second) in answers {
            assert_eq!((first, second), (Some(asked), Some(asked + 200)));
        }
    }

    async fn concurrent_read_modify_writes_of_one_row_lose_none(server) {
        set_counter(&server.db).await;
        let increments = (0..400).map(|_| {
            server.db.write(AccountId(7), (), |tx, ()| {
                Box::pin(async move {
                    let count = tx
                        .first_for_update("SELECT message FROM maintenance WHERE region = 'count'", &[], |row| {
                            Ok(row.text(0)?.parse::<u32>().unwrap())
                        })
                        .await?
                        .unwrap();
                    let count = (count + 1).to_string();
                    tx.execute("UPDATE maintenance SET message = $1 WHERE region = 'count'", &[count.into()]).await?;
                    Ok::<_, DbError>(())
                })
            })
        });
        for outcome in futures_util::future::join_all(increments).await {
            outcome.unwrap();
        }
        assert_eq!(get(&server.db, "count").await.as_deref(), Some("400"));
    }

    async fn a_snapshot_reads_one_state_whatever_is_written_meanwhile(server) {
        write(&server.db, "first", false).await.unwrap();
        let mut tx = server.db.snapshot().await.unwrap();
        let count = |tx: Tx| async move {
            let mut tx = tx;
            let count = tx.first("SELECT count(*) FROM maintenance", &[], |row| row.integer(0)).await.unwrap();
            (tx, count)
        };
        let (reopened, before) = count(tx).await;
        tx = reopened;
        write(&server.db, "second", false).await.unwrap();
        let (_, after) = count(tx).await;
        assert_eq!((before, after), (Some(1), Some(1)));
        assert_eq!(get(&server.db, "second").await.as_deref(), Some("kept"));
    }

    async fn text_is_compared_byte_by_byte(server) {
        for name in ["a", "B", "ä", "Z", "z", "_"] {
            server.db.write(AccountId(7), name, |tx, name| Box::pin(set(tx, name, ""))).await.unwrap();
        }
        let mut names = Vec::new();
        server
            .db
            .each("SELECT region FROM maintenance ORDER BY region", &[], |row| {
                names.push(row.text(0)?.to_owned());
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(names, ["B", "Z", "_", "a", "z", "ä"]);
    }

    async fn a_column_that_cannot_hold_a_nul_gets_a_stand_in(server) {
        server.db.write(AccountId(7), (), |tx, ()| Box::pin(set(tx, "nul", "a\0b"))).await.unwrap();
        assert_eq!(get(&server.db, "nul").await.as_deref(), Some("a\u{fffd}b"));
        assert_eq!(Value::from("a"), Value::from("a".to_owned()));
    }
}

async fn set_counter(db: &Db) {
    db.write(AccountId(7), (), |tx, ()| Box::pin(set(tx, "count", "0"))).await.unwrap();
}

/// SQLite never compresses.
#[test]
fn a_long_document_that_requests_read_stays_unpacked_in_its_row() {
    harness::run(Engine::Postgres, |server| {
        Box::pin(async move {
            let sizes = server.db.write(AccountId(7), (), |tx, ()| {
                Box::pin(async move {
                    let mut sizes = Vec::new();
                    for table in ["setup_records", "changes"] {
                        tx.execute(&format!("UPDATE {table} SET doc = doc || repeat('a', 5000)"), &[]).await?;
                        let measure = format!(
                            "SELECT CAST(min(pg_column_size(doc)) AS BIGINT), \
                             CAST(pg_relation_size((SELECT reltoastrelid FROM pg_class WHERE oid = '{table}'::regclass)) \
                             AS BIGINT) FROM {table}"
                        );
                        let size = tx.first(&measure, &[], |row| Ok((row.integer(0)?, row.integer(1)?))).await?;
                        sizes.extend(size);
                    }
                    Ok::<_, DbError>(sizes)
                })
            });
            let sizes = sizes.await.unwrap();
            // What the log keeps is read seldom, and there it is packed.
            assert!(matches!(sizes[..], [(5000.., 0), (..5000, _)]), "{sizes:?}");
        })
    });
}

const LOOKUP: &str = "SELECT slug FROM entries WHERE account = $1 AND local_id = $2";

/// The plan that PostgreSQL keeps for [`LOOKUP`].
async fn plan(tx: &mut Tx) -> String {
    let name = "SELECT name FROM pg_prepared_statements WHERE statement = $1";
    let name = tx.first(name, &[LOOKUP.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE {name}(1, 1)");
    let mut plan = Vec::new();
    let explained = tx.each(&explain, &[], |row| {
        plan.push(row.text(0)?.to_owned());
        Ok(())
    });
    explained.await.unwrap();
    plan.concat()
}

/// The plans of [`LOOKUP`] in a transaction that has written thousands of rows: before it is looked at again, and after.
async fn plans_of_a_long_transaction(server: &Server) -> (String, String) {
    let mut tx = server.db.begin().await.unwrap();
    tx.execute("TRUNCATE entries", &[]).await.unwrap();
    tx.first(LOOKUP, &[1.into(), 1.into()], |row| row.integer(0)).await.unwrap();
    let columns = tx.columns("entries").await.unwrap();
    let value = |column: &String| match column.as_str() {
        "slug" => "CAST(n AS TEXT)".to_owned(),
        "local_id" => "n".to_owned(),
        "account" | "division" | "updated" | "archived" | "deleted" | "list_revision" | "revision" | "doc_form" => {
            "1".to_owned()
        }
        _ => "'x'".to_owned(),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let insert = format!(
        "INSERT INTO entries ({}) SELECT {} FROM generate_series(1, 3000) AS n",
        columns.join(", "),
        values.join(", ")
    );
    tx.execute(&insert, &[]).await.unwrap();
    let before = plan(&mut tx).await;
    for _ in 0..2048 {
        tx.execute("SELECT 1", &[]).await.unwrap();
    }
    (before, plan(&mut tx).await)
}

#[test]
fn a_long_transaction_is_planned_for_the_rows_that_it_has_written_itself() {
    harness::run(Engine::Postgres, |server| {
        Box::pin(async move {
            // PostgreSQL throws kept plans away when other databases change much meanwhile; then the first plan is right already,
            // and nothing is shown.
            for _ in 0..10 {
                let (before, after) = plans_of_a_long_transaction(&server).await;
                assert!(after.contains("entries_by_local_id"), "{before}\n{after}");
                if before != after {
                    return;
                }
            }
            panic!("the plan was right from the beginning, ten times");
        })
    });
}
