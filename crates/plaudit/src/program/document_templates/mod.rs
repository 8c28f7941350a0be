//! Document templates: what documents about an entry or a person are made of: certificates, letters, invoices.
//!
//! - A template is for documents about an `entry` or a `user`, and for at least one type of file.
//! - Its body is text with places such as `{{entry.title}}` that are filled when a document is made. What stands between
//!   the braces is a path of names with dots; the first is `account`, `entry`, `season` or `user`.
//! - Document templates are set up by program files.

mod members;
mod rules;

pub use rules::places;

use super::choice::choices;
use super::{Context, Member, SetupRecord};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentTemplate {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Translated,
    /// What its documents are about; the member `resource`.
    pub subject: Subject,
    /// The types of files that can be made of it.
    pub file_types: Vec<FileType>,
    /// The size of a page.
    pub page_size: PageSize,
    /// What a document says.
    pub body: Translated,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for DocumentTemplate {
    const KIND: Kind = Kind::DocumentTemplate;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let subject = members.required("resource", input::one_of(Subject::CHOICES));
        let types = input::distinct(FileType::CHOICES.len(), input::one_of(FileType::CHOICES));
        let file_types = members.required("file_types", types);
        if file_types.as_ref().is_some_and(Vec::is_empty) {
            members.fault("file_types", "must have at least 1 item");
        }
        let page_size = members.optional("page_size", input::one_of(PageSize::CHOICES));
        let body = members.required("body", input::translated(&context.languages, DESCRIPTION_LENGTH));
        for (locale, text) in body.iter().flat_map(Translated::iter) {
            if let Err(message) = rules::places(text) {
                members.fault(&format!("body.{}", locale.code()), message);
            }
        }
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            name: name?,
            subject: subject?,
            file_types: file_types?,
            page_size: page_size.unwrap_or(PageSize::A4),
            body: body?,
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.locales("name", &self.name);
        object.text("resource", self.subject.name());
        object.texts("file_types", self.file_types.iter().map(|file_type| file_type.name()));
        object.text("page_size", self.page_size.name());
        object.locales("body", &self.body);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }
}
