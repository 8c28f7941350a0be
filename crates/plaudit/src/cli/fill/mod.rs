//! `plaudit fill`: a synthetic account of any size, the same from the same seed.
//!
//! The set-up and the users are imported. Entries and orders, of which there may be very many, go through the store of their
//! kind and the change log at once; a commit now and then keeps the database's own log small.

mod entries;
mod orders;
mod plan;
mod setup;

use plan::Plan;

use super::progress::Progress;
use super::{Failure, account_of, import, open, operator, say};
use crate::config::Config;
use crate::log::{self, Action, Change, Origin};
use crate::program::accounts;
use crate::storage::Storage;
use db::{AccountId, Db, DbError, Tx};
use kernel::clock::Clock;
use kernel::kind::Kind;
use kernel::text::Slug;

/// Records between two commits.
const BATCH_SIZE: u64 = 50_000;

/// The size of the account.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// How many entries
    #[arg(long, default_value_t = 1_000)]
    entries: u64,
    /// How many orders
    #[arg(long, default_value_t = 1_000)]
    orders: u64,
    /// How many contributors each entry has
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=100))]
    contributors: u64,
    /// What everything is made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The account's slug; left out, it follows from the seed
    #[arg(long)]
    account: Option<Slug>,
}

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let mut plan = Plan::new(arguments.seed, arguments.entries, arguments.orders, arguments.contributors);
    let slug = arguments.account.unwrap_or(plan.account);
    plan.account = slug;
    let (db, storage) = open(config).await?;
    let filled = fill(&db, &storage, &plan, slug).await;
    db.close().await;
    filled?;
    say(&format!("account {slug}"))
}

async fn fill(db: &Db, storage: &Storage, plan: &Plan, slug: Slug) -> Result<(), Failure> {
    if accounts::store::find(&mut db.snapshot().await?, slug).await?.is_some() {
        return Err(Failure::Failed(format!("there is an account {slug} already; name another --seed or --account")));
    }
    import::text(db, storage, "the set-up of fill", &setup::text(plan)).await?;
    let mut tx = db.begin().await?;
    let mut filling = Filling {
        db,
        account: account_of(&mut tx, slug).await?,
        tx,
        origin: operator(&Clock::system()),
        since_commit: 0,
        done: 0,
        progress: Progress::new(),
    };
    filling = entries::write(filling, plan).await?;
    filling = orders::write(filling, plan).await?;
    filling.tx.commit().await?;
    db.analyze().await;
    Ok(())
}

/// An account that is being filled.
struct Filling<'d> {
    db: &'d Db,
    tx: Tx,
    account: AccountId,
    origin: Origin,
    since_commit: u64,
    done: u64,
    progress: Progress,
}

impl Filling<'_> {
    /// Logs a record, and gives its revision.
    async fn log(&mut self, kind: Kind, slug: &str, document: String) -> Result<i64, DbError> {
        let change = Change { kind, slug, action: Action::Imported, events: &[], document };
        self.since_commit += 1;
        self.done += 1;
        self.progress.at(self.done, "records");
        log::append(&mut self.tx, self.account, &self.origin, change).await
    }

    /// Whether it is time to commit.
    fn is_full(&self) -> bool {
        self.since_commit >= BATCH_SIZE
    }

    /// Keeps what was written so far, and goes on.
    async fn commit(self) -> Result<Self, DbError> {
        self.tx.commit().await?;
        Ok(Self { tx: self.db.begin().await?, since_commit: 0, ..self })
    }
}
