//! `plaudit webhook`: what an operator does for the webhooks of an account.
//!
//! Every change is in the account's log and reaches running servers with the next request.

use super::table::{ListOptions, Table};
use super::{Failure, account_of, operator, say};
use serde_json::json;

use crate::deliveries::replay::Input;
use crate::deliveries::store::Asked;
use crate::deliveries::{self, reconcile};
use crate::jobs;
use crate::log::{Action, Event, Origin};
use crate::program::store as program_store;
use crate::program::webhooks::{Status, Webhook};
use crate::program::{Context, accounts};
use db::{AccountId, Db, DbError, Source, Tx};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::text::{Slug, Timestamp};

/// What to do with webhooks.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print the webhooks of an account, without their secrets
    List {
        /// The account's slug
        account: Slug,
        #[command(flatten)]
        options: ListOptions,
    },
    /// Print the last deliveries of a webhook, and what the last attempt of each came to
    Show {
        /// The account's slug
        account: Slug,
        /// The webhook's slug
        webhook: Slug,
        #[command(flatten)]
        options: ListOptions,
    },
    /// Have what happened within a time delivered again, by a job of a running server
    Replay {
        /// The account's slug
        account: Slug,
        /// The webhook's slug
        webhook: Slug,
        /// The time from which on, such as 2026-01-31T08:30:00Z
        #[arg(long, value_parser = time)]
        after: Timestamp,
        /// The time before which
        #[arg(long, value_parser = time)]
        before: Timestamp,
        /// An event; left out, every one that the webhook is told of
        #[arg(long = "event", value_parser = clap::builder::PossibleValuesParser::new(Event::NAMES))]
        events: Vec<String>,
    },
    /// Tell a webhook what happens from now on
    Enable {
        /// The account's slug
        account: Slug,
        /// The webhook's slug
        webhook: Slug,
    },
    /// Tell a webhook nothing more
    Disable {
        /// The account's slug
        #[arg(required_unless_present = "all")]
        account: Option<Slug>,
        /// The webhook's slug
        #[arg(required_unless_present = "all")]
        webhook: Option<Slug>,
        /// Every webhook of every account, such as those of a copy of a database that is started elsewhere
        #[arg(long, conflicts_with_all = ["account", "webhook"])]
        all: bool,
    },
}

/// Runs the command.
pub(super) async fn run(db: &Db, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { account, options } => list(db, account, options).await,
        Command::Show { account, webhook, options } => show(db, (account, webhook), options).await,
        Command::Replay { account, webhook, after, before, events } => {
            replay(db, (account, webhook), (after, before), events).await
        }
        Command::Enable { account, webhook } => set_one(db, account, webhook, Status::Enabled).await,
        Command::Disable { account: Some(account), webhook: Some(webhook), .. } => {
            set_one(db, account, webhook, Status::Disabled).await
        }
        Command::Disable { .. } => disable_all(db).await,
    }
}

async fn list(db: &Db, account: Slug, options: ListOptions) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    let account = account_of(&mut tx, account).await?;
    let webhooks =
        program_store::live::<Webhook>(&mut tx, account, &Context::any_language(Clock::system().now())).await?;
    let mut table = Table::new(["slug", "status", "url", "name"]);
    for Webhook { slug, status, url, name, .. } in &webhooks {
        // What follows the question mark may be a secret.
        let address = url.split_once('?').map_or_else(|| url.clone(), |(address, _)| format!("{address}?****"));
        table.add([json!(slug), json!(status.name()), json!(address), json!(name)]);
    }
    table.print(options)
}

/// How many deliveries are shown.
const SHOWN: usize = 20;

async fn show(db: &Db, (account, webhook): (Slug, Slug), options: ListOptions) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    let (slug, account) = (account, account_of(&mut tx, account).await?);
    let known = program_store::live::<Webhook>(&mut tx, account, &Context::any_language(Clock::system().now())).await?;
    if known.iter().all(|known| known.slug != webhook) {
        return Err(no_webhook(slug, webhook));
    }
    let (found, _) =
        deliveries::store::list(account, Source::Snapshot(&mut tx), webhook, &Asked::default(), SHOWN).await?;
    let mut table = Table::new(["id", "event", "kind", "slug", "state", "attempts", "last_attempt"]);
    for delivery in found.iter().rev() {
        let attempts = deliveries::store::attempts_of(&delivery.attempts);
        let last = attempts.last().map_or_else(String::new, |attempt| match (attempt.status, &attempt.error) {
            (Some(status), _) => format!("{status} in {} ms", attempt.milliseconds()),
            (None, error) => error.clone().unwrap_or_default(),
        });
        table.add([
            json!(delivery.id.to_string()),
            json!(delivery.event.to_string()),
            json!(delivery.kind),
            json!(delivery.slug),
            json!(delivery.state.name()),
            json!(attempts.len()),
            json!(last),
        ]);
    }
    table.print(options)
}

async fn replay(
    db: &Db,
    (account, webhook): (Slug, Slug),
    (after, before): (Timestamp, Timestamp),
    events: Vec<String>,
) -> Result<(), Failure> {
    if after >= before {
        return Err(Failure::Usage("--before must be later than --after".to_owned()));
    }
    let id = account_of(&mut db.snapshot().await?, account).await?;
    let (after, before) = (after.as_microseconds(), before.as_microseconds());
    let input = Input { webhook: webhook.to_string(), after, before, events };
    let state = (id, webhook, input.to_json(), operator(&Clock::system()), Ids::random());
    let job = db
        .write(id, state, |tx, (account, webhook, input, origin, ids)| {
            Box::pin(async move {
                if !deliveries::store::sent_to(tx, *account).await?.contains(webhook) {
                    return Ok(None);
                }
                let job = jobs::add(tx, *account, (deliveries::replay::WORK.kind, input.clone()), origin, ids).await?;
                Ok::<_, DbError>(Some(job))
            })
        })
        .await?;
    let job = job.ok_or_else(|| Failure::Failed(format!("the account has no webhook {webhook} that is enabled")))?;
    say(&format!("job {job} does it"))
}

/// A time as the interface writes it.
fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be a time such as 2026-01-31T08:30:00Z".to_owned())
}

async fn set_one(db: &Db, account: Slug, webhook: Slug, status: Status) -> Result<(), Failure> {
    let id = account_of(&mut db.snapshot().await?, account).await?;
    set(db, id, Some(webhook), status).await?.ok_or_else(|| no_webhook(account, webhook))?;
    say(&format!("webhook {webhook} is {}", status.name()))
}

fn no_webhook(account: Slug, webhook: Slug) -> Failure {
    Failure::Failed(format!(
        "the account has no webhook {webhook}; `plaudit webhook list {account}` shows those it has"
    ))
}

async fn disable_all(db: &Db) -> Result<(), Failure> {
    let mut accounts = Vec::new();
    accounts::store::each(db, |account, _| {
        accounts.push(account);
        Ok(())
    })
    .await?;
    let mut count = 0;
    for account in accounts {
        count += set(db, account, None, Status::Disabled).await?.unwrap_or(0);
    }
    say(&format!("{count} webhooks were enabled and are disabled"))
}

/// Whether a webhook, or every one of the account, is told what happens; gives how many that changes, and nothing where
/// there is no such webhook.
async fn set(db: &Db, account: AccountId, which: Option<Slug>, status: Status) -> Result<Option<u64>, DbError> {
    db.write(account, (account, which, status, operator(&Clock::system())), |tx, (account, which, status, origin)| {
        Box::pin(write_status(tx, *account, *which, *status, origin))
    })
    .await
}

async fn write_status(
    tx: &mut Tx,
    account: AccountId,
    which: Option<Slug>,
    status: Status,
    origin: &Origin,
) -> Result<Option<u64>, DbError> {
    // The head is locked before webhooks are read, so that no change of another command is lost.
    tx.head(account).await?;
    let mut webhooks = program_store::live::<Webhook>(tx, account, &Context::any_language(origin.at)).await?;
    webhooks.retain(|webhook| which.is_none_or(|slug| slug == webhook.slug));
    if webhooks.is_empty() && which.is_some() {
        return Ok(None);
    }
    let mut count = 0;
    for webhook in webhooks.iter().filter(|webhook| webhook.status != status) {
        let changed = webhook.with_status(status, None, origin.at);
        program_store::change(tx, account, origin, Action::Updated, changed).await?;
        count += 1;
    }
    reconcile(tx, account).await?;
    Ok(Some(count))
}
