//! The values of members: how a value of each type is read by what its member says, and written.
//!
//! `#[derive(Record)]` puts records together from them; see `crates/record-derive`.

use super::Context;
use super::member::{Member, Presence, Shape};
use kernel::document::{List, Object};
use kernel::input::{self, Members, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Currency, Date, LocalTime, Points, Rate, Slug, Timestamp, Token, Translated};

/// A struct whose fields are members of a record, or of a part of one.
pub trait RecordMembers: Sized {
    /// What identifies the record.
    type Key;

    /// The members of the program-file form but `kind`, `deleted` and what identifies the record.
    const MEMBERS: &'static [Member];

    /// Reads the members. `key` is the record's own or the one that it is given; it and the member `kind` have been read.
    /// What is wrong is left in `members`.
    fn read(members: &mut Members<'_>, key: Self::Key, context: &Context) -> Option<Self>;

    /// Writes the members of the program-file form after `kind` and `slug`.
    fn write(&self, object: &mut Object<'_>);

    /// Every slug that they refer to, with the member that does and the kind it must have.
    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        Vec::new()
    }

    /// Every file that they refer to, with the member that does.
    fn files(&self) -> Vec<(&'static str, &Token)> {
        Vec::new()
    }
}

/// How translated maps are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// Whole, as in program files.
    Whole,
    /// In the languages asked for.
    AsAsked,
}

impl Texts {
    /// Writes a translated map.
    pub fn write(self, object: &mut Object<'_>, name: &str, map: &Translated) {
        match self {
            Self::Whole => object.locales(name, map),
            Self::AsAsked => object.translated(name, map),
        }
    }
}

/// The value of a member.
pub trait MemberValue: Sized {
    /// Its shape, where the member states none.
    const SHAPE: Shape = Shape::Any;
    /// Whether it may be null.
    const IS_NULLABLE: bool = false;

    /// Reads it.
    fn read(json: &Json, shape: &Shape, context: &Context) -> Result<Self, Wrong<Self>>;

    /// Writes it.
    fn write(&self, member: &Member, object: &mut Object<'_>, texts: Texts);

    /// What it is where the member is left out and states no default.
    fn absent(_: &Context) -> Option<Self> {
        None
    }

    /// Makes it what a body says.
    fn change(&mut self, to: Self) {
        *self = to;
    }

    /// What it refers to.
    fn references(&self, _: &Member, _: &mut Vec<(&'static str, Kind, Slug)>) {}

    /// The files that it is the tokens of.
    fn files<'v>(&'v self, _: &'static str, _: &mut Vec<(&'static str, &'v Token)>) {}
}

/// A value that stands in lists.
pub trait Item: MemberValue + Ord + std::fmt::Display {
    /// Writes it.
    fn write_item(&self, list: &mut List<'_>) {
        list.text(&self.to_string());
    }
}

/// Reads a member.
pub(crate) fn read<T: MemberValue>(members: &mut Members<'_>, member: &Member, context: &Context) -> Option<T> {
    read_by(members, member, context, |json| T::read(json, &member.shape, context))
}

/// Reads a member whose value has a rule of its own.
pub(crate) fn read_by<T: MemberValue, E: Into<Wrong<T>>>(
    members: &mut Members<'_>,
    member: &Member,
    context: &Context,
    read: impl FnOnce(&Json) -> Result<T, E>,
) -> Option<T> {
    taken(members, member.name, (member.presence, member.is_nullable), context, |json| read(json).map_err(E::into))
}

/// Reads a member of the body that makes a record, or of the one that changes it, which may not have it.
pub(crate) fn read_body<T: MemberValue, E: Into<Wrong<T>>>(
    members: &mut Members<'_>,
    member: &Member,
    is_new: bool,
    context: &Context,
    read: impl Fn(&Json) -> Result<T, E>,
) -> Option<T> {
    let presence = member.in_body(is_new)?;
    let read = |json: &Json| read(json).map_err(E::into);
    taken(members, member.name, (presence, member.is_nullable_in_bodies()), context, |json| {
        if member.is_name { input::translated_name(context.default_language, is_new, read)(json) } else { read(json) }
    })
}

/// Reads a member of such a body whose value is put into the record by a rule of its own.
pub(crate) fn read_given<T>(
    members: &mut Members<'_>,
    member: &Member,
    is_new: bool,
    read: impl FnOnce(&Json) -> Result<T, String>,
) -> Option<T> {
    match member.in_body(is_new)? {
        Presence::Required => members.required(member.name, read),
        Presence::Optional | Presence::Computed => members.optional(member.name, read),
    }
}

fn taken<T: MemberValue>(
    members: &mut Members<'_>,
    name: &str,
    (presence, is_nullable): (Presence, bool),
    context: &Context,
    read: impl FnOnce(&Json) -> Result<T, Wrong<T>>,
) -> Option<T> {
    let read = |json: &Json| match (json, T::absent(context)) {
        (Json::Null, Some(absent)) if is_nullable => Ok(absent),
        (json, _) => read(json),
    };
    match presence {
        Presence::Required => members.required(name, read),
        Presence::Optional | Presence::Computed => members.optional(name, read),
    }
}

/// A body that makes a record must have `translated` where a text of it must be there.
pub(crate) fn check_texts(members: &mut Members<'_>, texts: &[&Member], is_new: bool) {
    let is_needed = texts.iter().any(|member| member.bodies.create == Some(Presence::Required));
    if is_new && is_needed && !members.has("translated") {
        members.fault("translated", "is required");
    }
}

/// Members that are no fields: the address of the record must be its own; whoever completes the record compares the others.
pub(crate) fn pass_over(members: &mut Members<'_>, extra: &[Member], slug: Slug) {
    for member in extra {
        if member.name == "link" {
            members.link(slug);
        } else {
            members.get(member.name);
        }
    }
}

/// `None` is null, or everything, where a list of one text says so.
impl<T: MemberValue> MemberValue for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const IS_NULLABLE: bool = true;

    fn read(json: &Json, shape: &Shape, context: &Context) -> Result<Self, Wrong<Self>> {
        match (shape, json.as_array()) {
            (Shape::Either([Shape::Only(all), _]), Some([one])) if one.as_str() == Some(all) => Ok(None),
            (Shape::Either([Shape::Only(_), some]), _) => Self::read(json, some, context),
            _ => T::read(json, shape, context).map(Some).map_err(|wrong| wrong.map(Some)),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, texts: Texts) {
        match self {
            Some(value) => value.write(member, object, texts),
            None if let Shape::Either([Shape::Only(all), _]) = member.shape => object.texts(member.name, [all]),
            // A body cannot take away what may not be null, so that it is left out of what can be written back.
            None if texts == Texts::AsAsked && !member.is_nullable_in_bodies() => {}
            None => object.null(member.name),
        }
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(None)
    }

    fn references(&self, member: &Member, found: &mut Vec<(&'static str, Kind, Slug)>) {
        if let Some(value) = self {
            value.references(member, found);
        }
    }

    fn files<'v>(&'v self, name: &'static str, found: &mut Vec<(&'static str, &'v Token)>) {
        if let Some(value) = self {
            value.files(name, found);
        }
    }
}

impl<T: Item> MemberValue for Vec<T> {
    fn read(json: &Json, shape: &Shape, context: &Context) -> Result<Self, Wrong<Self>> {
        match shape {
            Shape::List(item, max) => input::list(*max, |json| T::read(json, item, context))(json),
            Shape::Set(item, max) => input::distinct(*max, |json| T::read(json, item, context))(json),
            Shape::FilledSet(item, max) => {
                let read: Self = input::distinct(*max, |json| T::read(json, item, context))(json)?;
                if read.is_empty() { Err("must have at least 1 item".to_owned().into()) } else { Ok(read) }
            }
            _ => Err(no_value_of(shape)),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.list(member.name, |list| self.iter().for_each(|item| item.write_item(list)));
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::new())
    }

    fn references(&self, member: &Member, found: &mut Vec<(&'static str, Kind, Slug)>) {
        for item in self {
            item.references(member, found);
        }
    }

    fn files<'v>(&'v self, name: &'static str, found: &mut Vec<(&'static str, &'v Token)>) {
        for item in self {
            item.files(name, found);
        }
    }
}

impl MemberValue for Slug {
    const SHAPE: Shape = Shape::Slug;

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        Ok(input::slug(json)?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.slug(member.name, *self);
    }

    fn references(&self, member: &Member, found: &mut Vec<(&'static str, Kind, Slug)>) {
        found.extend(member.shape.kind().map(|kind| (member.name, kind, *self)));
    }
}

impl MemberValue for Token {
    const SHAPE: Shape = Shape::Token;

    /// A token stands alone, or in the object that a read shows.
    fn read(json: &Json, shape: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        let shown = json.get("token").filter(|_| matches!(shape, Shape::Either(_)));
        Ok(input::token(shown.unwrap_or(json))?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.text(member.name, self.as_str());
    }

    fn files<'v>(&'v self, name: &'static str, found: &mut Vec<(&'static str, &'v Token)>) {
        found.push((name, self));
    }
}

impl MemberValue for Translated {
    fn read(json: &Json, shape: &Shape, context: &Context) -> Result<Self, Wrong<Self>> {
        match shape {
            Shape::Translated(max) => input::translated(&context.languages, *max)(json),
            _ => Err(no_value_of(shape)),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, texts: Texts) {
        texts.write(object, member.name, self);
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::default())
    }

    fn change(&mut self, to: Self) {
        self.merge(&to);
    }
}

/// A text, or the exact JSON text of a number, or of an object of which nothing more is known.
impl MemberValue for String {
    fn read(json: &Json, shape: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        match (shape, json) {
            (Shape::Text(max), _) => Ok(input::text(*max)(json)?),
            (Shape::FilledText(max), _) => Ok(input::filled_text(*max)(json)?),
            (Shape::Number(..), Json::Number(_)) | (Shape::Component(_), Json::Object(_)) => Ok(json.to_string()),
            (Shape::Number(..), _) => Err("must be a number".to_owned().into()),
            (Shape::Component(_), _) => Err("must be an object".to_owned().into()),
            _ => Err(no_value_of(shape)),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        match member.shape {
            Shape::Number(..) | Shape::Component(_) => object.raw(member.name, self),
            _ => object.text(member.name, self),
        }
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::new())
    }
}

impl MemberValue for i64 {
    fn read(json: &Json, shape: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        match shape {
            Shape::Integer(least, most) => Ok(input::integer(*least..=*most)(json)?),
            _ => Err(no_value_of(shape)),
        }
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.integer(member.name, *self);
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(0)
    }
}

/// Values whose shape says everything: how each is read, and written.
macro_rules! values {
    ($($type:ty: $shape:expr, $read:path, $write:ident, $absent:expr;)+) => {
        $(impl MemberValue for $type {
            const SHAPE: Shape = $shape;

            fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
                Ok($read(json)?)
            }

            fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
                object.$write(member.name, *self);
            }

            fn absent(_: &Context) -> Option<Self> {
                $absent
            }
        })+
    };
}

/// A time that is left out is that of the run.
impl MemberValue for Timestamp {
    const SHAPE: Shape = Shape::Time;

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        Ok(input::time(json)?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.time(member.name, *self);
    }

    fn absent(context: &Context) -> Option<Self> {
        Some(context.now)
    }
}

/// Values that are objects with the members of a struct; left out they are the default.
macro_rules! object_values {
    ($($type:ty),+) => {
        $(impl $crate::program::MemberValue for $type {
            const SHAPE: $crate::program::Shape =
                $crate::program::Shape::Object(<Self as $crate::program::RecordMembers>::MEMBERS);

            fn read(
                json: &kernel::json::Json,
                _: &$crate::program::Shape,
                context: &$crate::program::Context,
            ) -> Result<Self, kernel::input::Wrong<Self>> {
                let kernel::json::Json::Object(object) = json else { return Err("must be an object".to_owned().into()) };
                let mut members = kernel::input::Members::closed(object);
                // It has no slug of its own.
                let nobody = kernel::text::Slug::from_letters(*b"NobodyAA");
                let value =
                    nobody.and_then(|slug| <Self as $crate::program::RecordMembers>::read(&mut members, slug, context));
                members.finish().or(value).map_err(kernel::input::Violations::of_part)
            }

            fn write(
                &self,
                member: &$crate::program::Member,
                object: &mut kernel::document::Object<'_>,
                _: $crate::program::Texts,
            ) {
                object.object(member.name, |object| <Self as $crate::program::RecordMembers>::write(self, object));
            }

            fn absent(_: &$crate::program::Context) -> Option<Self> {
                Some(Self::default())
            }
        })+
    };
}
pub(crate) use object_values;

values! {
    bool: Shape::Flag, input::flag, flag, Some(false);
    Date: Shape::Date, input::date, date, None;
    LocalTime: Shape::LocalTime, input::local_time, local_time, None;
    Rate: Shape::Number(Some(0), Some(100)), input::rate, rate, Some(Self::default());
    Points: POINTS, any_points, points, None;
}

impl MemberValue for Currency {
    const SHAPE: Shape = CURRENCY;

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        Ok(input::currency(json)?)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.text(member.name, self.code());
    }
}

/// The code of a currency.
pub(super) const CURRENCY: Shape = Shape::OneOf(|| Currency::all().map(Currency::code).collect());
const POINTS: Shape = Shape::Number(Some(0), Some(1_000_000_000));

fn any_points(json: &Json) -> Result<Points, String> {
    input::points(Points::ZERO..=Points::MAXIMUM)(json)
}

impl Item for Slug {}
impl Item for Token {}
impl Item for String {}
impl Item for i64 {
    fn write_item(&self, list: &mut List<'_>) {
        list.integer(*self);
    }
}

/// A member whose type cannot have its shape, which a test of its record finds.
fn no_value_of<T>(shape: &Shape) -> Wrong<T> {
    format!("cannot be {shape:?}").into()
}
