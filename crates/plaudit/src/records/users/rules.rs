//! Pure rules of users.

use crate::lists::sort_key;
use kernel::input;
use kernel::json::Json;
use kernel::text::{Locale, Slug, folded, is_phone};

/// What other records show of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The user's slug.
    pub slug: Slug,
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The e-mail address.
    pub email: Option<String>,
    /// The user's UUID.
    pub global_id: String,
}

impl Summary {
    /// The first and the last name.
    pub fn name(&self) -> String {
        full_name(&self.first_name, &self.last_name)
    }
}

/// The first and the last name with a blank between them, where there are both.
pub fn full_name(first_name: &str, last_name: &str) -> String {
    match (first_name.trim(), last_name.trim()) {
        (first, "") => first.to_owned(),
        ("", last) => last.to_owned(),
        (first, last) => format!("{first} {last}"),
    }
}

/// The form in which two e-mail addresses that reach the same person are equal.
pub fn normal_email(email: &str) -> String {
    email.to_lowercase()
}

/// What a text is sorted by, as in every list.
pub(super) fn sort_text(text: &str) -> String {
    // PostgreSQL has no text with this character in it.
    let text = folded(text).replace('\0', "\u{fffd}");
    sort_key(&text).to_owned()
}

/// The most characters of a mobile number.
pub(super) const MOBILE_LENGTH: usize = 16;

/// A mobile number, E.164; the empty string is none.
pub(super) fn mobile(json: &Json) -> Result<Option<String>, String> {
    let mobile = input::text(MOBILE_LENGTH)(json)?;
    if mobile.is_empty() {
        return Ok(None);
    }
    if is_phone(&mobile) { Ok(Some(mobile)) } else { Err("must be a number such as +441632960001 (E.164)".to_owned()) }
}

/// A language of the account, as its code or as the object with a code that is shown.
pub(super) fn language(languages: &[Locale]) -> impl Fn(&Json) -> Result<Locale, String> {
    move |json| {
        let code = json.get("code").unwrap_or(json).as_str();
        code.and_then(Locale::parse)
            .filter(|locale| languages.contains(locale))
            .ok_or_else(|| "must be a language of the account".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Json<'static> {
        Json::String(text.to_owned().into())
    }

    #[test]
    fn a_name_has_a_blank_only_between_two_parts() {
        assert_eq!(full_name("Ada", "Lovelace"), "Ada Lovelace");
        assert_eq!(full_name("Ada", ""), "Ada");
        assert_eq!(full_name("", "Lovelace"), "Lovelace");
    }

    #[test]
    fn an_email_address_reaches_the_same_person_in_any_case() {
        assert_eq!(normal_email("Ada@Example.ORG"), "ada@example.org");
    }

    #[test]
    fn a_mobile_number_is_e164_or_empty() {
        assert_eq!(mobile(&text("")), Ok(None));
        assert_eq!(mobile(&text("+441632960001")), Ok(Some("+441632960001".to_owned())));
        for wrong in ["441632960001", "+0441632960", "+44 1632", "+44163296000123456", "+1"] {
            assert!(mobile(&text(wrong)).is_err(), "{wrong}");
        }
    }
}
