//! Makes documents of templates in Typst markup: PDF, accessible PDF and Word.
//!
//! - A template sees what it is about, its own files, and the fonts of the system and of the typesetter ([`fonts`]). It reads no
//!   other file, no package and nothing of the network (`world`).
//! - A document has every character that it is of: where no font has one, that is a fault.
//! - PDFs are tagged, so that they can be read aloud; an accessible one is refused where it breaks a rule of PDF/UA-1 (`pages`).
//! - Word gets headings, paragraphs, lists, tables, pictures, links and emphasis; what it cannot show is a fault (`word`).
//! - The same request gives the same bytes.

pub mod fonts;

mod clusters;
mod pages;
mod pictures;
mod word;
mod world;

use typesetting::{Fault, Format, Request};
use typst::Library;
use typst::utils::LazyHash;

use self::fonts::{Fonts, OwnFonts};
use self::world::TemplateWorld;

pub use self::world::Files;

/// For how many documents the compiler keeps what it has worked out and has not used again.
const KEPT: usize = 3;

/// Makes documents, one after the other.
pub struct Typesetter {
    library: LazyHash<Library>,
    fonts: Fonts,
    own_fonts: OwnFonts,
}

impl Typesetter {
    /// One that has these fonts.
    pub fn new(fonts: Fonts) -> Self {
        Self { library: world::library(), fonts, own_fonts: OwnFonts::default() }
    }

    /// Makes the document of a request and its files.
    pub fn make(&mut self, request: &Request, files: Files) -> Result<Vec<u8>, Fault> {
        let world = TemplateWorld::new(request, files, &self.library, &self.fonts, &mut self.own_fonts)?;
        let made = match request.format {
            Format::Pdf => pages::pdf(&world, false),
            Format::AccessiblePdf => pages::pdf(&world, true),
            Format::Word => word::docx(&world, request),
        };
        comemo::evict(KEPT);
        let made = made?;
        if made.len() > typesetting::LONGEST {
            return Err(Fault::new(format!("the document has more than {} MB", typesetting::LONGEST >> 20)));
        }
        Ok(made)
    }
}
