//! Holds the rows of records against their documents, and these against the change log, for `plaudit doctor`.

mod store;

pub use store::{difference, each_wrong};
