//! What stands one below the other: headings, paragraphs, lists, tables.

use docx_rs::{
    AlignmentType, BorderType, Paragraph, ParagraphBorder, ParagraphBorderPosition, ParagraphBorders, Table,
};
use docx_rs::{BreakType, LineSpacing, LineSpacingType, NumPages, PageNum, Run};
use typesetting::Fault;
use typst::syntax::Span;
use typst_html::{HtmlElement, HtmlNode};

use super::element::{attribute, child, children, is_inline, mark, name, twentieths};
use super::lines::{Line, Look, Piece};
use super::lists::{Counted, begin};
use crate::world::TemplateWorld;

/// How far a level stands in, in twentieths of a point.
pub(super) const INDENT: i32 = 360;
/// What is between two tables, in twentieths of a point.
const GAP: i32 = 120;

/// A block.
pub(super) enum Block {
    Paragraph(Box<Paragraph>),
    Table(Box<Table>),
}

/// Where a block stands.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// The list that the next paragraph begins an item of, and its level.
    item: Option<(usize, usize)>,
    /// How far it stands in.
    indent: i32,
    /// How deep the lists around it are.
    depth: usize,
    /// How its text looks.
    look: Look,
    /// Whether it is a cell of a table, whose paragraphs stand closer.
    is_cell: bool,
}

impl Place {
    /// A cell of a table.
    pub(super) fn in_cell(is_header: bool) -> Self {
        let look = if is_header { Look::default().bold() } else { Look::default() };
        Self { look, is_cell: true, ..Self::default() }
    }

    /// An item of a list, or of one without marks.
    pub(super) fn of_item(&self, list: Option<usize>) -> Self {
        let indent = INDENT * i32::try_from(self.depth + 1).unwrap_or(1);
        Self { item: list.map(|list| (list, self.depth)), indent, depth: self.depth + 1, ..self.clone() }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// What follows begins no item.
    pub(super) fn end_item(&mut self) {
        self.item = None;
    }
}

/// The page, in twentieths of a point.
pub(super) struct Page {
    pub(super) width: i32,
    pub(super) height: i32,
    /// Above, to the right, below and to the left.
    pub(super) margins: [i32; 4],
}

impl Page {
    /// What there is within the margins.
    pub(super) fn room(&self) -> [i32; 2] {
        let [above, right, below, left] = self.margins;
        [(self.width - left - right).max(INDENT), (self.height - above - below).max(INDENT)]
    }
}

/// Writes blocks.
pub(super) struct Writer<'w> {
    world: &'w TemplateWorld<'w>,
    pub(super) is_right_to_left: bool,
    pub(super) page: Page,
    /// What stands above and below the text of each page.
    pub(super) header: Option<Vec<Block>>,
    pub(super) footer: Option<Vec<Block>>,
    /// The lists that are counted.
    pub(super) counted: Vec<Counted>,
    paragraphs: u32,
    /// What is said for each picture to those who do not see it, in the order of the pictures.
    pub(super) alternatives: Vec<String>,
}

impl<'w> Writer<'w> {
    pub(super) fn new(world: &'w TemplateWorld<'w>, is_right_to_left: bool) -> Self {
        Self {
            world,
            is_right_to_left,
            page: Page { width: 11_906, height: 16_838, margins: [1_417; 4] },
            header: None,
            footer: None,
            counted: Vec::new(),
            paragraphs: 0,
            alternatives: Vec::new(),
        }
    }

    /// Where something stands in its line, by what the template says; nothing for where lines begin.
    pub(super) fn side(&self, align: Option<&str>) -> Option<AlignmentType> {
        match (align, self.is_right_to_left) {
            (Some("center"), _) => Some(AlignmentType::Center),
            (Some("end"), _) | (Some("right"), false) | (Some("left"), true) => Some(AlignmentType::End),
            _ => None,
        }
    }

    /// What Word has nothing like.
    pub(super) fn cannot(&self, what: &str, span: Span) -> Fault {
        self.world.fault_at(format!("Word cannot show {what}"), span)
    }

    /// The whole document. What the prelude says of the pages stands behind it and is read first.
    pub(super) fn document(&mut self, nodes: &[HtmlNode]) -> Result<Vec<Block>, Fault> {
        self.read_pages(nodes)?;
        let mut blocks = Vec::new();
        self.blocks(nodes, Place::default(), &mut blocks)?;
        Ok(blocks)
    }

    fn read_pages(&mut self, nodes: &[HtmlNode]) -> Result<(), Fault> {
        for node in nodes.iter().rev() {
            let HtmlNode::Element(element) = node else { continue };
            if mark(element, "page").is_some() {
                self.read_page(element)?;
            } else if mark(element, "part").is_none() {
                self.read_pages(&element.children)?;
            }
        }
        Ok(())
    }

    fn read_page(&mut self, element: &HtmlElement) -> Result<(), Fault> {
        let length = |name: &str, default| mark(element, name).and_then(twentieths).unwrap_or(default);
        let (width, height) = (length("width", self.page.width), length("height", self.page.height));
        let margin = f64::from(width.min(height)) * 2.5 / 21.0;
        #[expect(clippy::cast_possible_truncation, reason = "a part of a page")]
        let margins = ["top", "right", "bottom", "left"].map(|side| length(side, margin.round() as i32));
        self.page = Page { width, height, margins };
        for part in children(element) {
            let mut blocks = Vec::new();
            self.blocks(&part.children, Place::default(), &mut blocks)?;
            match mark(part, "part") {
                Some("header") => self.header = Some(blocks),
                _ => self.footer = Some(blocks),
            }
        }
        Ok(())
    }

    /// Blocks, and what stands between them as paragraphs.
    pub(super) fn blocks(
        &mut self,
        nodes: &[HtmlNode],
        mut place: Place,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Fault> {
        let mut line = Line::default();
        for node in nodes {
            match node {
                HtmlNode::Element(element) if !is_inline(element) => {
                    self.finish(&mut line, &mut place, None, blocks);
                    self.block(element, &mut place, blocks)?;
                }
                node => self.inline(node, &place.look.clone(), &mut line)?,
            }
        }
        self.finish(&mut line, &mut place, None, blocks);
        Ok(())
    }

    fn block(&mut self, element: &HtmlElement, place: &mut Place, blocks: &mut Vec<Block>) -> Result<(), Fault> {
        let tag = name(element);
        if let Some(style) = style(element, &tag) {
            return self.paragraph(element, place, Some(&style), blocks);
        }
        match tag.as_str() {
            "p" | "dt" | "pre" => self.paragraph(element, place, None, blocks),
            "div" => self.division(element, place, blocks),
            "figure" | "section" | "nav" | "li" | "dl" => self.nested(element, place, blocks),
            "blockquote" | "dd" => {
                let mut inner = Place { indent: place.indent + INDENT, ..place.clone() };
                self.nested(element, &mut inner, blocks)
            }
            "hr" => {
                let line = ParagraphBorder::new(ParagraphBorderPosition::Bottom)
                    .val(BorderType::Single)
                    .size(4)
                    .color("999999");
                let mut paragraph = self.new_paragraph();
                paragraph.property = paragraph.property.set_borders(ParagraphBorders::with_empty().set(line));
                blocks.push(Block::Paragraph(Box::new(paragraph)));
                Ok(())
            }
            "ul" | "ol" => self.list(element, None, place, blocks),
            "table" => {
                let table = self.table(element, None)?;
                self.push_table(table, blocks);
                Ok(())
            }
            other => Err(self.cannot(&format!("the element {other}"), element.span)),
        }
    }

    /// What the prelude marked, or only keeps together.
    fn division(&mut self, element: &HtmlElement, place: &mut Place, blocks: &mut Vec<Block>) -> Result<(), Fault> {
        if mark(element, "page").is_some() {
            return Ok(());
        }
        if mark(element, "new-page").is_some() {
            let paragraph = self.new_paragraph().add_run(Run::new().add_break(BreakType::Page));
            blocks.push(Block::Paragraph(Box::new(paragraph)));
            return Ok(());
        }
        if mark(element, "columns").is_some()
            && let Some(table) = child(element, "table")
        {
            let table = self.table(table, Some(element))?;
            self.push_table(table, blocks);
            return Ok(());
        }
        if let Some(pattern) = mark(element, "pattern")
            && let Some(list) = child(element, "ol")
        {
            return self.list(list, Some(pattern), place, blocks);
        }
        if let Some(space) = mark(element, "space").and_then(twentieths) {
            blocks.push(Block::Paragraph(Box::new(self.space(space))));
            return Ok(());
        }
        self.nested(element, place, blocks)
    }

    /// A table, apart from the one before: Word makes one of two that touch.
    fn push_table(&mut self, table: Table, blocks: &mut Vec<Block>) {
        if let Some(Block::Table(_)) = blocks.last() {
            blocks.push(Block::Paragraph(Box::new(self.space(GAP))));
        }
        blocks.push(Block::Table(Box::new(table)));
    }

    /// An empty paragraph of a height.
    fn space(&mut self, height: i32) -> Paragraph {
        let spacing = LineSpacing::new().after(0).line_rule(LineSpacingType::Exact).line(height.clamp(1, 31_680));
        self.new_paragraph().line_spacing(spacing)
    }

    fn nested(&mut self, element: &HtmlElement, place: &mut Place, blocks: &mut Vec<Block>) -> Result<(), Fault> {
        let before = blocks.len();
        self.blocks(&element.children, place.clone(), blocks)?;
        if blocks.len() > before {
            place.end_item();
        }
        Ok(())
    }

    fn paragraph(
        &mut self,
        element: &HtmlElement,
        place: &mut Place,
        style: Option<&str>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Fault> {
        let mut look = place.look.clone();
        if name(element) == "dt" {
            look = look.bold();
        }
        let mut line = Line::default();
        element.children.iter().try_for_each(|node| self.inline(node, &look, &mut line))?;
        self.finish(&mut line, place, style, blocks);
        Ok(())
    }

    /// Ends a paragraph, which is not there where the line is empty.
    fn finish(&mut self, line: &mut Line, place: &mut Place, style: Option<&str>, blocks: &mut Vec<Block>) {
        let line = std::mem::take(line);
        if line.pieces.is_empty() {
            return;
        }
        let mut paragraph = line.pieces.into_iter().fold(self.new_paragraph(), |paragraph, piece| match piece {
            Piece::Run(run) => paragraph.add_run(*run),
            Piece::Page => paragraph.add_page_num(PageNum::new()),
            Piece::Pages => paragraph.add_num_pages(NumPages::new()),
            Piece::Link(whole) => paragraph.add_hyperlink(*whole),
        });
        if let Some(style) = style {
            // A heading stands on the page of what it heads.
            paragraph = paragraph.style(style).keep_next(style.starts_with("Heading"));
        }
        if place.is_cell {
            paragraph = paragraph.line_spacing(LineSpacing::new().before(20).after(40));
        } else if style.is_none() && matches!(blocks.last(), Some(Block::Table(_))) {
            paragraph = paragraph.line_spacing(LineSpacing::new().before(120).after(120));
        }
        if let Some(side) = self.side(line.align.as_deref()) {
            paragraph = paragraph.align(side);
        }
        paragraph = match place.item.take() {
            Some(item) => begin(paragraph, item),
            None if place.indent > 0 => paragraph.indent(Some(place.indent), None, None, None),
            None => paragraph,
        };
        blocks.push(Block::Paragraph(Box::new(paragraph)));
    }

    /// A paragraph whose number is the same whenever the document is made.
    pub(super) fn new_paragraph(&mut self) -> Paragraph {
        self.paragraphs += 1;
        Paragraph::new().id(format!("{:08x}", self.paragraphs))
    }
}

/// The style of a heading or a caption.
fn style(element: &HtmlElement, tag: &str) -> Option<String> {
    match tag {
        "h1" => Some("Title".to_owned()),
        "h2" | "h3" | "h4" | "h5" | "h6" => Some(format!("Heading{}", tag[1..].parse::<usize>().unwrap_or(2) - 1)),
        "div" if attribute(element, "role") == Some("heading") => Some("Heading6".to_owned()),
        "figcaption" => Some("Caption".to_owned()),
        _ => None,
    }
}
