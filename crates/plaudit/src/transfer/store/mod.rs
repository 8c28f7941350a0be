//! The SQL of import and export.

mod names;
mod staging;
mod stored;

pub(super) use names::{Names, Position, Space, Waiting};
pub(super) use staging::remove_some;
pub(super) use stored::{Unique, has_entries, is_answered, is_stood_on, order_of_invoice, withdraw};
