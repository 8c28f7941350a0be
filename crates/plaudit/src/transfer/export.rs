//! Export: the whole account as JSON Lines, from one state of the database.

use std::io::Write;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use futures_util::TryStreamExt as _;

use super::Error;
use crate::program::accounts::{self, Account};
use crate::program::{Context, store as program_store};
use crate::records::store;
use crate::storage::{Pieces, Storage};
use db::{AccountId, Db, DbError, Tx};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp};

/// Writes the account: itself first, then its records by kind and slug, so that nothing refers to what comes after it.
pub async fn export(db: &Db, storage: &Storage, account: Slug, out: &mut (dyn Write + Send)) -> Result<(), Error> {
    let mut tx = db.snapshot().await?;
    let (id, record) = account_of(&mut tx, account).await?;
    write_line(out, Kind::Account, &program_store::stored(&record))?;
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_in_files()) {
        let mut last = String::new();
        while let Some(forms) = next_forms(&mut tx, id, kind, &mut last).await? {
            for (name, form) in forms {
                if kind == Kind::File {
                    write_file(out, &form, storage.get_stream(account.as_str(), &name, None).await?.1).await?;
                } else {
                    write_line(out, kind, &form)?;
                }
            }
        }
    }
    Ok(out.flush()?)
}

/// The account of a slug.
pub(super) async fn account_of(tx: &mut Tx, account: Slug) -> Result<(AccountId, Account), Error> {
    let id = accounts::store::find(tx, account).await?.ok_or(Error::NoAccount(account))?;
    let open = Context {
        languages: Locale::ALL.to_vec(),
        default_language: Locale::EnGb,
        now: Timestamp::from_microseconds(0),
    };
    let record = accounts::store::read(tx, id, &open).await?.ok_or(Error::NoAccount(account))?;
    Ok((id, record))
}

/// The next records of a kind: their slugs or tokens, and their program-file forms. Nothing at the end.
pub(super) async fn next_forms(
    tx: &mut Tx,
    id: AccountId,
    kind: Kind,
    last: &mut String,
) -> Result<Option<Vec<(String, String)>>, Error> {
    let Some((rows, found)) = store::rows(kind).zip(store::next(tx, id, kind, last).await?) else { return Ok(None) };
    let forms = found.into_iter().map(|(name, row)| Ok((name, (rows.exported)(&row)?)));
    Ok(Some(forms.collect::<Result<_, DbError>>()?))
}

/// Writes a record in its program-file form.
pub(super) fn write_line(out: &mut (dyn Write + Send), kind: Kind, form: &str) -> std::io::Result<()> {
    writeln!(out, "{{\"kind\":\"{kind}\",{}", form.strip_prefix('{').unwrap_or(form))
}

/// Writes what is known of a file, and its bytes.
async fn write_file(out: &mut (dyn Write + Send), form: &str, mut pieces: Pieces) -> Result<(), Error> {
    let members = form.strip_prefix('{').and_then(|form| form.strip_suffix('}')).unwrap_or_default();
    write!(out, "{{\"kind\":\"{}\",{members},\"data\":\"", Kind::File)?;
    let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
    while let Some(piece) = pieces.try_next().await? {
        encoder.write_all(&piece)?;
    }
    encoder.finish()?;
    drop(encoder);
    Ok(writeln!(out, "\"}}")?)
}
