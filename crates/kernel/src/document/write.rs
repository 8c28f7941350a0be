//! Writes documents: compact JSON, members in the order of the calls.

use std::io::Write as _;

use super::slot::MARKER;
use crate::kind::Kind;
use crate::text::{Date, LocalTime, Money, Points, Rate, Slug, Timestamp, Translated, write_json_string};

/// Writes an object and returns its text.
pub fn object(write: impl FnOnce(&mut Object<'_>)) -> String {
    let mut text = Vec::with_capacity(1024);
    write_object(&mut text, write);
    string_of(text)
}

fn string_of(text: Vec<u8>) -> String {
    // Only whole strings were written, so that the lossy way is never taken.
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A document with more members at its end.
pub fn extended(document: &str, write: impl FnOnce(&mut Object<'_>)) -> String {
    let begun = document.strip_suffix('}').unwrap_or(document);
    let mut text = begun.as_bytes().to_vec();
    write(&mut Object { text: &mut text, empty: begun.len() < 2 });
    text.push(b'}');
    string_of(text)
}

fn write_object(text: &mut Vec<u8>, write: impl FnOnce(&mut Object<'_>)) {
    text.push(b'{');
    write(&mut Object { text, empty: true });
    text.push(b'}');
}

/// Writes a comma in front of all but the first.
fn separate(text: &mut Vec<u8>, empty: &mut bool) {
    if !std::mem::replace(empty, false) {
        text.push(b',');
    }
}

/// The members of an object that is being written.
pub struct Object<'w> {
    text: &'w mut Vec<u8>,
    empty: bool,
}

impl Object<'_> {
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        separate(self.text, &mut self.empty);
        write_json_string(name, self.text);
        self.text.push(b':');
        self.text
    }

    /// A value as a function writes it, or null.
    fn optional<T>(&mut self, name: &str, value: Option<T>, write: impl FnOnce(&mut Self, &str, T)) {
        match value {
            Some(value) => write(self, name, value),
            None => self.null(name),
        }
    }

    /// A string.
    pub fn text(&mut self, name: &str, value: &str) {
        write_json_string(value, self.name(name));
    }

    /// A string or null.
    pub fn optional_text(&mut self, name: &str, value: Option<&str>) {
        self.optional(name, value, Self::text);
    }

    /// null.
    pub fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    /// An integer.
    pub fn integer(&mut self, name: &str, value: i64) {
        let _ = write!(self.name(name), "{value}");
    }

    /// An integer or null.
    pub fn optional_integer(&mut self, name: &str, value: Option<i64>) {
        self.optional(name, value, Self::integer);
    }

    /// true or false.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.name(name).extend_from_slice(if value { b"true".as_slice() } else { b"false" });
    }

    /// A time, as ISO 8601 in UTC.
    pub fn time(&mut self, name: &str, value: Timestamp) {
        let _ = write!(self.name(name), "\"{value}\"");
    }

    /// A time or null.
    pub fn optional_time(&mut self, name: &str, value: Option<Timestamp>) {
        self.optional(name, value, Self::time);
    }

    /// A date or null.
    pub fn optional_date(&mut self, name: &str, value: Option<Date>) {
        self.optional(name, value, Self::date);
    }

    /// A date.
    pub fn date(&mut self, name: &str, value: Date) {
        let _ = write!(self.name(name), "\"{value}\"");
    }

    /// A date and a time of day, or null.
    pub fn optional_local_time(&mut self, name: &str, value: Option<LocalTime>) {
        self.optional(name, value, Self::local_time);
    }

    /// A date and a time of day.
    pub fn local_time(&mut self, name: &str, value: LocalTime) {
        let _ = write!(self.name(name), "\"{value}\"");
    }

    /// An amount: a number with the decimals of its currency.
    pub fn money(&mut self, name: &str, value: Money) {
        let _ = write!(self.name(name), "{}", value.to_decimal());
    }

    /// A percentage.
    pub fn rate(&mut self, name: &str, value: Rate) {
        let _ = write!(self.name(name), "{value}");
    }

    /// A number of points.
    pub fn points(&mut self, name: &str, value: Points) {
        let _ = write!(self.name(name), "{value}");
    }

    /// JSON text as it stands, made by this writer or in canonical form.
    pub fn raw(&mut self, name: &str, json: &str) {
        self.name(name).extend_from_slice(json.as_bytes());
    }

    /// A bare slug.
    pub fn slug(&mut self, name: &str, value: Slug) {
        let _ = write!(self.name(name), "\"{value}\"");
    }

    /// A bare slug or null.
    pub fn optional_slug(&mut self, name: &str, value: Option<Slug>) {
        self.optional(name, value, Self::slug);
    }

    /// A whole translated map, as in a program file.
    pub fn locales(&mut self, name: &str, value: &Translated) {
        value.write_json(self.name(name));
    }

    /// Slot: a reference to a record of the program.
    pub fn reference(&mut self, name: &str, kind: Kind, slug: Slug) {
        let _ = write!(self.name(name), "\"{MARKER}r{}{slug}\"", kind.letter());
    }

    /// Slot: a reference, or null.
    pub fn optional_reference(&mut self, name: &str, kind: Kind, slug: Option<Slug>) {
        self.optional(name, slug, |object, name, slug| object.reference(name, kind, slug));
    }

    /// Slot: a reference to the parent of a category, or null where it has none.
    pub fn parent(&mut self, name: &str, category: Slug) {
        let _ = write!(self.name(name), "\"{MARKER}c{category}\"");
    }

    /// Slot: an amount as people read it.
    pub fn formatted_money(&mut self, name: &str, value: Money) {
        let _ = write!(self.name(name), "\"{MARKER}${}\"", value.formatted());
    }

    /// Slot: a person who entered, with the global id.
    pub fn entrant(&mut self, name: &str, slug: Slug) {
        let _ = write!(self.name(name), "\"{MARKER}e{slug}\"");
    }

    /// Slot: a person who ordered.
    pub fn purchaser(&mut self, name: &str, slug: Slug) {
        let _ = write!(self.name(name), "\"{MARKER}u{slug}\"");
    }

    /// Slot: the absolute address of a record.
    pub fn link(&mut self, name: &str, kind: Kind, identifier: &str) {
        let _ = write!(self.name(name), "\"{MARKER}l/{}/{identifier}\"", kind.path());
    }

    /// What names a record: its slug, its address, and what it is called.
    pub fn named(&mut self, kind: Kind, slug: Slug, (name, value): (&str, &str)) {
        self.slug("slug", slug);
        self.link("link", kind, slug.as_str());
        self.text(name, value);
    }

    /// Slot: the signed address of a file.
    pub fn download(&mut self, name: &str, token: &str) {
        let _ = write!(self.name(name), "\"{MARKER}d{token}\"");
    }

    /// Slot: a translated map, shown in the languages asked for.
    pub fn translated(&mut self, name: &str, value: &Translated) {
        let mut map = Vec::new();
        value.write_json(&mut map);
        self.translated_text(name, &String::from_utf8_lossy(&map));
    }

    /// Slot: a translated map, given as its canonical JSON.
    pub fn translated_text(&mut self, name: &str, map: &str) {
        let _ = write!(self.name(name), "{{\"{MARKER}t{}\":{map}}}", map.len());
    }

    /// Slot: answers, given as the canonical JSON of a map from field slug to value.
    pub fn answers(&mut self, name: &str, map: &str) {
        let _ = write!(self.name(name), "{{\"{MARKER}a{}\":{map}}}", map.len());
    }

    /// Slot: the members of the second document.
    pub fn splice(&mut self) {
        separate(self.text, &mut self.empty);
        let _ = write!(self.text, "\"{MARKER}p\":0");
    }

    /// Slot: what is never shown, as the last member; none where nothing is written.
    pub fn hidden(&mut self, write: impl FnOnce(&mut Object<'_>)) {
        let members = object(write);
        if members.len() > 2 {
            separate(self.text, &mut self.empty);
            let _ = write!(self.text, "\"{MARKER}h{}\":{members}", members.len());
        }
    }

    /// An object.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut Object<'_>)) {
        write_object(self.name(name), write);
    }

    /// A list.
    pub fn list(&mut self, name: &str, write: impl FnOnce(&mut List<'_>)) {
        let text = self.name(name);
        text.push(b'[');
        write(&mut List { text, empty: true });
        text.push(b']');
    }

    /// A list of bare slugs.
    pub fn slugs(&mut self, name: &str, values: &[Slug]) {
        self.texts(name, values.iter().map(Slug::as_str));
    }

    /// A list of strings.
    pub fn texts<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        self.list(name, |list| values.into_iter().for_each(|value| list.text(value.as_ref())));
    }
}

/// The items of a list that is being written.
pub struct List<'w> {
    text: &'w mut Vec<u8>,
    empty: bool,
}

impl List<'_> {
    fn next(&mut self) -> &mut Vec<u8> {
        separate(self.text, &mut self.empty);
        self.text
    }

    /// A string.
    pub fn text(&mut self, value: &str) {
        write_json_string(value, self.next());
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        let _ = write!(self.next(), "{value}");
    }

    /// Slot: a reference to a record of the program.
    pub fn reference(&mut self, kind: Kind, slug: Slug) {
        let _ = write!(self.next(), "\"{MARKER}r{}{slug}\"", kind.letter());
    }

    /// Slot: a person who manages a chapter.
    pub fn manager(&mut self, slug: Slug) {
        let _ = write!(self.next(), "\"{MARKER}m{slug}\"");
    }

    /// JSON text as it stands.
    pub fn raw(&mut self, json: &str) {
        self.next().extend_from_slice(json.as_bytes());
    }

    /// An object.
    pub fn object(&mut self, write: impl FnOnce(&mut Object<'_>)) {
        write_object(self.next(), write);
    }
}
