//! Text in several languages.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Locale, write_json_string};

/// A map from locale to text that keeps the order in which its locales came.
///
/// In JSON it is an object of codes and strings; an unknown code and a code that comes twice are errors that
/// name it. Two maps are equal when they hold the same texts in the same order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Translated(Vec<(Locale, String)>);

/// A locale that a map was to hold twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the locale `{0}` is given twice")]
pub struct DuplicateLocale(pub Locale);

impl Translated {
    /// The empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The empty map, with room for so many texts.
    #[must_use]
    pub fn with_capacity(locales: usize) -> Self {
        Self(Vec::with_capacity(locales))
    }

    /// The map with one text.
    #[must_use]
    pub fn of(locale: Locale, text: impl Into<String>) -> Self {
        Self(vec![(locale, text.into())])
    }

    /// The map of these texts, in this order.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (Locale, String)>) -> Result<Self, DuplicateLocale> {
        let mut map = Self::new();
        for (locale, text) in pairs {
            map.insert_new(locale, text)?;
        }
        Ok(map)
    }

    fn insert_new(&mut self, locale: Locale, text: String) -> Result<(), DuplicateLocale> {
        if self.get(locale).is_some() {
            return Err(DuplicateLocale(locale));
        }
        self.0.push((locale, text));
        Ok(())
    }

    /// The text in this locale, when there is one.
    #[must_use]
    pub fn get(&self, locale: Locale) -> Option<&str> {
        self.0.iter().find(|(held, _)| *held == locale).map(|(_, text)| text.as_str())
    }

    /// The text in this locale; empty when there is none, as the interface shows it.
    #[must_use]
    pub fn in_locale(&self, locale: Locale) -> &str {
        self.get(locale).unwrap_or_default()
    }

    /// The first text of the map; empty when the map is.
    #[must_use]
    pub fn first(&self) -> &str {
        self.0.first().map_or("", |(_, text)| text)
    }

    /// Puts a text in its place, or at the end when the locale is new.
    pub fn set(&mut self, locale: Locale, text: impl Into<String>) {
        let text = text.into();
        match self.0.iter_mut().find(|(held, _)| *held == locale) {
            Some((_, held)) => *held = text,
            None => self.0.push((locale, text)),
        }
    }

    /// Takes a locale out; false when it was not there.
    pub fn remove(&mut self, locale: Locale) -> bool {
        let before = self.0.len();
        self.0.retain(|(held, _)| *held != locale);
        self.0.len() != before
    }

    /// A partial update: every text of `update` is set, every other locale keeps its text.
    pub fn merge(&mut self, update: Self) {
        for (locale, text) in update.0 {
            self.set(locale, text);
        }
    }

    /// Puts the locales that `order` names into its order, before the others.
    pub fn sort_by_order(&mut self, order: &[Locale]) {
        self.0.sort_by_key(|(locale, _)| order.iter().position(|other| other == locale).unwrap_or(order.len()));
    }

    /// The locales and texts in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Locale, &str)> + '_ {
        self.0.iter().map(|(locale, text)| (*locale, text.as_str()))
    }

    /// The number of locales.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map has no locale.
    #[must_use]
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

impl Serialize for Translated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Translated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Translated;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of locale codes and strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Translated, A::Error> {
                let mut map = Translated::new();
                while let Some((locale, text)) = pairs.next_entry()? {
                    map.insert_new(locale, text).map_err(A::Error::custom)?;
                }
                Ok(map)
            }
        }

        deserializer.deserialize_map(Pairs)
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
        let mut map: Translated = serde_json::from_str(r#"{"fr_FR":"Nord","en_GB":"North"}"#).unwrap();
        map.merge(serde_json::from_str(r#"{"de_DE":"Norden","en_GB":"Up"}"#).unwrap());
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"fr_FR":"Nord","en_GB":"Up","de_DE":"Norden"}"#);
        assert!(map.remove(Locale::FrFr));
        assert!(!map.remove(Locale::FrFr));
    }

    #[test]
    fn the_order_of_an_account_can_be_taken() {
        let mut map: Translated = serde_json::from_str(r#"{"fr_FR":"1","en_GB":"2","de_DE":"3"}"#).unwrap();
        map.sort_by_order(&[Locale::DeDe, Locale::EnGb]);
        let locales: Vec<Locale> = map.iter().map(|(locale, _)| locale).collect();
        assert_eq!(locales, [Locale::DeDe, Locale::EnGb, Locale::FrFr]);
    }

    #[test]
    fn a_wrong_or_repeated_locale_is_named() {
        let error = |json| serde_json::from_str::<Translated>(json).unwrap_err().to_string();
        assert!(error(r#"{"xx_XX":"a"}"#).contains("`xx_XX` is not a locale"));
        assert!(error(r#"{"en_GB":"a","en_GB":"b"}"#).contains("`en_GB` is given twice"));
        assert!(error(r#"{"en_GB":null}"#).contains("expected a string"));
        assert!(error("[]").contains("expected an object of locale codes and strings"));
        assert!(Translated::from_pairs([(Locale::EnGb, "a".into()), (Locale::EnGb, "b".into())]).is_err());
    }

    proptest! {
        #[test]
        fn maps_round_trip(map in maps()) {
            let mut out = Vec::new();
            map.write_json(&mut out);
            prop_assert_eq!(&serde_json::from_slice::<Translated>(&out).unwrap(), &map);
            let json = serde_json::to_string(&map).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Translated>(&json).unwrap(), &map);
        }

        #[test]
        fn after_a_merge_the_update_wins(mut map in maps(), update in maps()) {
            let before = map.clone();
            map.merge(update.clone());
            for locale in Locale::ALL {
                prop_assert_eq!(map.get(locale), update.get(locale).or(before.get(locale)));
            }
        }
    }
}
