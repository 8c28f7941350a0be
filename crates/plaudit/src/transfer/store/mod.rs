//! The SQL of import and export.

mod names;
mod stored;
mod unfinished;

pub(super) use names::{Names, Position, Space, Waiting};
pub(super) use stored::{Unique, has_entries, is_answered, is_stood_on, order_of_invoice, withdraw};
pub(super) use unfinished::remove_some;
