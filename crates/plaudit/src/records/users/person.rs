//! A user as the records of others show the user.

use crate::records::users::{Summary, full_name};
use kernel::document::{self, ShownAs};
use kernel::kind::Kind;
use kernel::text::{Slug, write_json_string};

/// The name, the e-mail address and the global id of a user, as they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The user.
    pub slug: Slug,
    /// The members `name`, `first_name`, `last_name` and `email`, as JSON text without braces.
    pub names: String,
    /// The global id.
    pub global_id: String,
}

impl From<&Summary> for Person {
    fn from(user: &Summary) -> Self {
        let names = names(&user.first_name, &user.last_name, user.email.as_deref());
        Self { slug: user.slug, names, global_id: user.global_id.clone() }
    }
}

/// The members by which a user is shown: those of [`Person::names`].
pub fn names(first_name: &str, last_name: &str, email: Option<&str>) -> String {
    let object = document::object(|object| {
        object.text("name", &full_name(first_name, last_name));
        object.text("first_name", first_name);
        object.text("last_name", last_name);
        object.optional_text("email", email);
    });
    object[1..object.len() - 1].to_owned()
}

/// The first and the last name of [`names`]. A quotation mark within a text is escaped, so that no text looks like a member.
fn parts(names: &str) -> &str {
    let begin = names.find(r#""first_name":"#).unwrap_or(names.len());
    let end = names.rfind(r#","email":"#).unwrap_or(names.len());
    names.get(begin..end).unwrap_or_default()
}

impl Person {
    /// Writes the object that stands for a user of this slug; `base` is the address of the deployment. Without a person the
    /// names are empty.
    pub fn write(person: Option<&Self>, out: &mut Vec<u8>, (slug, base): (&str, &str), shown_as: ShownAs) {
        for part in [r#"{"slug":""#, slug, r#"","link":""#, base, "/", Kind::User.path(), "/", slug, r#"","#] {
            out.extend_from_slice(part.as_bytes());
        }
        let nobody = person.is_none().then(|| names("", "", None));
        let names = person.map(|person| person.names.as_str()).or(nobody.as_deref()).unwrap_or_default();
        out.extend_from_slice(if shown_as == ShownAs::Manager { parts(names) } else { names }.as_bytes());
        if shown_as == ShownAs::Entrant {
            out.extend_from_slice(br#","global_id":"#);
            write_json_string(person.map_or("", |person| &person.global_id), out);
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(person: Option<&Person>, shown_as: ShownAs) -> String {
        let mut out = Vec::new();
        Person::write(person, &mut out, ("UserAAAA", "https://a.example"), shown_as);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_person_is_shown_as_what_the_person_is_to_a_record() {
        let summary = Summary {
            slug: Slug::parse("UserAAAA").unwrap(),
            first_name: "Ada \"\u{7f}".to_owned(),
            last_name: "L".to_owned(),
            email: Some("ada@example.org".to_owned()),
            global_id: "id".to_owned(),
        };
        let person = Person::from(&summary);
        let members = concat!(
            r#"{"slug":"UserAAAA","link":"https://a.example/user/UserAAAA","name":"Ada \"\u007f L","#,
            r#""first_name":"Ada \"\u007f","last_name":"L","email":"ada@example.org""#
        );
        assert_eq!(written(Some(&person), ShownAs::Purchaser), format!("{members}}}"));
        assert_eq!(written(Some(&person), ShownAs::Entrant), format!("{members},\"global_id\":\"id\"}}"));
        assert_eq!(
            written(Some(&person), ShownAs::Manager),
            concat!(
                r#"{"slug":"UserAAAA","link":"https://a.example/user/UserAAAA","first_name":"Ada \"\u007f","#,
                r#""last_name":"L"}"#
            )
        );
    }

    #[test]
    fn a_name_that_looks_like_members_is_shown_as_it_is() {
        let looks = r#"","first_name":"x","email":"y"#;
        let shown = format!("{{{}}}", parts(&names(looks, looks, Some("a@b.org"))));
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, serde_json::json!({"first_name": looks, "last_name": looks}));
    }

    #[test]
    fn somebody_who_is_not_there_has_empty_names() {
        assert_eq!(
            written(None, ShownAs::Entrant),
            concat!(
                r#"{"slug":"UserAAAA","link":"https://a.example/user/UserAAAA","name":"","first_name":"","last_name":"","#,
                r#""email":null,"global_id":""}"#
            )
        );
    }
}
