//! The typesetter as a process: answers requests on its standard output, one after the other.
//!
//! - It has the memory that its argument says, writes no file, and opens few of them: the fonts.
//! - It works on one thread, so that as many run side by side as the server starts.
//! - What ends it tells why in a line on the standard error.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use plaudit_typeset::fonts::Fonts;
use plaudit_typeset::{Files, Typesetter};
use rayon::ThreadPoolBuilder;
use rustix::process::{Resource, Rlimit, getppid, setrlimit};
use typesetting::{Answer, Request};

/// The argument that says how many bytes of memory may be had.
const MEMORY: &str = "--memory-bytes";
/// The stack, in bytes: enough for all that the compiler lets a template nest.
const STACK: usize = 64 << 20;
/// How often is looked whether the server still lives.
const LOOKS: Duration = Duration::from_millis(200);
/// How many files may be open.
const OPEN_FILES: u64 = 16;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "plaudit-typeset: {}", panic.payload_as_str().unwrap_or("a panic"));
    }));
    let thread = std::thread::Builder::new().name("typesetter".to_owned()).stack_size(STACK).spawn(run);
    match thread.map(while_the_server_lives) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) | Err(error) => {
            let _ = writeln!(io::stderr(), "plaudit-typeset: {error}");
            ExitCode::FAILURE
        }
        Ok(Err(_)) => ExitCode::FAILURE,
    }
}

/// What came of the work; a server that was killed takes its typesetters with it, in whatever loop a template is.
fn while_the_server_lives(work: JoinHandle<io::Result<()>>) -> std::thread::Result<io::Result<()>> {
    let server = getppid();
    while !work.is_finished() {
        if getppid() != server {
            std::process::exit(1);
        }
        std::thread::sleep(LOOKS);
    }
    work.join()
}

fn run() -> io::Result<()> {
    let memory = memory()?;
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().map_err(io::Error::other)?;
    let mut typesetter = Typesetter::new(Fonts::installed());
    for (resource, most) in [
        (Resource::As, memory),
        (Resource::Core, Some(0)),
        (Resource::Fsize, Some(0)),
        (Resource::Nofile, Some(OPEN_FILES)),
    ] {
        if most.is_some() {
            setrlimit(resource, Rlimit { current: most, maximum: most })?;
        }
    }
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Some(request) = typesetting::read(&mut input)? {
        let request: Request = serde_json::from_slice(&request)?;
        let files = Files::read(&request, || file(&mut input))?;
        let (answer, document) = match typesetter.make(&request, files) {
            Ok(document) => (Answer::Made, Some(document)),
            Err(fault) => (Answer::Fault(fault), None),
        };
        typesetting::write(&mut output, &serde_json::to_vec(&answer)?)?;
        if let Some(document) = document {
            typesetting::write(&mut output, &document)?;
        }
        output.flush()?;
    }
    Ok(())
}

/// How many bytes of memory the arguments allow; nothing for any number.
fn memory() -> io::Result<Option<u64>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Ok(None),
        [MEMORY, bytes] if bytes.parse::<u64>().is_ok() => Ok(bytes.parse().ok()),
        _ => {
            let usage =
                format!("usage: plaudit-typeset [{MEMORY} BYTES], with requests of the server on the standard input");
            Err(io::Error::new(io::ErrorKind::InvalidInput, usage))
        }
    }
}

fn file(input: &mut impl Read) -> io::Result<Vec<u8>> {
    typesetting::read(input)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
