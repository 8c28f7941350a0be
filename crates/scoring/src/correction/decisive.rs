//! The judges on whom the first place depends.

use super::{VarianceMethod, correct};
use crate::{ModelError, ScoreTable};

/// A judge without whom somebody else wins.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisiveJudge {
    /// The judge.
    pub judge: usize,
    /// The entries that share the first place without the judge's scores, or why nobody can be named.
    pub winners_without: Result<Vec<usize>, ModelError>,
}

/// The judges without whom the entries in the first place are others, by correcting again without each of them: as much
/// work as one correction for each judge.
///
/// An entry that only the judge scored has no place without that judge. A judge without whom nothing can be corrected
/// is listed too, with the reason.
pub fn decisive_judges(table: &ScoreTable, method: VarianceMethod) -> Result<Vec<DecisiveJudge>, ModelError> {
    let winners = winners(table, method)?;
    let without = |judge: usize| {
        let (rest, entries) = table.without_judge(judge)?;
        Ok(self::winners(&rest, method)?.into_iter().map(|winner| entries[winner]).collect())
    };
    let judges = (0..table.judges()).map(|judge| DecisiveJudge { judge, winners_without: without(judge) });
    Ok(judges.filter(|decisive| decisive.winners_without.as_ref() != Ok(&winners)).collect())
}

fn winners(table: &ScoreTable, method: VarianceMethod) -> Result<Vec<usize>, ModelError> {
    let places = correct(table, method)?.places;
    Ok((0..places.len()).filter(|entry| places[*entry] == 1).collect())
}
