//! What a result is made of, as bundles have it: the rules of the score set, its criteria, and every sheet that counts.
//!
//! - Slugs stand for entries, judges and criteria. There are no names and no comments.
//! - Points and shares are exact decimal texts, everything else that counts is an integer.
//! - Reading gives the records that the rules of the service work on, so that a result is found again by the same rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::program::accounts::Account;
use crate::program::criteria::Criterion;
use crate::program::score_sets::{self, Rules, ScoreSet};
use crate::program::store::{parse, stored};
use crate::program::{Context, Program, Record};
use crate::records::assignments::rules::criteria;
use crate::records::assignments::{Assignment, AssignmentSlug, Cause, Decision, Score, Status};
use crate::records::lots::drawn;
use crate::records::standings::board::Decided;
use crate::records::standings::rules::counted;
use db::AccountId;
use kernel::kind::Kind;
use kernel::text::{Points, Rate, Slug, Timestamp};

/// What a result is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    /// What the chair decided of ties, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    casting_vote: Vec<Slug>,
    criteria: Vec<OfCriterion>,
    entries: Vec<OfEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lot: Option<OfLot>,
    score_set: OfScoreSet,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfScoreSet {
    slug: Slug,
    mode: String,
    min_judges: i64,
    places: String,
    /// What is particular to the mode.
    rules: Value,
    tie_break: Value,
}

/// The entries as they were drawn, and the published numbers that draw them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfLot {
    entries: Vec<Slug>,
    numbers: Vec<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfCriterion {
    slug: Slug,
    minimum: String,
    maximum: String,
    step: String,
    weight: i64,
    order: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfEntry {
    slug: Slug,
    sheets: Vec<OfSheet>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSheet {
    judge: Slug,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preference: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<BTreeMap<Slug, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    votes: Option<i64>,
}

/// The records that a result is made of.
pub(super) struct Records {
    pub(super) program: Program,
    pub(super) score_set: Slug,
    pub(super) decided: Decided,
    pub(super) entries: BTreeSet<Slug>,
    pub(super) sheets: Vec<Assignment>,
}

impl Inputs {
    /// Those of a board: its entries, and the sheets of its score set that count.
    pub(super) fn of(
        program: &Program,
        (score_set, decided): (&ScoreSet, &Decided),
        entries: &BTreeSet<Slug>,
        sheets: &[Assignment],
    ) -> Result<Self, String> {
        let mut of_entry: BTreeMap<Slug, Vec<OfSheet>> = entries.iter().map(|entry| (*entry, Vec::new())).collect();
        let criteria = criteria(program, score_set.slug);
        for sheet in sheets.iter().filter(|sheet| counted(sheet, program).is_some()) {
            if let (Some(of_entry), Some(judge)) = (of_entry.get_mut(&sheet.entry), sheet.judge) {
                of_entry.push(OfSheet::of(score_set.rules, sheet, judge, &criteria));
            }
        }
        let entry = |(slug, mut sheets): (Slug, Vec<OfSheet>)| {
            sheets.sort_by_key(|sheet| sheet.judge);
            OfEntry { slug, sheets }
        };
        let lot = OfLot { entries: decided.lot.clone(), numbers: decided.numbers.clone() };
        Ok(Self {
            casting_vote: decided.casting_vote.clone(),
            lot: Some(lot).filter(|lot| !lot.numbers.is_empty()),
            criteria: criteria.into_iter().map(OfCriterion::of).collect(),
            entries: of_entry.into_iter().map(entry).collect(),
            score_set: OfScoreSet::of(score_set)?,
        })
    }

    /// What people decided of ties; or why that is not so.
    fn decided(&self) -> Result<Decided, String> {
        let (lot, numbers) = self.lot.clone().map(|lot| (lot.entries, lot.numbers)).unwrap_or_default();
        if !lot.is_empty() && drawn(&numbers, lot.clone()) != lot {
            return Err("the numbers of the lot draw another order".to_owned());
        }
        Ok(Decided { casting_vote: self.casting_vote.clone(), lot, numbers })
    }

    /// The records; or why there are none.
    pub(super) fn records(&self) -> Result<Records, String> {
        let nobody = Slug::from_letters(*b"NobodyAA").ok_or("a slug is refused")?;
        let now = Timestamp::from_microseconds(0);
        let account: Account = parse(
            r#"{"slug":"NobodyAA","name":"-","languages":["en_GB"],"timezone":"UTC"}"#,
            &Context::any_language(now),
        )
        .map_err(|error| error.to_string())?;
        let mut program = Program::new(AccountId::NONE, 0, account, &Arc::from(""), now);
        let score_set = self.score_set.slug;
        add(&mut program, Kind::ScoreSet, &self.score_set.document(nobody))?;
        for criterion in &self.criteria {
            add(&mut program, Kind::Criterion, &criterion.document(score_set)?)?;
        }
        program.complete();
        let Some(rules) = program.score_sets.any(score_set).map(|score_set| score_set.rules) else {
            return Err("the score set cannot be read".to_owned());
        };
        let (mut entries, mut sheets) = (BTreeSet::new(), Vec::new());
        for entry in &self.entries {
            if !entries.insert(entry.slug) {
                return Err(format!("the entry {} is there twice", entry.slug));
            }
            let mut judges = BTreeSet::new();
            for sheet in &entry.sheets {
                let named = |error| format!("entry {}, judge {}: {error}", entry.slug, sheet.judge);
                if !judges.insert(sheet.judge) {
                    return Err(named("there are two sheets".to_owned()));
                }
                let sheet = sheet.assignment(rules, entry.slug, score_set).map_err(named)?;
                if counted(&sheet, &program).is_none() {
                    return Err(named("the sheet does not count".to_owned()));
                }
                sheets.push(sheet);
            }
        }
        let decided = self.decided()?;
        Ok(Records { program, score_set, decided, entries, sheets })
    }
}

fn add(program: &mut Program, kind: Kind, document: &Value) -> Result<(), String> {
    let text = document.to_string();
    let row = Record { value: text.as_str(), revision: 0, deleted: false };
    program.add(kind, &row).map(drop).map_err(|error| error.to_string())
}

/// A number of a program file as its exact text, and the other way round.
fn exact(rules: &mut Value, member: &str, to_text: bool) -> Result<(), String> {
    let Some(value) = rules.get_mut(member) else { return Ok(()) };
    let number = |text: &str| {
        let rate = Rate::parse(text).ok_or_else(|| format!("{member} is no share"))?;
        serde_json::from_str::<Value>(&rate.to_string()).map_err(|error| error.to_string())
    };
    *value = match value {
        Value::Number(number) if to_text => Value::String(number.to_string()),
        Value::String(text) if !to_text => number(text)?,
        _ => return Err(format!("{member} is of another type")),
    };
    Ok(())
}

impl OfScoreSet {
    fn of(score_set: &ScoreSet) -> Result<Self, String> {
        let mut document: Value = serde_json::from_str(&stored(score_set)).map_err(|error| error.to_string())?;
        let mode = score_set.mode().name();
        let mut taken = |member: &str| document.get_mut(member).map_or(Value::Null, Value::take);
        let (mut rules, tie_break) = (taken(mode), taken("tie_break"));
        exact(&mut rules, "trim", true)?;
        Ok(Self {
            slug: score_set.slug,
            mode: mode.to_owned(),
            min_judges: score_set.min_judges,
            places: score_set.places.name().to_owned(),
            rules,
            tie_break,
        })
    }

    /// Its program-file form, with what decides nothing made up.
    fn document(&self, nobody: Slug) -> Value {
        let mut rules = self.rules.clone();
        // What is of another type is refused when the document is read.
        let _ = exact(&mut rules, "trim", false);
        let mut document = json!({
            "slug": self.slug, "season": nobody, "form": nobody, "name": {"en_GB": "-"}, "mode": self.mode,
            "min_judges": self.min_judges, "places": self.places, "tie_break": self.tie_break,
        });
        if let Some(members) = document.as_object_mut().filter(|_| !rules.is_null()) {
            members.insert(self.mode.clone(), rules);
        }
        document
    }
}

impl OfCriterion {
    fn of(criterion: &Criterion) -> Self {
        Self {
            slug: criterion.slug,
            minimum: criterion.minimum.to_string(),
            maximum: criterion.maximum.to_string(),
            step: criterion.step.to_string(),
            weight: criterion.weight,
            order: criterion.order,
        }
    }

    fn document(&self, score_set: Slug) -> Result<Value, String> {
        let number = |text: &str| {
            let points = points(text)?;
            serde_json::from_str::<Value>(&points.to_string()).map_err(|error| error.to_string())
        };
        // A sheet counts that is here, whatever was required of it.
        Ok(json!({
            "slug": self.slug, "score_set": score_set, "name": {"en_GB": "-"}, "minimum": number(&self.minimum)?,
            "maximum": number(&self.maximum)?, "step": number(&self.step)?, "weight": self.weight, "order": self.order,
            "required": false,
        }))
    }
}

fn points(text: &str) -> Result<Points, String> {
    Points::parse(text).map_err(|error| format!("{text}: {error}"))
}

impl OfSheet {
    fn of(rules: Rules, sheet: &Assignment, judge: Slug, criteria: &[&Criterion]) -> Self {
        let pair = |score: &Score| Some((score.criterion, score.value?.to_string()));
        let counts = |score: &&Score| criteria.iter().any(|criterion| criterion.slug == score.criterion);
        let scores = || sheet.scores.iter().filter(counts).filter_map(pair).collect();
        Self {
            judge,
            decision: sheet.decision.map(|decision| decision.name().to_owned()),
            preference: sheet.preference,
            scores: matches!(rules, Rules::VipJudging(_)).then(scores),
            votes: matches!(rules, Rules::Voting(_)).then_some(sheet.votes),
        }
    }

    fn assignment(&self, rules: Rules, entry: Slug, score_set: Slug) -> Result<Assignment, String> {
        let slug = AssignmentSlug::of_judge(entry, self.judge, score_set);
        let decision = self.decision.as_deref().map(|name| Decision::named(name).ok_or("there is no such decision"));
        let mut scores = Vec::new();
        for (criterion, text) in self.scores.iter().flatten() {
            scores.push(Score { criterion: *criterion, value: Some(points(text)?), comment: None });
        }
        let mode = rules.mode();
        if self.scores.is_some() != (mode == score_sets::Mode::VipJudging)
            || self.votes.is_some() != (mode == score_sets::Mode::Voting)
        {
            return Err(format!("the sheet is not of the mode {mode}"));
        }
        Ok(Assignment {
            status: Status::Complete,
            scores,
            decision: decision.transpose()?,
            preference: self.preference,
            votes: self.votes.unwrap_or(0),
            ..Assignment::new(slug, Cause::Manual, Timestamp::from_microseconds(0))
        })
    }
}
