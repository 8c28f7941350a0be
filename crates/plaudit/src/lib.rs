//! Plaudit: a server for awards, competitions, scholarships and grants.
//!
//! `ARCHITECTURE.md` at the root of the repository is the map. A folder imports only what stands above it here;
//! `cargo xtask tidy` proves it.

pub mod turns;

pub mod storage;

pub mod config;

pub mod addresses;

pub mod outgoing;

pub mod mail;

pub mod typesetter;

pub mod signing;

pub mod log;

pub mod program;

pub mod lists;

pub mod records;

pub mod access;

pub mod views;

pub mod order_flow;

pub mod transfer;

pub mod streams;

pub mod services;

pub mod render;

pub mod leases;

pub mod jobs;

pub mod deliveries;

pub mod document_flow;

pub mod assigning;
pub mod review_flow;

pub mod http;

pub mod erasing;

pub mod expiring_keys;

pub mod resources;

pub mod website;

pub mod router;

pub mod background;

pub mod cli;
