//! The file: styles, numbers, pages, and the parts in an archive.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use docx_rs::{
    Docx, Footer, Header, LineSpacing, PageMargin, PageOrientationType, RunFonts, Style, StyleType, XMLDocx,
};
use typesetting::{Fault, Request};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::blocks::{Block, Writer};
use super::lines::{RIGHT_TO_LEFT, sound};
use super::lists::numbered;
use super::order::ordered;

/// How far headers and footers are from the edge of the page, in twentieths of a point.
const EDGE: i32 = 708;
/// The font of the text: one that comes with Word, and of what is not in its letters.
const FONT: &str = "Cambria";
/// What the writer of XML writes for a picture, a table and defaults, and what becomes of it.
const PICTURE: &str = "<wp:docPr id=\"1\" name=\"Figure\" />";
const TABLE: &str = "<w:tblPr>";
const DEFAULTS: (&str, &str) = ("</w:rPr></w:rPrDefault>", "<w:pPrDefault><w:pPr>");

/// The file of a document.
pub(super) fn write(mut writer: Writer<'_>, blocks: Vec<Block>, request: &Request) -> Result<Vec<u8>, Fault> {
    let [above, right, below, left] = writer.page.margins;
    let margin = PageMargin { top: above, right, bottom: below, left, header: EDGE, footer: EDGE, gutter: 0 };
    let size = |length: i32| u32::try_from(length).unwrap_or_default();
    let mut docx = styled(Docx::new()).page_size(size(writer.page.width), size(writer.page.height)).page_margin(margin);
    if writer.page.width > writer.page.height {
        docx = docx.page_orient(PageOrientationType::Landscape);
    }
    docx = numbered(docx, &writer.counted);
    if let Some(blocks) = writer.header.take() {
        docx = docx.header(blocks.into_iter().fold(Header::new(), |header, block| match block {
            Block::Paragraph(paragraph) => header.add_paragraph(*paragraph),
            Block::Table(table) => header.add_table(*table),
        }));
    }
    if let Some(blocks) = writer.footer.take() {
        docx = docx.footer(blocks.into_iter().fold(Footer::new(), |footer, block| match block {
            Block::Paragraph(paragraph) => footer.add_paragraph(*paragraph),
            Block::Table(table) => footer.add_table(*table),
        }));
    }
    for block in blocks {
        docx = match block {
            Block::Paragraph(paragraph) => docx.add_paragraph(*paragraph),
            Block::Table(table) => docx.add_table(*table),
        };
    }
    let time = request.time;
    let time = format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", time.0, time.1, time.2, time.3, time.4, time.5);
    let mut parts = docx.created_at(&time).updated_at(&time).build();
    complete(&mut parts, &writer, request);
    archive(parts).map_err(|error| Fault::new(error.to_string()))
}

fn styled(docx: Docx) -> Docx {
    let fonts = RunFonts::new().ascii(FONT).hi_ansi(FONT).cs("Times New Roman");
    let docx = docx.default_fonts(fonts).default_size(22).default_line_spacing(LineSpacing::new().after(120));
    // How large they are, the template says.
    let title = Style::new("Title", StyleType::Paragraph).name("Title");
    let mut docx = docx.add_style(title.line_spacing(LineSpacing::new().after(240)));
    for level in 1..=6 {
        let style = Style::new(format!("Heading{level}"), StyleType::Paragraph).name(format!("heading {level}"));
        docx = docx.add_style(style.outline_lvl(level - 1).line_spacing(LineSpacing::new().before(240).after(80)));
    }
    docx.add_style(Style::new("Caption", StyleType::Paragraph).name("caption").italic())
}

/// What the writer of XML has no words for: the title, the languages, the direction, and what is said for pictures.
fn complete(parts: &mut XMLDocx, writer: &Writer<'_>, request: &Request) {
    let title = format!("<dc:title>{}</dc:title></cp:coreProperties>", escaped(&request.title));
    replace(&mut parts.doc_props.core, "</cp:coreProperties>", &title);
    for _ in ["dc:creator", "cp:lastModifiedBy"] {
        replace(&mut parts.doc_props.core, ">unknown<", ">Plaudit<");
    }
    let language =
        request.region.as_ref().map_or(request.language.clone(), |region| format!("{}-{region}", request.language));
    let paragraphs = if writer.is_right_to_left { "<w:bidi/>" } else { "" };
    let language = escaped(&language);
    let runs = format!("<w:lang w:val=\"{language}\" w:eastAsia=\"{language}\" w:bidi=\"{language}\"/>{}", DEFAULTS.0);
    replace(&mut parts.styles, DEFAULTS.0, &runs);
    replace(&mut parts.styles, DEFAULTS.1, &format!("{}{paragraphs}", DEFAULTS.1));
    let mut said = writer.alternatives.iter().zip(1..);
    // The pages are read before the text.
    for part in parts.headers.iter_mut().chain(&mut parts.footers).chain([&mut parts.document]) {
        let text = String::from_utf8_lossy(part).into_owned();
        let mut pieces = text.split(PICTURE);
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (alternative, number) = said.next().map_or(("", 0), |(said, number)| (said.as_str(), number));
            let alternative = escaped(alternative);
            let _ = write!(whole, "<wp:docPr id=\"{number}\" name=\"Figure {number}\" descr=\"{alternative}\"/>");
            whole.push_str(piece);
        }
        whole = whole.replace(&format!("<w:rStyle w:val=\"{RIGHT_TO_LEFT}\" />"), "<w:rtl/>");
        if writer.is_right_to_left {
            whole = whole.replace(TABLE, &format!("{TABLE}<w:bidiVisual/>"));
        }
        *part = ordered(&whole).into_bytes();
    }
    for part in [&mut parts.styles, &mut parts.numberings, &mut parts.settings] {
        *part = ordered(&String::from_utf8_lossy(part)).into_bytes();
    }
}

/// Names pictures by what they are: the writer of XML knows one kind.
fn name_pictures(parts: &mut XMLDocx) -> Vec<(String, Vec<u8>)> {
    let kinds: [(&[u8], &str); 2] = [(b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif")];
    let named = std::mem::take(&mut parts.media).into_iter().map(|(id, bytes)| {
        let kind = kinds.iter().find(|(beginning, _)| bytes.starts_with(beginning)).map_or("png", |(_, kind)| kind);
        let (before, name) = (format!("media/{id}.png"), format!("media/{id}.{kind}"));
        for rels in parts.header_rels.iter_mut().chain(&mut parts.footer_rels).chain([&mut parts.document_rels]) {
            replace(rels, &before, &name);
        }
        (format!("word/{name}"), bytes)
    });
    named.collect()
}

fn replace(part: &mut Vec<u8>, from: &str, to: &str) {
    *part = String::from_utf8_lossy(part).replacen(from, to, 1).into_bytes();
}

fn escaped(text: &str) -> String {
    sound(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The parts, each with its name, in an archive that is the same whenever it is written.
fn archive(mut parts: XMLDocx) -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let pictures = name_pictures(&mut parts);
    let numbered = |name: &'static str, parts: Vec<Vec<u8>>| {
        parts.into_iter().zip(1..).map(move |(part, number)| (name.replace('#', &format!("{number}")), part))
    };
    let named = [
        ("[Content_Types].xml", parts.content_type),
        ("_rels/.rels", parts.rels),
        ("docProps/app.xml", parts.doc_props.app),
        ("docProps/core.xml", parts.doc_props.core),
        ("docProps/custom.xml", parts.doc_props.custom),
        ("word/_rels/document.xml.rels", parts.document_rels),
        ("word/document.xml", parts.document),
        ("word/styles.xml", parts.styles),
        ("word/settings.xml", parts.settings),
        ("word/fontTable.xml", parts.font_table),
        ("word/comments.xml", parts.comments),
        ("word/numbering.xml", parts.numberings),
        ("word/commentsExtended.xml", parts.comments_extended),
        ("word/footnotes.xml", parts.footnotes),
    ];
    let parts = named
        .into_iter()
        .map(|(name, part)| (name.to_owned(), part))
        .chain(numbered("word/_rels/header#.xml.rels", parts.header_rels).take(parts.headers.len()))
        .chain(numbered("word/header#.xml", parts.headers))
        .chain(numbered("word/_rels/footer#.xml.rels", parts.footer_rels).take(parts.footers.len()))
        .chain(numbered("word/footer#.xml", parts.footers))
        .chain(pictures);
    for (name, part) in parts {
        zip.start_file(name, packed)?;
        zip.write_all(&part)?;
    }
    Ok(zip.finish()?.into_inner())
}
