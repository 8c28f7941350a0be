//! The steps by which equal entries are told apart.

use super::{Mode, STEPS};
use crate::program::choice::choices;
use crate::program::{Context, Member, MemberValue, NAME_LENGTH, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::Slug;

choices! {
    /// What a step goes by.
    pub enum By {
        /// The mean of a criterion.
        Criterion "criterion",
        /// The median of the sheets.
        Median "median",
        /// How often an entry was first.
        FirstPlaces "first_places",
        /// The judges who saw both.
        HeadToHead "head_to_head",
        /// One judge.
        CastingVote "casting_vote",
        /// Chance, after RFC 3797.
        Lot "lot",
    }
}

/// A step by which equal entries are told apart; the member `by`, with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The higher mean of a criterion, which is one of the score set's.
    Criterion(Slug),
    /// The higher median of the sheets.
    Median,
    /// The one that more judges have first.
    FirstPlaces,
    /// The one that more of the judges who saw both prefer.
    HeadToHead,
    /// The one that this judge prefers.
    CastingVote(Slug),
    /// A lot that anybody can check (RFC 3797); the source of its numbers is published before they are known.
    Lot(String),
}

impl Step {
    /// What it goes by.
    pub fn by(&self) -> By {
        match self {
            Self::Criterion(_) => By::Criterion,
            Self::Median => By::Median,
            Self::FirstPlaces => By::FirstPlaces,
            Self::HeadToHead => By::HeadToHead,
            Self::CastingVote(_) => By::CastingVote,
            Self::Lot(_) => By::Lot,
        }
    }

    /// Whether score sets of a mode have what the step goes by.
    pub(super) fn is_for(by: By, mode: Mode) -> bool {
        match by {
            By::Criterion | By::Median => mode == Mode::VipJudging,
            By::FirstPlaces | By::HeadToHead => matches!(mode, Mode::VipJudging | Mode::TopPick),
            By::CastingVote | By::Lot => mode != Mode::Gallery,
        }
    }

    fn read(members: &mut Members<'_>, mode: Option<Mode>) -> Option<Self> {
        let by = members.required("by", input::one_of(By::CHOICES))?;
        if mode.is_some_and(|mode| !Self::is_for(by, mode)) {
            members.fault("by", format!("must be something that a score set of its mode has, which {by} is not"));
        }
        match by {
            By::Criterion => members.required("criterion", input::slug).map(Self::Criterion),
            By::Median => Some(Self::Median),
            By::FirstPlaces => Some(Self::FirstPlaces),
            By::HeadToHead => Some(Self::HeadToHead),
            By::CastingVote => members.required("judge", input::slug).map(Self::CastingVote),
            By::Lot => members.required("source", input::filled_text(NAME_LENGTH)).map(Self::Lot),
        }
    }
}

pub(super) const STEP: Shape = Shape::Object(&[
    Member::required("by", By::SHAPE, "What the step goes by."),
    Member::optional("criterion", Shape::Ref(Kind::Criterion), "The criterion, for a step by criterion.")
        .only_with("by", "criterion"),
    Member::optional("judge", Shape::Ref(Kind::User), "The judge, for a step by casting_vote.")
        .only_with("by", "casting_vote"),
    Member::optional("source", Shape::FilledText(NAME_LENGTH), "Where the numbers of a lot come from.")
        .only_with("by", "lot"),
]);

/// Reads all steps, each once.
pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Step>> {
    let mode = members.get("mode").and_then(|json| input::one_of(Mode::CHOICES)(json).ok());
    let read = members.objects("tie_break", STEPS, |members| Step::read(members, mode))?;
    let steps: Vec<Step> = read.into_iter().flatten().collect();
    for (index, step) in steps.iter().enumerate() {
        if steps[..index].contains(step) {
            members.fault("tie_break", format!("has a step twice, the one by {}", step.by()));
        }
    }
    Some(steps)
}

/// Writes all steps.
pub(super) fn write(steps: &[Step], object: &mut Object<'_>, _: Texts) {
    object.list("tie_break", |list| {
        for step in steps {
            list.object(|object| {
                object.text("by", step.by().name());
                match step {
                    Step::Criterion(criterion) => object.slug("criterion", *criterion),
                    Step::CastingVote(judge) => object.slug("judge", *judge),
                    Step::Lot(source) => object.text("source", source),
                    Step::Median | Step::FirstPlaces | Step::HeadToHead => {}
                }
            });
        }
    });
}

/// What steps refer to.
pub(super) fn references(steps: &[Step]) -> impl Iterator<Item = (&'static str, Kind, Slug)> {
    steps.iter().filter_map(|step| match step {
        Step::Criterion(criterion) => Some(("tie_break", Kind::Criterion, *criterion)),
        Step::CastingVote(judge) => Some(("tie_break", Kind::User, *judge)),
        Step::Median | Step::FirstPlaces | Step::HeadToHead | Step::Lot(_) => None,
    })
}
