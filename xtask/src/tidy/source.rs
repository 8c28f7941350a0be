//! A file as the rules read it: its code apart from its comments and strings.

use std::ops::Range;
use std::path::Path;

/// A file of the tree. For a Rust file, `code` has the length and the lines of `text`, with every comment and the
/// content of every string and character blanked, so that a position in one is a position in the other.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) code: String,
    pub(super) strings: Vec<Literal>,
    unit_tests: Vec<Range<usize>>,
}

/// The content of a string as it is written.
pub(super) struct Literal {
    pub(super) start: usize,
    pub(super) content: String,
}

impl Source {
    pub(super) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let (code, strings) = if is_rust(&path) { Scanner::new(&text).scan() } else { (text.clone(), Vec::new()) };
        let is_tests = path.ends_with("/tests.rs") || path.contains("/tests/");
        let unit_tests = if is_tests { std::iter::once(0..text.len()).collect() } else { unit_tests(&code) };
        Self { path, text, code, strings, unit_tests }
    }

    pub(super) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// The line that a position is on, counted from 1.
    pub(super) fn line(&self, position: usize) -> usize {
        self.text[..position].matches('\n').count() + 1
    }

    /// Whether a position is in the file's own tests.
    pub(super) fn in_unit_tests(&self, position: usize) -> bool {
        self.unit_tests.iter().any(|tests| tests.contains(&position))
    }

    /// Where a word stands in the code, as a whole word (or path, where it has `::` in it).
    pub(super) fn words(&self, word: &str) -> Vec<usize> {
        let code = self.code.as_bytes();
        let is_whole = |start: usize| {
            let before = start.checked_sub(1).map(|index| code[index]);
            let after = code.get(start + word.len()).copied();
            let ends_open = word.ends_with(|last: char| !is_name_byte(last as u8));
            !before.is_some_and(is_name_byte) && (ends_open || !after.is_some_and(is_name_byte))
        };
        self.code.match_indices(word).map(|(start, _)| start).filter(|start| is_whole(*start)).collect()
    }

    /// Whether the file is one of these, or is in a directory of one of these names.
    pub(super) fn is_or_is_under(&self, names: &[&str]) -> bool {
        self.path.split('/').any(|part| names.contains(&part))
    }
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Whether a byte may be part of a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The position after the bracket that closes the one at `open`; the end of the code where none does.
pub(super) fn after_closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

fn unit_tests(code: &str) -> Vec<Range<usize>> {
    let marks = code.match_indices("#[cfg(test)]");
    let blocks = marks.filter_map(|(start, _)| {
        let rest = &code[start..];
        let body = rest.find('{').filter(|body| rest.find(';').is_none_or(|end| *body < end));
        body.map(|body| start..after_closing(code, start + body))
    });
    blocks.collect()
}

/// Goes over Rust text once and parts code from comments and strings.
struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    code: Vec<u8>,
    strings: Vec<Literal>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), position: 0, code: Vec::with_capacity(text.len()), strings: Vec::new() }
    }

    fn scan(mut self) -> (String, Vec<Literal>) {
        while self.position < self.bytes.len() {
            let rest = &self.text.as_bytes()[self.position..];
            if rest.starts_with(b"//") {
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                self.blank(end);
            } else if rest.starts_with(b"/*") {
                self.blank(block_comment(rest));
            } else if let Some(hashes) = self.raw_string(rest) {
                self.raw(hashes);
            } else if rest[0] == b'"' {
                self.quoted();
            } else if rest[0] == b'\'' {
                self.character(rest);
            } else {
                self.keep(1);
            }
        }
        // Only whole characters are blanked, so what is left is text.
        (String::from_utf8_lossy(&self.code).into_owned(), self.strings)
    }

    fn keep(&mut self, length: usize) {
        self.code.extend_from_slice(&self.bytes[self.position..self.position + length]);
        self.position += length;
    }

    fn blank(&mut self, length: usize) {
        let blanked = self.bytes[self.position..self.position + length].iter();
        self.code.extend(blanked.map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
        self.position += length;
    }

    fn content(&mut self, length: usize) {
        let content = self.text[self.position..self.position + length].to_owned();
        self.strings.push(Literal { start: self.position, content });
        self.blank(length);
    }

    /// The number of hashes where a raw string begins here, with the `r` or the `br` before it.
    fn raw_string(&self, rest: &[u8]) -> Option<usize> {
        let in_a_name = self.position.checked_sub(1).is_some_and(|before| is_name_byte(self.bytes[before]));
        let after = rest.strip_prefix(b"br").or_else(|| rest.strip_prefix(b"r")).filter(|_| !in_a_name)?;
        let hashes = after.iter().take_while(|byte| **byte == b'#').count();
        (after.get(hashes) == Some(&b'"')).then_some(hashes)
    }

    fn raw(&mut self, hashes: usize) {
        let opening = self.text[self.position..].find('"').map_or(1, |quote| quote + 1);
        self.keep(opening);
        let closing = format!("\"{}", "#".repeat(hashes));
        let length = self.text[self.position..].find(&closing).unwrap_or(self.bytes.len() - self.position);
        self.content(length);
        self.keep(closing.len().min(self.bytes.len() - self.position));
    }

    fn quoted(&mut self) {
        self.keep(1);
        let mut length = 0;
        let rest = &self.bytes[self.position..];
        while length < rest.len() && rest[length] != b'"' {
            length += if rest[length] == b'\\' { 2 } else { 1 };
        }
        self.content(length.min(rest.len()));
        self.keep(1.min(self.bytes.len() - self.position));
    }

    /// A quote begins a character where another one follows after one (escaped) character; else it is a lifetime.
    fn character(&mut self, rest: &[u8]) {
        let first = self.text[self.position + 1..].chars().next();
        let length = match first {
            Some('\\') => rest.iter().skip(3).position(|byte| *byte == b'\'').map(|close| close + 3),
            Some(one) => (rest.get(1 + one.len_utf8()) == Some(&b'\'')).then_some(1 + one.len_utf8()),
            None => None,
        };
        self.keep(1);
        if let Some(close) = length {
            self.blank(close - 1);
            self.keep(1);
        }
    }
}

/// The length of the block comment at the start; such comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut index) = (0_usize, 0);
    while index < rest.len() {
        let step = match &rest[index..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        index += step;
        if depth == 0 {
            return index;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blanked_in_place() {
        let text =
            "let a = \"x // y\"; // fn one\n/* fn /* two */ fn */ let b = r#\"fn \"three\"\"#; 'x' '\\'' 'é' &'a str";
        let source = Source::new("a.rs", text);
        assert_eq!(source.code.len(), text.len());
        assert!(!source.code.contains("fn"));
        assert!(source.code.contains("let b") && source.code.contains("&'a str"));
        let contents: Vec<&str> = source.strings.iter().map(|string| string.content.as_str()).collect();
        assert_eq!(contents, ["x // y", "fn \"three\""]);
        assert_eq!(source.line(source.strings[1].start), 2);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        let source = Source::new("a.rs", r#"f("a\"b\\", '"', b"c"); g()"#);
        assert_eq!(source.strings.len(), 2);
        assert!(source.code.ends_with("g()"));
    }

    #[test]
    fn unit_tests_are_told_apart() {
        let source = Source::new(
            "a.rs",
            "#[cfg(test)]\nuse a;\nfn one() {}\n#[cfg(test)]\nmod tests {\nfn two() {}\n}\nfn three() {}",
        );
        let [one, two, three] = ["one", "two", "three"].map(|name| source.in_unit_tests(source.words(name)[0]));
        assert!(!one && two && !three);
    }

    #[test]
    fn words_are_whole() {
        let source = Source::new("a.rs", "rand::x strand::y random getrandom rand");
        assert_eq!(source.words("rand").len(), 2);
        assert_eq!(source.words("rand::").len(), 1);
    }
}
