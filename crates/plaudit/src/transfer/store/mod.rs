//! The SQL of import and export.

mod names;
mod stored;

pub(super) use names::{Names, Space};
pub(super) use stored::{
    Found, SetupRow, Table, Unique, documents, exists, has_any, has_entries, has_setup, is_answered, is_stood_on,
    names_after, order_of_invoice, put_setup, setup_rows, withdraw,
};
