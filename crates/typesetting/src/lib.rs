//! What the server and the typesetter say to each other, over the pipes of a child process.
//!
//! - A message is a length in four bytes, the highest first, and so many bytes. A [`Request`] is a message of JSON, then one of bytes
//!   for each of its files and for each of its pictures. An [`Answer`] is a message of JSON, then the document where one was made.
//! - The typesetter answers each request in turn, and ends with its input. One that ends before it has answered says why on its
//!   standard error; [`Fault::of_end`] makes a fault of that.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest message, in bytes.
pub const LONGEST: usize = 64 << 20;

/// What stands before a message.
pub const PREFIX: usize = 4;

/// The names that a template finds. One that a request leaves out is `none`.
pub const NAMES: [&str; 15] = [
    "account",
    "answers",
    "assignment",
    "board",
    "category",
    "chapter",
    "entry",
    "order",
    "pictures",
    "score_set",
    "scores",
    "season",
    "seller",
    "this",
    "user",
];

/// A document that is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The template, in Typst markup.
    pub template: String,
    /// What the [`NAMES`] stand for, but for `pictures`.
    pub data: Map<String, Value>,
    /// What is made of it.
    pub format: Format,
    /// The paper, as Typst calls it: `a4`, `us-letter`.
    pub paper: String,
    /// The language of the document, ISO 639.
    pub language: String,
    /// The region of the language, ISO 3166-1 alpha-2.
    pub region: Option<String>,
    /// The title of the document.
    pub title: String,
    /// The time of the document: year, month, day, hour, minute, second, in UTC.
    pub time: (i32, u8, u8, u8, u8, u8),
    /// The names of the files of the template, by which it finds them; fonts end in `.ttf`, `.otf`, `.ttc` or `.otc`.
    pub files: Vec<String>,
    /// The tokens of what is shown, by which the template finds the paths in `pictures`.
    pub pictures: Vec<String>,
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A PDF.
    Pdf,
    /// A PDF by PDF/UA-1 (ISO 14289-1).
    AccessiblePdf,
    /// A document of Microsoft Word (ISO/IEC 29500).
    Word,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A document, whose bytes follow.
    Made,
    /// The template is at fault.
    Fault(Fault),
}

/// What is wrong with a template, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// A sentence.
    pub message: String,
    /// The line, counted from 1; nothing where the fault is not at one place of the template.
    pub line: Option<usize>,
    /// The column, counted from 1 in characters.
    pub column: Option<usize>,
}

impl Fault {
    /// A fault that is at no place of the template.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None, column: None }
    }

    /// The fault of a template with which a typesetter ended that had said this on its standard error.
    pub fn of_end(said: &str) -> Self {
        let why = [
            ("memory allocation of", "the document takes more memory than it may have"),
            ("overflowed its stack", "the template is nested too deeply"),
        ];
        let why = why.iter().find(|(said_of_it, _)| said.contains(said_of_it));
        Self::new(why.map_or("the typesetter ended without an answer", |(_, why)| why))
    }
}

/// Writes a message.
pub fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    to.write_all(&length(message)?)?;
    to.write_all(message)
}

/// What stands before a message.
pub fn length(message: &[u8]) -> io::Result<[u8; PREFIX]> {
    match u32::try_from(message.len()) {
        Ok(length) if message.len() <= LONGEST => Ok(length.to_be_bytes()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long")),
    }
}

/// The length of the message that follows this.
pub fn length_of(before: [u8; PREFIX]) -> io::Result<usize> {
    match usize::try_from(u32::from_be_bytes(before)) {
        Ok(length) if length <= LONGEST => Ok(length),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long")),
    }
}

/// Reads a message; nothing at the end.
pub fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut before = Vec::with_capacity(PREFIX);
    from.by_ref().take(PREFIX as u64).read_to_end(&mut before)?;
    if before.is_empty() {
        return Ok(None);
    }
    let before = before.try_into().map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let mut message = vec![0; length_of(before)?];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"one").unwrap();
        write(&mut bytes, b"").unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(read(&mut rest).unwrap().unwrap(), b"one");
        assert_eq!(read(&mut rest).unwrap().unwrap(), b"");
        assert_eq!(read(&mut rest).unwrap(), None);
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_an_error() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"one").unwrap();
        for end in 1..bytes.len() {
            assert!(read(&mut &bytes[..end]).is_err(), "{end}");
        }
        assert!(read(&mut &[0xff; 8][..]).is_err());
        assert!(length(&vec![0; LONGEST + 1]).is_err());
    }

    #[test]
    fn an_end_has_a_reason() {
        let said = "memory allocation of 1000000000 bytes failed\n";
        assert!(Fault::of_end(said).message.contains("more memory"));
        assert!(Fault::of_end("thread 'template' has overflowed its stack\n").message.contains("nested"));
        assert!(Fault::of_end("").message.contains("without an answer"));
    }
}
