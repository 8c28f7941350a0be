//! Writes links, and takes them back.

use std::collections::BTreeMap;

use super::facts::{self, Facts, Scope};
use crate::log::{Action, Event, Origin};
use crate::program::score_sets::ScoreSet;
use crate::program::{Program, Record};
use crate::records::assignments::{Assignment, AssignmentSlug, Cause, Method, scoring, store};
use crate::records::conflicts::Conflict;
use crate::records::entries::{self, Entry};
use crate::records::people;
use crate::records::recusals::Recusal;
use crate::records::standings::store::{FoundSheet, Written, write as write_assignment};
use db::{AccountId, DbError, Source, Tx};
use kernel::ids::Ids;
use kernel::text::{Slug, Timestamp};

/// A link that is wanted.
#[derive(Clone, Debug)]
pub struct Link {
    /// The entry.
    pub entry: Slug,
    /// Who judges it.
    pub judge: Slug,
    /// In which score set.
    pub score_set: Slug,
    /// In which rounds.
    pub rounds: Vec<Slug>,
    /// What it is linked by.
    pub cause: Cause,
    /// The panels that link it; none where somebody else does.
    pub panels: Vec<Slug>,
}

impl Link {
    /// The slug of its assignment.
    pub fn slug(&self) -> AssignmentSlug {
        AssignmentSlug::of_judge(self.entry, self.judge, self.score_set)
    }
}

/// What is told where a judge is never to judge an entry.
pub fn refusal(facts: &Facts, pair: (Slug, Slug), score_set: Option<&ScoreSet>) -> Option<String> {
    facts.exclusion(pair, score_set).map(|reason| format!("{} {reason} {}", pair.1, pair.0))
}

/// Why a sheet that comes back cannot count: its judge has given its preference, or the votes of its period, to other entries meanwhile.
pub async fn refusal_to_return(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    (sheet, now): (&Assignment, Timestamp),
) -> Result<Option<String>, DbError> {
    let (Some(set), Some(judge)) = (program.score_sets.live(sheet.score_set), sheet.judge) else { return Ok(None) };
    if !set.mode().is_shared_out() || !sheet.has_scores() {
        return Ok(None);
    }
    let found = entries::store::season_and_category(tx, account, sheet.entry).await?;
    let Some((_, category)) = found else { return Ok(None) };
    let others = store::complete_of_judge(tx, account, (judge, set.slug), &program.context).await?;
    Ok(scoring::check_returning((program, set, now), (sheet, category), &others).err())
}

/// Of how many judges sheets are read at once.
const JUDGES: usize = 256;

/// Readies the sheets of an entry that comes back from the trash: they lose a preference or votes that their judges have given to other
/// entries meanwhile.
pub async fn return_sheets(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    entry: &Entry,
) -> Result<(), DbError> {
    let context = &program.context;
    let is_of_entry = |set: &&ScoreSet| set.form == entry.form && set.season == entry.season;
    for set in program.score_sets.all_live().filter(is_of_entry).filter(|set| set.mode().is_shared_out()) {
        let of = (entry.slug, set.slug);
        let mut own = store::of_entry(tx, account, of, context).await?;
        own.retain(|own| !own.deleted && own.value.is_linked() && own.value.has_scores() && own.value.judge.is_some());
        for own in own.chunks(JUDGES) {
            let judges: Vec<Slug> = own.iter().filter_map(|own| own.value.judge).collect();
            let mut others: BTreeMap<Option<Slug>, Vec<(Assignment, Slug)>> = BTreeMap::new();
            for (sheet, category) in store::complete_elsewhere(tx, account, of, &judges, context).await? {
                others.entry(sheet.judge).or_default().push((sheet, category));
            }
            for before in own {
                let Some(others) = others.get(&before.value.judge) else { continue };
                let returning = (&before.value, entry.category);
                if scoring::check_returning((program, set, origin.at), returning, others).is_err() {
                    let mut after = before.value.clone();
                    after.take_back();
                    change(tx, account, program, origin, (before, after)).await?;
                }
            }
        }
    }
    Ok(())
}

/// Makes a link, or changes the one that is there. A sheet that comes back loses a preference or votes that its judge has given to
/// other entries meanwhile.
pub async fn write(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    link: &Link,
) -> Result<(), DbError> {
    let before = store::find_any_for_update(tx, account, link.slug(), &program.context).await?;
    let found = before.as_ref().map(|before| before.value.clone());
    let mut after = found.unwrap_or_else(|| Assignment::new(link.slug(), link.cause, origin.at));
    after.cause = link.cause;
    after.method = link.cause.into();
    after.rounds.clone_from(&link.rounds);
    after.panels.clone_from(&link.panels);
    // A conflict that stands keeps a link from being made; a sheet in the trash may have missed that it was lifted.
    after.is_conflicted &= before.as_ref().is_some_and(|before| !before.deleted);
    if before.as_ref().is_some_and(|before| before.deleted || !before.value.is_linked())
        && refusal_to_return(tx, account, program, (&after, origin.at)).await?.is_some()
    {
        after.take_back();
    }
    let action = match &before {
        None => Action::Created,
        Some(before) if before.deleted => Action::Restored,
        Some(before) if before.value == after => return Ok(()),
        Some(_) => Action::Updated,
    };
    after.updated = origin.at;
    let events: &[Event] = if action == Action::Updated { &[] } else { &[Event::AssignmentCreated] };
    let written = Written { before: before.as_ref(), totals: None, after, action, events };
    write_assignment(tx, account, program, origin, written).await.map(drop)
}

/// Takes a link back; a sheet that says something is kept, and does not count.
pub async fn remove(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    before: &Record<Assignment>,
) -> Result<(), DbError> {
    let mut after = Assignment { updated: origin.at, ..before.value.clone() };
    let mut action = Action::Trashed;
    if before.value.has_sheet() {
        (after.method, action) = (Method::Stray, Action::Updated);
    }
    let written = Written { before: Some(before), totals: None, after, action, events: &[] };
    write_assignment(tx, account, program, origin, written).await.map(drop)
}

/// Writes an assignment that is changed, with the event that it is complete where it has become that.
pub async fn change(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    (before, after): (&Record<Assignment>, Assignment),
) -> Result<(), DbError> {
    let written = Written { before: Some(before), totals: None, after, action: Action::Updated, events: &[] };
    write_changed(tx, account, program, origin, written).await.map(drop)
}

/// The same of a sheet that was read with what it shows; returns it as it is stored.
pub async fn change_sheet(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    (before, after): (FoundSheet, Assignment),
) -> Result<FoundSheet, DbError> {
    let FoundSheet { record, mut shown, totals } = before;
    let written = Written { before: Some(&record), totals, after, action: Action::Updated, events: &[] };
    let record = write_changed(tx, account, program, origin, written).await?;
    shown.assignment.clone_from(&record.value);
    Ok(FoundSheet { record, shown, totals: None })
}

async fn write_changed(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    mut written: Written<'_>,
) -> Result<Record<Assignment>, DbError> {
    let after = &mut written.after;
    after.updated = origin.at;
    after.status = crate::records::assignments::rules::status(after, program);
    let status = after.status;
    if written.before.is_some_and(|before| scoring::is_completed(before.value.status, status)) {
        written.events = &[Event::AssignmentCompleted];
    }
    write_assignment(tx, account, program, origin, written).await
}

/// Takes a judge off an entry, in one score set or in all, and keeps the judge from being linked with it again. A sheet that lost its
/// link is stray before and after.
pub async fn recuse(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (entry, judge): (Slug, Slug),
    score_set: Option<Slug>,
    ids: &Ids,
) -> Result<(), DbError> {
    let (account, context) = (program.id, &program.context);
    let recusals = people::of_judge::<Recusal>(tx, account, (entry, judge), context).await?;
    if !recusals.iter().any(|recusal| recusal.score_set.is_none() || recusal.score_set == score_set) {
        let slug = people::free_slug::<Recusal>(tx, account, ids).await?;
        let recusal = Recusal { slug, entry, judge, score_set, created: origin.at, updated: origin.at };
        people::change(tx, account, origin, Action::Created, recusal).await?;
    }
    for before in store::of_pair(tx, account, (entry, judge), score_set, context).await? {
        if before.value.is_linked() {
            let after = Assignment { method: Method::Recused, ..before.value.clone() };
            change(tx, account, program, origin, (&before, after)).await?;
        }
    }
    Ok(())
}

/// Whether a judge was taken off an entry in all score sets.
pub async fn is_off_everywhere(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    pair: (Slug, Slug),
) -> Result<bool, DbError> {
    let recusals = people::of_judge::<Recusal>(tx, account, pair, &program.context).await?;
    Ok(recusals.iter().any(|recusal| recusal.score_set.is_none()))
}

/// Lifts the recusals of a judge from an entry, of one score set or of all, and a declared conflict of interest.
pub async fn unrecuse(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    (entry, judge): (Slug, Slug),
    score_set: Option<Slug>,
) -> Result<(), DbError> {
    let context = &program.context;
    let recusals = people::of_judge::<Recusal>(tx, account, (entry, judge), context).await?;
    for recusal in recusals.into_iter().filter(|recusal| score_set.is_none() || recusal.score_set == score_set) {
        people::change(tx, account, origin, Action::Trashed, Recusal { updated: origin.at, ..recusal }).await?;
    }
    for conflict in people::of_judge::<Conflict>(tx, account, (entry, judge), context).await? {
        people::change(tx, account, origin, Action::Trashed, Conflict { updated: origin.at, ..conflict }).await?;
    }
    let scope = Scope::These(vec![entry]);
    let facts = facts::store::read(&mut Source::Snapshot(tx), program, &scope, &[judge]).await?;
    for before in store::of_pair(tx, account, (entry, judge), None, context).await? {
        let of_set = program.score_sets.any(before.value.score_set);
        // Lifting makes no conflict: one that came about after the link stays with whoever looks after the entry.
        let is_conflicted = before.value.is_conflicted && facts.conflict((entry, judge), of_set).is_some();
        let mut after = Assignment { is_conflicted, ..before.value.clone() };
        if after.method == Method::Recused && score_set.is_none_or(|of| of == after.score_set) {
            after.method = after.cause.into();
        }
        if after != before.value {
            change(tx, account, program, origin, (&before, after)).await?;
        }
    }
    Ok(())
}

/// Notes that a judge has a conflict of interest with an entry, on every assignment to it.
pub async fn note_conflict(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    (entry, judge): (Slug, Slug),
    ids: &Ids,
) -> Result<(), DbError> {
    if people::of_judge::<Conflict>(tx, account, (entry, judge), &program.context).await?.is_empty() {
        let slug = people::free_slug::<Conflict>(tx, account, ids).await?;
        let conflict = Conflict { slug, entry, judge, created: origin.at, updated: origin.at };
        people::change(tx, account, origin, Action::Created, conflict).await?;
    }
    for before in store::of_pair(tx, account, (entry, judge), None, &program.context).await? {
        if !before.value.is_conflicted {
            let after = Assignment { is_conflicted: true, ..before.value.clone() };
            change(tx, account, program, origin, (&before, after)).await?;
        }
    }
    Ok(())
}
