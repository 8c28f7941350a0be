//! Places of long lists of entries that are kept in memory, as views of the change log.
//!
//! The anchors of an account belong to the number of one change. Where a page is planned at another one, they are moved on
//! by the changes between; where the log does not tell these, they are dropped, and built again by who needs them. A filter
//! for prices depends on orders as well, so that lists with one have no anchors.
//!
//! How many entries a selection has is kept with where the account stood. A page that is planned by it tells whether the
//! account still stands there.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::plan::{Listing, Part, Totals};
use super::selection::{Column, Group, Grouping, Selection};
use super::store::list::{self, Moved, State};
use crate::db::{AccountId, Db, DbError};
use crate::http::page::anchors::{Anchors, Move, Place, STRIDE};

/// From how many changes on anchors are built again and not moved.
const CHANGES: usize = 512;
/// From how many changes on, those of other records included, the log is not read through.
const LOG_ROWS: i64 = 20_000;
/// The most bytes of anchors that are kept.
const ANCHOR_BYTES: usize = 32 << 20;
/// The most sets of anchors that are kept.
const ANCHOR_SETS: usize = 512;
/// The most bytes of totals that are kept.
const TOTAL_BYTES: usize = 8 << 20;

/// Which places: those of a group of a selection, in the order of a column.
type Key = (Selection, Grouping, Group, Column);

/// The anchors of the accounts, shared by all requests.
#[derive(Debug, Default)]
pub struct Views {
    kept: Mutex<Kept>,
    counted: Mutex<Counted>,
    /// Held while anchors are built, so that requests that want the same ones wait for one scan.
    building: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    views: HashMap<AccountId, View>,
    clock: u64,
}

/// How many entries selections have.
#[derive(Debug, Default)]
struct Counted {
    accounts: HashMap<AccountId, Stood>,
    bytes: usize,
}

/// The numbers of an account.
#[derive(Debug)]
struct Stood {
    state: State,
    /// Whether the account was found there twice: a page that is planned in vain costs more than counting.
    is_steady: bool,
    totals: HashMap<(Selection, Grouping), Arc<Totals>>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct View {
    sequence: i64,
    sets: HashMap<Key, Set>,
}

#[derive(Debug)]
struct Set {
    anchors: Anchors,
    used: u64,
}

fn key(listing: &Listing, group: Group) -> Key {
    (listing.selection.clone(), grouping(listing), group, listing.sort.column)
}

/// What decides over the order of the groups decides nothing within one.
fn grouping(listing: &Listing) -> Grouping {
    match listing.sort.grouping {
        Grouping::Parent => Grouping::Category,
        grouping => grouping,
    }
}

impl Views {
    /// No anchors yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries a list had where the account stood when they were last counted.
    pub(super) fn totals(&self, account: AccountId, listing: &Listing) -> Option<(State, Arc<Totals>)> {
        let counted = self.counted.lock();
        let Stood { state, totals, .. } = counted.accounts.get(&account).filter(|stood| stood.is_steady)?;
        Some((*state, Arc::clone(totals.get(&(listing.selection.clone(), grouping(listing)))?)))
    }

    /// Keeps how many entries a list has. Numbers from where the account stood at another time are forgotten.
    pub(super) fn keep_totals(&self, account: AccountId, listing: &Listing, state: State, totals: &Arc<Totals>) {
        let key = (listing.selection.clone(), grouping(listing));
        let bytes = key.0.bytes() + totals.bytes();
        let mut counted = self.counted.lock();
        if counted.bytes + bytes > TOTAL_BYTES {
            *counted = Counted::default();
        }
        let Counted { accounts, bytes: all } = &mut *counted;
        let new = || Stood { state, is_steady: false, totals: HashMap::new(), bytes: 0 };
        let stood = accounts.entry(account).or_insert_with(new);
        let is_same = stood.state == state;
        stood.is_steady = is_same && !stood.totals.is_empty();
        if !is_same {
            *all -= stood.bytes;
            *stood = new();
        }
        // What is counted again takes the place of the same.
        if stood.totals.insert(key, Arc::clone(totals)).is_none() {
            stood.bytes += bytes;
            *all += bytes;
        }
    }

    /// Lets a part begin at an anchor that is good at `sequence`, for which anchors are moved on or built where they have
    /// to be. Where the account has got further meanwhile, the part stays as it is: the page will be planned again.
    pub(super) async fn anchor(
        &self,
        (db, account): (&Db, AccountId),
        (listing, totals): (&Listing, &Totals),
        part: &mut Part,
        sequence: i64,
    ) -> Result<(), DbError> {
        let key = key(listing, part.group);
        if listing.selection.price.is_some() || self.found(account, &key, (listing, part), sequence) {
            return Ok(());
        }
        let _building = self.building.lock().await;
        self.move_on(db, account, sequence).await?;
        if self.found(account, &key, (listing, part), sequence) || self.has(account, &key) {
            return Ok(());
        }
        let (anchors, built) = list::anchors(db, account, (listing, totals), part.group).await?;
        // The ranges are those of the seasons that had entries when these were counted, and may lack one by now.
        let is_whole = built == sequence || part.group.is_some() || listing.selection.season.is_some();
        if !is_whole {
            return Ok(());
        }
        self.move_on(db, account, built).await?;
        self.keep(account, key.clone(), anchors, built);
        self.found(account, &key, (listing, part), sequence);
        Ok(())
    }

    /// Lets a part begin at an anchor, where there are anchors of just this change.
    fn found(&self, account: AccountId, key: &Key, (listing, part): (&Listing, &mut Part), sequence: i64) -> bool {
        let mut kept = self.kept.lock();
        kept.clock += 1;
        let now = kept.clock;
        let Some(view) = kept.views.get_mut(&account).filter(|view| view.sequence == sequence) else { return false };
        let Some(set) = view.sets.get_mut(key) else { return false };
        set.used = now;
        listing.anchor(part, &set.anchors);
        true
    }

    fn has(&self, account: AccountId, key: &Key) -> bool {
        self.kept.lock().views.get(&account).is_some_and(|view| view.sets.contains_key(key))
    }

    /// Notes where a page began, so that a stretch in which many entries came together gets anchors of its own.
    pub(super) fn learn(&self, account: AccountId, listing: &Listing, part: &Part, sequence: i64, place: Place) {
        let Some(rank) = part.rank.filter(|_| part.offset > 2 * STRIDE) else { return };
        if let Some(view) = self.kept.lock().views.get_mut(&account)
            && view.sequence == sequence
            && let Some(set) = view.sets.get_mut(&key(listing, part.group))
        {
            set.anchors.learn(rank, place);
        }
    }

    /// Moves the account's anchors on to its last change, where they are not good for this one.
    async fn move_on(&self, db: &Db, account: AccountId, sequence: i64) -> Result<(), DbError> {
        let since = self.kept.lock().views.get(&account).map(|view| view.sequence);
        let Some(since) = since.filter(|since| *since < sequence) else { return Ok(()) };
        let moved = if sequence - since > LOG_ROWS { None } else { list::moved(db, account, since, CHANGES).await? };
        let mut kept = self.kept.lock();
        match (kept.views.get_mut(&account).filter(|view| view.sequence == since), moved) {
            (Some(view), Some((last, moved))) => view.apply(last, &moved),
            (Some(_), None) => drop(kept.views.remove(&account)),
            (None, _) => {}
        }
        Ok(())
    }

    /// Keeps anchors that were built at a change, unless the account's others are good for another one.
    fn keep(&self, account: AccountId, key: Key, anchors: Anchors, built: i64) {
        let mut kept = self.kept.lock();
        kept.clock += 1;
        let used = kept.clock;
        let view = kept.views.entry(account).or_default();
        if view.sets.is_empty() {
            view.sequence = built;
        }
        if view.sequence == built {
            view.sets.insert(key, Set { anchors, used });
        }
        kept.make_room();
    }
}

impl Kept {
    fn make_room(&mut self) {
        loop {
            let sets = || self.views.iter().flat_map(|(account, view)| view.sets.iter().map(move |set| (account, set)));
            let bytes: usize = sets().map(|(_, (_, set))| set.anchors.bytes()).sum();
            if bytes <= ANCHOR_BYTES && sets().count() <= ANCHOR_SETS {
                return;
            }
            let oldest = sets().min_by_key(|(_, (_, set))| set.used).map(|(account, (key, _))| (*account, key.clone()));
            let Some((account, key)) = oldest else { return };
            if let Some(view) = self.views.get_mut(&account) {
                view.sets.remove(&key);
                if view.sets.is_empty() {
                    self.views.remove(&account);
                }
            }
        }
    }
}

impl View {
    fn apply(&mut self, last: i64, moved: &[Moved]) {
        self.sets.retain(|key, set| set.anchors.apply(&mut moves(moved, key)));
        self.sequence = last;
    }
}

/// What changes move in the order of a group.
fn moves(changes: &[Moved], (selection, grouping, group, column): &Key) -> Vec<Move> {
    let mut moves = Vec::new();
    for Moved { before, after } in changes {
        let place = |facts: &super::selection::Facts| {
            let is_there = selection.contains(facts) && facts.is_of(*grouping, *group);
            is_there.then(|| facts.position(*column))
        };
        let (before, after) = (before.as_ref().and_then(place), place(after));
        if before != after {
            moves.extend(before.map(|place| Move { place, is_added: false }));
            moves.extend(after.map(|place| Move { place, is_added: true }));
        }
    }
    moves
}
