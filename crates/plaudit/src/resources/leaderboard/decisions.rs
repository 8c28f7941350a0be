//! Casting votes and lots: what people decide of the ties of a score set.
//!
//! - A score set has at most one of each. Another one takes its place, and the log keeps both.
//! - The entries of a casting vote are of the form of the score set. A lot draws the entries on its leaderboard.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::asked_for;
use crate::assigning::facts::{self, Scope};
use crate::assigning::rules::check_entry;
use crate::http::{ApiError, Body, Caller, Reader, Reply, Writer, Writing};
use crate::lists::page::{Filter, FilterKind, ListQuery, ListSpec};
use crate::log::Action;
use crate::program::score_sets::{Mode, ScoreSet};
use crate::program::{Program, Record, SetupRecord};
use crate::records::casting_votes::{self, CastingVote};
use crate::records::lots::{self, Lot, check_numbers, drawn};
use crate::records::people::{OfScoreSet, change, free_slug, of_score_set};
use crate::records::standings::store::on_board;
use db::{Source, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

const FILTERS: &[Filter] = &[Filter::new("score_set", FilterKind::Slug, "The score set").required()];
pub(super) const SPEC: ListSpec = ListSpec::of_filters(FILTERS);

/// The score set that the query names.
pub(super) struct Asked(Slug);

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = ListQuery::parse(parts.uri.query(), &SPEC)?;
        query.slug("score_set").map(Self).ok_or(ApiError::NotFound)
    }
}

/// What was decided of a score set.
pub(super) async fn show<T: OfScoreSet>(caller: Caller, Asked(slug): Asked, _: Reader) -> Result<Reply, ApiError> {
    let program = caller.program();
    asked_for(slug, program)?;
    let source = &mut Source::Db(&caller.app().db);
    let read = of_score_set::<T>(source, caller.account(), slug, &program.context).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let found = found.ok_or(ApiError::NotFound)?;
    Ok(Reply::ok(found.value.document(), found.revision))
}

/// Has the chair decide.
pub(super) async fn vote(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_vote(tx, writing))).await
}

async fn write_vote(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let program = &writing.program;
    let (changes, mut violations) = casting_votes::Changes::read(&writing.state, true, &program.context);
    let score_set = changes.score_set.and_then(|slug| find(program, slug, &mut violations));
    let entries = changes.entries.clone().unwrap_or_default();
    let scope = Scope::These(entries.clone());
    let facts = facts::store::read(&mut Source::Snapshot(tx), program, &scope, &[]).await?;
    for message in entries.iter().filter_map(|entry| check_entry(&facts, *entry, score_set).err()) {
        violations.add("entries", message);
    }
    let score_set = violations.or(score_set)?;
    let found = before::<CastingVote, _>(tx, writing, score_set).await?;
    let slug = slug(tx, writing, found.as_ref()).await?;
    let now = writing.origin.at;
    let new = || CastingVote {
        slug,
        score_set: score_set.slug,
        entries: Vec::new(),
        reason: String::new(),
        created: now,
        updated: now,
    };
    let mut vote = found.as_ref().map_or_else(new, |found| found.value.clone());
    changes.apply(&mut vote);
    if found.as_ref().is_none_or(|found| found.value != vote) {
        vote.updated = now;
    }
    write(tx, writing, found, vote).await
}

/// Draws the entries of a score set.
pub(super) async fn draw(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_draw(tx, writing))).await
}

async fn write_draw(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (changes, mut violations) = lots::Changes::read(&writing.state, true, &writing.program.context);
    let score_set = changes.score_set.and_then(|slug| find(&writing.program, slug, &mut violations));
    if let Some(Err(message)) = changes.numbers.as_deref().map(check_numbers) {
        violations.add("numbers", message);
    }
    let score_set = violations.or(score_set)?;
    let found = before::<Lot, _>(tx, writing, score_set).await?;
    let slug = slug(tx, writing, found.as_ref()).await?;
    let on_board = on_board(tx, writing.account(), score_set.slug).await?;
    if !(1..=lots::ENTRIES).contains(&on_board.len()) {
        let message =
            format!("A lot draws 1 to {} entries, and the leaderboard has {}.", lots::ENTRIES, on_board.len());
        return Err(ApiError::State(message));
    }
    let now = writing.origin.at;
    let new = || Lot {
        slug,
        score_set: score_set.slug,
        numbers: Vec::new(),
        source: String::new(),
        entries: Vec::new(),
        created: now,
        updated: now,
    };
    let mut lot = found.as_ref().map_or_else(new, |found| found.value.clone());
    changes.apply(&mut lot);
    lot.entries = drawn(&lot.numbers, on_board.into_iter().map(|on_board| on_board.entry).collect());
    if found.as_ref().is_none_or(|found| found.value != lot) {
        lot.updated = now;
    }
    write(tx, writing, found, lot).await
}

/// Takes a casting vote back.
pub(super) async fn take_back(caller: Caller, Asked(slug): Asked, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_take_back(tx, writing))).await
}

async fn write_take_back(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let score_set = asked_for(*writing.state, &writing.program)?;
    let found = before::<CastingVote, _>(tx, writing, score_set).await?.ok_or(ApiError::NotFound)?;
    let vote = CastingVote { updated: writing.origin.at, ..found.value };
    change(tx, writing.account(), &writing.origin, Action::Trashed, vote).await?;
    Ok(Reply::NoContent)
}

/// A score set of the account; what is wrong with it is added.
pub(super) fn find<'p>(program: &'p Program, slug: Slug, violations: &mut Violations) -> Option<&'p ScoreSet> {
    let found = program.score_sets.live(slug);
    match found {
        None => violations.add("score_set", format!("{slug} is no score set of the account")),
        Some(found) if found.mode() == Mode::Gallery => {
            violations.add("score_set", format!("{slug} is of the mode gallery, which has no leaderboard"));
        }
        Some(_) => {}
    }
    found
}

/// What was decided before. Nobody else decides before the end of the transaction, because it has the account.
async fn before<T: OfScoreSet, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    score_set: &ScoreSet,
) -> Result<Option<Record<T>>, ApiError> {
    let (source, context) = (&mut Source::Snapshot(tx), &writing.program.context);
    let read = of_score_set::<T>(source, writing.account(), score_set.slug, context).await?;
    let found = read.and_then(|(_, found)| found);
    // Nothing has no revision.
    writing.precondition(found.as_ref().map_or(0, |found| found.revision))?;
    Ok(found)
}

async fn slug<T: OfScoreSet + SetupRecord, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    found: Option<&Record<T>>,
) -> Result<Slug, ApiError> {
    match found {
        Some(found) => Ok(*found.value.key()),
        None => Ok(free_slug::<T>(tx, writing.account(), writing.ids()).await?),
    }
}

/// Writes what is decided, unless it was decided already.
async fn write<T: OfScoreSet, S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    found: Option<Record<T>>,
    after: T,
) -> Result<Reply, ApiError> {
    let document = after.document();
    let action = match found {
        Some(found) if found.value == after => return Ok(Reply::ok(document, found.revision)),
        Some(_) => Action::Updated,
        None => Action::Created,
    };
    let revision = change(tx, writing.account(), &writing.origin, action, after).await?;
    Ok(Reply::ok(document, revision))
}
