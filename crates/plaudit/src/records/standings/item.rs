//! An entry on a leaderboard (contract, section 6).

use scoring::modes::qualifying;
use scoring::places::{Step, TieStep};
use scoring::rational::decimal;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::program::Program;
use crate::program::criteria::Criterion;
use crate::program::score_sets::{Rules, ScoreSet};
use crate::records::assignments::fraction::Fraction;
use crate::records::assignments::rules::{criteria, maximum};
use crate::records::assignments::write_of;
use crate::records::standings::Totals;
use db::DbError;
use kernel::document::{self, List, Object};
use kernel::kind::Kind;
use kernel::text::Points;

/// The decimals of what decided a step.
const DECIMALS: u16 = 6;

/// The place of an entry, and how it was decided.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The place; nothing for none.
    pub rank: Option<u64>,
    /// How it was told apart from its equals.
    pub steps: Vec<TieStep>,
}

/// What is shown of an entry, as its document has it.
#[derive(Deserialize)]
struct Entry<'e> {
    slug: &'e str,
    #[serde(borrow)]
    title: &'e RawValue,
    #[serde(borrow)]
    tags: &'e RawValue,
    #[serde(borrow)]
    category: &'e RawValue,
    #[serde(borrow)]
    chapter: &'e RawValue,
    #[serde(borrow)]
    division: &'e RawValue,
    #[serde(borrow)]
    submitted: &'e RawValue,
    #[serde(borrow)]
    auto_score: &'e RawValue,
    #[serde(borrow)]
    status: &'e RawValue,
    #[serde(borrow)]
    grant_status: &'e RawValue,
}

/// What the entries of a board have in common.
pub struct Scale<'p> {
    /// The criteria, each with the document that names it and its maximum.
    criteria: Vec<(&'p Criterion, String, String)>,
    /// The most points of all.
    most: String,
}

impl<'p> Scale<'p> {
    /// Of a score set.
    pub fn of(program: &'p Program, score_set: &ScoreSet) -> Self {
        let Rules::VipJudging(rules) = score_set.rules else {
            return Self { criteria: Vec::new(), most: String::new() };
        };
        let criteria = criteria(program, score_set.slug);
        let most = maximum(rules.aggregation, &criteria).unwrap_or(Fraction::ZERO).rounded();
        let with_texts = |criterion: &'p Criterion| {
            let named = document::object(|object| object.translated("name", &criterion.name));
            (criterion, named, criterion.maximum.to_string())
        };
        Self { criteria: criteria.into_iter().map(with_texts).collect(), most }
    }
}

/// The document of an entry, by its first document and its totals.
pub fn document(
    program: &Program,
    (score_set, scale): (&ScoreSet, &Scale<'_>),
    (entry, totals): (&str, &Totals),
    place: &Place,
) -> Result<String, DbError> {
    let broken = |error| DbError::Failed(format!("what a leaderboard shows of an entry is broken: {error}"));
    let entry: Entry<'_> = serde_json::from_str(entry).map_err(broken)?;
    Ok(document::object(|object| {
        object.text("slug", entry.slug);
        let members = [
            ("title", entry.title),
            ("tags", entry.tags),
            ("category", entry.category),
            ("chapter", entry.chapter),
            ("division", entry.division),
            ("submitted", entry.submitted),
            ("auto_score", entry.auto_score),
            ("status", entry.status),
            ("grant_status", entry.grant_status),
        ];
        for (name, value) in members {
            object.raw(name, value.get());
        }
        object.link("link", Kind::Entry, entry.slug);
        object.object("scores", |object| write_scores((score_set, scale), totals, object));
        object.optional_integer("rank", place.rank.and_then(|rank| i64::try_from(rank).ok()));
        object.integer("sheets", totals.sheets);
        object.list("tie_steps", |list| place.steps.iter().for_each(|step| write_step(program, score_set, step, list)));
    }))
}

fn write_scores((score_set, scale): (&ScoreSet, &Scale<'_>), totals: &Totals, object: &mut Object<'_>) {
    match score_set.rules {
        Rules::Voting(_) => object.integer("total_votes", totals.votes),
        Rules::Qualifying(rules) => object.optional_text("final_decision", decision(rules, totals)),
        Rules::TopPick(rules) => {
            for preference in 1..=rules.preferences {
                let count = totals.preferences.get(&preference).copied().unwrap_or(0);
                object.integer(&format!("preference_{preference}"), count);
            }
        }
        Rules::VipJudging(_) => {
            object.object("total_score", |object| {
                write_of(totals.score(score_set).map(Fraction::rounded), &scale.most, object);
            });
            object.list("criteria", |list| {
                for (criterion, named, maximum) in &scale.criteria {
                    let mean = totals.criteria.get(&criterion.slug).and_then(|total| {
                        let parts = i128::from(total.count) * i128::from(Points::ONE.ten_thousandths());
                        Fraction::new(total.sum.into(), parts)
                    });
                    list.raw(&document::extended(named, |object| {
                        write_of(mean.map(Fraction::rounded), maximum, object);
                        object.integer("weight", criterion.weight);
                    }));
                }
            });
        }
        Rules::Gallery => {}
    }
}

/// What the judges have decided; nothing while too few have.
fn decision(rules: crate::program::score_sets::Qualifying, totals: &Totals) -> Option<&'static str> {
    let number = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    let decisions = qualifying::Decisions {
        pass: number(totals.passes),
        fail: number(totals.fails),
        unsure: number(totals.unsure),
    };
    let rules =
        qualifying::Rules { responses_needed: number(rules.responses_needed), pass_percent: number(rules.share) };
    match rules.outcome(decisions) {
        qualifying::Outcome::Pass => Some("pass"),
        qualifying::Outcome::Fail => Some("fail"),
        qualifying::Outcome::Undecided => (totals.unsure > 0 && totals.passes + totals.fails == 0).then_some("unsure"),
    }
}

fn write_step(program: &Program, score_set: &ScoreSet, step: &TieStep, list: &mut List<'_>) {
    list.object(|object| {
        object.text("by", by(step.step));
        if let Step::Criterion(at) = step.step {
            object
                .optional_slug("criterion", criteria(program, score_set.slug).get(at).map(|criterion| criterion.slug));
        }
        object.optional_text("value", step.value.as_ref().map(|value| decimal(value, DECIMALS)).as_deref());
        object.integer("tied", i64::try_from(step.tied).unwrap_or(i64::MAX));
    });
}

/// What a step goes by, as program files call it.
pub(crate) fn by(step: Step) -> &'static str {
    match step {
        Step::Criterion(_) => "criterion",
        Step::Median => "median",
        Step::FirstPlaces => "first_places",
        Step::HeadToHead => "head_to_head",
        Step::CastingVote => "casting_vote",
        Step::Lot => "lot",
    }
}
