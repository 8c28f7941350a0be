//! What the body of a request says of a user. Pure.
//!
//! - The body is open: members that are not known are passed over, so that what was read can be sent back.
//! - What an update leaves out keeps its value. `roles`, `preferences` and `social_sharing` are replaced as they are given;
//!   `user_fields` are merged by field, and tables cell by cell. null or the empty string take an answer back.
//! - A role and a field must be live ones of the account; a field must be one about users.

use crate::program::Program;
use crate::program::fields::{Resource, merged, validate_answer};
use crate::program::roles::RoleType;
use crate::records::answers::Answers;
use crate::records::users::password::{Password, password};
use crate::records::users::rules::{self, filled_name, mobile};
use crate::records::users::{Confirmation, Origin, ROLES, User};
use kernel::input::email;
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Locale, Slug, Timestamp};

/// What a body says; what is `None` was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// An address that is taken away is not one that is left out.
#[allow(clippy::option_option)]
pub(crate) struct Changes {
    /// The first name.
    pub first_name: Option<String>,
    /// The last name.
    pub last_name: Option<String>,
    /// The e-mail address; `Some(None)` takes it away.
    pub email: Option<Option<String>>,
    /// The mobile number; `Some(None)` takes it away.
    pub mobile: Option<Option<String>>,
    /// The language.
    pub language: Option<Locale>,
    /// The roles.
    pub roles: Option<Vec<Slug>>,
    /// What the user agrees to, in the order of [`CONSENTS`].
    pub consents: [Option<bool>; 6],
    /// The preferences, as canonical JSON.
    pub preferences: Option<String>,
    /// What is shared elsewhere, as canonical JSON.
    pub social_sharing: Option<String>,
    /// The answers that were given; those that are null are taken back.
    pub user_fields: Vec<(Slug, Json<'static>)>,
}

/// The members that are flags.
const CONSENTS: [&str; 6] = [
    "analytics_cookies",
    "broadcast_emails",
    "marketing_cookies",
    "necessary_cookies",
    "notification_emails",
    "notification_sms",
];

/// The password of a body, where there is one and it is right. It is hashed before the rest is looked at.
#[must_use]
pub(crate) fn password_of(body: &JsonObject) -> Option<Password> {
    password(body.get("password")?).ok()
}

/// Reads the body of a new user.
pub(crate) fn read_create(body: &JsonObject, program: &Program) -> (Changes, Violations) {
    let mut members = Members::open(body);
    let first_name = members.required("first_name", filled_name);
    let last_name = members.required("last_name", filled_name);
    members.required("password", password);
    let changes = read(&mut members, program);
    let has_none = |contact: &Option<Option<String>>| contact.as_ref().is_none_or(Option::is_none);
    let mut violations = members.finish();
    // A contact that is wrong is told of as that alone.
    let is_told = violations.iter().any(|(member, _)| member == "email" || member == "mobile");
    if has_none(&changes.email) && has_none(&changes.mobile) && !is_told {
        violations.add("email", "is required where there is no mobile number");
    }
    (Changes { first_name, last_name, ..changes }, violations)
}

/// Reads the body of an update.
pub(crate) fn read_update(body: &JsonObject, program: &Program) -> (Changes, Violations) {
    let mut members = Members::open(body);
    let first_name = members.optional("first_name", filled_name);
    let last_name = members.optional("last_name", filled_name);
    members.optional("password", password);
    let changes = read(&mut members, program);
    (Changes { first_name, last_name, ..changes }, members.finish())
}

/// Reads what a new user and an update have in common.
fn read(members: &mut Members<'_>, program: &Program) -> Changes {
    let email = members.nullable("email", email);
    let mobile = members.nullable("mobile", mobile).map(Option::flatten);
    let language = members.optional("language", rules::language(&program.context.languages));
    let roles = members.optional("roles", input::slugs(ROLES));
    check_roles(members, program, roles.as_deref().unwrap_or_default());
    let consents = CONSENTS.map(|name| members.optional(name, input::flag));
    let preferences = members.optional("preferences", rules::object);
    let social_sharing = members.optional("social_sharing", rules::object);
    let user_fields = read_answers(members, program);
    let read = Changes { email, mobile, language, roles, consents, preferences, ..Changes::default() };
    Changes { social_sharing, user_fields, ..read }
}

fn check_roles(members: &mut Members<'_>, program: &Program, roles: &[Slug]) {
    for role in roles.iter().filter(|role| program.roles.live(**role).is_none()) {
        members.fault("roles", format!("{role} is no role of the account"));
    }
}

fn read_answers(members: &mut Members<'_>, program: &Program) -> Vec<(Slug, Json<'static>)> {
    let given = match members.get("user_fields") {
        None => return Vec::new(),
        Some(Json::Object(given)) => given,
        Some(_) => {
            members.fault("user_fields", "must be a map from field slug to value");
            return Vec::new();
        }
    };
    let mut answers = Vec::new();
    for (name, value) in given.iter() {
        let field = Slug::parse(name).and_then(|slug| program.fields.live(slug));
        match field.filter(|field| field.resource == Resource::Users) {
            None => members.fault(&format!("user_fields.{name}"), "is no field about users"),
            Some(field) => match validate_answer(field, value) {
                Ok(()) => answers.push((field.slug, value.clone().into_owned())),
                Err(wrong) => members.faults(&format!("user_fields.{name}"), &wrong),
            },
        }
    }
    answers
}

/// The answers after others were given.
fn answered(program: &Program, before: &Answers, given: &[(Slug, Json<'static>)]) -> Answers {
    let mut after = before.clone();
    for (slug, value) in given {
        if let Some(field) = program.fields.any(*slug) {
            after.set(*slug, merged(field.kind, before.get(*slug), value));
        }
    }
    after
}

/// The user that a body makes: of this slug and person, added now.
#[must_use]
pub(crate) fn create(program: &Program, changes: Changes, slug: Slug, person: &str, now: Timestamp) -> User {
    let user = User {
        slug,
        analytics_cookies: false,
        broadcast_emails: false,
        marketing_cookies: false,
        necessary_cookies: true,
        notification_emails: true,
        notification_sms: false,
        comments: String::new(),
        confirmation: Confirmation::Invited,
        confirmed_at: None,
        created_at: now,
        created_by: Origin::Api,
        email: None,
        first_name: String::new(),
        language: program.account.default_language,
        last_name: String::new(),
        mobile: None,
        roles: default_roles(program),
        updated: now,
        preferences: "{}".to_owned(),
        social_sharing: "{}".to_owned(),
        user_fields: Answers::default(),
        global_id: person.to_owned(),
        season_joined: program.active_season().map(|season| season.slug),
    };
    apply(program, &user, changes)
}

/// The user after an update; where nothing changes, as it was.
#[must_use]
pub(crate) fn update(program: &Program, before: &User, changes: Changes, now: Timestamp) -> User {
    let after = apply(program, before, changes);
    if after == *before { after } else { User { updated: now, ..after } }
}

/// A user who is given no role is an entrant: by the first role of that type, where the account has one.
fn default_roles(program: &Program) -> Vec<Slug> {
    let entrants = program.roles.all_live().filter(|role| role.kind == RoleType::Entrant);
    entrants.min_by_key(|role| (role.created, role.slug)).map(|role| role.slug).into_iter().collect()
}

fn apply(program: &Program, before: &User, changes: Changes) -> User {
    let mut user = before.clone();
    user.first_name = changes.first_name.unwrap_or(user.first_name);
    user.last_name = changes.last_name.unwrap_or(user.last_name);
    user.email = changes.email.unwrap_or(user.email);
    user.mobile = changes.mobile.unwrap_or(user.mobile);
    user.language = changes.language.unwrap_or(user.language);
    user.roles = changes.roles.unwrap_or(user.roles);
    for (held, given) in user.consents().into_iter().zip(changes.consents) {
        *held = given.unwrap_or(*held);
    }
    user.preferences = changes.preferences.unwrap_or(user.preferences);
    user.social_sharing = changes.social_sharing.unwrap_or(user.social_sharing);
    user.user_fields = answered(program, &user.user_fields, &changes.user_fields);
    user
}
