//! What answers score by themselves.

use std::collections::BTreeMap;

use super::conditions::ShownFields;
use super::validate::is_answered;
use super::{Field, Resource};
use crate::program::{Program, Records};
use kernel::json::Json;
use kernel::text::Slug;

/// What an answer adds to the automatic score. Where options state scores, that is the sum of those that were chosen, at
/// most the field's `auto_scoring`; else every answer adds all of it.
pub(super) fn points(field: &Field, answer: &Json) -> i64 {
    if field.auto_scoring == 0 || !is_answered(field.kind, answer) {
        return 0;
    }
    if !field.kind.has_options() || field.options.iter().all(|option| option.score.is_none()) {
        return field.auto_scoring;
    }
    let is_chosen = |value: &str| match answer {
        Json::Array(chosen) => chosen.iter().any(|chosen| chosen.as_str() == Some(value)),
        chosen => chosen.as_str() == Some(value),
    };
    let chosen = field.options.iter().filter(|option| is_chosen(&option.value));
    chosen.fold(0_i64, |sum, option| sum.saturating_add(option.score.unwrap_or(0))).min(field.auto_scoring)
}

/// The automatic score of an entry with these answers: the points of the answers to live fields that are shown.
pub fn auto_score<'a>(program: &'a Program, answers: impl IntoIterator<Item = (Slug, &'a Json<'a>)>) -> i64 {
    score_among(&program.fields, &answers.into_iter().collect())
}

pub(super) fn score_among<'a>(fields: &'a Records<Field>, answers: &BTreeMap<Slug, &'a Json<'a>>) -> i64 {
    let mut shown = ShownFields::among(fields, |slug| answers.get(&slug).copied());
    let scored = answers.iter().filter_map(|(slug, value)| {
        let field = fields.live(*slug).filter(|field| field.resource == Resource::Entries && field.auto_scoring > 0)?;
        shown.is_shown(field).then(|| points(field, value))
    });
    scored.fold(0_i64, i64::saturating_add)
}
