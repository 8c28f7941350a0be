//! The program: what an account sets up, as an immutable snapshot in memory.
//!
//! - A snapshot carries the version that it was read at: the name of the last change in the log that it shows. Every
//!   statement that reads a record reads the account's version with it; where they differ, the snapshot is loaded again,
//!   so that no answer is made from a stale one, or from one of a history that was lost.
//! - Trashed records stay in the snapshot, because older records refer to them; [`Records::live`] leaves them out.
//! - A stored record is read when it is first asked for, because most requests ask for few of them. One that cannot be
//!   read leaves the snapshot broken, and no answer is given from a broken one.
//! - All set-up records are in one table, as documents in the program-file form; their folders have no SQL of their own.

pub mod accounts;
pub mod bounds;
pub mod categories;
pub mod chapters;
mod checks;
mod choice;
pub mod content_blocks;
pub mod criteria;
mod description;
pub mod discounts;
pub mod document_templates;
pub mod fields;
pub mod forms;
pub mod keys;
mod kinds;
pub(crate) mod member;
pub mod panels;
pub mod prices;
mod programs;
mod record;
pub mod review_stages;
pub mod roles;
pub mod rounds;
mod schema;
pub mod score_sets;
pub mod seasons;
mod shown;
mod snapshot;
pub mod store;
pub mod tabs;
pub mod taxes;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod value;
mod views;
pub mod webhooks;

pub(crate) use choice::choices;
pub use description::{Description, SLUG, page_of};
pub use kinds::{InProgram, SetUp};
pub(crate) use kinds::{any_kind, for_setup_kind, of_setup_kind, setup_kinds};
pub use member::{Member, Presence, Shape, names, references};
pub use programs::Programs;
pub use record::{Context, Record, RecordKey, Records, SetupRecord, StoredRecord};
pub use record_derive::Record;
pub use schema::{Usage, component, definitions, object_schema, pascal};
pub use shown::shown;
pub use snapshot::Program;
pub(crate) use value::object_values;
pub use value::{Item, MemberValue, RecordMembers, Texts};

/// The most characters of a name or heading.
pub const NAME_LENGTH: usize = 255;
/// The most characters of a description.
pub const DESCRIPTION_LENGTH: usize = 65_536;
