//! Where the programs of PostgreSQL are, and how they come onto a machine that has none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::{is_program, own_user};
use crate::process;

/// Where Debian and its descendants put one directory for each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

const MISSING: &str = "PostgreSQL is not installed and the tests run on both engines: install it \
     (Debian and Ubuntu: `apt-get install postgresql`, Fedora: `dnf install postgresql-server`, \
     macOS: `brew install postgresql`), or put its `initdb` and `postgres` on the search path";

/// The directory of the programs; as root on Debian they are installed where they are missing.
pub(super) fn find_or_install() -> Result<PathBuf> {
    if let Some(programs) = find() {
        return Ok(programs);
    }
    let may_install = own_user()? == 0 && Path::new("/etc/debian_version").exists();
    if may_install
        && install().is_ok()
        && let Some(programs) = find()
    {
        return Ok(programs);
    }
    bail!(MISSING)
}

fn find() -> Option<PathBuf> {
    let on_the_path = process::find("initdb").and_then(|initdb| fs::canonicalize(initdb).ok());
    let on_the_path = on_the_path.and_then(|initdb| initdb.parent().map(Path::to_path_buf));
    on_the_path.filter(|directory| is_complete(directory)).or_else(|| newest(Path::new(DEBIAN)))
}

fn newest(parent: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(parent).ok()?.flatten().map(|version| version.path());
    let complete = versions.filter(|version| is_complete(&version.join("bin")));
    complete.max_by_key(|version| major(version)).map(|version| version.join("bin"))
}

fn major(version: &Path) -> Option<u32> {
    version.file_name()?.to_str()?.parse().ok()
}

fn is_complete(directory: &Path) -> bool {
    ["initdb", "postgres", "psql"].iter().all(|program| is_program(&directory.join(program)))
}

fn install() -> Result<()> {
    eprintln!("PostgreSQL is not installed: running apt-get install postgresql");
    // A list of packages that is out of date is enough more often than not, so its failure is not the end.
    let _ = apt_get(&["update", "--quiet"]);
    apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", "postgresql"])
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    process::output(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_newest_complete_version_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        for (version, programs) in [("9", 3), ("15", 3), ("16", 2), ("17", 0)] {
            let directory = parent.path().join(version).join("bin");
            fs::create_dir_all(&directory).unwrap();
            for program in ["initdb", "postgres", "psql"].iter().take(programs) {
                fs::write(directory.join(program), "").unwrap();
                fs::set_permissions(directory.join(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        assert_eq!(newest(parent.path()), Some(parent.path().join("15/bin")));
    }
}
