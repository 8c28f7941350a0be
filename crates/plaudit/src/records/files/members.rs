//! The members of files as the interface describes them (contract, section 6).

use crate::program::{Member, Shape};

const fn pixels(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Integer(0, i64::MAX), about).nullable()
}

/// The members of a file.
pub const MEMBERS: &[Member] = &[
    Member::optional("download_link", Shape::Component("DownloadLink"), "Where its bytes are."),
    Member::optional(
        "duration",
        Shape::Number(None, None),
        "How long it plays, in seconds; null where that is not known.",
    )
    .nullable(),
    Member::optional("filename", Shape::Text(255), "Its name."),
    pixels("image_height", "The height of the image; null where it is none."),
    pixels("image_width", "The width of the image; null where it is none."),
    Member::optional("metadata", Shape::Any, "What is known of it otherwise.").example("{}"),
    Member::optional("mime", Shape::Text(255), "Its media type, told by its content."),
    Member::optional("size", Shape::Integer(0, i64::MAX), "How many bytes it has."),
    Member::optional("transcoding", Shape::List(&Shape::Any, usize::MAX), "Other forms of it: none.").example("[]"),
];
