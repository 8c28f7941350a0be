//! The one pass over a file: lines become records, nested records are taken apart, names are noted, and everything is
//! put where its stage finds it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::Error;
use super::fault::{Faults, SourceLocation};
use super::store::{Names, Space};
use super::yaml;
use crate::program::bounds;
use crate::records::assignments::AssignmentSlug;
use crate::records::orders::Series;
use crate::records::store::key;
use kernel::json::{Json, Object as JsonObject, parse_object};
use kernel::kind::{Class, Kind};
use kernel::text::{Slug, Token, excerpt};

/// The longest file in YAML.
const YAML_LENGTH: u64 = 16 << 20;
/// The longest line: a file of 256 MB in base64, and its other members.
const LINE_LENGTH: u64 = 384 << 20;
/// After how many lines the progress is told.
const TELL_EVERY: u64 = 256;

fn is_yaml(name: &str, beginning: &[u8]) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("yaml" | "yml") => true,
        Some("jsonl" | "ndjson" | "json") => false,
        _ => beginning.trim_ascii_start().first() != Some(&b'{'),
    }
}

/// A record of the set-up, or of the account itself, which are held in memory.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) location: SourceLocation,
    pub(super) object: JsonObject<'static>,
}

/// What has been read of a file.
pub(super) struct RecordReader {
    pub(super) names: Names,
    pub(super) accounts: Vec<Held>,
    pub(super) setup: Vec<Held>,
    /// The records of the set-up and the account that have no slug.
    pub(super) nameless_setup: Vec<Held>,
    /// Whether the file is to have nothing but the set-up, and faults are to name columns.
    pub(super) is_applied: bool,
    /// How many records there are of each kind.
    pub(super) counts: BTreeMap<Kind, u64>,
    /// The highest number of an entry that the file states.
    pub(super) last_local_id: i64,
    /// The last number of each series of orders that the file states.
    pub(super) last_numbers: HashMap<Series, u64>,
    /// The kinds of which the file has lines that are stored within others.
    pub(super) lines: BTreeSet<Kind>,
    /// Whether the file has more of the set-up than an account can.
    is_full: bool,
}

impl RecordReader {
    pub(super) fn new() -> Result<Self, Error> {
        Ok(Self {
            names: Names::new()?,
            accounts: Vec::new(),
            setup: Vec::new(),
            nameless_setup: Vec::new(),
            is_applied: false,
            counts: BTreeMap::new(),
            last_local_id: 0,
            last_numbers: HashMap::new(),
            lines: BTreeSet::new(),
            is_full: false,
        })
    }

    /// Whether nothing was read that could be a record.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.nameless_setup.is_empty()
    }

    /// Reads a whole file: YAML or JSON Lines, by its name, or else by how it begins.
    pub(super) fn read(&mut self, name: &str, source: &mut dyn BufRead, faults: &mut Faults<'_>) -> Result<(), Error> {
        if !is_yaml(name, source.fill_buf()?) {
            return self.read_lines(source, faults);
        }
        let mut text = Vec::new();
        source.take(YAML_LENGTH + 1).read_to_end(&mut text)?;
        if text.len() as u64 > YAML_LENGTH {
            faults.file(format!("is longer than {} MB; write it as JSON Lines", YAML_LENGTH >> 20));
            return Ok(());
        }
        self.read_yaml(&text, faults)
    }

    fn read_lines(&mut self, source: &mut dyn BufRead, faults: &mut Faults<'_>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        let mut line = 0;
        loop {
            bytes.clear();
            let length = std::io::Read::take(&mut *source, LINE_LENGTH).read_until(b'\n', &mut bytes)?;
            if length == 0 {
                return Ok(());
            }
            line += 1;
            if length as u64 == LINE_LENGTH && !bytes.ends_with(b"\n") {
                faults.line(line, None, "the line is too long");
                source.skip_until(b'\n')?;
            } else if !bytes.trim_ascii().is_empty() {
                self.line(line, bytes.strip_suffix(b"\n").unwrap_or(&bytes), faults)?;
            }
            // A line that held a large file is not a reason to keep as much memory for the rest.
            if bytes.capacity() > 1 << 20 {
                bytes = Vec::new();
            }
            if line.is_multiple_of(TELL_EVERY) {
                faults.progress("lines read", line);
            }
        }
    }

    fn line(&mut self, line: u64, bytes: &[u8], faults: &mut Faults<'_>) -> Result<(), Error> {
        let object = match parse_object(bytes) {
            Ok(object) => object,
            Err(error) => {
                faults.json(line, &error);
                return Ok(());
            }
        };
        let Some(kind) = object.get("kind") else {
            faults.line(line, Some("kind"), "is required");
            return Ok(());
        };
        if let Some(kind) = kind.as_str().and_then(Kind::named).filter(|kind| kind.is_in_files()) {
            let mut location = SourceLocation::new(line, kind, "");
            if self.is_applied {
                location.marks = std::str::from_utf8(bytes).ok().map(|text| Arc::new(yaml::marks_of_line(line, text)));
            }
            return self.record(location, object, Some(bytes), faults);
        }
        let names: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.is_in_files()).map(Kind::name).collect();
        faults.line(
            line,
            Some("kind"),
            format!("is {}, and must be one of {}", excerpt(&kind.to_string()), names.join(", ")),
        );
        Ok(())
    }

    /// Puts a record where it belongs; its place has no name yet. `bytes` is its text, where it is not changed on the
    /// way.
    pub(super) fn record(
        &mut self,
        mut location: SourceLocation,
        mut object: JsonObject,
        bytes: Option<&[u8]>,
        faults: &mut Faults<'_>,
    ) -> Result<(), Error> {
        let kind = location.kind;
        if self.is_applied && kind != Kind::Account && !kind.is_setup() {
            let people = kind.plural().replace('_', " ");
            let message = format!("{people} are what people make and no part of the set-up; use `plaudit import`");
            faults.member(&location, "kind", message);
            return Ok(());
        }
        if let Some((_, owner)) = LINES.iter().find(|(line, _)| *line == kind) {
            *self.counts.entry(kind).or_default() += 1;
            return self.line_of(location.line, (kind, *owner), object, faults);
        }
        let member = key(kind);
        let lacks_slug = kind == Kind::Assignment && object.get(member).is_none_or(Json::is_null);
        if lacks_slug {
            link(&mut object);
        }
        let given = object.get(member).and_then(Json::as_str);
        let (is_right, shape): (fn(&str) -> bool, _) = if member == "token" {
            (|name| Token::parse(name).is_some(), "a token of 9 to 64 ASCII letters")
        } else if kind == Kind::Assignment {
            (|name| AssignmentSlug::parse(name).is_some(), "those of entry, judge or role, and score set, with J or R")
        } else {
            (|name| Slug::parse(name).is_some(), "a slug of 8 ASCII letters")
        };
        let Some(name) = given.filter(|name| is_right(name)).map(str::to_owned) else {
            if object.get(member).is_some_and(|json| !json.is_null()) {
                faults.member(&location, member, format!("must be {shape}"));
            }
            object.remove(member);
            if kind == Kind::Assignment {
                faults.member(&location, member, "is required, unless entry, judge or role, and score_set are given");
                return Ok(());
            }
            // It waits until every name of the file is known, so that it is given one that is free.
            if kind == Kind::Account || kind.is_setup() {
                if self.is_full(&location, faults) {
                    return Ok(());
                }
                self.nameless_setup.push(Held { location, object: object.into_owned() });
                return Ok(());
            }
            return Ok(self.names.push(Space::Nameless(kind), "", location.line, &text(&object))?);
        };
        location.name = name;
        *self.counts.entry(kind).or_default() += 1;
        if let Some(first) = self.names.claim(Space::Kind(kind), &location.name, location.line)? {
            faults.member(&location, member, format!("is given twice; the first record of it is on line {first}"));
        }
        let members = object.len();
        if self.is_full(&location, faults) {
            return Ok(());
        }
        let owned = take_apart(&location, &mut object, faults);
        let is_whole = object.len() == members && !lacks_slug;
        self.keep(location, object, bytes.filter(|_| is_whole))?;
        for (location, object) in owned {
            self.record(location, object, None, faults)?;
        }
        Ok(())
    }

    /// Whether a record is one of the set-up, which is held in memory, and beyond what an account can have.
    fn is_full(&mut self, location: &SourceLocation, faults: &mut Faults<'_>) -> bool {
        let held = self.setup.len() + self.nameless_setup.len() + self.accounts.len();
        let is_full = held > bounds::RECORDS && location.kind.class() != Class::People;
        if is_full && !std::mem::replace(&mut self.is_full, true) {
            let message = format!("is beyond the {} records of a set-up; what follows is not read", bounds::RECORDS);
            faults.member(location, "kind", message);
        }
        is_full
    }

    fn keep(&mut self, location: SourceLocation, object: JsonObject, bytes: Option<&[u8]>) -> Result<(), Error> {
        let kind = location.kind;
        match kind.class() {
            Class::Account => self.accounts.push(Held { location, object: object.into_owned() }),
            Class::SetUp => self.setup.push(Held { location, object: object.into_owned() }),
            // No file has keys.
            Class::Key => {}
            Class::People => {
                self.note_number(kind, &object);
                let bytes = bytes.map_or_else(|| Cow::Owned(text(&object)), Cow::Borrowed);
                self.names.push(Space::Kind(kind), "", location.line, &bytes)?;
            }
        }
        Ok(())
    }

    /// Records that are given their numbers follow the highest one that is stated.
    fn note_number(&mut self, kind: Kind, object: &JsonObject) {
        if kind == Kind::Entry {
            let stated = object.get("local_id").and_then(Json::as_i64);
            self.last_local_id = self.last_local_id.max(stated.unwrap_or(0));
        } else if kind == Kind::Order {
            let stated = object.get("invoice_number").and_then(Json::as_str).and_then(Series::of_number);
            if let Some((series, value)) = stated {
                let last = self.last_numbers.entry(series).or_default();
                *last = value.max(*last);
            }
        }
    }

    /// A line of another record, on a line of its own, waits for that.
    fn line_of(
        &mut self,
        line: u64,
        (kind, owner): (Kind, Kind),
        mut object: JsonObject,
        faults: &mut Faults<'_>,
    ) -> Result<(), Error> {
        // It has no name of its own: it is stored within its owner.
        for passed_over in ["kind", "slug"] {
            object.remove(passed_over);
        }
        let is_name = |name: &&str| match owner {
            Kind::Assignment => AssignmentSlug::parse(name).is_some(),
            _ => Slug::parse(name).is_some(),
        };
        let name = object.remove(owner.name());
        if let Some(name) = name.as_ref().and_then(Json::as_str).filter(is_name) {
            self.lines.insert(kind);
            self.names.push(Space::Kind(kind), name, line, &text(&object))?;
        } else {
            let message = format!("must be the slug of an {}", owner.words());
            faults.member(&SourceLocation::new(line, kind, ""), owner.name(), message);
        }
        Ok(())
    }
}

/// The kinds whose records are stored within those of another.
pub(super) const LINES: [(Kind, Kind); 3] =
    [(Kind::OrderItem, Kind::Order), (Kind::Payment, Kind::Order), (Kind::Score, Kind::Assignment)];

/// Gives an assignment the slug that follows from what it links, where all of that is stated.
fn link(object: &mut JsonObject) {
    let slug = |name| object.get(name).and_then(Json::as_str).and_then(Slug::parse);
    let made = match (slug("entry"), slug("judge"), slug("role"), slug("score_set")) {
        (Some(entry), Some(judge), None, Some(score_set)) => AssignmentSlug::of_judge(entry, judge, score_set),
        (Some(entry), None, Some(role), Some(score_set)) => AssignmentSlug::of_role(entry, role, score_set),
        _ => return,
    };
    object.set("slug", Json::String(made.to_string().into()));
}

fn text(object: &JsonObject) -> Vec<u8> {
    let mut text = Vec::new();
    object.write_json(&mut text);
    text
}

/// Takes the records that a record owns out of it, and fills in what they share with it.
fn take_apart<'s>(
    location: &SourceLocation,
    object: &mut JsonObject<'s>,
    faults: &mut Faults<'_>,
) -> Vec<(SourceLocation, JsonObject<'s>)> {
    let mut owned = Vec::new();
    for kind in location.kind.owned() {
        let member = kind.plural();
        let Some(records) = object.remove(member) else { continue };
        let Json::Array(records) = records else {
            if !records.is_null() {
                faults.member(location, member, format!("must be a list of records of the kind {kind}"));
            }
            continue;
        };
        for (number, record) in (1..).zip(records) {
            let Json::Object(mut record) = record else {
                faults.member(location, &format!("{member}.{number}"), "must be an object");
                continue;
            };
            let expected = [("kind", kind.name()), (location.kind.name(), location.name.as_str())];
            for (name, expected) in expected {
                let stated = record.set(name, Json::String(expected.to_owned().into()));
                if stated.is_some_and(|stated| !stated.is_null() && stated.as_str() != Some(expected)) {
                    faults.member(
                        location,
                        &format!("{member}.{number}.{name}"),
                        format!("must be {expected} or left out"),
                    );
                }
            }
            for name in location.kind.owners().map(Kind::name) {
                if let (None, Some(value)) = (record.get(name), object.get(name)) {
                    record.set(name, value.clone());
                }
            }
            let marks = location.marks.as_ref().map(|marks| marks.within(&format!("{member}.{number}")));
            let line = marks.as_ref().map_or(location.line, |marks| marks.start().line);
            owned.push((SourceLocation { marks: marks.map(Arc::new), ..SourceLocation::new(line, kind, "") }, record));
        }
    }
    owned
}
