//! What a synthetic account is made of: everything follows from the seed and from the place of a record.

use std::time::Duration;

use kernel::ids::split_mix;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The number of slugs: 52 letters in 8 places.
const SLUGS: u128 = 52_u128.pow(8);

/// Spreads the slugs of neighbours over all there are. It shares no factor with [`SLUGS`], so that no two places have
/// the same slug.
const SPREAD: u128 = 33_039_157_920_421;

/// 2024-01-01, when the first season began.
const BEGIN: i64 = 1_704_067_200;

/// How long each season takes, in seconds.
const SEASON_LENGTH: u64 = 333 * 86_400;

/// Seasons: the active one is 0, the others came before it.
pub(super) const SEASONS: u64 = 3;

/// Chapters of the active season; the first two offer every category.
pub(super) const CHAPTERS: u64 = 12;

/// Categories of the active season.
pub(super) const CATEGORIES: u64 = 24;

/// Chapters and categories of each season that is over.
pub(super) const OLD: u64 = 3;

/// Prices of each season.
pub(super) const PRICES: u64 = 3;

const WORDS: &[&str] = &[
    "award", "bridge", "canvas", "design", "evening", "festival", "garden", "harbour", "island", "journey", "kitchen",
    "library", "market", "north", "orchard", "project", "quarter", "river", "summer", "theatre", "union", "village",
    "winter", "young", "across", "between", "every", "first", "great", "honest", "modern", "quiet", "several", "small",
    "together", "urban", "wide", "builds", "carries", "connects", "gives", "grows", "keeps", "makes", "offers",
    "opens", "reaches", "shows", "teaches", "turns", "with", "and", "for", "the", "their", "our", "new", "old",
    "light", "sound",
];

const FIRST_NAMES: &[&str] = &[
    "Ada", "Ben", "Clara", "David", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kemi", "Lea", "Mona", "Nils",
    "Olga", "Paul", "Qi", "Rosa", "Samir", "Tara", "Uma", "Victor", "Wanda", "Yusuf", "Zoe",
];

const LAST_NAMES: &[&str] = &[
    "Adams", "Bauer", "Costa", "Dupont", "Evans", "Fischer", "Garcia", "Haddad", "Ito", "Jensen", "Kaya", "Larsen",
    "Moreau", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Silva", "Tanaka", "Usman", "Vogel", "Weber", "Young",
    "Zhang",
];

/// Numbers that look random and follow from where they begin.
pub(super) struct Random(u64);

impl Random {
    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        split_mix(&mut self.0) % bound.max(1)
    }

    /// Whether something happens that happens so many times of a hundred.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of several.
    pub(super) fn one_of<'l>(&mut self, choices: &[&'l str]) -> &'l str {
        let chosen = usize::try_from(self.below(choices.len() as u64)).unwrap_or(0);
        choices.get(chosen).copied().unwrap_or_default()
    }

    /// A sentence of so many words.
    pub(super) fn sentence(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        for word in 0..words {
            let chosen = self.one_of(WORDS);
            if let Some(letter) = chosen.chars().next().filter(|_| word == 0) {
                text.extend(letter.to_uppercase());
                text.push_str(&chosen[letter.len_utf8()..]);
            } else {
                text.push(' ');
                text.push_str(chosen);
            }
        }
        text
    }
}

/// The size of an account, and what its records are called.
pub(super) struct Plan {
    seed: u64,
    /// The account.
    pub(super) account: Slug,
    /// How many entries.
    pub(super) entries: u64,
    /// How many orders.
    pub(super) orders: u64,
    /// How many contributors of each entry.
    pub(super) contributors: u64,
    /// How many users.
    pub(super) users: u64,
}

impl Plan {
    pub(super) fn new(seed: u64, entries: u64, orders: u64, contributors: u64) -> Self {
        let users = (entries / 10).max(orders / 100).clamp(10, 100_000);
        let account = slug_of(seed, Kind::Account, 0);
        Self { seed, account, entries, orders, contributors, users }
    }

    /// The numbers of one record.
    pub(super) fn random(&self, kind: Kind, place: u64) -> Random {
        let mut random = Random(self.seed ^ (u64::from(u32::from(kind.letter())) << 56) ^ place.rotate_left(17));
        // The first number of neighbours is alike.
        random.below(2);
        random
    }

    /// The slug of a record; no two of one kind have the same.
    pub(super) fn slug(&self, kind: Kind, place: u64) -> Slug {
        slug_of(self.seed, kind, place)
    }

    /// First and last name of a user.
    pub(super) fn name(&self, user: u64) -> (&'static str, &'static str) {
        let mut random = self.random(Kind::User, user);
        (random.one_of(FIRST_NAMES), random.one_of(LAST_NAMES))
    }

    /// The address of a user, which no other user of the installation has.
    pub(super) fn email(&self, user: u64) -> String {
        let (first_name, last_name) = self.name(user);
        format!("{first_name}.{last_name}.{user}@{}.example.org", self.account).to_lowercase()
    }

    /// The title of an entry.
    pub(super) fn title(&self, entry: u64) -> String {
        format!("{} {}", self.random(Kind::Entry, entry).sentence(5), entry + 1)
    }

    /// The season of a record out of `all`: one in twenty is of the oldest, three are of the one before, the others are
    /// of the active one. Together with its time, which grows with its place.
    pub(super) fn season_and_time(place: u64, all: u64) -> (u64, Timestamp) {
        let all = all.max(1);
        let (oldest, older) = (all / 20, all / 5);
        let (season, first, count) = match place {
            _ if place < oldest => (2, 0, oldest),
            _ if place < older => (1, oldest, older - oldest),
            _ => (0, older, all - older),
        };
        let within = u128::from(place - first) * u128::from(SEASON_LENGTH) * 1_000_000 / u128::from(count.max(1));
        (season, Self::begin(season).plus(Duration::from_micros(u64::try_from(within).unwrap_or(0))))
    }

    /// When a season began.
    pub(super) fn begin(season: u64) -> Timestamp {
        let before = SEASONS.saturating_sub(season + 1);
        Timestamp::from_seconds(BEGIN).plus(Duration::from_secs(before * 365 * 86_400))
    }

    /// The place of a season's chapter, category or price among all of its kind.
    pub(super) fn of_season(season: u64, place: u64, active: u64, old: u64) -> u64 {
        if season == 0 { place % active } else { active + (season - 1) * old + place % old }
    }
}

fn slug_of(seed: u64, kind: Kind, place: u64) -> Slug {
    const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let start = u128::from(Random(seed).below(u64::MAX)) + u128::from(u32::from(kind.letter())) * 7_919_000_003;
    let mut rest = (start + u128::from(place) * SPREAD) % SLUGS;
    let mut letters = [b'A'; Slug::LENGTH];
    for letter in letters.iter_mut().rev() {
        *letter = LETTERS[usize::try_from(rest % 52).unwrap_or(0)];
        rest /= 52;
    }
    Slug::from_letters(letters).unwrap_or_else(|| slug_of(seed, kind, place + 1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_records_of_a_kind_have_the_same_slug() {
        let plan = Plan::new(7, 1, 1, 1);
        let slugs: HashSet<Slug> = (0..100_000).map(|place| plan.slug(Kind::Order, place)).collect();
        assert_eq!(slugs.len(), 100_000);
        assert_eq!(SPREAD % 2, 1);
        assert_ne!(SPREAD % 13, 0);
    }

    #[test]
    fn seasons_follow_each_other() {
        let all: Vec<_> = (0..1_000).map(|place| Plan::season_and_time(place, 1_000)).collect();
        assert_eq!(all.iter().filter(|(season, _)| *season == 2).count(), 50);
        assert_eq!(all.iter().filter(|(season, _)| *season == 1).count(), 150);
        assert!(all.is_sorted_by_key(|(_, time)| *time));
    }

    #[test]
    fn a_sentence_begins_with_a_capital_letter() {
        let sentence = Plan::new(7, 1, 1, 1).random(Kind::Entry, 3).sentence(4);
        assert_eq!(sentence.split(' ').count(), 4);
        assert!(sentence.starts_with(char::is_uppercase));
    }
}
