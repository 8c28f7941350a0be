//! The members of records, described: what the JSON Schema of program files and the schemas of the OpenAPI document are
//! made of, those of bodies and those of answers.
//!
//! A record is read by [`super::RecordMembers::read`], which knows every rule. Its table says what an editor can
//! show and check before that. A test holds the two together: every member that the one asks for is in the other, and
//! values of every shape are taken by both or by neither.

use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::Slug;

/// A member of a record in a program file.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each says one thing of a member")]
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
    /// Whether it is the name that references show, which in bodies is never blank in the account's default language.
    pub is_name: bool,
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
    /// Whether it is a secret: it is shown to keys that write only, and printed nowhere.
    pub is_secret: bool,
    /// An example of its value, where one that is made by its shape would mislead: JSON, or a text.
    pub example: Option<&'static str>,
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
    /// What its value is there, if that is something else than in a program file.
    pub shape: Option<&'static Shape>,
    /// Whether it may be null there, where that is not the same as in a program file.
    pub is_nullable: Option<bool>,
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
    /// An object of at most so many texts, each of at most so many characters.
    Texts(usize, usize),
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

/// How many members tables have.
pub(crate) const fn count(tables: &[&[Member]]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < tables.len() {
        count += tables[at].len();
        at += 1;
    }
    count
}

/// Tables as one.
pub(crate) const fn joined<const COUNT: usize>(tables: &[&[Member]]) -> [Member; COUNT] {
    let mut all = [Member::link(); COUNT];
    let (mut count, mut table) = (0, 0);
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            all[count] = tables[table][at];
            (count, at) = (count + 1, at + 1);
        }
        table += 1;
    }
    all
}

/// The names of an enumeration, for [`Shape::OneOf`].
pub fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

impl Member {
    /// One that is what these say.
    pub const fn new(name: &'static str, shape: Shape, about: &'static str, presence: Presence) -> Self {
        Self {
            name,
            shape,
            about,
            presence,
            is_nullable: false,
            identifies: false,
            is_name: false,
            is_kept: false,
            only_with: None,
            bodies: InBodies { create: None, update: false, is_text: false, shape: None, is_nullable: None },
            shown: Shown::Always,
            shown_as: None,
            shown_null: None,
            is_secret: false,
            example: None,
        }
    }

    /// One that must be there.
    pub const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self::new(name, shape, about, Presence::Required)
    }

    /// One that may be left out.
    pub const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self::new(name, shape, about, Presence::Optional)
    }

    /// One that follows from other records and is passed over.
    pub const fn computed(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Shape::Any, about, Presence::Computed).hidden()
    }

    /// The address of the record, which it alone shows.
    pub const fn link() -> Self {
        Self::computed("link", "Its address.").shown_as(&Shape::Component("Link")).in_single_reads()
    }

    /// It may be null.
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// It may be null where this is so.
    pub const fn nullable_if(self, is_nullable: bool) -> Self {
        Self { is_nullable, ..self }
    }

    /// An example of its value: JSON, or a text.
    pub const fn example(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// It is the name that references show.
    pub const fn is_name(self) -> Self {
        Self { is_name: true, ..self }
    }

    /// Bodies have it as something else than program files.
    pub const fn in_bodies_as(self, shape: &'static Shape) -> Self {
        Self { bodies: InBodies { shape: Some(shape), ..self.bodies }, ..self }
    }

    /// Bodies cannot say null.
    pub const fn never_null_in_bodies(self) -> Self {
        Self { bodies: InBodies { is_nullable: Some(false), ..self.bodies }, ..self }
    }

    /// Bodies can say null.
    pub const fn nullable_in_bodies(self) -> Self {
        Self { bodies: InBodies { is_nullable: Some(true), ..self.bodies }, ..self }
    }

    /// Whether the body that makes a record, or the one that changes it, has it, and whether it must.
    pub const fn in_body(&self, is_new: bool) -> Option<Presence> {
        match (is_new, self.bodies.update) {
            (true, _) => self.bodies.create,
            (false, true) => Some(Presence::Optional),
            (false, false) => None,
        }
    }

    /// What its value is in bodies.
    pub fn body_shape(&self) -> &Shape {
        self.bodies.shape.unwrap_or(&self.shape)
    }

    /// Whether bodies can say null.
    pub fn is_nullable_in_bodies(&self) -> bool {
        self.bodies.is_nullable.unwrap_or(self.is_nullable)
    }

    /// A record without a slug is known by it.
    pub const fn identifying(self) -> Self {
        Self { identifies: true, ..self }
    }

    /// A record that leaves it out keeps what it has.
    pub const fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }

    /// It may be there only where another member has this value.
    pub const fn only_with(self, name: &'static str, value: &'static str) -> Self {
        Self { only_with: Some((name, value)), ..self }
    }

    /// The body that makes a record must have it.
    pub const fn to_create(self) -> Self {
        Self { bodies: InBodies { create: Some(Presence::Required), ..self.bodies }, ..self }
    }

    /// The body that makes a record may have it.
    pub const fn creatable(self) -> Self {
        Self { bodies: InBodies { create: Some(Presence::Optional), ..self.bodies }, ..self }
    }

    /// The body that changes a record may have it.
    pub const fn updatable(self) -> Self {
        Self { bodies: InBodies { update: true, ..self.bodies }, ..self }
    }

    /// Bodies have it within `translated`.
    pub const fn text(self) -> Self {
        Self { bodies: InBodies { is_text: true, ..self.bodies }, ..self }
    }

    /// It is in no answer.
    pub const fn hidden(self) -> Self {
        Self { shown: Shown::Never, ..self }
    }

    /// It is in answers that are about one record.
    pub const fn in_single_reads(self) -> Self {
        Self { shown: Shown::Single, ..self }
    }

    /// It is in lists.
    pub const fn in_lists(self) -> Self {
        Self { shown: Shown::Listed, ..self }
    }

    /// It is in answers that are about one record, and in lists where it is asked for.
    pub const fn where_asked(self) -> Self {
        Self { shown: Shown::Asked, ..self }
    }

    /// It is shown as something else than its shape becomes in answers.
    pub const fn shown_as(self, shape: &'static Shape) -> Self {
        Self { shown_as: Some(shape), ..self }
    }

    /// It is in every answer.
    pub const fn shown(self) -> Self {
        Self { shown: Shown::Always, ..self }
    }

    /// It is shown as null where what it refers to is gone.
    pub const fn or_gone(self) -> Self {
        Self { shown_null: Some(true), ..self }
    }

    /// It is shown as null to who may not see it.
    pub const fn or_withheld(self) -> Self {
        self.or_gone()
    }

    /// It is a secret.
    pub const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// It is never shown as null.
    pub const fn never_null(self) -> Self {
        Self { shown_null: Some(false), ..self }
    }
}

impl Shape {
    /// The kind that its slugs are of.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Ref(kind) => Some(*kind),
            Self::List(item, _) | Self::Set(item, _) | Self::FilledSet(item, _) => item.kind(),
            Self::Either(shapes) => shapes.iter().find_map(Self::kind),
            _ => None,
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
}

/// The slugs that a record names, by its members: the path of each, the kind that it must be, and the slug.
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
