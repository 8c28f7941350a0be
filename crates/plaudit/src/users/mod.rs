//! Users: the people of an account, whatever they do in it.
//!
//! - A user's e-mail address and mobile number are unique in the account; of an address, case is no part.
//! - The name is the first and the last name, and is never given on its own.
//! - A user is invited until confirmed; a confirmed one may have the time of it.
//! - A user's name, e-mail address and global id stand in the documents of that user's records ([`Summary`]); whoever
//!   changes them writes those documents again in the same transaction.
//! - A user in the trash keeps the records, and keeps the name in them, but manages nothing.

mod rules;
pub mod store;

pub use rules::{Summary, email, full_name, normal_email};

use crate::document::Object;
use crate::entries::Answers;
use crate::ids::derived_uuid;
use crate::input::{self, Members};
use crate::kind::Kind;
use crate::program::{Context, SetupRecord};
use crate::text::{Locale, Slug, Timestamp};

/// The most characters of a first or last name.
pub const NAME_LENGTH: usize = 255;
/// The most characters of an e-mail address (RFC 5321).
pub const EMAIL_LENGTH: usize = 254;
/// The most characters of comments.
pub const COMMENTS_LENGTH: usize = 65_536;
/// The most roles of a user.
pub const ROLES: usize = 1_000;

/// What a user has agreed to, each on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Each is a member of its own, and none follows from another.
#[allow(clippy::struct_excessive_bools)]
pub struct Consents {
    /// Cookies that measure use.
    pub analytics_cookies: bool,
    /// Mail to everybody.
    pub broadcast_emails: bool,
    /// Cookies of advertisers.
    pub marketing_cookies: bool,
    /// Cookies without which nothing works.
    pub necessary_cookies: bool,
    /// Mail about the user's own records.
    pub notification_emails: bool,
    /// Text messages about the user's own records.
    pub notification_sms: bool,
}

impl Default for Consents {
    fn default() -> Self {
        Self {
            analytics_cookies: false,
            broadcast_emails: false,
            marketing_cookies: false,
            necessary_cookies: true,
            notification_emails: true,
            notification_sms: false,
        }
    }
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's slug.
    pub slug: Slug,
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The e-mail address, as it was given.
    pub email: Option<String>,
    /// The mobile number, E.164.
    pub mobile: Option<String>,
    /// A UUID that is the same wherever the user is imported.
    pub global_id: String,
    /// The language in which the user is addressed.
    pub language: Locale,
    /// The user's roles, in the order in which they were named.
    pub roles: Vec<Slug>,
    /// What the user has agreed to.
    pub consents: Consents,
    /// What managers note about the user.
    pub comments: String,
    /// Whether the user is confirmed; else invited.
    pub confirmed: bool,
    /// When the user was confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// `manual`, `registration`, `invited` or `api`.
    pub created_by: &'static str,
    /// The user's preferences: the canonical text of a JSON object.
    pub preferences: String,
    /// What the user shares elsewhere: the canonical text of a JSON object.
    pub social_sharing: String,
    /// The user's answers to the fields of users.
    pub user_fields: Answers,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When the user was last changed.
    pub updated: Timestamp,
}

impl User {
    /// The first and the last name.
    #[must_use]
    pub fn name(&self) -> String {
        full_name(&self.first_name, &self.last_name)
    }

    /// What other records show of the user.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            slug: self.slug,
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            email: self.email.clone(),
            global_id: self.global_id.clone(),
        }
    }
}

fn read_consents(members: &mut Members<'_>) -> Consents {
    let default = Consents::default();
    let mut flag = |name, default| members.optional(name, input::flag).unwrap_or(default);
    Consents {
        analytics_cookies: flag("analytics_cookies", default.analytics_cookies),
        broadcast_emails: flag("broadcast_emails", default.broadcast_emails),
        marketing_cookies: flag("marketing_cookies", default.marketing_cookies),
        necessary_cookies: flag("necessary_cookies", default.necessary_cookies),
        notification_emails: flag("notification_emails", default.notification_emails),
        notification_sms: flag("notification_sms", default.notification_sms),
    }
}

/// Whether the user is confirmed, and when that was; left out, a user with a time of confirmation is.
fn read_confirmation(members: &mut Members<'_>) -> (bool, Option<Timestamp>) {
    let confirmed = members.optional("confirmation", input::one_of(&[("Confirmed", true), ("Invited", false)]));
    let confirmed_at = members.nullable("confirmed_at", input::time).flatten();
    if confirmed == Some(false) && confirmed_at.is_some() {
        members.fault("confirmed_at", "must be null while the user is Invited");
    }
    (confirmed.unwrap_or(confirmed_at.is_some()), confirmed_at)
}

/// The members that are computed may be given, and must then agree.
fn check_name(members: &mut Members<'_>, first_name: Option<&str>, last_name: Option<&str>) {
    let stated = members.optional("name", input::text(2 * NAME_LENGTH + 1));
    if let (Some(stated), Some(first_name), Some(last_name)) = (stated, first_name, last_name) {
        let computed = full_name(first_name, last_name);
        if stated != computed {
            members.fault("name", format!("must be the first and the last name: {computed}"));
        }
    }
}

impl SetupRecord for User {
    const KIND: Kind = Kind::User;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let first_name = members.required("first_name", input::text(NAME_LENGTH));
        let last_name = members.required("last_name", input::text(NAME_LENGTH));
        check_name(members, first_name.as_deref(), last_name.as_deref());
        let email = members.nullable("email", rules::email).flatten();
        let mobile = members.nullable("mobile", rules::mobile).flatten().flatten();
        let global_id = members.optional("global_id", rules::uuid);
        let language = members.optional("language", rules::language(&context.languages));
        let roles = members.optional("roles", input::list(ROLES, input::slug));
        let consents = read_consents(members);
        let comments = members.optional("comments", input::text(COMMENTS_LENGTH));
        let (confirmed, confirmed_at) = read_confirmation(members);
        let created_by = members.optional("created_by", input::one_of(rules::ORIGINS));
        let preferences = members.optional("preferences", rules::object);
        let social_sharing = members.optional("social_sharing", rules::object);
        let user_fields = members.optional("user_fields", Answers::read);
        let created_at = members.optional("created_at", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            first_name: first_name?,
            last_name: last_name?,
            email,
            mobile,
            global_id: global_id.unwrap_or_else(|| derived_uuid(Kind::User, slug)),
            language: language.unwrap_or(context.default_language),
            roles: roles.unwrap_or_default(),
            consents,
            comments: comments.unwrap_or_default(),
            confirmed,
            confirmed_at,
            created_by: created_by.unwrap_or("manual"),
            preferences: preferences.unwrap_or_else(|| "{}".to_owned()),
            social_sharing: social_sharing.unwrap_or_else(|| "{}".to_owned()),
            user_fields: user_fields.unwrap_or_default(),
            created_at,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.text("first_name", &self.first_name);
        object.text("last_name", &self.last_name);
        object.optional_text("email", self.email.as_deref());
        object.text("mobile", self.mobile.as_deref().unwrap_or_default());
        object.text("global_id", &self.global_id);
        object.text("language", self.language.code());
        object.texts("roles", self.roles.iter().map(Slug::as_str));
        object.flag("analytics_cookies", self.consents.analytics_cookies);
        object.flag("broadcast_emails", self.consents.broadcast_emails);
        object.flag("marketing_cookies", self.consents.marketing_cookies);
        object.flag("necessary_cookies", self.consents.necessary_cookies);
        object.flag("notification_emails", self.consents.notification_emails);
        object.flag("notification_sms", self.consents.notification_sms);
        object.text("comments", &self.comments);
        object.text("confirmation", if self.confirmed { "Confirmed" } else { "Invited" });
        object.optional_time("confirmed_at", self.confirmed_at);
        object.text("created_by", self.created_by);
        object.raw("preferences", &self.preferences);
        object.raw("social_sharing", &self.social_sharing);
        object.raw("user_fields", &self.user_fields.to_json());
        object.time("created_at", self.created_at);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        self.roles.iter().map(|role| ("roles", Kind::Role, *role)).collect()
    }
}
