//! The tables of the schema, for what copies or counts all of them.

/// Every table with its columns, in an order in which they can be filled.
pub const TABLES: &[(&str, &[&str])] = &[
    ("accounts", &["id", "slug", "version", "sequence", "hash", "doc"]),
    ("hosts", &["name", "account"]),
    ("api_keys", &["account", "slug", "hash", "doc"]),
    ("setup_records", &["account", "kind", "slug", "deleted", "revision", "doc"]),
    ("changes", &["account", "sequence", "at", "actor", "source", "kind", "slug", "action", "events", "doc", "hash"]),
    ("users", &["account", "slug", "email", "mobile", "updated", "deleted", "revision", "doc"]),
    (
        "entries",
        &[
            "account", "slug", "local_id", "season", "category", "chapter", "form", "entrant", "status", "title",
            "created", "updated", "deleted", "revision", "doc", "detail",
        ],
    ),
    ("entry_counts", &["account", "season", "category", "chapter", "status", "total"]),
    ("contributors", &["account", "slug", "entry", "deleted", "revision", "doc"]),
    ("files", &["account", "token", "revision", "doc"]),
    ("attachments", &["account", "token", "entry", "place", "deleted", "revision", "doc"]),
    (
        "orders",
        &[
            "account",
            "slug",
            "season",
            "segment",
            "purchaser",
            "recency",
            "created_at",
            "invoice_number",
            "payment_method",
            "total",
            "revision",
            "note",
            "doc",
        ],
    ),
    ("order_counts", &["account", "season", "segment", "total", "changed"]),
    ("idempotent_answers", &["account", "api_key", "name", "request", "status", "headers", "body", "created"]),
    ("maintenance", &["region", "message"]),
    ("secrets", &["name", "bytes"]),
];
