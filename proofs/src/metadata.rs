//! What `cargo metadata` tells of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The metadata of the workspace, with or without its dependencies.
pub fn read(root: &Path, workspace_only: bool) -> Result<Value> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(["metadata", "--format-version", "1"]);
    if workspace_only {
        command.arg("--no-deps");
    }
    let text = crate::process::output(&mut command)?;
    serde_json::from_str(&text).context("cargo metadata is not JSON")
}

/// The directory that cargo builds into.
pub fn target(root: &Path) -> Result<PathBuf> {
    let metadata = read(root, true)?;
    let directory = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(directory))
}
