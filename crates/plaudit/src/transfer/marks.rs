//! Where the members of a record stand in its file, so that a fault can name line and column.

use std::collections::{BTreeMap, BTreeSet};

use kernel::json::Json;
use kernel::json::parse_value;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    /// The line, from 1.
    pub(super) line: u64,
    /// The character of the line, from 1.
    pub(super) column: usize,
}

/// Where a record and its members stand. A member's place is that of its name, an item's that of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    start: Mark,
    members: BTreeMap<String, Mark>,
    /// Members whose values stand without quotes and are therefore no strings.
    bare: BTreeSet<String>,
}

impl Marks {
    /// The marks of a record that begins here.
    pub(super) fn new(start: Mark) -> Self {
        Self { start, members: BTreeMap::new(), bare: BTreeSet::new() }
    }

    /// Where the record begins.
    pub(super) fn start(&self) -> Mark {
        self.start
    }

    /// Notes where a member stands.
    pub(super) fn note(&mut self, path: &str, mark: Mark) {
        self.members.insert(path.to_owned(), mark);
    }

    /// Notes that a member's value would be a string if it stood in quotes.
    pub(super) fn note_bare(&mut self, path: &str) {
        self.bare.insert(path.to_owned());
    }

    /// Where a member stands; where it is missing, what it is missing in.
    pub(super) fn of(&self, member: &str) -> Mark {
        let mut path = member;
        loop {
            if let Some(mark) = self.members.get(path) {
                return *mark;
            }
            match path.rfind('.') {
                Some(end) => path = &path[..end],
                None => return self.start,
            }
        }
    }

    /// Whether a member, or anything within it, would be a string if it stood in quotes.
    pub(super) fn is_bare(&self, member: &str) -> bool {
        let within = self.bare.range(member.to_owned()..).next();
        within.and_then(|path| path.strip_prefix(member)).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The marks of a record that is nested in this one.
    pub(super) fn within(&self, path: &str) -> Self {
        let prefix = format!("{path}.");
        let mut marks = Self::new(self.of(path));
        for (member, mark) in self.members.range(prefix.clone()..) {
            let Some(member) = member.strip_prefix(&prefix) else { break };
            marks.note(member, *mark);
        }
        for member in self.bare.range(prefix.clone()..) {
            let Some(member) = member.strip_prefix(&prefix) else { break };
            marks.note_bare(member);
        }
        marks
    }
}

/// The marks of an object on a line of JSON Lines, which was parsed already.
pub(super) fn of_json(line: u64, text: &str) -> Marks {
    let mut walker =
        Walker { text, position: 0, counted: 0, column: 1, line, marks: Marks::new(Mark { line, column: 1 }) };
    walker.skip_blanks();
    walker.marks.start = walker.mark();
    walker.value("");
    walker.marks
}

/// Goes over JSON text that is known to be right.
struct Walker<'t> {
    text: &'t str,
    position: usize,
    /// Up to where the characters are counted, and the column there.
    counted: usize,
    column: usize,
    line: u64,
    marks: Marks,
}

impl Walker<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')) {
            self.position += 1;
        }
    }

    fn mark(&mut self) -> Mark {
        self.column += self.text[self.counted..self.position].chars().count();
        self.counted = self.position;
        Mark { line: self.line, column: self.column }
    }

    fn string(&mut self) -> &str {
        let start = self.position;
        self.position += 1;
        while let Some(byte) = self.peek() {
            self.position += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                break;
            }
        }
        self.text.get(start..self.position).unwrap_or_default()
    }

    fn value(&mut self, path: &str) {
        match self.peek() {
            Some(b'{') => self.object(path),
            Some(b'[') => self.array(path),
            Some(b'"') => {
                self.string();
            }
            _ => {
                while self.peek().is_some_and(|byte| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'))
                {
                    self.position += 1;
                }
            }
        }
    }

    fn object(&mut self, path: &str) {
        self.position += 1;
        self.skip_blanks();
        while self.peek() == Some(b'"') {
            let mark = self.mark();
            let name = match parse_value(self.string().as_bytes()) {
                Ok(Json::String(name)) => name.into_owned(),
                _ => String::new(),
            };
            let member = joined(path, &name);
            self.marks.note(&member, mark);
            self.skip_blanks();
            self.value(&member);
            self.skip_blanks();
        }
        self.position += 1;
    }

    fn array(&mut self, path: &str) {
        self.position += 1;
        self.skip_blanks();
        for number in 1_usize.. {
            if self.peek().is_none_or(|byte| byte == b']') {
                break;
            }
            let item = joined(path, &number.to_string());
            let mark = self.mark();
            self.marks.note(&item, mark);
            self.value(&item);
            self.skip_blanks();
        }
        self.position += 1;
    }
}

/// The path of a member within a path.
pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_and_items_are_found_in_json() {
        let text = r#" {"a": 1, "bß" : {"c":[ "x,y", {"d\"e": null}]}, "f":[]}"#;
        let marks = of_json(7, text);
        let column = |member: &str| marks.of(member).column;
        assert_eq!(marks.start(), Mark { line: 7, column: 2 });
        assert_eq!([column("a"), column("bß"), column("bß.c"), column("f")], [3, 11, 19, 50]);
        assert_eq!([column("bß.c.1"), column("bß.c.2"), column("bß.c.2.d\"e")], [25, 32, 33]);
        assert_eq!(column("missing"), 2, "what is missing is missing in the record");
        assert_eq!(column("bß.c.2.missing"), 32, "or in the innermost thing that is there");
        assert_eq!(marks.within("bß.c.2").of("d\"e").column, 33);
    }

    #[test]
    fn a_bare_value_is_found_by_what_it_is_in() {
        let mut marks = Marks::new(Mark { line: 1, column: 1 });
        marks.note_bare("name.en_GB");
        assert!(marks.is_bare("name") && marks.is_bare("name.en_GB"));
        assert!(!marks.is_bare("nam") && !marks.is_bare("names") && !marks.is_bare("name.e"));
        assert!(marks.within("name").is_bare("en_GB"));
    }

    proptest! {
        #[test]
        fn every_member_of_any_json_is_where_it_stands(
            names in proptest::collection::vec("[a-z\"\\\\é]{1,6}", 1..6),
            texts in proptest::collection::vec("[ -~ß]{0,8}", 6),
        ) {
            let mut object = kernel::json::Object::new();
            for (name, text) in names.iter().zip(&texts) {
                object.set(name.clone(), Json::Array(vec![Json::String(text.clone().into()), Json::Null]));
            }
            let text = Json::from(object.clone()).to_string();
            let marks = of_json(1, &text);
            for (name, _) in object.iter() {
                let column = marks.of(name).column;
                let rest: String = text.chars().skip(column - 1).collect();
                let quoted = Json::String(name.into()).to_string();
                prop_assert!(rest.starts_with(&quoted), "{} at {} in {}", name, column, text);
            }
        }
    }
}
