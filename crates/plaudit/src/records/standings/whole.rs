//! The whole board of a score set: every entry with what its sheets come to and its place.

use std::collections::{BTreeMap, BTreeSet};

use scoring::places::TieStep;

use super::board::{Decided, Standing, elect, settle};
use super::rules::{Totals, counted};
use crate::lists::MOST_TIED;
use crate::program::Program;
use crate::program::score_sets::{Places, Rules, ScoreSet};
use crate::records::assignments::Assignment;
use kernel::text::Slug;

/// An entry of a board.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The entry.
    pub entry: Slug,
    /// What its sheets come to.
    pub totals: Totals,
    /// Its place; nothing for none.
    pub rank: Option<u64>,
    /// How it was told apart from its equals.
    pub steps: Vec<TieStep>,
}

/// The board of these entries, by the sheets of a score set; those of other entries do not count. The best comes first, and entries
/// without a place come last, by slug. Nothing where a number is too large.
pub fn board(
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    entries: &BTreeSet<Slug>,
    sheets: &[Assignment],
) -> Option<Vec<Placed>> {
    let mut of_entry: BTreeMap<Slug, (Totals, Vec<Assignment>)> =
        entries.iter().map(|entry| (*entry, Default::default())).collect();
    for sheet in sheets {
        let Some((totals, of_entry)) = of_entry.get_mut(&sheet.entry) else { continue };
        *totals = std::mem::take(totals).changed(counted(sheet, program).as_ref(), 1, score_set)?;
        of_entry.push(sheet.clone());
    }
    let mut placed = Vec::with_capacity(entries.len());
    for Found { entry, rank, steps } in places(program, (score_set, decided), &of_entry)? {
        placed.push(Placed { entry, totals: of_entry.get(&entry)?.0.clone(), rank, steps });
    }
    Some(placed)
}

struct Found {
    entry: Slug,
    rank: Option<u64>,
    steps: Vec<TieStep>,
}

fn places(
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    of_entry: &BTreeMap<Slug, (Totals, Vec<Assignment>)>,
) -> Option<Vec<Found>> {
    let slugs: Vec<Slug> = of_entry.keys().copied().collect();
    let found = |slugs: &[Slug], before: u64, Standing { entry, place, steps }: Standing| {
        Some(Found { entry: *slugs.get(entry)?, rank: place.map(|place| before + place), steps })
    };
    if let Rules::TopPick(rules) = score_set.rules {
        let sheets: Vec<Assignment> = of_entry.values().flat_map(|(_, sheets)| sheets.iter().cloned()).collect();
        let standings = elect(program, (score_set, rules, decided), &slugs, &sheets).ok()?;
        return standings.into_iter().map(|standing| found(&slugs, 0, standing)).collect();
    }
    let mut groups: BTreeMap<String, Vec<Slug>> = BTreeMap::new();
    for (entry, (totals, _)) in of_entry {
        groups.entry(totals.sort_key(score_set)).or_default().push(*entry);
    }
    let without = groups.remove("").unwrap_or_default();
    let mut all = Vec::with_capacity(slugs.len());
    let (mut above, mut last) = (0, 0);
    for group in groups.into_values().rev() {
        let before = if score_set.places == Places::Dense { last } else { above };
        above += group.len() as u64;
        if group.len() > MOST_TIED {
            // More than can be told apart share one place.
            last = if score_set.places == Places::Modified { above } else { before + 1 };
            all.extend(group.into_iter().map(|entry| Found { entry, rank: Some(last), steps: Vec::new() }));
            continue;
        }
        let sheets: Vec<Assignment> = if group.len() > 1 {
            group
                .iter()
                .filter_map(|entry| of_entry.get(entry))
                .flat_map(|(_, sheets)| sheets.iter().cloned())
                .collect()
        } else {
            Vec::new()
        };
        for standing in settle(program, (score_set, decided), &group, &sheets) {
            let found = found(&group, before, standing)?;
            last = found.rank.unwrap_or(last).max(last);
            all.push(found);
        }
    }
    all.extend(without.into_iter().map(|entry| Found { entry, rank: None, steps: Vec::new() }));
    Some(all)
}
