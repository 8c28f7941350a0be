//! Accounts: the tenants of the service.
//!
//! - An account has a set of languages and a default among them, a time zone, features, a rate limit and host names.
//! - A host name belongs to one account. A key of another account than the one whose host name was addressed is refused.
//! - Its `domains` are shown as they are stated; where none are, its host names are.
//! - A suspended account, and one without the feature `api`, is refused with the same answer as an unknown key.
//! - Accounts are set up by the operator and by program files; the interface only reads them.

mod members;
pub(crate) mod rules;
pub mod store;

pub use rules::valid_host;

use super::{Context, Identified, Member, RecordMembers, SetupRecord};
use kernel::document::Object;
use kernel::ids::derived_uuid;
use kernel::input::{self, Members};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp};

/// The feature that opens the interface to an account's keys.
pub const FEATURE_API: &str = "api";
/// Requests a minute of a key, where the account sets no other limit.
pub const DEFAULT_RATE_LIMIT: i64 = 60;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: String,
    /// A UUID that is the same wherever the account is imported.
    pub global_id: String,
    /// The language of an answer when none is asked for.
    pub default_language: Locale,
    /// Its languages, in its own order.
    pub languages: Vec<Locale>,
    /// Its IANA time zone.
    pub timezone: String,
    /// What is switched on for it.
    pub features: Vec<String>,
    /// Whether its keys are refused.
    pub suspended: bool,
    /// Requests a minute of each of its keys.
    pub rate_limit: i64,
    /// The host names that are its own.
    pub hosts: Vec<String>,
    /// Its web addresses, for display.
    pub domains: Vec<String>,
    /// The user who owns it.
    pub owner: Option<Slug>,
    /// The product that it has, for display.
    pub product: String,
    /// The region that serves it; `None` is the region of the deployment.
    pub region: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl Account {
    /// Whether its keys may use the interface.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.suspended && self.features.iter().any(|feature| feature == FEATURE_API)
    }

    /// Its time zone; UTC where this machine does not know it.
    #[must_use]
    pub fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::get(&self.timezone).unwrap_or(jiff::tz::TimeZone::UTC)
    }

    /// What reading a record of this account depends on.
    #[must_use]
    pub fn context(&self, now: Timestamp) -> Context {
        Context { languages: self.languages.clone(), default_language: self.default_language, now }
    }
}

fn locale(json: &Json) -> Result<Locale, String> {
    let code = json.get("code").unwrap_or(json);
    code.as_str().and_then(Locale::parse).ok_or_else(|| "must be a locale code such as en_GB".to_owned())
}

fn timezone(json: &Json) -> Result<String, String> {
    let name = input::text(64)(json)?;
    match jiff::tz::TimeZone::get(&name) {
        Ok(_) => Ok(name),
        Err(_) => Err(format!("{name} is no IANA time zone")),
    }
}

fn host(json: &Json) -> Result<String, String> {
    let name = input::text(253)(json)?.to_ascii_lowercase();
    if valid_host(&name) { Ok(name) } else { Err(format!("{name} is no host name")) }
}

impl RecordMembers for Account {
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name = members.required("name", input::filled_text(255));
        let global_id = members.optional("global_id", input::text(64));
        let languages = members.optional("languages", input::list(64, locale));
        let default_language = members.optional("default_language", locale);
        let timezone = members.optional("timezone", timezone);
        let features = members.optional("features", input::list(64, input::text(64)));
        let suspended = members.optional("suspended", input::flag);
        let rate_limit = members.optional("rate_limit", input::integer(1..=1_000_000_000));
        let hosts = members.optional("hosts", input::list(1_000, host));
        let domains = members.optional("domains", input::list(1_000, input::text(255)));
        let owner = members.nullable("owner", input::slug);
        let product = members.optional("product", input::text(255));
        let region = members.nullable("region", input::one_of(rules::REGIONS));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        let languages = languages.unwrap_or_else(|| vec![default_language.unwrap_or(Locale::EnGb)]);
        let default_language = default_language.or_else(|| languages.first().copied());
        if !default_language.is_some_and(|default| languages.contains(&default)) {
            members.fault("default_language", "must be one of the account's languages");
        }
        Some(Self {
            slug,
            name: name?,
            global_id: global_id.unwrap_or_else(|| derived_uuid(Self::KIND, slug)),
            default_language: default_language?,
            languages,
            timezone: timezone.unwrap_or_else(|| "UTC".to_owned()),
            features: features.unwrap_or_else(|| vec![FEATURE_API.to_owned()]),
            suspended: suspended.unwrap_or(false),
            rate_limit: rate_limit.unwrap_or(DEFAULT_RATE_LIMIT),
            hosts: hosts.unwrap_or_default(),
            domains: domains.unwrap_or_default(),
            owner: owner.flatten(),
            product: product.unwrap_or_else(|| "Plaudit".to_owned()),
            region: region.flatten().map(str::to_owned),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.text("name", &self.name);
        object.text("global_id", &self.global_id);
        object.text("default_language", self.default_language.code());
        object.texts("languages", self.languages.iter().map(|locale| locale.code()));
        object.text("timezone", &self.timezone);
        object.texts("features", &self.features);
        object.flag("suspended", self.suspended);
        object.integer("rate_limit", self.rate_limit);
        object.texts("hosts", &self.hosts);
        object.texts("domains", &self.domains);
        object.optional_slug("owner", self.owner);
        object.text("product", &self.product);
        object.optional_text("region", self.region.as_deref());
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        self.owner.map(|owner| ("owner", Kind::User, owner)).into_iter().collect()
    }
}

impl Identified for Account {
    fn slug(&self) -> Slug {
        self.slug
    }
}

impl SetupRecord for Account {
    const KIND: Kind = Kind::Account;
}
