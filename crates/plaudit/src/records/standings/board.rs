//! Places: who stands where among equals, and how that was decided.
//!
//! - Entries with one score are told apart by the steps that the score set configures, over the sheets that count, and then by a casting
//!   vote and a lot where there are any. What they do not tell apart shares its place.
//! - A score set of the mode `top_pick` has no scores: its places come from the order that the method makes of all preferences. Entries
//!   with fewer sheets than `min_judges` have no place, and judges' preferences for them go on to the next. The same steps tell entries apart
//!   that it puts into one place.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use scoring::elections::{Ballot, Election, InvalidElection, OMEGA, TieRule};
use scoring::places::{Evidence, Marks, Ranking, Step, TieStep, break_ties, first_places};
use scoring::rational::fraction;
use scoring::sheet::Units;

use crate::program::Program;
use crate::program::criteria::Criterion;
use crate::program::score_sets::{Places, RankMethod, ScoreSet, Step as Configured, TopPick};
use crate::records::assignments::rules::{criteria, points};
use crate::records::assignments::{Assignment, Decision};
use crate::records::standings::rules::{Counted, counted};
use kernel::text::Slug;

/// Where an entry stands among those that it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its number among them.
    pub entry: usize,
    /// Its place among them, from 1; nothing for none.
    pub place: Option<u64>,
    /// The steps that were taken.
    pub steps: Vec<TieStep>,
}

/// What people decided of the ties of a score set: entries, the best first; none where nothing was decided.
#[derive(Clone, Debug, Default)]
pub struct Decided {
    /// By a casting vote.
    pub casting_vote: Vec<Slug>,
    /// By a lot.
    pub lot: Vec<Slug>,
    /// The published numbers of the lot.
    pub numbers: Vec<i64>,
}

/// How the steps of a score set look to `scoring`. A casting vote and a lot that they do not name come last.
fn chain(score_set: &ScoreSet, criteria: &[&Criterion], decided: &Decided) -> Vec<Step> {
    let step = |step: &Configured| match step {
        Configured::Criterion(slug) => {
            criteria.iter().position(|criterion| criterion.slug == *slug).map(Step::Criterion)
        }
        Configured::Median => Some(Step::Median),
        Configured::FirstPlaces => Some(Step::FirstPlaces),
        Configured::HeadToHead => Some(Step::HeadToHead),
        Configured::CastingVote(_) => Some(Step::CastingVote),
        Configured::Lot(_) => Some(Step::Lot),
    };
    let mut chain: Vec<Step> = score_set.tie_break.iter().filter_map(step).collect();
    for (step, entries) in [(Step::CastingVote, &decided.casting_vote), (Step::Lot, &decided.lot)] {
        if !entries.is_empty() && !chain.contains(&step) {
            chain.push(step);
        }
    }
    chain
}

/// Tells entries with one score apart, which are in the order of their slugs, by sheets that may be of other entries too. The best
/// comes first.
pub fn settle(
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    entries: &[Slug],
    sheets: &[Assignment],
) -> Vec<Standing> {
    let equal = Ranking::of((0..entries.len()).filter_map(|entry| Some(((), u32::try_from(entry).ok()?))));
    placed(program, (score_set, decided), (entries, sheets), &equal)
}

/// The steps that tell entries apart which a ranking has as equal.
fn broken(
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    (entries, sheets): (&[Slug], &[Assignment]),
    ranking: &Ranking,
) -> (Ranking, BTreeMap<u32, Vec<TieStep>>) {
    let criteria = criteria(program, score_set.slug);
    let chain = chain(score_set, &criteria, decided);
    if chain.is_empty() {
        return (ranking.clone(), BTreeMap::new());
    }
    // An entry that is not compared has a number that none of these has.
    let number =
        |slug: &Slug| entries.binary_search(slug).ok().and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
    let mut judges = BTreeMap::new();
    let mut of_entry: Vec<Vec<Marks>> = vec![Vec::new(); entries.len()];
    let mut all = Vec::new();
    for sheet in sheets {
        let Some((units, judge)) = counted(sheet, program).and_then(|counted| units(&counted)).zip(sheet.judge) else {
            continue;
        };
        let next = judges.len();
        let judge = u32::try_from(*judges.entry(judge).or_insert(next)).unwrap_or(u32::MAX);
        let entry = number(&sheet.entry);
        if let Some(marks) = of_entry.get_mut(entry as usize) {
            let scores = criteria.iter().map(|criterion| steps(sheet, criterion)).collect();
            marks.push(Marks { judge, units: units.clone(), scores });
        }
        all.push((judge, entry, units));
    }
    let first_places = first_places(entries.len(), all.iter().map(|(judge, entry, units)| (*judge, *entry, units)));
    let [casting_vote, lot] =
        [&decided.casting_vote, &decided.lot].map(|order| order.iter().map(number).collect::<Vec<u32>>());
    let evidence = Evidence { sheets: &of_entry, first_places: &first_places, casting_vote: &casting_vote, lot: &lot };
    break_ties(ranking, &chain, &evidence)
}

/// Orders the entries of a score set of the mode `top_pick` by what judges prefer. The best comes first; those without a place, last.
pub fn elect(
    program: &Program,
    (score_set, rules, decided): (&ScoreSet, TopPick, &Decided),
    entries: &[Slug],
    sheets: &[Assignment],
) -> Result<Vec<Standing>, InvalidElection> {
    let number = |slug: &Slug| u32::try_from(entries.binary_search(slug).ok()?).ok();
    let mut ballots: BTreeMap<Slug, Vec<(i64, u32)>> = BTreeMap::new();
    let mut sheets_of = vec![0_i64; entries.len()];
    for sheet in sheets {
        if let (Some(Counted::Preference(preference)), Some(judge), Some(entry)) =
            (counted(sheet, program), sheet.judge, number(&sheet.entry))
        {
            ballots.entry(judge).or_default().push((preference, entry));
            sheets_of[entry as usize] += 1;
        }
    }
    let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    let withdrawn: Vec<u32> = (0..count).filter(|entry| sheets_of[*entry as usize] < score_set.min_judges).collect();
    let ballots = ballots.into_values().map(|mut ballot| {
        ballot.sort_unstable();
        Ballot { count: 1, order: ballot.into_iter().map(|(_, entry)| entry).collect() }
    });
    let election = Election::new(count, &withdrawn, &[], ballots)?;
    let winners = u32::try_from(rules.winners).unwrap_or(u32::MAX);
    // Of more entries than can be compared in pairs the points decide.
    let pairwise = |ranking: Option<Ranking>| ranking.unwrap_or_else(|| election.borda().1);
    let in_order = |order: Vec<u32>| Ranking::of((0..u32::MAX).zip(order).map(|(at, entry)| (Reverse(at), entry)));
    // What a lot would decide is a tie, which is told apart by the steps of the score set.
    let ranking = match rules.method {
        RankMethod::Stv => election.without_lot(|election| election.stv(winners, TieRule::EarlierRounds).ranking),
        RankMethod::Meek => election.without_lot(|election| election.meek(winners, OMEGA).ranking),
        RankMethod::Borda => election.borda().1,
        RankMethod::Schulze => pairwise(election.schulze().ok().map(|result| result.ranking)),
        RankMethod::Kemeny => match election.kemeny() {
            // An order that was found by a search among many is no tie with what another search finds.
            Ok(result) if result.best_orders.is_none_or(|orders| orders == 1) => in_order(result.order),
            _ => election.without_lot(|election| pairwise(election.kemeny().ok().map(|result| in_order(result.order)))),
        },
    };
    let mut standings = placed(program, (score_set, decided), (entries, sheets), &ranking);
    let without = withdrawn.into_iter().map(|entry| Standing { entry: entry as usize, place: None, steps: Vec::new() });
    standings.extend(without);
    Ok(standings)
}

fn placed(
    program: &Program,
    of: (&ScoreSet, &Decided),
    compared: (&[Slug], &[Assignment]),
    ranking: &Ranking,
) -> Vec<Standing> {
    let style = match of.0.places {
        Places::Competition => scoring::places::Style::Competition,
        Places::Dense => scoring::places::Style::Dense,
        Places::Modified => scoring::places::Style::Modified,
    };
    let (ranking, mut steps) = broken(program, of, compared, ranking);
    let standing = |(entry, place): (u32, scoring::places::Place)| Standing {
        entry: entry as usize,
        place: place.whole(),
        steps: steps.remove(&entry).unwrap_or_default(),
    };
    ranking.places(style).map(standing).collect()
}

/// What a sheet that counts is compared by.
fn units(counted: &Counted) -> Option<Units> {
    Some(match counted {
        Counted::Points(value, _) => Units::Part(fraction(value.numerator(), value.denominator())?),
        Counted::Decision(decision) => Units::Whole(i64::from(*decision == Decision::Pass)),
        Counted::Preference(preference) => Units::Whole(-preference),
        Counted::Votes(votes) => Units::Whole(*votes),
    })
}

/// The points of a criterion in steps above the least.
fn steps(sheet: &Assignment, criterion: &Criterion) -> Option<u32> {
    let above = points(&sheet.scores, criterion.slug)?.ten_thousandths() - criterion.minimum.ten_thousandths();
    u32::try_from(above.checked_div(criterion.step.ten_thousandths())?).ok()
}
