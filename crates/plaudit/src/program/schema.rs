//! The JSON Schema of members: of program files, of bodies and of answers.

use serde_json::{Map, Value, json};

use super::member::{Member, Presence, Shape};
use kernel::input::{FILLED_LINE_PATTERN, LINE_LENGTH, LINE_PATTERN};
use kernel::kind::Kind;
use kernel::text::Locale;

/// Where a value stands, which decides its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// In a program file.
    File,
    /// In the body of a request.
    Body,
    /// In an answer.
    Answer,
}

impl Usage {
    /// The schema of something that is defined once.
    fn defined(self, name: &str) -> Value {
        match self {
            Self::File => json!({ "$ref": format!("#/$defs/{name}") }),
            Self::Body | Self::Answer => component(&pascal(name)),
        }
    }
}

/// A schema of the OpenAPI document by its name.
pub fn component(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A name in the case of the names of schemas: `score_set` is `ScoreSet`.
pub fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(word).collect()
}

impl Member {
    /// Its JSON Schema where it stands.
    pub fn schema(&self, usage: Usage) -> Value {
        let is_answer = usage == Usage::Answer;
        let (shape, is_nullable) = match usage {
            Usage::File => (&self.shape, self.is_nullable),
            Usage::Body => (self.body_shape(), self.is_nullable_in_bodies()),
            Usage::Answer => (self.shown_as.unwrap_or(&self.shape), self.shown_null.unwrap_or(self.is_nullable)),
        };
        let mut schema = match (is_nullable, shape.schema(usage)) {
            (true, Value::Object(mut shape)) => match shape.get("type").cloned() {
                Some(Value::String(name)) if !shape.contains_key("enum") => {
                    shape.insert("type".to_owned(), json!([name, "null"]));
                    shape
                }
                _ => object(json!({ "anyOf": [shape, { "type": "null" }] })),
            },
            (_, shape) => object(shape),
        };
        // What a member says goes before what it is, where people read it.
        let mut described = Map::new();
        let about = match self.shape.noun().filter(|_| !is_answer) {
            Some(noun) => format!("{} {noun}", self.about),
            None => self.about.to_owned(),
        };
        described.insert("description".to_owned(), Value::String(about));
        described.append(&mut schema);
        let is_of_example = usage == Usage::Body || is_answer && self.shown_as.is_none();
        if let Some(example) = self.example.filter(|_| is_of_example) {
            let example = serde_json::from_str(example).unwrap_or_else(|_| json!(example));
            described.insert("examples".to_owned(), json!([example]));
        }
        Value::Object(described)
    }
}

impl Shape {
    /// Its JSON Schema where it stands. What is sent is bounded; what is shown is what was taken.
    pub fn schema(&self, usage: Usage) -> Value {
        let is_answer = usage == Usage::Answer;
        match self {
            Self::Any => json!({}),
            Self::Text(_) | Self::FilledText(_) | Self::Pattern(_) if is_answer => json!({ "type": "string" }),
            Self::Integer(..) if is_answer => json!({ "type": "integer" }),
            Self::Number(..) if is_answer => json!({ "type": "number" }),
            Self::Ref(kind) if is_answer => component(reference_component(*kind)),
            Self::Time if is_answer => component("Timestamp"),
            Self::Translated(_) if is_answer => component("Translated"),
            Self::List(item, _) | Self::Set(item, _) | Self::FilledSet(item, _) if is_answer => {
                json!({ "type": "array", "items": item.schema(usage) })
            }
            Self::Texts(..) if is_answer => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            // Objects within a record are shown as they were written.
            Self::Object(members) | Self::OpenObject(members) if is_answer => {
                let mut schema = object_schema(members, Usage::Body);
                schema["additionalProperties"] = json!(true);
                schema
            }
            Self::Text(max) => text(*max, false),
            Self::FilledText(max) => text(*max, true),
            Self::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Integer(minimum, maximum) => {
                json!({ "type": "integer", "minimum": minimum, "maximum": maximum })
            }
            Self::Number(minimum, maximum) => {
                let mut schema = Map::from_iter([("type".to_owned(), json!("number"))]);
                for (name, bound) in [("minimum", minimum), ("maximum", maximum)] {
                    if let Some(bound) = bound {
                        schema.insert(name.to_owned(), json!(bound));
                    }
                }
                Value::Object(schema)
            }
            Self::Ref(_) | Self::Slug => usage.defined("slug"),
            Self::Token => usage.defined("token"),
            Self::Time => usage.defined("time"),
            Self::LocalTime => usage.defined("local_time"),
            Self::Date => usage.defined("date"),
            Self::OneOf(names) => json!({ "type": "string", "enum": names() }),
            Self::Translated(max) => json!({
                "type": "object",
                "propertyNames": usage.defined("locale"),
                "additionalProperties": text(*max, false),
            }),
            Self::Texts(most, length) => {
                json!({ "type": "object", "maxProperties": most, "additionalProperties": text(*length, true) })
            }
            Self::List(item, max) => json!({ "type": "array", "maxItems": max, "items": item.schema(usage) }),
            Self::Set(item, max) => {
                json!({ "type": "array", "maxItems": max, "uniqueItems": true, "items": item.schema(usage) })
            }
            Self::FilledSet(item, max) => {
                let items = item.schema(usage);
                json!({ "type": "array", "minItems": 1, "maxItems": max, "uniqueItems": true, "items": items })
            }
            Self::Object(members) => object_schema(members, usage),
            Self::OpenObject(members) => {
                let mut schema = object_schema(members, usage);
                schema["additionalProperties"] = json!(true);
                schema
            }
            Self::Either(shapes) => {
                json!({ "anyOf": shapes.iter().map(|shape| shape.schema(usage)).collect::<Vec<_>>() })
            }
            Self::Only(text) => {
                json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": { "type": "string", "enum": [text] } })
            }
            Self::Component(name) => component(name),
        }
    }

    /// What a slug is one of, for people.
    fn noun(&self) -> Option<String> {
        match self {
            Self::Ref(kind) => Some(format!("(The slug of a {}.)", spoken(*kind))),
            Self::List(Self::Ref(kind), _) | Self::Set(Self::Ref(kind), _) | Self::FilledSet(Self::Ref(kind), _) => {
                Some(format!("(Slugs of {}.)", kind.plural().replace('_', " ")))
            }
            _ => None,
        }
    }
}

/// The schema of a text, which is one line where it is short.
fn text(max: usize, is_filled: bool) -> Value {
    let pattern = match (max <= LINE_LENGTH, is_filled) {
        (true, true) => FILLED_LINE_PATTERN,
        (true, false) => LINE_PATTERN,
        (false, true) => "\\S",
        (false, false) => return json!({ "type": "string", "maxLength": max }),
    };
    json!({ "type": "string", "maxLength": max, "pattern": pattern })
}

/// The schema of what stands for a record of this kind in the answers about others.
fn reference_component(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "Manager",
        Kind::Price => "PriceReference",
        Kind::Tab => "TabReference",
        _ => "Reference",
    }
}

fn spoken(kind: Kind) -> String {
    kind.name().replace('_', " ")
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The JSON Schema of an object with these members and no others.
pub fn object_schema(members: &[Member], usage: Usage) -> Value {
    let properties: Map<String, Value> =
        members.iter().map(|member| (member.name.to_owned(), member.schema(usage))).collect();
    let required: Vec<&str> =
        members.iter().filter(|member| member.presence == Presence::Required).map(|member| member.name).collect();
    let mut schema =
        Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), Value::Object(properties))]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    let dependent: Map<String, Value> = members.iter().filter_map(dependency).collect();
    if !dependent.is_empty() {
        schema.insert("dependentSchemas".to_owned(), Value::Object(dependent));
    }
    Value::Object(schema)
}

/// What must hold where a member is there. One that may be null may be there as null in any case.
fn dependency(member: &Member) -> Option<(String, Value)> {
    let (name, value) = member.only_with.filter(|_| !member.is_nullable)?;
    Some((member.name.to_owned(), json!({ "properties": { name: { "const": value } } })))
}

/// The definitions that shapes refer to.
pub fn definitions() -> Map<String, Value> {
    let locales: Vec<&str> = Locale::ALL.iter().map(|locale| locale.code()).collect();
    object(json!({
        "slug": {
            "description": "The identifier of a record: 8 letters.",
            "type": "string",
            "pattern": "^[A-Za-z]{8}$",
        },
        "token": {
            "description": "The identifier of a file: 9 to 64 letters.",
            "type": "string",
            "pattern": "^[A-Za-z]{9,64}$",
        },
        "locale": { "description": "One of the languages of the account.", "type": "string", "enum": locales, "examples": ["en_GB"] },
        "time": {
            "description": "A time, ISO 8601.",
            "examples": ["2026-01-31T08:30:00Z"],
            "type": "string",
            "pattern": "^[+-]?[0-9]{4,6}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9]{2}",
        },
        "local_time": {
            "description": "A date and a time of day in the account's time zone.",
            "examples": ["2026-01-31 08:30:00"],
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
        },
        "date": {
            "description": "A date.",
            "examples": ["2026-01-31"],
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        },
    }))
}
