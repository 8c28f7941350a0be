//! The interface, driven through the real router on both engines, with a fixed clock and seeded slugs.

#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod access;
mod accounts;
mod answers;
mod apply;
mod assignment_plans;
mod assignments;
mod attachments;
mod budgets;
mod categories;
mod chapters;
mod conflicts;
mod contributors;
mod database;
mod deliveries;
mod delivery_log;
mod document_making;
mod documents;
mod entries;
mod entry_children;
mod errors;
mod events;
mod feed;
mod fields;
mod files;
mod forms;
mod fuzz;
mod harness;
mod histories;
mod idempotency;
mod isolation;
mod jobs;
mod languages;
mod leaderboard;
mod leases;
mod links;
mod mail;
mod openapi;
mod orders;
mod panels;
mod plans;
mod publications;
mod races;
mod reminders;
mod review_tasks;
mod rounds;
mod score_sets;
mod seasons;
mod setup_bodies;
mod setup_lists;
mod snapshots;
mod statements;
mod streams;
mod taxes;
mod upgrades;
mod uploads;
mod users;
mod webhook_changes;
mod webhooks;
mod website;
mod xml;
