//! `plaudit serve`: the service itself.
//!
//! Nothing is loaded up front, so that a start takes as long on a large database as on an empty one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Failure, open_migrated, open_storage, say, wrong, wrong_storage};
use crate::addresses::Allowed;
use crate::background::{self, Works};
use crate::config::{Config, Source};
use crate::http::connections::{self, Connections, Room};
use crate::http::server::Refuse;
use crate::http::{idempotency, server};
use crate::mail::{MailError, Sender};
use crate::outgoing;
use crate::router;
use crate::services::disks::Disk;
use crate::services::metrics::Gauge;
use crate::services::{App, Settings, Webhooks, budgets};
use crate::storage::Storage;
use crate::typesetter;
use db::{Db, Engine};
use kernel::clock::Clock;
use kernel::ids::Ids;

/// How often a node asks whether its region is under maintenance: twice within the second that the contract allows.
const MAINTENANCE_POLL: Duration = Duration::from_millis(500);
/// How often is tried whether there is room again on a disk that was full.
const DISK_POLL: Duration = Duration::from_millis(500);
/// How long the storage of files may take to answer when the service starts.
const STORAGE_PATIENCE: Duration = Duration::from_secs(15);
/// How often is looked whether the storage of files answers.
const STORAGE_POLL: Duration = Duration::from_secs(10);
/// How often a node measures what it tells, and how often of work in the background.
const MEASURE: Duration = Duration::from_mins(10);
const MEASURE_BACKGROUND: Duration = Duration::from_mins(1);
/// How often streams give signs of life, each in its turn, and look whether they may go on.
const BEAT: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) async fn run(config: &Config) -> Result<(), Failure> {
    let (db, applied) = open_migrated(config).await?;
    for step in applied {
        tracing::info!(step, "the schema was changed");
    }
    let listener = listen(config, ("server", "listen"), &config.server.listen).await?;
    let node = Node::start(config, db, open_storage(config)?, listener).await?;
    if let Err(error) = say(&format!("listening on {}", node.address)) {
        // Where the line goes to a file on a full disk, the service reads all the same.
        tracing::warn!(%error, "the address cannot be told");
    }
    node.run(config).await;
    Ok(())
}

/// Listens at the address of a setting.
async fn listen(config: &Config, setting: (&str, &str), address: &str) -> Result<TcpListener, Failure> {
    let remedy = "name an address of this machine and a port that nobody listens at";
    TcpListener::bind(address).await.map_err(|error| wrong(config, setting, error, remedy))
}

/// A server that accepts connections as soon as it runs.
pub(super) struct Node {
    app: App,
    listener: TcpListener,
    connections: Arc<Connections>,
    metrics: Option<JoinHandle<usize>>,
    /// The address that it listens on, with the port that it was given.
    pub(super) address: String,
}

impl Node {
    /// Prepares everything that a request needs.
    pub(super) async fn start(
        config: &Config,
        db: Db,
        storage: Storage,
        listener: TcpListener,
    ) -> Result<Self, Failure> {
        let address = reached(listener.local_addr()?);
        let (app, room) = app(config, db, storage, &address).await?;
        if let (spool, Err(error)) = app.settings.budgets.probe_spool() {
            tracing::error!(%spool, %error, "the spool takes no files: long answers are refused");
        }
        app.database_clock.synchronize(&app.db).await?;
        check_storage(&app, config).await?;
        let connections = Connections::new(room);
        let metrics = match &config.metrics.listen {
            Some(own) => {
                let router = router::metrics(app.clone(), Arc::clone(&connections));
                let router = (router, router::refuse(app.clone()));
                Some(serve_metrics(config, router, listen(config, ("metrics", "listen"), own).await?))
            }
            None => None,
        };
        Ok(Self { app, listener, connections, metrics, address })
    }

    /// Serves until the process is asked to stop, finishes what was accepted, and closes the database.
    pub(super) async fn run(self, config: &Config) {
        let Self { app, listener, connections, metrics, address } = self;
        let (version, engine, region) = (env!("CARGO_PKG_VERSION"), app.db.engine().name(), &app.settings.region);
        tracing::info!(version, engine, region, address, storage = config.storage.url, "plaudit has started");
        let poll = tokio::spawn(poll_maintenance(app.clone()));
        let probe = tokio::spawn(probe_full_disks(app.clone()));
        let storage = tokio::spawn(look_at_storage(app.clone()));
        let measure = tokio::spawn(measure(app.clone()));
        let measure_background = tokio::spawn(measure_background(app.clone()));
        let look = tokio::spawn(look_for_commits(app.clone()));
        let beat = tokio::spawn(beat(app.clone()));
        let (stop_background, stopped) = oneshot::channel();
        let background = tokio::spawn(background::run(app.clone(), Works::ALL, stopped));
        let settings = server::Settings::from(&config.server);
        let stop = async {
            server::stop_signal().await;
            tracing::info!("plaudit stops: what was accepted is finished");
            drop(stop_background);
            app.tails.stop();
        };
        let router = (router::new(app.clone()), router::refuse(app.clone()));
        server::serve(listener, router, &connections, &settings, stop).await;
        if let Err(error) = background.await {
            tracing::error!(%error, "work in the background broke off");
        }
        for task in [poll, probe, storage, measure, measure_background, look, beat] {
            task.abort();
        }
        if let Some(metrics) = metrics {
            metrics.abort();
        }
        app.db.close().await;
        tracing::info!("plaudit has stopped");
    }
}

/// Refuses to start on a storage that takes no files: a wrong address or key is told now, and not by the first upload. One
/// whose disk is full is read from.
async fn check_storage(app: &App, config: &Config) -> Result<(), Failure> {
    let told = match tokio::time::timeout(STORAGE_PATIENCE, app.probe_files()).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) if error.is_disk_full() => {
            app.full_disks.set(Disk::Files, true);
            tracing::error!(%error, "the disk of the stored files is full: uploads are refused");
            return Ok(());
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} seconds", STORAGE_PATIENCE.as_secs()),
    };
    Err(wrong_storage(config, told))
}

/// The address under which a service is reached from this machine that listens at a socket.
fn reached(socket: SocketAddr) -> String {
    if socket.ip().is_unspecified() {
        return format!("http://localhost:{}", socket.port());
    }
    format!("http://{socket}")
}

/// What a service holds that listens at an address, and its room for connections.
pub(super) async fn app(config: &Config, db: Db, storage: Storage, address: &str) -> Result<(App, Room), Failure> {
    let descriptors = connections::raise_descriptors();
    let room = room(config, descriptors);
    let settings = settings(config, address, room, connections::outgoing(config, descriptors))?;
    Ok((App::new(db, Clock::system(), Ids::random(), storage, settings).await?, room))
}

/// The memory for views where the system does not tell how much there is.
const WITHOUT_MEMORY: usize = 256 << 20;

fn settings(config: &Config, address: &str, room: Room, outgoing_connections: usize) -> Result<Settings, Failure> {
    // Without a setting the address stands that is really listened on: the port can be another than the one asked for.
    let is_set = config.source("server", "base_url").is_some_and(|source| *source != Source::Default);
    let base_url = if is_set { config.server.base_url.trim_end_matches('/') } else { "" };
    Ok(Settings {
        region: <&str>::from(config.server.region).to_owned(),
        base_url: if base_url.is_empty() { address } else { base_url }.to_owned(),
        web_origins: config.server.web_origins.clone(),
        compression: config.server.compression,
        requests_per_minute: i64::from(config.limits.requests_per_minute),
        idempotency_seconds: i64::try_from(config.limits.idempotency_hours * 3600).unwrap_or(i64::MAX),
        idempotency_bytes: i64::from(config.limits.idempotency_megabytes) << 20,
        download_seconds: u32::try_from(config.limits.download_minutes * 60).unwrap_or(u32::MAX),
        view_bytes: view_bytes(config.database.view_megabytes),
        lengths: super::lengths(config),
        budgets: budgets(config),
        max_body_bytes: config.server.max_body_bytes,
        max_upload_bytes: config.server.max_upload_bytes,
        body_timeout_seconds: config.server.body_timeout_seconds,
        streams: room.streams(&config.limits),
        webhooks: Webhooks {
            schedule: config.webhooks.schedule.clone(),
            disable_after: Duration::from_hours(config.webhooks.disable_after_hours.into()),
            concurrency: config.webhooks.concurrency,
            keep_days: config.webhooks.keep_days,
        },
        outgoing: outgoing::Settings {
            allowed: Arc::new(Allowed::new(&config.webhooks.private_networks, &config.webhooks.local_hosts)),
            lookup: outgoing::system,
            timeout: Duration::from_secs(config.webhooks.timeout_seconds),
            connections: outgoing_connections,
        },
        typesetter: typesetter(config),
        mail: Arc::new(mail(config)?),
        lease_seconds: config.leases.seconds,
        jobs_at_once: config.jobs.at_once,
        jobs_keep_days: config.jobs.keep_days,
        log_requests: config.log.requests,
        traces: !config.traces.url.is_empty(),
    })
}

fn mail(config: &Config) -> Result<Sender, Failure> {
    Sender::open(config.mail.url.reveal(), &config.mail.from).map_err(|error| {
        let setting = if matches!(error, MailError::Sender) { "from" } else { "url" };
        wrong(config, ("mail", setting), error, "see docs/configuration.md for what is allowed")
    })
}

/// How documents are made.
pub(super) fn typesetter(config: &Config) -> typesetter::Settings {
    let set = &config.documents;
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    typesetter::Settings {
        program: set.typesetter.as_ref().map(PathBuf::from).or_else(|| Config::beside(typesetter::PROGRAM)),
        together: if set.together == 0 { processors() } else { set.together },
        patience: Duration::from_secs(set.timeout_seconds),
        memory_bytes: set.megabytes << 20,
    }
}

/// What answers and uploads may take while they are on their way.
pub(super) fn budgets(config: &Config) -> budgets::Limits {
    let set = &config.budgets;
    budgets::Limits {
        answer_bytes: set.answer_megabytes << 20,
        memory_bytes: set.memory_megabytes << 20,
        page_bytes: config.limits.page_bytes,
        spool_directory: set.spool_directory.as_ref().map(PathBuf::from),
        spool_bytes: set.spool_megabytes << 20,
        account_spool_bytes: set.account_spool_megabytes << 20,
    }
}

/// The memory for views: what is set, or a quarter of what there is.
fn view_bytes(megabytes: usize) -> usize {
    match megabytes {
        0 => memory().map_or(WITHOUT_MEMORY, |bytes| bytes / 4),
        megabytes => megabytes << 20,
    }
}

/// The memory that the service may use, in bytes; nothing where the system does not tell.
pub(super) fn memory() -> Option<usize> {
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    });
    let of_group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    match (of_machine, of_group) {
        (Some(machine), Some(group)) => Some(std::cmp::min::<usize>(machine, group)),
        (machine, group) => machine.or(group),
    }
}

/// How many connections there may be, and how many streams of them, with as many descriptors as can be had.
fn room(config: &Config, descriptors: Option<usize>) -> Room {
    let room = Room::new(config, descriptors, memory());
    let streams = room.streams(&config.limits);
    tracing::info!(
        descriptors,
        connections = room.all,
        of_one_address = room.of_address,
        streams = streams.node,
        streams_of_one_key = streams.key,
        "room for connections"
    );
    room
}

/// The most connections for measurements.
const METRICS_ROOM: Room = Room { all: 16, of_address: 16 };

fn serve_metrics(config: &Config, router: (Router, Refuse), listener: TcpListener) -> JoinHandle<usize> {
    let settings = server::Settings::from(&config.server);
    let connections = Connections::new(METRICS_ROOM);
    tokio::spawn(async move { server::serve(listener, router, &connections, &settings, std::future::pending()).await })
}

/// Measures what each node tells for itself, and asks the database for its time.
async fn measure(app: App) {
    loop {
        match idempotency::store::usage(&app.db).await {
            Ok(usage) => app.metrics.note([
                Gauge::new("plaudit_kept_answers", "Answers that are kept for an Idempotency-Key", usage.answers),
                Gauge::new("plaudit_kept_answer_bytes", "What they take of the database", usage.bytes),
            ]),
            Err(error) => tracing::warn!(%error, "the kept answers could not be counted"),
        }
        if let Err(error) = app.database_clock.synchronize(&app.db).await {
            tracing::warn!(%error, "the database could not be asked for its time");
        }
        tokio::time::sleep(MEASURE).await;
    }
}

async fn measure_background(app: App) {
    loop {
        if let Err(error) = background::measure(&app).await {
            tracing::warn!(%error, "deliveries and jobs could not be counted");
        }
        tokio::time::sleep(MEASURE_BACKGROUND).await;
    }
}

/// Finds what other processes commit: other nodes, of which there are none on SQLite, and commands.
async fn look_for_commits(app: App) {
    let pause = match app.db.engine() {
        Engine::Sqlite => Duration::from_secs(1),
        Engine::Postgres => Duration::from_millis(100),
    };
    loop {
        tokio::time::sleep(pause).await;
        if let Err(error) = app.db.look().await {
            tracing::warn!(%error, "cannot ask what was committed");
        }
    }
}

async fn beat(app: App) {
    loop {
        tokio::time::sleep(BEAT).await;
        app.tails.beat(app.maintenance().is_some());
    }
}

async fn poll_maintenance(app: App) {
    loop {
        tokio::time::sleep(MAINTENANCE_POLL).await;
        if let Err(error) = app.refresh_maintenance().await {
            // The last answer stands: a database that does not answer is no maintenance.
            tracing::warn!(%error, "cannot ask whether the region is under maintenance");
        }
    }
}

/// In a task of its own: a disk that hangs delays nothing else.
async fn probe_full_disks(app: App) {
    loop {
        tokio::time::sleep(DISK_POLL).await;
        app.probe_full_disks().await;
    }
}

async fn look_at_storage(app: App) {
    loop {
        tokio::time::sleep(STORAGE_POLL).await;
        app.look_at_storage().await;
    }
}
