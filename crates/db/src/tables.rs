//! The tables of the schema, for what copies or counts all of them.

/// Every table, in an order in which they can be filled.
pub const TABLES: &[&str] = &[
    "accounts",
    "hosts",
    "api_keys",
    "setup_records",
    "changes",
    "people",
    "contacts",
    "users",
    "user_roles",
    "user_seasons",
    "one_time_links",
    "entries",
    "entry_tags",
    "entry_counts",
    "contributors",
    "contributor_answers",
    "files",
    "uploads",
    "attachments",
    "orders",
    "order_entries",
    "assignments",
    "assignment_panels",
    "assignment_rounds",
    "assignment_plans",
    "conflicts",
    "recusals",
    "standings",
    "review_tasks",
    "review_task_reviewers",
    "review_task_times",
    "casting_votes",
    "lots",
    "publications",
    "documents",
    "leases",
    "deliveries",
    "delivery_bodies",
    "delivery_usage",
    "jobs",
    "idempotent_answers",
    "idempotent_usage",
    "maintenance",
    "secrets",
];

/// The tables that have no account, because they are the installation's, and the accounts themselves.
const OF_INSTALLATION: &[&str] = &["accounts", "people", "contacts", "maintenance", "secrets"];

/// The tables whose rows belong to an account, which they name in the column `account`.
pub fn of_accounts() -> impl DoubleEndedIterator<Item = &'static str> {
    TABLES.iter().copied().filter(|table| !OF_INSTALLATION.contains(table))
}

/// Has PostgreSQL look at how the tables are filled, those that somebody else is at left out.
pub(super) fn analyze() -> String {
    format!("ANALYZE (SKIP_LOCKED) {}", TABLES.join(", "))
}
