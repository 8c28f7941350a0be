//! The databases of tests: a new one for each, which is empty or a copy.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::{Files, Server, runtime};

/// A database with the program of the fixture. Each test has a copy, which takes a third of the time of making it.
pub(super) struct Prepared {
    pub(super) directory: TempDir,
    pub(super) url: String,
    pub(super) key: String,
}

impl Prepared {
    /// The one of an engine.
    pub(super) fn of(engine: db::Engine) -> &'static Self {
        static PREPARED: [OnceLock<Prepared>; 2] = [const { OnceLock::new() }; 2];
        PREPARED[usize::from(engine == db::Engine::Postgres)].get_or_init(|| {
            runtime().block_on(async {
                let server = Server::start(engine, Files::Folder).await;
                server.db.close().await;
                if engine == db::Engine::Postgres {
                    close_postgres_database(&server.url).await;
                }
                Self { directory: server.directory, url: server.url, key: server.key }
            })
        })
    }
}

static DATABASES: AtomicU64 = AtomicU64::new(0);

/// The address at which databases are made.
fn maintenance_database() -> String {
    // The one thing that the tests are told from outside.
    #[allow(clippy::disallowed_methods)]
    std::env::var("PLAUDIT_TEST_POSTGRES")
        .expect("PLAUDIT_TEST_POSTGRES names no server; `cargo xtask test` starts one")
}

/// A database that was looked at without a finding is not needed any more.
pub(super) async fn drop_postgres_database(url: &str) {
    let (_, name) = url.rsplit_once('/').unwrap();
    let (client, connection) = tokio_postgres::connect(&maintenance_database(), tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    driver.abort();
}

/// Has nobody use a database any more, so that it can be copied.
async fn close_postgres_database(url: &str) {
    let (_, name) = url.rsplit_once('/').unwrap();
    let (client, connection) = tokio_postgres::connect(&maintenance_database(), tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    let statements = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS false; \
         SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'"
    );
    client.batch_execute(&statements).await.unwrap();
    driver.abort();
}

/// A database like this one, or an empty one.
pub(super) async fn new_postgres_database(like: Option<&str>) -> String {
    let maintenance = maintenance_database();
    let like = like.and_then(|url| url.rsplit_once('/')).map_or("template1", |(_, name)| name);
    let name = format!("test_{}_{}", std::process::id(), DATABASES.fetch_add(1, Ordering::Relaxed));
    let (client, connection) = tokio_postgres::connect(&maintenance, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {like}")).await.unwrap();
    drop(client);
    driver.abort();
    let (server, _) = maintenance.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

pub(super) fn sqlite_in(directory: &TempDir) -> String {
    format!("sqlite:{}", directory.path().join("plaudit.db").display())
}
