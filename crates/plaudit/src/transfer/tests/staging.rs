use super::super::staging::remove_some_abandoned;
use super::*;
use crate::program::accounts;
use db::tables::TABLES;

#[tokio::test]
async fn what_a_cut_off_import_wrote_is_found_by_nobody_and_removed_by_the_next_or_by_the_upkeep() {
    let place = Place::new().await;
    let cut_off = async || {
        let fails =
            |_: &mut Tx, _| -> BoxFuture<'_, _> { Box::pin(async { Err(DbError::Failed("cut off".to_owned())) }) };
        let (outcome, reported) = place.import_with(&whole(), None, fails).await;
        assert_eq!(
            (outcome.unwrap_err().to_string(), reported),
            ("the database failed: cut off".to_owned(), Vec::new())
        );
        assert!(place.count("entries").await > 0);
    };
    let find = async || {
        let mut tx = place.db.snapshot().await.unwrap();
        accounts::store::find(&mut tx, Slug::parse("AccountA").unwrap()).await.unwrap()
    };
    cut_off().await;
    assert_eq!(find().await, None);
    // What failed by itself lets go at once; of what was killed nobody knows, and it may be at work still.
    let kill = "UPDATE accounts SET importing = $1 WHERE importing <> 0";
    place.write(kill, place.clock.now()).await;
    assert_eq!(
        place.faults(&whole()).await,
        [
            "a.jsonl: is about the account AccountA, which is being imported, or was until an import was cut off just now: \
          try again in a minute"
        ]
    );
    place.clock.advance(31);
    cut_off().await;
    place.write(kill, place.clock.now()).await;
    assert_eq!(remove_abandoned(&place.db, place.clock.now()).await.unwrap(), 0);
    place.clock.advance(601);
    assert_eq!(remove_abandoned(&place.db, place.clock.now()).await.unwrap(), 1);
    for table in TABLES {
        assert_eq!(place.count(table).await, 0, "{table}");
    }
    place.import(&whole()).await;
    assert!(find().await.is_some());
}

/// Another import comes in the last step, before this one is committed.
fn taken_over(tx: &mut Tx, account: AccountId) -> BoxFuture<'_, Result<(), DbError>> {
    let sql = "UPDATE accounts SET importing = 7 WHERE id = $1";
    Box::pin(async move { tx.execute(sql, &[account.into()]).await.map(drop) })
}

#[tokio::test]
async fn what_another_import_has_taken_over_is_not_removed() {
    let place = Place::new().await;
    let (outcome, _) = place.import_with(&whole(), None, taken_over).await;
    outcome.unwrap();
    let staged = accounts::store::staged(&mut place.db.snapshot().await.unwrap()).await.unwrap();
    let [left] = staged[..] else { panic!("{staged:?}") };
    // Whoever noted something else has nothing to remove.
    let another = (left.account, Timestamp::from_microseconds(8));
    let removed = place.db.write(left.account, another, |tx, left| Box::pin(remove_some_abandoned(tx, left))).await;
    assert!(!removed.unwrap());
    assert!(place.count("entries").await > 0);
}
