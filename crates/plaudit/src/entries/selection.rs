//! What a list of entries selects and how it is sorted. Pure.
//!
//! - What an entry's segment tells is counted: how many entries such filters select is a sum of kept numbers. `entrant`,
//!   `price`, `tag`, `title` and `updated_at` are searched for.
//! - `title` holds where the title contains the text, both after case folding and by their first 512 characters. `tag` is
//!   the whole tag as it was given. `price` holds where a line of an order that is not in the trash names the entry at that
//!   price.
//! - `category` and `chapter` sort by the name in the account's default language after case folding, then by slug.
//!   `parent_category` sorts by the parent in the same way, entries without one first, and below it by category. So a list
//!   that is sorted by one of them is a sequence of groups, each of one category or chapter; inside a group the number of
//!   the entry decides. The order of the groups follows from the program, so that a category that is renamed or moved has
//!   its new place at once and no entry is written for it.

use crate::http::page::anchors::{Key, Place as Position};
use crate::http::page::{Direction, Filter, FilterKind, ListQuery, ListSpec, Order, TimeRange};
use crate::program::Program;
use crate::program::categories::Category;
use crate::text::{Slug, Timestamp, Translated, folded};

use super::counts::flags;
use super::document::MEMBERS;
use super::{EntryHead, Moderation, Payment, Place, Status, TITLE_LENGTH, filters};

const FILTERS: &[Filter] = &[
    Filter::new("entrant", FilterKind::Slug, "The user who owns the entry"),
    filters::MODERATION,
    filters::PAYMENT_STATUS,
    Filter::new("price", FilterKind::Slug, "A price at which an order names the entry"),
    filters::REVIEW_STATUS,
    filters::STATUS,
    Filter::new("title", FilterKind::Text { max: TITLE_LENGTH }, "A part of the title, whatever its case"),
    Filter::new("updated_at", FilterKind::Date, "The time of the last change"),
    filters::CATEGORY,
    filters::CHAPTER,
    Filter::new("form", FilterKind::Slug, "The form of the entry"),
    filters::SEASON,
    filters::TAG,
    Filter::archived(),
    Filter::deleted(),
    Filter::new("include", FilterKind::ManyOf(&MEMBERS), "Members of a single read that are shown as well"),
];
const ORDERS: &[&str] = &["category", "chapter", "applicant", "local_id", "parent_category", "title", "updated"];

/// What the query of a list of entries may say.
pub(super) const SPEC: ListSpec = ListSpec::new(FILTERS, ORDERS);

/// What a list selects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Selection {
    /// Whether it selects nothing, because it means the active season and there is none.
    pub is_empty: bool,
    /// The season; every one where it is left out, and so with the others.
    pub season: Option<Slug>,
    /// The category.
    pub category: Option<Slug>,
    /// The chapter.
    pub chapter: Option<Slug>,
    /// The form.
    pub form: Option<Slug>,
    /// The status.
    pub status: Option<Status>,
    /// What the managers think of them.
    pub moderation: Option<Moderation>,
    /// Whether they are paid.
    pub payment: Option<Payment>,
    /// Where their review stands.
    pub review: Option<String>,
    /// Whether they are kept for the record only.
    pub archived: Option<bool>,
    /// Whether they are in the trash.
    pub deleted: Option<bool>,
    /// Who owns them.
    pub entrant: Option<Slug>,
    /// A price at which an order names them.
    pub price: Option<Slug>,
    /// A tag that they have.
    pub tag: Option<String>,
    /// What their titles contain, after case folding.
    pub title: Option<String>,
    /// The sort keys of the times of their last changes: from this one on, and up to that one.
    pub recency: Option<(i64, i64)>,
}

impl Selection {
    /// What a query selects.
    pub(super) fn of(query: &ListQuery, program: &Program) -> Self {
        let active = program.active_season().map(|season| season.slug);
        let is_every = query.is_all("season");
        let season = query.slug("season").or(active).filter(|_| !is_every);
        let lifecycle = |word: Option<&str>| match word {
            Some("only") => Some(true),
            Some("all" | "included") => None,
            _ => Some(false),
        };
        Self {
            is_empty: season.is_none() && !is_every,
            season,
            category: query.slug("category"),
            chapter: query.slug("chapter"),
            form: query.slug("form"),
            status: choice(Status::CHOICES, query.word("status")),
            moderation: choice(Moderation::CHOICES, query.word("moderation")),
            payment: query.word("payment_status").map(|word| match word {
                "paid" => Payment::Paid,
                _ => Payment::Unpaid,
            }),
            review: query.text("review_status").map(str::to_owned),
            archived: lifecycle(query.word("archived")),
            deleted: lifecycle(query.word("deleted")),
            entrant: query.slug("entrant"),
            price: query.slug("price"),
            tag: query.text("tag").map(|tag| tag.trim().to_owned()),
            title: query.text("title").map(folded),
            recency: query.range("updated_at").map(recencies),
        }
    }

    /// Whether what it selects is a sum of kept counts.
    #[must_use]
    pub(super) fn is_counted(&self) -> bool {
        let Self { entrant, price, tag, title, recency, .. } = self;
        entrant.is_none() && price.is_none() && tag.is_none() && title.is_none() && recency.is_none()
    }

    /// About how much memory it takes.
    #[must_use]
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.review, &self.tag, &self.title];
        size_of::<Self>() + texts.into_iter().flatten().map(String::capacity).sum::<usize>()
    }

    /// The bits of a segment's number to be looked at and what they must be, where these, the season and what is searched
    /// for are all that it asks of an entry.
    #[must_use]
    pub(super) fn flags(&self) -> Option<(i64, i64)> {
        let Self { is_empty, category, chapter, form, status, moderation, payment, review, .. } = self;
        let is_more = *is_empty || category.is_some() || chapter.is_some() || form.is_some() || status.is_some();
        if is_more || moderation.is_some() || payment.is_some() || review.is_some() {
            return None;
        }
        let mask = flags(self.archived.is_some(), self.deleted.is_some());
        Some((mask, flags(self.archived.unwrap_or(false), self.deleted.unwrap_or(false))))
    }

    /// Whether an entry is selected, the filter for prices aside, which entries do not tell.
    #[must_use]
    pub(super) fn contains(&self, facts: &Facts) -> bool {
        fn holds<T: PartialEq>(wanted: Option<&T>, is: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == is)
        }
        let place = &facts.place;
        !self.is_empty
            && holds(self.season.as_ref(), &place.season)
            && holds(self.category.as_ref(), &place.category)
            && holds(self.chapter.as_ref(), &place.chapter)
            && holds(self.form.as_ref(), &place.form)
            && holds(self.status.as_ref(), &place.status)
            && holds(self.moderation.as_ref(), &place.moderation)
            && holds(self.payment.as_ref(), &place.payment)
            && holds(self.review.as_ref(), &place.review)
            && holds(self.archived.as_ref(), &place.archived)
            && holds(self.deleted.as_ref(), &place.deleted)
            && holds(self.entrant.as_ref(), &facts.entrant)
            && self.tag.as_ref().is_none_or(|tag| super::rules::tags::split(&facts.tags).any(|held| held == tag))
            && self.title.as_ref().is_none_or(|title| facts.title_key.contains(title))
            && self.recency.is_none_or(|(from, until)| (from..=until).contains(&facts.recency))
    }
}

fn choice<T: Copy>(choices: &[(&str, T)], word: Option<&str>) -> Option<T> {
    choices.iter().find(|(name, _)| Some(*name) == word).map(|(_, value)| *value)
}

/// The sort keys of the times of a range, which run backwards.
fn recencies(range: TimeRange) -> (i64, i64) {
    let last = range.until.map_or(i64::MAX, |until| until.as_microseconds().saturating_sub(1));
    let first = range.from.map_or(i64::MIN, Timestamp::as_microseconds);
    (last.saturating_neg(), first.saturating_neg())
}

/// What lists know of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    slug: Slug,
    place: Place,
    entrant: Slug,
    tags: String,
    local_id: i64,
    title_key: String,
    entrant_key: String,
    recency: i64,
}

impl Facts {
    /// What they know of the entry of a document and the flags of its row.
    pub(super) fn of(head: &EntryHead<'_>, archived: bool, deleted: bool) -> Self {
        // As it stands in the columns, which have no U+0000.
        let column = |text: &str| folded(text).replace('\0', "\u{fffd}");
        let mut place = Place::of_head(head, archived, deleted);
        place.review = place.review.replace('\0', "\u{fffd}");
        Self {
            slug: head.slug,
            place,
            entrant: head.entrant.slug,
            tags: head.tags.clone().into_owned(),
            local_id: head.local_id,
            title_key: column(&head.title),
            entrant_key: column(&head.entrant.name()),
            recency: super::store::recency(head.updated),
        }
    }

    /// Whether the entry is of a group.
    #[must_use]
    pub(super) fn is_of(&self, grouping: Grouping, group: Group) -> bool {
        group.is_none_or(|group| match grouping {
            Grouping::None => true,
            Grouping::Category | Grouping::Parent => self.place.category == group,
            Grouping::Chapter => self.place.chapter == group,
        })
    }

    /// Where the entry stands in the order of a column.
    #[must_use]
    pub(super) fn position(&self, column: Column) -> Position {
        let key = match column {
            Column::Recency => Key::Integer(self.recency),
            Column::LocalId => Key::Integer(self.local_id),
            Column::Title => Key::Text(self.title_key.as_str().into()),
            Column::Applicant => Key::Text(self.entrant_key.as_str().into()),
        };
        Position { key, slug: self.slug }
    }
}

/// A column that an index sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// The time of the last change, the newest first.
    Recency,
    /// The number of the entry.
    LocalId,
    /// The title after case folding.
    Title,
    /// The entrant's name after case folding.
    Applicant,
}

impl Column {
    /// Whether its values are texts.
    #[must_use]
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Title | Self::Applicant)
    }
}

/// What the groups of a list are, each of which is sorted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Grouping {
    /// There is one group, which is all of the list.
    None,
    /// By category, in the order of the names.
    Category,
    /// By category, in the order of the names of their parents.
    Parent,
    /// By chapter.
    Chapter,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sort {
    /// The groups.
    pub grouping: Grouping,
    /// The column within each of them.
    pub column: Column,
    /// Whether the list runs against the order of its groups and indexes.
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
        let (grouping, column) = match order {
            "category" => (Grouping::Category, Column::LocalId),
            "parent_category" => (Grouping::Parent, Column::LocalId),
            "chapter" => (Grouping::Chapter, Column::LocalId),
            "applicant" => (Grouping::None, Column::Applicant),
            "local_id" => (Grouping::None, Column::LocalId),
            "title" => (Grouping::None, Column::Title),
            _ => (Grouping::None, Column::Recency),
        };
        // The index of the last change has the newest first.
        let is_reversed = is_descending != (column == Column::Recency);
        Self { grouping, column, is_reversed }
    }

    /// The groups in the order of the list: all that the program has.
    pub(super) fn groups(self, program: &Program) -> Vec<Group> {
        let name = |name: &Translated| folded(name.in_locale(program.account.default_language));
        let categories = || program.categories.all().map(|record| &record.value);
        let mut groups: Vec<Group> = match self.grouping {
            Grouping::None => return vec![None],
            Grouping::Chapter => {
                let chapters = program.chapters.all().map(|record| &record.value);
                in_order(chapters.map(|chapter| (name(&chapter.name), chapter.slug)))
            }
            Grouping::Category => in_order(categories().map(|category| (name(&category.name), category.slug))),
            Grouping::Parent => {
                let parent = |category: &Category| {
                    let parent = category.parent.and_then(|parent| program.categories.any(parent));
                    parent.map(|parent| (name(&parent.name), parent.slug))
                };
                in_order(categories().map(|category| ((parent(category), name(&category.name)), category.slug)))
            }
        };
        if self.is_reversed {
            groups.reverse();
        }
        groups
    }

    /// The position of an entry for a cursor.
    #[must_use]
    pub(super) fn position(self, group: Group, place: &Position) -> Vec<u8> {
        let mut position = self.identity().to_vec();
        position.extend_from_slice(group.map_or([0; 8], |group| *group.as_bytes()).as_slice());
        position.extend_from_slice(place.slug.as_bytes());
        match &place.key {
            Key::Integer(integer) => position.extend_from_slice(&integer.to_be_bytes()),
            Key::Text(text) => position.extend_from_slice(text.as_bytes()),
        }
        position
    }

    /// The group and place of a cursor's position; nothing where it is none of this sort.
    #[must_use]
    pub(super) fn place(self, position: &[u8]) -> Option<(Group, Position)> {
        let rest = position.strip_prefix(&self.identity())?;
        let (group, rest) = rest.split_first_chunk::<8>()?;
        let (slug, key) = rest.split_first_chunk::<8>()?;
        let group = match self.grouping {
            Grouping::None => (*group == [0; 8]).then_some(None)?,
            _ => Some(Slug::from_letters(*group)?),
        };
        let key = if self.column.is_text() {
            // PostgreSQL has no text with this character in it.
            Key::Text(std::str::from_utf8(key).ok().filter(|text| !text.contains('\0'))?.into())
        } else {
            Key::Integer(i64::from_be_bytes(key.try_into().ok()?))
        };
        Some((group, Position { key, slug: Slug::from_letters(*slug)? }))
    }

    fn identity(self) -> [u8; 2] {
        let letter = match (self.grouping, self.column) {
            (Grouping::Category, _) => b'c',
            (Grouping::Parent, _) => b'p',
            (Grouping::Chapter, _) => b'h',
            (Grouping::None, Column::Recency) => b'u',
            (Grouping::None, Column::LocalId) => b'l',
            (Grouping::None, Column::Title) => b't',
            (Grouping::None, Column::Applicant) => b'a',
        };
        [letter, u8::from(self.is_reversed)]
    }
}

/// A category or chapter; nothing where the list has one group.
pub(super) type Group = Option<Slug>;

fn in_order<K: Ord>(groups: impl Iterator<Item = (K, Slug)>) -> Vec<Group> {
    let mut groups: Vec<(K, Slug)> = groups.collect();
    groups.sort();
    groups.into_iter().map(|(_, slug)| Some(slug)).collect()
}

#[cfg(test)]
mod tests;
