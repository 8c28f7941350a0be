//! Reads elements of the tree.

use typst_html::HtmlElement;

/// The name of an element.
pub(super) fn name(element: &HtmlElement) -> String {
    element.tag.resolve().as_str().to_owned()
}

/// An attribute.
pub(super) fn attribute<'e>(element: &'e HtmlElement, name: &str) -> Option<&'e str> {
    element.attrs.0.iter().find(|(attribute, _)| attribute.resolve().as_str() == name).map(|(_, value)| value.as_str())
}

/// What the prelude marked.
pub(super) fn mark<'e>(element: &'e HtmlElement, name: &str) -> Option<&'e str> {
    attribute(element, &format!("data-{name}"))
}

/// Twentieths of a point, as a mark has points.
pub(super) fn twentieths(points: &str) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "no page has two thousand million of them")]
    points.parse::<f64>().ok().map(|points| (points * 20.0).round() as i32)
}

/// The first child of a name.
pub(super) fn child<'e>(element: &'e HtmlElement, tag: &str) -> Option<&'e HtmlElement> {
    children(element).find(|child| name(child) == tag)
}

/// The children that are elements.
pub(super) fn children(element: &HtmlElement) -> impl Iterator<Item = &HtmlElement> {
    element.children.iter().filter_map(|node| match node {
        typst_html::HtmlNode::Element(child) => Some(child),
        _ => None,
    })
}

/// Whether an element stands in a line.
pub(super) fn is_inline(element: &HtmlElement) -> bool {
    let inline = ["strong", "em", "b", "i", "s", "u", "sub", "sup", "code", "a", "br", "span", "mark", "img"];
    inline.contains(&name(element).as_str())
}
