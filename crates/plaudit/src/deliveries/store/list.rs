//! The log of deliveries as the interface shows it.

use std::fmt::Write as _;

use super::{COLUMNS, Delivery, State, count, read};
use crate::deliveries::endpoint::Key;
use crate::log::Event;
use db::{AccountId, DbError, Source, Value};
use kernel::text::{Slug, Timestamp};

/// What a list of deliveries asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Those before this one alone; the newest come first.
    pub before: Option<Key>,
    /// Those that tell of this event.
    pub event: Option<Event>,
    /// Those of which this has become.
    pub state: Option<State>,
    /// Those of changes from this time on.
    pub from: Option<Timestamp>,
    /// Those of changes before this time.
    pub to: Option<Timestamp>,
}

/// The most rows that a list looks at.
const LOOKED_AT: i64 = 10_000;

/// Deliveries of a webhook that a list asks for, newest first, and from where on it was not looked any further.
pub async fn list(
    account: AccountId,
    mut source: Source<'_>,
    webhook: Slug,
    asked: &Asked,
    limit: usize,
) -> Result<(Vec<Delivery>, Option<Key>), DbError> {
    let (sequence, place) = asked.before.unwrap_or((i64::MAX, 0));
    let mut values = vec![account.into(), webhook.into(), sequence.into(), i64::from(place).into()];
    let mut rows = "account = $1 AND webhook = $2 AND (sequence, place) < ($3, $4)".to_owned();
    if let Some(state) = asked.state {
        narrow(&mut rows, &mut values, "state =", state.name().into());
    }
    let mut end = None;
    if asked.event.is_some() || asked.from.is_some() || asked.to.is_some() {
        values.push((LOOKED_AT - 1).into());
        let offset = values.len();
        let sql = format!(
            "SELECT sequence, place FROM deliveries WHERE {rows} ORDER BY sequence DESC, place DESC LIMIT 1 OFFSET ${offset}"
        );
        source
            .each(&sql, &values, |row| {
                end = Some((row.integer(0)?, u16::try_from(row.integer(1)?).unwrap_or(u16::MAX)));
                Ok(())
            })
            .await?;
        values.pop();
    }
    for (condition, value) in [
        ("event =", asked.event.map(|event| event.name().into())),
        ("at >=", asked.from.map(Value::from)),
        ("at <", asked.to.map(Value::from)),
    ] {
        if let Some(value) = value {
            narrow(&mut rows, &mut values, condition, value);
        }
    }
    if let Some((sequence, place)) = end {
        values.extend([sequence.into(), i64::from(place).into()]);
        let _ = write!(rows, " AND (sequence, place) >= (${}, ${})", values.len() - 1, values.len());
    }
    values.push(count(limit));
    let limit = values.len();
    let sql =
        format!("SELECT {COLUMNS} FROM deliveries WHERE {rows} ORDER BY sequence DESC, place DESC LIMIT ${limit}");
    let mut found = Vec::new();
    source
        .each(&sql, &values, |row| {
            found.extend(read(row)?);
            Ok(())
        })
        .await?;
    Ok((found, end))
}

fn narrow<'v>(rows: &mut String, values: &mut Vec<Value<'v>>, condition: &str, value: Value<'v>) {
    values.push(value);
    let _ = write!(rows, " AND {condition} ${}", values.len());
}
