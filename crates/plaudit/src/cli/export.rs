//! `plaudit export`: writes an account as a program file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Failure, open_existing, spare_database};
use crate::config::Config;
use crate::storage::Storage;
use crate::transfer;
use db::Db;
use kernel::text::Slug;

/// What to export.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The slug of the account
    account: Slug,
    /// The file to write, in place of standard output; one of this name is replaced when the new one is whole
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The set-up alone, which can be applied
    #[arg(long)]
    set_up: bool,
    /// The set-up as YAML, to go on from: without times, people, and what is as it would be anyway
    #[arg(long, requires = "set_up")]
    yaml: bool,
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.output {
        spare_database(config, path)?;
    }
    let (db, storage) = open_existing(config).await?;
    match &arguments.output {
        None => {
            let mut out = BufWriter::with_capacity(1 << 18, std::io::stdout());
            write(&db, &storage, &arguments, &mut out).await?;
        }
        Some(path) => {
            let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
            let mut out = BufWriter::with_capacity(1 << 18, file);
            write(&db, &storage, &arguments, &mut out).await?;
            let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
            file.as_file().sync_all().map_err(failed)?;
            file.persist(path).map_err(|error| failed(error.error))?;
        }
    }
    db.close().await;
    Ok(())
}

async fn write(
    db: &Db,
    storage: &Storage,
    arguments: &Arguments,
    out: &mut (dyn Write + Send),
) -> Result<(), transfer::Error> {
    match (arguments.set_up, arguments.yaml) {
        (false, _) => transfer::export(db, storage, arguments.account, out).await,
        (true, false) => transfer::export_setup(db, arguments.account, out).await,
        (true, true) => transfer::export_yaml(db, arguments.account, out).await,
    }
}
