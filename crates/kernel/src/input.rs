//! Reads the members of a record from outside, a request body or a line of a program file, and collects everything
//! that is wrong with it. A record can only be made when nothing is: what could be read of a member that is wrong serves
//! the checks that follow, so that all is told at once, and what could not is `None`.

mod wrong;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::json::{Json, Object as JsonObject};
use crate::text::{
    Currency, Date, DuplicateLocale, EMAIL_LENGTH, LocalTime, Locale, Money, Points, Rate, Slug, Timestamp, Token,
    Translated, excerpt, is_email,
};

pub use wrong::{Violations, Wrong, all_well, both};

/// A reader of one value: the value, or what is wrong with it.
pub type Reader<T> = fn(&Json) -> Result<T, String>;

/// The members of an object, read one by one. A member that nobody asked for is a violation when the reading ends.
pub struct Members<'j> {
    path: String,
    object: &'j JsonObject<'j>,
    read: Vec<bool>,
    /// Where the next member is likely to be: records are read in the order in which they are written.
    next: usize,
    closed: bool,
    violations: Violations,
    /// Every member that was asked for, where that is noted.
    asked: Option<BTreeSet<String>>,
}

impl<'j> Members<'j> {
    /// Begins to read an object whose unknown members are violations.
    pub fn closed(object: &'j JsonObject<'j>) -> Self {
        Self {
            path: String::new(),
            object,
            read: vec![false; object.len()],
            next: 0,
            closed: true,
            violations: Violations::default(),
            asked: None,
        }
    }

    /// Notes what is asked for, so that it can be compared with the tables of members.
    pub fn noting(self) -> Self {
        Self { asked: Some(BTreeSet::new()), ..self }
    }

    /// Every member that was asked for so far, where that is noted.
    pub fn asked(&self) -> BTreeSet<String> {
        self.asked.clone().unwrap_or_default()
    }

    /// Begins to read an object whose unknown members are passed over.
    pub fn open(object: &'j JsonObject<'j>) -> Self {
        Self { closed: false, ..Self::closed(object) }
    }

    /// The raw value of a member; it counts as read.
    pub fn get(&mut self, name: &str) -> Option<&'j Json<'j>> {
        if let Some(asked) = &mut self.asked {
            asked.insert(name.to_owned());
        }
        let is_it = |index: &usize| self.object.at(*index).is_some_and(|(member, _)| member == name);
        let index = (self.next..self.object.len()).chain(0..self.next).find(is_it)?;
        self.next = index + 1;
        self.read[index] = true;
        self.object.at(index).map(|(_, value)| value)
    }

    /// The address of the record of this slug, which follows from it and may be stated.
    pub fn link(&mut self, slug: Slug) {
        let is_its = |link: &Json| link.as_str().and_then(|link| link.rsplit('/').next()) == Some(slug.as_str());
        self.computed("link", |link| {
            is_its(link).then_some(()).ok_or_else(|| format!("an address that ends in /{slug}"))
        });
    }

    /// A member that follows from others and may be stated; `agrees` gives what it must be where it contradicts them.
    pub fn computed(&mut self, name: &str, agrees: impl FnOnce(&Json) -> Result<(), String>) {
        if let Some(Err(right)) = self.get(name).map(agrees) {
            self.fault(name, format!("is computed and must be {right} or left out"));
        }
    }

    /// Whether the object has this member.
    pub fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some()
    }

    /// Adds a message about a member.
    pub fn fault(&mut self, name: &str, message: impl Into<String>) {
        self.violations.add(format!("{}{name}", self.path), message);
    }

    /// Adds what is wrong with a member.
    pub fn faults<T>(&mut self, name: &str, wrong: &Wrong<T>) {
        self.violations.wrong(&format!("{}{name}", self.path), wrong);
    }

    fn taken<T, E: Into<Wrong<T>>>(&mut self, name: &str, read: Result<T, E>) -> Option<T> {
        read.map_err(E::into).map_or_else(
            |wrong| {
                self.faults(name, &wrong);
                wrong.rest
            },
            Some,
        )
    }

    /// A member that may be left out.
    pub fn optional<T, E: Into<Wrong<T>>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, E>,
    ) -> Option<T> {
        let read = read(self.get(name)?);
        self.taken(name, read)
    }

    /// A member that must be there.
    pub fn required<T, E: Into<Wrong<T>>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, E>,
    ) -> Option<T> {
        let Some(json) = self.get(name) else {
            self.fault(name, "is required");
            return None;
        };
        self.taken(name, read(json))
    }

    /// A member that may be left out (`None`) or null (`Some(None)`).
    pub fn nullable<T, E: Into<Wrong<T>>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, E>,
    ) -> Option<Option<T>> {
        self.optional(name, |json| match json {
            Json::Null => Ok(None),
            json => read(json).map(Some).map_err(|error| error.into().map(Some)),
        })
    }

    /// A member that is an object, read by `read`; its violations carry its name before theirs.
    pub fn object<T>(&mut self, name: &str, read: impl FnOnce(&mut Members<'j>) -> T) -> Option<T> {
        let Json::Object(object) = self.get(name)? else {
            self.fault(name, "must be an object");
            return None;
        };
        let mut inner = Members { closed: self.closed, ..Members::closed(object) };
        inner.path = format!("{}{name}.", self.path);
        let made = read(&mut inner);
        self.violations.append(inner.finish());
        Some(made)
    }

    /// A member that is a list of at most `max` objects, each read by `read`; violations carry the name and the number
    /// of the item, from 1 (contract, section 1).
    pub fn objects<T>(
        &mut self,
        name: &str,
        max: usize,
        mut read: impl FnMut(&mut Members<'j>) -> T,
    ) -> Option<Vec<T>> {
        let Json::Array(items) = self.get(name)? else {
            self.fault(name, "must be a list");
            return None;
        };
        if items.len() > max {
            self.fault(name, format!("must have at most {max} items"));
            return None;
        }
        let mut made = Vec::with_capacity(items.len());
        for (number, item) in (1..).zip(items.iter()) {
            if let Json::Object(object) = item {
                let mut inner = Members { closed: self.closed, ..Members::closed(object) };
                inner.path = format!("{}{name}.{number}.", self.path);
                made.push(read(&mut inner));
                self.violations.append(inner.finish());
            } else {
                self.fault(&format!("{name}.{number}"), "must be an object");
            }
        }
        Some(made)
    }

    /// Everything that is wrong, members that nobody read included.
    pub fn finish(mut self) -> Violations {
        if self.closed {
            for (index, (name, _)) in self.object.iter().enumerate() {
                if !self.read[index] {
                    self.violations.add(format!("{}{}", self.path, excerpt(name)), "is not a member of this record");
                }
            }
        }
        self.violations
    }
}

/// Whether a text has at most so many characters; there are never more of them than bytes.
fn is_at_most(text: &str, max: usize) -> bool {
    text.len() <= max || text.chars().count() <= max
}

/// The most characters of a text that is one line, such as a name. A longer text may have line breaks, and other control
/// characters, which are escaped wherever it is shown.
pub const LINE_LENGTH: usize = 255;
/// The pattern of a line. The control characters of Unicode are of one category, `Cc`.
pub const LINE_PATTERN: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";
/// That of a line which is not blank.
pub const FILLED_LINE_PATTERN: &str =
    r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

/// Whether a text is one line: a control character means nothing in it.
pub fn check_line(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) {
        return Err("must not have control characters, such as line breaks".to_owned());
    }
    Ok(())
}

/// The text of a string of at most `max` characters.
fn at_most<'j>(max: usize, json: &'j Json) -> Result<&'j str, String> {
    match json {
        Json::String(text) if !is_at_most(text, max) => Err(format!("must have at most {max} characters")),
        Json::String(text) if max <= LINE_LENGTH => check_line(text).map(|()| &**text),
        Json::String(text) => Ok(text),
        _ => Err("must be a string".to_owned()),
    }
}

/// A string of at most `max` characters, which is one line where it is so short.
pub fn text(max: usize) -> impl Fn(&Json) -> Result<String, String> {
    move |json| at_most(max, json).map(str::to_owned)
}

/// An e-mail address.
pub fn email(json: &Json) -> Result<String, String> {
    let email = text(EMAIL_LENGTH)(json)?;
    if is_email(&email) { Ok(email) } else { Err("must be an e-mail address".to_owned()) }
}

/// A string of at most `max` characters that is not blank.
pub fn filled_text(max: usize) -> impl Fn(&Json) -> Result<String, String> {
    move |json| {
        let filled = text(max)(json)?;
        if filled.trim().is_empty() { Err("must not be blank".to_owned()) } else { Ok(filled) }
    }
}

/// Any value.
pub fn any(json: &Json) -> Result<Json<'static>, String> {
    Ok(json.clone().into_owned())
}

/// true or false.
pub fn flag(json: &Json) -> Result<bool, String> {
    match json {
        Json::Bool(flag) => Ok(*flag),
        _ => Err("must be true or false".to_owned()),
    }
}

/// An integer within a range.
pub fn integer(range: RangeInclusive<i64>) -> impl Fn(&Json) -> Result<i64, String> {
    move |json| match json.as_i64() {
        Some(integer) if range.contains(&integer) => Ok(integer),
        _ => Err(format!("must be an integer from {} to {}", range.start(), range.end())),
    }
}

/// The number of what was counted: nothing, or what it must be.
pub fn counted(count: usize) -> impl Fn(&Json) -> Result<(), String> {
    move |json| match json.as_i64().map(usize::try_from) {
        Some(Ok(stated)) if stated == count => Ok(()),
        _ => Err(count.to_string()),
    }
}

/// A slug.
pub fn slug(json: &Json) -> Result<Slug, String> {
    json.as_str().and_then(Slug::parse).ok_or_else(|| "must be a slug of 8 ASCII letters".to_owned())
}

/// A UUID, in lower case.
pub fn uuid(json: &Json) -> Result<String, String> {
    let uuid = at_most(36, json)?.to_ascii_lowercase();
    let right = uuid.len() == 36
        && uuid.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if right { Ok(uuid) } else { Err("must be a UUID".to_owned()) }
}

/// The token of a file.
pub fn token(json: &Json) -> Result<Token, String> {
    json.as_str().and_then(Token::parse).ok_or_else(|| "must be a token of ASCII letters".to_owned())
}

/// A time, ISO 8601.
pub fn time(json: &Json) -> Result<Timestamp, String> {
    json.as_str()
        .and_then(Timestamp::parse)
        .ok_or_else(|| "must be an ISO 8601 time such as 2026-01-31T08:30:00Z".to_owned())
}

/// A date.
pub fn date(json: &Json) -> Result<Date, String> {
    json.as_str().and_then(Date::parse).ok_or_else(|| "must be a date such as 2026-01-31".to_owned())
}

/// A date and a time of day in the account's time zone.
pub fn local_time(json: &Json) -> Result<LocalTime, String> {
    json.as_str()
        .and_then(LocalTime::parse)
        .ok_or_else(|| "must be a date and a time of day such as 2026-01-31 08:30:00".to_owned())
}

/// The code of a currency.
pub fn currency(json: &Json) -> Result<Currency, String> {
    json.as_str().and_then(Currency::parse).ok_or_else(|| "must be the code of a currency, as in ISO 4217".to_owned())
}

/// An amount in a currency, not below 0.
pub fn amount(currency: Currency) -> impl Fn(&Json) -> Result<Money, String> {
    move |json| {
        let text = json.as_number().ok_or_else(|| "must be a number".to_owned())?;
        match Money::parse(text, currency) {
            Ok(amount) if amount.is_negative() => Err("must not be below 0".to_owned()),
            Ok(amount) => Ok(amount),
            Err(error) => Err(format!("is wrong: {error}")),
        }
    }
}

/// A percentage.
pub fn rate(json: &Json) -> Result<Rate, String> {
    json.as_number()
        .and_then(Rate::parse)
        .ok_or_else(|| "must be a number from 0 to 100 with at most 4 decimals".to_owned())
}

/// A number of points within a range.
pub fn points(range: RangeInclusive<Points>) -> impl Fn(&Json) -> Result<Points, String> {
    move |json| match json.as_number().map(Points::parse) {
        Some(Ok(points)) if range.contains(&points) => Ok(points),
        _ => Err(format!("must be a number from {} to {} with at most 4 decimals", range.start(), range.end())),
    }
}

/// A list of at most `max` slugs, each once.
pub fn slugs(max: usize) -> impl Fn(&Json) -> Result<Vec<Slug>, Wrong<Vec<Slug>>> {
    distinct(max, slug)
}

/// What comes more than once.
pub fn twice<T: Copy + Ord>(items: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut named = BTreeSet::new();
    items.filter(|item| !named.insert(*item)).collect()
}

/// A list of at most `max` items, each once.
pub fn distinct<T: Ord + std::fmt::Display, E: Into<Wrong<T>>>(
    max: usize,
    item: impl Fn(&Json) -> Result<T, E>,
) -> impl Fn(&Json) -> Result<Vec<T>, Wrong<Vec<T>>> {
    move |json| {
        let (mut read, mut messages) = match list(max, &item)(json) {
            Ok(read) => (read, Vec::new()),
            Err(Wrong { messages, rest: Some(read) }) => (read, messages),
            Err(wrong) => return Err(wrong),
        };
        messages.extend(twice(read.iter()).into_iter().map(|item| format!("names {item} twice")));
        if !messages.is_empty() {
            // Each is checked once by whoever goes on with the rest.
            read.sort_unstable();
            read.dedup();
        }
        Wrong::unless_none(messages, read, true)
    }
}

/// One of the names of an enumeration.
pub fn one_of<T: Copy>(choices: &[(&'static str, T)]) -> impl Fn(&Json) -> Result<T, String> {
    move |json| {
        json.as_str()
            .and_then(|name| choices.iter().find(|(choice, _)| *choice == name))
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
                format!("must be one of {}", names.join(", "))
            })
    }
}

/// A list of at most `max` items.
pub fn list<T, E: Into<Wrong<T>>>(
    max: usize,
    item: impl Fn(&Json) -> Result<T, E>,
) -> impl Fn(&Json) -> Result<Vec<T>, Wrong<Vec<T>>> {
    move |json| match json {
        Json::Array(items) if items.len() <= max => {
            let mut read = Vec::with_capacity(items.len());
            let mut messages = Vec::new();
            for (number, json) in (1..).zip(items) {
                match item(json).map_err(E::into) {
                    Ok(value) => read.push(value),
                    Err(wrong) => messages.extend(wrong.messages().map(|message| format!("item {number} {message}"))),
                }
            }
            let is_of_use = !read.is_empty();
            Wrong::unless_none(messages, read, is_of_use)
        }
        Json::Array(_) => Err(format!("must have at most {max} items").into()),
        _ => Err("must be a list".to_owned().into()),
    }
}

/// A translated map in languages of the account, each text of at most `max` characters.
pub fn translated(languages: &[Locale], max: usize) -> impl Fn(&Json) -> Result<Translated, Wrong<Translated>> {
    move |json| {
        let members = match json {
            // More locales there are not; each unknown one is told of.
            Json::Object(members) if members.len() <= Locale::ALL.len() => members,
            Json::Object(_) => return Err(format!("must have at most {} texts", Locale::ALL.len()).into()),
            _ => return Err("must be a map from locale code to string".to_owned().into()),
        };
        let mut texts = Vec::with_capacity(members.len());
        let mut messages = Vec::new();
        for (code, value) in members.iter() {
            // An account has few languages, and the interface has many.
            let Some(locale) = languages.iter().copied().find(|locale| locale.code() == code) else {
                // What they are is said once, so that a small request has no large answer.
                let known = if messages.is_empty() { known_languages(languages) } else { String::new() };
                messages.push(format!("{} is no language of the account{known}", excerpt(code)));
                continue;
            };
            match at_most(max, value) {
                Ok(text) => texts.push((locale, text)),
                Err(message) => messages.push(format!("{code} {message}")),
            }
        }
        let map = Translated::from_pairs(&texts).map_err(|DuplicateLocale(locale)| format!("has {locale} twice"))?;
        Wrong::unless_none(messages, map, !texts.is_empty())
    }
}

fn known_languages(languages: &[Locale]) -> String {
    let codes: Vec<_> = languages.iter().map(|locale| locale.code()).collect();
    format!("; its languages are {}", codes.join(", "))
}

/// The translated name of what is made or changed by a body, as `read` reads it: in the default language it is not blank,
/// and of what is new it is there.
pub fn translated_name<T>(
    default: Locale,
    is_new: bool,
    read: impl Fn(&Json) -> Result<T, Wrong<T>>,
) -> impl Fn(&Json) -> Result<T, Wrong<T>> {
    move |json| {
        let read = read(json);
        let message = match json.as_object().map(|members| members.get(default.code())) {
            Some(None) if is_new => format!("{default} is required"),
            Some(Some(Json::String(text))) if text.trim().is_empty() => format!("{default} must not be blank"),
            _ => return read,
        };
        let mut wrong = read.map_or_else(|wrong| wrong, |map| Wrong { messages: Vec::new(), rest: Some(map) });
        wrong.messages.push(message);
        Err(wrong)
    }
}

#[cfg(test)]
mod tests;
