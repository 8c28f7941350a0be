//! A parameter of a statement.

use std::borrow::Cow;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::AccountId;
use kernel::text::{Slug, Timestamp};

/// A parameter of a statement. The columns of the schema have only these four types.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// BIGINT.
    Integer(i64),
    /// TEXT.
    Text(Cow<'a, str>),
    /// BYTEA on PostgreSQL, BLOB on SQLite.
    Bytes(Cow<'a, [u8]>),
}

/// A statement with the values of its parameters.
pub type Statement<'v> = (String, Vec<Value<'v>>);

impl Value<'_> {
    /// The value as a column holds it, which has no U+0000.
    pub fn stored(self) -> Self {
        match self {
            Self::Text(text) if holds_nul(&text) => Self::Text(Cow::Owned(without_nul(&text))),
            value => value,
        }
    }
}

macro_rules! values {
    ($($type:ty: $value:ident => $made:expr;)+) => {$(
        impl<'a> From<$type> for Value<'a> {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )+};
}

values! {
    i64: integer => Self::Integer(integer);
    &'a i64: integer => Self::Integer(*integer);
    bool: flag => Self::Integer(i64::from(flag));
    AccountId: account => Self::Integer(account.0);
    Timestamp: time => Self::Integer(time.as_microseconds());
    &'a str: text => Self::Text(Cow::Borrowed(text));
    &'a String: text => Self::Text(Cow::Borrowed(text));
    String: text => Self::Text(Cow::Owned(text));
    Slug: slug => Self::Text(Cow::Owned(slug.as_str().to_owned()));
    &'a Slug: slug => Self::Text(Cow::Borrowed(slug.as_str()));
    &'a [u8]: bytes => Self::Bytes(Cow::Borrowed(bytes));
    Vec<u8>: bytes => Self::Bytes(Cow::Owned(bytes));
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(optional: Option<T>) -> Self {
        optional.map_or(Self::Null, Into::into)
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Text(text) if holds_nul(text) => return Ok(ToSqlOutput::from(without_nul(text))),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Integer(integer) => out.extend_from_slice(&integer.to_be_bytes()),
            Self::Text(text) if holds_nul(text) => out.extend_from_slice(without_nul(text).as_bytes()),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    // The schema has BIGINT, text (and a domain over it) and BYTEA alone, whose wire forms are the ones written above.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Documents escape U+0000, but an index column holds plain text, and PostgreSQL has no U+0000 in text; a column only
/// serves to find and sort, so that a stand-in does no harm.
fn holds_nul(text: &str) -> bool {
    memchr::memchr(0, text.as_bytes()).is_some()
}

fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
