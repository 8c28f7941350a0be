//! What is wrong with a file, and to whom it is told.

use std::fmt;
use std::sync::Arc;

use super::marks::{Mark, Marks};
use kernel::input::Violations;
use kernel::json::BodyError;
use kernel::kind::Kind;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the file.
    pub file: Arc<str>,
    /// The line, from 1; `None` where the fault is that something is missing.
    pub line: Option<u64>,
    /// The character of the line, from 1, where that is known.
    pub column: Option<usize>,
    /// The kind of the record, where that could be told.
    pub kind: Option<Kind>,
    /// The slug or token of the record, where it has one.
    pub name: Option<String>,
    /// The member that is wrong, where it is one.
    pub member: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(formatter, ":{column}")?;
        }
        match (self.kind, &self.name) {
            (Some(kind), Some(name)) => write!(formatter, ": {kind} {name}")?,
            (Some(kind), None) => write!(formatter, ": {kind}")?,
            _ => {}
        }
        if let Some(member) = &self.member {
            write!(formatter, ": {member}")?;
        }
        write!(formatter, ": {}", self.message)
    }
}

/// Is told what an import finds and how far it is.
pub trait Report: Send {
    /// Something is wrong with the file.
    fn fault(&mut self, fault: Fault);

    /// So many records have been through this step.
    fn progress(&mut self, _step: &'static str, _done: u64) {}
}

impl<F: FnMut(Fault) + Send> Report for F {
    fn fault(&mut self, fault: Fault) {
        self(fault);
    }
}

/// Where a record stands.
#[derive(Clone, Debug)]
pub(super) struct SourceLocation {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Where its members stand, for records of the set-up that are applied.
    pub(super) marks: Option<Arc<Marks>>,
}

impl SourceLocation {
    /// The place of a record of which only the line is known.
    pub(super) fn new(line: u64, kind: Kind, name: impl Into<String>) -> Self {
        Self { line, kind, name: name.into(), marks: None }
    }

    /// Where a member stands.
    fn of(&self, member: Option<&str>) -> (u64, Option<usize>) {
        let Some(marks) = &self.marks else { return (self.line, None) };
        let Mark { line, column } = member.map_or_else(|| marks.start(), |member| marks.of(member));
        (line, Some(column))
    }
}

/// The faults of one file: told as they are found, and counted.
pub(super) struct Faults<'r> {
    file: Arc<str>,
    report: &'r mut dyn Report,
    count: u64,
}

impl<'r> Faults<'r> {
    pub(super) fn new(file: &str, report: &'r mut dyn Report) -> Self {
        Self { file: file.into(), report, count: 0 }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn progress(&mut self, step: &'static str, done: u64) {
        self.report.progress(step, done);
    }

    fn tell(
        &mut self,
        at: Option<(u64, Option<usize>)>,
        location: Option<&SourceLocation>,
        member: Option<&str>,
        message: String,
    ) {
        self.count += 1;
        self.report.fault(Fault {
            file: Arc::clone(&self.file),
            line: at.map(|(line, _)| line),
            column: at.and_then(|(_, column)| column),
            kind: location.map(|location| location.kind),
            name: location.map(|location| location.name.clone()).filter(|name| !name.is_empty()),
            member: member.map(str::to_owned),
            message,
        });
    }

    /// A fault of the file as a whole.
    pub(super) fn file(&mut self, message: impl Into<String>) {
        self.tell(None, None, None, message.into());
    }

    /// A fault of a line that is no record.
    pub(super) fn line(&mut self, line: u64, member: Option<&str>, message: impl Into<String>) {
        self.tell(Some((line, None)), None, member, message.into());
    }

    /// A fault of a place of the file that belongs to no record.
    pub(super) fn at(&mut self, mark: Mark, member: Option<&str>, message: impl Into<String>) {
        self.tell(Some((mark.line, Some(mark.column))), None, member, message.into());
    }

    /// A line that is no JSON object.
    pub(super) fn json(&mut self, line: u64, error: &BodyError) {
        self.tell(Some((line, Some(error.column))), None, None, error.problem.to_string());
    }

    /// A fault of a member of a record.
    pub(super) fn member(&mut self, location: &SourceLocation, member: &str, message: impl Into<String>) {
        let mut message = message.into();
        if message.ends_with("must be a string") && location.marks.is_some() {
            message.push_str(": write it in quotes");
        }
        self.tell(Some(location.of(Some(member))), Some(location), Some(member), message);
    }

    /// Everything that is wrong with a record.
    pub(super) fn violations(&mut self, location: &SourceLocation, violations: &Violations) {
        for (member, message) in violations.iter() {
            self.member(location, member, message);
        }
    }

    /// A fault of a record that the file does not have, but that no longer fits to what the file says, in `cause`
    /// where that is one record.
    pub(super) fn stored(
        &mut self,
        cause: Option<&SourceLocation>,
        location: &SourceLocation,
        member: &str,
        message: &str,
    ) {
        self.tell(cause.map(|cause| cause.of(None)), Some(location), Some(member), message.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_file_line_record_and_member() {
        let mut reported = Vec::new();
        let mut report = |fault: Fault| reported.push(fault.to_string());
        let mut faults = Faults::new("a.jsonl", &mut report);
        let location = |name: &str| SourceLocation::new(7, Kind::Entry, name);
        faults.member(&location("AbCdEfGh"), "title", "is required");
        faults.member(&location(""), "title", "is required");
        faults.line(8, Some("kind"), "is required");
        faults.json(9, &kernel::json::parse_object(b"{\"a\":}").unwrap_err());
        faults.file("is empty");
        assert_eq!(faults.count(), 5);
        assert_eq!(
            reported,
            [
                "a.jsonl:7: entry AbCdEfGh: title: is required",
                "a.jsonl:7: entry: title: is required",
                "a.jsonl:8: kind: is required",
                "a.jsonl:9:6: expected a value",
                "a.jsonl: is empty",
            ]
        );
    }
}
