//! What a file states must agree: computed members with what they follow from, and records with each other.

use super::*;

/// The file of every kind with these replacements, each of which must have something to replace.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(whole(), |text, (before, after)| {
        assert!(text.contains(before), "{before}");
        text.replace(before, after)
    })
}

#[tokio::test]
async fn a_computed_member_may_be_stated_and_must_agree() {
    let category = r#""form":"FormAAAA","name":{"en_GB":"Film"}"#;
    let field = r#""type":"text","resource":"entries""#;
    let contributor = r#""entry":"EntryAAA","tab":"TabContr""#;
    let entry = r#""title":"First""#;
    let season = r#""name":{"en_GB":"2026"}"#;
    let stated = |[chapters, entries, categories, of_contributor, parent, link]: [&str; 6]| {
        with(&[
            (category, &format!(r#"{category},"chapter_count":{chapters},"entry_count":{entries}"#)),
            (field, &format!(r#"{field},"category_count":{categories}"#)),
            (contributor, &format!(r#"{contributor},"season":"{of_contributor}""#)),
            (entry, &format!(r#"{entry},"parent_category":"{parent}""#)),
            (season, &format!(r#"{season},"link":"https://a.example/season/{link}""#)),
        ])
    };
    let place = Place::new().await;
    place.import(&stated(["1", "1", "\"all\"", "SeasonAA", "CategBBB", "SeasonAA"])).await;
    assert_eq!(
        place.faults(&stated(["2", "1", "1", "SeasonAA", "CategAAA", "SeasonBB"])).await,
        [
            "a.jsonl:15: category CategAAA: chapter_count: is computed and must be 1 or left out",
            "a.jsonl:19: season SeasonAA: link: is computed and must be an address that ends in /SeasonAA or left out",
            "a.jsonl:20: field FieldAAA: category_count: is computed and must be \"all\" or left out",
            "a.jsonl:8: entry EntryAAA: parent_category: contradicts the parent of the category",
        ]
    );
    // Where entries are counted, nothing else may be wrong.
    let wrong = stated(["1", "2", "\"all\"", "SeasonAA", "CategBBB", "SeasonAA"]);
    let reported = ["a.jsonl:15: category CategAAA: entry_count: is computed and must be 1 or left out"];
    assert_eq!(place.faults(&wrong).await, reported);
    let elsewhere = Place::new().await;
    assert_eq!(elsewhere.faults(&wrong).await, reported);
    let wrong = stated(["1", "1", "\"all\"", "SeasonBB", "CategBBB", "SeasonAA"]);
    let reported =
        "contributor ContrAAA: season: is computed and must be SeasonAA, the season of the entry, or left out";
    assert_eq!(elsewhere.faults(&wrong).await, [format!("a.jsonl:6: {reported}")]);
    assert_eq!(elsewhere.count("accounts").await, 0);
}

#[tokio::test]
async fn answers_and_tabs_are_of_the_right_kind() {
    let other = r#"
{"kind":"season","slug":"SeasonBB","name":{"en_GB":"2027"},"status":"draft"}
{"kind":"category","slug":"CategCCC","season":"SeasonBB","name":{"en_GB":"Late"}}
{"kind":"chapter","slug":"ChapterB","season":"SeasonBB","name":{"en_GB":"South"},"managers":["UserAAAA","UserAAAA"]}
"#;
    let text = with(&[
        (r#""entry_fields":{"FieldAAA":"Because"}"#, r#""entry_fields":{"FieldBBB":"Because"}"#),
        (r#""fields":{"FieldBBB":"Grace \u007f"}"#, r#""fields":{"FieldAAA":"Grace"}"#),
        (r#""entry":"EntryAAA","tab":"TabContr""#, r#""entry":"EntryAAA","tab":"TabAttac""#),
        (r#""entry":"EntryAAA","tab":"TabAttac","order":1"#, r#""entry":"EntryAAA","tab":"TabGener","order":1"#),
        (r#""email":"ada@example.org""#, r#""email":"ada@example.org","user_fields":{"FieldAAA":"x"}"#),
        (r#""name":"Awards""#, r#""name":"Awards","global_id":"one""#),
    ]) + other;
    let place = Place::new().await;
    let mut reported = place.faults(&text).await;
    reported.sort();
    assert_eq!(
        reported,
        [
            "a.jsonl:34: user UserAAAA: user_fields.FieldAAA: is a field about entries, and not about users",
            "a.jsonl:36: account AccountA: global_id: must be a UUID",
            "a.jsonl:40: chapter ChapterB: managers: names UserAAAA twice",
            "a.jsonl:4: attachment TokenTokenToken: tab: TabGener is a tab of the type General, and must be one of the type Attachments",
            "a.jsonl:6: contributor ContrAAA: fields.FieldAAA: is a field about entries, and not about contributors",
            "a.jsonl:6: contributor ContrAAA: tab: TabAttac is a tab of the type Attachments, and must be one of the type Contributors",
            "a.jsonl:8: entry EntryAAA: entry_fields.FieldBBB: is a field about contributors, and not about entries",
        ]
    );
    assert_eq!(place.count("accounts").await, 0);
}

#[tokio::test]
async fn the_type_of_a_tab_stays_as_soon_as_something_stands_on_it() {
    let place = Place::new().await;
    place.import(&format!("{ACCOUNT}{SETUP}")).await;
    let changed = r#"{"kind":"tab","slug":"TabAttac","form":"FormAAAA","type":"Contributors"}"#;
    place.import_for(changed, Some("AccountA")).await;
    let contributor = r#"[{"tab":"TabAttac"}]"#;
    let entry = r#"{"kind":"entry","slug":"EntryAAA","title":"First","category":"CategAAA","entrant":"UserAAAA""#;
    place.import_for(&format!(r#"{entry},"contributors":{contributor}}}"#), Some("AccountA")).await;
    let (_, reported) = place.import_for(&changed.replace("Contributors", "Attachments"), Some("AccountA")).await;
    let message = "tab TabAttac: type: must stay Contributors, because something stands on the tab";
    assert_eq!(reported, [format!("a.jsonl:1: {message}")]);
}

#[tokio::test]
async fn a_field_with_answers_keeps_its_type_whatever_becomes_of_its_season() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let changed = r#"
{"kind":"season","slug":"SeasonBB","name":{"en_GB":"2027"},"status":"draft"}
{"kind":"form","slug":"FormAAAA","season":"SeasonBB","name":{"en_GB":"Entry"}}
{"kind":"field","slug":"FieldAAA","type":"date","tab":"TabGener","title":{"en_GB":"Why"}}
"#;
    let (_, reported) = place.import_for(changed, Some("AccountA")).await;
    let of_type = reported.iter().find(|fault| fault.contains("field FieldAAA: type: "));
    assert!(of_type.is_some_and(|fault| fault.contains("text")), "{reported:?}");
}

#[tokio::test]
async fn a_field_that_does_not_say_what_it_asks_about_asks_about_what_its_tab_is_for() {
    let place = Place::new().await;
    place.import(&whole().replace(r#""resource":"contributors","#, "")).await;
    assert!(place.export().await.contains(r#""resource":"contributors""#));
    let field = r#"{"kind":"field","slug":"FieldCCC","type":"text","tab":"TabAttac","title":{"en_GB":"What"}}"#;
    place.import_for(field, Some("AccountA")).await;
    assert!(place.export().await.contains(r#""resource":"attachments""#));
}

#[tokio::test]
async fn importing_an_active_season_archives_the_one_before_it() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let before = place.head().await;
    place.clock.advance(60);
    let next = r#"{"kind":"season","slug":"SeasonBB","name":{"en_GB":"2027"},"status":"active"}"#;
    place.import_for(next, Some("AccountA")).await;
    assert_eq!(place.head().await.0, before.0 + 2);
    let export = place.export().await;
    let seasons: Vec<&str> = export.lines().filter(|line| line.starts_with(r#"{"kind":"season""#)).collect();
    assert_eq!(seasons.len(), 2);
    assert!(
        seasons[0].contains(r#""status":"archived""#) && seasons[0].contains("2026-01-31T08:31:00.000000Z"),
        "{seasons:?}"
    );
    assert!(seasons[1].contains(r#""status":"active""#), "{seasons:?}");
    // Which of two comes first nobody can tell.
    let both = format!("{next}\n{}", next.replace("SeasonBB", "SeasonCC"));
    let (_, reported) = place.import_for(&both, Some("AccountA")).await;
    assert_eq!(reported, ["a.jsonl:2: season SeasonCC: status: active is the status of SeasonBB already"]);
}

#[tokio::test]
async fn a_chapter_whose_manager_lost_the_role_is_told_where_the_file_has_the_cause() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let role = r#"{"kind":"role","slug":"RoleAAAA","name":{"en_GB":"Manager"},"type":"entrant"}"#;
    let (_, reported) = place.import_for(&format!("\n{role}"), Some("AccountA")).await;
    let message = "chapter ChapterA: managers: UserAAAA does not hold the role of a chapter manager";
    assert_eq!(reported, [format!("a.jsonl:2: {message}")]);
    let user = r#"{"kind":"user","slug":"UserAAAA","first_name":"Ada","last_name":"Lovelace","roles":[]}"#;
    let (_, reported) = place.import_for(&format!("{role}\n{user}"), Some("AccountA")).await;
    assert_eq!(reported, [format!("a.jsonl:2: {message}")]);
}
