//! `plaudit account`: the tenants of the service, their features and host names.
//!
//! - An account is named by its slug.
//! - Every change is in the account's log and reaches running servers with the next request.

use super::table::{ListOptions, Table};
use super::{Failure, account_of, lines_of, no_account, operator, say};
use serde_json::json;

use crate::config::{Config, Source};
use crate::log::{self, Action, Change, Origin};
use crate::program::accounts::{self, Account, FEATURE_API};
use crate::program::{self, Context, RecordMembers as _};
use db::{AccountId, Db, DbError, Tx};
use kernel::clock::Clock;
use kernel::document::{self, Object};
use kernel::ids::Ids;
use kernel::input::Members;
use kernel::json::parse_object;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug};

/// What to do with accounts.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make an account; prints its slug
    Create(Create),
    /// Print every account
    List(ListOptions),
    /// Change what an account is; what is not named stays as it is
    Set(Set),
    /// Print an account
    Show {
        /// The account's slug
        account: Slug,
    },
    /// Refuse the account's keys
    Suspend {
        /// The account's slug
        account: Slug,
    },
    /// Accept the account's keys again
    Resume {
        /// The account's slug
        account: Slug,
    },
    /// Switch a feature of an account on or off
    Feature {
        /// The account's slug
        account: Slug,
        /// The feature
        #[arg(value_parser = [FEATURE_API])]
        feature: String,
        /// on or off
        #[arg(value_parser = ["on", "off"])]
        state: String,
    },
    /// The host names of an account: what is addressed there takes this account's keys only
    #[command(subcommand)]
    Host(Host),
}

/// A new account.
#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// Its name
    #[arg(long)]
    name: String,
    /// Its slug, 8 letters; left out, it is given one
    #[arg(long)]
    slug: Option<Slug>,
    /// Its languages, the default first
    #[arg(long = "language", value_name = "LOCALE", value_delimiter = ',', default_value = "en_GB")]
    languages: Vec<Locale>,
    /// Its IANA time zone
    #[arg(long, default_value = "UTC")]
    timezone: String,
    /// Requests a minute of each of its keys
    #[arg(long, default_value_t = accounts::DEFAULT_RATE_LIMIT)]
    rate_limit: i64,
    /// Its host names
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',')]
    hosts: Vec<String>,
}

/// What an account is to be.
#[derive(Debug, clap::Args)]
pub(super) struct Set {
    /// The account's slug
    account: Slug,
    /// Its name
    #[arg(long)]
    name: Option<String>,
    /// Its languages, the default first
    #[arg(long = "language", value_name = "LOCALE", value_delimiter = ',')]
    languages: Vec<Locale>,
    /// Its IANA time zone
    #[arg(long)]
    timezone: Option<String>,
    /// Requests a minute of each of its keys
    #[arg(long)]
    rate_limit: Option<i64>,
}

/// What to do with host names.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Host {
    /// Give an account a host name
    Add {
        /// The account's slug
        account: Slug,
        /// The host name
        #[arg(value_parser = host_name)]
        host: String,
    },
    /// Take a host name from an account
    Remove {
        /// The account's slug
        account: Slug,
        /// The host name
        #[arg(value_parser = host_name)]
        host: String,
    },
}

fn host_name(text: &str) -> Result<String, String> {
    let name = text.to_ascii_lowercase();
    if accounts::valid_host(&name) { Ok(name) } else { Err("must be a host name without a port".to_owned()) }
}

/// Runs the command.
pub(super) async fn run(db: &Db, config: &Config, command: Command) -> Result<(), Failure> {
    match command {
        Command::Create(create) => say(self::create(db, &create, region(config)).await?.as_str()),
        Command::List(options) => list(db, options).await,
        Command::Set(set) => {
            let account = set.account;
            change(db, set).await?;
            say(&format!("account {account} is changed"))
        }
        Command::Show { account } => show(db, account).await,
        Command::Suspend { account } => {
            edit(db, account, |account| account.suspended = true).await?;
            say(&format!("account {account} is suspended"))
        }
        Command::Resume { account } => {
            edit(db, account, |account| account.suspended = false).await?;
            say(&format!("account {account} is active"))
        }
        Command::Feature { account, feature, state } => {
            let (name, is_on) = (feature.clone(), state == "on");
            edit(db, account, move |account| set(&mut account.features, &name, is_on)).await?;
            say(&format!("feature {feature} of account {account} is {state}"))
        }
        Command::Host(Host::Add { account, host }) => {
            let name = host.clone();
            edit(db, account, move |account| set(&mut account.hosts, &name, true)).await?;
            say(&format!("{host} belongs to account {account}"))
        }
        Command::Host(Host::Remove { account, host }) => {
            let name = host.clone();
            if !edit(db, account, move |account| set(&mut account.hosts, &name, false)).await? {
                return Err(Failure::Failed(format!("account {account} has no host name {host}")));
            }
            say(&format!("{host} belongs to no account"))
        }
    }
}

/// The region that a new account belongs to, where the operator says which one is served; else that of the deployment,
/// whichever it is.
fn region(config: &Config) -> Option<&'static str> {
    let is_said = config.source("server", "region").is_some_and(|source| *source != Source::Default);
    is_said.then(|| config.server.region.into())
}

async fn create(db: &Db, create: &Create, region: Option<&str>) -> Result<Slug, Failure> {
    let clock = Clock::system();
    let slug = create.slug.unwrap_or_else(|| Ids::random().slug());
    let account = read(slug, &Context::any_language(clock.now()), |object| {
        write(object, (&create.name, &create.languages), (&create.timezone, create.rate_limit));
        object.texts("hosts", &create.hosts);
        object.optional_text("region", region);
    })?;
    let made = db.write(AccountId::NONE, (account, operator(&clock)), |tx, (account, origin)| {
        Box::pin(async move {
            let id = accounts::store::create(tx, account).await?;
            append(tx, id, origin, account, Action::Created).await
        })
    });
    made.await.map_err(|error: DbError| match error {
        DbError::Duplicate(_) => Failure::Failed(
            "the slug or a host name belongs to another account, be it one that is being imported".to_owned(),
        ),
        error => error.into(),
    })?;
    Ok(slug)
}

/// Changes what is named, where an account may be so.
async fn change(db: &Db, set: Set) -> Result<(), Failure> {
    if set.name.is_none() && set.languages.is_empty() && set.timezone.is_none() && set.rate_limit.is_none() {
        let text = "name what is to change: --name, --language, --timezone or --rate-limit";
        return Err(Failure::Usage(text.to_owned()));
    }
    let context = Context::any_language(Clock::system().now());
    let mut tx = db.snapshot().await?;
    let id = account_of(&mut tx, set.account).await?;
    let known = accounts::store::read(&mut tx, id, &context).await?;
    tx.commit().await?;
    let mut wanted = known.ok_or_else(|| no_account(set.account))?;
    // Texts in it could be neither imported nor applied again.
    let given_up = |known: &&Locale| !set.languages.is_empty() && !set.languages.contains(*known);
    if let Some(given_up) = wanted.languages.iter().find(given_up) {
        return Err(Failure::Usage(format!(
            "--language: {given_up} is a language of the account, and texts may be in it: name it too"
        )));
    }
    set.apply(&mut wanted);
    let Account { name, languages, timezone, rate_limit, .. } = &wanted;
    read(set.account, &context, |object| write(object, (name, languages), (timezone, *rate_limit)))?;
    edit(db, set.account, move |account| set.apply(account)).await.map(drop)
}

impl Set {
    fn apply(&self, account: &mut Account) {
        if let Some(name) = &self.name {
            account.name.clone_from(name);
        }
        if let [default, ..] = *self.languages {
            account.languages.clone_from(&self.languages);
            account.default_language = default;
        }
        if let Some(timezone) = &self.timezone {
            account.timezone.clone_from(timezone);
        }
        account.rate_limit = self.rate_limit.unwrap_or(account.rate_limit);
    }
}

/// Reads an account like a record of a program file, so that the same is allowed.
fn read(slug: Slug, context: &Context, members: impl FnOnce(&mut Object<'_>)) -> Result<Account, Failure> {
    let text = document::object(members);
    let object = parse_object(text.as_bytes())?;
    let mut members = Members::closed(&object);
    let account = Account::read(&mut members, slug, context);
    members.finish().or(account).map_err(|violations| Failure::Usage(lines_of(&violations)))
}

fn write(object: &mut Object<'_>, (name, languages): (&str, &[Locale]), (timezone, rate_limit): (&str, i64)) {
    object.text("name", name);
    object.texts("languages", languages.iter().map(|locale| locale.code()));
    object.text("timezone", timezone);
    object.integer("rate_limit", rate_limit);
}

async fn append(tx: &mut Tx, id: AccountId, origin: &Origin, account: &Account, action: Action) -> Result<(), DbError> {
    let document = program::store::stored(account);
    let slug = account.slug;
    let change = Change { kind: Kind::Account, slug: slug.as_str(), action, events: &[], document };
    log::append(tx, id, origin, change).await.map(drop)
}

/// Changes an account, and gives whether anything changed; what is so already is no change.
async fn edit(db: &Db, slug: Slug, edit: impl Fn(&mut Account) + Send + Sync + 'static) -> Result<bool, Failure> {
    let id = account_of(&mut db.snapshot().await?, slug).await?;
    let state = (id, edit, operator(&Clock::system()));
    let done = db.write(id, state, |tx, (id, edit, origin)| {
        Box::pin(async move {
            // The head is locked before the account is read, so that no change of another command is lost.
            tx.head(*id).await?;
            let context = Context::any_language(origin.at);
            let Some(mut account) = accounts::store::read(tx, *id, &context).await? else {
                return Err(DbError::Failed("the account is gone".to_owned()));
            };
            let before = account.clone();
            edit(&mut account);
            if account == before {
                return Ok(Ok(false));
            }
            account.updated = origin.at;
            // An account that cannot be read is served no more.
            let wrong = program::store::violations::<Account>(&program::store::stored(&account), &context)?;
            if !wrong.is_empty() {
                return Ok(Err(Failure::Usage(lines_of(&wrong))));
            }
            append(tx, *id, origin, &account, Action::Updated).await?;
            accounts::store::save(tx, *id, &account).await.map(|()| Ok(true))
        })
    });
    done.await.map_err(|error| match error {
        DbError::Duplicate(_) => Failure::Failed("the host name belongs to another account".to_owned()),
        error => error.into(),
    })?
}

/// Has a value in a list, or not in it.
fn set(list: &mut Vec<String>, value: &str, wanted: bool) {
    match (list.iter().position(|known| known == value), wanted) {
        (None, true) => list.push(value.to_owned()),
        (Some(place), false) => drop(list.remove(place)),
        _ => {}
    }
}

async fn list(db: &Db, options: ListOptions) -> Result<(), Failure> {
    let context = Context::any_language(Clock::system().now());
    let mut table = Table::new(["slug", "state", "rate_limit", "name"]);
    accounts::store::each(db, |_, doc| {
        let account: Account = program::store::parse(doc, &context)?;
        let state = match (account.suspended, account.is_open()) {
            (true, _) => "suspended",
            (false, true) => "active",
            (false, false) => "api off",
        };
        table.add([json!(account.slug), json!(state), json!(account.rate_limit), json!(account.name)]);
        Ok(())
    })
    .await?;
    table.print(options)
}

async fn show(db: &Db, slug: Slug) -> Result<(), Failure> {
    let mut tx = db.snapshot().await?;
    let id = account_of(&mut tx, slug).await?;
    let account = accounts::store::read(&mut tx, id, &Context::any_language(Clock::system().now())).await?;
    let stored = program::store::stored(&account.ok_or_else(|| no_account(slug))?);
    let value: serde_json::Value = serde_json::from_str(&stored)?;
    say(&serde_json::to_string_pretty(&value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_a_list_once() {
        let mut list = vec!["a".to_owned()];
        set(&mut list, "b", true);
        set(&mut list, "b", true);
        assert_eq!(list, ["a", "b"]);
        set(&mut list, "a", false);
        set(&mut list, "a", false);
        assert_eq!(list, ["b"]);
    }

    #[test]
    fn a_host_name_has_no_port() {
        assert_eq!(host_name("Awards.Example.org").unwrap(), "awards.example.org");
        assert!(host_name("awards.example.org:80").is_err());
    }
}
