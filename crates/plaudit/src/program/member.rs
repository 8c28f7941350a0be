//! The members of records, described: what the JSON Schema of program files and the schemas of the OpenAPI document are
//! made of, those of bodies and those of answers.
//!
//! A record is read by [`super::SetupRecord::read`], which knows every rule. The table beside it says what an editor can
//! show and check before that. A test holds the two together: every member that the one asks for is in the other, and
//! values of every shape are taken by both or by neither.

use serde_json::{Map, Value, json};

use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug};

/// A member of a record in a program file.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// What it says, in a sentence.
    pub about: &'static str,
    /// Whether it must be there.
    pub presence: Presence,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// Whether a record without a slug is known by it.
    pub identifies: bool,
    /// Whether a record that leaves it out keeps what it has: it is changed by commands or by people as well. Times are
    /// kept by a rule of their own.
    pub is_kept: bool,
    /// The member and its value with which alone it may be there.
    pub only_with: Option<(&'static str, &'static str)>,
    /// How it stands in bodies.
    pub bodies: InBodies,
    /// In which answers it is shown.
    pub shown: Shown,
    /// What its value is where it is shown, if that is something else than what its shape becomes there.
    pub shown_as: Option<&'static Shape>,
    /// Whether it is shown as null, where that is not the same as whether it is written so.
    pub shown_null: Option<bool>,
}

/// How a member stands in the bodies of requests.
#[derive(Clone, Copy, Debug)]
pub struct InBodies {
    /// Whether the body that makes a record has it, and whether it must.
    pub create: Option<Presence>,
    /// Whether the body that changes a record has it.
    pub update: bool,
    /// Whether it stands within `translated`.
    pub is_text: bool,
}

/// In which answers a member is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In none.
    Never,
    /// In all.
    Always,
    /// In those that are about one record.
    Single,
    /// In lists.
    Listed,
    /// In those that are about one record, and in lists where it is asked for.
    Asked,
}

/// Where a value stands, which decides its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a program file.
    File,
    /// In the body of a request.
    Body,
    /// In an answer.
    Answer,
}

impl Place {
    /// The schema of something that is defined once.
    fn defined(self, name: &str) -> Value {
        match self {
            Self::File => json!({ "$ref": format!("#/$defs/{name}") }),
            Self::Body | Self::Answer => component(&pascal(name)),
        }
    }
}

/// A schema of the OpenAPI document by its name.
#[must_use]
pub fn component(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A name in the case of the names of schemas: `score_set` is `ScoreSet`.
#[must_use]
pub fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(word).collect()
}

/// Whether a member must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may be left out.
    Optional,
    /// It follows from others, may be left out, and must agree where it is stated.
    Computed,
}

/// What the value of a member is.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// A string of at most so many characters.
    Text(usize),
    /// A string of at most so many characters that is not blank.
    FilledText(usize),
    /// A string of this regular expression.
    Pattern(&'static str),
    /// true or false.
    Flag,
    /// An integer from one number to another.
    Integer(i64, i64),
    /// A number, at least and at most so much, where there are such bounds.
    Number(Option<i64>, Option<i64>),
    /// The slug of a record of this kind.
    Ref(Kind),
    /// The slug of something that has no kind of its own.
    Slug,
    /// The token of a file.
    Token,
    /// A time, ISO 8601.
    Time,
    /// A date and a time of day in the account's time zone.
    LocalTime,
    /// A date.
    Date,
    /// One of these names.
    OneOf(fn() -> Vec<&'static str>),
    /// A translated map, each text of at most so many characters.
    Translated(usize),
    /// A list of at most so many items.
    List(&'static Shape, usize),
    /// A list of at most so many items, each once.
    Set(&'static Shape, usize),
    /// The same, with at least one item.
    FilledSet(&'static Shape, usize),
    /// An object with these members.
    Object(&'static [Member]),
    /// An object of which only these members count.
    OpenObject(&'static [Member]),
    /// One of these.
    Either(&'static [Shape]),
    /// A list of this one text.
    Only(&'static str),
    /// What the OpenAPI document defines under this name; no program file has it.
    Component(&'static str),
}

/// The names of an enumeration, for [`Shape::OneOf`].
#[must_use]
pub fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

impl Member {
    const fn new(name: &'static str, shape: Shape, about: &'static str, presence: Presence) -> Self {
        Self {
            name,
            shape,
            about,
            presence,
            is_nullable: false,
            identifies: false,
            is_kept: false,
            only_with: None,
            bodies: InBodies { create: None, update: false, is_text: false },
            shown: Shown::Always,
            shown_as: None,
            shown_null: None,
        }
    }

    /// One that must be there.
    #[must_use]
    pub const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self::new(name, shape, about, Presence::Required)
    }

    /// One that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self::new(name, shape, about, Presence::Optional)
    }

    /// One that follows from other records and is passed over.
    #[must_use]
    pub const fn computed(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Shape::Any, about, Presence::Computed).hidden()
    }

    /// The address of the record, which it alone shows.
    #[must_use]
    pub const fn link() -> Self {
        Self::computed("link", "Its address.").shown_as(&Shape::Component("Link")).in_single_reads()
    }

    /// When the record was made.
    #[must_use]
    pub const fn created(name: &'static str) -> Self {
        Self::optional(name, Shape::Time, "When it was made; left out, what is stored, or the time of the run.")
    }

    /// When the record was last changed.
    #[must_use]
    pub const fn updated(name: &'static str) -> Self {
        Self::optional(name, Shape::Time, "When it was last changed; left out, what is stored, or the time of the run.")
    }

    /// It may be null.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// A record without a slug is known by it.
    #[must_use]
    pub const fn identifying(self) -> Self {
        Self { identifies: true, ..self }
    }

    /// A record that leaves it out keeps what it has.
    #[must_use]
    pub const fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }

    /// It may be there only where another member has this value.
    #[must_use]
    pub const fn only_with(self, name: &'static str, value: &'static str) -> Self {
        Self { only_with: Some((name, value)), ..self }
    }

    /// The body that makes a record must have it.
    #[must_use]
    pub const fn to_create(self) -> Self {
        Self { bodies: InBodies { create: Some(Presence::Required), ..self.bodies }, ..self }
    }

    /// The body that makes a record may have it.
    #[must_use]
    pub const fn creatable(self) -> Self {
        Self { bodies: InBodies { create: Some(Presence::Optional), ..self.bodies }, ..self }
    }

    /// The body that changes a record may have it.
    #[must_use]
    pub const fn updatable(self) -> Self {
        Self { bodies: InBodies { update: true, ..self.bodies }, ..self }
    }

    /// Bodies have it within `translated`.
    #[must_use]
    pub const fn text(self) -> Self {
        Self { bodies: InBodies { is_text: true, ..self.bodies }, ..self }
    }

    /// It is in no answer.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self { shown: Shown::Never, ..self }
    }

    /// It is in answers that are about one record.
    #[must_use]
    pub const fn in_single_reads(self) -> Self {
        Self { shown: Shown::Single, ..self }
    }

    /// It is in lists.
    #[must_use]
    pub const fn in_lists(self) -> Self {
        Self { shown: Shown::Listed, ..self }
    }

    /// It is in answers that are about one record, and in lists where it is asked for.
    #[must_use]
    pub const fn where_asked(self) -> Self {
        Self { shown: Shown::Asked, ..self }
    }

    /// It is shown as something else than its shape becomes in answers.
    #[must_use]
    pub const fn shown_as(self, shape: &'static Shape) -> Self {
        Self { shown_as: Some(shape), ..self }
    }

    /// It is in every answer.
    #[must_use]
    pub const fn shown(self) -> Self {
        Self { shown: Shown::Always, ..self }
    }

    /// It is shown as null where what it refers to is gone.
    #[must_use]
    pub const fn or_gone(self) -> Self {
        Self { shown_null: Some(true), ..self }
    }

    /// It is never shown as null.
    #[must_use]
    pub const fn never_null(self) -> Self {
        Self { shown_null: Some(false), ..self }
    }

    /// Its JSON Schema where it stands.
    #[must_use]
    pub fn schema(&self, place: Place) -> Value {
        let is_answer = place == Place::Answer;
        let shape = self.shown_as.filter(|_| is_answer).unwrap_or(&self.shape);
        let is_nullable = self.shown_null.filter(|_| is_answer).unwrap_or(self.is_nullable);
        let mut schema = match (is_nullable, shape.schema(place)) {
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
        Value::Object(described)
    }
}

impl Shape {
    /// Its JSON Schema where it stands. What is sent is bounded; what is shown is what was taken.
    #[must_use]
    pub fn schema(&self, place: Place) -> Value {
        let is_answer = place == Place::Answer;
        match self {
            Self::Any => json!({}),
            Self::Text(_) | Self::FilledText(_) | Self::Pattern(_) if is_answer => json!({ "type": "string" }),
            Self::Integer(..) if is_answer => json!({ "type": "integer" }),
            Self::Number(..) if is_answer => json!({ "type": "number" }),
            Self::Ref(kind) if is_answer => component(reference_component(*kind)),
            Self::Time if is_answer => component("Timestamp"),
            Self::Translated(_) if is_answer => component("Translated"),
            Self::List(item, _) | Self::Set(item, _) | Self::FilledSet(item, _) if is_answer => {
                json!({ "type": "array", "items": item.schema(place) })
            }
            // Objects within a record are shown as they were written.
            Self::Object(members) | Self::OpenObject(members) if is_answer => {
                let mut schema = object_schema(members, Place::Body);
                schema["additionalProperties"] = json!(true);
                schema
            }
            Self::Text(max) => json!({ "type": "string", "maxLength": max }),
            Self::FilledText(max) => json!({ "type": "string", "maxLength": max, "pattern": "\\S" }),
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
            Self::Ref(_) | Self::Slug => place.defined("slug"),
            Self::Token => place.defined("token"),
            Self::Time => place.defined("time"),
            Self::LocalTime => place.defined("local_time"),
            Self::Date => place.defined("date"),
            Self::OneOf(names) => json!({ "type": "string", "enum": names() }),
            Self::Translated(max) => json!({
                "type": "object",
                "propertyNames": place.defined("locale"),
                "additionalProperties": { "type": "string", "maxLength": max },
            }),
            Self::List(item, max) => json!({ "type": "array", "maxItems": max, "items": item.schema(place) }),
            Self::Set(item, max) => {
                json!({ "type": "array", "maxItems": max, "uniqueItems": true, "items": item.schema(place) })
            }
            Self::FilledSet(item, max) => {
                let items = item.schema(place);
                json!({ "type": "array", "minItems": 1, "maxItems": max, "uniqueItems": true, "items": items })
            }
            Self::Object(members) => object_schema(members, place),
            Self::OpenObject(members) => {
                let mut schema = object_schema(members, place);
                schema["additionalProperties"] = json!(true);
                schema
            }
            Self::Either(shapes) => {
                json!({ "anyOf": shapes.iter().map(|shape| shape.schema(place)).collect::<Vec<_>>() })
            }
            Self::Only(text) => {
                json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": { "type": "string", "enum": [text] } })
            }
            Self::Component(name) => component(name),
        }
    }

    fn references(&self, value: &Json, path: &str, found: &mut Vec<(String, Kind, Slug)>) {
        match (self, value) {
            (Self::Ref(kind), Json::String(text)) => {
                found.extend(Slug::parse(text).map(|slug| (path.to_owned(), *kind, slug)));
            }
            // A reference in the form of a read is an object with the slug in it.
            (Self::Ref(_), Json::Object(object)) => {
                if let Some(slug) = object.get("slug") {
                    self.references(slug, path, found);
                }
            }
            (Self::List(item, _) | Self::Set(item, _) | Self::FilledSet(item, _), Json::Array(items)) => {
                for (number, value) in (1..).zip(items.iter()) {
                    item.references(value, &format!("{path}.{number}"), found);
                }
            }
            (Self::Object(members) | Self::OpenObject(members), Json::Object(object)) => {
                references_of(members, object, path, found);
            }
            (Self::Either(shapes), value) => shapes.iter().for_each(|shape| shape.references(value, path, found)),
            _ => {}
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
#[must_use]
pub fn object_schema(members: &[Member], place: Place) -> Value {
    let properties: Map<String, Value> =
        members.iter().map(|member| (member.name.to_owned(), member.schema(place))).collect();
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

/// The slugs that a record names, by its members: the path of each, the kind that it must be, and the slug.
#[must_use]
pub fn references(members: &[Member], record: &JsonObject) -> Vec<(String, Kind, Slug)> {
    let mut found = Vec::new();
    references_of(members, record, "", &mut found);
    found
}

fn references_of(members: &[Member], record: &JsonObject, path: &str, found: &mut Vec<(String, Kind, Slug)>) {
    for member in members {
        if let Some(value) = record.get(member.name) {
            let separator = if path.is_empty() { "" } else { "." };
            member.shape.references(value, &format!("{path}{separator}{}", member.name), found);
        }
    }
}

/// The definitions that shapes refer to.
#[must_use]
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
        "locale": { "description": "One of the languages of the account.", "type": "string", "enum": locales },
        "time": {
            "description": "A time, ISO 8601, such as 2026-01-31T08:30:00Z.",
            "type": "string",
            "pattern": "^[+-]?[0-9]{4,6}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9]{2}",
        },
        "local_time": {
            "description": "A date and a time of day in the account's time zone, such as 2026-01-31 08:30:00.",
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
        },
        "date": {
            "description": "A date, such as 2026-01-31.",
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        },
    }))
}
