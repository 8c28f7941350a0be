//! A row of a result, read in place.

use tokio_postgres::types::{FromSql, Type};

use super::DbError;
use kernel::text::Slug;

/// A row of a result. Columns are counted from 0; texts and bytes are borrowed from the row.
pub struct Row<'r>(Inner<'r>);

enum Inner<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

struct Raw<'r>(&'r [u8]);

/// Takes the rows of a result one by one. It is a reference to a function and not a parameter of type, so that what runs
/// statements is compiled once and not for each of those who read.
pub(super) type EachRow<'f> = dyn FnMut(&Row<'_>) -> Result<(), DbError> + Send + 'f;

/// The same for several results, with the number of the result.
pub(super) type EachRowOf<'f> = dyn FnMut(usize, &Row<'_>) -> Result<(), DbError> + Send + 'f;

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    // A domain over text has the wire form of text, which the driver's own types would refuse.
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<'r> Row<'r> {
    pub(super) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self(Inner::Sqlite(row))
    }

    pub(super) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self(Inner::Postgres(row))
    }

    /// A BIGINT.
    pub fn integer(&self, column: usize) -> Result<i64, DbError> {
        self.optional_integer(column)?.ok_or_else(|| unexpected(column, "is null"))
    }

    /// A BIGINT or NULL.
    pub fn optional_integer(&self, column: usize) -> Result<Option<i64>, DbError> {
        match self.0 {
            Inner::Sqlite(row) => {
                row.get_ref(column)?.as_i64_or_null().map_err(|_| unexpected(column, "is no integer"))
            }
            Inner::Postgres(row) => match row.try_get::<_, Option<Raw<'_>>>(column)? {
                None => Ok(None),
                Some(Raw(raw)) => match <[u8; 8]>::try_from(raw) {
                    Ok(bytes) => Ok(Some(i64::from_be_bytes(bytes))),
                    Err(_) => Err(unexpected(column, "is no BIGINT")),
                },
            },
        }
    }

    /// A flag, kept as BIGINT 0 or 1.
    pub fn flag(&self, column: usize) -> Result<bool, DbError> {
        Ok(self.integer(column)? != 0)
    }

    /// A TEXT.
    pub fn text(&self, column: usize) -> Result<&str, DbError> {
        self.optional_text(column)?.ok_or_else(|| unexpected(column, "is null"))
    }

    /// A TEXT or NULL.
    pub fn optional_text(&self, column: usize) -> Result<Option<&str>, DbError> {
        let bytes = self.optional_bytes(column)?;
        bytes.map(|bytes| simdutf8::basic::from_utf8(bytes).map_err(|_| unexpected(column, "is no UTF-8"))).transpose()
    }

    /// A slug.
    pub fn slug(&self, column: usize) -> Result<Slug, DbError> {
        Slug::parse(self.text(column)?).ok_or_else(|| unexpected(column, "is no slug"))
    }

    /// A BYTEA.
    pub fn bytes(&self, column: usize) -> Result<&[u8], DbError> {
        self.optional_bytes(column)?.ok_or_else(|| unexpected(column, "is null"))
    }

    /// The bytes of a TEXT, a BYTEA or NULL.
    pub fn optional_bytes(&self, column: usize) -> Result<Option<&[u8]>, DbError> {
        Ok(match self.0 {
            Inner::Sqlite(row) => {
                row.get_ref(column)?.as_bytes_or_null().map_err(|_| unexpected(column, "is a number"))?
            }
            Inner::Postgres(row) => row.try_get::<_, Option<Raw<'_>>>(column)?.map(|raw| raw.0),
        })
    }

    /// The column whatever its type, for copies of whole tables.
    pub fn value(&self, column: usize) -> Result<super::Value<'static>, DbError> {
        use super::Value;
        match self.0 {
            Inner::Sqlite(row) => Ok(match row.get_ref(column)? {
                rusqlite::types::ValueRef::Null => Value::Null,
                rusqlite::types::ValueRef::Integer(integer) => Value::Integer(integer),
                rusqlite::types::ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
                rusqlite::types::ValueRef::Blob(bytes) => Value::from(bytes.to_vec()),
                rusqlite::types::ValueRef::Real(_) => return Err(unexpected(column, "is a floating-point number")),
            }),
            Inner::Postgres(row) => {
                if row.try_get::<_, Option<Raw<'_>>>(column)?.is_none() {
                    return Ok(Value::Null);
                }
                Ok(match *row.columns()[column].type_() {
                    Type::INT8 => Value::Integer(self.integer(column)?),
                    Type::BYTEA => Value::from(self.bytes(column)?.to_vec()),
                    _ => Value::from(self.text(column)?.to_owned()),
                })
            }
        }
    }
}

fn unexpected(column: usize, what: &str) -> DbError {
    DbError::Failed(format!("column {column} of a result {what}"))
}
