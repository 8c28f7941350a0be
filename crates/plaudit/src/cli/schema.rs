//! `plaudit schema`: prints the JSON Schema of program files.

use super::{Failure, say};
use crate::transfer;

/// Runs the command.
pub(super) fn run() -> Result<(), Failure> {
    say(transfer::schema().trim_end())
}
