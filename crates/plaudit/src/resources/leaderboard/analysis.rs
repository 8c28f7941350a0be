//! What the sheets of a board say of its judges, its scores and its places ([`analysis`]).
//!
//! - A board is selected as on the leaderboard, by `category`, `chapter` and `tag`; archived entries are left out.
//! - Only points have an analysis: other modes are 422, and so are points that determine nothing, with the reason.
//! - It is worked out apart from the threads that answer requests, for few of an account at the same time, and kept until something
//!   changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use scoring::Interval;

use super::asked_for;
use crate::http::{ApiError, Caller, RawQuery, Reply, entity_tag};
use crate::lists::page::{Filter, FilterKind, ListQuery, ListSpec};
use crate::program::Program;
use crate::program::score_sets::Mode;
use crate::records::assignments::name_of;
use crate::records::entries::filters;
use crate::records::standings::analysis::{self, Analysis, Judged};
use crate::records::standings::store::{self, Selected};
use crate::records::standings::{Counted, rules};
use crate::views;
use db::{AccountId, Committed, Tx};
use kernel::document::{self, List, Object};
use kernel::kind::Kind;
use kernel::text::Slug;

const FILTERS: &[Filter] = &[
    Filter::new("score_set", FilterKind::Slug, "The score set").required(),
    filters::CATEGORY,
    filters::CHAPTER,
    filters::TAG,
];
pub(super) const SPEC: ListSpec = ListSpec::of_filters(FILTERS);

/// The sheets of a board, and what its entries and judges are called.
#[derive(Default)]
struct Board {
    sheets: Vec<Judged>,
    titles: BTreeMap<Slug, String>,
    names: BTreeMap<Slug, String>,
}

/// The analysis of a board.
pub(super) async fn show(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    caller.permit()?;
    let program = Arc::clone(caller.program());
    let score_set = asked_for(query.slug("score_set").ok_or(ApiError::NotFound)?, &program)?;
    if score_set.mode() != Mode::VipJudging {
        return Err(ApiError::State("Only a score set of the mode vip_judging has an analysis.".to_owned()));
    }
    let (app, account) = (caller.app(), caller.account());
    let of_program = |head: Option<Committed>| head.filter(|head| head.version == program.version);
    let head = of_program(views::head(&app.db, account).await?).ok_or(ApiError::Stale)?;
    let selected = Selected {
        score_set: score_set.slug,
        category: query.slug("category"),
        chapter: query.slug("chapter"),
        tag: query.text("tag"),
    };
    let (kept, asked) = (&app.kept, format!("{selected:?}"));
    let document = if let Some(document) = kept.get(account, head, &asked) {
        document
    } else {
        let turn = app.long_pages.take(account).await;
        let mut tx = app.db.snapshot().await?;
        let head = of_program(store::head(&mut tx, account).await?).ok_or(ApiError::Stale)?;
        let mut board = read(&mut tx, account, &program, selected).await?;
        tx.commit().await?;
        let least = score_set.min_judges;
        let written = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            analysis::analyse(std::mem::take(&mut board.sheets), least).map(|analysis| write(&analysis, &board))
        });
        let written = written.await.map_err(|error| ApiError::Internal(error.to_string()))?;
        let none = |error| ApiError::State(format!("The sheets of the score set have no analysis: {error}."));
        let document: Arc<str> = written.map_err(none)?.into();
        kept.put(account, head, &asked, &document);
        document
    };
    let depends = format!("{}\n{}\n{document}", program.version, caller.representation());
    Ok(Reply::Body { content: caller.renderer().record(&document, None)?, etag: entity_tag(depends) })
}

async fn read(tx: &mut Tx, account: AccountId, program: &Program, selected: Selected<'_>) -> Result<Board, ApiError> {
    let mut board = Board::default();
    store::each_judged(tx, account, program, selected, |assignment, title, names| {
        let Some((Counted::Points(points, _), judge)) = rules::counted(&assignment, program).zip(assignment.judge)
        else {
            return;
        };
        let entry = assignment.entry;
        board.titles.entry(entry).or_insert_with(|| title.to_owned());
        board.names.entry(judge).or_insert_with(|| name_of(names));
        board.sheets.push(Judged { entry, judge, points });
    })
    .await?;
    Ok(board)
}

impl Board {
    fn write_judge(&self, judge: Slug, object: &mut Object<'_>) {
        object.object("judge", |object| {
            object.named(Kind::User, judge, ("name", self.names.get(&judge).map_or("", String::as_str)));
        });
    }

    fn write_entry(&self, entry: Slug, object: &mut Object<'_>) {
        object.named(Kind::Entry, entry, ("title", self.titles.get(&entry).map_or("", String::as_str)));
    }

    fn write_winners(&self, winners: &[Slug], list: &mut List<'_>) {
        for entry in winners {
            list.object(|object| self.write_entry(*entry, object));
        }
    }
}

fn write_number(name: &str, value: Option<f64>, object: &mut Object<'_>) {
    match value {
        Some(value) => object.raw(name, &value.to_string()),
        None => object.null(name),
    }
}

fn write_interval(interval: Option<Interval>, object: &mut Object<'_>) {
    match interval {
        Some(interval) => object.object("interval", |object| {
            write_number("low", Some(interval.low), object);
            write_number("high", Some(interval.high), object);
        }),
        None => object.null("interval"),
    }
}

fn integer(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn write(analysis: &Analysis, board: &Board) -> String {
    document::object(|object| {
        object.text("method", "henderson_3");
        object.list("judges", |list| {
            for judge in &analysis.judges {
                list.object(|object| {
                    board.write_judge(judge.judge, object);
                    write_number("severity", Some(judge.severity), object);
                    write_interval(judge.interval, object);
                    object.integer("sheets", integer(judge.sheets));
                });
            }
        });
        object.list("entries", |list| {
            for entry in &analysis.entries {
                list.object(|object| {
                    object.object("entry", |object| board.write_entry(entry.entry, object));
                    write_number("raw", Some(entry.raw), object);
                    write_number("corrected", Some(entry.corrected), object);
                    write_interval(entry.interval, object);
                    object.integer("rank", integer(entry.rank));
                    match entry.rank_interval {
                        Some(places) => object.object("rank_interval", |object| {
                            object.integer("best", integer(places.best));
                            object.integer("worst", integer(places.worst));
                        }),
                        None => object.null("rank_interval"),
                    }
                    object.integer("component", integer(entry.component));
                });
            }
        });
        object.object("agreement", |object| {
            write_number("krippendorff", analysis.krippendorff, object);
            write_number("icc", analysis.icc, object);
            object.integer("n", integer(analysis.pairable));
        });
        object.integer("components", integer(analysis.components));
        object.list("decisive_judges", |list| {
            for (judge, winners) in &analysis.decisive {
                list.object(|object| {
                    board.write_judge(*judge, object);
                    match winners {
                        Some(winners) => object.list("winner_without", |list| board.write_winners(winners, list)),
                        None => object.null("winner_without"),
                    }
                });
            }
        });
    })
}
