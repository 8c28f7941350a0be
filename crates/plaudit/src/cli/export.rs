//! `plaudit export`: writes an account as a program file.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use super::{Failure, folder_of, must_exist, open, spare_database};
use crate::config::Config;
use crate::storage::Storage;
use crate::transfer;
use db::Db;
use kernel::kind::Kind;
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
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.output {
        spare_database(config, path)?;
    }
    must_exist(config)?;
    let (db, storage) = open(config).await?;
    match &arguments.output {
        None => {
            let mut out = BufWriter::with_capacity(1 << 18, std::io::stdout());
            write(&db, &storage, &arguments, &mut out).await?;
        }
        Some(path) => {
            let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
            let file = tempfile::NamedTempFile::new_in(folder_of(path)).map_err(failed)?;
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
    let which = if arguments.set_up { Kind::is_setup } else { |_| true };
    transfer::export(db, storage, arguments.account, which, out).await
}
