//! A record as it is shown by its members: references are filled in, and texts are in the languages asked for.

use super::member::{Member, Shape};
use super::{SetupRecord, store};
use db::DbError;
use kernel::document::{self, List, Object};
use kernel::json::{Json, parse_own};
use kernel::kind::Kind;
use kernel::text::Slug;

/// The document of a record: its slug, its address where references show that too, and its members.
pub fn shown<T: SetupRecord>(record: &T, has_link: bool) -> Result<String, DbError> {
    let stored = store::stored(record);
    let members = parse_own(&stored).map_err(|error| DbError::Failed(error.to_string()))?;
    Ok(document::object(|object| {
        object.slug("slug", record.slug());
        if has_link {
            object.link("link", T::KIND, record.slug().as_str());
        }
        for Member { name, shape, .. } in T::MEMBERS {
            if let Some(value) = members.get(name) {
                write(object, name, shape, value);
            }
        }
    }))
}

fn write(object: &mut Object<'_>, name: &str, shape: &Shape, value: &Json) {
    match (shape, value) {
        (Shape::Ref(kind), Json::String(slug)) => object.optional_reference(name, *kind, Slug::parse(slug)),
        (Shape::Translated(_), Json::Object(_)) => object.translated_text(name, &value.to_string()),
        (Shape::List(item, _) | Shape::Set(item, _) | Shape::FilledSet(item, _), Json::Array(items)) => {
            object.list(name, |list| items.iter().for_each(|value| write_item(list, item, value)));
        }
        _ => object.raw(name, &value.to_string()),
    }
}

fn write_item(list: &mut List<'_>, shape: &Shape, value: &Json) {
    match (shape, value.as_str().and_then(Slug::parse)) {
        (Shape::Ref(Kind::User), Some(slug)) => list.manager(slug),
        (Shape::Ref(kind), Some(slug)) => list.reference(*kind, slug),
        _ => list.raw(&value.to_string()),
    }
}
