//! The slug of an assignment, which tells what it links.

use std::fmt;

use crate::program::RecordKey;
use kernel::json::Json;
use kernel::text::Slug;

/// 25 letters: the slugs of the entry, of the judge or the role, and of the score set, and `J` for a judge or `R` for a role
/// (contract, section 6). They are ordered as their texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignmentSlug([u8; Self::LENGTH]);

impl AssignmentSlug {
    /// The number of letters.
    pub const LENGTH: usize = 3 * Slug::LENGTH + 1;
    const JUDGE: u8 = b'J';
    const ROLE: u8 = b'R';

    /// That of a judge of an entry in a score set.
    pub fn of_judge(entry: Slug, judge: Slug, score_set: Slug) -> Self {
        Self::joined([entry, judge, score_set], Self::JUDGE)
    }

    /// That of a role whose users judge an entry in a score set.
    pub fn of_role(entry: Slug, role: Slug, score_set: Slug) -> Self {
        Self::joined([entry, role, score_set], Self::ROLE)
    }

    fn joined(parts: [Slug; 3], mark: u8) -> Self {
        let mut letters = [mark; Self::LENGTH];
        for (letter, part) in letters.iter_mut().zip(parts.iter().flat_map(Slug::as_bytes)) {
            *letter = *part;
        }
        Self(letters)
    }

    /// The slug with this text; nothing where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; Self::LENGTH] = text.as_bytes().try_into().ok()?;
        let is_slug = letters.iter().all(u8::is_ascii_alphabetic);
        let mark = letters[Self::LENGTH - 1];
        (is_slug && (mark == Self::JUDGE || mark == Self::ROLE)).then_some(Self(letters))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        // The letters are ASCII by construction, so the default is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The entry.
    pub fn entry(&self) -> Slug {
        self.part(0)
    }

    /// The judge; nothing where a role judges.
    pub fn judge(&self) -> Option<Slug> {
        (self.mark() == Self::JUDGE).then(|| self.part(1))
    }

    /// The role; nothing where a judge does.
    pub fn role(&self) -> Option<Slug> {
        (self.mark() == Self::ROLE).then(|| self.part(1))
    }

    /// The score set.
    pub fn score_set(&self) -> Slug {
        self.part(2)
    }

    fn mark(&self) -> u8 {
        self.0[Self::LENGTH - 1]
    }

    fn part(&self, number: usize) -> Slug {
        let mut letters = [b'A'; Slug::LENGTH];
        letters.copy_from_slice(&self.0[number * Slug::LENGTH..(number + 1) * Slug::LENGTH]);
        // Every part was a slug, or letters that are one, so the default is never taken.
        Slug::from_letters(letters).unwrap_or_else(|| self.part(0))
    }
}

impl fmt::Display for AssignmentSlug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl fmt::Debug for AssignmentSlug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl RecordKey for AssignmentSlug {
    const MEMBER: &'static str = "slug";
    const READ: fn(&Json) -> Result<Self, String> = |json| {
        let read = json.as_str().and_then(Self::parse);
        read.ok_or_else(|| {
            "must be a slug of 25 letters, those of entry, judge and score set with J or R behind".to_owned()
        })
    };

    fn as_str(&self) -> &str {
        self.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_tells_entry_judge_or_role_and_score_set() {
        let [entry, other, score_set] = ["EntryAAA", "UserAAAA", "ScoreAAA"].map(|slug| Slug::parse(slug).unwrap());
        let judge = AssignmentSlug::parse("EntryAAAUserAAAAScoreAAAJ").unwrap();
        assert_eq!(judge, AssignmentSlug::of_judge(entry, other, score_set));
        assert_eq!(
            (judge.entry(), judge.judge(), judge.role(), judge.score_set()),
            (entry, Some(other), None, score_set)
        );
        let role = AssignmentSlug::parse("EntryAAAUserAAAAScoreAAAR").unwrap();
        assert_eq!(role, AssignmentSlug::of_role(entry, other, score_set));
        assert_eq!((role.judge(), role.role()), (None, Some(other)));
    }

    #[test]
    fn what_is_no_slug_of_an_assignment_is_refused() {
        for wrong in [
            "",
            "EntryAAAUserAAAAScoreAAA",
            "EntryAAAUserAAAAScoreAAAX",
            "EntryAAAUserAAAAScoreA1AJ",
            "EntryAAAUserAAAAScoreAAAJJ",
        ] {
            assert_eq!(AssignmentSlug::parse(wrong), None, "{wrong}");
        }
    }
}
