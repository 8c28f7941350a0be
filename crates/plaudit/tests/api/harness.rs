//! A server in the process, on either engine, and what a test says to it.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use db::{AccountId, Db, Source};
use http_body_util::BodyExt;
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::text::{Slug, Timestamp};
use plaudit::addresses::Allowed;
use plaudit::http::server::ClientAddress;
use plaudit::log::{Action, Actor, Origin};
use plaudit::outgoing;
use plaudit::program::fields::Lengths;
use plaudit::program::keys::{self, ApiKey, Scope};
use plaudit::render::Renderer;
use plaudit::render::accept::Format;
use plaudit::render::language::Languages;
use plaudit::services::{self, App, budgets};
use plaudit::storage::{self, Storage};
use plaudit::transfer;
use serde_json::Value;
use tempfile::TempDir;
use test_bucket::Bucket;
use tower::ServiceExt;

use self::databases::{Prepared, copy_folder, drop_postgres_database, new_postgres_database, sqlite_in};
use self::described::Asked;

/// Runs a test on SQLite and on PostgreSQL.
#[macro_export]
macro_rules! both_engines {
    ($(async fn $name:ident($server:ident) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn run($server: $crate::harness::Server) $body

            #[test]
            fn sqlite() {
                $crate::harness::run(db::Engine::Sqlite, |server| Box::pin(run(server)));
            }

            #[test]
            fn postgres() {
                $crate::harness::run(db::Engine::Postgres, |server| Box::pin(run(server)));
            }
        })*
    };
}

/// Runs a test on SQLite and on PostgreSQL, with files in a folder and in a bucket.
#[macro_export]
macro_rules! both_storages {
    ($(async fn $name:ident($server:ident) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;
            use db::Engine;
            use $crate::harness::{Files, Server, run_with};

            async fn run($server: Server) $body

            #[test]
            fn sqlite() {
                run_with(Engine::Sqlite, Files::Folder, |server| Box::pin(run(server)));
            }

            #[test]
            fn postgres() {
                run_with(Engine::Postgres, Files::Folder, |server| Box::pin(run(server)));
            }

            #[test]
            fn sqlite_and_a_bucket() {
                run_with(Engine::Sqlite, Files::Bucket, |server| Box::pin(run(server)));
            }

            #[test]
            fn postgres_and_a_bucket() {
                run_with(Engine::Postgres, Files::Bucket, |server| Box::pin(run(server)));
            }
        })*
    };
}

/// Where files are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    Folder,
    Bucket,
}

/// Runs a test on a server of its own, with files in a folder.
pub fn run(engine: db::Engine, test: fn(Server) -> Pin<Box<dyn Future<Output = ()>>>) {
    run_with(engine, Files::Folder, test);
}

/// Runs a test on a server of its own. Not generic, so that the runtime is compiled once and not once a test.
pub fn run_with(engine: db::Engine, files: Files, test: fn(Server) -> Pin<Box<dyn Future<Output = ()>>>) {
    let prepared = Prepared::of(engine);
    runtime().block_on(async {
        let server = match files {
            Files::Folder => Server::copied(prepared, engine).await,
            Files::Bucket => Server::start(engine, files).await,
        };
        let url = server.url.clone();
        test(server).await;
        if engine == db::Engine::Postgres {
            drop_postgres_database(&url).await;
        }
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub const JSON: &str = "application/vnd.service.v2.3+json";
pub const XML: &str = "application/vnd.service.v2.3+xml";

/// The base address of the links in answers.
pub const BASE: &str = "https://api.example.org";

/// The time at which the clock of a test stands at first.
pub const NOW: &str = "2026-01-31T12:00:00.000000Z";

/// The most bytes of a body.
pub const MAXIMUM_BODY: usize = 64 * 1024;

/// The most bytes of a file that is uploaded.
pub const MAXIMUM_UPLOAD: usize = 100_000;

pub struct Server {
    pub app: App,
    pub db: Db,
    pub clock: Clock,
    pub ids: Ids,
    pub storage: Storage,
    router: axum::Router,
    /// A key of the first account that reads and writes.
    pub key: String,
    bucket: Option<Bucket>,
    directory: TempDir,
    url: String,
}

/// What answers and uploads of the tests may take.
pub fn budgets() -> budgets::Limits {
    budgets::Limits {
        answer_bytes: 4 << 20,
        memory_bytes: 64 << 20,
        page_bytes: 64 << 20,
        spool_directory: None,
        spool_bytes: 1 << 30,
        account_spool_bytes: 1 << 30,
    }
}

/// What a deployment of the tests is set to.
fn app_settings(directory: &std::path::Path) -> services::Settings {
    services::Settings {
        region: "eu".to_owned(),
        base_url: BASE.to_owned(),
        requests_per_minute: 60,
        idempotency_seconds: 24 * 3600,
        idempotency_bytes: 100_000,
        download_seconds: 15 * 60,
        view_bytes: 64 << 20,
        max_body_bytes: MAXIMUM_BODY,
        max_upload_bytes: MAXIMUM_UPLOAD,
        lengths: Lengths::default(),
        budgets: budgets(),
        body_timeout_seconds: 30,
        streams: plaudit::streams::Limits { node: 40, key: 30 },
        webhooks: services::Webhooks {
            schedule: webhook_signing::Schedule::default(),
            disable_after: std::time::Duration::from_hours(120),
            concurrency: 4,
            keep_days: 30,
        },
        outgoing: outgoing::Settings {
            allowed: std::sync::Arc::new(Allowed::new(&[], "127.0.0.1")),
            // No test asks a server of names.
            lookup: |_, _| Box::pin(async { Ok(Vec::new()) }),
            timeout: std::time::Duration::from_secs(15),
            connections: 16,
        },
        typesetter: typesetter::settings(),
        mail: std::sync::Arc::new(mail::into(directory)),
        lease_seconds: 10,
        jobs_at_once: 16,
        jobs_keep_days: 30,
        web_origins: Vec::new(),
        compression: true,
        log_requests: false,
        traces: false,
    }
}

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }
}

static SPELLINGS: AtomicU32 = AtomicU32::new(1);

impl Server {
    /// A server with the program of the fixture: two accounts, `AccountA` with a key, and `AccountB`.
    async fn start(engine: db::Engine, files: Files) -> Self {
        let mut server = Self::empty_with(engine, files).await;
        server.import(crate::harness::fixture::ACCOUNT_A).await;
        server.import(crate::harness::fixture::ACCOUNT_B).await;
        server.key = server.new_key("AccountA", Scope::ReadWrite).await;
        server
    }

    /// A server on an empty database.
    pub async fn empty(engine: db::Engine) -> Self {
        Self::empty_with(engine, Files::Folder).await
    }

    async fn empty_with(engine: db::Engine, files: Files) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = match engine {
            db::Engine::Sqlite => sqlite_in(&directory),
            db::Engine::Postgres => new_postgres_database(None).await,
        };
        Self::on((directory, url), files, Ids::seeded(1)).await
    }

    /// A server on a copy of a database. What it makes has other slugs than what is there.
    async fn copied(prepared: &Prepared, engine: db::Engine) -> Self {
        let directory = tempfile::tempdir().unwrap();
        copy_folder(prepared.directory.path(), directory.path());
        let url = match engine {
            db::Engine::Sqlite => sqlite_in(&directory),
            db::Engine::Postgres => new_postgres_database(Some(&prepared.url)).await,
        };
        let server = Self::on((directory, url), Files::Folder, Ids::seeded(2)).await;
        Self { key: prepared.key.clone(), ..server }
    }

    async fn on((directory, url): (TempDir, String), files: Files, ids: Ids) -> Self {
        let settings = db::Settings { pool_size: 6, ..db::Settings::at(&url) };
        let db = Db::open(&settings).await.unwrap();
        db::migrate::run(&db, &settings).await.unwrap();
        let clock = Clock::fixed(Timestamp::parse(NOW).unwrap());
        let folder = directory.path().join("files");
        let bucket = (files == Files::Bucket).then(|| Bucket::serve(&folder).unwrap());
        let place = match &bucket {
            None => storage::Settings::at(&format!("file:{}", folder.display())),
            Some(bucket) => storage::Settings {
                url: format!("s3://{}", test_bucket::NAME),
                endpoint: bucket.endpoint().to_owned(),
                region: "us-east-1".to_owned(),
                access_key_id: test_bucket::ACCESS_KEY_ID.to_owned(),
                secret_access_key: storage::Secret::new(test_bucket::SECRET_ACCESS_KEY),
            },
        };
        let storage = Storage::open(&place).unwrap();
        let app = App::new(db.clone(), clock.clone(), ids.clone(), storage.clone(), app_settings(directory.path()))
            .await
            .unwrap();
        let router = plaudit::router::new(app.clone());
        Self { app, db, clock, ids, storage, router, key: String::new(), bucket, directory, url }
    }

    /// The service started anew on the same database: nothing that was kept in memory is left.
    pub async fn restart(self) -> Self {
        self.restart_at(BASE).await
    }

    /// The same under another base address.
    pub async fn restart_at(self, base: &str) -> Self {
        self.restart_with(|settings| base.clone_into(&mut settings.base_url)).await
    }

    /// The same with other settings.
    pub async fn restart_with(self, change: impl FnOnce(&mut services::Settings)) -> Self {
        let mut settings = app_settings(self.directory.path());
        change(&mut settings);
        let app = App::new(self.db.clone(), self.clock.clone(), self.ids.clone(), self.storage.clone(), settings)
            .await
            .unwrap();
        let router = plaudit::router::new(app.clone());
        Self { app, router, ..self }
    }

    /// Another process on the same database.
    pub async fn other_process(&self) -> axum::Router {
        let settings = db::Settings { pool_size: 3, ..db::Settings::at(&self.url) };
        let db = Db::open(&settings).await.unwrap();
        let (clock, ids, storage) = (self.clock.clone(), self.ids.clone(), self.storage.clone());
        plaudit::router::new(App::new(db, clock, ids, storage, app_settings(self.directory.path())).await.unwrap())
    }

    /// Imports JSON Lines, which must be right.
    pub async fn import(&self, lines: &str) {
        let faults = self.try_import(lines).await;
        assert!(faults.is_empty(), "{faults:#?}");
    }

    /// Imports JSON Lines and gives back what is wrong with them.
    pub async fn try_import(&self, lines: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let deployment = transfer::Deployment {
            db: &self.db,
            storage: &self.storage,
            clock: &self.clock,
            ids: &self.ids,
            lengths: self.app.settings.lengths,
            longest_write: Duration::MAX,
            follow: plaudit::background::follow,
        };
        let reader = std::io::Cursor::new(lines.to_owned());
        let files = transfer::FileSource { folder: self.directory.path(), own: &[] };
        let source = transfer::Source { reader, name: "file.jsonl", files };
        transfer::import(deployment, source, None, &mut |fault: transfer::Fault| faults.push(fault.to_string()))
            .await
            .unwrap();
        faults
    }

    /// The account as it is exported.
    pub async fn export(&self, account: &str) -> String {
        let mut exported = Vec::new();
        transfer::export(&self.db, &self.storage, Slug::parse(account).unwrap(), |_| true, &mut exported)
            .await
            .unwrap();
        String::from_utf8(exported).unwrap()
    }

    /// Does everything that is due in the background.
    pub async fn settle(&self) {
        plaudit::background::settle(&self.app, plaudit::background::Works::ALL).await.unwrap();
    }

    pub async fn account(&self, slug: &str) -> AccountId {
        let slug = Slug::parse(slug).unwrap();
        self.db
            .write(AccountId::NONE, slug, |tx, slug| Box::pin(plaudit::program::accounts::store::find(tx, *slug)))
            .await
            .map_err(|error: db::DbError| error)
            .unwrap()
            .unwrap()
    }

    /// Makes a key and gives its secret.
    pub async fn new_key(&self, account: &str, scope: Scope) -> String {
        self.new_key_with(account, scope, |_| {}).await
    }

    pub async fn new_key_with(&self, account: &str, scope: Scope, change: impl FnOnce(&mut ApiKey)) -> String {
        let secret = keys::new_secret(&self.ids);
        let mut key = ApiKey {
            slug: self.ids.slug(),
            name: "test".to_owned(),
            scope,
            user: None,
            expires: None,
            revoked: None,
            rotated: None,
            notify: Vec::new(),
            created: self.clock.now(),
        };
        change(&mut key);
        self.save_key(account, &key, &secret).await;
        secret
    }

    /// Adds a key with this secret, or changes what is known of it.
    pub async fn save_key(&self, account: &str, key: &ApiKey, secret: &str) {
        let account = self.account(account).await;
        let origin = Origin { actor: Actor::Operator, source: "system", at: self.clock.now() };
        let state = (account, origin, key.clone(), keys::hash(secret.as_bytes()).unwrap());
        self.db
            .write(account, state, |tx, (account, origin, key, hash)| {
                Box::pin(keys::store::change(tx, *account, origin, Action::Updated, (key, hash)))
            })
            .await
            .map_err(|error: db::DbError| error)
            .unwrap();
    }

    /// A request with the headers that every call needs; `headers` replace them, an empty value takes one away.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Request<Body> {
        let mut all = HeaderMap::new();
        all.insert("host", "api.example.org".parse().unwrap());
        all.insert("accept", JSON.parse().unwrap());
        all.insert("x-api-key", self.key.parse().unwrap());
        if body.is_some() {
            all.insert("content-type", "application/json".parse().unwrap());
        }
        for (name, value) in headers {
            let name: axum::http::HeaderName = name.parse().unwrap();
            if value.is_empty() {
                all.remove(name);
            } else {
                all.insert(name, axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
        }
        let mut request = Request::new(Body::from(body.unwrap_or_default().to_owned()));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = path.parse().unwrap();
        *request.headers_mut() = all;
        request.extensions_mut().insert(ClientAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        request
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let accept = request.headers().get("accept").and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let format = if accept.trim().eq_ignore_ascii_case(XML) { XML } else { JSON };
        let (asked, request) = Asked::of(request).await;
        let answer = self.send_anything(request).await;
        check::every_answer(&answer, format);
        asked.check(&answer, format);
        answer
    }

    /// Sends a request whose answer may come from outside the interface.
    pub async fn send_anything(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.open(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Sends a request whose answer may go on and on.
    pub async fn open(&self, request: Request<Body>) -> axum::http::Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(self.request("GET", path, headers, None)).await
    }

    /// The statements of a read that was not asked for in these letters before, which has to be a success.
    pub async fn statements_of(&self, path: &str) -> u64 {
        let number = SPELLINGS.fetch_add(1, Ordering::Relaxed);
        let spell = |(place, letter): (u32, char)| {
            if place < 16 && number >> place & 1 == 1 { letter.to_ascii_uppercase() } else { letter }
        };
        let accept: String = (0..).zip(JSON.chars()).map(spell).collect();
        let before = self.db.statements();
        self.get_with(path, &[("accept", &accept)]).await.expect(200);
        self.db.statements() - before
    }

    pub async fn put(&self, path: &str, body: &str) -> Answer {
        self.put_with(path, body, &[]).await
    }

    pub async fn put_with(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(self.request("PUT", path, headers, Some(body))).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        self.post_with(path, body, &[]).await
    }

    pub async fn post_with(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(self.request("POST", path, headers, (!body.is_empty()).then_some(body))).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.delete_with(path, &[]).await
    }

    pub async fn delete_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(self.request("DELETE", path, headers, None)).await
    }

    /// The account's change log: kind, slug, action and events of every change.
    pub async fn changes(&self, account: &str) -> Vec<String> {
        let account = self.account(account).await;
        let mut tx = self.db.snapshot().await.unwrap();
        let mut changes = Vec::new();
        plaudit::log::each_of_account(&mut tx, account, |entry| {
            let [_, _, kind, slug, action, events] = entry.texts;
            changes.push(format!("{kind} {slug} {action} {events}").trim_end().to_owned());
            Ok(())
        })
        .await
        .unwrap();
        changes
    }

    /// The version of the account's program.
    pub async fn version(&self, account: &str) -> i64 {
        let account = self.account(account).await;
        let sql = "SELECT version FROM accounts WHERE id = $1";
        self.db.first(sql, &[account.into()], |row| row.integer(0)).await.unwrap().unwrap()
    }

    /// The names of what the storage has of an account, unfinished files included.
    pub fn stored_files(&self, account: &str) -> Vec<String> {
        if let Some(bucket) = &self.bucket {
            return [bucket.keys(account).unwrap(), bucket.parts().unwrap()].concat();
        }
        let Ok(folder) = std::fs::read_dir(self.directory.path().join("files").join(account)) else {
            return Vec::new();
        };
        let mut names: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// How many entries each category and division has, as it is kept, which must be as they are there.
    pub async fn entry_counts(&self, account: &str) -> Vec<(String, i64)> {
        let account = self.account(account).await;
        let mut both = Vec::new();
        for sql in [
            "SELECT category, division, total FROM entry_counts WHERE account = $1 AND total <> 0 ORDER BY 1, 2",
            "SELECT category, division, count(*) FROM entries WHERE account = $1 AND deleted = 0 \
             GROUP BY category, division ORDER BY 1, 2",
        ] {
            let mut counts = Vec::new();
            let row = |row: &db::Row<'_>| {
                counts.push((format!("{} {}", row.text(0)?, row.integer(1)?), row.integer(2)?));
                Ok(())
            };
            self.db.each(sql, &[account.into()], row).await.unwrap();
            both.push(counts);
        }
        assert_eq!(both[0], both[1]);
        both.swap_remove(0)
    }

    /// The stored documents of an entry.
    pub async fn stored_entry(&self, account: &str, slug: &str) -> (String, String) {
        let account = self.account(account).await;
        let sql = "SELECT doc, detail FROM entries WHERE account = $1 AND slug = $2";
        self.db
            .first(sql, &[account.into(), slug.into()], |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())))
            .await
            .unwrap()
            .unwrap()
    }

    /// An entry as the interface would show it now.
    pub async fn shown_entry(&self, account: &str, slug: &str) -> Value {
        let (doc, detail) = self.stored_entry(account, slug).await;
        let id = self.account(account).await;
        let program = self.app.programs.reload(id).await.unwrap().unwrap();
        let people = plaudit::records::users::store::shown_in(id, Source::Db(&self.db), [doc.as_str()]).await.unwrap();
        let languages = Languages::of_default(program.account.default_language);
        let mut renderer = Renderer::new(&self.app, &program, languages, Format::Json, 0);
        renderer.naming(people);
        let content = renderer.record(&doc, Some(&detail)).unwrap();
        let body = Body::from(content).collect().await.unwrap();
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }
}

pub mod check;
mod databases;
pub mod described;
pub mod fixture;
mod mail;
pub mod random;
pub mod receiver;
pub mod tree;
mod typesetter;
