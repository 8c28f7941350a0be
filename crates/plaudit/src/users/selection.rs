//! What a list of users selects and how it is sorted. Pure.
//!
//! - A user joined the season that was active when the account added the user, and is active in the seasons in which the
//!   user has an entry that is not in the trash.
//! - `entries` asks for the active season (`current_season`, `none_current_season`), for any archived one
//!   (`archived_season`), or for no entry at all (`none`). Where no season is active, nobody has an entry in it.
//! - `deleted` and `trashed` are two vocabularies for one thing. Where neither is given, nothing from the trash is shown;
//!   one that is left out beside the other restricts nothing; both together must hold.

#[cfg(test)]
use super::Segment;
use crate::http::page::{Direction, Filter, FilterKind, ListQuery, ListSpec, Order};
use crate::program::Program;
use crate::program::seasons::Status;
use crate::text::{Locale, Slug};

const FILTERS: &[Filter] = &[
    Filter::new("active_in_season", FilterKind::Slug, "A season in which they have an entry"),
    Filter::new("season_joined", FilterKind::Slug, "The season that was active when they were added"),
    Filter::new("confirmation", FilterKind::OneOf(&["confirmed", "pending"]), "Whether they are confirmed"),
    Filter::new(
        "entries",
        FilterKind::OneOf(&["current_season", "none_current_season", "archived_season", "none"]),
        "Whether they have an entry in the active season, none in it, one in an archived season, or none at all",
    ),
    Filter::new("language", FilterKind::Locale, "Their language"),
    Filter::new("role", FilterKind::Slug, "A role that they have"),
    Filter::deleted().with_default("`none`, unless `trashed` is given"),
    Filter::trashed().with_default("`none`, unless `deleted` is given"),
];
const ORDERS: &[&str] =
    &["confirmed_at", "created_at", "created_by", "email", "first_name", "last_name", "mobile", "name", "updated"];

/// What the query of a list of users may say.
pub(super) const SPEC: ListSpec = ListSpec::new(FILTERS, ORDERS);

/// What is asked of the seasons in which a user has entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InSeasons {
    /// One of these, at least.
    AnyOf(Vec<Slug>),
    /// Not this one.
    Not(Slug),
    /// None at all.
    None,
}

/// What a list selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Whether users who are not in the trash are left out.
    pub hides_live: bool,
    /// Whether users in the trash are left out.
    pub hides_deleted: bool,
    /// Confirmed or not.
    pub confirmed: Option<bool>,
    /// The language.
    pub language: Option<Locale>,
    /// The season that they joined.
    pub season_joined: Option<Slug>,
    /// A role that they have.
    pub role: Option<Slug>,
    /// What holds of the seasons of their entries; all of it.
    pub seasons: Vec<InSeasons>,
}

impl Selection {
    /// What a query selects.
    pub(super) fn of(query: &ListQuery, program: &Program) -> Self {
        let (deleted, trashed) = (query.word("deleted"), query.word("trashed"));
        let is_either = |word| deleted == Some(word) || trashed == Some(word);
        let active = program.active_season().map(|season| season.slug);
        let archived = || {
            let seasons = program.seasons.all().map(|record| &record.value);
            seasons.filter(|season| season.status == Status::Archived).map(|season| season.slug).collect()
        };
        let of_entries = match query.word("entries") {
            Some("current_season") => Some(InSeasons::AnyOf(active.into_iter().collect())),
            Some("none_current_season") => active.map(InSeasons::Not),
            Some("archived_season") => Some(InSeasons::AnyOf(archived())),
            Some(_) => Some(InSeasons::None),
            None => None,
        };
        let active_in = query.slug("active_in_season").map(|season| InSeasons::AnyOf(vec![season]));
        Self {
            hides_live: is_either("only"),
            hides_deleted: is_either("none") || (deleted.is_none() && trashed.is_none()),
            confirmed: query.word("confirmation").map(|word| word == "confirmed"),
            language: query.locale("language"),
            season_joined: query.slug("season_joined"),
            role: query.slug("role"),
            seasons: active_in.into_iter().chain(of_entries).collect(),
        }
    }

    /// Whether few users may be selected among many.
    pub(super) fn is_narrow(&self) -> bool {
        let Self { hides_live, hides_deleted: _, confirmed, language, season_joined, role, seasons } = self;
        *hides_live
            || confirmed.is_some()
            || language.is_some()
            || season_joined.is_some()
            || role.is_some()
            || !seasons.is_empty()
    }

    /// Whether the users of a segment are selected.
    #[must_use]
    #[cfg(test)]
    pub(super) fn selects(&self, segment: &Segment) -> bool {
        let holds = |condition: &InSeasons| match condition {
            InSeasons::AnyOf(seasons) => seasons.iter().any(|season| segment.seasons.contains(*season)),
            InSeasons::Not(season) => !segment.seasons.contains(*season),
            InSeasons::None => segment.seasons.is_empty(),
        };
        !(if segment.deleted { self.hides_deleted } else { self.hides_live })
            && self.confirmed.is_none_or(|confirmed| segment.confirmed == confirmed)
            && self.language.is_none_or(|language| segment.language == language)
            && self.season_joined.is_none_or(|season| segment.season_joined == Some(season))
            && self.role.is_none_or(|role| segment.roles.contains(role))
            && self.seasons.iter().all(holds)
    }
}

/// A column that a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    /// The column.
    pub column: &'static str,
    /// Whether its values are texts.
    pub is_text: bool,
    /// Whether the list runs against the order of the index.
    pub is_reversed: bool,
}

impl Sort {
    /// The sort of a query.
    pub(super) fn of(query: &ListQuery) -> Self {
        let order = match query.order {
            Order::Named(order) => order,
            Order::Field(_) => SPEC.default_order,
        };
        let is_descending = query.direction == Direction::Descending;
        match order {
            "confirmed_at" | "created_at" => Self { column: order, is_text: false, is_reversed: is_descending },
            // The index of the last change has the newest first.
            "updated" => Self { column: "recency", is_text: false, is_reversed: !is_descending },
            _ => Self { column: order, is_text: true, is_reversed: is_descending },
        }
    }

    /// The position of a user for a cursor.
    pub(super) fn position(&self, place: &Place) -> Vec<u8> {
        let mut position = vec![u8::from(self.is_reversed)];
        position.extend_from_slice(place.slug.as_bytes());
        position.extend_from_slice(self.column.as_bytes());
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
        let (slug, rest) = rest.split_first_chunk::<8>()?;
        let key = rest.strip_prefix(self.column.as_bytes())?.strip_prefix(b" ")?;
        let key = if self.is_text {
            // PostgreSQL has no text with this character in it.
            Key::Text(std::str::from_utf8(key).ok().filter(|text| !text.contains('\0'))?.to_owned())
        } else {
            Key::Integer(i64::from_be_bytes(key.try_into().ok()?))
        };
        Some(Place { key, slug: Slug::from_letters(*slug)? })
    }
}

/// What a user is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A time.
    Integer(i64),
    /// A text.
    Text(String),
}

/// Where a user stands in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// What the user is sorted by.
    pub key: Key,
    /// The user, by which ties are ordered.
    pub slug: Slug,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::users::Slugs;

    fn segment(deleted: bool, seasons: &[&str]) -> Segment {
        Segment {
            deleted,
            confirmed: true,
            language: Locale::EnGb,
            season_joined: None,
            roles: Slugs::default(),
            seasons: Slugs::of(seasons.iter().map(|slug| Slug::parse(slug).unwrap())),
        }
    }

    #[test]
    fn both_vocabularies_of_the_trash_must_hold() {
        let selection = |deleted: Option<&str>, trashed: Option<&str>| {
            let is_either = |word| deleted == Some(word) || trashed == Some(word);
            Selection {
                hides_live: is_either("only"),
                hides_deleted: is_either("none") || (deleted.is_none() && trashed.is_none()),
                ..Selection::default()
            }
        };
        for (deleted, trashed, live, gone) in [
            (None, None, true, false),
            (Some("only"), None, false, true),
            (None, Some("only"), false, true),
            (Some("included"), None, true, true),
            (None, Some("all"), true, true),
            (Some("none"), Some("all"), true, false),
            (Some("only"), Some("none"), false, false),
        ] {
            let selection = selection(deleted, trashed);
            assert_eq!(selection.selects(&segment(false, &[])), live, "{deleted:?} {trashed:?}");
            assert_eq!(selection.selects(&segment(true, &[])), gone, "{deleted:?} {trashed:?}");
        }
    }

    #[test]
    fn a_position_is_read_back_by_its_own_sort_alone() {
        let slug = Slug::parse("UserAAAA").unwrap();
        let by_name = Sort { column: "name", is_text: true, is_reversed: false };
        let by_time = Sort { column: "created_at", is_text: false, is_reversed: true };
        let place = Place { key: Key::Text("ada l".to_owned()), slug };
        assert_eq!(by_name.place(&by_name.position(&place)), Some(place.clone()));
        let time = Place { key: Key::Integer(-5), slug };
        assert_eq!(by_time.place(&by_time.position(&time)), Some(time.clone()));
        assert_eq!(by_time.place(&by_name.position(&place)), None);
        assert_eq!(by_name.place(&by_time.position(&time)), None);
        let turned = Sort { is_reversed: true, ..by_name };
        assert_eq!(turned.place(&by_name.position(&place)), None);
        for wrong in [&b""[..], b"\0UserAAAA", b"\0UserAAAAname", b"\0UserAAAAname \0", b"\0UserAAA1name x"] {
            assert_eq!(by_name.place(wrong), None, "{wrong:?}");
        }
    }
}
