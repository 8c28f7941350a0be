//! The messages that a test's server sends, into a folder of its own.

use std::collections::BTreeMap;
use std::path::Path;

use plaudit::mail::Sender;

use super::Server;

/// Puts messages into a folder below this one.
pub(super) fn into(directory: &Path) -> Sender {
    Sender::open(&format!("file:{}", directory.join("mail").display()), "plaudit@awards.example").unwrap()
}

impl Server {
    /// The messages that were sent, by their ids.
    pub fn messages(&self) -> BTreeMap<String, String> {
        let Ok(files) = std::fs::read_dir(self.directory.path().join("mail")) else { return BTreeMap::new() };
        let paths = files.map(|file| file.unwrap().path());
        let id = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        paths.map(|path| (id(&path), std::fs::read_to_string(path).unwrap())).collect()
    }
}
