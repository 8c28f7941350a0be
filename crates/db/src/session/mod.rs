//! Connections, one at a time.

pub(crate) mod postgres;
pub(crate) mod sqlite;
