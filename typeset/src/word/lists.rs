//! Lists.

use docx_rs::{
    AbstractNumbering, Docx, IndentLevel, Level, LevelJc, LevelText, NumberFormat, Numbering, NumberingId, Paragraph,
    SpecialIndentType, Start,
};
use typesetting::Fault;
use typst_html::HtmlElement;

use super::blocks::{Block, INDENT, Place, Writer};
use super::element::{attribute, children, name};

/// The number of the lists that are not counted; each one that is has a number of its own. The writer of XML has given away the first.
const BULLETS: usize = 2;
/// How deep lists are.
const LEVELS: usize = 9;
/// How numbers are written, by the letter of a pattern.
const FORMATS: [(char, &str); 5] =
    [('1', "decimal"), ('a', "lowerLetter"), ('A', "upperLetter"), ('i', "lowerRoman"), ('I', "upperRoman")];

/// A list that is counted.
pub(super) struct Counted {
    /// Its first number.
    first: usize,
    format: &'static str,
    /// What stands before a number and behind it.
    around: (String, String),
}

impl Writer<'_> {
    /// A list, with the pattern by which it is counted.
    pub(super) fn list(
        &mut self,
        element: &HtmlElement,
        pattern: Option<&str>,
        place: &mut Place,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Fault> {
        let level = place.depth();
        if level >= LEVELS {
            return Err(self.cannot(&format!("lists that are more than {LEVELS} deep"), element.span));
        }
        // The compiler counts the notes and the contents in their text.
        let is_plain = attribute(element, "style").is_some_and(|style| style.contains("list-style-type: none"));
        let is_counted = name(element) == "ol" && !is_plain;
        let number_of = |element, name| attribute(element, name).and_then(|number| number.parse::<usize>().ok());
        let mut next = number_of(element, "start").unwrap_or(1);
        let mut list = if is_plain { None } else { Some(BULLETS) };
        for (item, index) in children(element).zip(0..) {
            let number = number_of(item, "value").unwrap_or(next);
            if is_counted && (index == 0 || number != next) {
                let Some((format, around)) = read(pattern.unwrap_or("1."), level) else {
                    return Err(self.cannot(&format!("the numbering {}", pattern.unwrap_or_default()), element.span));
                };
                self.counted.push(Counted { first: number, format, around });
                list = Some(BULLETS + self.counted.len());
            }
            next = number + 1;
            self.blocks(&item.children, place.of_item(list), blocks)?;
        }
        place.end_item();
        Ok(())
    }
}

/// How a pattern such as `1.a)` writes the numbers of a level, and what it has around them.
fn read(pattern: &str, level: usize) -> Option<(&'static str, (String, String))> {
    let format = |letter: char| FORMATS.iter().find(|(known, _)| *known == letter).map(|(_, format)| *format);
    let mut numbers = Vec::new();
    let mut before = String::new();
    for letter in pattern.chars() {
        match format(letter) {
            Some(format) => numbers.push((format, std::mem::take(&mut before))),
            None if letter.is_alphanumeric() || letter == '*' => return None,
            None => before.push(letter),
        }
    }
    let last = numbers.len().checked_sub(1)?;
    let at = level.min(last);
    // What stands between two numbers is behind the first one.
    let behind = numbers.get(at + 1).map_or(before, |(_, between)| between.clone());
    let (format, before) = numbers.swap_remove(at);
    Some((format, (if at == 0 { before } else { String::new() }, behind)))
}

/// Makes a paragraph the beginning of an item.
pub(super) fn begin(paragraph: Paragraph, (list, level): (usize, usize)) -> Paragraph {
    paragraph.numbering(NumberingId::new(list), IndentLevel::new(level))
}

/// Adds the lists.
pub(super) fn numbered(docx: Docx, counted: &[Counted]) -> Docx {
    let bullets = Counted { first: 1, format: "bullet", around: ("•".to_owned(), String::new()) };
    std::iter::once(&bullets).chain(counted).zip(BULLETS..).fold(docx, |docx, (list, number)| {
        docx.add_abstract_numbering(levels(list, number)).add_numbering(Numbering::new(number, number))
    })
}

fn levels(list: &Counted, number: usize) -> AbstractNumbering {
    let (before, behind) = &list.around;
    (0..LEVELS).fold(AbstractNumbering::new(number), |numbering, level| {
        let indent = INDENT * i32::try_from(level + 1).unwrap_or(1);
        let text = match list.format {
            "bullet" => before.clone(),
            _ => format!("{before}%{}{behind}", level + 1),
        };
        let (first, format) = (Start::new(list.first), NumberFormat::new(list.format));
        let shown = Level::new(level, first, format, LevelText::new(text), LevelJc::new("left"));
        numbering.add_level(shown.indent(Some(indent), Some(SpecialIndentType::Hanging(INDENT)), None, None))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read() {
        let around = |before: &str, behind: &str| (before.to_owned(), behind.to_owned());
        assert_eq!(read("1.", 0), Some(("decimal", around("", "."))));
        assert_eq!(read("(a)", 3), Some(("lowerLetter", around("(", ")"))));
        assert_eq!(read("1.a)", 0), Some(("decimal", around("", "."))));
        assert_eq!(read("1.a)", 1), Some(("lowerLetter", around("", ")"))));
        assert_eq!(read("- I -", 0), Some(("upperRoman", around("- ", " -"))));
        for unknown in ["", "一", "*", "x"] {
            assert_eq!(read(unknown, 0), None, "{unknown}");
        }
    }
}
