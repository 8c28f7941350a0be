//! Finds the slots of a document.

use memchr::memchr;

use crate::text::Slug;

/// What marks a slot.
pub const MARKER: char = '\u{7f}';

/// A place of a document that is filled when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot<'d> {
    /// A reference to a record of the program; the letter of its kind, and its slug.
    Reference(char, &'d str),
    /// A path below the deployment's base address.
    Link(&'d str),
    /// The token of a file.
    Download(&'d str),
    /// An amount of money with the code of its currency before it.
    Money(&'d str),
    /// The category whose parent is shown.
    Parent(&'d str),
    /// A person.
    Person {
        /// The slug of the user.
        slug: &'d str,
        /// How much of the person is shown.
        shown_as: ShownAs,
    },
    /// The JSON text of a translated map.
    Translated(&'d str),
    /// The JSON text of an answer map.
    Answers(&'d str),
    /// The members of the second document.
    Splice,
    /// What is never shown.
    Hidden,
}

/// How much is shown of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAs {
    /// The name, its parts, the e-mail address and the global id.
    Entrant,
    /// The same without the global id.
    Purchaser,
    /// The parts of the name.
    Manager,
}

impl<'d> Slot<'d> {
    /// A slot that is a string: what stands between the marker and the closing quotation mark.
    #[inline]
    pub fn of_string(inside: &'d str) -> Option<Self> {
        match inside.as_bytes().first()? {
            b'r' => Some(Self::Reference(char::from(*inside.as_bytes().get(1)?), inside.get(2..)?)),
            b'l' => Some(Self::Link(&inside[1..])),
            b'd' => Some(Self::Download(&inside[1..])),
            b'$' => Some(Self::Money(&inside[1..])),
            b'c' => Some(Self::Parent(&inside[1..])),
            b'e' => Some(Self::Person { slug: &inside[1..], shown_as: ShownAs::Entrant }),
            b'u' => Some(Self::Person { slug: &inside[1..], shown_as: ShownAs::Purchaser }),
            b'm' => Some(Self::Person { slug: &inside[1..], shown_as: ShownAs::Manager }),
            _ => None,
        }
    }

    /// A slot that is a member: what its name holds after the marker, and the JSON text of its value.
    #[inline]
    pub fn of_member(name: &str, json: &'d str) -> Option<Self> {
        match name.as_bytes().first()? {
            b't' => Some(Self::Translated(json)),
            b'a' => Some(Self::Answers(json)),
            b'p' => Some(Self::Splice),
            b'h' => Some(Self::Hidden),
            _ => None,
        }
    }
}

/// The slots of a document in order: for each, the text before it and the slot; at last the rest, without a slot.
pub struct Slots<'d> {
    document: &'d str,
    done: bool,
}

/// Walks through a document from slot to slot.
pub fn slots(document: &str) -> Slots<'_> {
    Slots { document, done: false }
}

impl<'d> Iterator for Slots<'d> {
    type Item = (&'d str, Option<Slot<'d>>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let found = memchr(MARKER as u8, self.document.as_bytes())
            .and_then(|marker| self.string_at(marker).or_else(|| self.member_at(marker)));
        let Some((before, slot, rest)) = found else {
            self.done = true;
            return Some((self.document, None));
        };
        self.document = rest;
        Some((before, Some(slot)))
    }
}

/// The people whom a document shows.
pub fn people_of(document: &str) -> Vec<Slug> {
    let person = |(_, slot): (&str, Option<Slot<'_>>)| match slot {
        Some(Slot::Person { slug, .. }) => Slug::parse(slug),
        _ => None,
    };
    slots(document).filter_map(person).collect()
}

/// What stands before a slot, the slot, and what follows it.
type Split<'d> = (&'d str, Slot<'d>, &'d str);

impl<'d> Slots<'d> {
    /// What follows the last slot that was given.
    pub fn rest(&self) -> &'d str {
        self.document
    }

    #[inline]
    fn string_at(&self, marker: usize) -> Option<Split<'d>> {
        let inside = self.document.as_bytes().get(marker + 1..)?;
        let length = match inside.first()? {
            // All slugs are as long, so this end is not searched for.
            b'r' => 2 + Slug::LENGTH,
            b'e' | b'u' | b'm' => 1 + Slug::LENGTH,
            b'l' | b'd' | b'c' | b'$' => memchr(b'"', inside)?,
            _ => return None,
        };
        if inside.get(length) != Some(&b'"') {
            return None;
        }
        let (start, end) = (marker + 1, marker + 1 + length);
        let slot = Slot::of_string(self.document.get(start..end)?)?;
        Some((self.document.get(..marker.checked_sub(1)?)?, slot, self.document.get(end + 1..)?))
    }

    #[inline]
    fn member_at(&self, marker: usize) -> Option<Split<'d>> {
        let inside = self.document.as_bytes().get(marker + 1..)?;
        let (start, end) = (marker + 1, marker + 1 + memchr(b'"', inside)?);
        let head = self.document.get(start..end)?;
        // What follows the name is the colon, and for an object slot the brace that closes it.
        if head == "p" {
            let before = self.document.get(..marker.checked_sub(1)?)?;
            return Some((before, Slot::Splice, self.document.get(end + 3..)?));
        }
        let length: usize = head.get(1..)?.parse().ok()?;
        let value_end = (end + 2).checked_add(length)?;
        let slot = Slot::of_member(head, self.document.get(end + 2..value_end)?)?;
        if slot == Slot::Hidden {
            return Some((self.document.get(..marker.checked_sub(1)?)?, slot, self.document.get(value_end..)?));
        }
        Some((self.document.get(..marker.checked_sub(2)?)?, slot, self.document.get(value_end + 1..)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use crate::kind::Kind;
    use crate::text::{Currency, Money};

    #[test]
    fn every_form_is_found_between_the_text_around_it() {
        let slug = Slug::parse("AbCdEfGh").unwrap();
        let map = r#"{"en_GB":"a \"quoted\" text"}"#;
        let document = document::object(|object| {
            object.text("text", "\u{7f}rsAbCdEfGh");
            object.reference("season", Kind::Season, slug);
            object.list("prices", |list| list.reference(Kind::Price, slug));
            object.link("link", Kind::User, "AbCdEfGh");
            object.download("file", &"t".repeat(64));
            object.formatted_money("price", Money::new(-5, Currency::parse("EUR").unwrap()));
            object.parent("parent", slug);
            object.entrant("entrant", slug);
            object.purchaser("user", slug);
            object.answers("answers", map);
            object.splice();
            object.hidden(|object| object.text("note", "\u{7f}"));
        });
        let mut around = String::new();
        let mut found = Vec::new();
        for (before, slot) in slots(&document) {
            around.push_str(before);
            found.extend(slot);
            around.push_str(if slot.is_some() { "*" } else { "" });
        }
        let token = "t".repeat(64);
        let letters = (Kind::Season.letter(), Kind::Price.letter());
        let expected = [
            Slot::Reference(letters.0, "AbCdEfGh"),
            Slot::Reference(letters.1, "AbCdEfGh"),
            Slot::Link("/user/AbCdEfGh"),
            Slot::Download(&token),
            Slot::Money("EUR -0.05"),
            Slot::Parent("AbCdEfGh"),
            Slot::Person { slug: "AbCdEfGh", shown_as: ShownAs::Entrant },
            Slot::Person { slug: "AbCdEfGh", shown_as: ShownAs::Purchaser },
            Slot::Answers(map),
            Slot::Splice,
            Slot::Hidden,
        ];
        assert_eq!(found, expected);
        assert_eq!(
            around,
            r#"{"text":"\u007frsAbCdEfGh","season":*,"prices":[*],"link":*,"file":*,"price":*,"parent":*,"entrant":*,"user":*,"answers":*,*,*}"#
        );
    }

    #[test]
    fn what_is_no_slot_stays_as_it_is() {
        let marker = MARKER;
        let broken = [
            format!("{marker}"),
            format!("{marker}rsAbCdEfGh\""),
            format!("\"{marker}rsAbCdEfG\""),
            format!("\"{marker}rsAbCdEfGhi\""),
            format!("\"{marker}rs\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\""),
            format!("\"{marker}eAbCdEfG\""),
            format!("\"{marker}uAbCdEfGhi\""),
            format!("\"{marker}l/user"),
            format!("\"{marker}x\""),
            format!("{{\"{marker}t9\":{{}}}}"),
            format!("{{\"{marker}a{}\":{{}}}}", usize::MAX),
            format!("\"{marker}p"),
            format!("\"{marker}h9\":{{}}}}"),
        ];
        for document in &broken {
            let found: Vec<_> = slots(document).collect();
            assert_eq!(found, [(document.as_str(), None)]);
        }
    }
}
