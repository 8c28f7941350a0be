//! Puts what the writer of XML wrote into the order of the schema (ISO/IEC 29500-1, annex A), without which Word may take a file for
//! a damaged one.

/// The members of the elements whose order matters.
const ORDERS: [(&str, &[&str]); 8] = [
    (
        "w:pPr",
        &[
            "pStyle",
            "keepNext",
            "keepLines",
            "pageBreakBefore",
            "framePr",
            "widowControl",
            "numPr",
            "pBdr",
            "shd",
            "tabs",
            "bidi",
            "adjustRightInd",
            "snapToGrid",
            "spacing",
            "ind",
            "jc",
            "textAlignment",
            "outlineLvl",
            "divId",
            "rPr",
            "sectPr",
        ],
    ),
    (
        "w:rPr",
        &[
            "rStyle",
            "rFonts",
            "b",
            "bCs",
            "i",
            "iCs",
            "caps",
            "smallCaps",
            "strike",
            "dstrike",
            "vanish",
            "color",
            "spacing",
            "w",
            "sz",
            "szCs",
            "highlight",
            "u",
            "bdr",
            "shd",
            "fitText",
            "vertAlign",
            "rtl",
            "lang",
            "specVanish",
        ],
    ),
    ("w:numPr", &["ilvl", "numId"]),
    (
        "w:sectPr",
        &["headerReference", "footerReference", "type", "pgSz", "pgMar", "pgNumType", "cols", "titlePg", "docGrid"],
    ),
    ("w:tblPr", &["tblStyle", "tblpPr", "bidiVisual", "tblW", "jc", "tblInd", "tblBorders", "tblLayout", "tblCellMar"]),
    ("w:tcPr", &["tcW", "gridSpan", "vMerge", "tcBorders", "shd", "tcMar", "textDirection", "vAlign"]),
    (
        "w:style",
        &[
            "name",
            "basedOn",
            "next",
            "link",
            "uiPriority",
            "semiHidden",
            "unhideWhenUsed",
            "qFormat",
            "pPr",
            "rPr",
            "tblPr",
            "tcPr",
        ],
    ),
    ("w:settings", &["zoom", "defaultTabStop", "evenAndOddHeaders", "characterSpacingControl", "compat", "docVars"]),
];

/// A piece of XML.
enum Node<'x> {
    Text(&'x str),
    Element(Element<'x>),
}

/// An element.
struct Element<'x> {
    /// What stands between the brackets of its beginning.
    tag: &'x str,
    name: &'x str,
    children: Vec<Node<'x>>,
}

/// The same XML in order.
pub(super) fn ordered(xml: &str) -> String {
    let mut rest = xml;
    let mut made = String::with_capacity(xml.len());
    for node in children(&mut rest) {
        write(&node, &mut made);
    }
    made
}

/// Reads up to the end of an element.
fn children<'x>(rest: &mut &'x str) -> Vec<Node<'x>> {
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        if !text.is_empty() {
            nodes.push(Node::Text(text));
        }
        let Some(behind) = behind.strip_prefix('<') else { break };
        let (tag, behind) = behind.split_at(end(behind));
        *rest = behind.strip_prefix('>').unwrap_or(behind);
        if tag.starts_with('/') {
            break;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        let is_empty = tag.ends_with('/') || tag.starts_with('?');
        let children = if is_empty { Vec::new() } else { children(rest) };
        nodes.push(Node::Element(Element { tag: tag.strip_suffix('/').unwrap_or(tag).trim_end(), name, children }));
    }
    nodes
}

/// Where a tag ends: attributes may have its bracket in them.
fn end(tag: &str) -> usize {
    let mut quoted = false;
    let ends = |letter: char| {
        quoted ^= letter == '"';
        letter == '>' && !quoted
    };
    tag.find(ends).unwrap_or(tag.len())
}

fn write(node: &Node<'_>, made: &mut String) {
    let element = match node {
        Node::Text(text) => return made.push_str(text),
        Node::Element(element) => element,
    };
    // It says nothing, and not every place allows it.
    if element.name == "w:rPr" && element.children.is_empty() {
        return;
    }
    made.push('<');
    match element.name {
        "w:gridCol" => made.push_str(&element.tag.replace(" w:type=\"dxa\"", "")),
        _ => made.push_str(element.tag),
    }
    if element.children.is_empty() {
        made.push_str(if element.tag.starts_with('?') { ">" } else { "/>" });
        return;
    }
    made.push('>');
    let mut children: Vec<&Node<'_>> = element.children.iter().collect();
    if let Some((_, order)) = ORDERS.iter().find(|(name, _)| *name == element.name) {
        children.sort_by_key(|child| place(child, order));
    }
    for child in children {
        write(child, made);
    }
    made.push_str("</");
    made.push_str(element.name);
    made.push('>');
}

fn place(node: &Node<'_>, order: &[&str]) -> usize {
    let Node::Element(element) = node else { return 0 };
    let name = element.name.strip_prefix("w:").unwrap_or(element.name);
    order.iter().position(|known| *known == name).unwrap_or(order.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_the_schema() {
        let xml = "<?xml version=\"1.0\"?><w:p><w:pPr><w:rPr /><w:jc w:val=\"end\" /><w:pStyle w:val=\"a > b\" /></w:pPr>\
                   <w:r><w:rPr><w:color /><w:b /></w:rPr><w:t xml:space=\"preserve\"> text </w:t></w:r></w:p>";
        let expected = "<?xml version=\"1.0\"?><w:p><w:pPr><w:pStyle w:val=\"a > b\"/><w:jc w:val=\"end\"/></w:pPr>\
                        <w:r><w:rPr><w:b/><w:color/></w:rPr><w:t xml:space=\"preserve\"> text </w:t></w:r></w:p>";
        assert_eq!(ordered(xml), expected);
        assert_eq!(ordered(expected), expected);
    }
}
