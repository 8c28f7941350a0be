//! The two engines: databases are made, copied, measured and removed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tokio_postgres::NoTls;

use crate::context::Context;
use crate::plaudit;

/// Where the databases of a part of the run are.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    /// Files in the directory of the run.
    Sqlite,
    /// Databases on the server whose maintenance database has this address.
    Postgres(String),
}

/// A filled database, with a key of its account.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) account: String,
    pub(crate) key: String,
}

impl Engine {
    /// The name in the report.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// The address of a database, as the server takes it.
    pub(crate) fn url(&self, context: &Context, name: &str) -> Result<String> {
        match self {
            Self::Sqlite => Ok(format!("sqlite:{}", file(context, name).display())),
            Self::Postgres(url) => with_database(url, name),
        }
    }

    /// A database with that many entries and orders: one that was kept, or a new one.
    pub(crate) fn filled(&self, context: &Context, entries: u64, orders: u64) -> Result<Filled> {
        let name = format!("plaudit_bench_{entries}_{orders}");
        let url = self.url(context, &name)?;
        let note = context.directory.join(format!("{name}.account"));
        if context.keep
            && matches!(self, Self::Sqlite)
            && file(context, &name).is_file()
            && let Ok(text) = fs::read_to_string(&note)
            && let Some((account, key)) = text.trim().split_once(' ')
        {
            return Ok(Filled { name, url, account: account.to_owned(), key: key.to_owned() });
        }
        println!("filling {}: {entries} entries, {orders} orders", self.label());
        self.create(context, &name)?;
        let account = plaudit::fill(context, &url, entries, orders)?;
        let key = plaudit::create_key(context, &url, &account)?;
        match self {
            // Written last: a note is the proof that the database is whole.
            Self::Sqlite => fs::write(&note, format!("{account} {key}\n"))?,
            // What a database that has been in use for an hour has had done to it.
            Self::Postgres(_) => run_sql(&url, &["VACUUM (ANALYZE)", "CHECKPOINT"])?,
        }
        Ok(Filled { name, url, account, key })
    }

    /// A copy of a database that no server uses.
    pub(crate) fn copy(&self, context: &Context, filled: &Filled, name: &str) -> Result<Filled> {
        match self {
            Self::Sqlite => {
                self.remove(context, name)?;
                let (from, to) = (file(context, &filled.name), file(context, name));
                for suffix in ["", "-wal"] {
                    let (from, to) = (beside(&from, suffix), beside(&to, suffix));
                    if from.is_file() {
                        fs::copy(from, to)?;
                    }
                }
            }
            Self::Postgres(maintenance) => {
                self.remove(context, name)?;
                let template = &filled.name;
                let statement = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
                run_sql(maintenance, &[&statement, "CHECKPOINT"])?;
            }
        }
        Ok(Filled { name: name.to_owned(), url: self.url(context, name)?, ..filled.clone() })
    }

    fn create(&self, context: &Context, name: &str) -> Result<()> {
        self.remove(context, name)?;
        match self {
            Self::Sqlite => Ok(()),
            Self::Postgres(maintenance) => run_sql(maintenance, &[&format!("CREATE DATABASE \"{name}\"")]),
        }
    }

    /// Removes a database, whether it is there or not.
    pub(crate) fn remove(&self, context: &Context, name: &str) -> Result<()> {
        match self {
            Self::Sqlite => {
                let path = file(context, name);
                for suffix in ["", "-wal", "-shm"] {
                    remove_file(&beside(&path, suffix))?;
                }
                remove_file(&context.directory.join(format!("{name}.account")))
            }
            Self::Postgres(maintenance) => {
                run_sql(maintenance, &[&format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)")])
            }
        }
    }

    /// Removes a filled database unless it is to be kept.
    pub(crate) fn release(&self, context: &Context, filled: &Filled) -> Result<()> {
        if context.keep && matches!(self, Self::Sqlite) { Ok(()) } else { self.remove(context, &filled.name) }
    }

    /// The size of a database in bytes.
    pub(crate) fn bytes(&self, context: &Context, filled: &Filled) -> Result<u64> {
        match self {
            Self::Sqlite => Ok(fs::metadata(file(context, &filled.name))?.len()),
            Self::Postgres(_) => {
                let size = query_one(&filled.url, "SELECT pg_database_size(current_database())::text")?;
                Ok(size.parse()?)
            }
        }
    }

    /// The process of the PostgreSQL server, where it runs on this machine.
    pub(crate) fn postmaster(&self) -> Result<Option<u32>> {
        let Self::Postgres(maintenance) = self else { return Ok(None) };
        on_connection(maintenance, async |client| {
            let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
            let postmaster = crate::machine::parent(u32::try_from(backend)?);
            Ok(Some(postmaster.context("the PostgreSQL server does not run on this machine")?))
        })
    }

    /// The number of the account in a PostgreSQL database.
    pub(crate) fn account(filled: &Filled) -> Result<i64> {
        let number =
            query_one(&filled.url, &format!("SELECT id::text FROM accounts WHERE slug = '{}'", filled.account))?;
        Ok(number.parse()?)
    }

    /// How many connections a database has, other than the one that asks.
    pub(crate) fn connections(filled: &Filled) -> Result<usize> {
        let count = query_one(
            &filled.url,
            "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() \
             AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?;
        Ok(count.parse()?)
    }
}

/// The path of a SQLite database.
pub(crate) fn file(context: &Context, name: &str) -> PathBuf {
    context.directory.join(format!("{name}.db"))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Puts another database into the address of a PostgreSQL server.
fn with_database(url: &str, name: &str) -> Result<String> {
    let (address, options) = url.split_once('?').unwrap_or((url, ""));
    let Some((scheme, rest)) = address.split_once("://") else {
        bail!("the address of the PostgreSQL server is not postgres://USER@HOST:PORT/DATABASE");
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let mark = if options.is_empty() { "" } else { "?" };
    Ok(format!("{scheme}://{authority}/{name}{mark}{options}"))
}

/// Runs statements, each outside any transaction.
pub(crate) fn run_sql(url: &str, statements: &[&str]) -> Result<()> {
    on_connection(url, async |client| {
        for statement in statements {
            client.batch_execute(statement).await.with_context(|| (*statement).to_owned())?;
        }
        Ok(())
    })
}

fn query_one(url: &str, statement: &str) -> Result<String> {
    on_connection(url, async |client| Ok(client.query_one(statement, &[]).await?.get(0)))
}

fn on_connection<T>(url: &str, work: impl AsyncFnOnce(tokio_postgres::Client) -> Result<T>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.context("PostgreSQL")?;
        let driver = tokio::spawn(connection);
        let done = work(client).await;
        // The connection ends when its client is gone; waiting for that lets a database be dropped at once.
        let _ = driver.await;
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_of_the_same_server_is_addressed() -> Result<()> {
        assert_eq!(with_database("postgres://u@h:1/postgres", "b")?, "postgres://u@h:1/b");
        assert_eq!(with_database("postgres://u@h:1/postgres?a=b", "b")?, "postgres://u@h:1/b?a=b");
        assert_eq!(with_database("postgres://h", "b")?, "postgres://h/b");
        assert!(with_database("host=h", "b").is_err());
        Ok(())
    }
}
