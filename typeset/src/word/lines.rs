//! What stands in a line: text, links and pictures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docx_rs::{BreakType, Hyperlink, HyperlinkType, Pic, Run, RunFonts, RunProperty, VertAlignType};
use typesetting::Fault;
use typst_html::{HtmlElement, HtmlNode};

use super::blocks::Writer;
use super::element::{attribute, mark, name, twentieths};

/// Parts of an inch of which a pixel of a picture has so many (ISO/IEC 29500-1, 20.1.2.1).
const PIXEL: f64 = 9_525.0;
/// The font of what is code.
const CODE: &str = "Courier New";
/// Parts of a twentieth of a point.
const TWENTIETH: f64 = 635.0;

/// What the prelude has for the number of a page and for that of the last one.
const PAGE: &str = "728190001";
const PAGES: &str = "728190002";

/// What marks text from right to left for [`super::package`]: the writer of XML has no word for it.
pub(super) const RIGHT_TO_LEFT: &str = "right-to-left";

/// How text looks.
#[derive(Clone, Default)]
pub(super) struct Look {
    run: RunProperty,
}

/// A line.
#[derive(Default)]
pub(super) struct Line {
    pub(super) pieces: Vec<Piece>,
    /// Where it stands: `center`, `right` or nothing.
    pub(super) align: Option<String>,
}

/// A piece of a line.
pub(super) enum Piece {
    Run(Box<Run>),
    /// The number of the page.
    Page,
    /// How many pages there are.
    Pages,
    Link(Box<Hyperlink>),
}

impl Line {
    /// Text, with what stands for numbers of pages.
    fn push_text(&mut self, text: &str, look: &Look) {
        for (number, piece) in [(PAGE, Piece::Page), (PAGES, Piece::Pages)] {
            if let Some((before, behind)) = text.split_once(number) {
                self.push_text(before, look);
                self.pieces.push(piece);
                return self.push_text(behind, look);
            }
        }
        if !text.is_empty() {
            self.push(look.text(text));
        }
    }

    fn push(&mut self, run: Run) {
        self.pieces.push(Piece::Run(Box::new(run)));
    }
}

impl Writer<'_> {
    /// Writes what stands in a line.
    pub(super) fn inline(&mut self, node: &HtmlNode, look: &Look, line: &mut Line) -> Result<(), Fault> {
        let element = match node {
            HtmlNode::Tag(_) => return Ok(()),
            HtmlNode::Text(text, _) => {
                // Blanks between blocks are no text.
                if !(line.pieces.is_empty() && text.trim().is_empty()) {
                    for (piece, index) in text.split('\n').zip(0..) {
                        if index > 0 {
                            line.push(Run::new().add_break(BreakType::TextWrapping));
                        }
                        line.push_text(piece, look);
                    }
                }
                return Ok(());
            }
            HtmlNode::Element(element) => element,
            HtmlNode::Frame(frame) => return Err(self.cannot("html.frame", frame.span)),
        };
        let mut look = look.clone();
        if let Some(align) = mark(element, "align") {
            line.align.get_or_insert_with(|| align.to_owned());
        }
        match name(element).as_str() {
            "strong" | "b" => look.change(RunProperty::bold),
            "em" | "i" => look.change(RunProperty::italic),
            "s" => look.change(RunProperty::strike),
            "u" => look.change(|run| run.underline("single")),
            "code" => look.change(|run| run.fonts(RunFonts::new().ascii(CODE).hi_ansi(CODE).cs(CODE))),
            "mark" => look.change(|run| run.highlight("yellow")),
            "sub" => look.change(|run| run.vert_align(VertAlignType::SubScript)),
            "sup" => look.change(|run| run.vert_align(VertAlignType::SuperScript)),
            "span" => {
                if mark(element, "tab").is_some() {
                    line.push(Run::new().add_tab());
                }
                look.read(element);
            }
            "br" => line.push(Run::new().add_break(BreakType::TextWrapping)),
            "img" => {
                let run = self.picture(element)?;
                line.push(run);
            }
            "a" => return self.link(element, &look, line),
            other => return Err(self.cannot(&format!("the element {other}"), element.span)),
        }
        element.children.iter().try_for_each(|node| self.inline(node, &look, line))
    }

    /// A link to another place; what leads to another part of the document is its text.
    fn link(&mut self, element: &HtmlElement, look: &Look, line: &mut Line) -> Result<(), Fault> {
        let mut linked = Line::default();
        element.children.iter().try_for_each(|node| self.inline(node, look, &mut linked))?;
        line.align = line.align.take().or(linked.align);
        match attribute(element, "href").filter(|address| !address.starts_with('#')) {
            None => line.pieces.append(&mut linked.pieces),
            Some(address) => {
                let mut whole = Hyperlink::new(address, HyperlinkType::External);
                for piece in linked.pieces {
                    if let Piece::Run(run) = piece {
                        whole = whole.add_run(run.underline("single").color("0563C1"));
                    }
                }
                line.pieces.push(Piece::Link(Box::new(whole)));
            }
        }
        Ok(())
    }

    fn picture(&mut self, element: &HtmlElement) -> Result<Run, Fault> {
        let source = attribute(element, "src").unwrap_or_default();
        let (kind, data) =
            source.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).unwrap_or_default();
        if !["image/png", "image/jpeg", "image/gif"].contains(&kind) {
            return Err(
                self.cannot(&format!("a picture of the type {kind}; PNG, JPEG and GIF can be shown"), element.span)
            );
        }
        let bytes = STANDARD.decode(data).map_err(|error| Fault::new(error.to_string()))?;
        let pixels =
            |name| attribute(element, name).and_then(|text| text.parse::<u32>().ok()).unwrap_or(1).clamp(1, 60_000);
        let (width, height) = (f64::from(pixels("width")), f64::from(pixels("height")));
        // As large as it is, or as the template says, and no larger than the page.
        let (widest, highest) = self.room();
        let styled = |name: &str, whole: f64| styled(attribute(element, "style").unwrap_or_default(), name, whole);
        let scale = match (styled("width", widest), styled("height", highest)) {
            (Some(wide), Some(high)) => (wide / width).min(high / height),
            (Some(wide), None) => wide / width,
            (None, Some(high)) => high / height,
            (None, None) => PIXEL,
        };
        let scale = scale.min(widest / width).min(highest / height);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a page")]
        let size = |pixels: f64| ((pixels * scale).round() as u32).max(1);
        self.alternatives.push(attribute(element, "alt").unwrap_or_default().to_owned());
        let picture = Pic::new_with_dimensions(bytes, 1, 1).size(size(width), size(height));
        Ok(Run::new().add_image(picture.id(format!("rIdPicture{}", self.alternatives.len()))))
    }

    /// The width and the height that a picture can have.
    fn room(&self) -> (f64, f64) {
        let [width, height] = self.page.room();
        (f64::from(width) * TWENTIETH, f64::from(height) * TWENTIETH)
    }
}

/// Whether a letter is of a script from right to left.
fn is_right_to_left(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}')
}

/// A text without the characters that XML has no place for (XML 1.0, 2.2).
pub(super) fn sound(text: &str) -> String {
    let is_sound = |letter: &char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(is_sound).collect()
}

/// A length of a style such as `width: 50%`, in parts of an inch.
fn styled(style: &str, name: &str, whole: f64) -> Option<f64> {
    let value = style.split(';').find_map(|rule| rule.trim().strip_prefix(name)?.strip_prefix(':'))?.trim();
    if let Some(ratio) = value.strip_suffix('%') {
        return ratio.parse::<f64>().ok().map(|ratio| ratio / 100.0 * whole);
    }
    value.strip_suffix("pt").and_then(|points| points.parse::<f64>().ok()).map(|points| points * 20.0 * TWENTIETH)
}

impl Look {
    /// A bold one.
    pub(super) fn bold(mut self) -> Self {
        self.change(RunProperty::bold);
        self
    }

    fn change(&mut self, change: impl FnOnce(RunProperty) -> RunProperty) {
        self.run = change(std::mem::take(&mut self.run));
    }

    /// What an element says of its text.
    fn read(&mut self, element: &HtmlElement) {
        let style = attribute(element, "style").unwrap_or_default();
        if style.contains("underline") {
            self.change(|run| run.underline("single"));
        }
        if style.contains("small-caps") {
            self.change(RunProperty::caps);
        }
        if mark(element, "italic").is_some() {
            self.change(RunProperty::italic);
        }
        if let Some(fill) = mark(element, "fill") {
            self.change(|run| run.color(fill.to_uppercase()));
        }
        if mark(element, "bold").is_some() {
            self.change(RunProperty::bold);
        }
        // It has twice the points.
        if let Some(size) = mark(element, "size").and_then(twentieths).and_then(|size| usize::try_from(size / 10).ok())
        {
            self.change(|run| run.size(size));
        }
    }

    fn text(&self, text: &str) -> Run {
        let mut run = Run::new().add_text(sound(text));
        run.run_property = self.run.clone();
        if text.chars().any(is_right_to_left) { run.style(RIGHT_TO_LEFT) } else { run }
    }
}
