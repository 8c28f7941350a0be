//! The account that a file is about.

use super::Error;
use super::fault::SourceLocation;
use super::import::{Import, Item};
use super::reading::Held;
use crate::program::accounts::{self, Account};
use crate::program::{Context, RecordMembers as _, store};
use crate::records::StoredRow;
use db::DbError;
use kernel::document;
use kernel::input;
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug};

/// The account of a file as it will be.
#[derive(Debug)]
pub(super) struct AccountOfFile {
    /// As the file says it, or as it is stored where the file has no record of it.
    pub(super) account: Account,
    /// As it is stored, where it exists.
    pub(super) stored: Option<Account>,
    /// Where the file has its record.
    pub(super) location: Option<SourceLocation>,
}

impl Import<'_> {
    /// Finds out which account the file is about, and what it will be. `None` where it is about none.
    pub(super) async fn account(&mut self, named: Option<Slug>) -> Result<Option<AccountOfFile>, Error> {
        let mut records = std::mem::take(&mut self.reading.accounts).into_iter();
        let record = match records.next() {
            Some(record) => Some(record),
            None => self.nameless_account(named),
        };
        let slug = record.as_ref().and_then(|record| Slug::parse(&record.location.name)).or(named);
        let Some(slug) = slug else {
            self.faults.file("is about no account: it has no account record, and --account names none");
            return Ok(None);
        };
        if let (Some(record), Some(named)) = (&record, named.filter(|named| *named != slug)) {
            self.faults.member(&record.location, "slug", format!("is not the account {named} that --account names"));
        }
        for other in records.filter(|other| other.location.name != slug.as_str()) {
            self.faults.member(&other.location, "slug", format!("the file is about the account {slug} already"));
        }
        let open = Context::any_language(self.origin.at);
        let stored = self.stored_account(slug, &open).await?;
        if stored.is_none() && !self.take_over_staged(slug).await? {
            let busy = "is being imported, or was until an import was cut off just now: try again in a minute";
            self.faults.file(format!("is about the account {slug}, which {busy}"));
            return Ok(None);
        }
        let Some(Held { location, object }) = record else {
            if stored.is_none() {
                self.faults.file(format!("is about the account {slug}, which does not exist and has no record here"));
            }
            return Ok(stored.map(|account| AccountOfFile {
                account: account.clone(),
                stored: Some(account),
                location: None,
            }));
        };
        let languages = object.get("languages").cloned();
        let found = stored.as_ref().map(stored_form);
        let mut item = Item::new(location, object, found, &mut self.faults);
        if self.apply.is_some() {
            item.keep(super::setup::kept(Account::MEMBERS));
        }
        if item.deleted {
            self.faults.member(&item.location, "deleted", "must be false: an account has no trash");
        }
        let is_stored = |account: &Account, _: &StoredRow| stored.as_ref() == Some(account);
        let Some((account, _)) = item.read_record::<Account>(&open, is_stored, &mut self.faults) else {
            let account = stored.clone().map_or_else(|| stand_in(slug, languages.as_ref(), &open), Ok)?;
            return Ok(Some(AccountOfFile { account, stored, location: None }));
        };
        self.check_hosts(&item.location, &account).await?;
        // What was stored before it was asked for stays.
        let before = stored.as_ref().map(|stored| stored.global_id.as_str());
        if before != Some(&account.global_id)
            && let Err(message) = input::uuid(&Json::String(account.global_id.as_str().into()))
        {
            self.faults.member(&item.location, "global_id", message);
        }
        Ok(Some(AccountOfFile { account, stored, location: Some(item.location) }))
    }

    /// The account as it is stored. Whoever changes it holds its head, and is its only writer.
    async fn stored_account(&mut self, slug: Slug, context: &Context) -> Result<Option<Account>, Error> {
        let Some(id) = accounts::store::find(&mut self.tx, slug).await? else { return Ok(None) };
        self.id = id;
        if !self.apply.is_some_and(|mode| mode.dry_run) {
            self.tx.head(id).await?;
        }
        Ok(accounts::store::read(&mut self.tx, id, context).await?)
    }

    /// Makes or changes the account, unless it is what is stored.
    pub(super) async fn write_account(&mut self, found: &AccountOfFile) -> Result<(), Error> {
        let AccountOfFile { account, stored, .. } = found;
        if !self.faults.is_empty() || stored.as_ref() == Some(account) {
            return Ok(());
        }
        if stored.is_some() {
            accounts::store::save(&mut self.tx, self.id, account).await?;
        } else {
            self.id = accounts::store::create(&mut self.tx, account).await?;
            if self.apply.is_none() {
                self.stage_account().await?;
            }
        }
        let action = self.action(stored.as_ref().map(|_| false), false);
        self.log_as(action, (Kind::Account, account.slug.as_str()), store::stored(account)).await?;
        Ok(())
    }

    /// An account record without a slug is that of the account which `--account` names; an import makes a new one where
    /// none is named.
    fn nameless_account(&mut self, named: Option<Slug>) -> Option<Held> {
        let (accounts, others) = std::mem::take(&mut self.reading.nameless_setup)
            .into_iter()
            .partition::<Vec<_>, _>(|held| held.location.kind == Kind::Account);
        self.reading.nameless_setup = others;
        let mut record = None;
        for Held { mut location, object } in accounts {
            if named.is_none() && self.apply.is_some() {
                self.faults.member(
                    &location,
                    "slug",
                    "is required, here or as --account: it says which account this is",
                );
            }
            location.name = named.unwrap_or_else(|| self.deployment.ids.slug()).to_string();
            if record.is_some() {
                self.faults.member(&location, "slug", "the file is about another account already");
                continue;
            }
            *self.reading.counts.entry(Kind::Account).or_default() += 1;
            record = Some(Held { location, object });
        }
        record
    }

    async fn check_hosts(&mut self, location: &SourceLocation, account: &Account) -> Result<(), Error> {
        for host in &account.hosts {
            let owner = accounts::store::of_host(self.deployment.db, host).await?;
            if owner.is_some_and(|owner| owner != self.id) {
                self.faults.member(location, "hosts", format!("{host} belongs to another account"));
            }
        }
        if account.hosts.iter().enumerate().any(|(index, host)| account.hosts[..index].contains(host)) {
            self.faults.member(location, "hosts", "names a host twice");
        }
        Ok(())
    }

    /// The owner of the account is one of its users.
    pub(super) async fn owner(&mut self, found: &AccountOfFile) -> Result<(), Error> {
        let Some(owner) = found.account.owner else { return Ok(()) };
        if self.has(Kind::User, owner.as_str()).await? {
            return Ok(());
        }
        let message = format!("there is no user {owner}");
        if let Some(location) = &found.location {
            self.faults.member(location, "owner", message);
        } else {
            let location = SourceLocation::new(0, Kind::Account, found.account.slug.as_str());
            self.faults.stored(None, &location, "owner", &message);
        }
        Ok(())
    }
}

fn stored_form(account: &Account) -> StoredRow {
    StoredRow { doc: store::stored(account), ..StoredRow::default() }
}

/// Stands for an account whose record is wrong while the other records are checked, in the languages that can be read.
fn stand_in(slug: Slug, languages: Option<&Json>, context: &Context) -> Result<Account, DbError> {
    let codes = languages.and_then(Json::as_array).unwrap_or_default();
    let codes = codes.iter().filter_map(|json| json.get("code").unwrap_or(json).as_str());
    let mut languages: Vec<Locale> = codes.filter_map(Locale::parse).collect();
    if languages.is_empty() {
        languages = Locale::ALL.to_vec();
    }
    let stored = document::object(|object| {
        object.slug("slug", slug);
        object.text("name", slug.as_str());
        object.texts("languages", languages.iter().map(|locale| locale.code()));
    });
    store::parse(&stored, context)
}
