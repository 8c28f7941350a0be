//! The members of a document template in a program file.

use super::{FileType, PageSize, Subject};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use crate::program::{Member, Shape, names};

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::required("resource", Shape::OneOf(|| names(Subject::CHOICES)), "What its documents are about.")
        .identifying(),
    Member::required(
        "file_types",
        Shape::FilledSet(&Shape::OneOf(|| names(FileType::CHOICES)), FileType::CHOICES.len()),
        "What kinds of files its documents can be.",
    ),
    Member::optional("page_size", Shape::OneOf(|| names(PageSize::CHOICES)), "The size of a page; A4 if left out."),
    Member::required(
        "body",
        Shape::Translated(DESCRIPTION_LENGTH),
        "Its text, with places such as {{entry.title}} that are filled in.",
    ),
    Member::created("created"),
    Member::updated("updated"),
];
