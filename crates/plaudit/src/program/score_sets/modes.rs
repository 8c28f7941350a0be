//! The modes of a score set, and what is particular to each.

use super::{COUNT, PREFERENCES};
use crate::program::choice::choices;
use crate::program::{Context, Member, MemberValue, Record, RecordMembers, Shape};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::text::{Rate, Slug};

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

impl Mode {
    /// Whether what a judge gives one entry leaves less for others: preferences and votes.
    pub fn is_shared_out(self) -> bool {
        matches!(self, Self::TopPick | Self::Voting)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct Qualifying {
    /// So many judges have to decide on an entry; 1 if left out.
    #[member(Integer(1, COUNT), default = 1)]
    pub responses_needed: i64,
    /// So many per cent of them have to let it pass; 50 if left out.
    #[member(Integer(1, 100), default = 50)]
    pub share: i64,
    /// Whether a judge may be unsure; true where it is left out.
    #[member(default = true)]
    pub unsure_allowed: bool,
}

/// How rankings become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct TopPick {
    /// How many entries a judge ranks at the most; 3 if left out.
    #[member(Integer(1, PREFERENCES), default = 3)]
    pub preferences: i64,
    /// How many entries win; 1 where it is left out.
    #[member(Integer(1, COUNT), default = 1)]
    pub winners: i64,
    /// How the winners are found; stv where it is left out.
    #[member(default = RankMethod::Stv)]
    pub method: RankMethod,
}

/// How points become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
#[record(check = check_trim(trim))]
pub struct VipJudging {
    /// How a sheet is made of its criteria; sum where it is left out.
    #[member(default = Aggregation::Sum)]
    pub aggregation: Aggregation,
    /// What becomes of a sheet with only some criteria; `complete_only` where it is left out.
    #[member(default = Sheets::CompleteOnly)]
    pub sheets: Sheets,
    /// How many per cent of an entry's sheets are dropped at each end, below 50.
    #[member(Number(Some(0), Some(50)))]
    pub trim: Rate,
    /// With fewer sheets left an entry is undecided.
    #[member(Integer(1, COUNT), default = 1)]
    pub min_kept: i64,
}

/// How many votes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct Voting {
    /// How many votes a voter has; null for no limit.
    #[member(Integer(1, COUNT))]
    pub votes_per_voter: Option<i64>,
    /// How many of them an entry gets at the most; null for no limit.
    #[member(Integer(1, COUNT))]
    pub votes_per_entry: Option<i64>,
    /// How many of them the entries of a category get at the most; null for no limit.
    #[member(Integer(1, COUNT))]
    pub votes_per_category: Option<i64>,
    /// When a voter has all of them again.
    #[member(default = Reset::Never)]
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
    pub fn mode(self) -> Mode {
        match self {
            Self::Qualifying(_) => Mode::Qualifying,
            Self::TopPick(_) => Mode::TopPick,
            Self::VipJudging(_) => Mode::VipJudging,
            Self::Voting(_) => Mode::Voting,
            Self::Gallery => Mode::Gallery,
        }
    }
}

impl RecordMembers for Rules {
    type Key = Slug;

    const MEMBERS: &'static [Member] = &[
        Member::required("mode", Mode::SHAPE, "How its entries are judged."),
        particular::<Qualifying>("qualifying", "How entries pass."),
        particular::<TopPick>("top_pick", "How rankings become a result."),
        particular::<VipJudging>("vip_judging", "How points become a result."),
        particular::<Voting>("voting", "How many votes there are."),
    ];

    /// Reads the mode and the member of its name.
    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let mode = members.required("mode", input::one_of(Mode::CHOICES));
        for (name, other) in Mode::CHOICES {
            if mode.is_some_and(|mode| mode != *other) && members.get(name).is_some() {
                members.fault(name, format!("is for a score set of the mode {name}"));
            }
        }
        match mode? {
            Mode::Qualifying => read_particular(members, "qualifying", slug, context).map(Self::Qualifying),
            Mode::TopPick => read_particular(members, "top_pick", slug, context).map(Self::TopPick),
            Mode::VipJudging => read_particular(members, "vip_judging", slug, context).map(Self::VipJudging),
            Mode::Voting => read_particular(members, "voting", slug, context).map(Self::Voting),
            Mode::Gallery => {
                if members.get("gallery").is_some() {
                    members.fault("gallery", "has no members, and must be left out");
                }
                Some(Self::Gallery)
            }
        }
    }

    fn write(&self, object: &mut Object<'_>) {
        let name = self.mode().name();
        object.text("mode", name);
        match self {
            Self::Qualifying(rules) => object.object(name, |object| rules.write(object)),
            Self::TopPick(rules) => object.object(name, |object| rules.write(object)),
            Self::VipJudging(rules) => object.object(name, |object| rules.write(object)),
            Self::Voting(rules) => object.object(name, |object| rules.write(object)),
            Self::Gallery => {}
        }
    }
}

/// Some sheets are left.
fn check_trim(members: &mut Members<'_>, trim: Option<&Rate>) {
    if trim.is_some_and(|trim| trim.ten_thousandths() >= HALF) {
        members.fault("trim", "must be below 50, because so many per cent are dropped at each end");
    }
}

/// The member of a mode, which has its name.
const fn particular<T: RecordMembers<Key = Slug>>(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Object(T::MEMBERS), about).only_with("mode", name).hidden()
}

/// What is particular to a mode; every default where its member is left out.
fn read_particular<T: RecordMembers<Key = Slug>>(
    members: &mut Members<'_>,
    name: &str,
    slug: Slug,
    context: &Context,
) -> Option<T> {
    let nothing = kernel::json::Object::default();
    match members.object(name, |members| T::read(members, slug, context)) {
        Some(rules) => rules,
        None => T::read(&mut Members::closed(&nothing), slug, context),
    }
}
