//! Documents as PDF.

use typesetting::Fault;
use typst::foundations::Smart;
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards, Timestamp};

use crate::clusters;
use crate::fonts::Missing;
use crate::world::TemplateWorld;

/// The PDF of a template.
pub(crate) fn pdf(world: &TemplateWorld<'_>, is_accessible: bool) -> Result<Vec<u8>, Fault> {
    let document = typst::compile::<PagedDocument>(world).output.map_err(|errors| world.first_fault(&errors))?;
    let mut missing = Missing::default();
    for page in document.pages() {
        missing.collect(&page.frame);
    }
    if let Some(fault) = missing.fault() {
        return Err(fault);
    }
    let document = clusters::whole(document);
    let standards: &[PdfStandard] = if is_accessible { &[PdfStandard::Ua_1] } else { &[] };
    let options = PdfOptions {
        creator: Smart::Custom(Some("Plaudit".to_owned())),
        timestamp: world.now().map(Timestamp::new_utc),
        standards: PdfStandards::new(standards).map_err(|error| Fault::new(error.message().as_str()))?,
        ..PdfOptions::default()
    };
    typst_pdf::pdf(&document, &options).map_err(|errors| world.first_fault(&errors))
}
