//! Segments: what the filters of the list tell users apart by.
//!
//! A user is in exactly one segment, which has a number in the account, and how many users are in each is kept by the
//! transaction that changes a user. So a total is a sum of few numbers, and an index that has the number tells of every
//! filter without the user's row.

use super::User;
use crate::text::{Locale, Slug};

/// Slugs in their order, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slugs(Vec<Slug>);

impl Slugs {
    /// These slugs.
    #[must_use]
    pub fn of(slugs: impl IntoIterator<Item = Slug>) -> Self {
        let mut slugs: Vec<Slug> = slugs.into_iter().collect();
        slugs.sort_unstable();
        slugs.dedup();
        Self(slugs)
    }

    /// Reads the text of a column.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let slugs = text.split(' ').skip(1).map(Slug::parse).collect::<Option<Vec<_>>>()?;
        Some(Self::of(slugs)).filter(|slugs| slugs.text() == text)
    }

    /// The text of a column: each slug after a blank, so that every one of them is found in it in the same form.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().flat_map(|slug| [" ", slug.as_str()]).collect()
    }

    /// Whether a slug is among them.
    #[must_use]
    pub fn contains(&self, slug: Slug) -> bool {
        self.0.binary_search(&slug).is_ok()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with a slug among them, or without it.
    #[must_use]
    pub fn with(&self, slug: Slug, is_there: bool) -> Self {
        let others = self.0.iter().copied().filter(|other| *other != slug);
        Self::of(others.chain(is_there.then_some(slug)))
    }
}

/// What the filters of the list tell a user apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// Whether the user is in the trash.
    pub deleted: bool,
    /// Whether the user is confirmed.
    pub confirmed: bool,
    /// The language in which the user is addressed.
    pub language: Locale,
    /// The season that was active when the user was added.
    pub season_joined: Option<Slug>,
    /// The user's roles.
    pub roles: Slugs,
    /// The seasons in which the user has entries that are not in the trash.
    pub seasons: Slugs,
}

impl Segment {
    /// The segment of a user with entries in these seasons.
    #[must_use]
    pub fn of(user: &User, deleted: bool, seasons: Slugs) -> Self {
        Self {
            deleted,
            confirmed: user.confirmed,
            language: user.language,
            season_joined: user.season_joined,
            roles: Slugs::of(user.roles.iter().copied()),
            seasons,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_in_their_order_each_after_a_blank() {
        let slug = |text| Slug::parse(text).unwrap();
        let slugs = Slugs::of([slug("SeasonBB"), slug("SeasonAA"), slug("SeasonBB")]);
        assert_eq!(slugs.text(), " SeasonAA SeasonBB");
        assert_eq!(Slugs::parse(" SeasonAA SeasonBB"), Some(slugs.clone()));
        assert_eq!(Slugs::parse(""), Some(Slugs::default()));
        for wrong in ["SeasonAA", " SeasonBB SeasonAA", " short", " ", " SeasonAA "] {
            assert_eq!(Slugs::parse(wrong), None, "{wrong}");
        }
        assert!(slugs.contains(slug("SeasonAA")) && !slugs.contains(slug("SeasonCC")));
        assert_eq!(slugs.with(slug("SeasonCC"), true).text(), " SeasonAA SeasonBB SeasonCC");
        assert_eq!(slugs.with(slug("SeasonAA"), false).text(), " SeasonBB");
        assert_eq!(slugs.with(slug("SeasonAA"), true), slugs);
    }
}
