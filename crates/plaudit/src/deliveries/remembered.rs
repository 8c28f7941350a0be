//! What the lease of an endpoint remembers, as JSON.

use serde::{Deserialize, Serialize};

/// What a lease remembers of an endpoint.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Remembered {
    /// The address that all of this is of.
    pub(super) url: Option<String>,
    /// When attempts began to fail, in seconds since 1970-01-01 UTC.
    pub(super) failing_since: Option<i64>,
    /// When the last of them failed, by the same time.
    pub(super) last_failure: Option<i64>,
    /// Until when it has asked to be left alone, in microseconds of the database's time.
    pub(super) rests_until: i64,
    /// When a message was last sent that a delivery has failed for good, in microseconds since then.
    pub(super) notified: Option<i64>,
}

impl Remembered {
    /// What a lease remembers; what cannot be read is forgotten.
    pub(super) fn parse(state: &str) -> Self {
        serde_json::from_str(state).unwrap_or_default()
    }

    /// As a lease has it.
    pub(super) fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }
}
