//! What the program writes to standard error while it runs.

use std::fmt;
use std::io::{BufWriter, IsTerminal as _, Stderr, Write};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tracing::subscriber::{SetGlobalDefaultError, set_global_default};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Scope};

use super::Failure;
use crate::config::{Config, LogFormat};
use crate::services::traces::Traces;

/// Lines are written out when so many bytes of them wait.
const FULL: usize = 32 * 1024;
/// Lines are written out when they have waited so long.
const PATIENCE: Duration = Duration::from_millis(50);

/// Begins to write log lines; dropped, it writes what still waits.
pub(super) fn begin(config: &Config) -> Result<Writing, Failure> {
    let Config { log: config, traces, .. } = config;
    // The steps of a migration are told by `migrate`, and need no second telling.
    let filter = EnvFilter::try_new(format!("refinery_core=warn,{}", config.level))
        .map_err(|error| Failure::Usage(format!("log.level: {error}")))?;
    let lines = Lines(Arc::new(Mutex::new(BufWriter::with_capacity(FULL, std::io::stderr()))));
    let (kept, waiting) = (lines.clone(), lines.clone());
    std::thread::Builder::new().name("plaudit-log".to_owned()).spawn(move || {
        loop {
            std::thread::park_timeout(PATIENCE);
            let _ = kept.0.lock().flush();
        }
    })?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines);
    let traces = match traces.url.as_str() {
        "" => None,
        url => {
            Some(Traces::begin(url, traces.percent).map_err(|error| Failure::Usage(format!("traces.url: {error}")))?)
        }
    };
    match config.format {
        LogFormat::Json => {
            install(subscriber.json().flatten_event(true).with_span_list(false).finish(), traces.as_ref())
        }
        LogFormat::Text if std::io::stderr().is_terminal() => install(subscriber.finish(), traces.as_ref()),
        LogFormat::Text => install(subscriber.with_ansi(false).event_format(Plain).finish(), traces.as_ref()),
    }?;
    // The usual words would be no line of the log, and would stand in two.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(tracing::field::display);
        tracing::error!(
            place,
            cause = panic.payload_as_str().unwrap_or_default(),
            "a panic: this is a fault of plaudit"
        );
    }));
    Ok(Writing { traces, _lines: Flushed(waiting) })
}

fn install<S>(subscriber: S, traces: Option<&Traces>) -> Result<(), SetGlobalDefaultError>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    match traces {
        Some(traces) => set_global_default(subscriber.with(traces.layer())),
        None => set_global_default(subscriber),
    }
}

/// The format of a terminal's lines without its colours, which cost a request more than what they colour. What a request
/// tells of itself stands behind what happened.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        SystemTime.format_time(&mut writer)?;
        let metadata = event.metadata();
        write!(writer, " {:>5} {}: ", metadata.level(), metadata.target())?;
        context.format_fields(writer.by_ref(), event)?;
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                write!(writer, " {}", fields.fields)?;
            }
        }
        writer.write_char('\n')
    }
}

/// Lines that wait to be written: a write for every line would cost a request as much as its answer.
struct Lines<W>(Arc<Mutex<W>>);

impl<W> Clone for Lines<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Without standard error there is nobody left to tell.
        let _ = self.0.lock().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<W: Write> MakeWriter<'_> for Lines<W> {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Writes what still waits when it is dropped.
pub(super) struct Writing {
    traces: Option<Traces>,
    _lines: Flushed,
}

impl Writing {
    /// Sends the last traces.
    pub(super) async fn end(self) {
        if let Some(traces) = self.traces {
            traces.end().await;
        }
    }
}

/// Writes what still waits when it is dropped.
struct Flushed(Lines<BufWriter<Stderr>>);

impl Drop for Flushed {
    fn drop(&mut self) {
        let _ = self.0.0.lock().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_is_that_of_a_terminal_without_its_colours() {
        let [plain, other] = [(), ()].map(|()| Lines(Arc::new(Mutex::new(Vec::new()))));
        let tell = || {
            let error = std::io::Error::other("broken");
            let status = 200_u16;
            tracing::info!(target: "plaudit::request", id = %"a-1", path = "/a\u{1b}\"b", status, "told");
            tracing::error!(%error, ?error, count = -5, is = true, part = 0.5, "a {} failed", "request");
            tracing::warn!("only a text");
        };
        let subscriber = tracing_subscriber::fmt().with_writer(plain.clone()).with_ansi(false);
        let subscriber = subscriber.event_format(Plain).finish();
        tracing::subscriber::with_default(subscriber, tell);
        let subscriber = tracing_subscriber::fmt().with_writer(other.clone()).with_ansi(false).finish();
        tracing::subscriber::with_default(subscriber, tell);
        let texts = [plain, other].map(|lines| String::from_utf8(lines.0.lock().clone()).unwrap());
        // What stands before the level is the time.
        let [plain, other] = texts
            .each_ref()
            .map(|text| -> Vec<&str> { text.lines().map(|line| line.split_once("Z ").unwrap().1).collect() });
        assert_eq!(plain, other);
        assert_eq!(plain.len(), 3);
    }
}
