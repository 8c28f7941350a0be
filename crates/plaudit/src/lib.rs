//! Plaudit: a server for awards, competitions, scholarships and grants.
//!
//! `ARCHITECTURE.md` at the root of the repository is the map.

pub mod app;
pub mod attachments;
pub mod cli;
pub mod config;
pub mod contributors;
pub mod entries;
pub mod files;
pub mod http;
pub mod list;
pub mod log;
pub mod orders;
pub mod program;
pub mod storage;
pub mod transfer;
pub mod users;
pub mod views;
