//! Tags: short words by which managers group entries. They are texts without commas and are compared exactly.

use kernel::input::{self, Violations};
use kernel::json::Json;

use crate::records::entries::COMMENTS_LENGTH;

/// The most characters of a tag.
pub(crate) const TAG_LENGTH: usize = 100;
/// The most tags of an entry.
pub(in crate::records::entries) const TAGS: usize = 1_000;

/// The tags in a text with commas between them: blanks around a tag are no part of it, and nothing is no tag.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty())
}

/// The tags of a file, in which a control character means nothing.
pub(in crate::records::entries) fn read(json: &Json) -> Result<String, String> {
    let tags = input::text(COMMENTS_LENGTH)(json)?;
    input::check_line(&tags).map(|()| tags)
}

/// One tag.
pub(crate) fn one(json: &Json) -> Result<String, String> {
    let tag = input::filled_text(TAG_LENGTH)(json)?;
    input::check_line(&tag)?;
    if tag.contains(',') { Err("must have no comma".to_owned()) } else { Ok(tag.trim().to_owned()) }
}

/// The tags of an entry that had some and was given more, each once and in the order in which they came.
pub(crate) fn added(had: &str, given: &str) -> Result<String, Violations> {
    let mut tags: Vec<&str> = split(had).collect();
    let mut is_new = false;
    for tag in split(given) {
        if !tags.contains(&tag) {
            tags.push(tag);
            is_new = true;
        }
    }
    let mut violations = Violations::default();
    if let Some(long) = split(given).find(|tag| tag.chars().count() > TAG_LENGTH) {
        let begin: String = long.chars().take(20).collect();
        violations.add("tags", format!("must have at most {TAG_LENGTH} characters each, and {begin}… has more"));
    }
    if let Err(message) = input::check_line(given) {
        violations.add("tags", message);
    }
    if is_new && tags.len() > TAGS {
        violations.add("tags", format!("must be at most {TAGS}"));
    }
    violations.or(Some(if is_new { tags.join(",") } else { had.to_owned() }))
}

/// The tags of an entry without some of them. There is nothing that could be wrong with those.
#[allow(clippy::unnecessary_wraps, reason = "it stands where adding tags stands")]
pub(crate) fn removed(had: &str, taken: &str) -> Result<String, Violations> {
    let taken: Vec<&str> = split(taken).collect();
    if !split(had).any(|tag| taken.contains(&tag)) {
        return Ok(had.to_owned());
    }
    Ok(split(had).filter(|tag| !taken.contains(tag)).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blanks_and_empty_tags_are_passed_over() {
        assert_eq!(split(" a ,, b c,\t,").collect::<Vec<_>>(), ["a", "b c"]);
        assert_eq!(split(" , ").count(), 0);
    }

    #[test]
    fn a_tag_is_there_once_and_keeps_its_case() {
        assert_eq!(added("a, b", "b,A,,c,c").unwrap(), "a,b,A,c");
        assert_eq!(removed("a, b,A", "A,x").unwrap(), "a,b");
        assert_eq!(added("", ",").unwrap(), "");
        assert!(added("", "a\0").is_err() && read(&Json::String("a,b\n".into())).is_err());
        assert!(added("", &"x".repeat(TAG_LENGTH)).is_ok());
        assert!(added("", &"x".repeat(TAG_LENGTH + 1)).is_err());
        let many: Vec<String> = (0..=TAGS).map(|tag| tag.to_string()).collect();
        assert!(added("", &many[1..].join(",")).is_ok());
        assert!(added("", &many.join(",")).is_err());
    }

    proptest! {
        #[test]
        fn what_was_added_can_be_taken_away(had in "[abc ]{0,3}(,[abc ]{0,3}){0,4}", given in "[xyz]{1,3}(,[xyz]{1,3}){0,4}") {
            let both = added(&had, &given).unwrap();
            prop_assert_eq!(added(&both, &given).unwrap(), both.clone());
            let left = removed(&both, &given).unwrap();
            prop_assert!(split(&left).eq(split(&had)), "{left} of {had}");
        }
    }
}
