//! `plaudit version`: which build this is.

use serde_json::json;

use super::{Failure, say};
use crate::config::{COMMIT, SYSTEM};
use crate::log;

/// How to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// As a JSON object, with what it works with
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if !arguments.json {
        return say(&format!("plaudit {version}"));
    }
    let told = json!({
        "version": version,
        "interface": "2.3",
        "commit": COMMIT,
        "system": SYSTEM.join("-"),
        "schema": db::migrate::all().last(),
        "document_form": log::FORM,
    });
    say(&format!("{told:#}"))
}
