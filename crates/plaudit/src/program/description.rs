//! Kinds of records as the OpenAPI document describes them: the schemas of their answers and of the bodies about them, made
//! from their members.

use serde_json::{Map, Value, json};

use super::member::{Member, Presence, Shape, Shown};
use super::schema::{Usage, component};

/// The identifier of a record, as every record shows it.
pub const SLUG: Member = Member::optional("slug", Shape::Slug, "Its identifier.");

/// A kind of record as the interface knows it.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The name of its schema; those of bodies and pages are made from it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its members, in tables: those of the program file, and those that the interface alone has.
    pub members: &'static [&'static [Member]],
    /// Whether there is a list of it.
    pub has_list: bool,
    /// Whether bodies may have members that nobody knows, which are passed over.
    pub is_open: bool,
    /// Whether a single read shows the members of bodies where `include=settings` asks for them.
    pub has_settings: bool,
    /// The members that every reader is shown, where some are shown less than others.
    pub sure: Option<&'static [&'static str]>,
}

impl Description {
    /// A kind that is read, one by one and in lists.
    pub const fn new(name: &'static str, about: &'static str, members: &'static [&'static [Member]]) -> Self {
        Self { name, about, members, has_list: true, is_open: false, has_settings: false, sure: None }
    }

    /// The same without a list.
    pub const fn without_list(self) -> Self {
        Self { has_list: false, ..self }
    }

    /// The same with bodies that may have members that nobody knows.
    pub const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// The same, whose members of bodies can be read.
    pub const fn with_settings(self) -> Self {
        Self { has_settings: true, ..self }
    }

    /// The same, of which some readers are shown these members alone.
    pub const fn showing_all(self, sure: &'static [&'static str]) -> Self {
        Self { sure: Some(sure), ..self }
    }

    fn members(&self) -> impl Iterator<Item = &'static Member> {
        self.members.iter().flat_map(|table| table.iter())
    }

    /// The schemas of the kind by their names.
    pub fn schemas(&self) -> Vec<(String, Value)> {
        let name = self.name;
        let mut schemas = vec![(name.to_owned(), self.answer(false))];
        if self.has_list {
            let item = if self.members().all(|member| matches!(member.shown, Shown::Always | Shown::Never)) {
                name.to_owned()
            } else {
                schemas.push((format!("{name}Item"), self.answer(true)));
                format!("{name}Item")
            };
            schemas.push((format!("{name}Page"), page_of(&item)));
        }
        if self.members().any(|member| member.bodies.create.is_some()) {
            let about = format!("What makes a record: {}", self.about);
            schemas.push((format!("Create{name}"), self.body(&about, |member| member.bodies.create)));
        }
        if self.members().any(|member| member.bodies.update) {
            let about = "What changes a record. A member that is left out keeps its value.";
            let may = |member: &Member| member.bodies.update.then_some(Presence::Optional);
            schemas.push((format!("Update{name}"), self.body(about, may)));
        }
        if self.has_settings {
            let about = "What can be written of a record, as it stands.";
            let may = |member: &Member| {
                member.bodies.create.map(|_| Presence::Optional).or(member.bodies.update.then_some(Presence::Optional))
            };
            schemas.push((format!("{name}Settings"), self.body(about, may)));
        }
        schemas
    }

    /// The schema of an answer: of an item of a list, or of a record alone.
    fn answer(&self, is_item: bool) -> Value {
        let is_there = |member: &&Member| match member.shown {
            Shown::Never => false,
            Shown::Always | Shown::Asked => true,
            Shown::Single => !is_item,
            Shown::Listed => is_item,
        };
        let members: Vec<_> = self.members().filter(is_there).collect();
        let required = members.iter().filter(|member| !(is_item && member.shown == Shown::Asked));
        let is_sure = |name: &&str| self.sure.is_none_or(|sure| sure.contains(name));
        let required: Vec<_> = required.map(|member| member.name).filter(is_sure).collect();
        let mut properties: Map<String, Value> =
            members.iter().map(|member| (member.name.to_owned(), member.schema(Usage::Answer))).collect();
        if self.has_settings && !is_item {
            properties.insert("settings".to_owned(), component(&format!("{}Settings", self.name)));
        }
        json!({ "description": self.about, "type": "object", "properties": properties, "required": required })
    }

    /// The schema of a body with the members that may be in it.
    fn body(&self, about: &str, presence: impl Fn(&Member) -> Option<Presence>) -> Value {
        let members = |is_text: bool| {
            let of_text = self.members().filter(move |member| member.bodies.is_text == is_text);
            of_text.filter_map(|member| Some((member, presence(member)?))).collect::<Vec<_>>()
        };
        let mut schema = self.object(about, &members(false));
        let texts = members(true);
        if !texts.is_empty() {
            let about = "Texts by the code of their locale; locales that an update leaves out keep theirs.";
            schema["properties"]["translated"] = self.object(about, &texts);
            if texts.iter().any(|(_, presence)| *presence == Presence::Required) {
                let required = schema["required"].as_array().into_iter().flatten().cloned();
                schema["required"] = required.chain([json!("translated")]).collect();
            }
        }
        schema
    }

    fn object(&self, about: &str, members: &[(&Member, Presence)]) -> Value {
        let properties: Map<String, Value> =
            members.iter().map(|(member, _)| (member.name.to_owned(), member.schema(Usage::Body))).collect();
        let required = members.iter().filter(|(_, presence)| *presence == Presence::Required);
        let required: Vec<_> = required.map(|(member, _)| member.name).collect();
        let mut schema = json!({ "description": about, "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if !self.is_open {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }
}

/// The schema of a page of items (specification, section 4.5).
pub fn page_of(item: &str) -> Value {
    let address = |about: &str| json!({ "description": about, "type": "string" });
    let number = |about: &str, least: u8| json!({ "description": about, "type": "integer", "minimum": least });
    let usage = |about: &str| json!({ "description": about, "type": ["integer", "null"], "minimum": 1 });
    json!({
        "description": "A page of a list. `count=none` leaves out `last_page`, `last_page_url` and `total`.",
        "type": "object",
        "properties": {
            "current_page": number("The number of the page.", 1),
            "data": { "description": "The records.", "type": "array", "items": component(item) },
            "first_page_url": address("The address of page 1; relative beyond the last page."),
            "last_page": number("How many pages there are.", 1),
            "last_page_url": address("The address of the last page; relative beyond the last page."),
            "next_page_url": address("The address of the next page; empty on the last page."),
            "prev_page_url": address("The address of the page before; empty on the first page."),
            "path": address("The address of the list without a query."),
            "per_page": number("The most records of a page.", 1),
            "from": usage("The number of the first record; null where the page has none."),
            "to": usage("The number of the last record; null where the page has none."),
            "next_cursor": {
                "description": "The cursor of the next page in a walk by cursor; null at its end.",
                "type": ["string", "null"],
            },
            "total": number("How many records there are on all pages.", 0),
        },
        "required": [
            "current_page", "data", "first_page_url", "next_page_url", "prev_page_url", "path", "per_page", "from", "to",
        ],
    })
}
