//! `plaudit user`: what an operator does for the users of an account.

use serde_json::json;

use super::table::{ListOptions, Table};
use super::{Failure, account_of, lengths, open_storage, operator, say, storage_settings, wrong_storage};
use crate::config::Config;
use crate::erasing;
use crate::program::Programs;
use crate::records::users::links::{Link, Purpose};
use crate::records::users::store;
use crate::records::{Refusal, files};
use crate::services;
use crate::signing::DownloadSigner;
use crate::storage::Storage;
use db::{Db, DbError};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::text::Slug;

/// What to do with users.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print the users of an account
    List {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        #[command(flatten)]
        options: ListOptions,
    },
    /// Erase a person for good: whatever was said, and what tells who it was
    Erase {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        /// The user's slug or e-mail address
        user: String,
        /// Nothing brings back what is erased, but a backup from before
        #[arg(long, required = true)]
        for_good: bool,
    },
    /// Print a link by which a user confirms, once and within 7 days
    ConfirmLink {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        /// The user's slug or e-mail address
        user: String,
    },
}

/// Runs the command.
pub(super) async fn run(db: &Db, config: &Config, command: Command) -> Result<(), Failure> {
    let (account, user) = match command {
        Command::List { account, options } => return list(db, account, options).await,
        Command::Erase { account, user, .. } => return erase(db, config, account, user).await,
        Command::ConfirmLink { account, user } => (account, user),
    };
    let address = confirm_link(db, account, user).await?;
    let base_url = match config.server.base_url.trim_end_matches('/') {
        "" => format!("http://{}", config.server.listen),
        base_url => base_url.to_owned(),
    };
    say(&format!("{base_url}{address}"))
}

async fn list(db: &Db, account: Slug, options: ListOptions) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    let account = account_of(&mut tx, account).await?;
    let mut table = Table::new(["slug", "confirmation", "email", "name"]);
    store::each_live(&mut tx, account, |user| {
        table.add([json!(user.slug), json!(user.confirmation.name()), json!(user.email), json!(user.name())]);
    })
    .await?;
    table.print(options)
}

async fn erase(db: &Db, config: &Config, slug: Slug, user: String) -> Result<(), Failure> {
    let account = account_of(&mut db.snapshot().await?, slug).await?;
    if !Storage::is_there(&storage_settings(config))? {
        return Err(wrong_storage(config, "it is not there"));
    }
    let (ids, clock, storage) = (Ids::random(), Clock::system(), open_storage(config)?);
    let programs = Programs::new(db.clone(), clock.clone(), "", lengths(config));
    let state = (account, user, ids.uuid(), clock.clone(), programs);
    let erased = db.write(account, state, |tx, (account, user, person, clock, programs)| {
        Box::pin(async move {
            let missing = || Failure::Failed(format!("the account has no user {user}"));
            let found = store::live_of(tx, *account, user).await.map_err(Failure::from)?;
            // One who is in the trash is named by the slug.
            let slug = found.or_else(|| Slug::parse(user)).ok_or_else(missing)?;
            let program = programs.in_transaction(tx, *account).await.map_err(Failure::from)?;
            let program = program.ok_or_else(missing)?;
            let origin = operator(clock);
            match erasing::erase(tx, *account, &program, &origin, (slug, person)).await {
                Ok(true) => Ok(slug),
                Ok(false) => Err(missing()),
                Err(Refusal::Db(error)) => Err(error.into()),
                Err(refusal) => Err(Failure::Failed(format!("the user cannot be erased: {refusal:?}"))),
            }
        })
    });
    let slug = erased.await?;
    db.checkpoint().await;
    say(&format!("{slug} is erased; what older backups have is yours to remove"))?;
    match files::empty_erased(db, &storage).await? {
        0 => Ok(()),
        missing => Err(Failure::Failed(format!(
            "{missing} erased files are not in {}: the service empties them in its own storage when it runs",
            config.storage.url
        ))),
    }
}

/// The address of a link for a user, from its first slash on.
async fn confirm_link(db: &Db, slug: Slug, user: String) -> Result<String, Failure> {
    let account = account_of(&mut db.snapshot().await?, slug).await?;
    let (ids, now) = (Ids::random(), Clock::system().now());
    let link = Link::new(Purpose::Confirm, ids.secret(40), now);
    let secret = services::store::secret(db, services::store::DOWNLOADS, &ids).await?;
    let state = (account, link.clone(), user, now);
    db.write(account, state, |tx, (account, link, user, now)| {
        Box::pin(async move {
            let found = store::live_of(tx, *account, user).await.map_err(Failure::from)?;
            let missing = || Failure::Failed(format!("the account has no user {user}"));
            let slug = found.ok_or_else(missing)?;
            link.keep(tx, *account, slug, *now).await.map_err(|error: DbError| Failure::from(error))
        })
    })
    .await?;
    Ok(link.address(&DownloadSigner::new(&secret), slug))
}
