//! `plaudit config`: what the program is set to.

use super::{Failure, say};
use crate::config::Config;

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every setting and where its value came from, passwords masked
    Show,
}

/// Runs the command.
pub(super) fn run(config: &Config, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show => say(config.redacted().trim_end()),
    }
}
