//! What the tests have in common.
#![allow(clippy::panic, clippy::unwrap_used, dead_code, reason = "helpers of tests, and each test takes what it needs")]

use std::io::{Cursor, Read as _};

use plaudit_typeset::fonts::Fonts;
use plaudit_typeset::{Files, Typesetter};
use serde_json::{Map, Value};
use typesetting::{Fault, Format, Request};

pub(crate) const FORMATS: [Format; 3] = [Format::Pdf, Format::AccessiblePdf, Format::Word];

/// A request for a PDF in English.
pub(crate) fn request(template: &str) -> Request {
    Request {
        template: template.to_owned(),
        data: Map::new(),
        format: Format::Pdf,
        paper: "a4".to_owned(),
        language: "en".to_owned(),
        region: Some("GB".to_owned()),
        title: "A document".to_owned(),
        time: (2026, 1, 31, 12, 0, 0),
        files: Vec::new(),
        pictures: Vec::new(),
    }
}

/// All that a template can find.
pub(crate) fn sample() -> Map<String, Value> {
    serde_json::from_str(include_str!("../sample.json")).unwrap()
}

/// A typesetter with the fonts that it carries, so that every machine has the same.
pub(crate) fn typesetter() -> Typesetter {
    Typesetter::new(Fonts::carried())
}

pub(crate) trait MadeOf {
    /// Makes the document of a request, whose files and pictures have these bytes.
    fn made_of(&mut self, request: &Request, parts: Vec<Vec<u8>>) -> Result<Vec<u8>, Fault>;
}

impl MadeOf for Typesetter {
    fn made_of(&mut self, request: &Request, parts: Vec<Vec<u8>>) -> Result<Vec<u8>, Fault> {
        let mut parts = parts.into_iter();
        let files = Files::read(request, || Ok(parts.next().unwrap_or_default())).unwrap();
        self.make(request, files)
    }
}

pub(crate) fn made(template: &str) -> Result<Vec<u8>, Fault> {
    typesetter().made_of(&request(template), Vec::new())
}

pub(crate) fn fault(template: &str) -> Fault {
    refused(made(template))
}

/// The fault, where there must be one; a document is not printed.
pub(crate) fn refused(made: Result<Vec<u8>, Fault>) -> Fault {
    made.map(|made| made.len()).unwrap_err()
}

/// A part of a document of Word.
pub(crate) fn part(docx: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(docx)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Whether every part of a document of Word can be read, and is what the others say of it (ISO/IEC 29500-2).
pub(crate) fn check_word(docx: &[u8]) {
    let mut archive = zip::ZipArchive::new(Cursor::new(docx)).unwrap();
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let mut endings = Vec::new();
    for name in names.iter().filter(|name| [".xml", ".rels"].iter().any(|ending| name.ends_with(ending))) {
        let mut text = String::new();
        archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        for node in document.descendants() {
            let read = |attribute| node.attribute(attribute).unwrap_or_default();
            match node.tag_name().name() {
                "Default" => endings.push(read("Extension").to_owned()),
                "Override" => assert!(names.contains(&read("PartName")[1..].to_owned()), "{}", read("PartName")),
                "Relationship" if read("TargetMode") != "External" => {
                    let folder = if name.starts_with("word/") { "word/" } else { "" };
                    assert!(names.contains(&format!("{folder}{}", read("Target"))), "{name}: {}", read("Target"));
                }
                _ => {}
            }
        }
    }
    let all = endings.len();
    endings.sort();
    endings.dedup();
    assert_eq!(endings.len(), all, "each ending has one type: {endings:?}");
    for name in &names {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        assert!(endings.contains(&ending.to_owned()), "{name} has no type");
    }
}

/// What a document of Word says, a paragraph a line.
pub(crate) fn text(docx: &[u8]) -> String {
    let text = part(docx, "word/document.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let paragraphs = document.descendants().filter(|node| node.tag_name().name() == "p");
    let lines = paragraphs.map(|paragraph| {
        let texts = paragraph.descendants().filter(|node| node.tag_name().name() == "t");
        texts.filter_map(|node| node.text()).collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A picture of one colour.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([31, 58, 95]));
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

pub(crate) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([138, 109, 31]));
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
    bytes.into_inner()
}
