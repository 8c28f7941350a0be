//! Pure rules of categories.

use super::Category;
use crate::input::Violations;
use crate::program::{Program, Records};
use crate::text::Slug;

/// What is wrong with a category among the records that it refers to. References to records that do not exist are
/// found elsewhere.
pub(super) fn check(category: &Category, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let mut same_season = |member: &str, season: Option<Slug>| {
        if season.is_some_and(|season| season != category.season) {
            violations.add(member, "must belong to the season of the category");
        }
    };
    for chapter in &category.chapters {
        same_season("chapters", program.chapters.any(*chapter).map(|chapter| chapter.season));
    }
    same_season("form", category.form.and_then(|form| program.forms.any(form)?.season));
    if let Some(parent) = category.parent {
        same_season("parent", program.categories.any(parent).map(|parent| parent.season));
        if descends_from(&program.categories, parent, category.slug) {
            violations.add("parent", "must not be the category itself or a descendant of it");
        }
    }
    violations
}

/// Whether a category is another one or below it.
fn descends_from(categories: &Records<Category>, category: Slug, ancestor: Slug) -> bool {
    let mut seen = vec![category];
    let mut at = category;
    while at != ancestor {
        match categories.any(at).and_then(|category| category.parent) {
            // A circle that does not go through the ancestor is the fault of another record.
            Some(parent) if !seen.contains(&parent) => {
                seen.push(parent);
                at = parent;
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Context, Record, store};
    use crate::text::{Locale, Timestamp, Token};

    fn context() -> Context {
        Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now: Timestamp::from_seconds(0) }
    }

    fn category(slug: &str, members: &str) -> Category {
        let text = format!(r#"{{"slug":"{slug}","season":"SeasonAA","name":{{"en_GB":"Film"}}{members}}}"#);
        let category = store::parse(&text, &context()).unwrap();
        assert_eq!(store::parse::<Category>(&store::stored(&category), &context()).unwrap(), category);
        category
    }

    fn slug(text: &str) -> Slug {
        Slug::parse(text).unwrap()
    }

    #[test]
    fn a_category_without_chapters_is_offered_everywhere() {
        assert!(category("CategAAA", "").offers(slug("ChapterA")));
        assert!(category("CategAAA", r#","chapters":[],"chapter_count":3"#).offers(slug("ChapterA")));
        let limited = category("CategAAA", r#","chapters":["ChapterA"]"#);
        assert!(limited.offers(slug("ChapterA")));
        assert!(!limited.offers(slug("ChapterB")));
    }

    #[test]
    fn an_image_is_its_token() {
        let image = r#","images":["TokenTokenToken",{"token":"OtherOtherOther","filename":"a.png"}]"#;
        let images = category("CategAAA", image).images;
        assert_eq!(images.iter().map(Token::as_str).collect::<Vec<_>>(), ["TokenTokenToken", "OtherOtherOther"]);
    }

    #[test]
    fn a_category_is_not_its_own_parent() {
        let text = r#"{"slug":"CategAAA","season":"SeasonAA","name":{"en_GB":"Film"},"parent":"CategAAA"}"#;
        assert!(store::parse::<Category>(text, &context()).is_err());
    }

    #[test]
    fn descendants_are_found_through_their_parents() {
        let mut categories = Records::default();
        for value in [
            category("CategAAA", ""),
            category("CategBBB", r#","parent":"CategAAA""#),
            category("CategCCC", r#","parent":"CategBBB""#),
            category("CircleAA", r#","parent":"CircleBB""#),
            category("CircleBB", r#","parent":"CircleAA""#),
        ] {
            categories.insert(value.slug, Record { value, revision: 1, deleted: false });
        }
        let descends = |category, ancestor| descends_from(&categories, slug(category), slug(ancestor));
        assert!(descends("CategCCC", "CategAAA"));
        assert!(descends("CategAAA", "CategAAA"));
        assert!(!descends("CategAAA", "CategCCC"));
        assert!(!descends("CircleAA", "CategAAA"), "a circle ends");
    }
}
