//! Export: an account, or its set-up alone, as JSON Lines, from one state of the database.

use std::io::Write;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use futures_util::TryStreamExt as _;

use super::Error;
use crate::program::store as program_store;
use crate::program::{Context, accounts};
use crate::records::store;
use crate::storage::{Pieces, Storage};
use db::Db;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Writes the account: itself first, then its records of the kinds of `which`, by kind and slug, so that nothing refers to
/// what comes after it.
pub async fn export(
    db: &Db,
    storage: &Storage,
    account: Slug,
    which: fn(Kind) -> bool,
    out: &mut (dyn Write + Send),
) -> Result<(), Error> {
    let mut tx = db.snapshot().await?;
    let id = accounts::store::find(&mut tx, account).await?.ok_or(Error::NoAccount(account))?;
    let context = Context::any_language(Timestamp::from_microseconds(0));
    let record = accounts::store::read(&mut tx, id, &context).await?.ok_or(Error::NoAccount(account))?;
    write_line(out, Kind::Account, &program_store::stored(&record))?;
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_in_files() && which(*kind)) {
        let Some(rows) = store::rows(kind) else { continue };
        let mut last = String::new();
        while let Some(found) = store::next(&mut tx, id, kind, &mut last).await? {
            for (name, row) in found {
                let form = (rows.exported)(&row)?;
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

/// Writes a record in its program-file form.
fn write_line(out: &mut (dyn Write + Send), kind: Kind, form: &str) -> std::io::Result<()> {
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
