//! Export: the whole account as JSON Lines, from one state of the database.

use std::io::Write;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use futures_util::TryStreamExt as _;

use super::Error;
use super::store::{self, Table};
use crate::program::accounts::{self, Account};
use crate::program::{Context, store as program_store};
use crate::records::entries;
use crate::records::entries::attachments;
use crate::records::entries::contributors;
use crate::records::orders;
use crate::records::users;
use crate::storage::Storage;
use db::{AccountId, Db, DbError, Tx};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp};

/// Writes the account: itself first, then its records by kind and slug, so that nothing refers to what comes after it.
pub async fn export(db: &Db, storage: &Storage, account: Slug, out: &mut (dyn Write + Send)) -> Result<(), Error> {
    let mut tx = db.snapshot().await?;
    let (id, record) = account_of(&mut tx, account).await?;
    let mut lines = Lines::new(out);
    lines.record(Kind::Account, &program_store::stored(&record), false)?;
    for kind in Kind::ALL {
        let written = match kind {
            Kind::Account | Kind::ApiKey | Kind::OrderItem => Ok(()),
            Kind::User => {
                users::store::each_for_export(&mut tx, id, |doc, deleted| lines.note(kind, doc, deleted)).await
            }
            Kind::File => {
                files(&mut tx, id, account, storage, &mut lines).await?;
                Ok(())
            }
            Kind::Entry => {
                entries::store::each_for_export(&mut tx, id, |doc, deleted| lines.note(kind, doc, deleted)).await
            }
            Kind::Contributor => {
                contributors::store::each_for_export(&mut tx, id, |doc, deleted| lines.note(kind, doc, deleted)).await
            }
            Kind::Attachment => {
                attachments::store::each_for_export(&mut tx, id, |doc, deleted| lines.note(kind, doc, deleted)).await
            }
            Kind::Order => {
                let write = |order: &orders::Order| lines.plain(&orders::export(order));
                orders::store::each_for_export(&mut tx, id, write).await
            }
            Kind::Season
            | Kind::Chapter
            | Kind::ContentBlock
            | Kind::Form
            | Kind::Tab
            | Kind::Category
            | Kind::Field
            | Kind::Role
            | Kind::Tax
            | Kind::Price
            | Kind::Discount
            | Kind::Round
            | Kind::ScoreSet
            | Kind::Criterion
            | Kind::Panel
            | Kind::ReviewStage
            | Kind::DocumentTemplate => setup_records(&mut tx, id, kind, &mut lines).await,
        };
        lines.check(written)?;
    }
    lines.flush()?;
    Ok(())
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

/// The lines that are being written. Within a statement a fault of writing travels as one of the database.
pub(super) struct Lines<'o> {
    out: &'o mut (dyn Write + Send),
    fault: Option<std::io::Error>,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut (dyn Write + Send)) -> Self {
        Self { out, fault: None }
    }
}

impl Lines<'_> {
    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    pub(super) fn record(&mut self, kind: Kind, doc: &str, deleted: bool) -> std::io::Result<()> {
        let members = doc.strip_prefix('{').unwrap_or(doc);
        write!(self.out, "{{\"kind\":\"{kind}\",")?;
        match members.strip_suffix('}').filter(|_| deleted) {
            Some(members) => writeln!(self.out, "{members},\"deleted\":true}}"),
            None => writeln!(self.out, "{members}"),
        }
    }

    fn kept(&mut self, written: std::io::Result<()>) -> Result<(), DbError> {
        written.map_err(|error| {
            let told = DbError::Failed(error.to_string());
            self.fault = Some(error);
            told
        })
    }

    fn note(&mut self, kind: Kind, doc: &str, deleted: bool) -> Result<(), DbError> {
        let written = self.record(kind, doc, deleted);
        self.kept(written)
    }

    fn plain(&mut self, line: &str) -> Result<(), DbError> {
        let written = writeln!(self.out, "{line}");
        self.kept(written)
    }

    pub(super) fn check(&mut self, outcome: Result<(), DbError>) -> Result<(), Error> {
        match self.fault.take() {
            Some(fault) => Err(fault.into()),
            None => Ok(outcome?),
        }
    }
}

pub(super) async fn setup_records(
    tx: &mut Tx,
    id: AccountId,
    kind: Kind,
    lines: &mut Lines<'_>,
) -> Result<(), DbError> {
    let mut rows = Vec::new();
    store::setup_rows(tx, id, |found, _, row| {
        if found == kind {
            rows.push(row);
        }
    })
    .await?;
    for row in rows {
        lines.note(kind, &row.doc, row.deleted)?;
    }
    Ok(())
}

/// The files, each with its bytes.
async fn files(
    tx: &mut Tx,
    id: AccountId,
    account: Slug,
    storage: &Storage,
    lines: &mut Lines<'_>,
) -> Result<(), Error> {
    let mut last = String::new();
    loop {
        let tokens = store::names_after(tx, id, Table::Files, &last).await?;
        let Some(end) = tokens.last() else { return Ok(()) };
        last.clone_from(end);
        let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let mut docs = store::documents(tx, id, Table::Files, &names).await?;
        for token in &tokens {
            let Some(found) = docs.remove(token) else { continue };
            let doc = found.doc.strip_prefix('{').and_then(|doc| doc.strip_suffix('}')).unwrap_or_default();
            write!(lines.out, "{{\"kind\":\"{}\",{doc},\"data\":\"", Kind::File)?;
            let (_, mut pieces) = storage.get_stream(account.as_str(), token, None).await?;
            let mut encoder = EncoderWriter::new(&mut *lines.out, &STANDARD);
            while let Some(piece) = pieces.try_next().await? {
                encoder.write_all(&piece)?;
            }
            encoder.finish()?;
            drop(encoder);
            writeln!(lines.out, "\"}}")?;
        }
    }
}
