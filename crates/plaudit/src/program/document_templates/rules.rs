//! Pure rules of document templates.

/// What a place can begin with.
const ROOTS: &[&str] = &["account", "entry", "season", "user"];

/// The paths that stand between braces in a body, in order, or what is wrong with one of them.
pub(super) fn places(body: &str) -> Result<Vec<&str>, String> {
    let mut places = Vec::new();
    let mut rest = body;
    while let Some((_, behind)) = rest.split_once("{{") {
        let (place, next) = behind.split_once("}}").ok_or_else(|| "has {{ without }} behind it".to_owned())?;
        let path = place.trim();
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let mut names = path.split('.');
        let root = names.next().unwrap_or_default();
        if !ROOTS.contains(&root) {
            return Err(format!("has a place {{{{{path}}}}}, which must begin with one of {}", ROOTS.join(", ")));
        }
        if !names.all(is_name) {
            return Err(format!("has a place {{{{{path}}}}}, which must be names with dots between them"));
        }
        places.push(path);
        rest = next;
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::document_templates::{DocumentTemplate, FileType, PageSize, Subject};
    use crate::program::testing::{self, read};
    use kernel::text::Translated;

    fn template(members: &str) -> Result<DocumentTemplate, String> {
        read("TemplAAA", &format!(r#""name":{{"en_GB":"Certificate"}},{members}"#))
    }

    #[test]
    fn places_of_a_body_are_paths() {
        let body = "To {{user.name}}: {{ entry.entry_fields.FieldAAA }} {of} }} {{account.name}}";
        assert_eq!(places(body).unwrap(), ["user.name", "entry.entry_fields.FieldAAA", "account.name"]);
        for wrong in ["{{", "{{entry.title", "{{title}}", "{{entry..title}}", "{{entry.the title}}", "{{}}"] {
            assert!(places(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_template_is_named() {
        let body = r#""body":{"en_GB":"Well done, {{user.name}}"}"#;
        assert!(template(&format!(r#""resource":"user","file_types":["PDF","Word"],{body}"#)).is_ok());
        for (wrong, member) in [
            (format!(r#""resource":"users","file_types":["PDF"],{body}"#), "resource"),
            (format!(r#""resource":"user","file_types":[],{body}"#), "file_types"),
            (format!(r#""resource":"user","file_types":["PDF","PDF"],{body}"#), "file_types"),
            (r#""resource":"user","file_types":["PDF"]"#.to_owned(), "body"),
            (r#""resource":"user","file_types":["PDF"],"body":{"de_DE":"{{name}}"}"#.to_owned(), "body.de_DE"),
        ] {
            let error = template(&wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, name, body) in (testing::slug(), testing::translated(), testing::translated()),
            subject in testing::choice(Subject::CHOICES),
            file_types in testing::some_of(FileType::CHOICES).prop_filter("none", |types| !types.is_empty()),
            page_size in testing::choice(PageSize::CHOICES),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            let body: Translated = body;
            testing::reads_back(&DocumentTemplate { slug, name, subject, file_types, page_size, body, created, updated });
        }

        #[test]
        fn any_text_is_judged(body in "[{}a-z. ]{0,30}") {
            if let Ok(places) = places(&body) {
                prop_assert!(places.iter().all(|place| body.contains(place)));
            }
        }
    }
}
