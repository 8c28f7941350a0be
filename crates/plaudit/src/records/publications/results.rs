//! What the inputs of a bundle come to, as bundles have it.

use scoring::places::{Step, TieStep};
use scoring::rational::Fraction;
use serde_json::{Map, Value, json};

use super::inputs::Records;
use crate::program::Program;
use crate::program::score_sets::{Rules, ScoreSet};
use crate::records::assignments::rules::criteria;
use crate::records::standings::Totals;
use crate::records::standings::item::by;
use crate::records::standings::whole::{Placed, board};
use kernel::text::Points;

/// The entries in the order of their places, each with what its sheets come to; or why that cannot be told.
pub(super) fn of(records: &Records) -> Result<Value, String> {
    let Records { program, score_set, decided, entries, sheets } = records;
    let score_set = program.score_sets.any(*score_set).ok_or("there is no such score set")?;
    let placed =
        board(program, (score_set, decided), entries, sheets).ok_or("the sheets come to a number that is too large")?;
    Ok(placed.iter().map(|placed| entry(program, score_set, placed)).collect())
}

fn entry(program: &Program, score_set: &ScoreSet, placed: &Placed) -> Value {
    let Placed { entry, totals, rank, steps } = placed;
    json!({
        "entry": entry,
        "rank": rank,
        "score": totals.score(score_set).map(String::from),
        "sheets": totals.sheets,
        "tie_steps": steps.iter().map(|step| tie_step(program, score_set, step)).collect::<Vec<_>>(),
        "totals": self::totals(score_set, totals),
    })
}

/// The sums behind the score.
fn totals(score_set: &ScoreSet, totals: &Totals) -> Value {
    match score_set.rules {
        Rules::VipJudging(_) => {
            let points =
                |ten_thousandths| Points::from_ten_thousandths(ten_thousandths).map(|points| points.to_string());
            let of_criterion = totals.criteria.iter().map(|(slug, total)| {
                let sum = points(total.sum).unwrap_or_else(|| format!("{}/10000", total.sum));
                (slug.to_string(), json!({"sheets": total.count, "sum": sum}))
            });
            json!({"criteria": of_criterion.collect::<Map<_, _>>(), "sum": String::from(totals.sum)})
        }
        Rules::Qualifying(_) => json!({"fail": totals.fails, "pass": totals.passes, "unsure": totals.unsure}),
        Rules::TopPick(_) => {
            let count = totals.preferences.iter().map(|(preference, count)| (preference.to_string(), json!(count)));
            json!({"preferences": count.collect::<Map<_, _>>()})
        }
        Rules::Voting(_) => json!({"votes": totals.votes}),
        Rules::Gallery => Value::Null,
    }
}

fn tie_step(program: &Program, score_set: &ScoreSet, step: &TieStep) -> Value {
    let TieStep { step, value, tied } = step;
    let value = value.as_ref().map(Fraction::to_string);
    match step {
        Step::Criterion(at) => {
            let criterion = criteria(program, score_set.slug).get(*at).map(|criterion| criterion.slug);
            json!({"by": by(*step), "criterion": criterion, "tied": tied, "value": value})
        }
        step => json!({"by": by(*step), "tied": tied, "value": value}),
    }
}
