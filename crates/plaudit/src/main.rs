//! The one binary of the service.

use std::process::ExitCode;

use plaudit::cli::{self, Arguments, Failure};

// Measured: 5 to 18 % more requests than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            cli::complain(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The most threads for work that blocks, such as reading files; more of it waits for its turn.
const BLOCKING_THREADS: usize = 64;

fn run(arguments: Arguments) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(cores).max_blocking_threads(BLOCKING_THREADS).enable_all().build()?;
    // On a worker, so that what a command waits for needs no second thread to wake it.
    let outcome = runtime.block_on(runtime.spawn(cli::run(arguments)));
    outcome.unwrap_or_else(|_| Err(Failure::Failed("the command broke off: this is a fault of plaudit".to_owned())))
}
