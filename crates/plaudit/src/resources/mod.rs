//! The operations: a folder or file for each group of the interface, nothing but requests and answers.

pub mod accounts;
pub mod attachments;
pub mod categories;
pub mod chapters;
pub mod contributors;
pub mod entries;
mod entry_children;
pub mod events;
pub mod fields;
pub mod files;
pub mod forms;
mod images;
pub mod jobs;
pub mod linked;
pub mod openapi;
mod operation;
pub mod orders;
mod people_list;
pub mod public_routes;
pub mod rounds;
pub mod score_sets;
pub mod seasons;
mod setup_list;
mod setup_record;
pub mod taxes;
pub mod users;
pub mod webhooks;
