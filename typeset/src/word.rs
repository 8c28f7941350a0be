//! Documents of Microsoft Word.
//!
//! - The compiler gives a tree of elements as those of HTML, and each has its like in Word. What has none is a fault that names it,
//!   never left out.
//! - What HTML has no element for (the pages, alignment, size and colour) the prelude marks with attributes ([`element`]).
//! - Where on a page something stands is no matter of Word: it is shown where it comes.

mod blocks;
mod element;
mod lines;
mod lists;
mod order;
mod package;
mod tables;

use typesetting::{Fault, Request};
use typst::diag::SourceDiagnostic;
use typst_html::HtmlDocument;

use self::blocks::Writer;
use self::element::child;
use crate::world::TemplateWorld;

/// Of what the compiler warns without harm to what is said: the prelude reads the pages, and the rest is no loss.
const HARMLESS: [&str; 4] =
    ["html export is under active development", "page set rule", "heading of level", "unknown font family"];

/// The languages that are written from right to left.
const RIGHT_TO_LEFT: [&str; 10] = ["ar", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur"];

/// The document of Word of a template.
pub(crate) fn docx(world: &TemplateWorld<'_>, request: &Request) -> Result<Vec<u8>, Fault> {
    let compiled = typst::compile::<HtmlDocument>(world);
    let document = compiled.output.map_err(|errors| world.first_fault(&errors))?;
    let is_harmless = |warning: &&SourceDiagnostic| HARMLESS.iter().any(|harmless| warning.message.contains(harmless));
    if let Some(left_out) = compiled.warnings.iter().find(|warning| !is_harmless(warning)) {
        let fault = world.fault(left_out);
        let what = fault.message.replace(" was ignored during HTML export", "");
        return Err(Fault { message: format!("Word cannot show this: {what}"), ..fault });
    }
    let mut writer = Writer::new(world, RIGHT_TO_LEFT.contains(&request.language.as_str()));
    let body = child(document.root(), "body").unwrap_or_else(|| document.root());
    let blocks = writer.document(&body.children)?;
    package::write(writer, blocks, request)
}
