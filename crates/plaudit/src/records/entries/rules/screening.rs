//! The automatic score of an entry, its eligibility, and its division.

use std::collections::BTreeMap;

use crate::program::Program;
use crate::program::categories::Category;
use crate::program::fields::auto_score;
use crate::records::entries::given::asked;
use crate::records::entries::{Eligibility, Entry};

/// Scores an entry anew where its answers or its category are others than before, or where it was handed in, and screens
/// it when it is handed in and from then on. A form without a minimum screens nothing.
pub(in crate::records::entries) fn set_eligibility(
    program: &Program,
    before: Option<&Entry>,
    entry: &mut Entry,
    is_handed_in: bool,
) {
    let is_other =
        before.is_none_or(|before| (before.category, &before.entry_fields) != (entry.category, &entry.entry_fields));
    if !is_other && !is_handed_in {
        return;
    }
    let score = auto_score(program, asked(program, (entry.form, entry.category), &entry.entry_fields));
    entry.auto_score = score.to_string();
    let minimum = program.forms.any(entry.form).and_then(|form| form.minimum_auto_score);
    if let Some(minimum) = minimum
        && (is_handed_in || entry.eligibility_status != Eligibility::Unscreened)
    {
        entry.eligibility_status = if score >= minimum { Eligibility::Eligible } else { Eligibility::Ineligible };
    }
}

/// The division of an entry that comes into a category: of those that have the fewest entries the first. `counts` is how
/// many each has. A category that is not divided gives none.
pub(in crate::records::entries) fn division(category: &Category, counts: &BTreeMap<i64, i64>) -> Option<i64> {
    if category.divisions <= 1 {
        return None;
    }
    let count = |division: i64| counts.get(&division).copied().unwrap_or(0);
    let mut fewest = 1;
    for division in 2..=category.divisions {
        if count(fewest) == 0 {
            break;
        }
        if count(division) < count(fewest) {
            fewest = division;
        }
    }
    Some(fewest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing;

    #[test]
    fn divisions_are_filled_evenly() {
        let divided = |divisions: i64| {
            let members = format!(r#""season":"SeasonAA","name":{{"en_GB":"C"}},"divisions":{divisions}"#);
            testing::read::<Category>("CategAAA", &members).unwrap()
        };
        assert_eq!(division(&divided(1), &BTreeMap::new()), None);
        let mut counts = BTreeMap::from([(0, 9), (2, 1)]);
        for wanted in [1, 3, 1, 2, 3, 1] {
            let given = division(&divided(3), &counts).unwrap();
            assert_eq!(given, wanted);
            *counts.entry(given).or_default() += 1;
        }
        assert_eq!(division(&divided(1_000_000), &counts), Some(4));
    }
}
