//! Text in several languages.

use std::fmt;

use super::{Locale, write_json_string};

/// A map from locale to text that keeps the order in which its locales came.
///
/// In JSON it is an object of codes and strings. Two maps are equal when they hold the same texts in the same order.
///
/// A program has tens of thousands of them, so that a map is one piece of memory: for each text the locale's number, the
/// text's length as five digits to the base of 128, and the text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Translated(Box<str>);

/// A locale that a map was to hold twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the locale `{0}` is given twice")]
pub struct DuplicateLocale(pub Locale);

/// Digits of a length.
const DIGITS: usize = 5;
/// The bits of a digit, which is a character of ASCII.
const DIGIT_BITS: usize = 7;

/// The locales and texts of a map, in order.
#[derive(Debug, Clone)]
pub struct Texts<'t>(&'t str);

impl<'t> Iterator for Texts<'t> {
    type Item = (Locale, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.0.split_at_checked(1 + DIGITS)?;
        let (number, digits) = head.as_bytes().split_first()?;
        let length = digits.iter().fold(0, |length, digit| length << DIGIT_BITS | usize::from(*digit));
        let (text, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*Locale::ALL.get(usize::from(*number))?, text))
    }
}

fn append(map: &mut String, locale: Locale, text: &str) {
    // There are fewer locales than characters of ASCII.
    map.push(char::from(locale as u8));
    for digit in (0..DIGITS).rev() {
        let [.., low] = (text.len() >> (digit * DIGIT_BITS)).to_be_bytes();
        map.push(char::from(low & 0x7f));
    }
    map.push_str(text);
}

impl fmt::Debug for Translated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl<'t> IntoIterator for &'t Translated {
    type Item = (Locale, &'t str);
    type IntoIter = Texts<'t>;

    fn into_iter(self) -> Texts<'t> {
        self.iter()
    }
}

impl Translated {
    /// The empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// The map with one text.
    pub fn of(locale: Locale, text: impl AsRef<str>) -> Self {
        Self::made_of([(locale, text.as_ref())].into_iter())
    }

    /// The map of these texts, in this order.
    pub fn from_pairs(pairs: &[(Locale, &str)]) -> Result<Self, DuplicateLocale> {
        for (index, (locale, _)) in pairs.iter().enumerate() {
            if pairs[..index].iter().any(|(other, _)| other == locale) {
                return Err(DuplicateLocale(*locale));
            }
        }
        Ok(Self::made_of(pairs.iter().copied()))
    }

    /// The map of these texts, whose locales are distinct.
    fn made_of<'t>(pairs: impl Iterator<Item = (Locale, &'t str)> + Clone) -> Self {
        let length = pairs.clone().map(|(_, text)| 1 + DIGITS + text.len()).sum();
        let mut map = String::with_capacity(length);
        for (locale, text) in pairs {
            append(&mut map, locale, text);
        }
        Self(map.into_boxed_str())
    }

    /// The text in this locale, when there is one.
    pub fn get(&self, locale: Locale) -> Option<&str> {
        self.iter().find(|(held, _)| *held == locale).map(|(_, text)| text)
    }

    /// The text in this locale; empty when there is none, as the interface shows it.
    pub fn in_locale(&self, locale: Locale) -> &str {
        self.get(locale).unwrap_or_default()
    }

    /// The first text of the map; empty when the map is.
    pub fn first(&self) -> &str {
        self.iter().next().map_or("", |(_, text)| text)
    }

    /// Puts a text in its place, or at the end when the locale is new.
    pub fn set(&mut self, locale: Locale, text: impl AsRef<str>) {
        let text = text.as_ref();
        let is_new = self.get(locale).is_none();
        let held = self.iter().map(|(held, before)| (held, if held == locale { text } else { before }));
        *self = Self::made_of(held.chain(is_new.then_some((locale, text))));
    }

    /// A partial update: every text of `update` is set, every other locale keeps its text. An empty text of a locale that
    /// has none says what is so already: that is how it is shown.
    pub fn merge(&mut self, update: &Self) {
        let new = update.iter().filter(|(locale, text)| self.get(*locale).is_none() && !text.is_empty());
        let held = self.iter().map(|(locale, text)| (locale, update.get(locale).unwrap_or(text)));
        *self = Self::made_of(held.chain(new));
    }

    /// The locales and texts in order.
    pub fn iter(&self) -> Texts<'_> {
        Texts(&self.0)
    }

    /// Whether the map has no locale.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the map as a compact JSON object, fit for a stored document (see [`write_json_string`]).
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (locale, text)) in self.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_json_string(locale.code(), out);
            out.push(b':');
            write_json_string(text, out);
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn maps() -> impl Strategy<Value = Translated> {
        proptest::collection::vec((0..Locale::ALL.len(), any::<String>()), 0..6).prop_map(|pairs| {
            let mut map = Translated::new();
            for (index, text) in pairs {
                map.set(Locale::ALL[index], text);
            }
            map
        })
    }

    #[test]
    fn a_missing_text_is_empty() {
        let map = Translated::of(Locale::EnGb, "North");
        assert_eq!(map.in_locale(Locale::EnGb), "North");
        assert_eq!(map.in_locale(Locale::FrFr), "");
        assert_eq!(map.get(Locale::FrFr), None);
        assert_eq!(map.first(), "North");
        assert_eq!(Translated::new().first(), "");
    }

    #[test]
    fn a_merge_keeps_what_it_does_not_name() {
        let mut map = Translated::from_pairs(&[(Locale::FrFr, "Nord"), (Locale::EnGb, "North")]).unwrap();
        map.merge(&Translated::from_pairs(&[(Locale::DeDe, "Norden"), (Locale::EnGb, "Up")]).unwrap());
        let merged: Vec<_> = map.iter().collect();
        assert_eq!(merged, [(Locale::FrFr, "Nord"), (Locale::EnGb, "Up"), (Locale::DeDe, "Norden")]);
    }

    #[test]
    fn a_repeated_locale_is_an_error() {
        let twice = [(Locale::EnGb, "a"), (Locale::EnGb, "b")];
        assert_eq!(Translated::from_pairs(&twice), Err(DuplicateLocale(Locale::EnGb)));
    }

    #[test]
    fn a_long_text_is_held_whole() {
        assert!(Locale::ALL.len() < 128, "a locale's number is a character of ASCII");
        let long = "ä".repeat(1 << 16);
        let mut map = Translated::of(Locale::EnGb, &long);
        map.set(Locale::DeDe, "kurz");
        assert_eq!(map.get(Locale::EnGb), Some(long.as_str()));
        assert_eq!((map.get(Locale::DeDe), map.iter().count()), (Some("kurz"), 2));
    }

    proptest! {
        #[test]
        fn a_map_is_written_in_its_order(map in maps()) {
            let mut out = Vec::new();
            map.write_json(&mut out);
            let read: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&out).unwrap();
            let read: Vec<_> = read.iter().map(|(code, text)| (code.as_str(), text.as_str().unwrap())).collect();
            let held: Vec<_> = map.iter().map(|(locale, text)| (locale.code(), text)).collect();
            prop_assert_eq!(read, held);
        }

        #[test]
        fn after_a_merge_the_update_wins(mut map in maps(), update in maps()) {
            let before = map.clone();
            map.merge(&update);
            for locale in Locale::ALL {
                let held = before.get(locale);
                let update = update.get(locale).filter(|text| held.is_some() || !text.is_empty());
                prop_assert_eq!(map.get(locale), update.or(held));
            }
        }
    }
}
