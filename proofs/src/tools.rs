//! Programs of other languages that proofs use, in the versions that are named here. They are installed beside what is built,
//! once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::Context;
use crate::process;

/// A program of a package of Debian, which is installed where it is not there.
pub(crate) fn debian(program: &str, package: &str) -> Result<PathBuf> {
    if let Some(found) = process::find(program) {
        return Ok(found);
    }
    install(package)?;
    process::find(program).with_context(|| format!("the package {package} has no {program}"))
}

/// Installs a package of Debian.
pub(crate) fn install(package: &str) -> Result<()> {
    println!("  installing {package}");
    let install = ["install", "--yes", "--no-install-recommends", package];
    process::output(Command::new("apt-get").arg("update"))
        .and_then(|_| process::output(Command::new("apt-get").args(install).env("DEBIAN_FRONTEND", "noninteractive")))
        .with_context(|| format!("this proof needs the package {package}"))
        .map(drop)
}

/// Programs of Python and Node in a directory of their own.
pub(crate) struct Tools {
    directory: PathBuf,
}

impl Tools {
    /// Those of a name: packages of Python and of Node, each with its version.
    pub(crate) fn install(context: &Context, name: &str, python: &[&str], node: &[&str]) -> Result<Self> {
        let tools = Self { directory: context.target()?.join("tools").join(name) };
        let wanted = [python, node].concat().join("\n");
        let is_there = fs::read_to_string(tools.directory.join("installed")).is_ok_and(|there| there == wanted);
        if is_there {
            return Ok(tools);
        }
        println!("  installing {}", wanted.replace('\n', ", "));
        if tools.directory.exists() {
            fs::remove_dir_all(&tools.directory)?;
        }
        fs::create_dir_all(&tools.directory)?;
        if !python.is_empty() {
            let venv = tools.directory.join("python");
            process::output(Command::new(context.python()?).args(["-m", "venv"]).arg(&venv))?;
            process::output(Command::new(venv.join("bin/pip")).args(["install", "--quiet"]).args(python))?;
        }
        if !node.is_empty() {
            let npm = process::find("npm").context("this proof needs Node.js with npm")?;
            fs::write(tools.directory.join("package.json"), "{\"private\":true}")?;
            let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
            process::output(Command::new(npm).current_dir(&tools.directory).args(install).args(node))?;
        }
        fs::write(tools.directory.join("installed"), wanted)?;
        Ok(tools)
    }

    /// Where they are.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A program of a package of Python.
    pub(crate) fn python(&self, program: &str) -> Command {
        let programs = self.directory.join("python/bin");
        let mut command = Command::new(programs.join(program));
        // Some call others by their names.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", programs.display()));
        command
    }

    /// A program of a package of Node.
    pub(crate) fn node(&self, program: &str) -> Command {
        let mut command = Command::new(self.directory.join("node_modules/.bin").join(program));
        command.current_dir(&self.directory);
        command
    }
}
