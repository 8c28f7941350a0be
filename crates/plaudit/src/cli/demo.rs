//! `plaudit demo`: a demonstration program on a database of its own, served, with commands to try.
//!
//! Everything is under `./plaudit-demo`. The first run fills it, every later one goes on with what it has, and prints
//! commands that still work.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::commands::{self, Targets};
use super::serve::Node;
use super::{Failure, key, open, say};
use crate::config::{Config, ConfigArgs};
use crate::program::keys::Scope;
use crate::program::{Program, accounts};
use crate::records::users;
use crate::storage::Storage;
use db::{AccountId, Db};
use kernel::clock::Clock;
use kernel::text::Slug;

/// Where everything is.
const FOLDER: &str = "./plaudit-demo";
/// Its database.
pub(super) const DATABASE: &str = "sqlite:./plaudit-demo/plaudit.db";
/// The account of the demonstration program.
const ACCOUNT: &str = "DemoAwds";
/// Who judges in it, the first the one whom commands are about, and who votes.
const JUDGES: [(&str, &str); 5] = [
    ("UserMeii", "the judge Mei Tanaka"),
    ("UserAnja", "the judge Anja Weber"),
    ("UserKofi", "the judge Kofi Mensah"),
    ("UserRosa", "the voter Rosa Lopes"),
    ("UserSami", "the voter Samir Aziz"),
];
/// The demonstration program.
const PROGRAM: &str = include_str!("demo.jsonl");

/// Runs the command.
pub(super) async fn run(config: &Config, arguments: &ConfigArgs) -> Result<(), Failure> {
    if arguments.database.is_some() || arguments.storage.is_some() {
        let text = format!("demo keeps everything under {FOLDER}; `plaudit serve` takes --database and --storage");
        return Err(Failure::Usage(text));
    }
    fs::create_dir_all(FOLDER).map_err(|error| Failure::Failed(format!("{FOLDER}: {error}")))?;
    let own = ConfigArgs {
        database: Some(DATABASE.to_owned()),
        storage: Some(format!("file:{FOLDER}/files")),
        ..arguments.clone()
    };
    let own = Config::from_process(&own).map_err(|error| Failure::Usage(error.to_string()))?;
    let (db, storage) = open(&own).await?;
    let slug = Slug::parse(ACCOUNT).ok_or_else(|| Failure::Failed(format!("{ACCOUNT} is no slug")))?;
    let (account, is_new) = match accounts::store::find(&mut db.snapshot().await?, slug).await? {
        Some(account) => (account, false),
        None => (fill(&db, &storage, slug).await?, true),
    };
    // What the database has of the keys of earlier runs are hashes; those keys stay good.
    let create = async |scope, user| {
        key::create(&db, account, key::Named { name: "demo", scope, user }, (None, Vec::new())).await
    };
    let read = create(Scope::Read, None).await?;
    let read_write = create(Scope::ReadWrite, None).await?;
    let mut judges = Vec::new();
    for (slug, name) in JUDGES {
        // A demonstration goes on without those who were deleted.
        if let Some(user) = users::store::live_of(&mut db.snapshot().await?, account, slug).await? {
            judges.push((user, name, create(Scope::ReadWrite, Some(user)).await?));
        }
    }
    let listener = listen(&config.server.listen).await?;
    let node = Node::start(&own, db.clone(), storage.clone(), listener).await?;
    let judge = judges.first().map(|(user, _, key)| (*user, key.clone()));
    let targets = targets(&db, account, judge).await?;
    let begun = if is_new { "A demonstration program was made" } else { "The demonstration goes on with what is" };
    say(&format!("{begun} under {FOLDER}.\n"))?;
    say(&format!("  address         {}", node.address))?;
    say(&format!("  documentation   {}/docs", node.address))?;
    say(&format!("  read key        {read}"))?;
    say(&format!("  read_write key  {read_write}"))?;
    for (_, name, key) in &judges {
        say(&format!("  of {name:<23}{key}"))?;
    }
    say("")?;
    say(&commands::text(&node.address, &read, &read_write, &targets))?;
    node.run(&own).await;
    Ok(())
}

/// Makes the account from the demonstration program.
async fn fill(db: &Db, storage: &Storage, slug: Slug) -> Result<AccountId, Failure> {
    super::import::own(db, storage, "demo.jsonl", PROGRAM.as_bytes()).await?;
    let made = accounts::store::find(&mut db.snapshot().await?, slug).await?;
    made.ok_or_else(|| Failure::Failed("the demonstration program makes no account".to_owned()))
}

/// Listens at the address, or at a free port beside it where it is taken.
async fn listen(address: &str) -> Result<TcpListener, Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("server.listen {address}: {error}"));
    match TcpListener::bind(address).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            let listener = TcpListener::bind(format!("{host}:0")).await.map_err(failed)?;
            say(&format!("{address} is taken, so this is another port."))?;
            Ok(listener)
        }
        bound => bound.map_err(failed),
    }
}

/// What the printed commands are about.
async fn targets(db: &Db, account: AccountId, judge: Option<(Slug, String)>) -> Result<Targets, Failure> {
    let mut tx = db.snapshot().await?;
    let program = Program::load(&mut tx, account, &Arc::from(""), &Clock::system()).await?;
    let program = program.ok_or_else(|| Failure::Failed("the account of the demonstration is gone".to_owned()))?;
    Ok(commands::targets(&mut tx, &program, judge).await?)
}
