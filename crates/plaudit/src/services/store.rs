//! What the deployment as a whole keeps in the database.

use crate::signing::results::ResultSigner;
use db::{AccountId, Db, DbError};
use kernel::ids::Ids;

/// The name of the secret that signs addresses of files.
pub const DOWNLOADS: &str = "downloads";
/// That of the secret that signs published results.
pub const RESULTS: &str = "results";

/// A secret of the deployment by its name, the same on every node; made when it is first asked for.
// tidy: every account -- the secret is the deployment's
pub async fn secret(db: &Db, name: &'static str, ids: &Ids) -> Result<[u8; 32], DbError> {
    db.write(AccountId::NONE, (name, ids.secret_bytes()), |tx, (name, fresh)| {
        Box::pin(async move {
            tx.execute(
                "INSERT INTO secrets (name, bytes) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                &[(*name).into(), fresh.as_slice().into()],
            )
            .await?;
            let kept = tx
                .first("SELECT bytes FROM secrets WHERE name = $1", &[(*name).into()], |row| {
                    row.bytes(0)?.try_into().map_err(|_| DbError::Failed("the secret is broken".to_owned()))
                })
                .await?;
            kept.ok_or_else(|| DbError::Failed("the secret is gone".to_owned()))
        })
    })
    .await
}

/// What signs published results.
// tidy: every account -- the secret is the deployment's
pub async fn result_signer(db: &Db, ids: &Ids) -> Result<ResultSigner, DbError> {
    let signer = ResultSigner::new(&secret(db, RESULTS, ids).await?);
    signer.ok_or_else(|| DbError::Failed("the secret that signs results is refused".to_owned()))
}

/// The text of the region's maintenance, while there is one.
// tidy: every account -- maintenance is the region's
pub async fn maintenance(db: &Db, region: &str) -> Result<Option<String>, DbError> {
    db.fetch_pipelined("SELECT message FROM maintenance WHERE region = $1", &[region.into()], |row| {
        Ok(row.text(0)?.to_owned())
    })
    .await
}

/// Begins maintenance of a region, changes its text, or ends it.
// tidy: every account -- maintenance is the region's
pub async fn set_maintenance(db: &Db, region: &str, message: Option<&str>) -> Result<(), DbError> {
    let state = (region.to_owned(), message.map(str::to_owned));
    db.write(AccountId::NONE, state, |tx, (region, message)| {
        Box::pin(async move {
            tx.execute("DELETE FROM maintenance WHERE region = $1", &[region.into()]).await?;
            if let Some(message) = message {
                tx.execute(
                    "INSERT INTO maintenance (region, message) VALUES ($1, $2)",
                    &[region.into(), message.into()],
                )
                .await?;
            }
            Ok::<_, DbError>(())
        })
    })
    .await
}

/// Writes these letters to the disk of the database and removes them, each in a transaction of its own: what is removed before its
/// commit never reaches a disk.
// tidy: every account -- the disk is the deployment's
pub async fn probe(db: &Db, letters: String) -> Result<(), DbError> {
    db.write(AccountId::NONE, letters, |tx, letters| {
        Box::pin(async move {
            let sql =
                "INSERT INTO secrets (name, bytes) VALUES ('probe', $1) ON CONFLICT (name) DO UPDATE SET bytes = $1";
            tx.execute(sql, &[letters.as_bytes().into()]).await.map(drop)
        })
    })
    .await?;
    db.write(AccountId::NONE, (), |tx, ()| {
        Box::pin(async move { tx.execute("DELETE FROM secrets WHERE name = 'probe'", &[]).await.map(drop) })
    })
    .await
}
