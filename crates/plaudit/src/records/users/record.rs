//! The program-file form of users.

use crate::program::{Context, Identified, RecordMembers, SetupRecord};
use crate::records::answers::Answers;
use crate::records::users::{COMMENTS_LENGTH, Consents, NAME_LENGTH, ROLES, User, full_name, rules};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

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

impl RecordMembers for User {
    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let first_name = members.required("first_name", input::text(NAME_LENGTH));
        let last_name = members.required("last_name", input::text(NAME_LENGTH));
        check_name(members, first_name.as_deref(), last_name.as_deref());
        let email = members.nullable("email", input::email).flatten();
        let mobile = members.nullable("mobile", rules::mobile).flatten().flatten();
        let global_id = members.optional("global_id", input::uuid);
        let season_joined = members.nullable("season_joined", input::slug).flatten();
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
            global_id: global_id.unwrap_or_default(),
            season_joined,
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
        object.optional_slug("season_joined", self.season_joined);
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

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        let roles = self.roles.iter().map(|role| ("roles", Kind::Role, *role));
        roles.chain(self.season_joined.map(|season| ("season_joined", Kind::Season, season))).collect()
    }
}

impl Identified for User {
    fn slug(&self) -> Slug {
        self.slug
    }
}

impl SetupRecord for User {
    const KIND: Kind = Kind::User;
}
