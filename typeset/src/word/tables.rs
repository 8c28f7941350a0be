//! Tables.

use docx_rs::{
    BorderType, Shading, Table, TableBorder, TableBorderPosition, TableBorders, TableCell, TableLayoutType, TableRow,
    VAlignType, VMergeType, WidthType,
};
use typesetting::Fault;
use typst_html::HtmlElement;

use super::blocks::{Block, Place, Writer};
use super::element::{attribute, children, mark, name, twentieths};

/// The share of a table of a column that is as wide as what is in it, in hundredths.
const SHARE: f64 = 12.0;

/// What still hangs down into a column: for how many rows, and how many columns wide.
type Hanging = Vec<(usize, usize)>;

impl Writer<'_> {
    /// A table, with what the prelude marked around it.
    pub(super) fn table(&mut self, element: &HtmlElement, marks: Option<&HtmlElement>) -> Result<Table, Fault> {
        let mut rows = Vec::new();
        collect_rows(element, &mut rows);
        let widths = marks.and_then(|marks| mark(marks, "columns")).map(|columns| widths(columns, self.page.room()[0]));
        let widths = widths.unwrap_or_default();
        let mut made = Vec::new();
        let mut hanging = Hanging::new();
        for row in rows {
            let cells = self.row(row, &mut hanging, &widths)?;
            made.push(TableRow::new(cells).cant_split());
        }
        let mut table = Table::without_borders(made).layout(TableLayoutType::Autofit);
        if let Some(borders) = borders(marks.and_then(|marks| mark(marks, "borders")).unwrap_or("all")) {
            table = table.set_borders(borders);
        }
        if widths.iter().any(|width| matches!(width, Some((_, WidthType::Pct)))) {
            table = table.width(5000, WidthType::Pct);
        }
        Ok(table)
    }

    fn row(
        &mut self,
        row: &HtmlElement,
        hanging: &mut Hanging,
        widths: &[Option<(usize, WidthType)>],
    ) -> Result<Vec<TableCell>, Fault> {
        let mut cells = Vec::new();
        let mut own = children(row);
        let mut column = 0;
        loop {
            if let Some((rows, width)) = hanging.get(column).copied().filter(|(rows, _)| *rows > 0) {
                hanging[column] = (rows - 1, width);
                cells.push(TableCell::new().grid_span(width).vertical_merge(VMergeType::Continue));
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
            }
            let mut made = TableCell::new().vertical_align(VAlignType::Top);
            if width > 1 {
                made = made.grid_span(width);
            } else if let Some((width, kind)) = widths.get(column).copied().flatten() {
                made = made.width(width, kind);
            }
            if height > 1 {
                hanging[column] = (height - 1, width);
                made = made.vertical_merge(VMergeType::Restart);
            }
            cells.push(self.cell(cell, made)?);
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

/// The rows of a table, whatever part of it they are in.
fn collect_rows<'e>(element: &'e HtmlElement, rows: &mut Vec<&'e HtmlElement>) {
    for child in children(element) {
        if name(child) == "tr" { rows.push(child) } else { collect_rows(child, rows) }
    }
}

/// How wide columns are: in twentieths of a point, in fiftieths of a hundredth of the table, or as wide as what is in them.
fn widths(columns: &str, room: i32) -> Vec<Option<(usize, WidthType)>> {
    let columns: Vec<&str> = columns.split(' ').collect();
    let part = |column: &str, unit| column.strip_suffix(unit).and_then(|number: &str| number.parse::<f64>().ok());
    let taken: f64 = columns
        .iter()
        .map(|column| match (part(column, "%"), twentieths(column)) {
            (Some(hundredths), _) => hundredths,
            (None, Some(width)) => f64::from(width) / f64::from(room.max(1)) * 100.0,
            (None, None) if column.ends_with("fr") => 0.0,
            (None, None) => SHARE,
        })
        .sum();
    let parts: f64 = columns.iter().filter_map(|column| part(column, "fr")).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the whole table")]
    let share = |hundredths: f64| ((hundredths.clamp(1.0, 100.0) * 50.0).round() as usize, WidthType::Pct);
    let width = |column: &&str| match (part(column, "%"), part(column, "fr")) {
        (Some(hundredths), _) => Some(share(hundredths)),
        (None, Some(number)) => Some(share((100.0 - taken) * number / parts)),
        (None, None) => twentieths(column).and_then(|width| Some((usize::try_from(width).ok()?, WidthType::Dxa))),
    };
    columns.iter().map(width).collect()
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
