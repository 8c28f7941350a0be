//! The members of a category in a program file.

use super::{CHAPTERS, COUNT, IMAGES};
use crate::program::chapters::{IMAGE_WIDTH, Status};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

/// An image is the token of its file, or the object that a read shows.
const IMAGE: Shape =
    Shape::Either(&[Shape::Token, Shape::OpenObject(&[Member::required("token", Shape::Token, "The file.")])]);

pub(super) const MEMBERS: &[Member] = &[
    Member::computed("chapter_count", "How many chapters it names.").in_lists().shown_as(&Shape::Integer(0, COUNT)),
    Member::computed("entry_count", "How many entries it has.").in_lists().shown_as(&Shape::Integer(0, COUNT)),
    Member::link().hidden(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.")
        .identifying()
        .to_create()
        .or_gone(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.")
        .identifying()
        .text()
        .to_create()
        .updatable(),
    Member::optional("description", Shape::Translated(DESCRIPTION_LENGTH), "What it is, at length.")
        .text()
        .creatable()
        .updatable(),
    Member::optional("shortcode", Shape::Translated(NAME_LENGTH), "A short name.").text().creatable().updatable(),
    Member::optional(
        "status",
        Shape::OneOf(|| names(Status::CHOICES)),
        "Whether it can be chosen; active where it is left out.",
    )
    .to_create()
    .updatable(),
    Member::optional("form", Shape::Ref(Kind::Form), "The form of its entries.").nullable(),
    Member::optional("parent", Shape::Ref(Kind::Category), "The category that it is a part of.")
        .nullable()
        .identifying()
        .creatable()
        .updatable(),
    Member::optional("divisions", Shape::Integer(1, COUNT), "Into how many divisions its entries are judged apart.")
        .creatable()
        .updatable(),
    Member::optional("promoted", Shape::Integer(0, 1), "Whether it is promoted: 1 or 0.").nullable().creatable(),
    Member::optional(
        "chapters",
        Shape::List(&Shape::Ref(Kind::Chapter), CHAPTERS),
        "The chapters that offer it; none means every chapter of its season.",
    )
    .nullable()
    .in_single_reads()
    .never_null(),
    Member::optional(
        "entrant_max_entries",
        Shape::Integer(0, COUNT),
        "How many entries an entrant can have in it; null for no limit.",
    )
    .nullable()
    .creatable()
    .updatable()
    .in_single_reads(),
    Member::optional("entry_name_label", Shape::Translated(NAME_LENGTH), "What the title of an entry is called.")
        .text()
        .creatable()
        .updatable()
        .in_single_reads(),
    Member::optional("fill_entry_name", Shape::Flag, "Whether the title of an entry is filled in for the entrant.")
        .creatable()
        .updatable()
        .in_single_reads(),
    Member::optional("image_heading", Shape::Translated(NAME_LENGTH), "The heading of its image.")
        .text()
        .creatable()
        .updatable()
        .in_single_reads(),
    Member::optional(
        "images",
        Shape::List(&IMAGE, IMAGES),
        "The tokens of its images; left out, what was uploaded stays.",
    )
    .kept()
    .in_single_reads()
    .shown_as(&Shape::List(&Shape::Component("StoredFile"), IMAGES)),
    Member::optional(
        "max_image_width",
        Shape::Integer(1, IMAGE_WIDTH),
        "The widest that its image is shown, in pixels; null for no limit.",
    )
    .nullable()
    .creatable()
    .updatable()
    .in_single_reads(),
    Member::optional(
        "packing_slip_instructions",
        Shape::Translated(DESCRIPTION_LENGTH),
        "What is printed on a packing slip.",
    )
    .text()
    .creatable()
    .updatable()
    .in_single_reads(),
    Member::optional("pdf_packing_slip", Shape::Flag, "Whether packing slips are made.")
        .creatable()
        .updatable()
        .in_single_reads(),
    Member::optional("locked", Shape::Flag, "Whether its entries can no longer be changed.").updatable().hidden(),
    Member::created("created"),
    Member::updated("updated"),
];

/// What bodies cannot say by null, as program files can.
pub const BODY: &[Member] = &[
    Member::optional(
        "form",
        Shape::Ref(Kind::Form),
        "The form of its entries; the season's first one where it is left out.",
    )
    .creatable()
    .hidden(),
    Member::optional(
        "chapters",
        Shape::Set(&Shape::Ref(Kind::Chapter), CHAPTERS),
        "The chapters that offer it, all of its season; none means every chapter of it.",
    )
    .creatable()
    .updatable()
    .hidden(),
];
