//! The table of files.

use serde::Deserialize;

use crate::log::{self, Action, Change, Origin};
use crate::program::Context;
use crate::records::Rows;
use crate::records::files::{Content, File};
use crate::records::store::NO;
use db::{AccountId, Db, DbError, Source, Tx, Value};
use kernel::input::{self, Members};
use kernel::json::parse_object;
use kernel::kind::Kind;
use kernel::text::{Timestamp, Token};

/// A file is never in the trash.
pub const ROWS: Rows = Rows { deleted: NO, ..Rows::of("files", "token") };

/// Adds or replaces what is known of a file.
pub async fn put(tx: &mut Tx, account: AccountId, file: &File, revision: i64) -> Result<(), DbError> {
    let row = ROWS.row(account, (file.token.as_str(), revision), (false, Vec::new()), (file.stored(), None));
    tx.put(ROWS.table, 2, row).await
}

/// The version of the account's program, and what is known of a file, with its revision.
pub(crate) async fn show(
    db: &Db,
    account: AccountId,
    token: &Token,
    context: &Context,
) -> Result<Option<(i64, Option<(i64, File)>)>, DbError> {
    let sql = "SELECT a.version, f.revision, f.doc FROM accounts a \
               LEFT JOIN files f ON f.account = a.id AND f.token = $2 WHERE a.id = $1";
    db.fetch_pipelined(sql, &[account.into(), token.as_str().into()], |row| {
        let file = match row.optional_integer(1)? {
            None => None,
            Some(revision) => Some((revision, parse(row.text(2)?, context)?)),
        };
        Ok((row.integer(0)?, file))
    })
    .await
}

/// Notes that the bytes of an upload are about to be stored.
pub async fn announce(tx: &mut Tx, account: AccountId, token: &Token, now: Timestamp) -> Result<(), DbError> {
    tx.enqueue(
        "INSERT INTO uploads (account, token, begun, doomed) VALUES ($1, $2, $3, 0)",
        vec![account.into(), token.as_str().to_owned().into(), now.into()],
    )
    .await
}

/// Takes an announced upload for recording it; false where its bytes are being removed.
async fn claim(tx: &mut Tx, account: AccountId, token: &Token) -> Result<bool, DbError> {
    let sql = "DELETE FROM uploads WHERE account = $1 AND token = $2 AND doomed = 0";
    Ok(tx.execute(sql, &[account.into(), token.as_str().into()]).await? == 1)
}

/// Records a file whose bytes were announced and are stored, and gives its revision; nothing where its bytes are being removed.
pub async fn record(tx: &mut Tx, account: AccountId, origin: &Origin, file: &File) -> Result<Option<i64>, DbError> {
    if !claim(tx, account, &file.token).await? {
        return Ok(None);
    }
    let (kind, slug, action) = (Kind::File, file.token.as_str(), Action::Created);
    let change = Change { kind, slug, action, events: &[], document: file.stored() };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, file, revision).await?;
    Ok(Some(revision))
}

/// When an erased file was announced, in microseconds since 1970, so that it is found at once.
pub(super) const ERASED: i64 = 0;

/// Forgets an announced upload, of which nothing is stored any more.
pub async fn forget(tx: &mut Tx, account: AccountId, token: &Token) -> Result<(), DbError> {
    let sql = "DELETE FROM uploads WHERE account = $1 AND token = $2";
    tx.enqueue(sql, vec![account.into(), token.as_str().to_owned().into()]).await
}

/// Makes a file empty under another name, and has the sweep do the same with its bytes. False where there is no such file.
pub async fn empty(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    (token, filename): (&Token, &str),
    context: &Context,
) -> Result<bool, DbError> {
    let sql = "SELECT doc FROM files WHERE account = $1 AND token = $2";
    let doc = tx.first(sql, &[account.into(), token.as_str().into()], |row| Ok(row.text(0)?.to_owned())).await?;
    let Some(before) = doc.map(|doc| parse(&doc, context)).transpose()? else { return Ok(false) };
    let after = File {
        filename: filename.to_owned(),
        content: Content::of(&[]),
        duration: None,
        metadata: "{}".to_owned(),
        ..before.clone()
    };
    if after != before {
        let (kind, slug, action) = (Kind::File, token.as_str(), Action::Updated);
        let change = Change { kind, slug, action, events: &[], document: after.stored() };
        let revision = log::append(tx, account, origin, change).await?;
        put(tx, account, &after, revision).await?;
        tx.enqueue(
            "INSERT INTO uploads (account, token, begun, doomed) VALUES ($1, $2, $3, 1) ON CONFLICT (account, token) DO NOTHING",
            vec![account.into(), token.as_str().to_owned().into(), ERASED.into()],
        )
        .await?;
    }
    Ok(true)
}

/// Whether there is a record of a file, whose bytes are to be there then.
pub(super) async fn is_recorded(db: &Db, account: AccountId, token: &Token) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM files WHERE account = $1 AND token = $2";
    Ok(db.fetch_pipelined(sql, &[account.into(), token.as_str().into()], |_| Ok(())).await?.is_some())
}

/// How many uploads are announced and not recorded: they are under way, or were cut off and wait for the sweep.
pub async fn count_announced(tx: &mut Tx, account: AccountId) -> Result<i64, DbError> {
    let sql = "SELECT count(*) FROM uploads WHERE account = $1";
    Ok(tx.first(sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// An upload that nobody got to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub(super) account: AccountId,
    pub(super) slug: String,
    pub(super) token: Token,
}

/// Uploads that were announced until a time and are not recorded, the oldest first: so many behind some.
// tidy: every account -- a clean-up of the whole storage
pub(super) async fn orphans(db: &Db, until: Timestamp, (limit, behind): (i64, i64)) -> Result<Vec<Orphan>, DbError> {
    let mut found = Vec::new();
    db.each(
        "SELECT u.account, a.slug, u.token FROM uploads u JOIN accounts a ON a.id = u.account WHERE u.begun <= $1 \
         ORDER BY u.begun, u.account, u.token LIMIT $2 OFFSET $3",
        &[until.into(), limit.into(), behind.into()],
        |row| {
            if let Some(token) = Token::parse(row.text(2)?) {
                found.push(Orphan { account: AccountId(row.integer(0)?), slug: row.text(1)?.to_owned(), token });
            }
            Ok(())
        },
    )
    .await?;
    Ok(found)
}

/// Lets an upload be recorded no more.
pub(super) async fn doom(tx: &mut Tx, account: AccountId, token: &Token) -> Result<(), DbError> {
    let sql = "UPDATE uploads SET doomed = 1 WHERE account = $1 AND token = $2";
    tx.enqueue(sql, vec![account.into(), token.as_str().to_owned().into()]).await
}

/// The names of these files.
pub async fn names(
    account: AccountId,
    mut source: Source<'_>,
    tokens: &[Token],
) -> Result<Vec<(Token, String)>, DbError> {
    let mut names = Vec::with_capacity(tokens.len());
    if tokens.is_empty() {
        return Ok(names);
    }
    let (list, values) = listed(account, tokens);
    let sql = format!("SELECT token, doc FROM files WHERE account = $1 AND token IN ({list})");
    source
        .each(&sql, &values, |row| {
            if let Some(token) = Token::parse(row.text(0)?) {
                names.push((token, facts(row.text(1)?)?.filename));
            }
            Ok(())
        })
        .await?;
    Ok(names)
}

/// A list of parameters for these tokens, and their values behind the account's. It is filled up to a power of two, so
/// that there are few different statements to prepare.
fn listed(account: AccountId, tokens: &[Token]) -> (String, Vec<Value<'_>>) {
    let places = tokens.len().next_power_of_two();
    let filled = tokens.iter().map(Token::as_str).chain(std::iter::repeat("")).take(places);
    let values = std::iter::once(account.into()).chain(filled.map(Value::from)).collect();
    let list: Vec<String> = (2..places + 2).map(|place| format!("${place}")).collect();
    (list.join(", "), values)
}

/// What serving a file needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Facts {
    /// Its name.
    pub filename: String,
    /// Its media type.
    pub mime: String,
    /// The number of its bytes.
    pub size: i64,
}

/// What is known of the file at a download address.
// tidy: every account -- the address was signed for this account's slug
pub async fn find_by_address(db: &Db, account: &str, token: &str) -> Result<Option<Facts>, DbError> {
    db.fetch_pipelined(
        "SELECT f.doc FROM accounts a JOIN files f ON f.account = a.id WHERE a.slug = $1 AND f.token = $2",
        &[account.into(), token.into()],
        |row| facts(row.text(0)?),
    )
    .await
}

/// Reads them from the stored form.
pub fn facts(doc: &str) -> Result<Facts, DbError> {
    serde_json::from_str(doc).map_err(|error| DbError::Failed(format!("a stored file cannot be read: {error}")))
}

fn parse(doc: &str, context: &Context) -> Result<File, DbError> {
    let broken = || DbError::Failed(format!("a stored file cannot be read: {doc}"));
    let object = parse_object(doc.as_bytes()).map_err(|_| broken())?;
    let mut members = Members::closed(&object);
    let token = members.required("token", input::token).ok_or_else(broken)?;
    let file = File::read(&mut members, token, context, None);
    members.finish().or(file).map_err(|_| broken())
}
