//! What lists of orders keep in memory: counts and anchors, as views of the change log.
//!
//! A view belongs to the number of one change. The statement that reads a page tells the number that it saw; where that
//! is another one, the view is moved on by the changes between and the page is read again. So nothing in memory has to
//! be told of a change, and nothing that is answered is older than the statement.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::document;
use super::plan::{Column, Listing, Part};
use super::record::Order;
use super::rules;
use super::segments::{Counts, Segment, Selection};
use super::store;
use crate::db::{AccountId, Db, DbError, Source};
use crate::http::page::anchors::{Anchors, Key, Move, Place, STRIDE};
use crate::kind::Kind;
use crate::log;

/// From how many changes on a view is read anew and not moved.
const CHANGES: usize = 512;
/// From how many rows of the log on, those of other records included, it is not read through.
const LOG_ROWS: i64 = 20_000;
/// The most bytes of anchors that are kept.
const ANCHOR_BYTES: usize = 32 << 20;
/// The most sets of anchors that are kept.
const ANCHOR_SETS: usize = 512;
/// The most accounts whose counts are kept; past it all are dropped and read again as they are asked for.
const ACCOUNTS: usize = 10_000;
/// How often anchors that were built are moved on to where the view has got meanwhile.
const RUNS: usize = 4;

/// The counts and anchors of the accounts, shared by all requests.
#[derive(Debug, Default)]
pub struct Views {
    kept: Mutex<Kept>,
    /// Held while anchors are built, so that requests that want the same ones wait for one scan.
    building: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    views: HashMap<AccountId, View>,
    clock: u64,
}

#[derive(Debug, Default)]
struct View {
    changed: i64,
    counts: Counts,
    anchors: HashMap<(Selection, Column), Set>,
}

#[derive(Debug)]
struct Set {
    anchors: Anchors,
    used: u64,
}

/// A change of an order, as far as lists are concerned.
struct Step {
    sequence: i64,
    before: Option<Order>,
    after: Order,
}

/// A page that was planned on a view.
pub(super) struct Planned {
    pub(super) parts: Vec<Part>,
    pub(super) total: u64,
    /// The number of the change that the plan is good for.
    pub(super) changed: i64,
    /// The group whose anchors would make the page cheap.
    pub(super) wanted: Option<Selection>,
}

impl Views {
    /// No views yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Plans a page on the account's view. Nothing where there is no view yet.
    pub(super) fn plan(
        &self,
        account: AccountId,
        listing: &Listing,
        page: impl FnOnce(&Counts) -> Vec<Part>,
    ) -> Option<Planned> {
        let mut kept = self.kept.lock();
        kept.clock += 1;
        let now = kept.clock;
        let view = kept.views.get_mut(&account)?;
        let mut parts = page(&view.counts);
        let mut wanted = None;
        for part in parts.iter_mut().filter(|part| part.offset > 0) {
            let group = listing.groups[part.group];
            match view.anchors.get_mut(&(group, listing.column)) {
                Some(set) => {
                    set.used = now;
                    listing.anchor(part, &set.anchors);
                }
                None if part.is_deep() => wanted = Some(group),
                None => {}
            }
        }
        Some(Planned { parts, total: listing.total(&view.counts), changed: view.changed, wanted })
    }

    /// Reads the account's view for the first time, or moves it on to the newest change; `seen` is the number of the
    /// change that a statement has met.
    pub(super) async fn refresh(&self, db: &Db, account: AccountId, seen: i64) -> Result<(), DbError> {
        let since = self.changed(account).filter(|since| seen.saturating_sub(*since) <= LOG_ROWS);
        if let Some(since) = since
            && let Some(steps) = steps_since(db, account, since).await?
        {
            let mut kept = self.kept.lock();
            if kept.views.get_mut(&account).is_some_and(|view| view.apply(since, &steps)) {
                return Ok(());
            }
        }
        let (counts, changed) = store::counts(&mut Source::Db(db), account).await?;
        let mut kept = self.kept.lock();
        if kept.views.len() >= ACCOUNTS {
            kept.views.clear();
        }
        // Another request may have read a newer one meanwhile.
        if kept.views.get(&account).is_none_or(|view| view.changed <= changed) {
            kept.views.insert(account, View { changed, counts, anchors: HashMap::new() });
        }
        Ok(())
    }

    /// Builds the anchors of a group, unless they are there by now.
    pub(super) async fn build(
        &self,
        db: &Db,
        account: AccountId,
        group: Selection,
        column: Column,
    ) -> Result<(), DbError> {
        let _building = self.building.lock().await;
        let Some(pairs) = self.pairs_without_anchors(account, &group, column) else { return Ok(()) };
        let (since, pairs) = pairs;
        let (mut anchors, mut changed) = store::anchors(db, account, &pairs, column).await?;
        if changed != since {
            // A season or segment may have got its first order before the scan, which then was not asked for it.
            self.refresh(db, account, changed).await?;
            if self.pairs_without_anchors(account, &group, column).is_none_or(|(_, now)| now != pairs) {
                return Ok(());
            }
        }
        for _ in 0..RUNS {
            if self.keep(account, (group, column), &mut anchors, changed) {
                return Ok(());
            }
            let Some(steps) = steps_since(db, account, changed).await? else { return Ok(()) };
            let Some(last) = steps.last() else { return Ok(()) };
            if !anchors.apply(&mut moves(&steps, &group, column)) {
                return Ok(());
            }
            let since = std::mem::replace(&mut changed, last.sequence);
            if let Some(view) = self.kept.lock().views.get_mut(&account)
                && !view.apply(since, &steps)
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Drops the account's view, to be read anew.
    pub(super) fn forget(&self, account: AccountId) {
        self.kept.lock().views.remove(&account);
    }

    /// Notes where a page began, so that a stretch in which many orders came together gets anchors of its own.
    pub(super) fn learn(&self, account: AccountId, key: (Selection, Column), changed: i64, rank: u64, place: Place) {
        if let Some(view) = self.kept.lock().views.get_mut(&account)
            && view.changed == changed
            && let Some(set) = view.anchors.get_mut(&key)
        {
            set.anchors.learn(rank, place);
        }
    }

    /// The number of the change that the account's view is good for.
    fn changed(&self, account: AccountId) -> Option<i64> {
        self.kept.lock().views.get(&account).map(|view| view.changed)
    }

    fn pairs_without_anchors(
        &self,
        account: AccountId,
        group: &Selection,
        column: Column,
    ) -> Option<(i64, Vec<(crate::text::Slug, Segment)>)> {
        let kept = self.kept.lock();
        let view = kept.views.get(&account).filter(|view| !view.anchors.contains_key(&(*group, column)))?;
        Some((view.changed, view.counts.pairs(group)))
    }

    /// Keeps anchors that are good for the same change as the view; the least used ones make room.
    fn keep(&self, account: AccountId, key: (Selection, Column), anchors: &mut Anchors, changed: i64) -> bool {
        let mut kept = self.kept.lock();
        kept.clock += 1;
        let used = kept.clock;
        let Some(view) = kept.views.get_mut(&account) else { return true };
        if view.changed != changed {
            return false;
        }
        view.anchors.insert(key, Set { anchors: std::mem::take(anchors), used });
        kept.make_room();
        true
    }
}

impl Kept {
    fn make_room(&mut self) {
        loop {
            let sets =
                || self.views.iter().flat_map(|(account, view)| view.anchors.iter().map(move |set| (account, set)));
            let bytes: usize = sets().map(|(_, (_, set))| set.anchors.bytes()).sum();
            if bytes <= ANCHOR_BYTES && sets().count() <= ANCHOR_SETS {
                return;
            }
            let oldest = sets().min_by_key(|(_, (_, set))| set.used).map(|(account, (key, _))| (*account, *key));
            let Some((account, key)) = oldest else { return };
            if let Some(view) = self.views.get_mut(&account) {
                view.anchors.remove(&key);
            }
        }
    }
}

impl View {
    /// Moves on by those of the changes after `since` that are newer than the view. False where the view has to be read
    /// anew, as where it is older than `since` and the changes between are not at hand.
    fn apply(&mut self, since: i64, steps: &[Step]) -> bool {
        if self.changed < since {
            return false;
        }
        let known = steps.partition_point(|step| step.sequence <= self.changed);
        let steps = &steps[known..];
        let Some(last) = steps.last() else { return true };
        for step in steps {
            let is_sound = step.before.as_ref().is_none_or(|before| self.count(before, false));
            if !(is_sound && self.count(&step.after, true)) {
                // Reading anew is the way out of what cannot be; no anchors may survive it.
                self.anchors.clear();
                self.changed = i64::MIN;
                return false;
            }
        }
        self.anchors.retain(|(group, column), set| set.anchors.apply(&mut moves(steps, group, *column)));
        self.changed = last.sequence;
        true
    }

    fn count(&mut self, order: &Order, is_added: bool) -> bool {
        self.counts.change(order.season, Segment::of(order), is_added)
    }
}

/// The changes of orders since one; nothing where there are too many, or none although there must be.
async fn steps_since(db: &Db, account: AccountId, since: i64) -> Result<Option<Vec<Step>>, DbError> {
    let mut steps = Vec::new();
    let mut is_readable = true;
    let limit = i64::try_from(CHANGES).unwrap_or(i64::MAX);
    log::each_since(db, account, Kind::Order, since, limit, |entry, before| {
        let before = before.map(document::read_logged).transpose();
        match (before, document::read_logged(entry.document())) {
            (Ok(before), Ok(after)) => steps.push(Step { sequence: entry.sequence, before, after }),
            _ => is_readable = false,
        }
        Ok(())
    })
    .await?;
    Ok(Some(steps).filter(|steps| is_readable && !steps.is_empty() && steps.len() < CHANGES))
}

/// What the changes move in the order of a group.
fn moves(steps: &[Step], group: &Selection, column: Column) -> Vec<Move> {
    let mut moves = Vec::new();
    for step in steps {
        let place = |order: &Order| {
            let is_selected = group.contains(order.season, Segment::of(order));
            is_selected.then(|| Place { key: key(order, column), slug: order.slug })
        };
        let (before, after) = (step.before.as_ref().and_then(place), place(&step.after));
        if before != after {
            moves.extend(before.map(|place| Move { place, is_added: false }));
            moves.extend(after.map(|place| Move { place, is_added: true }));
        }
    }
    moves
}

/// What an order is sorted by; the same as its row has in that column.
fn key(order: &Order, column: Column) -> Key {
    match column {
        Column::Recency => Key::Integer(store::recency(order.updated)),
        Column::CreatedAt => Key::Integer(order.created_at.as_microseconds()),
        Column::InvoiceNumber => Key::Text(rules::invoice_key(&order.invoice_number).into()),
        Column::PaymentMethod => Key::Text(order.payment_method.as_str().into()),
        Column::Total => Key::Integer(order.totals.total.sort_key()),
    }
}

/// Whether a page began so far from an anchor that its place is worth keeping.
pub(super) fn is_worth_learning(part: &Part) -> bool {
    part.offset > 2 * STRIDE
}
