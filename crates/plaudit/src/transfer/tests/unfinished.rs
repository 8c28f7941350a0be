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
    assert_eq!(
        place.faults(&whole()).await,
        [
            "a.jsonl: is about the account AccountA, which is being imported, or was until an import was cut off just now: \
          try again in a minute"
        ]
    );
    place.clock.advance(31);
    cut_off().await;
    assert_eq!(forget_unfinished(&place.db, place.clock.now()).await.unwrap(), 0);
    place.clock.advance(601);
    assert_eq!(forget_unfinished(&place.db, place.clock.now()).await.unwrap(), 1);
    for table in TABLES {
        assert_eq!(place.count(table).await, 0, "{table}");
    }
    place.import(&whole()).await;
    assert!(find().await.is_some());
}
