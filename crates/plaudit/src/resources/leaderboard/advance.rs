//! Who goes on from a leaderboard: a cut by places, by a share or by a score, in the whole board or in each category or chapter, and the
//! tag that they are given.
//!
//! - Entries without a place never go on. A share is that of the entries that have one, rounded up.
//! - Entries that are tied across the line are named in `tied` whatever becomes of them: with `include` they go on, with `exclude`
//!   they do not, and with `ask` they do not until somebody has decided, for one by a casting vote or a lot. Those above the line go
//!   on in any case; as who has the tag keeps it, the same can be asked again.
//! - A least score is in the points of a sheet, in per cent of passes or in votes; a score set of the mode `top_pick` has no scores.
//! - Entries are tagged as by `PUT /entry/{slug}/tag/{tags}`, all of them in one transaction.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use scoring::places::{Cut, CutTies, Ranking, advance as cut};

use super::decisions::find;
use crate::http::{ApiError, Body, Caller, Reply, Writer, Writing, entity_tag};
use crate::program::score_sets::{COUNT, Mode, ScoreSet};
use crate::records::assignments::fraction::Fraction;
use crate::records::entries::{self, Entry, rules};
use crate::records::standings::board::Decided;
use crate::records::standings::store::{OnBoard, decided, on_board, places};
use crate::views::MOST_TIED;
use db::{Source, Tx};
use kernel::document;
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Points, Slug};

/// Where the line is.
#[derive(Clone, Debug)]
enum Line {
    Places(u32),
    Share(u32),
    /// As leaderboards sort by it.
    MinScore(String),
}

/// Within what there is a line each.
#[derive(Clone, Copy)]
enum By {
    All,
    Category,
    Chapter,
}

const BY: &[(&str, By)] = &[("all", By::All), ("category", By::Category), ("chapter", By::Chapter)];
const TIES: &[(&str, CutTies)] = &[("include", CutTies::Include), ("exclude", CutTies::Exclude), ("ask", CutTies::Ask)];

/// The members of which one says where the line is.
const LINES: [&str; 3] = ["places", "share", "min_score"];

/// What is asked for.
struct Asked<'p> {
    score_set: &'p ScoreSet,
    line: Line,
    by: By,
    tag: String,
    ties: CutTies,
    is_dry: bool,
}

/// Tags who goes on.
pub(super) async fn advance(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_advance(tx, writing))).await
}

async fn write_advance(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let asked = read(writing)?;
    let slug = asked.score_set.slug;
    let decided = decided(&mut Source::Snapshot(tx), account, slug, &program.context).await?;
    let mut parts: BTreeMap<Option<Slug>, Vec<OnBoard>> = BTreeMap::new();
    for entry in on_board(tx, account, slug).await? {
        let part = match asked.by {
            By::All => None,
            By::Category => Some(entry.category),
            By::Chapter => Some(entry.chapter),
        };
        parts.entry(part).or_default().push(entry);
    }
    let (mut advanced, mut tied) = (Vec::new(), Vec::new());
    for part in parts.values() {
        let ranking = rank(tx, writing, (asked.score_set, &decided), part).await?;
        let reaches = |entry: u32, least: &String| part.get(entry as usize).is_some_and(|entry| entry.score >= *least);
        let cut = match &asked.line {
            Line::Places(places) => cut(&ranking, Cut::Places(*places), asked.ties),
            Line::Share(share) => cut(&ranking, Cut::SharePercent(*share), asked.ties),
            Line::MinScore(least) => cut(&ranking, Cut::MinScore(&|entry| reaches(entry, least)), asked.ties),
        };
        let named = |numbers: Vec<u32>| numbers.into_iter().filter_map(|number| part.get(number as usize));
        advanced.extend(named(cut.advanced));
        tied.extend(named(cut.tied));
    }
    if !asked.is_dry {
        let mut violations = Violations::default();
        for entry in &advanced {
            tag(tx, writing, (entry.entry, &asked.tag), &mut violations).await?;
        }
        violations.or(Some(()))?;
    }
    let document = document::object(|object| {
        for (name, entries) in [("advanced", &advanced), ("tied", &tied)] {
            object.list(name, |list| {
                for entry in entries {
                    list.object(|object| {
                        object.named(Kind::Entry, entry.entry, ("title", &entry.title));
                    });
                }
            });
        }
    });
    Ok(Reply::Stated { status: 200, tag: entity_tag(&document), document })
}

/// Reads the body.
fn read<'w>(writing: &'w Writing<JsonObject<'static>>) -> Result<Asked<'w>, ApiError> {
    let mut members = Members::closed(&writing.state);
    let slug = members.required("score_set", input::slug);
    let places = members.optional("places", input::integer(1..=COUNT));
    let share = members.optional("share", input::integer(1..=100));
    let least = members.optional("min_score", input::points(Points::ZERO..=Points::MAXIMUM));
    let by = members.optional("by", input::one_of(BY)).unwrap_or(By::All);
    let tag = members.required("tag", rules::tags::one);
    let ties = members.optional("ties", input::one_of(TIES)).unwrap_or_default();
    let is_dry = members.optional("dry_run", input::flag).unwrap_or(false);
    let given: Vec<&str> = LINES.into_iter().filter(|name| members.has(name)).collect();
    if given.len() != 1 {
        let named = if given.is_empty() { LINES.to_vec() } else { given };
        for name in named {
            members.fault(name, "must be given alone of places, share and min_score");
        }
    }
    let mut violations = members.finish();
    let score_set = slug.and_then(|slug| find(&writing.program, slug, &mut violations));
    let line = match (score_set.map(ScoreSet::mode), least) {
        (Some(Mode::TopPick), Some(_)) => {
            violations.add("min_score", "is for a score set whose mode has scores, which top_pick has not");
            None
        }
        (mode, Some(least)) => {
            let parts =
                if mode == Some(Mode::Qualifying) { 100 } else { 1 } * i128::from(Points::ONE.ten_thousandths());
            Fraction::new(least.ten_thousandths().into(), parts).and_then(Fraction::ordered).map(Line::MinScore)
        }
        (_, None) => {
            let count = |count: i64| u32::try_from(count).ok();
            places.and_then(count).map(Line::Places).or(share.and_then(count).map(Line::Share))
        }
    };
    let (score_set, line, tag) =
        violations.or(score_set.zip(line).zip(tag).map(|((set, line), tag)| (set, line, tag)))?;
    Ok(Asked { score_set, line, by, tag, ties, is_dry })
}

/// Ranks the entries of a part of the board that have places. They come in the order of their slugs.
async fn rank<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    (score_set, decided): (&ScoreSet, &Decided),
    part: &[OnBoard],
) -> Result<Ranking, ApiError> {
    let mut groups: BTreeMap<Reverse<&str>, Vec<u32>> = BTreeMap::new();
    let is_one = score_set.mode() == Mode::TopPick;
    for (number, entry) in (0..).zip(part).filter(|(_, entry)| is_one || !entry.score.is_empty()) {
        groups.entry(Reverse(&entry.score)).or_default().push(number);
    }
    let mut ranking = Ranking::default();
    for group in groups.into_values() {
        // As on the leaderboard, more than can be told apart share one place.
        if !is_one && !(2..=MOST_TIED).contains(&group.len()) {
            ranking.push_group(group);
            continue;
        }
        let entries: Vec<Slug> = group.iter().filter_map(|number| Some(part.get(*number as usize)?.entry)).collect();
        let (source, account) = (&mut Source::Snapshot(tx), writing.account());
        let standings = places(source, account, &writing.program, (score_set, decided), &entries).await?;
        for tied in standings.chunk_by(|one, other| one.place == other.place) {
            let with_place = tied.iter().filter(|standing| standing.place.is_some());
            ranking.push_group(with_place.filter_map(|standing| group.get(standing.entry).copied()));
        }
    }
    Ok(ranking)
}

/// Tags an entry; what keeps it from that is added.
async fn tag<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    (slug, tag): (Slug, &str),
    violations: &mut Violations,
) -> Result<(), ApiError> {
    let found = entries::store::find_for_update(tx, writing.account(), slug).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    rules::check_not_destroyed(&writing.program, head.season)?;
    let Ok(tags) = rules::tags::added(&head.tags, tag) else {
        violations.add("tag", format!("{slug} has as many tags as an entry may have"));
        return Ok(());
    };
    let after = Entry { tags, ..head.clone() };
    entries::store::write_head(tx, &writing.program, &writing.origin, (&found, &head), after, false).await?;
    Ok(())
}
