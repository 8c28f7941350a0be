//! What a list of attachments or contributors selects and how it is sorted. Pure.

use super::Belonging;
use crate::http::page::{Direction, ListQuery};
use crate::program::Program;
use crate::text::Slug;

/// What a list selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Whether nothing is selected: the active season is asked for, and there is none.
    pub is_empty: bool,
    /// The columns of segments that must have these values.
    pub columns: Vec<(&'static str, String)>,
    /// The columns of the entry that must have these values.
    pub of_entry: Vec<(&'static str, String)>,
    /// The entry.
    pub entry: Option<Slug>,
    /// A tag of the entry.
    pub tag: Option<String>,
}

/// The values of `payment_status`, with those that are stored.
const PAYMENTS: &[(&str, &str)] = &[("paid", "Paid"), ("awaiting_payment", "Unpaid")];

impl Selection {
    /// What a query selects.
    #[must_use]
    pub fn of(query: &ListQuery, program: &Program) -> Self {
        let mut columns = Vec::new();
        let active = program.active_season().map(|season| season.slug);
        let season = query.slug("season").or(active);
        let wants_all = query.is_all("season");
        if let Some(season) = season.filter(|_| !wants_all) {
            columns.push(("season", season.to_string()));
        }
        for name in ["category", "tab"] {
            columns.extend(query.slug(name).map(|slug| (name, slug.to_string())));
        }
        let mut of_entry: Vec<_> =
            query.slug("chapter").map(|slug| ("chapter", slug.to_string())).into_iter().collect();
        for name in ["status", "moderation"] {
            of_entry.extend(query.word(name).map(|word| (name, word.to_owned())));
        }
        let payment = query.word("payment_status").and_then(|word| PAYMENTS.iter().find(|(name, _)| *name == word));
        of_entry.extend(payment.map(|(_, stored)| ("payment", (*stored).to_owned())));
        of_entry.extend(query.text("review_status").map(|text| ("review", text.to_owned())));
        Self {
            is_empty: season.is_none() && !wants_all,
            columns,
            of_entry,
            entry: query.slug("entry"),
            tag: query.text("tag").map(str::to_owned),
        }
    }

    /// Whether few may be selected among many.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        // The season is always there, and what people look at is the active one.
        self.columns.len() > 1 || !self.of_entry.is_empty() || self.entry.is_some() || self.tag.is_some()
    }
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A column, and whether its values are texts.
    Column(&'static str, bool),
    /// The answers to a field of contributors; those without one come first.
    Answer(Slug),
}

/// A list that is asked for.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Of what.
    pub of: Belonging,
    /// What it selects.
    pub selection: Selection,
    /// What it is sorted by.
    pub order: Order,
    /// Whether it runs against the order of its index.
    pub is_reversed: bool,
}

impl Listed {
    /// The list of a query whose order is this one of the interface.
    #[must_use]
    pub fn named(of: Belonging, selection: Selection, order: &str, direction: Direction) -> Self {
        let is_descending = direction == Direction::Descending;
        let (order, is_reversed) = match order {
            "entry" => (Order::Column("entry_key", true), is_descending),
            "tab" => (Order::Column("tab", true), is_descending),
            "created" => (Order::Column("created", false), is_descending),
            "order" => (Order::Column("place", false), is_descending),
            // The index of the last change has the newest first.
            _ => (Order::Column("recency", false), !is_descending),
        };
        Self { of, selection, order, is_reversed }
    }

    /// The list of a query that is sorted by the answers to a field.
    #[must_use]
    pub fn by_answer(selection: Selection, field: Slug, direction: Direction) -> Self {
        let is_reversed = direction == Direction::Descending;
        Self { of: Belonging::Contributor, selection, order: Order::Answer(field), is_reversed }
    }

    fn name(&self) -> String {
        match self.order {
            Order::Column(column, _) => column.to_owned(),
            Order::Answer(field) => format!("={field}"),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        !matches!(self.order, Order::Column(_, false))
    }

    /// The position of a record for a cursor.
    pub(super) fn position(&self, place: &Place) -> Vec<u8> {
        let mut position = vec![u8::from(self.is_reversed)];
        position.extend_from_slice(self.name().as_bytes());
        position.push(b' ');
        position.extend_from_slice(place.name.as_bytes());
        position.push(b' ');
        match &place.key {
            Key::Integer(integer) => position.extend_from_slice(&integer.to_be_bytes()),
            Key::Text(text) => position.extend_from_slice(text.as_bytes()),
        }
        position
    }

    /// The place of a cursor's position; nothing where it is none of this list.
    pub(super) fn place(&self, position: &[u8]) -> Option<Place> {
        let rest = position.strip_prefix(&[u8::from(self.is_reversed)])?;
        let rest = rest.strip_prefix(self.name().as_bytes())?.strip_prefix(b" ")?;
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let (name, key) = (std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let key = if self.is_text() {
            // PostgreSQL has no text with this character in it.
            Key::Text(std::str::from_utf8(key).ok().filter(|text| !text.contains('\0'))?.to_owned())
        } else {
            Key::Integer(i64::from_be_bytes(key.try_into().ok()?))
        };
        Some(Place { key, name: name.to_owned() })
    }
}

/// What a record is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A time, or a place in an order.
    Integer(i64),
    /// A text.
    Text(String),
}

/// Where a record stands in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// What it is sorted by.
    pub key: Key,
    /// Its slug or token, by which ties are ordered.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_by_its_own_sort_alone() {
        let list = |order, direction| Listed::named(Belonging::Attachment, Selection::default(), order, direction);
        let by_title = list("entry", Direction::Ascending);
        let by_time = list("created", Direction::Descending);
        let field = Slug::parse("FieldCtr").unwrap();
        let by_answer = Listed::by_answer(Selection::default(), field, Direction::Ascending);
        let text = Place { key: Key::Text("a title".to_owned()), name: "TokenToken".to_owned() };
        let time = Place { key: Key::Integer(-5), name: "TokenToken".to_owned() };
        assert_eq!(by_title.place(&by_title.position(&text)), Some(text.clone()));
        assert_eq!(by_time.place(&by_time.position(&time)), Some(time.clone()));
        assert_eq!(by_answer.place(&by_answer.position(&text)), Some(text.clone()));
        for (list, position) in [
            (&by_title, by_time.position(&time)),
            (&by_time, by_title.position(&text)),
            (&by_title, by_answer.position(&text)),
            (&by_title, list("entry", Direction::Descending).position(&text)),
        ] {
            assert_eq!(list.place(&position), None);
        }
        for wrong in [&b""[..], b"\0entry_key", b"\0entry_key  x", b"\0entry_key a1 x", b"\0entry_key ab \0"] {
            assert_eq!(by_title.place(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_was_changed_last_comes_first_by_default() {
        let list = |direction| Listed::named(Belonging::Contributor, Selection::default(), "updated", direction);
        assert!(!list(Direction::Descending).is_reversed, "the index has the newest first");
        assert!(list(Direction::Ascending).is_reversed);
    }
}
