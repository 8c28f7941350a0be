//! What links depend on: entries, judges, and why a judge is never to judge an entry.
//!
//! - A judge has a conflict of interest with an entry that the judge declared one with; that is the judge's own; of which a
//!   contributor has the judge's e-mail address for an answer; or whose entrant gives the same answer as the judge to the
//!   organisation field of the score set. Of texts, case and blanks around them are no part.
//! - A manager may have taken the judge off the entry, in one score set or in all.
//! - All of these hold as long as they are so, whatever was linked before. One function tells ([`Facts::exclusion`]), and whoever links
//!   asks it.

pub mod store;

pub use store::Scope;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::program::panels::{EntryStatus, Moderation};
use crate::program::score_sets::ScoreSet;
use kernel::json::Json;
use kernel::text::{Slug, folded};

/// What is asked of an entry that is not in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFacts {
    /// Its form.
    pub form: Slug,
    /// Its season.
    pub season: Slug,
    /// Its category.
    pub category: Slug,
    /// Its chapter.
    pub chapter: Slug,
    /// Its division; zero for none.
    pub division: i64,
    /// Its status.
    pub status: Option<EntryStatus>,
    /// How it was moderated.
    pub moderation: Option<Moderation>,
    /// Who entered it.
    pub entrant: Slug,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// The e-mail addresses among the answers of its contributors, after case folding.
    pub emails: BTreeSet<String>,
}

/// What is asked of a user who is not in the trash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeFacts {
    /// The roles.
    pub roles: Vec<Slug>,
    /// The e-mail address after case folding; empty for none.
    pub email: String,
}

/// Entries and judges, and what stands between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The entries.
    pub entries: BTreeMap<Slug, EntryFacts>,
    /// The judges.
    pub judges: BTreeMap<Slug, JudgeFacts>,
    /// What users answer to organisation fields, by field and user.
    organisations: BTreeMap<(Slug, Slug), String>,
    /// Conflicts that were declared, by entry and judge.
    declared: BTreeSet<(Slug, Slug)>,
    /// In which score sets a judge was taken off an entry; nothing for all of them.
    recused: BTreeMap<(Slug, Slug), Vec<Option<Slug>>>,
}

/// Why a judge is never to judge an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// The judge has declared a conflict of interest.
    Declared,
    /// It is the judge's own.
    Own,
    /// The judge is among its contributors.
    Contributor,
    /// The judge and the entrant are of one organisation.
    Organisation,
    /// A manager took the judge off it.
    Recused,
}

impl fmt::Display for Exclusion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Declared => "has declared a conflict of interest with the entry",
            Self::Own => "has a conflict of interest, as the entrant of the entry",
            Self::Contributor => "has a conflict of interest, as a contributor of the entry",
            Self::Organisation => "has a conflict of interest, being of the organisation of the entrant of the entry",
            Self::Recused => "was taken off the entry",
        })
    }
}

impl Facts {
    /// The conflict of interest of a judge with an entry in a score set, of any kind. Who is not known here has none.
    pub fn conflict(&self, (entry, judge): (Slug, Slug), score_set: Option<&ScoreSet>) -> Option<Exclusion> {
        if self.declared.contains(&(entry, judge)) {
            return Some(Exclusion::Declared);
        }
        let (facts, of_judge) = (self.entries.get(&entry)?, self.judges.get(&judge)?);
        if facts.entrant == judge {
            return Some(Exclusion::Own);
        }
        if facts.emails.contains(&of_judge.email) {
            return Some(Exclusion::Contributor);
        }
        let field = score_set.and_then(|score_set| score_set.organisation_field)?;
        let of = |user| self.organisations.get(&(field, user));
        (of(judge).is_some() && of(judge) == of(facts.entrant)).then_some(Exclusion::Organisation)
    }

    /// Why a judge is never to judge an entry in a score set; nothing where nothing speaks against it.
    pub fn exclusion(&self, pair: (Slug, Slug), score_set: Option<&ScoreSet>) -> Option<Exclusion> {
        let covers = |of: &Option<Slug>| of.is_none_or(|of| score_set.is_some_and(|score_set| score_set.slug == of));
        let is_recused = self.recused.get(&pair).is_some_and(|recused| recused.iter().any(covers));
        self.conflict(pair, score_set).or_else(|| is_recused.then_some(Exclusion::Recused))
    }
}

/// By what answers to an organisation field are compared; nothing where nothing is said.
fn organisation(answer: &Json<'_>) -> Option<String> {
    let text = match answer {
        Json::Null => return None,
        Json::String(text) => folded(text.trim()),
        Json::Array(items) if items.is_empty() => return None,
        other => other.to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::read;

    fn slug(text: &str) -> Slug {
        Slug::parse(text).unwrap()
    }

    fn facts() -> Facts {
        let entry = EntryFacts {
            form: slug("FormAAAA"),
            season: slug("SeasonAA"),
            category: slug("CategAAA"),
            chapter: slug("ChapterA"),
            division: 0,
            status: None,
            moderation: None,
            entrant: slug("UserAAAA"),
            tags: BTreeSet::new(),
            emails: BTreeSet::from(["grace@example.org".to_owned()]),
        };
        let judges = [("UserAAAA", ""), ("UserBBBB", "grace@example.org"), ("UserCCCC", ""), ("UserDDDD", "")];
        let judge = |email: &str| JudgeFacts { roles: Vec::new(), email: email.to_owned() };
        Facts {
            entries: BTreeMap::from([(slug("EntryAAA"), entry)]),
            judges: judges.into_iter().map(|(name, email)| (slug(name), judge(email))).collect(),
            organisations: [("UserAAAA", "acme"), ("UserCCCC", "acme"), ("UserDDDD", "other")]
                .into_iter()
                .map(|(user, answer)| ((slug("FieldAAA"), slug(user)), answer.to_owned()))
                .collect(),
            ..Facts::default()
        }
    }

    fn exclusion(facts: &Facts, judge: &str, field: &str) -> Option<Exclusion> {
        let text = format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{}},"mode":"vip_judging"{field}"#);
        let score_set: ScoreSet = read("ScoreAAA", &text).unwrap();
        facts.exclusion((slug("EntryAAA"), slug(judge)), Some(&score_set))
    }

    #[test]
    fn an_own_entry_a_contributor_and_an_organisation_are_conflicts() {
        let of_field = r#","organisation_field":"FieldAAA""#;
        let facts = facts();
        for (judge, expected) in [
            ("UserAAAA", Some(Exclusion::Own)),
            ("UserBBBB", Some(Exclusion::Contributor)),
            ("UserCCCC", Some(Exclusion::Organisation)),
            ("UserDDDD", None),
        ] {
            assert_eq!(exclusion(&facts, judge, of_field), expected, "{judge}");
        }
        assert_eq!(exclusion(&facts, "UserCCCC", ""), None, "a score set without the field sees no organisations");
    }

    #[test]
    fn who_declared_a_conflict_or_was_taken_off_does_not_judge() {
        let pair = (slug("EntryAAA"), slug("UserDDDD"));
        let declared = Facts { declared: BTreeSet::from([pair]), ..facts() };
        assert_eq!(exclusion(&declared, "UserDDDD", ""), Some(Exclusion::Declared));
        for (of, expected) in [(None, true), (Some("ScoreAAA"), true), (Some("ScoreBBB"), false)] {
            let recused = Facts { recused: BTreeMap::from([(pair, vec![of.map(slug)])]), ..facts() };
            assert_eq!(exclusion(&recused, "UserDDDD", ""), expected.then_some(Exclusion::Recused), "{of:?}");
            assert_eq!(recused.conflict(pair, None), None);
        }
    }

    #[test]
    fn organisations_are_compared_without_case_and_blanks_around_them() {
        let text = |text: &str| Json::String(text.to_owned().into());
        assert_eq!(organisation(&text(" ACME ")), organisation(&text("acme")));
        assert_eq!(organisation(&text("  ")), None);
        assert_eq!(organisation(&Json::Null), None);
    }
}
