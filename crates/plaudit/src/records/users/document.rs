//! The two documents of a user: writing them, and reading the user back.
//!
//! What is never shown, the person and the season in which the user was added, stands in columns beside them; the change
//! log's document has it after the members that are shown.

use serde::{Deserialize, Deserializer};

use crate::records::answers::Answers;
use crate::records::users::User;
use kernel::document;
use kernel::json::parse_object;
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug};

/// The user as lists show it (contract, section 6).
#[must_use]
pub fn shown(user: &User) -> String {
    document::object(|object| {
        object.flag("analytics_cookies", user.analytics_cookies);
        object.flag("broadcast_emails", user.broadcast_emails);
        object.flag("marketing_cookies", user.marketing_cookies);
        object.flag("necessary_cookies", user.necessary_cookies);
        object.flag("notification_emails", user.notification_emails);
        object.flag("notification_sms", user.notification_sms);
        object.text("comments", &user.comments);
        object.text("confirmation", user.confirmation.name());
        object.optional_time("confirmed_at", user.confirmed_at);
        object.time("created_at", user.created_at);
        object.text("created_by", user.created_by.name());
        object.optional_text("email", user.email.as_deref());
        object.text("first_name", &user.first_name);
        object.object("language", |object| {
            object.text("code", user.language.code());
            object.text("language", user.language.language());
        });
        object.text("last_name", &user.last_name);
        object.text("mobile", user.mobile.as_deref().unwrap_or_default());
        object.text("name", &user.name());
        object.list("roles", |list| user.roles.iter().for_each(|role| list.reference(Kind::Role, *role)));
        object.slug("slug", user.slug);
        object.time("updated", user.updated);
        object.splice();
    })
}

/// The members that only a single read shows.
#[must_use]
pub fn detail(user: &User) -> String {
    document::object(|object| {
        object.raw("preferences", &user.preferences);
        object.raw("social_sharing", &user.social_sharing);
        object.answers("user_fields", &user.user_fields.to_json());
    })
}

/// The document for the change log, from the columns of a row. `beside` are the person, the season and the second
/// document, as [`read_extra_columns`] takes them apart.
#[must_use]
pub fn logged(doc: &str, extra_columns: &str) -> Option<String> {
    let ExtraColumns { person, season_joined, detail } = read_extra_columns(extra_columns)?;
    let tail = document::object(|object| {
        object.text("global_id", person);
        object.optional_slug("season_joined", season_joined);
    });
    let whole = kernel::document::whole(doc, detail);
    Some(format!("{},{}", whole.strip_suffix('}').unwrap_or(&whole), &tail[1..]))
}

/// What a row has beside the first document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraColumns<'d> {
    /// The person.
    pub person: &'d str,
    /// The season in which the user was added.
    pub season_joined: Option<Slug>,
    /// The second document.
    pub detail: &'d str,
}

/// Takes apart what a row has beside the first document: the person, the season and the second document, with a blank
/// between them.
#[must_use]
pub fn read_extra_columns(extra_columns: &str) -> Option<ExtraColumns<'_>> {
    let (person, rest) = extra_columns.split_once(' ')?;
    let (season_joined, detail) = rest.split_once(' ')?;
    let season_joined = if season_joined.is_empty() { None } else { Some(Slug::parse(season_joined)?) };
    Some(ExtraColumns { person, season_joined, detail })
}

/// What [`read_extra_columns`] takes apart.
#[must_use]
pub fn extra_columns(user: &User) -> String {
    let season_joined = user.season_joined.as_ref().map_or("", Slug::as_str);
    format!("{} {season_joined} {}", user.global_id, detail(user))
}

/// Reads the language that is shown.
pub(super) fn language<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Locale, D::Error> {
    #[derive(Deserialize)]
    struct Shown {
        code: Locale,
    }
    Shown::deserialize(deserializer).map(|shown| shown.code)
}

/// Reads the mobile number that is shown, which is empty for none.
pub(super) fn mobile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let mobile = String::deserialize(deserializer)?;
    Ok(Some(mobile).filter(|mobile| !mobile.is_empty()))
}

/// The user of a row.
pub(super) fn read(doc: &str, extra_columns: ExtraColumns<'_>) -> Result<User, String> {
    let head: User = serde_json::from_str(doc).map_err(|error| error.to_string())?;
    let detail = parse_object(extra_columns.detail.as_bytes()).map_err(|error| error.to_string())?;
    let raw = |name: &str| detail.get(name).map(Json::to_string).ok_or_else(|| format!("no {name}"));
    Ok(User {
        global_id: extra_columns.person.to_owned(),
        season_joined: extra_columns.season_joined,
        preferences: raw("preferences")?,
        social_sharing: raw("social_sharing")?,
        user_fields: answers_of(&detail)?,
        ..head
    })
}

fn answers_of(detail: &JsonObject) -> Result<Answers, String> {
    let slot = detail.get("user_fields").and_then(Json::as_object);
    let map = slot.and_then(|slot| slot.iter().next()).map(|(_, map)| map).ok_or("no user_fields")?;
    Answers::read(map).map_err(|wrong| wrong.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::{Context, store};
    use crate::records::users::Confirmation;
    use kernel::text::Timestamp;

    fn user(text: &str) -> User {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb, Locale::DeDe], default_language: Locale::EnGb, now };
        store::parse(text, &context).unwrap()
    }

    const WHOLE: &str = r#"{"slug":"UserAAAA","first_name":"Ada","last_name":"L é","email":"Ada@example.org","mobile":"+441632960001","global_id":"0f8fad5b-d9cb-469f-a165-70867728950e","season_joined":"SeasonAA","language":"de_DE","roles":["RoleAAAA","RoleBBBB"],"comments":"\"q\"","confirmed_at":"2026-01-01T00:00:00.000000Z","created_by":"api","preferences":{"a":[1.50,"\u007f"]},"social_sharing":{},"user_fields":{"FieldAAA":"\u007f","FieldBBB":{"A1":"x"}}}"#;

    #[test]
    fn a_user_is_shown_with_its_members_in_order_and_read_back() {
        let user = user(WHOLE);
        let doc = shown(&user);
        let expected = r#"{"analytics_cookies":false,"broadcast_emails":false,"marketing_cookies":false,"necessary_cookies":true,"notification_emails":true,"notification_sms":false,"comments":"\"q\"","confirmation":"Confirmed","confirmed_at":"2026-01-01T00:00:00.000000Z","created_at":"1970-01-01T00:16:40.000000Z","created_by":"api","email":"Ada@example.org","first_name":"Ada","language":{"code":"de_DE","language":"German"},"last_name":"L é","mobile":"+441632960001","name":"Ada L é","roles":["~rrRoleAAAA","~rrRoleBBBB"],"slug":"UserAAAA","updated":"1970-01-01T00:16:40.000000Z","~p":0}"#;
        assert_eq!(doc, expected.replace('~', "\u{7f}"));
        let answers = r#""social_sharing":{},"user_fields":{"~a43":{"FieldAAA":"\u007f","FieldBBB":{"A1":"x"}}}}"#;
        assert!(detail(&user).ends_with(&answers.replace('~', "\u{7f}")), "{}", detail(&user));
        let extra_columns = extra_columns(&user);
        assert_eq!(read(&doc, read_extra_columns(&extra_columns).unwrap()), Ok(user));
        let logged = logged(&doc, &extra_columns).unwrap();
        let tail = r#","global_id":"0f8fad5b-d9cb-469f-a165-70867728950e","season_joined":"SeasonAA"}"#;
        assert!(logged.ends_with(tail), "{logged}");
    }

    #[test]
    fn the_program_file_form_is_read_back() {
        let user = user(WHOLE);
        let now = Timestamp::from_seconds(1);
        let context = Context { languages: Locale::ALL.to_vec(), default_language: Locale::EnGb, now };
        assert_eq!(store::parse::<User>(&store::stored(&user), &context).unwrap(), user);
    }

    proptest! {
        #[test]
        fn whatever_a_user_says_is_read_back(
            texts in proptest::collection::vec(any::<String>(), 4),
            flags: [bool; 6],
            confirmed: bool,
            times in (0_i64..1 << 50, 0_i64..1 << 50),
            has in (any::<bool>(), any::<bool>(), any::<bool>()),
        ) {
            let mut user = user(WHOLE);
            [user.first_name, user.last_name, user.comments] = [&texts[0], &texts[1], &texts[2]].map(Clone::clone);
            user.email = has.0.then(|| texts[3].clone());
            user.mobile = has.1.then(|| "+441632960001".to_owned());
            user.season_joined = user.season_joined.filter(|_| has.2);
            for (held, flag) in user.consents().into_iter().zip(flags) {
                *held = flag;
            }
            user.confirmation = if confirmed { Confirmation::Confirmed } else { Confirmation::Invited };
            user.confirmed_at = confirmed.then(|| Timestamp::from_microseconds(times.0));
            user.updated = Timestamp::from_microseconds(times.1);
            let extra_columns = extra_columns(&user);
            prop_assert_eq!(read(&shown(&user), read_extra_columns(&extra_columns).unwrap()), Ok(user));
        }
    }
}
