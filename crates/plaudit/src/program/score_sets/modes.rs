//! The modes of a score set, and what is particular to each.

use super::{COUNT, PREFERENCES};
use crate::program::choice::choices;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::text::Rate;

choices! {
    /// How the entries of a score set are judged.
    pub enum Mode {
        /// Each judge lets an entry pass or fail.
        Qualifying "qualifying",
        /// Each judge ranks the best.
        TopPick "top_pick",
        /// Each judge gives points by criteria.
        VipJudging "vip_judging",
        /// Each voter gives votes.
        Voting "voting",
        /// Entries are shown and not judged.
        Gallery "gallery",
    }
}

choices! {
    /// How the winners are found of what judges ranked.
    pub enum RankMethod {
        /// Single transferable vote with the Droop quota.
        Stv "stv",
        /// Single transferable vote after Meek.
        Meek "meek",
        /// Points by rank.
        Borda "borda",
        /// Strongest paths.
        Schulze "schulze",
        /// The order that contradicts the fewest comparisons.
        Kemeny "kemeny",
    }
}

choices! {
    /// How a sheet is made of its criteria.
    pub enum Aggregation {
        /// The weighted sum.
        Sum "sum",
        /// The weighted mean.
        Mean "mean",
    }
}

choices! {
    /// What becomes of a sheet on which only some criteria are scored.
    pub enum Sheets {
        /// It does not count.
        CompleteOnly "complete_only",
        /// It counts by the weights of what is scored.
        Renormalise "renormalise",
    }
}

choices! {
    /// When voters have all their votes again.
    pub enum Reset {
        /// Never.
        Never "none",
        /// At midnight.
        Daily "daily",
        /// At midnight before Monday.
        Weekly "weekly",
    }
}

/// How entries pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qualifying {
    /// So many judges have to decide on an entry.
    pub responses_needed: i64,
    /// So many per cent of them have to let it pass, from 1 to 100.
    pub share: i64,
    /// Whether a judge may be unsure.
    pub unsure_allowed: bool,
}

/// How rankings become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopPick {
    /// How many entries a judge ranks at the most.
    pub preferences: i64,
    /// How many entries win.
    pub winners: i64,
    /// How they are found.
    pub method: RankMethod,
}

/// How points become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VipJudging {
    /// How a sheet is made of its criteria.
    pub aggregation: Aggregation,
    /// What becomes of sheets with only some criteria.
    pub sheets: Sheets,
    /// How many per cent of an entry's sheets are dropped at each end; less than half of them.
    pub trim: Rate,
    /// With fewer sheets left an entry is undecided.
    pub min_kept: i64,
}

/// How many votes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voting {
    /// How many votes a voter has, where they are limited.
    pub votes_per_voter: Option<i64>,
    /// How many of them an entry gets at the most.
    pub votes_per_entry: Option<i64>,
    /// How many of them the entries of a category get at the most.
    pub votes_per_category: Option<i64>,
    /// When a voter has all of them again.
    pub reset: Reset,
}

/// The mode of a score set with what is particular to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Each judge lets an entry pass or fail.
    Qualifying(Qualifying),
    /// Each judge ranks the best.
    TopPick(TopPick),
    /// Each judge gives points by criteria.
    VipJudging(VipJudging),
    /// Each voter gives votes.
    Voting(Voting),
    /// Entries are shown and not judged.
    Gallery,
}

/// Half of the sheets, which trimming has to leave at the least.
const HALF: u32 = 500_000;

impl Rules {
    /// The mode.
    #[must_use]
    pub fn mode(self) -> Mode {
        match self {
            Self::Qualifying(_) => Mode::Qualifying,
            Self::TopPick(_) => Mode::TopPick,
            Self::VipJudging(_) => Mode::VipJudging,
            Self::Voting(_) => Mode::Voting,
            Self::Gallery => Mode::Gallery,
        }
    }

    /// Reads the mode and the member of its name.
    pub(super) fn read(members: &mut Members<'_>) -> Option<Self> {
        let mode = members.required("mode", input::one_of(Mode::CHOICES));
        for (name, other) in Mode::CHOICES {
            if mode.is_some_and(|mode| mode != *other) && members.get(name).is_some() {
                members.fault(name, format!("is for a score set of the mode {name}"));
            }
        }
        match mode? {
            Mode::Qualifying => Some(Self::Qualifying(particular(members, "qualifying", read_qualifying))),
            Mode::TopPick => Some(Self::TopPick(particular(members, "top_pick", read_top_pick))),
            Mode::VipJudging => Some(Self::VipJudging(particular(members, "vip_judging", read_vip_judging))),
            Mode::Voting => Some(Self::Voting(particular(members, "voting", read_voting))),
            Mode::Gallery => {
                if members.get("gallery").is_some() {
                    members.fault("gallery", "has no members, and must be left out");
                }
                Some(Self::Gallery)
            }
        }
    }

    pub(super) fn write(self, object: &mut Object<'_>) {
        let name = self.mode().name();
        object.text("mode", name);
        match self {
            Self::Qualifying(rules) => object.object(name, |object| {
                object.integer("responses_needed", rules.responses_needed);
                object.integer("share", rules.share);
                object.flag("unsure_allowed", rules.unsure_allowed);
            }),
            Self::TopPick(rules) => object.object(name, |object| {
                object.integer("preferences", rules.preferences);
                object.integer("winners", rules.winners);
                object.text("method", rules.method.name());
            }),
            Self::VipJudging(rules) => object.object(name, |object| {
                object.text("aggregation", rules.aggregation.name());
                object.text("sheets", rules.sheets.name());
                object.rate("trim", rules.trim);
                object.integer("min_kept", rules.min_kept);
            }),
            Self::Voting(rules) => object.object(name, |object| {
                object.optional_integer("votes_per_voter", rules.votes_per_voter);
                object.optional_integer("votes_per_entry", rules.votes_per_entry);
                object.optional_integer("votes_per_category", rules.votes_per_category);
                object.text("reset", rules.reset.name());
            }),
            Self::Gallery => {}
        }
    }
}

/// What is particular to a mode; every default where its member is left out.
fn particular<T>(members: &mut Members<'_>, name: &str, read: fn(&mut Members<'_>) -> T) -> T {
    let nothing = kernel::json::Object::default();
    match members.object(name, |members| read(members)) {
        Some(rules) => rules,
        None => read(&mut Members::closed(&nothing)),
    }
}

fn read_qualifying(members: &mut Members<'_>) -> Qualifying {
    let responses_needed = members.optional("responses_needed", input::integer(1..=COUNT));
    let share = members.optional("share", input::integer(1..=100));
    let unsure_allowed = members.optional("unsure_allowed", input::flag);
    Qualifying {
        responses_needed: responses_needed.unwrap_or(1),
        share: share.unwrap_or(50),
        unsure_allowed: unsure_allowed.unwrap_or(true),
    }
}

fn read_top_pick(members: &mut Members<'_>) -> TopPick {
    let preferences = members.optional("preferences", input::integer(1..=PREFERENCES));
    let winners = members.optional("winners", input::integer(1..=COUNT));
    let method = members.optional("method", input::one_of(RankMethod::CHOICES));
    TopPick {
        preferences: preferences.unwrap_or(3),
        winners: winners.unwrap_or(1),
        method: method.unwrap_or(RankMethod::Stv),
    }
}

fn read_vip_judging(members: &mut Members<'_>) -> VipJudging {
    let aggregation = members.optional("aggregation", input::one_of(Aggregation::CHOICES));
    let sheets = members.optional("sheets", input::one_of(Sheets::CHOICES));
    let trim = members.optional("trim", input::rate).unwrap_or_default();
    if trim.ten_thousandths() >= HALF {
        members.fault("trim", "must be below 50, because so many per cent are dropped at each end");
    }
    let min_kept = members.optional("min_kept", input::integer(1..=COUNT));
    VipJudging {
        aggregation: aggregation.unwrap_or(Aggregation::Sum),
        sheets: sheets.unwrap_or(Sheets::CompleteOnly),
        trim,
        min_kept: min_kept.unwrap_or(1),
    }
}

fn read_voting(members: &mut Members<'_>) -> Voting {
    let mut votes = |name| members.nullable(name, input::integer(1..=COUNT)).flatten();
    let (votes_per_voter, votes_per_entry, votes_per_category) =
        (votes("votes_per_voter"), votes("votes_per_entry"), votes("votes_per_category"));
    let reset = members.optional("reset", input::one_of(Reset::CHOICES));
    Voting { votes_per_voter, votes_per_entry, votes_per_category, reset: reset.unwrap_or(Reset::Never) }
}
