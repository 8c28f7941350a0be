//! What the body of a request says of a user. Pure.
//!
//! - The body is open: members that are not known are passed over, so that what was read can be sent back.
//! - What an update leaves out keeps its value. `roles`, `preferences` and `social_sharing` are replaced as they are given;
//!   `user_fields` are merged by field, and tables cell by cell. null or the empty string take an answer back.
//! - A role and a field must be live ones of the account; a field must be one about users.

use crate::program::fields::{Resource, merged, validate_answer};
use crate::program::roles::RoleType;
use crate::program::{Context, Program};
use crate::records::users::password::{Password, password};
use crate::records::users::{Changes, Origin, User};
use kernel::input::{Members, Violations, Wrong};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, Timestamp};

/// The password of a body, where there is one and it is right. It is hashed before the rest is looked at.
pub(crate) fn password_of(body: &JsonObject) -> Option<Password> {
    password(body.get("password")?).ok()
}

/// Reads the body of a new user, or that of an update.
pub(crate) fn read(body: &JsonObject, is_new: bool, program: &Program) -> (Changes, Violations) {
    let mut members = Members::open(body);
    let changes = Changes::read_from(&mut members, is_new, &program.context);
    if is_new {
        members.required("password", password);
    } else {
        members.optional("password", password);
    }
    for role in changes.roles.iter().flatten().filter(|role| program.roles.live(**role).is_none()) {
        members.fault("roles", format!("{role} is no role of the account"));
    }
    for (name, value) in changes.user_fields.iter().flat_map(JsonObject::iter) {
        if let Err(wrong) = validate(program, name, value) {
            members.faults(&format!("user_fields.{name}"), &wrong);
        }
    }
    let mut violations = members.finish();
    let has_none = |contact: &Option<Option<String>>| contact.as_ref().is_none_or(Option::is_none);
    // A contact that is wrong is told of as that alone.
    let is_told = violations.iter().any(|(member, _)| member == "email" || member == "mobile");
    if is_new && has_none(&changes.email) && has_none(&changes.mobile) && !is_told {
        violations.add("email", "is required where there is no mobile number");
    }
    (changes, violations)
}

fn validate(program: &Program, name: &str, answer: &Json) -> Result<(), Wrong<()>> {
    let field = Slug::parse(name).and_then(|slug| program.fields.live(slug));
    let field =
        field.filter(|field| field.resource == Resource::Users).ok_or_else(|| "is no field about users".to_owned())?;
    validate_answer(field, answer)
}

/// The user that a body makes: of this slug and person, added now.
pub(crate) fn create(program: &Program, changes: Changes, slug: Slug, person: &str, now: Timestamp) -> Option<User> {
    let context = Context { now, ..program.context.clone() };
    let user = User {
        created_by: Origin::Api,
        roles: default_roles(program),
        global_id: person.to_owned(),
        season_joined: program.active_season().map(|season| season.slug),
        ..User::blank(slug, String::new(), String::new(), &context)?
    };
    Some(apply(program, &user, changes))
}

/// The user after an update; where nothing changes, as it was.
pub(crate) fn update(program: &Program, before: &User, changes: Changes, now: Timestamp) -> User {
    let after = apply(program, before, changes);
    if after == *before { after } else { User { updated: now, ..after } }
}

/// A user who is given no role is an entrant: by the first role of that type, where the account has one.
fn default_roles(program: &Program) -> Vec<Slug> {
    let entrants = program.roles.all_live().filter(|role| role.kind == RoleType::Entrant);
    entrants.min_by_key(|role| (role.created, role.slug)).map(|role| role.slug).into_iter().collect()
}

fn apply(program: &Program, before: &User, mut changes: Changes) -> User {
    let mut user = before.clone();
    for (name, value) in changes.user_fields.take().iter().flat_map(JsonObject::iter) {
        if let Some(field) = Slug::parse(name).and_then(|slug| program.fields.any(slug)) {
            user.user_fields.set(field.slug, merged(field.kind, before.user_fields.get(field.slug), value));
        }
    }
    changes.apply(&mut user);
    user
}
