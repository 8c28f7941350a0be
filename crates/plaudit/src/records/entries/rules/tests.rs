use crate::program::testing;
use crate::records::entries::rules::*;

pub(super) const DOC: &str = concat!(
    r#"{"slug":"EntryAAA","local_id":7,"title":"W","status":"submitted","created":"1970-01-01T00:00:01.000000Z","#,
    r#""submitted":null,"updated":"1970-01-01T00:00:03.000000Z","#,
    "\"entrant\":\"\u{7f}eUserAAAA\",\"contributor_count\":0,\"files_count\":0,\"auto_score\":0,",
    "\"category\":\"\u{7f}rcCategAAA\",\"parent_category\":null,\"chapter\":\"\u{7f}rhChapteAA\",",
    "\"form\":\"\u{7f}rfFormAAAA\",\"season\":\"\u{7f}rsSeasonAA\",",
    r#""comments":"","user_comments":"","custom_deadline":"-","division":null,"eligibility_status":"","#,
    r#""moderation_status":"undecided","payment_status":"Paid","plagiarism_scan_status":"unscanned","#,
    r#""review_status":"","grant_status":null,"grant_end_date":null,"tags":""}"#,
);

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn chapter(slug: &str, season: &str, status: &str) -> Chapter {
    testing::read(slug, &format!(r#""season":"{season}","name":{{"en_GB":"N"}},"status":"{status}""#)).unwrap()
}

fn category(chapters: &str) -> Category {
    let members = format!(r#""season":"SeasonAA","name":{{"en_GB":"N"}},"chapters":[{chapters}]"#);
    testing::read("CategAAA", &members).unwrap()
}

fn messages(violations: &Violations) -> Vec<&str> {
    violations.iter().map(|(member, message)| if member == "chapter" { message } else { member }).collect()
}

#[test]
fn a_chapter_must_exist() {
    let found = offered(None, Some(slug("SeasonAA")), Some(&category("")), slug("ChapteBB"));
    assert_eq!(messages(&found), ["ChapteBB is no chapter of the account"]);
}

#[test]
fn everything_that_is_wrong_with_a_chapter_is_told() {
    let chapter = chapter("ChapteBB", "SeasonBB", "inactive");
    let found = offered(Some(&chapter), Some(slug("SeasonAA")), Some(&category("\"ChapteAA\"")), chapter.slug);
    assert_eq!(
        messages(&found),
        ["is not active", "belongs to another season than the entry", "does not offer the category of the entry"]
    );
}

#[test]
fn a_chapter_that_is_active_in_the_season_and_offers_the_category_is_right() {
    let chapter = chapter("ChapteBB", "SeasonAA", "active");
    for offering in ["", "\"ChapteAA\",\"ChapteBB\""] {
        assert!(offered(Some(&chapter), Some(slug("SeasonAA")), Some(&category(offering)), chapter.slug).is_empty());
    }
    assert!(offered(Some(&chapter), None, None, chapter.slug).is_empty(), "nothing follows from what is not known");
}

fn program(season: &str) -> Program {
    let season = format!(r#""name":{{"en_GB":"N"}},"status":"{season}""#);
    testing::program(&[
        ("season", "SeasonAA", &season),
        ("chapter", "ChapteBB", r#""season":"SeasonAA","name":{"en_GB":"N"},"status":"active""#),
        ("chapter", "ChapteXX", r#""season":"SeasonAA","name":{"en_GB":"N"},"status":"inactive""#),
        ("category", "CategAAA", r#""season":"SeasonAA","name":{"en_GB":"N"}"#),
    ])
}

#[test]
fn an_entry_moves_and_nothing_else_of_it_changes() {
    let head = Entry::of_document(DOC).unwrap();
    for status in ["draft", "active"] {
        let moved = change_chapter(&program(status), &head, slug("ChapteBB")).unwrap();
        assert_eq!(moved, Entry { chapter: slug("ChapteBB"), ..head.clone() });
    }
}

#[test]
fn an_entry_of_a_season_that_is_over_cannot_move() {
    let head = Entry::of_document(DOC).unwrap();
    for program in [program("archived"), program("destroyed"), testing::program(&[])] {
        assert!(matches!(check_season(&program, head.season), Err(Refusal::State(_))));
    }
    let moved = |chapter| change_chapter(&program("archived"), &head, slug(chapter));
    assert!(matches!(moved("ChapteBB"), Err(Refusal::State(_))));
    assert!(matches!(moved("ChapteXX"), Err(Refusal::Invalid(_))), "wrong members come before the state");
}

#[test]
fn a_category_takes_as_many_entries_of_an_entrant_as_it_says() {
    let limited: Category =
        testing::read("CategAAA", r#""season":"SeasonAA","name":{"en_GB":"N"},"entrant_max_entries":2"#).unwrap();
    assert!(takes_another(&limited, 1).is_ok() && takes_another(&limited, 2).is_err());
    assert!(takes_another(&category(""), 1_000_000).is_ok());
}
