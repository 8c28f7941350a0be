//! Program files in YAML: a document becomes records with the places of their members.
//!
//! - YAML 1.2 with its core schema: `no`, `on` and `2026-01-31` are strings; `true`, `12` and `~` are not.
//! - One document. A key stands once in a mapping and is a scalar. No tags and no directives.
//! - Aliases stand for what their anchors hold; what all anchors and aliases of a file hold together is bounded in values
//!   and in text, so that a small file cannot become a large one. Beyond that nothing more is read.
//! - Nesting is bounded as in JSON.

mod records;
mod scalar;

use std::collections::{BTreeSet, HashMap};

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::marks::{Mark, Marks, joined};
use kernel::json::{Json, MAXIMUM_DEPTH, Object as JsonObject};
use kernel::text::excerpt;

/// How many values all anchors and aliases of a file may hold.
const ALIASED: usize = 100_000;
/// How many bytes of text.
const ALIASED_TEXT: usize = 4 << 20;
/// The most characters of a key: no member has so long a name, and what stands in a mapping is known by the keys above it.
const KEY_LENGTH: usize = 255;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) value: Value,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A scalar.
    Scalar(Json<'static>),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping: keys with their places, and values.
    Map(Vec<(String, Mark, Node)>),
}

/// Something that is wrong with the YAML itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) mark: Mark,
    pub(super) message: String,
}

/// Reads the one document of a text: its root, unless the text is no YAML or has nothing in it, and all that is wrong.
pub(super) fn read(text: &str) -> (Option<Node>, Vec<Problem>) {
    let options = granit_parser::options! {
        strict_indentation: true,
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: MAXIMUM_DEPTH,
        block_nesting_limit: MAXIMUM_DEPTH,
    };
    let mut composer = Composer::default();
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => composer.event(event, span),
            Err(error) => {
                let problem =
                    Problem { mark: mark_of(error.marker()), message: format!("this is no YAML: {}", error.info()) };
                // What was composed so far is not what the file says.
                return (None, vec![problem]);
            }
        }
        if composer.documents > 1 {
            break;
        }
        if composer.is_over() {
            return (None, composer.problems);
        }
    }
    (composer.root, composer.problems)
}

fn mark_of(marker: &granit_parser::Marker) -> Mark {
    Mark { line: marker.line() as u64, column: marker.col() + 1 }
}

/// A collection that is not closed yet.
struct Open {
    mark: Mark,
    anchor: usize,
    kind: Collection,
}

enum Collection {
    List(Vec<Node>),
    Map { members: Vec<(String, Mark, Node)>, names: BTreeSet<String>, key: Option<(String, Mark)> },
}

#[derive(Default)]
struct Composer {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    aliased: Extent,
    documents: usize,
    root: Option<Node>,
    problems: Vec<Problem>,
}

impl Composer {
    fn problem(&mut self, mark: Mark, message: impl Into<String>) {
        self.problems.push(Problem { mark, message: message.into() });
    }

    fn event(&mut self, event: Event<'_>, span: Span) {
        let mark = mark_of(&span.start);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.problem(mark, "the file has a second document; a program file is one");
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.check_tag(mark, tag.as_deref());
                let value = self.scalar(mark, &text, style);
                self.add(Node { mark, value }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(mark, tag.as_deref());
                self.open.push(Open { mark, anchor, kind: Collection::List(Vec::new()) });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(mark, tag.as_deref());
                let kind = Collection::Map { members: Vec::new(), names: BTreeSet::new(), key: None };
                self.open.push(Open { mark, anchor, kind });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { mark, anchor, kind }) = self.open.pop() {
                    let value = match kind {
                        Collection::List(items) => Value::List(items),
                        Collection::Map { members, .. } => Value::Map(members),
                    };
                    self.add(Node { mark, value }, anchor);
                }
            }
            Event::Alias(anchor) => self.alias(mark, anchor),
            Event::UnresolvedAlias(name) => {
                self.problem(mark, format!("there is no anchor &{} before this", excerpt(&name)));
                self.add(null(mark), 0);
            }
            // Where the stream and the document begin and end, and comments, which are not asked for.
            _ => {}
        }
    }

    /// Whether the anchors and aliases hold more than they may.
    fn is_over(&self) -> bool {
        self.aliased.values > ALIASED || self.aliased.text > ALIASED_TEXT
    }

    /// A copy of a node, which counts, and how deep it is; nothing where it is one too many, which is told.
    fn copy(&mut self, mark: Mark, node: &Node) -> Option<(Node, usize)> {
        let depth = self.aliased.add(node);
        if self.is_over() {
            let most = ALIASED_TEXT >> 20;
            let message =
                format!("anchors and aliases up to here hold more than {ALIASED} values, or {most} MB of text");
            self.problem(mark, message);
            return None;
        }
        Some((node.clone(), depth))
    }

    /// What an anchor holds, again. The places stay those of the anchor's value, where it is to be corrected.
    fn alias(&mut self, mark: Mark, anchor: usize) {
        let copy = match self.anchors.remove(&anchor) {
            // The anchor is around the alias.
            None => Err("the alias stands for something that it is a part of"),
            Some(node) => {
                let copy = self.copy(mark, &node);
                self.anchors.insert(anchor, node);
                match copy {
                    None => return,
                    Some((_, depth)) if self.open.len() + depth > MAXIMUM_DEPTH => {
                        Err("values are nested too deep here")
                    }
                    Some((node, _)) => Ok(node),
                }
            }
        };
        match copy {
            Ok(copy) => self.add(copy, 0),
            Err(message) => {
                self.problem(mark, message);
                self.add(null(mark), 0);
            }
        }
    }

    fn scalar(&mut self, mark: Mark, text: &str, style: ScalarStyle) -> Value {
        if style != ScalarStyle::Plain {
            return Value::Scalar(Json::String(text.to_owned().into()));
        }
        Value::Scalar(scalar::plain(text).unwrap_or_else(|message| {
            self.problem(mark, message);
            Json::Null
        }))
    }

    fn check_tag(&mut self, mark: Mark, tag: Option<&Tag>) {
        if let Some(tag) = tag {
            self.problem(mark, format!("the tag {} means nothing here", excerpt(&tag.to_string())));
        }
    }

    /// Puts a node where it belongs: as the root, an item, a key or a value.
    fn add(&mut self, node: Node, anchor: usize) {
        let mark = node.mark;
        if anchor != 0
            && let Some((copy, _)) = self.copy(mark, &node)
        {
            self.anchors.insert(anchor, copy);
        }
        let Some(Open { kind, .. }) = self.open.last_mut() else {
            if self.documents == 1 {
                self.root = Some(node);
            }
            return;
        };
        match kind {
            Collection::List(items) => items.push(node),
            Collection::Map { members, names, key } => match key.take() {
                Some((name, at)) if names.insert(name.clone()) => members.push((name, at, node)),
                Some((name, at)) => {
                    let message = format!("the key `{}` stands twice in this mapping", excerpt(&name));
                    self.problem(at, message);
                }
                None => {
                    let name = match &node.value {
                        Value::Scalar(Json::String(text) | Json::Number(text)) => Some(text.to_string()),
                        Value::Scalar(json) => Some(json.to_string()),
                        _ => None,
                    };
                    let message = match &name {
                        None => "a key is a name, not a list or a mapping",
                        Some(name) if name.chars().count() > KEY_LENGTH => "the key is longer than any name",
                        Some(_) => "",
                    };
                    *key = Some((name.filter(|_| message.is_empty()).unwrap_or_default(), mark));
                    if !message.is_empty() {
                        self.problem(mark, message);
                    }
                }
            },
        }
    }
}

fn null(mark: Mark) -> Node {
    Node { mark, value: Value::Scalar(Json::Null) }
}

/// How much nodes hold.
#[derive(Default)]
struct Extent {
    values: usize,
    /// Bytes of scalars and keys.
    text: usize,
}

impl Extent {
    /// Adds a node and all that it holds; gives how deep it is.
    fn add(&mut self, node: &Node) -> usize {
        self.values += 1;
        match &node.value {
            Value::Scalar(Json::String(text) | Json::Number(text)) => {
                self.text += text.len();
                0
            }
            Value::Scalar(_) => 0,
            Value::List(items) => 1 + items.iter().map(|item| self.add(item)).max().unwrap_or(0),
            Value::Map(members) => {
                let depth = |(name, _, node): &(String, Mark, Node)| {
                    self.text += name.len();
                    self.add(node)
                };
                1 + members.iter().map(depth).max().unwrap_or(0)
            }
        }
    }
}

/// A record: the members of a mapping, and where they stand.
pub(super) fn record(mark: Mark, members: Vec<(String, Mark, Node)>) -> (JsonObject<'static>, Marks) {
    let mut marks = Marks::new(mark);
    let object = object_of(members, "", &mut marks);
    (object, marks)
}

/// The marks of an object on a line of JSON Lines: all JSON is YAML.
pub(super) fn marks_of_line(line: u64, text: &str) -> Marks {
    let marks = match read(text).0 {
        Some(Node { mark, value: Value::Map(members) }) => record(mark, members).1,
        _ => Marks::new(Mark { line, column: 1 }),
    };
    marks.on_line(line)
}

/// A node as JSON.
#[cfg(test)]
pub(super) fn json(node: Node) -> Json<'static> {
    let mut marks = Marks::new(node.mark);
    json_of(node, "", &mut marks)
}

fn object_of(members: Vec<(String, Mark, Node)>, path: &str, marks: &mut Marks) -> JsonObject<'static> {
    let mut object = JsonObject::new();
    for (name, mark, node) in members {
        let member = joined(path, &name);
        marks.note(&member, mark);
        object.set(name, json_of(node, &member, marks));
    }
    object
}

fn json_of(node: Node, path: &str, marks: &mut Marks) -> Json<'static> {
    match node.value {
        Value::Scalar(json) => json,
        Value::List(items) => {
            let item = |(number, node): (usize, Node)| {
                let item = joined(path, &number.to_string());
                marks.note(&item, node.mark);
                json_of(node, &item, marks)
            };
            Json::Array((1..).zip(items).map(item).collect())
        }
        Value::Map(members) => Json::Object(object_of(members, path, marks)),
    }
}

#[cfg(test)]
mod tests;
