//! The account that a file is about.

use super::Error;
use super::fault::Place;
use super::import::{Import, Item};
use super::reading::Held;
use super::store::Found;
use crate::kind::Kind;
use crate::program::accounts::{self, Account};
use crate::program::{Context, store};
use crate::text::{Json, JsonObject, Locale, Slug};

impl Import<'_> {
    /// Finds out which account the file is about, and makes or changes it. `None` where it is about none.
    pub(super) async fn account(&mut self, named: Option<Slug>) -> Result<Option<(Slug, Account)>, Error> {
        let mut records = std::mem::take(&mut self.reading.accounts).into_iter();
        let record = match records.next() {
            Some(record) => Some(record),
            None => self.nameless_account(named)?,
        };
        let slug = record.as_ref().and_then(|record| Slug::parse(&record.place.name)).or(named);
        let Some(slug) = slug else {
            self.faults.file("is about no account: it has no account record, and --account names none");
            return Ok(None);
        };
        if let (Some(record), Some(named)) = (&record, named.filter(|named| *named != slug)) {
            self.faults.member(&record.place, "slug", format!("is not the account {named} that --account names"));
        }
        for other in records.filter(|other| other.place.name != slug.as_str()) {
            self.faults.member(&other.place, "slug", format!("the file is about the account {slug} already"));
        }
        let id = accounts::store::find(&mut self.tx, slug).await?;
        let open = Context { languages: Locale::ALL.to_vec(), default_language: Locale::EnGb, now: self.origin.at };
        let stored = match id {
            Some(id) => {
                self.id = id;
                // Whoever holds the head is the account's only writer.
                self.tx.head(id).await?;
                accounts::store::read(&mut self.tx, id, &open).await?
            }
            None => None,
        };
        let Some(Held { place, object }) = record else {
            if stored.is_none() {
                self.faults.file(format!("is about the account {slug}, which does not exist and has no record here"));
            }
            return Ok(stored.map(|account| (slug, account)));
        };
        let languages = languages_of(&object);
        let found = stored.as_ref().map(|stored| Found {
            deleted: false,
            doc: store::stored(stored),
            more: String::new(),
            flag: false,
        });
        let mut item = Item::new(place, object, found, &mut self.faults);
        if item.deleted {
            self.faults.member(&item.place, "deleted", "must be false: an account has no trash");
        }
        let is_stored = |account: &Account, _: &Found| stored.as_ref() == Some(account);
        let read = item.read_current::<Account>(&open, is_stored, &mut self.faults);
        let Some((account, is_same)) = read else {
            return Ok(Some((slug, stored.unwrap_or_else(|| stand_in(slug, languages, &open)))));
        };
        self.check_hosts(&item.place, &account).await?;
        if self.faults.is_empty() && !is_same {
            if stored.is_some() {
                accounts::store::save(&mut self.tx, self.id, &account).await?;
            } else {
                self.id = accounts::store::create(&mut self.tx, &account).await?;
            }
            self.log(Kind::Account, slug.as_str(), store::stored(&account)).await?;
        }
        Ok(Some((slug, account)))
    }

    /// An account record without a slug is that of the account which `--account` names, or of a new one.
    fn nameless_account(&mut self, named: Option<Slug>) -> Result<Option<Held>, Error> {
        let mut nameless = std::mem::take(&mut self.reading.nameless).read()?;
        let mut record = None;
        while let Some(waiting) = nameless.next()? {
            if waiting.kind != Kind::Account {
                self.reading.nameless.push(waiting.line, waiting.kind, &waiting.json)?;
                continue;
            }
            let Ok(object) = crate::http::json_body::parse_object(&waiting.json) else { continue };
            let slug = named.unwrap_or_else(|| self.deployment.ids.slug());
            let place = Place { line: waiting.line, kind: Kind::Account, name: slug.to_string() };
            if record.is_some() {
                self.faults.member(&place, "slug", "the file is about another account already");
            } else {
                *self.reading.counts.entry(Kind::Account).or_default() += 1;
                record = Some(Held { place, object: object.into_owned() });
            }
        }
        Ok(record)
    }

    async fn check_hosts(&mut self, place: &Place, account: &Account) -> Result<(), Error> {
        for host in &account.hosts {
            let owner = accounts::store::of_host(self.deployment.db, host).await?;
            if owner.is_some_and(|owner| owner != self.id) {
                self.faults.member(place, "hosts", format!("{host} belongs to another account"));
            }
        }
        if account.hosts.iter().enumerate().any(|(index, host)| account.hosts[..index].contains(host)) {
            self.faults.member(place, "hosts", "names a host twice");
        }
        Ok(())
    }

    /// The owner of the account is one of its users.
    pub(super) async fn owner(&mut self, account: &Account) -> Result<(), Error> {
        let Some(owner) = account.owner else { return Ok(()) };
        if !self.has(Kind::User, owner.as_str()).await? {
            let name = account.slug.to_string();
            let line = self.reading.names.line_of(super::store::Space::Kind(Kind::Account), &name)?;
            let place = Place { line: line.unwrap_or_default(), kind: Kind::Account, name };
            self.faults.stored(line, &place, "owner", &format!("there is no user {owner}"));
        }
        Ok(())
    }
}

/// What of the languages can be read, so that the other records can be checked although the account's is wrong.
fn languages_of(object: &JsonObject) -> Vec<Locale> {
    let locale = |json: &Json| json.get("code").unwrap_or(json).as_str().and_then(Locale::parse);
    let languages: Vec<_> =
        object.get("languages").and_then(Json::as_array).unwrap_or_default().iter().filter_map(locale).collect();
    if languages.is_empty() { Locale::ALL.to_vec() } else { languages }
}

/// Stands for an account whose record is wrong while the other records are checked.
fn stand_in(slug: Slug, languages: Vec<Locale>, context: &Context) -> Account {
    Account {
        slug,
        name: String::new(),
        global_id: String::new(),
        default_language: languages.first().copied().unwrap_or(context.default_language),
        languages,
        timezone: "UTC".to_owned(),
        features: Vec::new(),
        suspended: false,
        rate_limit: accounts::DEFAULT_RATE_LIMIT,
        hosts: Vec::new(),
        domains: Vec::new(),
        owner: None,
        product: String::new(),
        region: None,
        created: context.now,
        updated: context.now,
    }
}
