//! What the body of a request says of a user. Pure.
//!
//! - The body is open: members that are not known are passed over, so that what was read can be sent back.
//! - What an update leaves out keeps its value. `roles`, `preferences` and `social_sharing` are replaced as they are given;
//!   `user_fields` are merged by field, and tables cell by cell. null or the empty string take an answer back.
//! - A role and a field must be live ones of the account; a field must be one about users.

use crate::program::fields::Resource;
use crate::program::roles::RoleType;
use crate::program::{Context, Program};
use crate::records::answers::{Answers, Asked, given_to};
use crate::records::users::password::{Password, password};
use crate::records::users::{Changes, Origin, User};
use kernel::input::{Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// The password of a body, where there is one and it is right. It is hashed before the rest is looked at.
pub(crate) fn password_of(body: &JsonObject) -> Option<Password> {
    password(body.get("password")?).ok()
}

/// What the answers of a user are given to.
const ASKED: Asked = Asked { member: "user_fields", resource: Resource::Users, form: None, tab: None, category: None };

/// What a body says of a user.
pub(crate) struct Given {
    changes: Changes,
    /// The answers after those of the body were given, where it has any.
    user_fields: Option<Answers>,
}

/// Reads the body of an update, or that of a new user, before whom there is none.
pub(crate) fn read(body: &JsonObject, before: Option<&User>, program: &Program) -> (Given, Violations) {
    let (mut members, is_new) = (Members::open(body), before.is_none());
    let mut changes = Changes::read_from(&mut members, is_new, &program.context);
    if is_new {
        members.required("password", password);
    } else {
        members.optional("password", password);
    }
    for role in changes.roles.iter().flatten().filter(|role| program.roles.live(**role).is_none()) {
        members.fault("roles", format!("{role} is no role of the account"));
    }
    let mut violations = members.finish();
    let (none, given) = (Answers::default(), changes.user_fields.take());
    let had = before.map_or(&none, |before| &before.user_fields);
    let user_fields = given.map(|given| given_to(program, ASKED, had, &given, &mut violations));
    let has_none = |contact: &Option<Option<String>>| contact.as_ref().is_none_or(Option::is_none);
    // A contact that is wrong is told of as that alone.
    let is_told = violations.iter().any(|(member, _)| member == "email" || member == "mobile");
    if is_new && has_none(&changes.email) && has_none(&changes.mobile) && !is_told {
        violations.add("email", "is required where there is no mobile number");
    }
    (Given { changes, user_fields }, violations)
}

/// The user that a body makes: of this slug and person, added now.
pub(crate) fn create(program: &Program, given: Given, slug: Slug, person: &str, now: Timestamp) -> Option<User> {
    let context = Context { now, ..program.context.clone() };
    let user = User {
        created_by: Origin::Api,
        roles: default_roles(program),
        global_id: person.to_owned(),
        season_joined: program.active_season().map(|season| season.slug),
        ..User::blank(slug, String::new(), String::new(), &context)?
    };
    Some(apply(&user, given))
}

/// The user after an update; where nothing changes, as it was.
pub(crate) fn update(before: &User, given: Given, now: Timestamp) -> User {
    let after = apply(before, given);
    if after == *before { after } else { User { updated: now, ..after } }
}

/// A user who is given no role is an entrant: by the first role of that type, where the account has one.
fn default_roles(program: &Program) -> Vec<Slug> {
    let entrants = program.roles.all_live().filter(|role| role.kind == RoleType::Entrant);
    entrants.min_by_key(|role| (role.created, role.slug)).map(|role| role.slug).into_iter().collect()
}

fn apply(before: &User, Given { changes, user_fields }: Given) -> User {
    let mut user = before.clone();
    if let Some(user_fields) = user_fields {
        user.user_fields = user_fields;
    }
    changes.apply(&mut user);
    user
}
