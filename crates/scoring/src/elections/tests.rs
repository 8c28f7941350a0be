//! What every method of an election has to hold.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use num::Zero;
use proptest::prelude::*;

use super::*;
use crate::places::Ranking;
use crate::rational::{Fraction, whole};

const ENTRIES: u32 = 5;

fn ballots() -> impl Strategy<Value = Vec<Ballot>> {
    let ballot = (1..6_u32, shuffled(ENTRIES), 1..=ENTRIES as usize).prop_map(|(count, mut order, named)| {
        order.truncate(named);
        Ballot { count, order }
    });
    prop::collection::vec(ballot, 0..10)
}

fn shuffled(entries: u32) -> impl Strategy<Value = Vec<u32>> {
    Just((0..entries).collect::<Vec<_>>()).prop_shuffle()
}

fn lot() -> impl Strategy<Value = Vec<u32>> {
    shuffled(ENTRIES)
}

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    (0..ENTRIES).flat_map(|one| (0..ENTRIES).map(move |other| (one, other)))
}

fn election(ballots: &[Ballot], lot: &[u32]) -> Election {
    Election::new(ENTRIES, &[], lot, ballots.to_vec()).unwrap()
}

fn small(entries: u32, lot: &[u32], ballots: &[(u32, &[u32])]) -> Election {
    let ballots = ballots.iter().map(|(count, order)| Ballot { count: *count, order: order.to_vec() });
    Election::new(entries, &[], lot, ballots).unwrap()
}

fn orders(entries: &[u32]) -> Vec<Vec<u32>> {
    if entries.is_empty() {
        return vec![Vec::new()];
    }
    let first = |first: &u32| {
        let others: Vec<u32> = entries.iter().copied().filter(|entry| entry != first).collect();
        orders(&others).into_iter().map(|order| [vec![*first], order].concat()).collect::<Vec<_>>()
    };
    entries.iter().flat_map(first).collect()
}

/// How many seats each set of entries is owed: a set that so many voters put above all others has a seat for each quota
/// of them (Droop's proportionality criterion).
fn assert_proportional(ballots: &[Ballot], seats: u32, elected: &[u32]) -> Result<(), TestCaseError> {
    let votes: u32 = ballots.iter().map(|ballot| ballot.count).sum();
    for set in 1_u32..1 << ENTRIES {
        let size = set.count_ones() as usize;
        let solid = ballots.iter().filter(|ballot| {
            ballot.order.len() >= size && ballot.order[..size].iter().all(|entry| set & (1 << entry) != 0)
        });
        let behind: u32 = solid.map(|ballot| ballot.count).sum();
        let owed = u64::from(behind) / droop_quota(votes.into(), seats);
        let got = elected.iter().filter(|entry| set & (1 << **entry) != 0).count();
        prop_assert!(got >= size.min(usize::try_from(owed).unwrap()), "{set:b} has {got} of {owed}");
    }
    Ok(())
}

fn assert_everybody_once(ranking: &Ranking) -> Result<(), TestCaseError> {
    let mut entries = ranking.entries().to_vec();
    entries.sort_unstable();
    prop_assert!(entries.into_iter().eq(0..ENTRIES));
    Ok(())
}

#[test]
fn ballots_that_cannot_be_counted_are_refused() {
    let new = |order: &[u32], count| {
        Election::new(
            3,
            &[2],
            &[],
            [(1, vec![0]), (count, order.to_vec())].map(|(count, order)| Ballot { count, order }),
        )
    };
    assert_eq!(new(&[0, 3], 1).err(), Some(InvalidElection::UnknownEntry(3)));
    assert_eq!(new(&[1, 0, 1], 1).err(), Some(InvalidElection::NamedTwice(1)));
    assert_eq!(new(&[1], u32::MAX).err(), Some(InvalidElection::TooManyVotes));
    assert_eq!(new(&[2], u32::MAX).map(|election| election.votes()), Ok(1));
}

#[test]
fn a_tie_for_elimination_goes_by_earlier_rounds_and_then_by_lot() {
    let ballots: [(u32, &[u32]); 4] = [(6, &[0]), (2, &[1]), (3, &[2]), (1, &[3, 1])];
    let stv = |ties, lot: &[u32]| small(4, lot, &ballots).stv(1, ties).rounds[1].clone();
    let tie = |entries: &[u32], broken_by| Some(Tie { entries: entries.to_vec(), broken_by });
    let round = stv(TieRule::EarlierRounds, &[1, 2]);
    assert_eq!((round.decision, round.tie), (Decision::Eliminated(vec![1]), tie(&[2, 1], TieRule::EarlierRounds)));
    let round = stv(TieRule::Lot, &[1, 2]);
    assert_eq!((round.decision, round.tie), (Decision::Eliminated(vec![2]), tie(&[1, 2], TieRule::Lot)));
    let equal = small(3, &[2, 0, 1], &[(2, &[0]), (2, &[1]), (2, &[2])]).stv(1, TieRule::EarlierRounds);
    assert_eq!(equal.rounds[0].tie, tie(&[2, 0, 1], TieRule::Lot));
    assert_eq!(equal.ranking.entries(), [2, 0, 1]);
}

#[test]
fn who_has_no_votes_goes_out_together_and_only_as_many_as_may() {
    let election = small(5, &[4, 3, 2], &[(3, &[0]), (1, &[1])]);
    let stv = election.stv(3, TieRule::EarlierRounds);
    assert_eq!(stv.elected, [0, 1, 4]);
    assert_eq!(stv.rounds[1].decision, Decision::Eliminated(vec![3, 2]));
    assert_eq!(stv.rounds[1].tie, Some(Tie { entries: vec![4, 3, 2], broken_by: TieRule::Lot }));
    assert_eq!(stv.ranking.groups().last(), Some(&[3, 2][..]));
    assert_eq!(election.meek(3, OMEGA).elected, [0, 1, 4]);
}

#[test]
fn without_ballots_nobody_is_elected_and_all_are_tied() {
    let election = small(3, &[], &[]);
    for (elected, ranking) in [
        (election.stv(2, TieRule::Lot).elected, election.stv(2, TieRule::Lot).ranking),
        (election.meek(2, OMEGA).elected, election.meek(2, OMEGA).ranking),
    ] {
        assert!(elected.is_empty());
        assert_eq!(ranking.groups().collect::<Vec<_>>(), [[0, 1, 2]]);
    }
}

#[test]
fn a_long_order_that_all_agree_on_is_found_by_local_search() {
    let order: Vec<u32> = (0..15).map(|entry| entry * 4 % 15).collect();
    let kemeny = small(15, &[], &[(3, &order)]).kemeny().unwrap();
    assert_eq!((&kemeny.order, kemeny.distance, kemeny.best_orders), (&order, 0, None));
}

#[test]
fn too_many_entries_are_not_compared_pair_by_pair() {
    assert_eq!(small(1_001, &[], &[]).schulze().err(), Some(TooManyEntries(1_001)));
    assert_eq!(small(1_001, &[], &[]).kemeny().err(), Some(TooManyEntries(1_001)));
}

/// The strongest simple path, by trying all.
fn strongest(step: &dyn Fn(u32, u32) -> u64, from: u32, to: u32, through: &[u32]) -> u64 {
    let by = through.iter().map(|next| {
        let others: Vec<u32> = through.iter().copied().filter(|other| other != next).collect();
        step(from, *next).min(strongest(step, *next, to, &others))
    });
    by.chain([step(from, to)]).max().unwrap()
}

proptest! {
    #[test]
    fn no_method_depends_on_the_order_of_ballots(mut ballots in ballots(), lot in lot(), seats in 1..4_u32) {
        let results = |ballots: &[Ballot]| {
            let election = election(ballots, &lot);
            let counted = (election.stv(seats, TieRule::EarlierRounds), election.meek(seats, OMEGA), election.borda());
            (counted, election.schulze(), election.kemeny(), election.preference_counts())
        };
        let before = results(&ballots);
        ballots.reverse();
        let (one, more): (Vec<Ballot>, Vec<Ballot>) = ballots
            .iter()
            .map(|ballot| (Ballot { count: 1, ..ballot.clone() }, Ballot { count: ballot.count - 1, ..ballot.clone() }))
            .unzip();
        prop_assert_eq!(results(&[one, more].concat()), before);
    }

    #[test]
    fn no_vote_is_lost_in_a_single_transferable_vote(ballots in ballots(), lot in lot(), seats in 1..4_u32) {
        let election = election(&ballots, &lot);
        let stv = election.stv(seats, TieRule::EarlierRounds);
        let mut elected = 0_u32;
        for round in &stv.rounds {
            let held = round.tally.values().sum::<Fraction>() + whole(u64::from(elected) * stv.quota);
            prop_assert_eq!(held + &round.exhausted, whole(election.votes()));
            if let Decision::Elected(entries) = &round.decision {
                elected += u32::try_from(entries.len()).unwrap();
                prop_assert!(entries.iter().all(|entry| round.tally[entry] >= whole(stv.quota)));
            }
            if let Decision::Eliminated(entries) = &round.decision {
                let votes = |entry: &u32| round.tally.get(entry).cloned().unwrap_or_else(Fraction::zero);
                let most = entries.iter().map(votes).max().unwrap();
                prop_assert!(round.tally.values().all(|votes| *votes >= most && *votes < whole(stv.quota)));
            }
        }
        let expected = if ballots.is_empty() { 0 } else { seats as usize };
        prop_assert_eq!(stv.elected.len(), expected);
        prop_assert!(stv.ranking.entries().starts_with(&stv.elected));
        assert_everybody_once(&stv.ranking)?;
        assert_proportional(&ballots, seats, &stv.elected)?;
    }

    #[test]
    fn elected_entries_keep_about_the_quota_by_meeks_method(ballots in ballots(), lot in lot(), seats in 1..4_u32) {
        let election = election(&ballots, &lot);
        let meek = election.meek(seats, OMEGA);
        let mut elected: Vec<u32> = Vec::new();
        for round in &meek.rounds {
            let held: u128 = round.votes.values().sum();
            prop_assert!(held <= u128::from(election.votes()) * 10_u128.pow(DECIMALS));
            prop_assert_eq!(round.quota, held / u128::from(seats + 1) + 1);
            // Where nearly all papers are exhausted, nine decimals are too few to come closer.
            if matches!(round.decision, Decision::Eliminated(_)) && round.quota > 10_u128.pow(DECIMALS) / 10 {
                prop_assert!(elected.iter().all(|entry| round.votes[entry].abs_diff(round.quota) <= OMEGA));
            }
            if let Decision::Elected(entries) = &round.decision {
                elected.extend(entries);
            }
        }
        prop_assert_eq!(meek.elected.len(), if ballots.is_empty() { 0 } else { seats as usize });
        assert_everybody_once(&meek.ranking)?;
        assert_proportional(&ballots, seats, &meek.elected)?;
    }

    #[test]
    fn a_withdrawn_entry_is_as_one_that_there_never_was(ballots in ballots(), lot in lot(), withdrawn in 0..ENTRIES) {
        let closed = |order: &[u32]| -> Vec<u32> {
            let others = order.iter().filter(|entry| **entry != withdrawn);
            others.map(|entry| entry - u32::from(*entry > withdrawn)).collect()
        };
        let others = ballots.iter().map(|ballot| Ballot { count: ballot.count, order: closed(&ballot.order) });
        let never = Election::new(ENTRIES - 1, &[], &closed(&lot), others).unwrap();
        let without = Election::new(ENTRIES, &[withdrawn], &lot, ballots).unwrap();
        let groups = |ranking: &Ranking| -> Vec<Vec<u32>> { ranking.groups().map(<[u32]>::to_vec).collect() };
        for method in [
            |election: &Election| election.borda().1,
            |election: &Election| election.schulze().unwrap().ranking,
            |election: &Election| {
                let order = (0..).zip(election.kemeny().unwrap().order);
                Ranking::of(order.map(|(at, entry)| (Reverse(at), entry)))
            },
            |election: &Election| election.meek(2, OMEGA).ranking,
            |election: &Election| election.stv(2, TieRule::EarlierRounds).ranking,
        ] {
            let renumbered: Vec<Vec<u32>> = groups(&method(&without)).iter().map(|group| closed(group)).collect();
            prop_assert_eq!(renumbered, groups(&method(&never)));
        }
    }

    #[test]
    fn bordas_points_are_the_preferences_won(ballots in ballots()) {
        let election = election(&ballots, &[]);
        let pairwise = election.pairwise().unwrap();
        let won = |entry| (0..ENTRIES).map(|other| pairwise.get(entry, other)).sum::<u64>();
        prop_assert_eq!(election.borda().0, (0..ENTRIES).map(won).collect::<Vec<_>>());
    }

    #[test]
    fn pairs_are_counted_as_the_ballots_say(ballots in ballots()) {
        let pairwise = election(&ballots, &[]).pairwise().unwrap();
        for (one, other) in pairs() {
            let at = |ballot: &Ballot, entry| {
                ballot.order.iter().position(|named| *named == entry).unwrap_or(usize::MAX)
            };
            let preferring = ballots.iter().filter(|ballot| at(ballot, one) < at(ballot, other));
            prop_assert_eq!(pairwise.get(one, other), preferring.map(|ballot| u64::from(ballot.count)).sum::<u64>());
        }
    }

    #[test]
    fn schulzes_paths_are_the_strongest_of_all(ballots in ballots()) {
        let schulze = election(&ballots, &[]).schulze().unwrap();
        let step = |one: u32, other: u32| {
            let (forth, back) = (schulze.preferences.get(one, other), schulze.preferences.get(other, one));
            if forth > back { forth } else { 0 }
        };
        let groups = schulze.ranking.groups().zip(0..);
        let places: BTreeMap<u32, usize> =
            groups.flat_map(|(group, at)| group.iter().map(move |entry| (*entry, at))).collect();
        assert_everybody_once(&schulze.ranking)?;
        for (one, other) in pairs().filter(|(one, other)| one != other) {
            let others: Vec<u32> = (0..ENTRIES).filter(|entry| *entry != one && *entry != other).collect();
            prop_assert_eq!(schulze.paths.get(one, other), strongest(&step, one, other, &others));
            if schulze.paths.get(one, other) > schulze.paths.get(other, one) {
                prop_assert!(places[&one] < places[&other]);
            }
        }
    }

    #[test]
    fn kemenys_order_is_the_best_of_all(
        entries in 0..=6_u32,
        ballots in prop::collection::vec((1..6_u32, shuffled(6)), 0..6),
        lot in shuffled(6),
    ) {
        let existing = |order: Vec<u32>| -> Vec<u32> { order.into_iter().filter(|entry| *entry < entries).collect() };
        let lot = existing(lot);
        let ballots = ballots.into_iter().map(|(count, order)| Ballot { count, order: existing(order) });
        let election = Election::new(entries, &[], &lot, ballots).unwrap();
        let pairwise = election.pairwise().unwrap();
        let score = |order: &[u32]| -> u64 {
            let after = |at: usize| order[at + 1..].iter().map(|other| pairwise.get(order[at], *other)).sum::<u64>();
            (0..order.len()).map(after).sum()
        };
        // Orders come in the order of the lot, so that the first of the best is the result.
        let orders = orders(&lot);
        let best = orders.iter().map(|order| score(order)).max().unwrap();
        let mut best_orders = orders.iter().filter(|order| score(order) == best);
        let kemeny = election.kemeny().unwrap();
        prop_assert_eq!(Some(&kemeny.order), best_orders.next());
        prop_assert_eq!((kemeny.score, kemeny.best_orders), (best, Some(1 + best_orders.count() as u64)));
    }

    #[test]
    fn local_search_ends_where_no_single_move_is_better(orders in prop::collection::vec(shuffled(13), 1..5)) {
        let ballots = orders.into_iter().map(|order| Ballot { count: 1, order });
        let election = Election::new(13, &[], &[], ballots).unwrap();
        let pairwise = election.pairwise().unwrap();
        let score = |order: &[u32]| -> u64 {
            let after = |at: usize| order[at + 1..].iter().map(|other| pairwise.get(order[at], *other)).sum::<u64>();
            (0..order.len()).map(after).sum()
        };
        let kemeny = election.kemeny().unwrap();
        prop_assert_eq!(score(&kemeny.order), kemeny.score);
        for (from, to) in (0..13).flat_map(|from| (0..13).map(move |to| (from, to))) {
            let mut moved = kemeny.order.clone();
            let entry = moved.remove(from);
            moved.insert(to, entry);
            prop_assert!(score(&moved) <= kemeny.score);
        }
    }
}

#[test]
fn whom_only_the_lot_tells_apart_are_tied() {
    let ballots = |orders: &[(u32, &[u32])]| -> Vec<Ballot> {
        orders.iter().map(|(count, order)| Ballot { count: *count, order: order.to_vec() }).collect()
    };
    let groups = |ranking: &Ranking| -> Vec<Vec<u32>> { ranking.groups().map(<[u32]>::to_vec).collect() };
    let stv = |election: &Election| election.stv(2, TieRule::EarlierRounds).ranking;
    let kemeny = |election: &Election| {
        let order = election.kemeny().unwrap().order;
        Ranking::of((0..u32::MAX).zip(order).map(|(at, entry)| (std::cmp::Reverse(at), entry)))
    };
    let equal = Election::new(3, &[], &[], ballots(&[(1, &[0]), (1, &[1])])).unwrap();
    assert_eq!(groups(&equal.without_lot(stv)), [vec![0, 1], vec![2]]);
    assert_eq!(groups(&equal.without_lot(|election| election.meek(1, OMEGA).ranking)), [vec![0, 1], vec![2]]);
    // The second is elected at once; of the others one goes out at 3 to 3.
    let election =
        Election::new(3, &[], &[], ballots(&[(4, &[1, 2, 0]), (3, &[0, 2, 1]), (2, &[2, 0, 1]), (1, &[2, 1])]))
            .unwrap();
    assert_eq!(groups(&election.without_lot(stv)), [vec![1], vec![0, 2]]);
    assert_eq!(election.kemeny().unwrap().best_orders, Some(2));
    assert_eq!(groups(&election.without_lot(kemeny)), [vec![2], vec![0, 1]]);
    // Whoever of three goes out, another one wins, however they are numbered.
    let one_seat = |election: &Election| election.stv(1, TieRule::EarlierRounds).ranking;
    for orders in
        [[[0, 1], [1, 0], [2, 1]], [[1, 0], [0, 1], [2, 0]], [[0, 2], [1, 0], [2, 1]], [[2, 1], [1, 2], [0, 1]]]
    {
        let ballots = orders.iter().map(|order| Ballot { count: 1, order: order.to_vec() });
        let election = Election::new(3, &[], &[], ballots).unwrap();
        assert_eq!(groups(&election.without_lot(one_seat)), [vec![0, 1, 2]], "{orders:?}");
    }
    let schulze = |election: &Election| election.schulze().unwrap().ranking;
    assert_eq!(election.without_lot(schulze), schulze(&election));
}
