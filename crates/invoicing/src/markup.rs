//! Elements with their texts escaped, an element a line; for XML and for the part of HTML that is written alike.

/// A text of elements.
pub(crate) struct Markup {
    text: String,
    depth: usize,
}

/// The attributes of an element.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    /// One that begins with a text that is written as it is.
    pub(crate) fn beginning(text: &str) -> Self {
        Self { text: text.to_owned(), depth: 0 }
    }

    /// An element with others inside.
    pub(crate) fn element(&mut self, name: &str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Self)) {
        self.start(name, attributes);
        self.text.push('\n');
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.indent();
        self.end(name);
    }

    /// An element with a text inside.
    pub(crate) fn text(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.start(name, attributes);
        self.escape(text.trim());
        self.end(name);
    }

    /// The same, unless there is nothing to say.
    pub(crate) fn text_if_any(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        if !text.trim().is_empty() {
            self.text(name, attributes, text);
        }
    }

    /// A text that is written as it is.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn start(&mut self, name: &str, attributes: Attributes<'_>) {
        self.indent();
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.push(' ');
            self.text.push_str(attribute);
            self.text.push_str("=\"");
            self.escape(value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    fn end(&mut self, name: &str) {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push_str(">\n");
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn escape(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                // A reader would make a line feed of it.
                '\r' => self.text.push_str("&#13;"),
                '\t' | '\n' => self.text.push(character),
                '\u{fffe}' | '\u{ffff}' => self.text.push('\u{fffd}'),
                control if control.is_control() => self.text.push('\u{fffd}'),
                other => self.text.push(other),
            }
        }
    }
}
