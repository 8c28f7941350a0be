//! The files of the source tree.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::source::Source;
use proofs::process;

/// Every text file that is committed or would be.
pub(super) struct Tree {
    pub(super) files: Vec<Source>,
}

/// The folders of the server's own crates.
const SERVER: [&str; 3] = ["crates/kernel/src/", "crates/db/src/", "crates/plaudit/src/"];

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut command = Command::new("git");
        // A tree that another user has checked out is read all the same: nothing in it is run.
        command.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let list = process::output(command.current_dir(root)).context("the files of the tree cannot be listed")?;
        let mut files = Vec::new();
        for path in list.split_terminator('\0') {
            match fs::read_to_string(root.join(path)) {
                Ok(text) => files.push(Source::new(path, text)),
                // Deleted but not yet committed, a directory of its own, or not text: nothing for a rule about text.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {}
                Err(error) if error.kind() == ErrorKind::IsADirectory => {}
                Err(error) => return Err(error).with_context(|| format!("{path} cannot be read")),
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { files })
    }

    /// The Rust files.
    pub(super) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The Rust files of the server and of the crates below it that are its own, without tests.
    pub(super) fn server(&self) -> impl Iterator<Item = &Source> {
        self.rust().filter(|file| SERVER.iter().any(|folder| file.path.starts_with(folder)))
    }

    /// The Rust files of every crate that is shipped, without tests and without the developer's tools.
    pub(super) fn shipped(&self) -> impl Iterator<Item = &Source> {
        self.rust().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
    }
}
