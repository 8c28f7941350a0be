//! `plaudit maintenance`: takes a region out of service and back; every node follows within a second.

use super::{Failure, open_existing, say, with_database};
use crate::config::Config;
use crate::services::store::set_maintenance;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Answer every request of the region with 503 and this text
    On {
        /// What clients are told
        text: String,
    },
    /// Answer requests again
    Off,
}

/// Runs the command.
pub(super) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let region: &str = config.server.region.into();
    let text = match &command {
        Command::On { text } if text.trim().is_empty() => {
            return Err(Failure::Usage("clients are told the text, so it must not be blank".to_owned()));
        }
        Command::On { text } => Some(text.as_str()),
        Command::Off => None,
    };
    with_database(open_existing(config).await?, async |db| Ok(set_maintenance(db, region, text).await?)).await?;
    say(&format!("maintenance of region {region} is {}", if text.is_some() { "on" } else { "off" }))
}
