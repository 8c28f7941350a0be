//! Puts letters together again that the layout takes apart.
//!
//! The layout begins a new piece of text with each glyph that is set higher or lower, such as a vowel sign below its consonant. Both
//! pieces have the whole letter as their text then, and whoever copies it or has it read aloud gets it twice.

use typst::layout::{Em, Frame, FrameItem, GroupItem, Point};
use typst::model::Document as _;
use typst::text::{Glyph, TextItem};
use typst_layout::PagedDocument;

/// The same document, with each letter in one piece.
pub(crate) fn whole(document: PagedDocument) -> PagedDocument {
    if !document.pages().iter().any(|page| is_parted(&page.frame)) {
        return document;
    }
    let pages = document.pages().iter().cloned().map(|mut page| {
        page.frame = put_together(&page.frame);
        page
    });
    PagedDocument::new(pages.collect(), document.info().clone())
}

fn is_parted(frame: &Frame) -> bool {
    let mut before = None;
    frame.items().any(|(place, item)| match item {
        FrameItem::Group(group) => is_parted(&group.frame),
        FrameItem::Text(text) => {
            before.replace((place, text)).is_some_and(|before| parted(before, (place, text)).is_some())
        }
        _ => {
            before = None;
            false
        }
    })
}

fn put_together(frame: &Frame) -> Frame {
    let mut made = frame.clone();
    made.clear();
    let mut before: Option<(Point, TextItem)> = None;
    for (place, item) in frame.items() {
        if let FrameItem::Text(text) = item
            && let Some((first, begun)) = &mut before
            && let Some((last, next)) = parted((first, begun), (place, text))
        {
            let shift = i32::from(last.range.start) - i32::from(next.range.start);
            join(begun, text, shift, Em::from_abs(first.y - place.y, text.size));
            continue;
        }
        if let Some((place, text)) = before.take() {
            made.push(place, FrameItem::Text(text));
        }
        match item {
            FrameItem::Text(text) => before = Some((*place, text.clone())),
            FrameItem::Group(group) => {
                let frame = put_together(&group.frame);
                made.push(*place, FrameItem::Group(GroupItem { frame, ..group.clone() }));
            }
            item => made.push(*place, item.clone()),
        }
    }
    if let Some((place, text)) = before {
        made.push(place, FrameItem::Text(text));
    }
    made
}

/// The glyphs between which a letter was taken apart: they come from the same place of the source.
fn parted<'t>(
    (first, before): (&Point, &'t TextItem),
    (place, text): (&Point, &'t TextItem),
) -> Option<(&'t Glyph, &'t Glyph)> {
    let (last, next) = (before.glyphs.last()?, text.glyphs.first()?);
    let is_one = last.span == next.span
        && first.y != place.y
        && before.text.get(last.range()) == text.text.get(next.range())
        && (&before.font, before.size, &before.fill, &before.stroke)
            == (&text.font, text.size, &text.fill, &text.stroke);
    is_one.then_some((last, next))
}

/// Adds a piece of which the text begins so far behind that of the other, and which is so much higher.
fn join(begun: &mut TextItem, text: &TextItem, shift: i32, higher: Em) {
    let (before, behind) = (usize::try_from(-shift).unwrap_or(0), usize::try_from(shift).unwrap_or(0));
    let moved = |range: &std::ops::Range<u16>, by: usize| {
        let by = u16::try_from(by).unwrap_or(u16::MAX);
        range.start.saturating_add(by)..range.end.saturating_add(by)
    };
    for glyph in &mut begun.glyphs {
        glyph.range = moved(&glyph.range, before);
    }
    for glyph in &text.glyphs {
        let range = moved(&glyph.range, behind);
        begun.glyphs.push(Glyph { range, y_offset: glyph.y_offset + higher, ..glyph.clone() });
    }
    let mut whole = text.text.get(..before).unwrap_or_default().to_owned();
    whole.push_str(&begun.text);
    let known = whole.len().saturating_sub(behind);
    whole.push_str(text.text.get(known..).unwrap_or_default());
    begun.text = whole.into();
}

#[cfg(test)]
mod tests {
    use typesetting::{Format, Request};

    use super::*;
    use crate::fonts::{Fonts, OwnFonts};
    use crate::world::{self, Files, TemplateWorld};

    fn texts(frame: &Frame, all: &mut String) {
        for (_, item) in frame.items() {
            match item {
                FrameItem::Group(group) => texts(&group.frame, all),
                FrameItem::Text(text) => {
                    assert!(text.glyphs.iter().all(|glyph| text.text.get(glyph.range()).is_some()));
                    all.push_str(&text.text);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_letter_is_said_once() {
        for text in ["aq\u{303}b", "q\u{303}q\u{303}"] {
            let request = Request {
                template: text.to_owned(),
                data: serde_json::Map::new(),
                format: Format::Pdf,
                paper: "a4".to_owned(),
                language: "en".to_owned(),
                region: None,
                title: "Letters".to_owned(),
                time: (2026, 1, 31, 12, 0, 0),
                files: Vec::new(),
                pictures: Vec::new(),
            };
            let files = Files::read(&request, || Ok(Vec::new())).unwrap();
            let (library, fonts, mut own) = (world::library(), Fonts::carried(), OwnFonts::default());
            let world = TemplateWorld::new(&request, files, &library, &fonts, &mut own).unwrap();
            let document = typst::compile::<PagedDocument>(&world).output.unwrap();
            assert!(is_parted(&document.pages()[0].frame), "{text}");
            let document = whole(document);
            assert!(!is_parted(&document.pages()[0].frame), "{text}");
            let mut said = String::new();
            texts(&document.pages()[0].frame, &mut said);
            assert_eq!(said.chars().count(), text.chars().count(), "{said}, {text}");
        }
    }
}
