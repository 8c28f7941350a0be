//! Reads users to show them.
//!
//! A page is one statement, so that the program's version, the total and the users belong to one state. The total is a
//! sum of kept counts. The users are found in one index, which holds their segments beside what it sorts by; their rows
//! are looked up for what is shown alone. A page that may have to pass over many users is read away from the threads that
//! answer requests.

use std::fmt::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::db::{AccountId, Db, DbError, Row, Value};
use crate::text::Slug;
use crate::users::selection::{InSeasons, Key, Place, Selection, Sort};

/// A page that is asked for.
pub(in crate::users) struct Page<'q> {
    /// What is selected.
    pub selection: &'q Selection,
    /// How it is sorted.
    pub sort: Sort,
    /// Where a walk by cursor goes on.
    pub after: Option<&'q Place>,
    /// How many users to pass over.
    pub offset: u64,
    /// How many users to read.
    pub limit: u64,
    /// Whether the total is wanted.
    pub counted: bool,
}

/// From how many users to pass over a page is read away from the threads that answer requests.
const PASSED_OVER: u64 = 1_000;

impl Page<'_> {
    /// Whether many users may have to be passed over.
    fn is_long(&self) -> bool {
        self.offset > PASSED_OVER || self.selection.is_narrow()
    }
}

/// A row of a page, borrowed.
pub(in crate::users) struct Found<'r> {
    /// The version of the program.
    pub version: i64,
    /// How many users are selected; 0 where that is not wanted.
    pub total: i64,
    /// The user: where it stands, and its document. A page without users has one row without one.
    pub user: Option<(Place, &'r str)>,
}

/// Reads a page in one statement. There is always a row, unless the account is gone.
pub(in crate::users) async fn page(
    db: &Db,
    account: AccountId,
    page: &Page<'_>,
    mut each: impl FnMut(Found<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let mut statement = Statement { sql: String::with_capacity(1_500), values: vec![account.into()] };
    statement.write(page);
    let is_text = page.sort.is_text;
    if !page.is_long() {
        return db.each(&statement.sql, &statement.values, |row| each(found(row, is_text)?)).await;
    }
    let rows = Arc::new(Mutex::new(Vec::new()));
    let filled = Arc::clone(&rows);
    let row = move |row: &Row<'_>| {
        let Found { version, total, user } = found(row, is_text)?;
        filled.lock().push((version, total, user.map(|(place, doc)| (place, doc.to_owned()))));
        Ok(())
    };
    drop(db.each_aside(&statement.sql, &statement.values, row).await?);
    let rows = std::mem::take(&mut *rows.lock());
    for (version, total, user) in rows {
        let user = user.as_ref().map(|(place, doc)| (place.clone(), doc.as_str()));
        each(Found { version, total, user })?;
    }
    Ok(())
}

fn found<'r>(row: &'r Row<'_>, is_text: bool) -> Result<Found<'r>, DbError> {
    let user = match row.optional_text(3)? {
        None => None,
        Some(slug) => {
            let slug = Slug::parse(slug).ok_or_else(|| DbError::Failed("the slug of a user is broken".to_owned()))?;
            let key = if is_text { Key::Text(row.text(2)?.to_owned()) } else { Key::Integer(row.integer(2)?) };
            Some((Place { key, slug }, row.text(4)?))
        }
    };
    Ok(Found { version: row.integer(0)?, total: row.integer(1)?, user })
}

struct Statement {
    sql: String,
    values: Vec<Value<'static>>,
}

impl Statement {
    fn value(&mut self, value: impl Into<Value<'static>>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    fn write(&mut self, page: &Page<'_>) {
        let chosen = self.conditions(page.selection);
        let Sort { column, is_reversed, .. } = page.sort;
        let direction = if is_reversed { " DESC" } else { "" };
        let total = if page.counted {
            format!("(SELECT CAST(coalesce(sum(total), 0) AS BIGINT) FROM user_segments WHERE account = $1{chosen})")
        } else {
            "CAST(0 AS BIGINT)".to_owned()
        };
        let after = page.after.map_or_else(String::new, |place| {
            let key = match &place.key {
                Key::Integer(integer) => self.value(*integer),
                Key::Text(text) => self.value(text.clone()),
            };
            let slug = self.value(place.slug);
            let comparison = if is_reversed { "<" } else { ">" };
            format!(" AND ({column}, slug) {comparison} (${key}, ${slug})")
        });
        let limit = self.value(i64::try_from(page.limit).unwrap_or(i64::MAX));
        let offset = self.value(i64::try_from(page.offset).unwrap_or(i64::MAX));
        let _ = write!(
            self.sql,
            "SELECT state.version, state.total, page.key, page.slug, u.doc \
             FROM (SELECT version, {total} AS total FROM accounts WHERE id = $1) AS state \
             LEFT JOIN (SELECT {column} AS key, slug FROM users WHERE account = $1 \
             AND EXISTS (SELECT 1 FROM user_segments WHERE account = $1{chosen}) \
             AND segment IN (SELECT segment FROM user_segments WHERE account = $1{chosen}){after} \
             ORDER BY {column}{direction}, slug{direction} LIMIT ${limit} OFFSET ${offset}) AS page ON 1 = 1 \
             LEFT JOIN users u ON u.account = $1 AND u.slug = page.slug \
             ORDER BY page.key{direction}, page.slug{direction}"
        );
    }

    /// The conditions that choose segments, each with `AND` before it.
    fn conditions(&mut self, selection: &Selection) -> String {
        // A segment without users chooses nothing, and lets a list that is empty end before its index is read.
        let mut sql = String::from(" AND total > 0");
        if selection.hides_live {
            sql.push_str(" AND deleted = 1");
        }
        if selection.hides_deleted {
            sql.push_str(" AND deleted = 0");
        }
        if let Some(confirmed) = selection.confirmed {
            let place = self.value(confirmed);
            let _ = write!(sql, " AND confirmed = ${place}");
        }
        if let Some(language) = selection.language {
            let place = self.value(language.code());
            let _ = write!(sql, " AND language = ${place}");
        }
        if let Some(season) = selection.season_joined {
            let place = self.value(season);
            let _ = write!(sql, " AND season_joined = ${place}");
        }
        if let Some(role) = selection.role {
            let holds = self.holds("roles", role);
            let _ = write!(sql, " AND {holds}");
        }
        for condition in &selection.seasons {
            let holds = match condition {
                InSeasons::None => "seasons = ''".to_owned(),
                InSeasons::Not(season) => format!("NOT {}", self.holds("seasons", *season)),
                InSeasons::AnyOf(seasons) if seasons.is_empty() => "1 = 0".to_owned(),
                InSeasons::AnyOf(seasons) => {
                    let any: Vec<String> = seasons.iter().map(|season| self.holds("seasons", *season)).collect();
                    format!("({})", any.join(" OR "))
                }
            };
            let _ = write!(sql, " AND {holds}");
        }
        sql
    }

    /// Whether a column of slugs, each after a blank, holds one: taking it out makes another text of it.
    fn holds(&mut self, column: &str, slug: Slug) -> String {
        let place = self.value(format!(" {slug}"));
        format!("(replace({column}, ${place}, '') <> {column})")
    }
}

/// How a user is named in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::users) enum Named<'n> {
    /// By the slug.
    Slug(Slug),
    /// By the e-mail address, as it is compared.
    Email(&'n str),
}

/// A user as a single read shows it.
pub(in crate::users) struct Shown {
    /// The sequence number of the last change.
    pub revision: i64,
    /// The first document.
    pub doc: String,
    /// The second document.
    pub detail: String,
}

/// The version of the program, and a user that is not in the trash.
pub(in crate::users) async fn show(
    db: &Db,
    account: AccountId,
    named: Named<'_>,
) -> Result<Option<(i64, Option<Shown>)>, DbError> {
    let (column, name) = match &named {
        Named::Slug(slug) => ("slug", slug.as_str()),
        Named::Email(email) => ("email", *email),
    };
    let sql = format!(
        "SELECT a.version, u.revision, u.doc, u.detail FROM accounts a \
         LEFT JOIN users u ON u.account = a.id AND u.{column} = $2 AND u.deleted = 0 WHERE a.id = $1"
    );
    db.look_up(&sql, &[account.into(), name.into()], |row| {
        let user = match row.optional_integer(1)? {
            None => None,
            Some(revision) => Some(Shown { revision, doc: row.text(2)?.to_owned(), detail: row.text(3)?.to_owned() }),
        };
        Ok((row.integer(0)?, user))
    })
    .await
}
