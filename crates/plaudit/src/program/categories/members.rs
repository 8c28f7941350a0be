//! The members of a category in a program file.

use super::{CHAPTERS, COUNT, IMAGES};
use crate::kind::Kind;
use crate::program::chapters::{DESCRIPTION_LENGTH, IMAGE_WIDTH, NAME_LENGTH, Status};
use crate::program::{Member, Shape, names};

/// An image is the token of its file, or the object that a read shows.
const IMAGE: Shape =
    Shape::Either(&[Shape::Token, Shape::OpenObject(&[Member::required("token", Shape::Token, "The file.")])]);

pub(super) const MEMBERS: &[Member] = &[
    Member::computed("chapter_count", "How many chapters it names."),
    Member::computed("entry_count", "How many entries it has."),
    Member::computed("link", "The address of the category."),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::optional("description", Shape::Translated(DESCRIPTION_LENGTH), "What it is, at length."),
    Member::optional("shortcode", Shape::Translated(NAME_LENGTH), "A short name."),
    Member::optional(
        "status",
        Shape::OneOf(|| names(Status::CHOICES)),
        "Whether it can be chosen; active where it is left out.",
    ),
    Member::optional("form", Shape::Ref(Kind::Form), "The form of its entries.").nullable(),
    Member::optional("parent", Shape::Ref(Kind::Category), "The category that it is a part of.")
        .nullable()
        .identifying(),
    Member::optional("divisions", Shape::Integer(1, COUNT), "Into how many divisions its entries are judged apart."),
    Member::optional("promoted", Shape::Integer(0, 1), "Whether it is promoted: 1 or 0.").nullable(),
    Member::optional(
        "chapters",
        Shape::List(&Shape::Ref(Kind::Chapter), CHAPTERS),
        "The chapters that offer it; none means every chapter of its season.",
    )
    .nullable(),
    Member::optional(
        "entrant_max_entries",
        Shape::Integer(0, COUNT),
        "How many entries an entrant can have in it; null for no limit.",
    )
    .nullable(),
    Member::optional("entry_name_label", Shape::Translated(NAME_LENGTH), "What the title of an entry is called."),
    Member::optional("fill_entry_name", Shape::Flag, "Whether the title of an entry is filled in for the entrant."),
    Member::optional("image_heading", Shape::Translated(NAME_LENGTH), "The heading of its image."),
    Member::optional(
        "images",
        Shape::List(&IMAGE, IMAGES),
        "The tokens of its images; left out, what was uploaded stays.",
    )
    .kept(),
    Member::optional(
        "max_image_width",
        Shape::Integer(1, IMAGE_WIDTH),
        "The widest that its image is shown, in pixels; null for no limit.",
    )
    .nullable(),
    Member::optional(
        "packing_slip_instructions",
        Shape::Translated(DESCRIPTION_LENGTH),
        "What is printed on a packing slip.",
    ),
    Member::optional("pdf_packing_slip", Shape::Flag, "Whether packing slips are made."),
    Member::optional("locked", Shape::Flag, "Whether its entries can no longer be changed."),
    Member::created("created"),
    Member::updated("updated"),
];
