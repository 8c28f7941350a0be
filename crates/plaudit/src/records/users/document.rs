//! The two documents of a user: writing them, and reading the user back.
//!
//! What is never shown, the person, the season in which the user was added and the trash, is hidden in the first one.

use serde::{Deserialize, Deserializer};

use crate::records::answers::Answers;
use crate::records::users::User;
use db::DbError;
use kernel::document;
use kernel::json::parse_object;
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::Locale;

/// The user as lists show it (contract, section 6).
pub fn shown(user: &User, deleted: bool) -> String {
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
        object.hidden(|object| {
            if deleted {
                object.flag("deleted", true);
            }
            object.text("global_id", &user.global_id);
            object.optional_slug("season_joined", user.season_joined);
        });
    })
}

/// The members that only a single read shows.
pub fn detail(user: &User) -> String {
    document::object(|object| {
        object.raw("preferences", &user.preferences);
        object.raw("social_sharing", &user.social_sharing);
        object.answers("user_fields", &user.user_fields.to_json());
        object.text("member_number", &user.member_number);
        object.flag("tax_exempt", user.tax_exempt);
    })
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

/// Reads the first document: the user without the members of the second one.
pub(super) fn read_first(doc: &str) -> Result<User, serde_json::Error> {
    serde_json::from_str(&document::revealed(doc))
}

/// The user of both documents.
pub(super) fn read(doc: &str, detail: &str) -> Result<User, String> {
    let user = read_first(doc).map_err(|error| error.to_string())?;
    let detail = parse_object(detail.as_bytes()).map_err(|error| error.to_string())?;
    let raw = |name: &str| detail.get(name).map(Json::to_string).ok_or_else(|| format!("no {name}"));
    Ok(User {
        preferences: raw("preferences")?,
        social_sharing: raw("social_sharing")?,
        user_fields: answers_of(&detail)?,
        member_number: detail.get("member_number").and_then(Json::as_str).ok_or("no member_number")?.to_owned(),
        tax_exempt: detail.get("tax_exempt").and_then(Json::as_bool).ok_or("no tax_exempt")?,
        ..user
    })
}

/// The answers in the second document of a user.
pub fn answers_in(detail: &str) -> Result<Answers, DbError> {
    let read =
        parse_object(detail.as_bytes()).map_err(|error| error.to_string()).and_then(|detail| answers_of(&detail));
    read.map_err(|error| DbError::Failed(format!("a stored user cannot be read: {error}")))
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
    use crate::records::store::is_in_trash;
    use crate::records::users::Confirmation;
    use kernel::text::Timestamp;

    fn user(text: &str) -> User {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb, Locale::DeDe], default_language: Locale::EnGb, now };
        store::parse(text, &context).unwrap()
    }

    const WHOLE: &str = r#"{"slug":"UserAAAA","first_name":"Ada","last_name":"L é","email":"Ada@example.org","mobile":"+441632960001","global_id":"0f8fad5b-d9cb-469f-a165-70867728950e","season_joined":"SeasonAA","language":"de_DE","roles":["RoleAAAA","RoleBBBB"],"comments":"\"q\"","confirmed_at":"2026-01-01T00:00:00.000000Z","created_by":"api","preferences":{"a":[1.50,"\u007f"]},"social_sharing":{},"user_fields":{"FieldAAA":"\u007f","FieldBBB":{"A1":"x"}},"member_number":"M 1","tax_exempt":true}"#;

    #[test]
    fn a_user_is_shown_with_its_members_in_order_and_read_back() {
        let user = user(WHOLE);
        let doc = shown(&user, true);
        let expected = r#"{"analytics_cookies":false,"broadcast_emails":false,"marketing_cookies":false,"necessary_cookies":true,"notification_emails":true,"notification_sms":false,"comments":"\"q\"","confirmation":"Confirmed","confirmed_at":"2026-01-01T00:00:00.000000Z","created_at":"1970-01-01T00:16:40.000000Z","created_by":"api","email":"Ada@example.org","first_name":"Ada","language":{"code":"de_DE","language":"German"},"last_name":"L é","mobile":"+441632960001","name":"Ada L é","roles":["~rrRoleAAAA","~rrRoleBBBB"],"slug":"UserAAAA","updated":"1970-01-01T00:16:40.000000Z","~p":0,"~h94":{"deleted":true,"global_id":"0f8fad5b-d9cb-469f-a165-70867728950e","season_joined":"SeasonAA"}}"#;
        assert_eq!(doc, expected.replace('~', "\u{7f}"));
        let answers = r#""social_sharing":{},"user_fields":{"~a43":{"FieldAAA":"\u007f","FieldBBB":{"A1":"x"}}},"member_number":"M 1","tax_exempt":true}"#;
        assert!(detail(&user).ends_with(&answers.replace('~', "\u{7f}")), "{}", detail(&user));
        assert!(is_in_trash(&doc));
        assert_eq!(read(&doc, &detail(&user)), Ok(user));
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
            [
                user.analytics_cookies,
                user.broadcast_emails,
                user.marketing_cookies,
                user.necessary_cookies,
                user.notification_emails,
                user.notification_sms,
            ] = flags;
            user.confirmation = if confirmed { Confirmation::Confirmed } else { Confirmation::Invited };
            user.confirmed_at = confirmed.then(|| Timestamp::from_microseconds(times.0));
            user.updated = Timestamp::from_microseconds(times.1);
            prop_assert!(!is_in_trash(&shown(&user, false)));
            prop_assert_eq!(read(&shown(&user, false), &detail(&user)), Ok(user));
        }
    }
}
