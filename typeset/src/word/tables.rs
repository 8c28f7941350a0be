//! Tables.

use docx_rs::{
    AlignmentType, BorderType, Shading, Table, TableAlignmentType, TableBorder, TableBorderPosition, TableBorders,
    TableCell, TableLayoutType, TableRow, VAlignType, VMergeType, WidthType,
};
use typesetting::Fault;
use typst_html::{HtmlElement, HtmlNode};

use super::blocks::{Block, Place, Writer};
use super::element::{attribute, children, mark, name, twentieths};

/// About how wide a letter is, and what stands around a text in its cell, in twentieths of a point.
const LETTER: usize = 155;
const AROUND: usize = 300;
/// The most letters that a column is made as wide as.
const WIDEST: usize = 40;

/// What still hangs down into a column: for how many rows, and how many columns wide.
type Hanging = Vec<(usize, usize)>;

/// A cell, and the columns in which it stands.
struct Placed {
    cell: TableCell,
    column: usize,
    width: usize,
}

impl Writer<'_> {
    /// A table, with what the prelude marked around it.
    pub(super) fn table(&mut self, element: &HtmlElement, marks: Option<&HtmlElement>) -> Result<Table, Fault> {
        let mut rows = Vec::new();
        collect_rows(element, &mut rows);
        let (mut hanging, mut letters) = (Hanging::new(), Vec::new());
        let rows = rows.into_iter().map(|row| self.row(row, &mut hanging, &mut letters));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let read = |name| marks.and_then(|marks| mark(marks, name));
        let room = usize::try_from(self.page.room()[0]).unwrap_or_default();
        let (grid, is_full) = widths(read("columns").unwrap_or_default(), room, &letters);
        let rows = rows.into_iter().map(|row| {
            let wide = |placed: &Placed| grid.iter().skip(placed.column).take(placed.width).sum();
            let cells = row.into_iter().map(|placed| {
                let width = wide(&placed);
                placed.cell.width(width, WidthType::Dxa)
            });
            TableRow::new(cells.collect())
        });
        let mut table = Table::without_borders(rows.collect()).layout(TableLayoutType::Autofit);
        if let Some(borders) = borders(read("borders").unwrap_or("all")) {
            table = table.set_borders(borders);
        }
        if is_full {
            table = table.width(grid.iter().sum(), WidthType::Dxa);
        }
        let align = match self.side(read("align")) {
            Some(AlignmentType::Center) => TableAlignmentType::Center,
            Some(_) => TableAlignmentType::Right,
            None => TableAlignmentType::Left,
        };
        Ok(table.set_grid(grid).align(align))
    }

    fn row(
        &mut self,
        row: &HtmlElement,
        hanging: &mut Hanging,
        letters: &mut Vec<usize>,
    ) -> Result<Vec<Placed>, Fault> {
        let mut cells = Vec::new();
        let mut own = children(row);
        let mut column = 0;
        loop {
            if let Some((rows, width)) = hanging.get(column).copied().filter(|(rows, _)| *rows > 0) {
                hanging[column] = (rows - 1, width);
                let cell = TableCell::new().grid_span(width).vertical_merge(VMergeType::Continue);
                cells.push(Placed { cell: cell.add_paragraph(self.new_paragraph()), column, width });
                column += width;
                continue;
            }
            let Some(cell) = own.next() else {
                // What hangs down behind the last cell of the row.
                if hanging.iter().skip(column).any(|(rows, _)| *rows > 0) {
                    column += 1;
                    continue;
                }
                return Ok(cells);
            };
            let span =
                |name| attribute(cell, name).and_then(|text| text.parse::<usize>().ok()).unwrap_or(1).clamp(1, 63);
            let (width, height) = (span("colspan"), span("rowspan"));
            if hanging.len() < column + width {
                hanging.resize(column + width, (0, 1));
                letters.resize(column + width, 0);
            }
            let mut made = TableCell::new().vertical_align(VAlignType::Top);
            if width > 1 {
                made = made.grid_span(width);
            } else {
                letters[column] = letters[column].max(length(cell).min(WIDEST));
            }
            if height > 1 {
                hanging[column] = (height - 1, width);
                made = made.vertical_merge(VMergeType::Restart);
            }
            cells.push(Placed { cell: self.cell(cell, made)?, column, width });
            column += width;
        }
    }

    fn cell(&mut self, element: &HtmlElement, mut cell: TableCell) -> Result<TableCell, Fault> {
        if let Some(fill) = children(element).find_map(|inner| mark(inner, "fill")) {
            cell = cell.shading(Shading::new().fill(fill.to_uppercase()));
        }
        let mut blocks = Vec::new();
        self.blocks(&element.children, Place::in_cell(name(element) == "th"), &mut blocks)?;
        // A cell ends with a paragraph.
        let ends_with_table = matches!(blocks.last(), None | Some(Block::Table(_)));
        for block in blocks {
            cell = match block {
                Block::Paragraph(paragraph) => cell.add_paragraph(*paragraph),
                Block::Table(table) => cell.add_table(*table),
            };
        }
        Ok(if ends_with_table { cell.add_paragraph(self.new_paragraph()) } else { cell })
    }
}

/// How many letters an element has.
fn length(element: &HtmlElement) -> usize {
    let lengths = element.children.iter().map(|node| match node {
        HtmlNode::Text(text, _) => text.chars().count(),
        HtmlNode::Element(inner) => length(inner),
        _ => 0,
    });
    lengths.sum()
}

/// The rows of a table, whatever part of it they are in.
fn collect_rows<'e>(element: &'e HtmlElement, rows: &mut Vec<&'e HtmlElement>) {
    for child in children(element) {
        if name(child) == "tr" { rows.push(child) } else { collect_rows(child, rows) }
    }
}

/// How wide columns are, in twentieths of a point, and whether they fill the page: lengths, parts of the page, parts of what is left,
/// and those that are as wide as the text in them.
fn widths(columns: &str, room: usize, letters: &[usize]) -> (Vec<usize>, bool) {
    let columns: Vec<&str> = columns.split(' ').filter(|column| !column.is_empty()).collect();
    let part = |column: &str, unit| column.strip_suffix(unit).and_then(|number: &str| number.parse::<f64>().ok());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "about a page"
    )]
    let of = |whole: usize, part: f64| (whole as f64 * part.max(0.0)).round() as usize;
    let of_text = |index: usize| letters[index] * LETTER + AROUND;
    let mut widths: Vec<Option<usize>> = Vec::new();
    for index in 0..letters.len() {
        let column = columns.get(index).copied().unwrap_or("auto");
        widths.push(match (part(column, "%"), twentieths(column)) {
            (Some(hundredths), _) => Some(of(room, hundredths / 100.0)),
            (None, Some(width)) => usize::try_from(width).ok(),
            (None, None) if column.ends_with("fr") => None,
            (None, None) => Some(of_text(index)),
        });
    }
    let is_full = widths.iter().any(Option::is_none);
    let parts: f64 = columns.iter().filter_map(|column| part(column, "fr")).sum();
    let taken: usize = widths.iter().flatten().sum();
    // What is to be shared has at least a third of the page.
    let left = room.saturating_sub(taken).max(if is_full { room / 3 } else { 0 });
    let fit = |width: usize| if taken + left > room { width * (room - left) / taken.max(1) } else { width };
    let share = |index: usize| {
        of(left, columns.get(index).and_then(|column| part(column, "fr")).unwrap_or(1.0) / parts.max(0.01))
    };
    let widths = widths.into_iter().enumerate().map(|(index, width)| width.map_or_else(|| share(index), fit));
    (widths.collect(), is_full)
}

/// The lines of a table.
fn borders(which: &str) -> Option<TableBorders> {
    let lines = match which {
        "none" => return None,
        "rows" => vec![TableBorderPosition::Top, TableBorderPosition::Bottom, TableBorderPosition::InsideH],
        _ => vec![
            TableBorderPosition::Top,
            TableBorderPosition::Bottom,
            TableBorderPosition::InsideH,
            TableBorderPosition::Left,
            TableBorderPosition::Right,
            TableBorderPosition::InsideV,
        ],
    };
    let line = |position| TableBorder::new(position).border_type(BorderType::Single).size(4).color("999999");
    Some(lines.into_iter().fold(TableBorders::with_empty(), |borders, position| borders.set(line(position))))
}
