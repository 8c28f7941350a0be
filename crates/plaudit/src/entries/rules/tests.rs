use super::*;
use crate::program::{self, Context, SetupRecord};
use crate::text::{Locale, Timestamp};

const DOC: &str = concat!(
    r#"{"slug":"EntryAAA","local_id":7,"title":"W","status":"submitted","created":"1970-01-01T00:00:01Z","#,
    r#""submitted":null,"updated":"1970-01-01T00:00:03Z","entrant":{"slug":"UserAAAA","first_name":"W","#,
    r#""last_name":"L","email":null,"global_id":"id"},"contributor_count":0,"files_count":0,"auto_score":0,"#,
    "\"category\":\"\u{7f}rcCategAAA\",\"parent_category\":null,\"chapter\":\"\u{7f}rhChapteAA\",",
    "\"form\":\"\u{7f}rfFormAAAA\",\"season\":\"\u{7f}rsSeasonAA\",",
    r#""comments":"","user_comments":"","custom_deadline":"-","division":null,"eligibility_status":"","#,
    r#""moderation_status":"undecided","payment_status":"Paid","plagiarism_scan_status":"unscanned","#,
    r#""review_status":"","grant_status":null,"grant_end_date":null,"tags":""}"#,
);

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn record<T: SetupRecord>(doc: &str) -> T {
    let context =
        Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now: Timestamp::from_seconds(1) };
    program::store::parse(doc, &context).unwrap()
}

fn chapter(slug: &str, season: &str, status: &str) -> Chapter {
    record(&format!(r#"{{"slug":"{slug}","season":"{season}","name":{{"en_GB":"N"}},"status":"{status}"}}"#))
}

fn category(chapters: &str) -> Category {
    record(&format!(r#"{{"slug":"CategAAA","season":"SeasonAA","name":{{"en_GB":"N"}},"chapters":[{chapters}]}}"#))
}

fn season(status: &str) -> Season {
    record(&format!(r#"{{"slug":"SeasonAA","name":{{"en_GB":"N"}},"status":"{status}"}}"#))
}

fn messages(violations: &Violations) -> Vec<&str> {
    violations.iter().map(|(member, message)| if member == "chapter" { message } else { member }).collect()
}

#[test]
fn a_chapter_must_exist() {
    let found = offered(None, slug("SeasonAA"), Some(&category("")), slug("ChapteBB"));
    assert_eq!(messages(&found), ["ChapteBB is no chapter of the account"]);
}

#[test]
fn everything_that_is_wrong_with_a_chapter_is_told() {
    let chapter = chapter("ChapteBB", "SeasonBB", "inactive");
    let found = offered(Some(&chapter), slug("SeasonAA"), Some(&category("\"ChapteAA\"")), chapter.slug);
    assert_eq!(
        messages(&found),
        ["is not active", "belongs to another season than the entry", "does not offer the category of the entry"]
    );
}

#[test]
fn a_chapter_that_is_active_in_the_season_and_offers_the_category_is_right() {
    let chapter = chapter("ChapteBB", "SeasonAA", "active");
    for offering in ["", "\"ChapteAA\",\"ChapteBB\""] {
        assert!(offered(Some(&chapter), slug("SeasonAA"), Some(&category(offering)), chapter.slug).is_empty());
    }
    assert!(!offered(Some(&chapter), slug("SeasonAA"), None, chapter.slug).is_empty());
}

#[test]
fn an_entry_moves_and_nothing_else_of_it_changes() {
    let head = EntryHead::read(DOC).unwrap();
    for status in ["draft", "active"] {
        let moved = moved(&head, slug("ChapteBB"), Some(&season(status)), Violations::default()).unwrap();
        assert_eq!(moved, EntryHead { chapter: slug("ChapteBB"), ..head.clone() });
    }
}

#[test]
fn an_entry_of_a_season_that_is_over_cannot_move() {
    let head = EntryHead::read(DOC).unwrap();
    let over = [Some(season("archived")), Some(season("destroyed")), None];
    for season in &over {
        let refused = moved(&head, slug("ChapteBB"), season.as_ref(), Violations::default());
        assert!(matches!(refused, Err(Refusal::State(_))), "{season:?}");
    }
    let mut violations = Violations::default();
    violations.add("chapter", "is not active");
    let refused = moved(&head, slug("ChapteBB"), over[0].as_ref(), violations.clone());
    assert_eq!(refused, Err(Refusal::Invalid(violations)), "wrong members come before the state");
}
