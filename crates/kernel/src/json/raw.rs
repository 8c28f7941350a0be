//! The members of an object that this program has written, as their texts.

use super::parser::special;
use crate::text::Slug;

/// The names and the texts of the values of an object, in order. The object must be one that this program has written:
/// without blanks, and with names that need no escapes. What is no such object ends early.
#[derive(Clone, Debug)]
pub struct RawMembers<'s>(&'s str);

impl<'s> RawMembers<'s> {
    /// The members of this object.
    pub fn of(object: &'s str) -> Self {
        Self(object.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')).unwrap_or_default())
    }
}

impl<'s> Iterator for RawMembers<'s> {
    type Item = (&'s str, &'s str);

    fn next(&mut self) -> Option<Self::Item> {
        let named = self.0.strip_prefix('"')?;
        let (name, rest) = named.split_at_checked(name_length(named.as_bytes())?)?;
        let rest = rest.strip_prefix("\":")?;
        let (value, rest) = rest.split_at_checked(length(rest.as_bytes())?)?;
        self.0 = rest.strip_prefix(',').unwrap_or_default();
        Some((name, value))
    }
}

/// The length of the name at the beginning. Most names are slugs, for which a search costs more than a look.
fn name_length(bytes: &[u8]) -> Option<usize> {
    match bytes.split_first_chunk::<{ Slug::LENGTH }>() {
        Some((slug, [b'"', ..])) if !slug.contains(&b'"') => Some(Slug::LENGTH),
        _ => memchr::memchr(b'"', bytes),
    }
}

/// The length of the value at the beginning.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string(&bytes[at..])?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' if depth == 0 => return Some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
    (depth == 0 && at > 0).then_some(at)
}

/// The length of the string at the beginning, with its quotation marks.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += special(bytes.get(at..)?)?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            // What is escaped ends no string.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Json, Object};

    fn values() -> impl Strategy<Value = Json<'static>> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i32>().prop_map(|number| Json::Number(number.to_string().into())),
            any::<String>().prop_map(|text| Json::String(text.into())),
            r#"[\\"{}\[\],: \x7f]{0,6}"#.prop_map(|text| Json::String(text.into())),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            let members = vec(("[a-zA-Z]{1,8}", inner.clone()), 0..4);
            prop_oneof![
                vec(inner, 0..4).prop_map(Json::Array),
                members.prop_map(|members| Json::Object(object(members)))
            ]
        })
    }

    fn object(members: Vec<(String, Json<'static>)>) -> Object<'static> {
        let mut object = Object::new();
        for (name, value) in members {
            object.set(name, value);
        }
        object
    }

    proptest! {
        #[test]
        fn raw_members_are_those_that_were_written(members in vec(("[a-zA-Z]{1,12}", values()), 0..6)) {
            let object = object(members);
            let text = Json::Object(object.clone()).to_string();
            let raw: Vec<_> = RawMembers::of(&text).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let expected: Vec<_> = object.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
            prop_assert_eq!(raw, expected);
        }

        #[test]
        fn any_text_ends(text in r#"\{?["a:,{}\[\]1\\]{0,24}\}?"#) {
            prop_assert!(RawMembers::of(&text).count() <= text.len());
        }
    }
}
