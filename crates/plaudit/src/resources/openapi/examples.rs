//! Examples of bodies, answers and parameters, made from the schemas that describe them.
//!
//! - A value is what its schema gives as an example, else one that its type, limits, form and name allow.
//! - A body has every member. An answer has those that are always there, and others that state an example.
//! - A record is known by its kind in all examples: a season is `SeasonAA` wherever it stands.
//! - The XML of an example stands in its description: tools hold its value against the schema, whatever the media type.

use serde_json::{Map, Value, json};

use crate::program::pascal;
use crate::render;
use crate::render::accept::Format;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The address of the deployment.
const BASE: &str = "https://awards.example.org";
/// The token of a file.
const TOKEN: &str = "FileAAAAAAAA";
/// A time as answers show it.
pub(super) const TIME: &str = "2026-01-31T08:30:00.000000Z";

/// Texts that have a form that their schema does not tell, by the member that they stand in.
const TEXTS: &[(&str, &str)] = &[
    ("amount", "50.00"),
    ("auth_token", "c2VjcmV0"),
    ("country", "GB"),
    ("currency", "GBP"),
    ("data", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    ("domains", "awards.example.org"),
    ("email", "ada@example.org"),
    ("filename", "pixel.gif"),
    ("first_name", "Ada"),
    ("global_id", "6f1c2a9e-3b7d-4c58-9a40-d2e81f5b7c63"),
    ("language", "English (United Kingdom)"),
    ("last_name", "Lovelace"),
    ("mime", "image/gif"),
    ("mobile", "+441632960001"),
    ("next_page_url", ""),
    ("notification_emails", "ada@example.org"),
    ("password", "correct horse battery staple"),
    ("plagiarism_scan_status", "unscanned"),
    ("prev_page_url", ""),
    ("product", "Plaudit"),
    ("status", "Active"),
    ("tags", "red,green"),
    ("timezone", "Europe/London"),
    ("translated", "An answer"),
    ("type", "General"),
];

/// What an answer has unless it is asked for without.
const USUAL: [&str; 3] = ["last_page", "last_page_url", "total"];

/// Where a value stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    /// The member or the parameter.
    pub(super) name: &'p str,
    /// The kind of the record that it belongs to.
    pub(super) owner: Option<Kind>,
    /// Whether it is sent, and not answered.
    pub(super) is_sent: bool,
}

/// The examples of the document, each made when it is first named.
pub(super) struct Examples<'s> {
    pub(super) schemas: &'s Map<String, Value>,
    pub(super) made: Map<String, Value>,
}

impl Examples<'_> {
    /// The example of a schema, which is sent or answered.
    pub(super) fn of(&self, schema: &str, is_sent: bool) -> Value {
        let record = schema.trim_end_matches("Page").trim_end_matches("Item");
        let owner = Kind::ALL.into_iter().find(|kind| record.ends_with(&pascal(kind.name())));
        self.value(&self.schemas[schema], Place { name: "", owner, is_sent })
    }

    /// What media types say of the example of this name, which `example` makes; that of an answer is told in XML as well.
    pub(super) fn named(&mut self, name: &str, is_sent: bool, example: impl FnOnce(&Self) -> Value) -> Value {
        if !self.made.contains_key(name) {
            let value = example(self);
            let in_xml = || String::from_utf8_lossy(&render::plain(Format::Xml, &value.to_string())).into_owned();
            let about = if is_sent { "A body.".to_owned() } else { format!("In XML:\n\n```xml\n{}\n```", in_xml()) };
            self.made.insert(name.to_owned(), json!({ "description": about, "value": value }));
        }
        json!({ (name): { "$ref": format!("#/components/examples/{name}") } })
    }

    /// An event of a stream.
    pub(super) fn event(&self) -> String {
        let (events, entry) = (["entry_updated", "entry_chapter_changed"], self.of("EntryItem", false));
        let data = json!({ "events": events, "sequence": 12, "timestamp": TIME, "source": "api", "entry": entry });
        format!("id: 12\nevent: {}\ndata: {data}\n\n", events[0])
    }

    /// A value of a schema.
    pub(super) fn value(&self, schema: &Value, place: Place<'_>) -> Value {
        let stated = [&schema["examples"][0], &schema["enum"][0], &schema["default"]];
        let is_stated = |value: &&&Value| !value.is_null() || schema["examples"].get(0).is_some();
        if let Some(value) = stated.iter().find(is_stated) {
            return (*value).clone();
        }
        let component = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        let kind = schema["type"].get(0).unwrap_or(&schema["type"]).as_str();
        match (component, kind) {
            (Some("Slug"), _) => json!(slug(place.of().or(place.owner), place.name)),
            (Some("Token"), _) => json!(TOKEN),
            (Some("Link"), _) => json!(place.owner.map_or(BASE.to_owned(), link)),
            (Some(name), _) => self.value(&self.schemas[name], place),
            (None, None) if schema["anyOf"].is_array() => self.value(&schema["anyOf"][0], place),
            (None, None) if schema["allOf"].is_array() => self.value(&schema["allOf"][0], place),
            (None, Some("object")) => Value::Object(self.object(schema, place)),
            (None, Some("array")) => {
                let count = schema["minItems"].as_u64().unwrap_or(1);
                (0..count).map(|_| self.value(&schema["items"], place)).collect()
            }
            (None, Some("integer" | "number")) => json!(schema["minimum"].as_i64().unwrap_or(1).max(1)),
            (None, Some("boolean")) => json!(false),
            (None, _) => json!(place.text(schema)),
        }
    }

    fn object(&self, schema: &Value, place: Place<'_>) -> Map<String, Value> {
        let owner = place.of().or(place.owner);
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let is_there = |(name, property): &(&String, &Value)| {
            place.is_sent
                || required.contains(&&json!(name))
                || USUAL.contains(&name.as_str())
                || property["examples"].is_array()
        };
        let member =
            |(name, property): (&String, &Value)| (name.clone(), self.value(property, Place { name, owner, ..place }));
        let mut object: Map<_, _> = properties.filter(is_there).map(member).collect();
        if let Some(names) = schema.get("propertyNames") {
            let name = self.value(names, place);
            object.insert(
                name.as_str().unwrap_or_default().to_owned(),
                self.value(&schema["additionalProperties"], place),
            );
        }
        object
    }
}

impl Place<'_> {
    /// The kind of the record that the member names.
    fn of(self) -> Option<Kind> {
        let names = |kind: &Kind| self.name.ends_with(kind.name()) || self.name.ends_with(kind.plural());
        match self.name {
            "entrant" | "judges" | "managers" | "owner" => Some(Kind::User),
            "parent" => Some(Kind::Category),
            "tax_rate_details" => Some(Kind::Tax),
            _ => Kind::ALL.into_iter().find(names),
        }
    }

    fn text(self, schema: &Value) -> String {
        let known = TEXTS.iter().find(|(name, _)| *name == self.name).map(|(_, text)| (*text).to_owned());
        let is_slug = || schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("[A-Za-z]{8}"));
        match (schema["format"].as_str(), known, self.owner) {
            (Some("date"), ..) => "2026-01-31".to_owned(),
            (Some("date-time"), ..) => TIME.to_owned(),
            (_, Some(known), _) => known,
            _ if is_slug() => slug(self.of(), self.name),
            (_, _, Some(kind)) if self.name == "path" => format!("{BASE}/{}", kind.path()),
            (_, _, Some(kind)) if self.name.ends_with("_page_url") => format!("{BASE}/{}?page=1", kind.path()),
            (_, _, Some(Kind::User)) if self.name == "name" => "Ada Lovelace".to_owned(),
            (_, _, Some(kind)) if ["name", "title"].contains(&self.name) => capital(&format!("{} A", kind.words())),
            _ => capital(&self.name.replace('_', " ")),
        }
    }
}

fn capital(text: &str) -> String {
    text.get(..1).unwrap_or_default().to_uppercase() + text.get(1..).unwrap_or_default()
}

/// The slug of a record of a kind, or of what a member names.
pub(super) fn slug(kind: Option<Kind>, name: &str) -> String {
    let letters = kind.map_or_else(|| pascal(name), |kind| pascal(kind.name())) + &"A".repeat(Slug::LENGTH);
    letters[..Slug::LENGTH].to_owned()
}

fn link(kind: Kind) -> String {
    let own = slug(Some(kind), "");
    format!(
        "{BASE}/{}/{}",
        kind.path(),
        if matches!(kind, Kind::File | Kind::Attachment | Kind::ReviewTask) { TOKEN } else { &own }
    )
}
