//! Running other programs: found by name, shown as they run, judged by their exit.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Builds every package at once: what is built for one alone has other features, and would be built twice.
pub const BUILD: &[&str] = &["build", "--release", "--workspace"];

/// Builds the typesetter, which is a workspace of its own, beside what this one builds.
pub fn typesetter(root: &Path) -> Result<PathBuf> {
    let target = crate::metadata::target(root)?.join("typeset");
    let folder = target.display().to_string();
    Cargo::new(root, &[&["build", "--release"], &of_typesetter(&folder)[..]].concat()).run()?;
    Ok(target.join("release").join("plaudit-typeset"))
}

/// The arguments of cargo for the workspace of the typesetter, which is built in this folder.
#[must_use]
pub fn of_typesetter(folder: &str) -> [&str; 4] {
    ["--manifest-path", "typeset/Cargo.toml", "--target-dir", folder]
}

/// A run of cargo, or of what it has built, in a directory.
pub struct Cargo {
    command: Command,
    shown: String,
}

impl Cargo {
    /// The same cargo that started this program, with these arguments.
    pub fn new(directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(program);
        command.current_dir(directory).args(arguments).stdin(Stdio::null());
        // What cargo says of this package would have build scripts that read it run again, and all that stands on them be built.
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| shown.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
        Self { command, shown: format!("cargo {}", words.join(" ")) }
    }

    /// A program that cargo has built, with these arguments.
    pub fn built(program: &Path, directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Self {
        let mut command = Command::new(program);
        command.current_dir(directory).args(arguments).stdin(Stdio::null());
        let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
        Self { command, shown: format!("{} {}", program.display(), words.join(" ")) }
    }

    /// Sets an environment variable for the run.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it with its output shown; an exit other than 0 is an error.
    pub fn run(mut self) -> Result<()> {
        println!("$ {}", self.shown);
        let status = self.command.status().with_context(|| format!("`{}` cannot be started", self.shown))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.shown);
        }
        Ok(())
    }

    /// Runs it with its output shown, and returns whether it succeeded and what it printed to standard output.
    pub fn capture(mut self) -> Result<(bool, String)> {
        println!("$ {}", self.shown);
        let started = self.command.stdout(Stdio::piped()).spawn();
        let mut child = started.with_context(|| format!("`{}` cannot be started", self.shown))?;
        let mut printed = String::new();
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).lines() {
                let line = line.with_context(|| format!("`{}` printed something other than text", self.shown))?;
                println!("{line}");
                printed.push_str(&line);
                printed.push('\n');
            }
        }
        Ok((child.wait()?.success(), printed))
    }
}

/// The full path of a program on the search path.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|candidate| candidate.is_file())
}

/// Runs a command in silence and returns its standard output; its standard error becomes part of the error.
pub fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("`{program}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{program}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{program}` printed something other than text"))
}
