//! The members of a score set in a program file.

use super::{
    Aggregation, By, COUNT, Conflicts, Mode, PREFERENCES, Places, RankMethod, Reset, STEPS, Sheets, TiesAtCut,
};
use crate::program::NAME_LENGTH;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

const QUALIFYING: Shape = Shape::Object(&[
    Member::optional("responses_needed", Shape::Integer(1, COUNT), "So many judges decide on an entry; 1 if left out."),
    Member::optional("share", Shape::Integer(1, 100), "So many per cent of them have to let it pass; 50 if left out."),
    Member::optional("unsure_allowed", Shape::Flag, "Whether a judge may be unsure; true where it is left out."),
]);

const TOP_PICK: Shape = Shape::Object(&[
    Member::optional("preferences", Shape::Integer(1, PREFERENCES), "How many entries a judge ranks; 3 if left out."),
    Member::optional("winners", Shape::Integer(1, COUNT), "How many entries win; 1 where it is left out."),
    Member::optional(
        "method",
        Shape::OneOf(|| names(RankMethod::CHOICES)),
        "How the winners are found; stv where it is left out.",
    ),
]);

const VIP_JUDGING: Shape = Shape::Object(&[
    Member::optional(
        "aggregation",
        Shape::OneOf(|| names(Aggregation::CHOICES)),
        "How a sheet is made of its criteria; sum where it is left out.",
    ),
    Member::optional(
        "sheets",
        Shape::OneOf(|| names(Sheets::CHOICES)),
        "What becomes of a sheet with only some criteria; complete_only where it is left out.",
    ),
    Member::optional(
        "trim",
        Shape::Number(Some(0), Some(50)),
        "How many per cent of an entry's sheets are dropped at each end, below 50.",
    ),
    Member::optional("min_kept", Shape::Integer(1, COUNT), "With fewer sheets left an entry is undecided."),
]);

const VOTING: Shape = Shape::Object(&[
    Member::optional("votes_per_voter", Shape::Integer(1, COUNT), "How many votes a voter has; null for no limit.")
        .nullable(),
    Member::optional(
        "votes_per_entry",
        Shape::Integer(1, COUNT),
        "How many of them an entry gets at the most; null for no limit.",
    )
    .nullable(),
    Member::optional(
        "votes_per_category",
        Shape::Integer(1, COUNT),
        "How many of them the entries of a category get at the most; null for no limit.",
    )
    .nullable(),
    Member::optional("reset", Shape::OneOf(|| names(Reset::CHOICES)), "When a voter has all of them again."),
]);

const STEP: Shape = Shape::Object(&[
    Member::required("by", Shape::OneOf(|| names(By::CHOICES)), "What the step goes by."),
    Member::optional("criterion", Shape::Ref(Kind::Criterion), "The criterion, for a step by criterion.")
        .only_with("by", "criterion"),
    Member::optional("judge", Shape::Ref(Kind::User), "The judge, for a step by casting_vote.")
        .only_with("by", "casting_vote"),
    Member::optional("source", Shape::FilledText(NAME_LENGTH), "Where the numbers of a lot come from.")
        .only_with("by", "lot"),
]);

pub(super) const MEMBERS: &[Member] = &[
    Member::link().hidden(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("form", Shape::Ref(Kind::Form), "The form of its entries.").identifying().shown_as(&Shape::Slug),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::required("mode", Shape::OneOf(|| names(Mode::CHOICES)), "How its entries are judged."),
    Member::optional("qualifying", QUALIFYING, "How entries pass.").only_with("mode", "qualifying").hidden(),
    Member::optional("top_pick", TOP_PICK, "How rankings become a result.").only_with("mode", "top_pick").hidden(),
    Member::optional("vip_judging", VIP_JUDGING, "How points become a result.")
        .only_with("mode", "vip_judging")
        .hidden(),
    Member::optional("voting", VOTING, "How many votes there are.").only_with("mode", "voting").hidden(),
    Member::optional("order", Shape::Integer(0, COUNT), "Its place among the score sets.").nullable(),
    Member::optional("archived", Shape::Flag, "Whether it is kept and judged no more.").hidden(),
    Member::optional(
        "min_judges",
        Shape::Integer(1, COUNT),
        "Without so many sheets that count an entry has no place; 1 where it is left out.",
    )
    .hidden(),
    Member::optional(
        "conflicts",
        Shape::OneOf(|| names(Conflicts::CHOICES)),
        "What becomes of sheets of judges with a conflict of interest; left_out where it is left out.",
    )
    .hidden(),
    Member::optional(
        "places",
        Shape::OneOf(|| names(Places::CHOICES)),
        "How places are numbered where entries share one; competition where it is left out.",
    )
    .hidden(),
    Member::optional("tie_break", Shape::List(&STEP, STEPS), "The steps that are taken to tell equal entries apart.")
        .hidden(),
    Member::optional("cut_line", Shape::Integer(1, COUNT), "How many places go on; null for no line.")
        .nullable()
        .hidden(),
    Member::optional(
        "ties_at_cut",
        Shape::OneOf(|| names(TiesAtCut::CHOICES)),
        "What becomes of entries that share the last of these places; included where it is left out.",
    )
    .hidden(),
    Member::created("created"),
    Member::updated("updated"),
];
