//! Document templates: what documents about an entry or a person are made of: certificates, letters, invoices.
//!
//! - A template is for documents about an `entry` or a `user`, and for at least one type of file.
//! - Its body is text with places such as `{{entry.title}}` that are filled when a document is made. What stands between
//!   the braces is a path of names with dots; the first is `account`, `entry`, `season` or `user`.
//! - Document templates are set up by program files.

mod rules;

use super::choice::choices;
use super::{DESCRIPTION_LENGTH, NAME_LENGTH, Record};
use kernel::input::Members;
use kernel::text::{Slug, Timestamp, Translated};

choices! {
    /// What documents are about.
    pub enum Subject {
        /// An entry.
        Entry "entry",
        /// A person.
        User "user",
    }
}

choices! {
    /// What kind of file a document is.
    pub enum FileType {
        /// A PDF.
        Pdf "PDF",
        /// A document of Microsoft Word.
        Word "Word",
        /// A PDF that can be read aloud.
        AccessiblePdf "accessible-pdf",
    }
}

choices! {
    /// The size of a page.
    pub enum PageSize {
        /// 210 by 297 mm.
        A4 "A4",
        /// 8.5 by 11 inches.
        Letter "Letter",
    }
}

/// A template of documents.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link()), check = check_places(body))]
pub struct DocumentTemplate {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What its documents are about.
    #[member(name = "resource", required, identifying)]
    pub subject: Subject,
    /// What kinds of files its documents can be.
    #[member(FilledSet(&FileType::SHAPE, FileType::CHOICES.len()), required)]
    pub file_types: Vec<FileType>,
    /// The size of a page; A4 if left out.
    #[member(default = PageSize::A4)]
    pub page_size: PageSize,
    /// Its text, with places such as {{entry.title}} that are filled in.
    #[member(Translated(DESCRIPTION_LENGTH), required)]
    pub body: Translated,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// The places of the text can be filled.
fn check_places(members: &mut Members<'_>, body: Option<&Translated>) {
    for (locale, text) in body.into_iter().flatten() {
        if let Err(message) = rules::places(text) {
            members.fault(&format!("body.{}", locale.code()), message);
        }
    }
}
