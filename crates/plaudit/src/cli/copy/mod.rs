//! Whole tables, read and filled as they are.

mod store;

pub(super) use store::{clear, each_row, fill, is_empty};
