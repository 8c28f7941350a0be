//! The analysis of a board of points: how severe its judges are, what the scores are without that, how sure the places are and
//! how far the judges agree.
//!
//! - It is of the sheets that count, of entries that have as many of them as the score set asks for, in the order of the slugs of
//!   entries and judges. So the same sheets give the same digits everywhere.
//! - Scores are corrected by [`scoring::correction`], and what the sheets do not determine is refused or left out, never guessed.
//! - Entries of different components have no judge in common, directly or through others: comparing them is comparing their judges.

use std::collections::{BTreeMap, BTreeSet};

use scoring::agreement::{Scale, krippendorff_alpha};
use scoring::correction::{Correction, Intervals, RankInterval, VarianceMethod, correct, decisive_judges};
use scoring::{Interval, ModelError, Score, ScoreTable, mixed, published};

use crate::records::assignments::fraction::Fraction;
use kernel::text::Slug;

/// The probability with which an interval holds what it is of.
const LEVEL: f64 = 0.95;
/// From how many draws places get their intervals, where the entries are few.
const MOST_DRAWS: usize = 1_000;
/// The same where they are many.
const LEAST_DRAWS: usize = 100;
/// How many entries are put into order for that, over all draws.
const DRAWN: usize = 10_000_000;
/// The seed of the draws, which everybody may know: they decide nothing.
const SEED: [u8; 32] = [0; 32];

/// What a judge gave an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judged {
    /// The entry.
    pub entry: Slug,
    /// The judge.
    pub judge: Slug,
    /// The points of the sheet.
    pub points: Fraction,
}

/// What is said of a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct OfJudge {
    /// The judge.
    pub judge: Slug,
    /// By how many points the judge gives more than the others.
    pub severity: f64,
    /// Where that lies; nothing where it is not determined.
    pub interval: Option<Interval>,
    /// How many sheets of the judge count.
    pub sheets: usize,
}

/// What is said of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct OfEntry {
    /// The entry.
    pub entry: Slug,
    /// The mean of its sheets.
    pub raw: f64,
    /// The same without the severity of its judges.
    pub corrected: f64,
    /// Where that lies; nothing where it is not determined.
    pub interval: Option<Interval>,
    /// The place by the corrected score.
    pub rank: usize,
    /// Where the place lies; nothing where it is not determined.
    pub rank_interval: Option<RankInterval>,
    /// The number of its component, from 1.
    pub component: usize,
}

/// The analysis of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// By their slugs.
    pub judges: Vec<OfJudge>,
    /// By their places, and their slugs.
    pub entries: Vec<OfEntry>,
    /// Krippendorff's alpha of differences; nothing where it is not defined.
    pub krippendorff: Option<f64>,
    /// The intraclass correlation for absolute agreement, ICC(2,1); nothing where it is not defined.
    pub icc: Option<f64>,
    /// How many sheets are of entries with at least two.
    pub pairable: usize,
    /// How many components there are.
    pub components: usize,
    /// The judges without whom the first place is another's, and whose it is then; nothing where that is not determined.
    pub decisive: Vec<(Slug, Option<Vec<Slug>>)>,
}

/// Analyses the sheets of entries with at least so many of them.
pub fn analyse(mut sheets: Vec<Judged>, least: i64) -> Result<Analysis, ModelError> {
    sheets.sort_unstable();
    let of_entry = sheets.chunk_by(|left, right| left.entry == right.entry);
    let kept: Vec<&[Judged]> =
        of_entry.filter(|sheets| i64::try_from(sheets.len()).unwrap_or(i64::MAX) >= least).collect();
    let judges: BTreeSet<Slug> = kept.iter().flat_map(|sheets| sheets.iter().map(|sheet| sheet.judge)).collect();
    let numbers: BTreeMap<Slug, usize> = judges.iter().enumerate().map(|(number, judge)| (*judge, number)).collect();
    let score = |entry: usize, sheet: &Judged| {
        Some(Score { entry, judge: *numbers.get(&sheet.judge)?, value: sheet.points.approximate() })
    };
    let of_entry = |(entry, sheets): (usize, &&[Judged])| -> Vec<Score> {
        sheets.iter().filter_map(|sheet| score(entry, sheet)).collect()
    };
    let table = ScoreTable::new(kept.iter().enumerate().flat_map(of_entry).collect())?;
    let correction = correct(&table, VarianceMethod::HendersonThree)?;
    let entries: Vec<Slug> = kept.iter().filter_map(|sheets| sheets.first().map(|sheet| sheet.entry)).collect();
    let judges: Vec<Slug> = judges.into_iter().collect();
    let units: Vec<Vec<f64>> =
        kept.iter().map(|sheets| sheets.iter().map(|sheet| sheet.points.approximate()).collect()).collect();
    let named = |numbers: Vec<usize>| numbers.into_iter().filter_map(|number| entries.get(number).copied()).collect();
    let intervals = correction.intervals(LEVEL).ok();
    let decisive = decisive_judges(&table, VarianceMethod::HendersonThree)?.into_iter();
    Ok(Analysis {
        judges: of_judges(&judges, &kept, (&correction, intervals.as_ref())),
        entries: of_entries(&entries, &units, (&correction, intervals.as_ref())),
        krippendorff: krippendorff_alpha(&units, Scale::Interval).ok().map(|alpha| published(alpha.alpha)),
        icc: mixed::fit(&table).ok().and_then(|model| model.intraclass_correlation()).map(published),
        pairable: units.iter().map(Vec::len).filter(|count| *count > 1).sum(),
        components: correction.components.count,
        decisive: decisive
            .filter_map(|found| Some((*judges.get(found.judge)?, found.winners_without.ok().map(named))))
            .collect(),
    })
}

/// The corrected board, and its intervals where they are determined.
type Corrected<'c> = (&'c Correction<'c>, Option<&'c Intervals>);

fn of_judges(judges: &[Slug], kept: &[&[Judged]], (correction, intervals): Corrected<'_>) -> Vec<OfJudge> {
    let mut sheets: BTreeMap<Slug, usize> = BTreeMap::new();
    for sheet in kept.iter().copied().flatten() {
        *sheets.entry(sheet.judge).or_default() += 1;
    }
    let of_judge = |((number, judge), severity): ((usize, &Slug), &f64)| OfJudge {
        judge: *judge,
        severity: *severity,
        interval: intervals.and_then(|intervals| intervals.judges.get(number).copied()),
        sheets: sheets.get(judge).copied().unwrap_or_default(),
    };
    judges.iter().enumerate().zip(&correction.judges).map(of_judge).collect()
}

fn of_entries(entries: &[Slug], units: &[Vec<f64>], (correction, intervals): Corrected<'_>) -> Vec<OfEntry> {
    let draws = (DRAWN / entries.len().max(1)).clamp(LEAST_DRAWS, MOST_DRAWS);
    let ranks = correction.rank_intervals(LEVEL, draws, SEED).ok();
    let of_entry = |(number, entry): (usize, &Slug)| {
        let values = units.get(number)?;
        Some(OfEntry {
            entry: *entry,
            raw: published(scoring::mean(values)),
            corrected: *correction.entries.get(number)?,
            interval: intervals.and_then(|intervals| intervals.entries.get(number).copied()),
            rank: *correction.places.get(number)?,
            rank_interval: ranks.as_ref().and_then(|ranks| ranks.get(number).copied()),
            component: correction.components.entries.get(number)? + 1,
        })
    };
    let mut shown: Vec<OfEntry> = entries.iter().enumerate().filter_map(of_entry).collect();
    shown.sort_by_key(|entry| entry.rank);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheets(of: &[(&str, &str, i64)]) -> Vec<Judged> {
        let slug = |text: &str| Slug::parse(text).unwrap();
        let sheet = |(entry, judge, points): &(&str, &str, i64)| Judged {
            entry: slug(entry),
            judge: slug(judge),
            points: Fraction::whole(*points),
        };
        of.iter().map(sheet).collect()
    }

    fn crossed() -> Vec<Judged> {
        // The second judge gives about two points more, and not to the first entry.
        sheets(&[
            ("EntryAAA", "UserAAAA", 7),
            ("EntryAAA", "UserCCCC", 8),
            ("EntryBBB", "UserAAAA", 6),
            ("EntryBBB", "UserBBBB", 9),
            ("EntryCCC", "UserBBBB", 6),
            ("EntryCCC", "UserCCCC", 4),
            ("EntryDDD", "UserAAAA", 2),
            ("EntryDDD", "UserBBBB", 5),
            ("EntryEEE", "UserCCCC", 9),
        ])
    }

    #[test]
    fn a_lenient_judge_takes_no_place_from_those_whom_others_judged() {
        let analysis = analyse(crossed(), 2).unwrap();
        let raw: Vec<(&str, f64)> = analysis.entries.iter().map(|entry| (entry.entry.as_str(), entry.raw)).collect();
        assert_eq!(raw[..2], [("EntryAAA", 7.5), ("EntryBBB", 7.5)], "equal before the judges are accounted for");
        assert!(analysis.entries[0].corrected > analysis.entries[1].corrected);
        assert_eq!(analysis.entries.len(), 4, "one has too few sheets");
        let judges: Vec<(&str, usize)> =
            analysis.judges.iter().map(|judge| (judge.judge.as_str(), judge.sheets)).collect();
        assert_eq!(judges, [("UserAAAA", 3), ("UserBBBB", 3), ("UserCCCC", 2)]);
        assert!(analysis.judges[1].severity > 0.0);
        assert_eq!((analysis.components, analysis.pairable), (1, 8));
    }

    #[test]
    fn the_order_in_which_sheets_come_changes_nothing() {
        let mut turned = crossed();
        turned.reverse();
        assert_eq!(analyse(turned, 1).unwrap(), analyse(crossed(), 1).unwrap());
    }

    #[test]
    fn what_the_sheets_do_not_determine_is_refused() {
        assert_eq!(analyse(Vec::new(), 1), Err(ModelError::Empty));
        assert_eq!(analyse(crossed(), 3), Err(ModelError::Empty), "no entry has so many sheets");
    }
}
