//! What a running server holds.

pub mod budgets;
pub mod database_clock;
pub mod disks;
pub mod kept;
pub mod metrics;
mod process;
pub mod rate_limit;
mod running;
pub mod store;
pub mod traces;
pub mod wakes;

pub use running::{RequestName, RunningRequest, RunningRequests};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use webhook_signing::Schedule;

use self::budgets::Budgets;
use self::database_clock::DatabaseClock;
use self::disks::{Disk, FullDisks};
use self::kept::Kept;
use self::metrics::Metrics;
use self::rate_limit::shared::SharedWindows;
use self::rate_limit::{Counted, RateLimiter, Standing};
use self::wakes::Wakes;
use crate::config::WebOrigin;
use crate::mail::Sender;
use crate::outgoing::{self, Outgoing};
use crate::program::Programs;
use crate::program::fields::Lengths;
use crate::records::users;
use crate::signing::DownloadSigner;
use crate::signing::results::ResultSigner;
use crate::storage::{Storage, StorageError};
use crate::streams::{Limits, Tails};
use crate::turns::Turns;
use crate::typesetter::{self, Typesetter};
use crate::views::Views;
use db::{AccountId, Db, DbError, Engine};
use kernel::clock::{Clock, Throttle};
use kernel::ids::Ids;
use kernel::text::Slug;

/// The folder of files that are stored to see whether there is room; no account is called so.
const PROBE: &str = "probe";
/// How much room there has to be on a disk that was full: what an ordinary write takes.
const PROBE_BYTES: usize = 64 << 10;
/// Documents that took long to work out have this part of what views have.
const KEPT_PART: usize = 8;
/// How many long bodies are taken apart at the same time, and how many of one account.
const LONG_BODIES: (usize, usize) = (8, 2);
/// How often is logged that the windows of keys cannot be counted together.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// How many pages are read at the same time, and how many of one account. On PostgreSQL a quarter of the connections is left for
/// what is short, and an account leaves one page to the others, but may always read two: with one alone, either the database
/// or the service waits for the other. On SQLite an account may keep each processor busy once.
fn pages_together(db: &Db) -> (usize, usize) {
    if let Some(connections) = db.connections() {
        let quarter = connections.div_ceil(4);
        let pages = (connections - quarter).saturating_sub(long_pages_together(db)).max(1);
        return (pages, (pages - 1).max(2).min(pages));
    }
    (2 * processors(), processors())
}

/// How many long pages are read at the same time: fewer than there are processors, and than half of the connections.
fn long_pages_together(db: &Db) -> usize {
    let connections = db.connections().unwrap_or(usize::MAX);
    (processors() - 1).min(connections / 2).max(1)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What a deployment is set to, as far as requests are concerned.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The region that is served.
    pub region: String,
    /// The address that links begin with, without a slash at its end.
    pub base_url: String,
    /// The origins whose pages may use the interface.
    pub web_origins: Vec<WebOrigin>,
    /// Whether answers are compressed for those who ask for it.
    pub compression: bool,
    /// Requests a minute of an address without a known key.
    pub requests_per_minute: i64,
    /// How long answers to idempotency keys are kept, in seconds.
    pub idempotency_seconds: i64,
    /// The most bytes of kept answers that an account has.
    pub idempotency_bytes: i64,
    /// How long the addresses of files are good, in seconds.
    pub download_seconds: u32,
    /// The most bytes that the views of lists take together.
    pub view_bytes: usize,
    /// The most bytes of an ordinary body.
    pub max_body_bytes: usize,
    /// The most bytes of a file that is uploaded.
    pub max_upload_bytes: usize,
    /// The most bytes of what people write.
    pub lengths: Lengths,
    /// What answers and uploads may take while they are on their way.
    pub budgets: budgets::Limits,
    /// How long a client may pause while it sends a body, in seconds.
    pub body_timeout_seconds: u64,
    /// How many streams may be open at once.
    pub streams: Limits,
    /// How webhooks are sent to.
    pub webhooks: Webhooks,
    /// How a node sends requests to others.
    pub outgoing: outgoing::Settings,
    /// How documents are made.
    pub typesetter: typesetter::Settings,
    /// Sends messages.
    pub mail: Arc<Sender>,
    /// How long a node that died keeps its work in the background, in seconds.
    pub lease_seconds: u32,
    /// How many jobs this node does at once.
    pub jobs_at_once: usize,
    /// How long jobs that ended are kept, in days.
    pub jobs_keep_days: u32,
    /// Whether each request is logged.
    pub log_requests: bool,
    /// Whether requests are parts of traces.
    pub traces: bool,
}

/// How webhooks are sent to.
#[derive(Clone, Debug)]
pub struct Webhooks {
    /// The delays before the attempts of a delivery.
    pub schedule: Schedule,
    /// After how long with nothing but failures a webhook is disabled.
    pub disable_after: Duration,
    /// How many attempts at one webhook are made at the same time.
    pub concurrency: usize,
    /// How long deliveries are kept, in days.
    pub keep_days: u32,
}

/// A running server, shared by all of its requests.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of a running server.
pub struct Parts {
    /// The database.
    pub db: Db,
    /// The time.
    pub clock: Clock,
    /// The time of the database.
    pub database_clock: DatabaseClock,
    /// Identifiers.
    pub ids: Ids,
    /// The bytes of files.
    pub storage: Storage,
    /// The snapshots of the accounts.
    pub programs: Arc<Programs>,
    /// The settings.
    pub settings: Settings,
    /// What answers and uploads take while they are on their way.
    pub budgets: Budgets,
    /// The windows of the rate limit that this node counts.
    pub rate_limiter: RateLimiter,
    /// Those that the nodes count together.
    pub shared_windows: SharedWindows,
    /// The disks that are full.
    pub full_disks: FullDisks,
    /// The requests with an idempotency key that are running.
    pub running: RunningRequests,
    /// Signs the addresses of files.
    pub signer: Arc<DownloadSigner>,
    /// Signs published results.
    pub result_signer: ResultSigner,
    /// What lists are answered from.
    pub views: Views,
    /// Documents that took long to work out.
    pub kept: Kept,
    /// Of those who read a page, so that an account leaves connections and processors to the others.
    pub pages: Turns<AccountId>,
    /// Of those who read a long one, work out a plan or analyse a board, so that a processor is left for the others.
    pub long_pages: Turns<AccountId>,
    /// Of those whose long body is taken apart.
    pub long_bodies: Turns<AccountId>,
    /// Of those who decode a piece of an upload, so that an account's uploads leave half of the processors to the others, and
    /// no request waits behind the pieces of hundreds of uploads each time that it goes on.
    pub upload_pieces: Turns<AccountId>,
    /// Hashes passwords.
    pub passwords: users::Passwords,
    /// The tails of the change logs, from which streams are served.
    pub tails: Tails,
    /// The accounts that have work for the background.
    pub wakes: Wakes,
    /// Requests to others.
    pub outgoing: Outgoing,
    /// Makes documents of templates.
    pub typesetter: Typesetter,
    /// What `/metrics` tells.
    pub metrics: Metrics,
    /// The host name of the deployment itself, which every account may use.
    pub host: String,
    /// Stands for the base address and the version of the program, on which every answer depends.
    pub edition: String,
    maintenance: RwLock<Option<String>>,
    storage_is_away: AtomicBool,
    counting_apart: Throttle,
    request_prefix: String,
    requests: AtomicU64,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// A server on this database, whose schema is current.
    pub async fn new(db: Db, clock: Clock, ids: Ids, storage: Storage, settings: Settings) -> Result<Self, DbError> {
        let secret = store::secret(&db, store::DOWNLOADS, &ids).await?;
        let results = store::result_signer(&db, &ids).await?;
        let request_prefix = ids.secret(8);
        let host = settings.base_url.split("://").last().unwrap_or_default().to_ascii_lowercase();
        let edition = Sha256::digest(format!("{} {}", settings.base_url, env!("CARGO_PKG_VERSION")));
        let edition = format!("{}.", hex::encode(&edition[..4]));
        let views = Views::new(db.clone(), settings.view_bytes);
        let kept = Kept::new(settings.view_bytes / KEPT_PART);
        let programs = Arc::new(Programs::new(db.clone(), clock.clone(), &settings.base_url, settings.lengths));
        let (pages, long_pages) = (pages_together(&db), long_pages_together(&db));
        let typesetter = Typesetter::new(settings.typesetter.clone());
        let outgoing = Outgoing::new(&settings.outgoing, &clock);
        let app = Self(Arc::new(Parts {
            signer: Arc::new(DownloadSigner::new(&secret)),
            result_signer: results,
            tails: Tails::new(db.clone(), Arc::clone(&programs), settings.streams),
            shared_windows: SharedWindows::default(),
            database_clock: DatabaseClock::new(clock.clone()),
            programs,
            db,
            clock,
            ids,
            storage,
            budgets: Budgets::new(settings.budgets.clone()),
            settings,
            rate_limiter: RateLimiter::default(),
            full_disks: FullDisks::default(),
            running: RunningRequests::default(),
            views,
            kept,
            pages: Turns::new(pages.0, pages.1),
            long_pages: Turns::new(long_pages, long_pages.div_ceil(2)),
            long_bodies: Turns::new(LONG_BODIES.0, LONG_BODIES.1),
            upload_pieces: Turns::new(processors(), processors().div_ceil(2)),
            passwords: users::Passwords::default(),
            wakes: Wakes::default(),
            outgoing,
            typesetter,
            metrics: Metrics::default(),
            host: host.split(['/', ':']).next().unwrap_or_default().to_owned(),
            edition,
            maintenance: RwLock::new(None),
            storage_is_away: AtomicBool::new(false),
            counting_apart: Throttle::new(LOG_EVERY),
            request_prefix,
            requests: AtomicU64::new(0),
        }));
        app.refresh_maintenance().await?;
        Ok(app)
    }

    /// The operator's text, while the region is under maintenance.
    pub fn maintenance(&self) -> Option<String> {
        self.maintenance.read().clone()
    }

    /// Asks the database whether the region is under maintenance.
    pub async fn refresh_maintenance(&self) -> Result<(), DbError> {
        let message = store::maintenance(&self.db, &self.settings.region).await?;
        *self.maintenance.write() = message;
        Ok(())
    }

    /// Tries whether there is room again on the disks that are full, which nobody but a write would notice.
    pub async fn probe_full_disks(&self) {
        if self.full_disks.contains(Disk::Database)
            && store::probe(&self.db, self.ids.secret(PROBE_BYTES)).await.is_ok()
        {
            self.full_disks.set(Disk::Database, false);
        }
        if self.full_disks.contains(Disk::Files) && self.probe_files().await.is_ok() {
            self.full_disks.set(Disk::Files, false);
        }
    }

    /// Looks whether the storage of files answers; a change is logged.
    pub async fn look_at_storage(&self) {
        let looked = self.storage.exists(PROBE, self.ids.token().as_str()).await;
        match (self.storage_is_away.swap(looked.is_err(), Ordering::Relaxed), looked) {
            (false, Err(error)) => tracing::error!(%error, "the storage of files does not answer"),
            (true, Ok(_)) => tracing::info!("the storage of files answers again"),
            _ => {}
        }
    }

    /// Whether the storage of files did not answer when it was looked at last.
    pub fn storage_is_away(&self) -> bool {
        self.storage_is_away.load(Ordering::Relaxed)
    }

    /// Stores a file and removes it again, to see whether there is room and whether that is permitted.
    pub async fn probe_files(&self) -> Result<(), StorageError> {
        let token = self.ids.token();
        self.storage.put(PROBE, token.as_str(), self.ids.secret(PROBE_BYTES).into()).await?;
        self.storage.delete(PROBE, token.as_str()).await
    }

    /// Counts a request of a key, or refuses it as [`RateLimiter::count`] does. Where the nodes cannot count together, this one
    /// counts for itself: a database that takes no writes still gives answers.
    pub async fn count_key(&self, account: AccountId, key: Slug, limit: i64) -> Result<Standing, i64> {
        if self.db.engine() == Engine::Postgres {
            match self.shared_windows.count(&self.db, (account, key), limit, &self.database_clock).await {
                Err(error) if self.counting_apart.passes() => {
                    tracing::warn!(%error, "the windows of keys cannot be counted together: each node counts for itself");
                }
                Err(_) => {}
                Ok(counted) => return counted,
            }
        }
        self.rate_limiter.count(Counted::Key(account, key), limit, &self.clock)
    }

    /// An identifier for a request, unique among those of all nodes.
    pub fn request_id(&self) -> String {
        format!("{}-{:x}", self.request_prefix, self.requests.fetch_add(1, Ordering::Relaxed))
    }
}
