//! `plaudit verify-result`: verifies a result bundle by itself, without a database.

use std::fs;
use std::path::PathBuf;

use super::{Failure, say};
use crate::records::publications::verify::{Verified, verify};

/// What to verify.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file of the bundle, as GET /leaderboard/publication/{slug}/bundle gave it
    file: PathBuf,
    /// The public key that must have signed it, as `plaudit key public` prints it: who signs a forgery has another one
    #[arg(long, value_name = "PUBLIC", value_parser = public_key)]
    key: Option<String>,
}

fn public_key(text: &str) -> Result<String, String> {
    let is_key = hex::decode(text).is_ok_and(|bytes| bytes.len() == 32);
    if is_key { Ok(text.to_ascii_lowercase()) } else { Err("must have 64 hexadecimal digits".to_owned()) }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { file, key } = arguments;
    let bundle = fs::read(file).map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))?;
    let Verified { entries, public_key } = verify(&bundle, key.as_deref()).map_err(Failure::Failed)?;
    let by = if key.is_some() { "by that key" } else { "by the key" };
    say(&format!("yes: the result of {entries} entries follows from its sheets, and is signed {by} {public_key}"))
}
