//! The values that webhooks alone have: events, signing keys, headers, addresses.

use std::collections::BTreeMap;
use std::fmt;

use url::Url;

use super::{EMAILS, EVENT, HEADER_LENGTH, HEADERS, URL_LENGTH};
use crate::addresses;
use crate::log::Event;
use crate::program::{Context, Item, Member, MemberValue, Shape, Texts};
use kernel::document::Object;
use kernel::ids::Ids;
use kernel::input::{self, Wrong};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::excerpt;
use webhook_signing::Key;

/// The letters of a key that is generated: 228 bits.
const GENERATED: usize = 40;
/// The most letters and digits of a key.
const KEY_LENGTH: usize = 128;
/// The most characters of the name of a header.
const HEADER_NAME_LENGTH: usize = 64;

/// Headers that the service sends itself or that belong to the connection.
const RESERVED: &[&str] = &[
    "connection",
    "expect",
    "host",
    "keep-alive",
    "signature",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// What such headers begin with.
const RESERVED_BEGINNINGS: &[&str] = &["accept", "content-", "proxy-", "webhook-"];

impl Item for Event {}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl MemberValue for Event {
    const SHAPE: Shape = EVENT;

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        let event = json.as_str().and_then(Self::named);
        Ok(event.ok_or_else(|| format!("must be one of {}", Self::NAMES.join(", ")))?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.text(member.name, self.name());
    }
}

/// A key that signs deliveries: letters and digits, whose bytes are the key. `Debug` does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey(Key);

impl SigningKey {
    /// A new one.
    pub fn generated(ids: &Ids) -> Self {
        loop {
            if let Some(key) = Self::parse(&ids.secret(GENERATED)) {
                return key;
            }
        }
    }

    /// The key that a text is.
    pub fn parse(text: &str) -> Option<Self> {
        let is_key = text.len() <= KEY_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Key::new(text).ok().filter(|_| is_key).map(Self)
    }

    pub(super) fn from_json(json: &Json) -> Result<Self, String> {
        let key = json.as_str().and_then(Self::parse);
        key.ok_or_else(|| format!("must have 1 to {KEY_LENGTH} letters and digits"))
    }

    pub(super) fn of(key: Key) -> Self {
        Self(key)
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.0.as_bytes()).unwrap_or_default()
    }

    /// The key as deliveries are signed with it.
    pub fn key(&self) -> &Key {
        &self.0
    }
}

impl MemberValue for SigningKey {
    const SHAPE: Shape = Shape::Pattern("^[A-Za-z0-9]{1,128}$");

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        Ok(Self::from_json(json)?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.text(member.name, self.as_str());
    }
}

/// What a body says of the key; null asks for a new one.
pub(super) fn given_key(json: &Json) -> Result<Option<SigningKey>, String> {
    if json.is_null() { Ok(None) } else { SigningKey::from_json(json).map(Some) }
}

/// Headers by their names, as they were written. `Debug` does not show their values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(BTreeMap<String, String>);

impl Headers {
    /// The headers, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn of(given: &JsonObject<'_>) -> Result<Self, Wrong<Self>> {
        let mut headers = BTreeMap::new();
        let mut messages = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (name, value) in given.iter() {
            let value = input::filled_text(HEADER_LENGTH)(value).and_then(visible);
            let folded = name.to_ascii_lowercase();
            let wrong = check_name(&folded).err().or_else(|| value.as_ref().err().cloned());
            if let Some(message) = wrong {
                messages.push(format!("{} {message}", excerpt(name)));
            } else if names.contains(&folded) {
                messages.push(format!("has {} twice", excerpt(name)));
            }
            names.push(folded);
            headers.insert(name.to_owned(), value.unwrap_or_default());
        }
        Wrong::unless_none(messages, Self(headers), false)
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// A name in lower case is one of HTTP (RFC 9110, section 5.1) and not ours.
fn check_name(name: &str) -> Result<(), String> {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > HEADER_NAME_LENGTH || !name.bytes().all(is_of_token) {
        return Err(format!("is not the name of a header of at most {HEADER_NAME_LENGTH} characters"));
    }
    if RESERVED.contains(&name) || RESERVED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
        return Err("is a header that the service or the connection uses".to_owned());
    }
    Ok(())
}

/// A value is visible ASCII; blanks stand only within it.
fn visible(value: String) -> Result<String, String> {
    let is_visible = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && value.trim() == value;
    is_visible.then_some(value).ok_or_else(|| "must be visible ASCII, with blanks only within it".to_owned())
}

impl MemberValue for Headers {
    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        match json {
            Json::Object(given) if given.len() <= HEADERS => Self::of(given),
            Json::Object(_) => Err(format!("must have at most {HEADERS} members").into()),
            _ => Err("must be an object".to_owned().into()),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.object(member.name, |object| self.iter().for_each(|(name, value)| object.text(name, value)));
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::default())
    }
}

/// The addresses of who is notified, each once.
pub(super) fn emails(json: &Json) -> Result<Vec<String>, Wrong<Vec<String>>> {
    input::distinct(EMAILS, input::email)(json)
}

/// The text of the address that a text is. Which hosts may be called is decided elsewhere, because it depends on settings.
pub(super) fn url(json: &Json) -> Result<String, String> {
    normal_url(&input::filled_text(URL_LENGTH)(json)?)
}

/// An address as it is stored and called, or what is wrong with it.
pub fn normal_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("is no web address: {error}"))?;
    addresses::check_form(&url).map_err(|refusal| refusal.to_string())?;
    if url.as_str().len() > URL_LENGTH {
        return Err(format!("must have at most {URL_LENGTH} bytes"));
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::context;
    use kernel::json::parse_value;

    fn headers(json: &str) -> Result<Headers, String> {
        let read = Headers::read(&parse_value(json.as_bytes()).unwrap(), &Shape::Any, &context());
        read.map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn headers_have_names_of_http_that_are_not_ours() {
        for name in ["X-Team", "Authorization", "api_key", "Cache-Control", "!#$%&'*+-.^_`|~", "x"] {
            assert!(headers(&format!(r#"{{"{name}":"v"}}"#)).is_ok(), "{name}");
        }
        let long = "x".repeat(65);
        for name in [
            "",
            "a b",
            "a:b",
            "é",
            "a\\n",
            long.as_str(),
            "Host",
            "CONTENT-TYPE",
            "content-length",
            "Transfer-Encoding",
            "connection",
            "Keep-Alive",
            "te",
            "Trailer",
            "Upgrade",
            "Expect",
            "Proxy-Authorization",
            "User-Agent",
            "Accept",
            "accept-encoding",
            "Signature",
            "webhook-id",
        ] {
            assert!(headers(&format!(r#"{{"{name}":"v"}}"#)).is_err(), "{name}");
        }
        assert!(headers(r#"{"X-A":"1","x-a":"2"}"#).unwrap_err().contains("twice"));
    }

    #[test]
    fn values_of_headers_are_visible_ascii() {
        for value in ["v", "Bearer a.b-c=", "~"] {
            assert!(headers(&format!(r#"{{"X-A":"{value}"}}"#)).is_ok(), "{value}");
        }
        for value in ["", " ", " v", "v ", "a\\tb", "a\\r\\nX-B: c", "é", "\\u007f"] {
            assert!(headers(&format!(r#"{{"X-A":"{value}"}}"#)).is_err(), "{value}");
        }
        assert!(headers(&format!(r#"{{"X-A":"{}"}}"#, "v".repeat(HEADER_LENGTH))).is_ok());
        assert!(headers(&format!(r#"{{"X-A":"{}"}}"#, "v".repeat(HEADER_LENGTH + 1))).is_err());
    }

    #[test]
    fn secrets_are_not_shown_by_debug() {
        let shown = format!("{:?} {:?}", headers(r#"{"X-A":"secret"}"#).unwrap(), SigningKey::parse("secret").unwrap());
        assert!(shown.contains("X-A") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn a_key_is_letters_and_digits() {
        for key in ["a", "9", &"aZ0".repeat(42)] {
            assert_eq!(SigningKey::parse(key).unwrap().as_str(), key);
        }
        for key in ["", "a b", "a-b", "é", &"a".repeat(129)] {
            assert_eq!(SigningKey::parse(key), None, "{key}");
        }
        assert_eq!(SigningKey::generated(&Ids::random()).as_str().len(), GENERATED);
    }

    #[test]
    fn an_address_is_stored_as_it_is_parsed() {
        for (text, stored) in [
            ("HTTP://Example.ORG", "http://example.org/"),
            (" https://example.org/a/../b ", "https://example.org/b"),
            ("https://127.1/", "https://127.0.0.1/"),
            ("https://2130706433", "https://127.0.0.1/"),
            ("https://exa\u{ff4d}ple\u{3002}org/", "https://example.org/"),
            ("https://bücher.example", "https://xn--bcher-kva.example/"),
            ("https://example.org:443/?a=b c", "https://example.org/?a=b%20c"),
            ("http:\\\\example.org\\a", "http://example.org/a"),
        ] {
            assert_eq!(normal_url(text).as_deref(), Ok(stored), "{text}");
        }
        let longest = format!("https://example.org/{}", "a".repeat(URL_LENGTH - 20));
        assert!(normal_url(&longest).is_ok() && normal_url(&format!("{longest}a")).is_err());
    }

    proptest! {
        #[test]
        fn what_is_stored_of_an_address_is_stored_as_it_is(text in "(https?:[/\\\\]{0,3})?[a-zé0-9.:@%\\[\\]#?/ -]{0,30}") {
            if let Ok(stored) = normal_url(&text) {
                prop_assert_eq!(normal_url(&stored), Ok(stored));
            }
        }
    }
}
