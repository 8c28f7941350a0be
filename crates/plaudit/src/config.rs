//! The configuration: one table of settings, from which the structs, the checks, `config show` and
//! `docs/configuration.md` all come.
//!
//! A value is taken from the last of these that gives one: the default, `plaudit.toml`, the environment, the command
//! line. Every value given anywhere is checked, also one that a later layer replaces, and all faults are reported at
//! once.

mod documentation;
mod kind;
mod layers;
#[cfg(test)]
mod tests;
mod values;

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use strum::VariantNames as _;

use crate::storage::Secret;
use kind::Kind;
use layers::Layers;
pub use values::{DatabaseUrl, LogFormat, Network, Region, WebOrigin};
use values::{FromText, mask, mask_address, parts};
use webhook_signing::Schedule;

/// The commit that the program was built from; releases are built with it.
pub const COMMIT: Option<&str> = option_env!("PLAUDIT_COMMIT");

/// What it was built for: the processor and the system.
pub const SYSTEM: [&str; 2] = [std::env::consts::ARCH, std::env::consts::OS];

/// A row of the table.
struct Setting {
    section: &'static str,
    name: &'static str,
    text: &'static str,
    default: &'static str,
    kind: Kind,
}

macro_rules! settings {
    ($($(#[doc = $about:literal])+ $section:ident: $Section:ident {
        $($(#[doc = $text:literal])+ $name:ident: $type:ty = $default:literal, $kind:expr;)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $Section {
            $($(#[doc = $text])+ #[doc = concat!("\n\nDefault: `", $default, "`.")] pub $name: $type,)+
        })+

        /// The whole configuration, checked.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $about])+ pub $section: $Section,)+
            origins: Vec<Origin>,
        }

        const SECTIONS: &[(&str, &str)] = &[$((stringify!($section), concat!($($about),+)),)+];

        const SETTINGS: &[Setting] = &[$($(Setting {
            section: stringify!($section),
            name: stringify!($name),
            text: concat!($($text),+),
            default: $default,
            kind: $kind,
        },)+)+];

        impl Config {
            /// Reads checked texts, one for each row of the table and in its order.
            fn build(texts: &[String], origins: Vec<Origin>) -> Option<Self> {
                let mut texts = texts.iter();
                Some(Self { $($section: $Section { $($name: FromText::from_text(texts.next()?)?,)+ },)+ origins })
            }
        }
    };
}

settings! {
    /// Where the service listens, how it is addressed, and how much it takes from one client.
    server: Server {
        /// The address and port to listen on. Port 0 takes a free one.
        listen: String = "127.0.0.1:8080", Kind::Address;
        /// The address under which clients reach the service, without a slash at the end; links in answers begin with
        /// it. Left empty, it is `http://` and the address listened on.
        base_url: String = "", Kind::WebAddress;
        /// The region that this deployment serves. A key of another region's account is refused.
        region: Region = "us", Kind::Choice(Region::VARIANTS);
        /// The proxies whose `X-Forwarded-For` is believed, as addresses or networks. In the environment they are
        /// separated by commas.
        trusted_proxies: Vec<Network> = "", Kind::Networks;
        /// The origins whose pages may use the interface in a browser, as it names them: `https://app.example.org`, or `*` for
        /// any. In the environment they are separated by commas. Without them browsers keep answers from other pages.
        web_origins: Vec<WebOrigin> = "", Kind::Origins;
        /// Whether answers are compressed for clients that ask for it by `Accept-Encoding` (gzip or zstd). It costs
        /// processor time; turn it off where a proxy does it.
        compression: bool = "true", Kind::Flag;
        /// Seconds within which the head of a request must have arrived, counted from its first byte, or from the
        /// opening of the connection for the first request.
        header_timeout_seconds: u64 = "10", Kind::Whole(1, 3600);
        /// Seconds that a client may pause while it sends a body or takes an answer.
        body_timeout_seconds: u64 = "30", Kind::Whole(1, 3600);
        /// Seconds that a connection may stay open between two requests.
        idle_timeout_seconds: u64 = "75", Kind::Whole(1, 86400);
        /// Seconds that requests in flight are given to finish when the service is asked to stop.
        shutdown_timeout_seconds: u64 = "30", Kind::Whole(1, 3600);
        /// Bytes of a body or an answer that a client moves in each second that it is waited for, once that has been for
        /// `body_timeout_seconds` without a break. 0 is any.
        min_bytes_per_second: u64 = "500", Kind::Whole(0, 1_000_000);
        /// Connections open at once. Where there is no room, those without an answered request give way to new ones, and then
        /// those that have been idle longest; where all are busy, new ones wait. 0 is half of the descriptors that the system
        /// lets the process have (`ulimit -Hn`) beyond 128 and `database.pool_size`, at most 10000, and at most 512 for each
        /// gigabyte of memory. More than these descriptors are never taken: the rest is for the database and files.
        max_connections: usize = "0", Kind::Whole(0, 1_000_000);
        /// Connections of one client address, or of one network /64 of IPv6, but for trusted proxies. Where it has as many, its
        /// own give way; where all of these are busy, a new one is closed. 0 is an eighth of the connections open at once.
        max_connections_per_address: usize = "0", Kind::Whole(0, 1_000_000);
        /// Bytes of a request body, but for the file of an upload.
        max_body_bytes: usize = "1048576", Kind::Whole(1024, 268_435_456);
        /// Bytes of a file that is uploaded. The interface allows 256 MB.
        max_upload_bytes: usize = "268435456", Kind::Whole(1024, 268_435_456);
    }
    /// Where records are kept.
    database: Database {
        /// The database: `sqlite:` and a file, or a `postgres://` address, which may name several hosts. Its password
        /// is never shown.
        url: DatabaseUrl = "sqlite:./plaudit.db", Kind::Database;
        /// Connections to PostgreSQL, which are busy all at once under load: more than a few for each of its processors slow
        /// it down. 0 is two for each processor that the service may use, at least 4 and at most 16. At most half of them are
        /// shared by lookups of single rows. SQLite does not use it.
        pool_size: usize = "0", Kind::Whole(0, 1000);
        /// Megabytes of memory for the columns and orders that lists are answered from. Accounts that need more take turns:
        /// the one that was asked for longest ago makes room, and is loaded again when it is asked for. 0 is a quarter of
        /// the memory of this machine, or of what the service may use of it.
        view_megabytes: usize = "0", Kind::Whole(0, 1_048_576);
        /// The most changes that one commit acknowledges together.
        group_limit: usize = "256", Kind::Whole(1, 10_000);
        /// Seconds that a write waits for another process that writes to the same SQLite file.
        busy_timeout_seconds: u64 = "10", Kind::Whole(1, 3600);
    }
    /// Where the bytes of files are kept.
    storage: Storage {
        /// A folder, which is made when it does not exist, or a bucket behind the interface of S3, which must be there,
        /// and what the names of its files begin with.
        url: String = "file:./plaudit-files", Kind::Storage;
        /// The address of the S3 interface, for a server other than that of AWS. Plain `http://` is for a network of your
        /// own.
        endpoint: String = "", Kind::WebAddress;
        /// The region that requests to the bucket are signed for. Left empty, it is that of `AWS_REGION`, or us-east-1.
        region: String = "", Kind::Text;
        /// The id of the access key to the bucket. Left empty, the role of the machine is used, as AWS tells it.
        access_key_id: String = "", Kind::Text;
        /// The access key to the bucket. It is never shown; set it by the environment.
        secret_access_key: Secret = "", Kind::Secret;
    }
    /// What the service writes to standard error.
    log: Log {
        /// The level from which on messages are written, or several with the module that they are about, such as
        /// `info,plaudit::db=debug`.
        level: String = "info", Kind::Levels;
        /// Lines for people, or a JSON object a line.
        format: LogFormat = "text", Kind::Choice(LogFormat::VARIANTS);
        /// Whether each request is written.
        requests: bool = "true", Kind::Flag;
    }
    /// Measurements for Prometheus.
    metrics: Metrics {
        /// The address and port on which `/metrics` is served. Left empty, it is not served.
        listen: Option<String> = "", Kind::OptionalAddress;
    }
    /// Traces for OpenTelemetry.
    traces: Traces {
        /// The collector that requests and jobs are told of, by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`. Left empty, none is.
        /// Headers that it wants are set by `OTEL_EXPORTER_OTLP_HEADERS`.
        url: String = "", Kind::WebAddress;
        /// Of how many of a hundred requests it is told, where a request names no trace that decides that.
        percent: u32 = "100", Kind::Whole(0, 100);
    }
    /// Limits that an account's own settings do not set.
    limits: Limits {
        /// Requests a minute from one client address without a known key.
        requests_per_minute: u32 = "60", Kind::Whole(1, 1_000_000);
        /// Hours for which the answer to an `Idempotency-Key` is kept.
        idempotency_hours: u64 = "24", Kind::Whole(1, 720);
        /// Megabytes of kept answers of one account. Of further ones only the fact is kept: a repeat is 409 with the address
        /// of what was done.
        idempotency_megabytes: u32 = "256", Kind::Whole(1, 1_048_576);
        /// Streams open at once on one node. Each takes one of the connections, of which streams have at most half.
        streams: usize = "5000", Kind::Whole(1, 1_000_000);
        /// Streams open at once with one key, on one node; at most an eighth of the connections.
        streams_per_key: usize = "1000", Kind::Whole(1, 1_000_000);
        /// Minutes for which a download address is good, at least; it ends at a whole minute.
        download_minutes: u64 = "15", Kind::Whole(1, 10_080);
        /// Bytes of an answer to a field.
        field_answer_bytes: usize = "1048576", Kind::Whole(1024, 67_108_864);
        /// Bytes of an entry with its answers, attachments and contributors, at least `field_answer_bytes`. One that has more since
        /// this was lowered can be shortened and goes on its way.
        entry_bytes: usize = "8388608", Kind::Whole(1024, 67_108_864);
        /// Bytes of the records of a page, as they are stored, at least `entry_bytes`. Of a page that is longer fewer records have
        /// to be asked for.
        page_bytes: usize = "67108864", Kind::Whole(1024, 1_073_741_824);
    }
    /// Deliveries to webhooks.
    webhooks: Webhooks {
        /// The delays before the attempts of a delivery, the first one counted from the event and each other from the failure
        /// before it; each is spread by up to 20 %.
        schedule: Schedule = "0s,5s,5m,30m,2h,5h,10h,14h,20h,24h", Kind::Schedule;
        /// Hours of nothing but failures after which a webhook is disabled.
        disable_after_hours: u32 = "120", Kind::Whole(1, 8760);
        /// Seconds within which an endpoint must have answered.
        timeout_seconds: u64 = "15", Kind::Whole(1, 300);
        /// Attempts of one webhook at the same time. It begins with one and gets more while they succeed.
        concurrency: usize = "16", Kind::Whole(1, 1000);
        /// Attempts of this node at the same time, each with a connection of its own. 0 is a sixteenth of the descriptors that
        /// the system lets the process have (`ulimit -Hn`), at least 16 and at most 1024.
        connections: usize = "0", Kind::Whole(0, 100_000);
        /// Days for which deliveries and their attempts are kept.
        keep_days: u32 = "30", Kind::Whole(1, 3650);
        /// Networks of private addresses that webhooks may be sent to. Loopback and link-local addresses are never opened by it.
        private_networks: Vec<Network> = "", Kind::Networks;
        /// Hosts without a dot, or with loopback or link-local addresses, that webhooks may be sent to, each exactly as it stands
        /// in the address, separated by commas.
        local_hosts: String = "", Kind::Text;
    }
    /// Work in the background, of which each piece is done by one node at a time.
    leases: Leases {
        /// Seconds after which another node takes over the work of one that died.
        seconds: u32 = "10", Kind::Whole(1, 300);
    }
    /// Jobs: work that a request begins and does not wait for.
    jobs: Jobs {
        /// Jobs that one node does at the same time, at most one of each account.
        at_once: usize = "16", Kind::Whole(1, 1000);
        /// Days for which jobs that ended are kept.
        keep_days: u32 = "30", Kind::Whole(1, 3650);
    }
    /// Messages that the service sends.
    mail: Mail {
        /// Where messages go: a folder, which is made when it does not exist, or a server, as `smtps://USER:PASSWORD@HOST:PORT` or
        /// `smtp://HOST:PORT`, which is encrypted where the server offers it. User and password are percent-encoded, never shown,
        /// and sent over encrypted connections alone. The ports are 465 and 587 where none is stated.
        url: Secret = "file:./plaudit-mail", Kind::Mail;
        /// The address that messages are from; its host is how the service calls itself to a mail server.
        from: String = "plaudit@localhost", Kind::Text;
    }
    /// How documents are made of templates, by the program `plaudit-typeset`.
    documents: Documents {
        /// The program. Left empty, it is `plaudit-typeset` beside the service's own program.
        typesetter: Option<String> = "", Kind::Text;
        /// Documents that are made at the same time, each by a process of its own. 0 is the number of processors.
        together: usize = "0", Kind::Whole(0, 256);
        /// Seconds that one document may take.
        timeout_seconds: u64 = "20", Kind::Whole(1, 3600);
        /// Megabytes of memory that a process may have.
        megabytes: u64 = "1024", Kind::Whole(128, 1_048_576);
    }
    /// What answers on their way to clients, and uploads on their way in, may take of the machine.
    budgets: Budgets {
        /// Megabytes of one answer that wait in memory for its client. Of a longer one all waits in the spool.
        answer_megabytes: usize = "4", Kind::Whole(1, 1024);
        /// Megabytes of memory for all answers, bodies and events on their way, those of up to 64 KB not counted; at least
        /// twice `answer_megabytes`. An account has at most half of what others leave. What finds nothing left waits in the spool.
        memory_megabytes: usize = "32", Kind::Whole(1, 1_048_576);
        /// The folder of the spool, which must be there, and on a disk rather than in memory. Left empty, it is `/var/tmp`, or
        /// the system's for temporary files where nothing can be written there. The files in it have no names, and none outlives
        /// the service.
        spool_directory: Option<String> = "", Kind::Text;
        /// Megabytes in the spool, at least twice `account_spool_megabytes`. An account has at most half of what others leave.
        /// Where they are used up, long answers and uploads are 503.
        spool_megabytes: u64 = "4096", Kind::Whole(1, 1_073_741_824);
        /// Megabytes of one account in the spool, at least `limits.page_bytes` and three times `server.max_upload_bytes`: an
        /// upload with an `Idempotency-Key` waits as it was sent, and then decoded as well.
        account_spool_megabytes: u64 = "1024", Kind::Whole(1, 1_073_741_824);
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// This line of a file.
    File(PathBuf, usize),
    /// The environment variable of this name.
    Environment(String),
    /// This option of the command line.
    CommandLine(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path, line) => write!(formatter, "{}, line {line}", path.display()),
            Self::Environment(name) => formatter.write_str(name),
            Self::CommandLine(option) => formatter.write_str(option),
        }
    }
}

/// A value as `config show` prints it, in TOML and masked, and where it came from.
#[derive(Clone, Debug)]
struct Origin {
    shown: String,
    source: Source,
}

/// Everything that is wrong with the configuration, a line each.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", .faults.join("\n"))]
pub struct ConfigError {
    /// Each names the place, the section, the setting, and what is allowed.
    pub faults: Vec<String>,
}

/// The options that every command takes. What stands at each is the help that is shown.
#[derive(Clone, Debug, Default, clap::Args)]
#[allow(clippy::doc_markdown, reason = "a terminal shows it as it stands")]
pub struct ConfigArgs {
    /// The configuration file [default: plaudit.toml, if there is one] [env: PLAUDIT_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The database [env: PLAUDIT_DATABASE_URL]
    #[arg(long, global = true, value_name = "sqlite:PATH|postgres://...")]
    pub database: Option<String>,
    /// The address and port to listen on [env: PLAUDIT_SERVER_LISTEN]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// The address under which clients reach the service [env: PLAUDIT_SERVER_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// The region that this deployment serves [env: PLAUDIT_SERVER_REGION]
    #[arg(long, global = true, value_name = "us|eu|au|ca|hk")]
    pub region: Option<String>,
    /// Where the bytes of files are kept [env: PLAUDIT_STORAGE_URL]
    #[arg(long, global = true, value_name = "file:DIR|s3://...")]
    pub storage: Option<String>,
}

impl ConfigArgs {
    /// Option, section, name of the setting, and what was given.
    fn given(&self) -> [(&'static str, &'static str, &'static str, Option<&String>); 5] {
        [
            ("--database", "database", "url", self.database.as_ref()),
            ("--listen", "server", "listen", self.listen.as_ref()),
            ("--base-url", "server", "base_url", self.base_url.as_ref()),
            ("--region", "server", "region", self.region.as_ref()),
            ("--storage", "storage", "url", self.storage.as_ref()),
        ]
    }
}

impl Setting {
    fn position(section: &str, name: &str) -> Option<usize> {
        SETTINGS.iter().position(|setting| setting.section == section && setting.name == name)
    }

    fn variable(&self) -> String {
        format!("PLAUDIT_{}_{}", self.section.to_ascii_uppercase(), self.name.to_ascii_uppercase())
    }

    /// A text of this setting as TOML, without passwords.
    fn shown(&self, text: &str) -> String {
        match self.kind {
            Kind::Whole(..) | Kind::Flag => text.to_owned(),
            Kind::Networks | Kind::Origins => {
                toml::Value::Array(parts(text).map(|part| toml::Value::String(part.to_owned())).collect()).to_string()
            }
            Kind::Database => toml::Value::String(mask(text)).to_string(),
            Kind::WebAddress | Kind::Storage | Kind::Mail => toml::Value::String(mask_address(text)).to_string(),
            Kind::Secret if !text.is_empty() => toml::Value::String("****".to_owned()).to_string(),
            _ => toml::Value::String(text.to_owned()).to_string(),
        }
    }
}

fn names_of(section: &str) -> String {
    let names = SETTINGS.iter().filter(|setting| setting.section == section).map(|setting| setting.name);
    names.collect::<Vec<_>>().join(", ")
}

impl Config {
    /// Puts the layers over one another. `directory` is where `plaudit.toml` is looked for.
    pub fn load(
        args: &ConfigArgs,
        environment: impl Iterator<Item = (String, String)>,
        directory: &Path,
    ) -> Result<Self, ConfigError> {
        let mut variables: Vec<_> = environment.filter(|(name, _)| name.starts_with("PLAUDIT_")).collect();
        variables.sort();
        let from_environment = variables.iter().find(|(name, text)| name == "PLAUDIT_CONFIG" && !text.is_empty());
        let chosen = args.config.clone().or_else(|| from_environment.map(|(_, text)| PathBuf::from(text)));
        let file = chosen.clone().unwrap_or_else(|| PathBuf::from("plaudit.toml"));
        let mut layers = Layers::defaults();
        layers.file(&directory.join(&file), &file, chosen.is_some());
        for (name, text) in &variables {
            layers.variable(name, text);
        }
        for (option, section, name, text) in args.given() {
            if let (Some(text), Some(position)) = (text, Setting::position(section, name)) {
                layers.offer(position, text, Source::CommandLine(option), &format!("command line, {option}"));
            }
        }
        layers.finish()
    }

    /// Loads from this process's environment and working directory.
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn from_process(args: &ConfigArgs) -> Result<Self, ConfigError> {
        let variables = std::env::vars_os();
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Self::load(args, variables.map(|(name, value)| (text(name), text(value))), Path::new("."))
    }

    /// What lies under this name beside the program that runs.
    pub fn beside(name: &str) -> Option<PathBuf> {
        Some(std::env::current_exe().ok()?.parent()?.join(name))
    }

    /// The file that values came from, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.origins.iter().find_map(|origin| match &origin.source {
            Source::File(path, _) => Some(path.as_path()),
            _ => None,
        })
    }

    /// Where the value of a setting came from; nothing if there is no such setting.
    pub fn source(&self, section: &str, name: &str) -> Option<&Source> {
        self.origins.get(Setting::position(section, name)?).map(|origin| &origin.source)
    }

    /// A setting as faults of it name it: what it is, without passwords, and where that stands.
    pub fn told(&self, section: &str, name: &str) -> String {
        let origin = Setting::position(section, name).and_then(|position| self.origins.get(position));
        origin.map_or_else(String::new, |Origin { shown, source }| format!("[{section}] {name} = {shown} ({source})"))
    }

    /// The configuration as a `plaudit.toml`, each line with where its value came from, without passwords.
    pub fn redacted(&self) -> String {
        let mut text = String::new();
        for (section, _) in SECTIONS {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}[{section}]");
            for (setting, Origin { shown, source }) in SETTINGS.iter().zip(&self.origins) {
                if setting.section == *section {
                    let _ = writeln!(text, "{} = {shown} # {source}", setting.name);
                }
            }
        }
        text
    }
}
