//! `plaudit export`: writes an account as a program file.

use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Failure, folder_of, must_exist, open, spare_database};
use crate::config::Config;
use crate::transfer;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The bytes that are written at once.
const BUFFER: usize = 1 << 18;

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
    let which = if arguments.set_up { Kind::is_setup } else { |_| true };
    let mut output = Output::begin(arguments.output)?;
    transfer::export(&db, &storage, arguments.account, which, output.writer()).await?;
    output.finish()?;
    db.close().await;
    Ok(())
}

/// Standard output, or a file, which takes the place of one that is there when it is whole.
pub(super) enum Output {
    Standard(BufWriter<Stdout>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("{}: {error}", path.display()))
}

impl Output {
    pub(super) fn begin(path: Option<PathBuf>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::Standard(BufWriter::with_capacity(BUFFER, std::io::stdout()))) };
        let file = NamedTempFile::new_in(folder_of(&path)).map_err(|error| failed(&path, &error))?;
        Ok(Self::File(BufWriter::with_capacity(BUFFER, file), path))
    }

    pub(super) fn writer(&mut self) -> &mut (dyn Write + Send) {
        match self {
            Self::Standard(out) => out,
            Self::File(out, _) => out,
        }
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard(mut out) => Ok(out.flush()?),
            Self::File(out, path) => {
                let file = out.into_inner().map_err(|error| failed(&path, error.error()))?;
                file.as_file().sync_all().map_err(|error| failed(&path, &error))?;
                file.persist(&path).map_err(|error| failed(&path, &error.error))?;
                Ok(())
            }
        }
    }
}
