//! Files: what is known of stored bytes. The bytes themselves are in [`crate::storage`].
//!
//! - The content under a token never changes, so that neither do its type, its length and the size of its image.
//! - These three are told by the content alone, never by a name; a program file may state them, and must then be right.
//!   The beginning and the end of a content tell them ([`Sample`]), so that a long one need not be held. An upload whose
//!   name claims what the content cannot be is refused ([`check_name`]).
//! - A file that was recorded stays, also where no record names it any more: the log and the trash still do. Bytes that an
//!   upload stored and nobody recorded are removed ([`sweep()`]).

mod compound;
mod image;
mod members;
mod names;
mod rules;
mod sample;
pub mod store;
mod sweep;

pub use members::MEMBERS;
pub use names::check_name;
pub use rules::Content;
pub use sample::{HEAD, Sample, TAIL};
pub use sweep::{SweepError, empty_erased, sweep};

use crate::program::Context;
use kernel::document::{self, Object};
use kernel::input::{self, Members};
use kernel::json::Json;
use kernel::text::{Timestamp, Token};

/// The most characters of a file's name.
pub const NAME_LENGTH: usize = 255;
/// The most bytes of a file.
pub const SIZE: usize = 256 << 20;

/// A stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its token.
    pub token: Token,
    /// Its name.
    pub filename: String,
    /// What its content tells.
    pub content: Content,
    /// How long it plays, in seconds: the exact text of a number.
    pub duration: Option<String>,
    /// More that is known of it: the canonical text of a JSON object.
    pub metadata: String,
    /// When it was made.
    pub created: Timestamp,
}

/// The name of a file: no path, and nothing that could be taken for one.
pub fn filename(json: &Json) -> Result<String, String> {
    let name = input::filled_text(NAME_LENGTH)(json)?;
    if name.contains(['/', '\\']) { Err("must be a name without slashes".to_owned()) } else { Ok(name) }
}

fn number(json: &Json) -> Result<String, String> {
    match json {
        Json::Number(text) if !text.starts_with('-') => Ok(text.clone().into_owned()),
        _ => Err("must be a number that is not negative".to_owned()),
    }
}

fn object(json: &Json) -> Result<String, String> {
    match json {
        Json::Object(_) => Ok(json.to_string()),
        _ => Err("must be an object".to_owned()),
    }
}

/// What a record states of its content; where the content is at hand, it decides, and what contradicts it is a fault.
fn read_content(members: &mut Members<'_>, reported: Option<&Content>) -> Option<Content> {
    let mime = members.optional("mime", input::text(255));
    let size = members.optional("size", input::integer(0..=i64::MAX));
    let sha256 = members.optional("sha256", input::text(64));
    let pixels = || input::integer(0..=i64::from(u32::MAX));
    let image_width = members.nullable("image_width", pixels());
    let image_height = members.nullable("image_height", pixels());
    let Some(reported) = reported else {
        return Some(Content {
            mime: mime?,
            size: size?,
            sha256: sha256?,
            image_width: image_width.flatten(),
            image_height: image_height.flatten(),
        });
    };
    if mime.is_some_and(|mime| mime != reported.mime) {
        members.fault("mime", format!("contradicts the content, which is {}", reported.mime));
    }
    if size.is_some_and(|size| size != reported.size) {
        members.fault("size", format!("contradicts the content, which has {} bytes", reported.size));
    }
    if sha256.is_some_and(|sha256| sha256 != reported.sha256) {
        members.fault("sha256", "contradicts the content");
    }
    for (name, stated, reported) in
        [("image_width", image_width, reported.image_width), ("image_height", image_height, reported.image_height)]
    {
        if stated.is_some_and(|stated| stated != reported) {
            members.fault(name, "contradicts the content");
        }
    }
    Some(reported.clone())
}

impl File {
    /// Reads the program-file form; the members `kind` and `token`, and those with the bytes, have been read. `told`
    /// is what the bytes tell; without it the record must state it, as a stored one does.
    pub fn read(
        members: &mut Members<'_>,
        token: Token,
        context: &Context,
        reported: Option<&Content>,
    ) -> Option<Self> {
        let filename = members.required("filename", filename);
        let known = read_content(members, reported);
        let duration = members.nullable("duration", number);
        let metadata = members.nullable("metadata", object);
        // Nothing is ever being transcoded, so that the list may be stated and is not kept.
        members.optional("transcoding", input::list(0, input::text(0)));
        // An address is signed whenever it is shown.
        members.get("download_link");
        let created = members.optional("created", input::time).unwrap_or(context.now);
        Some(Self {
            token,
            filename: filename?,
            content: known?,
            duration: duration.flatten(),
            metadata: metadata.flatten().unwrap_or_else(|| "{}".to_owned()),
            created,
        })
    }

    /// Writes the members of the program-file form after `kind` and `token`, without the bytes.
    pub fn write(&self, object: &mut Object<'_>) {
        object.text("filename", &self.filename);
        object.text("mime", &self.content.mime);
        object.integer("size", self.content.size);
        object.text("sha256", &self.content.sha256);
        object.optional_integer("image_height", self.content.image_height);
        object.optional_integer("image_width", self.content.image_width);
        match &self.duration {
            Some(duration) => object.raw("duration", duration),
            None => object.null("duration"),
        }
        object.raw("metadata", &self.metadata);
        object.time("created", self.created);
    }

    /// What is shown of the file (contract, section 6).
    pub fn shown(&self) -> String {
        document::object(|object| {
            object.download("download_link", self.token.as_str());
            match &self.duration {
                Some(duration) => object.raw("duration", duration),
                None => object.null("duration"),
            }
            object.text("filename", &self.filename);
            object.optional_integer("image_height", self.content.image_height);
            object.optional_integer("image_width", self.content.image_width);
            object.raw("metadata", &self.metadata);
            object.text("mime", &self.content.mime);
            object.integer("size", self.content.size);
            object.list("transcoding", |_| ());
        })
    }

    /// The stored form: the program-file form without its kind and bytes.
    pub fn stored(&self) -> String {
        document::object(|object| {
            object.text("token", self.token.as_str());
            self.write(object);
        })
    }
}
