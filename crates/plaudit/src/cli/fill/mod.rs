//! `plaudit fill`: a synthetic account of any size, the same from the same seed.
//!
//! It is a program file that is imported while it is being written.

mod entries;
mod orders;
mod plan;
mod setup;

use std::io::{BufReader, BufWriter, Write};

use plan::Plan;

use super::{Failure, import, open, say};
use crate::config::Config;
use crate::program::accounts;
use crate::storage::Storage;
use db::Db;
use kernel::text::Slug;

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
    let filled = fill(&db, &storage, plan).await;
    db.close().await;
    filled?;
    say(&format!("account {slug}"))
}

async fn fill(db: &Db, storage: &Storage, plan: Plan) -> Result<(), Failure> {
    let slug = plan.account;
    if accounts::store::find(&mut db.snapshot().await?, slug).await?.is_some() {
        return Err(Failure::Failed(format!("there is an account {slug} already; name another --seed or --account")));
    }
    let (reader, writer) = std::io::pipe()?;
    let writing = tokio::task::spawn_blocking(move || write(&plan, &mut BufWriter::new(writer)));
    import::own(db, storage, "the records of fill", BufReader::with_capacity(1 << 18, reader)).await?;
    Ok(writing.await??)
}

/// Writes the program file.
fn write(plan: &Plan, out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(setup::text(plan).as_bytes())?;
    for place in 0..plan.entries {
        writeln!(out, "{}", entries::entry(plan, place))?;
    }
    for place in 0..plan.orders {
        writeln!(out, "{}", orders::order(plan, place))?;
    }
    out.flush()
}
