//! `plaudit export`: writes an account as a program file.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::progress::Progress;
use super::{Failure, folder_of, open_to_read, spare_database};
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
    let (db, storage) = open_to_read(config).await?;
    let which = if arguments.set_up { Kind::is_setup } else { |_| true };
    let mut output = Output::begin(arguments.output)?;
    let exported = transfer::export(&db, &storage, arguments.account, which, &mut output).await;
    db.close().await;
    output.finish(exported.map_err(Failure::from))
}

/// Standard output, or a file, which takes the place of one that is there when it is whole. How many lines were written is shown.
pub(super) struct Output {
    target: Target,
    lines: u64,
    progress: Progress,
}

enum Target {
    Standard(BufWriter<Pipe>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

/// Standard output, and whether its reader has closed it.
#[derive(Default)]
pub(super) struct Pipe {
    is_closed: bool,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes);
        self.is_closed |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = io::stdout().flush();
        self.is_closed |= flushed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        flushed
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("{}: {error}", path.display()))
}

impl Output {
    pub(super) fn begin(path: Option<PathBuf>) -> Result<Self, Failure> {
        let target = match path {
            None => Target::Standard(BufWriter::with_capacity(BUFFER, Pipe::default())),
            Some(path) => {
                let file = NamedTempFile::new_in(folder_of(&path)).map_err(|error| failed(&path, &error))?;
                Target::File(BufWriter::with_capacity(BUFFER, file), path)
            }
        };
        // On a terminal the lines themselves are seen.
        let is_seen = matches!(target, Target::Standard(_)) && io::stdout().is_terminal();
        Ok(Self { target, lines: 0, progress: if is_seen { Progress::hidden() } else { Progress::new() } })
    }

    /// Ends what was written with this outcome. Nobody is told of what was not read to its end.
    pub(super) fn finish(self, written: Result<(), Failure>) -> Result<(), Failure> {
        match self.target {
            Target::Standard(mut out) => {
                let written = written.and_then(|()| Ok(out.flush()?));
                if out.get_ref().is_closed { Err(Failure::OutputClosed) } else { written }
            }
            Target::File(out, path) => {
                written?;
                let file = out.into_inner().map_err(|error| failed(&path, error.error()))?;
                file.as_file().sync_all().map_err(|error| failed(&path, &error))?;
                file.persist(&path).map_err(|error| failed(&path, &error.error))?;
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Target::Standard(out) => out.write(bytes),
            Target::File(out, _) => out.write(bytes),
        }?;
        if bytes.ends_with(b"\n") {
            self.lines += 1;
            self.progress.at(self.lines, "lines");
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Standard(out) => out.flush(),
            Target::File(out, _) => out.flush(),
        }
    }
}
