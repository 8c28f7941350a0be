//! What the operator's commands read across the tables.

use db::{AccountId, DbError, Row, Tx};
use kernel::kind::Kind;
use kernel::text::{Slug, Token};

/// Where an account's log stands, by the account's row.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The account.
    pub(super) account: AccountId,
    /// Its slug.
    pub(super) slug: Slug,
    /// The number of its last change.
    pub(super) sequence: i64,
    /// The hash of its last change.
    pub(super) hash: Vec<u8>,
    /// The name of the last change of what its program shows.
    pub(super) version: i64,
    /// The account's document.
    pub(super) doc: String,
}

/// Every account, by slug.
// tidy: every account -- a check or a backup is of the whole database
pub(super) async fn heads(tx: &mut Tx) -> Result<Vec<Head>, DbError> {
    let mut heads = Vec::new();
    tx.each("SELECT id, slug, sequence, hash, doc, version FROM accounts ORDER BY slug", &[], |row| {
        heads.push(Head {
            account: AccountId(row.integer(0)?),
            slug: row.slug(1)?,
            sequence: row.integer(2)?,
            hash: row.bytes(3)?.to_vec(),
            doc: row.text(4)?.to_owned(),
            version: row.integer(5)?,
        });
        Ok(())
    })
    .await?;
    Ok(heads)
}

/// The steps of the schema that were applied, in order.
// tidy: every account -- the schema is the database's
pub(super) async fn schema(tx: &mut Tx) -> Result<Vec<String>, DbError> {
    let mut steps = Vec::new();
    tx.each("SELECT CAST(version AS BIGINT), name FROM refinery_schema_history ORDER BY 1", &[], |row| {
        steps.push(format!("V{}__{}", row.integer(0)?, row.text(1)?));
        Ok(())
    })
    .await?;
    Ok(steps)
}

/// A table of records: where it stands, and what its rows are called in the change log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// API keys.
    Keys,
    /// The records of the set-up, of several kinds.
    Setup,
    /// Users.
    Users,
    /// Entries, which have two documents.
    Entries,
    /// Contributors.
    Contributors,
    /// What is known of files.
    Files,
    /// Attachments.
    Attachments,
    /// Orders.
    Orders,
}

impl Table {
    /// Every table of records.
    pub(super) const ALL: [Self; 8] = [
        Self::Keys,
        Self::Setup,
        Self::Users,
        Self::Entries,
        Self::Contributors,
        Self::Files,
        Self::Attachments,
        Self::Orders,
    ];

    /// The kind of its records, where they have one in common.
    fn kind(self) -> Option<Kind> {
        match self {
            Self::Keys => Some(Kind::ApiKey),
            Self::Setup => None,
            Self::Users => Some(Kind::User),
            Self::Entries => Some(Kind::Entry),
            Self::Contributors => Some(Kind::Contributor),
            Self::Files => Some(Kind::File),
            Self::Attachments => Some(Kind::Attachment),
            Self::Orders => Some(Kind::Order),
        }
    }

    /// Table, column of the slug, and what tells the document beside `doc`: flag of deletion and a second text.
    fn columns(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Keys => ("api_keys", "slug", "0", "''"),
            Self::Setup => ("setup_records", "slug", "r.deleted", "''"),
            Self::Users => ("users", "slug", "r.deleted", "r.person || ' ' || r.season_joined || ' ' || r.detail"),
            Self::Entries => ("entries", "slug", "r.deleted", "r.detail"),
            Self::Contributors => ("contributors", "slug", "r.deleted", "''"),
            Self::Files => ("files", "token", "0", "''"),
            Self::Attachments => ("attachments", "token", "r.deleted", "''"),
            Self::Orders => ("orders", "slug", "2 * r.test + r.deleted", "r.note"),
        }
    }

    /// What is counted in the change log as a record of this table.
    fn logged(self) -> String {
        let is_kept_here = |kind: &Kind| self.kind().map_or(kind.is_setup(), |only| *kind == only);
        let kinds: Vec<String> = Kind::ALL.into_iter().filter(is_kept_here).map(|kind| format!("'{kind}'")).collect();
        format!("kind IN ({})", kinds.join(", "))
    }

    /// The name of the table.
    pub(super) fn name(self) -> &'static str {
        self.columns().0
    }
}

/// A record with the change that its revision names.
#[derive(Debug)]
pub(super) struct Logged<'r> {
    /// The name of its kind.
    pub(super) kind: &'r str,
    /// Its slug or token.
    pub(super) slug: &'r str,
    /// Its revision.
    pub(super) revision: i64,
    /// Whether it is in the trash; for an order added to twice whether it is a test.
    pub(super) deleted: i64,
    /// Its document.
    pub(super) doc: &'r str,
    /// What it has beside: the second document of an entry, the note of an order, what a user is beside its document.
    pub(super) beside: &'r str,
    /// The time of an order's last change.
    pub(super) updated: i64,
    /// The number of the last change of the record.
    pub(super) last: Option<i64>,
    /// What the change did to the record.
    pub(super) action: Option<&'r str>,
    /// The hash of the document after the change.
    pub(super) document_hash: Option<&'r [u8]>,
}

/// Every record of a table with the change that its revision names.
pub(super) async fn each_logged(
    tx: &mut Tx,
    account: AccountId,
    table: Table,
    mut each: impl FnMut(&Logged<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let (name, slug, deleted, beside) = table.columns();
    let kind = table.kind().map_or_else(|| "r.kind".to_owned(), |kind| format!("'{kind}'"));
    let updated = if table == Table::Orders { "r.updated" } else { "0" };
    let sql = format!(
        "SELECT {kind}, r.{slug}, r.revision, CAST({deleted} AS BIGINT), r.doc, {beside}, \
         CAST({updated} AS BIGINT), \
         (SELECT max(m.sequence) FROM changes m WHERE m.account = r.account AND m.kind = {kind} AND m.slug = r.{slug}), \
         c.action, c.doc_hash \
         FROM {name} r LEFT JOIN changes c ON c.account = r.account AND c.sequence = r.revision \
         WHERE r.account = $1"
    );
    tx.each(&sql, &[account.into()], |row| each(&logged(row)?)).await
}

fn logged<'r>(row: &'r Row<'_>) -> Result<Logged<'r>, DbError> {
    Ok(Logged {
        kind: row.text(0)?,
        slug: row.text(1)?,
        revision: row.integer(2)?,
        deleted: row.integer(3)?,
        doc: row.text(4)?,
        beside: row.text(5)?,
        updated: row.integer(6)?,
        last: row.optional_integer(7)?,
        action: row.optional_text(8)?,
        document_hash: row.bytes(9).ok(),
    })
}

/// How many records of a table the account's log tells of.
pub(super) async fn count_logged(tx: &mut Tx, account: AccountId, table: Table) -> Result<i64, DbError> {
    let sql = format!(
        "SELECT count(*) FROM (SELECT DISTINCT kind, slug FROM changes WHERE account = $1 AND {}) AS logged",
        table.logged()
    );
    Ok(tx.first(&sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// The hash of the document of the last change of the account itself, if one is logged.
pub(super) async fn last_of_account(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Vec<u8>>, DbError> {
    tx.first(
        "SELECT doc_hash FROM changes WHERE account = $1 AND kind = 'account' AND slug = $2 \
         ORDER BY sequence DESC LIMIT 1",
        &[account.into(), slug.into()],
        |row| Ok(row.bytes(0)?.to_vec()),
    )
    .await
}

/// Category and division, the count that is kept, and the entries that there are; those that agree are left out.
pub(super) async fn wrong_entry_counts(
    tx: &mut Tx,
    account: AccountId,
) -> Result<Vec<(String, i64, i64, i64)>, DbError> {
    let mut wrong = Vec::new();
    tx.each(
        "SELECT category, division, CAST(sum(kept) AS BIGINT), CAST(sum(there) AS BIGINT) FROM \
         (SELECT category, division, total AS kept, 0 AS there FROM entry_counts WHERE account = $1 \
         UNION ALL SELECT category, division, 0, count(*) FROM entries WHERE account = $1 AND deleted = 0 \
         GROUP BY category, division) AS compared \
         GROUP BY category, division HAVING sum(kept) <> sum(there) ORDER BY category, division",
        &[account.into()],
        |row| {
            wrong.push((row.text(0)?.to_owned(), row.integer(1)?, row.integer(2)?, row.integer(3)?));
            Ok(())
        },
    )
    .await?;
    Ok(wrong)
}

/// At most `limit` files after a token, by token: the token and what is known of the file.
pub(super) async fn files_after(
    tx: &mut Tx,
    account: AccountId,
    token: &str,
    limit: i64,
) -> Result<Vec<(Token, String)>, DbError> {
    let mut found = Vec::new();
    tx.each(
        "SELECT token, doc FROM files WHERE account = $1 AND token > $2 ORDER BY token LIMIT $3",
        &[account.into(), token.into(), limit.into()],
        |row| {
            let broken = || DbError::Failed("the token of a file is broken".to_owned());
            found.push((Token::parse(row.text(0)?).ok_or_else(broken)?, row.text(1)?.to_owned()));
            Ok(())
        },
    )
    .await?;
    Ok(found)
}

/// Category and chapter of every entry of a season that is not in the trash, with the entry before both, by slug.
pub(super) async fn entries_of_season(
    tx: &mut Tx,
    account: AccountId,
    season: Slug,
    limit: i64,
) -> Result<Vec<[Slug; 3]>, DbError> {
    let mut found = Vec::new();
    tx.each(
        "SELECT slug, category, chapter FROM entries WHERE account = $1 AND season = $2 AND deleted = 0 \
         ORDER BY slug LIMIT $3",
        &[account.into(), season.into(), limit.into()],
        |row| {
            found.push([row.slug(0)?, row.slug(1)?, row.slug(2)?]);
            Ok(())
        },
    )
    .await?;
    Ok(found)
}
