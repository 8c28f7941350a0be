//! Accounts: the tenants of the service.
//!
//! - An account has a set of languages and a default among them, a time zone, features, a rate limit and host names.
//! - A host name belongs to one account. A key of another account than the one whose host name was addressed is refused.
//! - Its `domains` are shown as they are stated; where none are, its host names are.
//! - A suspended account, and one without the feature `api`, is refused with the same answer as an unknown key.
//! - Accounts are set up by the operator and by program files; the interface only reads them.

mod commerce;
pub(crate) mod rules;
pub mod store;

pub use commerce::{ProcessingFee, Seller, TaxRules};
pub use rules::valid_host;

use super::{Context, Item, Member, MemberValue, Record, Shape, Texts, names};
use kernel::document::Object;
use kernel::ids::derived_uuid;
use kernel::input::{self, Members, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Currency, Locale, Points, Slug, Timestamp};

/// The feature that opens the interface to an account's keys.
pub const FEATURE_API: &str = "api";
/// Requests a minute of a key, where the account sets no other limit.
pub const DEFAULT_RATE_LIMIT: i64 = 60;

const LOCALE: Shape = Shape::OneOf(locales);
const LANGUAGES_SHOWN: Shape = Shape::List(&Shape::Component("LanguageCode"), 64);

/// An account. Commands change it as well, so that what a record leaves out stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = check_account(default_language, languages, currency, processing_fee))]
pub struct Account {
    /// Its slug.
    pub slug: Slug,
    /// What it is called.
    #[member(FilledText(255), required)]
    pub name: String,
    /// A UUID that is the same wherever the account is.
    #[member(Text(64), default = derived_uuid(Kind::Account, slug), kept)]
    pub global_id: String,
    /// The language of an answer when none is asked for; the first one where it is left out.
    #[member(default = first_language(members), kept, hidden)]
    pub default_language: Locale,
    /// Its languages, in its own order.
    #[member(List(&Locale::SHAPE, 64), default = vec![*default_language.as_ref()?], kept, shown_as(&LANGUAGES_SHOWN))]
    pub languages: Vec<Locale>,
    /// Its IANA time zone, such as Europe/Berlin; UTC if left out.
    #[member(Text(64), read = timezone, default = "UTC".to_owned(), kept)]
    pub timezone: String,
    /// What is switched on for it; `[api]` where it is left out.
    #[member(List(&Shape::Text(64), 64), default = vec![FEATURE_API.to_owned()], kept, hidden)]
    pub features: Vec<String>,
    /// Whether its keys are refused.
    #[member(kept, hidden)]
    pub suspended: bool,
    /// Requests a minute of each of its keys; 60 where it is left out.
    #[member(Integer(1, 1_000_000_000), default = DEFAULT_RATE_LIMIT, kept, hidden)]
    pub rate_limit: i64,
    /// The host names that are its own.
    #[member(List(&Shape::Text(253), 1_000), read = input::list(1_000, host), kept, hidden)]
    pub hosts: Vec<String>,
    /// Its web addresses, for display.
    #[member(List(&Shape::Text(255), 1_000), kept)]
    pub domains: Vec<String>,
    /// The user who owns it.
    #[member(Ref(Kind::User), kept, shown_as(&Shape::Component("Owner")))]
    pub owner: Option<Slug>,
    /// The product that it has, for display.
    #[member(Text(255), default = "Plaudit".to_owned(), kept)]
    pub product: String,
    /// The region that serves it; null is the region of the deployment.
    #[member(OneOf(|| names(rules::REGIONS)), read = region, kept, never_null)]
    pub region: Option<String>,
    /// The currency of orders that name none; null is the first one, by its code, that prices of the season have.
    #[member(kept, hidden)]
    pub currency: Option<Currency>,
    /// Who sells, as invoices say it.
    #[member(kept, hidden)]
    pub seller: Seller,
    /// What an order costs besides its lines.
    #[member(kept, hidden)]
    pub processing_fee: ProcessingFee,
    /// How taxes are charged.
    #[member(kept, hidden)]
    pub tax_rules: TaxRules,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

impl Account {
    /// Whether its keys may use the interface.
    pub fn is_open(&self) -> bool {
        !self.suspended && self.features.iter().any(|feature| feature == FEATURE_API)
    }

    /// Its time zone; UTC where this machine does not know it.
    pub fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::get(&self.timezone).unwrap_or(jiff::tz::TimeZone::UTC)
    }

    /// What reading a record of this account depends on.
    pub fn context(&self, now: Timestamp) -> Context {
        Context { languages: self.languages.clone(), default_language: self.default_language, now }
    }
}

/// The codes of all locales.
pub fn locales() -> Vec<&'static str> {
    Locale::ALL.iter().map(|locale| locale.code()).collect()
}

/// A locale is its code, or the object with a code that a read shows.
impl MemberValue for Locale {
    const SHAPE: Shape =
        Shape::Either(&[LOCALE, Shape::OpenObject(&[Member::required("code", LOCALE, "The code of the locale.")])]);

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        let code = json.get("code").unwrap_or(json);
        let locale = code.as_str().and_then(Locale::parse);
        locale.ok_or_else(|| "must be a locale code such as en_GB".to_owned().into())
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.text(member.name, self.code());
    }
}

impl Item for Locale {}

/// The first language that a record states, where it can be read.
fn first_language(members: &mut Members<'_>) -> Locale {
    let first = members.get("languages").and_then(|languages| languages.as_array()?.first());
    let code = first.and_then(|json| json.get("code").unwrap_or(json).as_str());
    code.and_then(Locale::parse).unwrap_or(Locale::EnGb)
}

/// The default language is one of the account's, and the fixed fee an amount of its currency.
fn check_account(
    members: &mut Members<'_>,
    default_language: Option<&Locale>,
    languages: Option<&Vec<Locale>>,
    currency: Option<&Option<Currency>>,
    fee: Option<&ProcessingFee>,
) {
    if !default_language.zip(languages).is_some_and(|(default, languages)| languages.contains(default)) {
        members.fault("default_language", "must be one of the account's languages");
    }
    let (currency, fee) = (currency.copied().flatten(), fee.copied().unwrap_or_default());
    match currency {
        None if fee.fixed != Points::ZERO => members.fault("currency", "is required where the processing fee is fixed"),
        Some(currency) if fee.fixed_in(currency, Some(currency)).is_none() => {
            members.fault("processing_fee", format!("must have a fixed amount in {currency}"));
        }
        _ => {}
    }
}

fn region(json: &Json) -> Result<Option<String>, String> {
    input::one_of(rules::REGIONS)(json).map(|region| Some(region.to_owned()))
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
