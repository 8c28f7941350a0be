//! Score sets: how the entries of a form are judged, and how a result is made of what the judges gave.
//!
//! - A score set belongs to a season and a form; the form is of the same season.
//! - Its `mode` is one of five. A member of the mode's own name holds what is particular to it ([`Rules`]); what is left
//!   out has its default, and another mode's member is a fault. `gallery` has none.
//! - `qualifying`: `responses_needed` judges have to pass or fail an entry before it is decided; it passes where at
//!   least `share` per cent of them let it pass. Where `unsure_allowed`, a judge may say so, which does not count.
//! - `top_pick`: each judge ranks up to `preferences` entries; `method` finds the `winners`. Counts per preference are
//!   shown in any case.
//! - `vip_judging`: a sheet is the weighted `sum`, or `mean`, over the criteria (`aggregation`); an entry has the mean
//!   over its sheets, of which `trim` per cent are dropped at each end. With fewer than `min_kept` sheets left it is
//!   undecided. A sheet with only some of the criteria is left out, or counts by the weights that it has
//!   (`sheets`).
//! - `voting`: `votes_per_voter`, `votes_per_entry` and `votes_per_category` bound what one voter gives, until the
//!   `reset` at midnight, or at midnight before Monday, in the account's time zone.
//! - An entry with fewer than `min_judges` sheets that count has no place. A sheet whose judge declared a conflict
//!   counts only where `conflicts` are `counted`.
//! - A tie is exact equality, and its entries share a place, as `places` says. The steps of `tie_break` are taken in
//!   order until one of them tells the entries apart.
//! - The first `cut_line` places go on; `ties_at_cut` tells whether all entries that share the last one do.
//! - `shows` tells what judges see of the sheets of others, of the other judges and of the entrants: nothing by default. A judge
//!   whose answer to `organisation_field`, which is about users, is that of the entrant does not judge the entry.
//! - An archived score set is kept and judged no more.
//! - Score sets are set up by program files; the interface only reads them.

mod modes;
mod rules;
mod shows;
mod tie_break;

pub use modes::{Aggregation, Mode, Qualifying, RankMethod, Reset, Rules, Sheets, TopPick, VipJudging, Voting};
pub use rules::document;
pub use shows::{Others, Shows};
pub use tie_break::{By, Step};

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The largest count of a score set: of judges, winners, votes, and its place.
pub const COUNT: i64 = 1_000_000;
/// The most preferences of a judge.
pub const PREFERENCES: i64 = 100;
/// The most steps of a tie-break.
pub const STEPS: usize = 16;

choices! {
    /// How places are numbered where entries share one.
    pub enum Places {
        /// 1, 2, 2, 4.
        Competition "competition",
        /// 1, 2, 2, 3.
        Dense "dense",
        /// 1, 3, 3, 4.
        Modified "modified",
    }
}

choices! {
    /// What becomes of entries that share the last place above the cut line.
    pub enum TiesAtCut {
        /// All of them go on.
        Included "included",
        /// None of them does.
        Excluded "excluded",
    }
}

choices! {
    /// What becomes of a sheet whose judge declared a conflict of interest.
    pub enum Conflicts {
        /// It does not count.
        LeftOut "left_out",
        /// It counts.
        Counted "counted",
    }
}

/// A score set.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link().hidden()))]
pub struct ScoreSet {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// The form of its entries.
    #[member(Ref(Kind::Form), required, identifying, shown_as(&Shape::Slug))]
    pub form: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// How it is judged, with what is particular to that; the member `mode`, and the one of the mode's name.
    #[member(flatten)]
    pub rules: Rules,
    /// Its place among the score sets, where it has one.
    #[member(Integer(0, COUNT))]
    pub order: Option<i64>,
    /// Whether it is kept and judged no more.
    #[member(hidden)]
    pub archived: bool,
    /// Without so many sheets that count an entry has no place; 1 where it is left out.
    #[member(Integer(1, COUNT), default = 1, hidden)]
    pub min_judges: i64,
    /// What becomes of sheets of judges with a conflict of interest; `left_out` where it is left out.
    #[member(default = Conflicts::LeftOut, hidden)]
    pub conflicts: Conflicts,
    /// How places are numbered where entries share one; competition where it is left out.
    #[member(default = Places::Competition, hidden)]
    pub places: Places,
    /// The steps that are taken to tell equal entries apart.
    #[member(List(&tie_break::STEP, STEPS), with = tie_break, default = Vec::new(), references = tie_break::references, hidden)]
    pub tie_break: Vec<Step>,
    /// How many places go on; null for no line.
    #[member(Integer(1, COUNT), hidden)]
    pub cut_line: Option<i64>,
    /// What becomes of entries that share the last of these places; included where it is left out.
    #[member(default = TiesAtCut::Included, hidden)]
    pub ties_at_cut: TiesAtCut,
    /// What judges are shown beside the entry; nothing where it is left out.
    #[member(hidden)]
    pub shows: Shows,
    /// The field about users whose equal answers of a judge and an entrant are a conflict of interest; null for none.
    #[member(Ref(Kind::Field), hidden)]
    pub organisation_field: Option<Slug>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

impl ScoreSet {
    /// How it is judged.
    pub fn mode(&self) -> Mode {
        self.rules.mode()
    }
}

#[cfg(test)]
mod tests;
