//! The typesetter: `plaudit-typeset`, a program of its own that makes documents of templates.
//!
//! - It runs as a child process, which is spoken to over its pipes and sees nothing of the environment. It has so much memory and
//!   so much time for a document; where it takes more, it is killed, and the document is at fault.
//! - So many documents are made at the same time, each by a process; others wait for their turn. A process makes one document after
//!   the other while anybody makes documents ([`Session`]).

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufWriter};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
pub use typesetting::{Fault, Format, Request};

/// The name of the program.
pub const PROGRAM: &str = "plaudit-typeset";

/// The most bytes of what a process says at its end.
const LAST_WORDS: u64 = 64 << 10;

/// What documents may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program, where it is known.
    pub program: Option<PathBuf>,
    /// How many documents are made at the same time.
    pub together: usize,
    /// How long one may take.
    pub patience: Duration,
    /// The most bytes of memory of a process.
    pub memory_bytes: u64,
}

/// Why there is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypesetError {
    /// The program is not installed.
    #[error(
        "Documents cannot be made here: the typesetter {PROGRAM} is not installed. It has to lie beside the service's own program, \
         or where documents.typesetter says."
    )]
    Missing,
    /// The program cannot be started or spoken to.
    #[error("The typesetter cannot be used: {0}")]
    Failed(String),
    /// The template is at fault.
    #[error("{}", told(.0))]
    Fault(Fault),
    /// It takes too long.
    #[error("It takes more than {} seconds to make the document.", .0.as_secs())]
    TooLong(Duration),
}

/// A fault as it is told: where it is, and what.
fn told(Fault { message, line, column }: &Fault) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: {message}"),
        _ => message.clone(),
    }
}

/// Makes documents.
#[derive(Debug)]
pub struct Typesetter {
    settings: Settings,
    turns: Semaphore,
    pool: Mutex<Pool>,
}

/// The processes that wait, and how many sessions there are.
#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Process>,
    sessions: usize,
}

impl Typesetter {
    /// A typesetter with these settings.
    pub fn new(settings: Settings) -> Self {
        let turns = Semaphore::new(settings.together.max(1));
        Self { settings, turns, pool: Mutex::default() }
    }

    /// The program. It is started in another folder than the server, so that its path is absolute.
    pub fn program(&self) -> Result<PathBuf, TypesetError> {
        let program = self.settings.program.as_ref().and_then(|program| std::path::absolute(program).ok());
        program.filter(|program| program.is_file()).ok_or(TypesetError::Missing)
    }

    /// To be had while documents are made.
    pub fn session(&self) -> Session<'_> {
        self.pool.lock().sessions += 1;
        Session(self)
    }
}

/// Makes documents. With the last session the processes end.
#[derive(Debug)]
pub struct Session<'t>(&'t Typesetter);

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut pool = self.0.pool.lock();
        pool.sessions -= 1;
        if pool.sessions == 0 {
            pool.idle.clear();
        }
    }
}

impl Session<'_> {
    /// Waits until a document may be made.
    pub async fn turn(&self) -> Turn<'_> {
        // A semaphore that is never closed gives a permit in the end.
        Turn { typesetter: self.0, _permit: self.0.turns.acquire().await.ok() }
    }
}

/// The turn of a document.
#[derive(Debug)]
pub struct Turn<'t> {
    typesetter: &'t Typesetter,
    _permit: Option<SemaphorePermit<'t>>,
}

impl Turn<'_> {
    /// Makes the document of a request, whose files and pictures have these bytes.
    pub async fn typeset(self, request: &Request, files: &[Bytes]) -> Result<Bytes, TypesetError> {
        let waiting = self.typesetter.pool.lock().idle.pop();
        if let Some(process) = waiting
            && let Some(made) = self.typeset_by(process, request, files).await
        {
            return made;
        }
        // What a process still has of earlier documents is no fault of this one.
        let process = Process::start(self.typesetter.program()?, self.typesetter.settings.memory_bytes)?;
        let made = self.typeset_by(process, request, files).await;
        made.unwrap_or_else(|| Err(TypesetError::Failed("it ended".to_owned())))
    }

    /// What came of a request; nothing where a process that has made other documents ended by itself.
    async fn typeset_by(
        &self,
        mut process: Process,
        request: &Request,
        files: &[Bytes],
    ) -> Option<Result<Bytes, TypesetError>> {
        let patience = self.typesetter.settings.patience;
        Some(match timeout(patience, process.make(request, files)).await {
            Ok(Ok(made)) => {
                process.is_fresh = false;
                self.typesetter.pool.lock().idle.push(process);
                made
            }
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidInput => {
                Err(TypesetError::Fault(Fault::new("what the document shows has more bytes than can be typeset")))
            }
            Ok(Err(_)) if !process.is_fresh => return None,
            // It ends by itself where it needs more than it may have.
            Ok(Err(_)) => {
                let said = process.last_words().await;
                tracing::warn!(said = said.lines().next().unwrap_or_default(), "a typesetter ended by itself");
                Err(TypesetError::Fault(Fault::of_end(&said)))
            }
            Err(_) => Err(TypesetError::TooLong(patience)),
        })
    }
}

/// A running typesetter, which is killed when it is dropped.
#[derive(Debug)]
struct Process {
    _child: Child,
    input: BufWriter<ChildStdin>,
    output: ChildStdout,
    errors: ChildStderr,
    /// Whether it has made no document yet.
    is_fresh: bool,
}

impl Process {
    fn start(program: impl AsRef<OsStr>, memory_bytes: u64) -> Result<Self, TypesetError> {
        let mut command = Command::new(program);
        command.arg("--memory-bytes").arg(memory_bytes.to_string()).env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| TypesetError::Failed(error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((input, output), errors) = pipes.ok_or_else(|| TypesetError::Failed("it has no pipes".to_owned()))?;
        Ok(Self { _child: child, input: BufWriter::new(input), output, errors, is_fresh: true })
    }

    /// What came of a request; an error where the process ended.
    async fn make(&mut self, request: &Request, files: &[Bytes]) -> std::io::Result<Result<Bytes, TypesetError>> {
        self.write(&serde_json::to_vec(request)?).await?;
        for file in files {
            self.write(file).await?;
        }
        self.input.flush().await?;
        let answer: typesetting::Answer = serde_json::from_slice(&self.read().await?)?;
        Ok(match answer {
            typesetting::Answer::Made => Ok(self.read().await?.into()),
            typesetting::Answer::Fault(fault) => Err(TypesetError::Fault(fault)),
        })
    }

    /// What it said at its end.
    async fn last_words(&mut self) -> String {
        let mut said = Vec::new();
        let mut errors = (&mut self.errors).take(LAST_WORDS);
        // What it said before it is cut off counts.
        drop(timeout(Duration::from_secs(1), errors.read_to_end(&mut said)).await);
        String::from_utf8_lossy(&said).into_owned()
    }

    async fn write(&mut self, message: &[u8]) -> std::io::Result<()> {
        self.input.write_all(&typesetting::length(message)?).await?;
        self.input.write_all(message).await
    }

    async fn read(&mut self) -> std::io::Result<Vec<u8>> {
        let mut before = [0; typesetting::PREFIX];
        self.output.read_exact(&mut before).await?;
        let mut message = vec![0; typesetting::length_of(before)?];
        self.output.read_exact(&mut message).await?;
        Ok(message)
    }
}
