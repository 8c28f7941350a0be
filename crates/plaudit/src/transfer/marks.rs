//! Where the members of a record stand in its file, so that a fault can name line and column.

use std::collections::BTreeMap;

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
}

impl Marks {
    /// The marks of a record that begins here.
    pub(super) fn new(start: Mark) -> Self {
        Self { start, members: BTreeMap::new() }
    }

    /// Where the record begins.
    pub(super) fn start(&self) -> Mark {
        self.start
    }

    /// The same on another line, for what stands on one.
    pub(super) fn on_line(mut self, line: u64) -> Self {
        self.start.line = line;
        self.members.values_mut().for_each(|mark| mark.line = line);
        self
    }

    /// Notes where a member stands.
    pub(super) fn note(&mut self, path: &str, mark: Mark) {
        self.members.insert(path.to_owned(), mark);
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

    /// The marks of a record that is nested in this one.
    pub(super) fn within(&self, path: &str) -> Self {
        let prefix = format!("{path}.");
        let mut marks = Self::new(self.of(path));
        for (member, mark) in self.members.range(prefix.clone()..) {
            let Some(member) = member.strip_prefix(&prefix) else { break };
            marks.note(member, *mark);
        }
        marks
    }
}

/// The path of a member within a path.
pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
