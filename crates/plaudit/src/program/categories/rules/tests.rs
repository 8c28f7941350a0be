use proptest::prelude::*;

use super::*;
use crate::program::categories::{Changes, document, item, read_create};
use crate::program::{Context, Record, store, testing};
use kernel::json::parse_object;
use kernel::text::{Locale, Token};

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
    assert!(category("CategAAA", r#","chapters":[],"chapter_count":0"#).offers(slug("ChapterA")));
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
    let told = |category, parent| told(&categories, Some((slug(category), 0)), parent);
    assert_eq!(told("CategAAA", "CategCCC"), "must not be the category itself or a descendant of it");
    assert_eq!(told("CategAAA", "CategAAA"), "must not be the category itself or a descendant of it");
    assert_eq!(told("CategCCC", "CategAAA"), "");
    assert_eq!(told("CategAAA", "CircleAA"), "makes more than 50 categories stand below one another", "a circle ends");
}

/// What is wrong with a parent of a child that so many stand below.
fn told(categories: &Records<Category>, child: Option<(Slug, usize)>, parent: &str) -> String {
    let mut violations = Violations::default();
    check_parent(categories, slug(parent), child, &mut violations);
    violations.iter().map(|(_, message)| message).collect()
}

#[test]
fn no_more_categories_stand_below_one_another_than_may() {
    let name = |at: usize| testing::numbered("CategQ", at);
    let mut categories = Records::default();
    for at in 0..=CHAIN {
        let parent = if at == 0 { String::new() } else { format!(r#","parent":"{}""#, name(at - 1)) };
        let value = category(&name(at), &parent);
        categories.insert(value.slug, Record { value, revision: 1, deleted: false });
    }
    let many = "makes more than 50 categories stand below one another";
    assert_eq!(told(&categories, None, &name(CHAIN)), many);
    assert_eq!(told(&categories, None, &name(CHAIN - 1)), "");
    assert_eq!(told(&categories, Some((slug("CategNew"), 1)), &name(CHAIN - 1)), many, "those below count as well");
    assert_eq!(bounds::followers(&categories, slug(&name(1)), |category| category.parent), CHAIN - 1);
}

fn now() -> Timestamp {
    Timestamp::from_seconds(9)
}

/// Two seasons with a chapter and a form each, and a form for all of them.
fn program() -> Program {
    let named = |members: &str| format!(r#""name":{{"en_GB":"N"}},{members}"#);
    let records: Vec<(&str, &str, String)> = vec![
        ("season", "SeasonAA", named(r#""status":"active""#)),
        ("season", "SeasonBB", named(r#""status":"draft""#)),
        ("chapter", "ChapterA", named(r#""season":"SeasonAA""#)),
        ("chapter", "ChapterB", named(r#""season":"SeasonBB""#)),
        ("form", "FormAAAA", named(r#""season":"SeasonAA","created":"2026-01-02T00:00:00.000000Z""#)),
        ("form", "FormRepo", named(r#""season":"SeasonAA","type":"report","created":"2026-01-01T00:00:00.000000Z""#)),
        ("form", "FormBBBB", named(r#""season":"SeasonBB","created":"2026-01-01T00:00:00.000000Z""#)),
        ("form", "FormFree", named(r#""created":"2026-01-03T00:00:00.000000Z""#)),
    ];
    let records: Vec<_> = records.iter().map(|(kind, slug, members)| (*kind, *slug, members.as_str())).collect();
    testing::program(&records)
}

fn reported(violations: &Violations) -> Vec<String> {
    violations.iter().map(|(member, message)| format!("{member} {message}")).collect()
}

fn created(program: &Program, slug: &str, body: &str) -> Result<Category, Vec<String>> {
    let read = read_create(&parse_object(body.as_bytes()).unwrap(), &testing::context());
    create(program, read, self::slug(slug), now()).map_err(|violations| reported(&violations))
}

fn updated(program: &Program, category: &Category, body: &str) -> Result<Category, Vec<String>> {
    let read = Changes::read(&parse_object(body.as_bytes()).unwrap(), false, &testing::context());
    update(program, category, read, now()).map_err(|violations| reported(&violations))
}

fn put(program: &mut Program, value: Category, deleted: bool) {
    program.categories.insert(value.slug, Record { value, revision: 1, deleted });
}

const NEW: &str = r#"{"season":"SeasonAA","status":"active","translated":{"name":{"en_GB":"Film"}}"#;

#[test]
fn a_category_is_made_of_what_its_body_says() {
    let mut program = program();
    let plain = created(&program, "CategAAA", &format!("{NEW}}}")).unwrap();
    assert_eq!((plain.form, plain.divisions, plain.promoted), (Some(slug("FormAAAA")), 1, None), "the first form");
    assert_eq!((plain.created, plain.updated), (now(), now()));
    put(&mut program, plain, false);
    let body = r#"{"season":"SeasonAA","status":"inactive","translated":{"name":{"en_GB":"A","de_DE":"B"},"description":{"en_GB":"C"},"entry_name_label":{"en_GB":"D"},"image_heading":{"en_GB":"E"},"packing_slip_instructions":{"en_GB":"F"},"shortcode":{"en_GB":"G"}},"chapters":["ChapterA"],"divisions":3,"entrant_max_entries":4,"fill_entry_name":true,"max_image_width":640,"form":"FormFree","parent":"CategAAA","promoted":1,"pdf_packing_slip":true}"#;
    let whole = created(&program, "CategBBB", body).unwrap();
    testing::reads_back(&whole);
    let stored = store::stored(&whole);
    for member in [
        r#""status":"inactive","form":"FormFree","parent":"CategAAA","divisions":3,"promoted":1,"chapters":["ChapterA"]"#,
        r#""entrant_max_entries":4,"entry_name_label":{"en_GB":"D"},"fill_entry_name":true,"image_heading":{"en_GB":"E"}"#,
        r#""max_image_width":640,"packing_slip_instructions":{"en_GB":"F"},"pdf_packing_slip":true,"locked":false"#,
        r#""description":{"en_GB":"C"},"shortcode":{"en_GB":"G"}"#,
    ] {
        assert!(stored.contains(member), "{member} is not in {stored}");
    }
}

#[test]
fn everything_that_is_wrong_with_a_new_category_is_told() {
    let mut program = program();
    put(&mut program, category("CategOld", "").clone(), true);
    put(&mut program, Category { season: slug("SeasonBB"), ..category("CategOth", "") }, false);
    let wrong = |body: &str| created(&program, "CategAAA", body).unwrap_err();
    assert_eq!(wrong("{}"), ["season is required", "status is required", "translated is required"]);
    assert_eq!(
        wrong(
            r#"{"season":"SeasonCC","status":"open","translated":{"name":{"en_GB":" "},"title":{}},"chapters":["NoSuchCh","NoSuchCh"],"divisions":0,"entrant_max_entries":-1,"fill_entry_name":1,"max_image_width":10001,"form":"NoSuchFo","parent":"CategOld","promoted":true,"pdf_packing_slip":"no","locked":true}"#
        ),
        [
            "status must be one of active, inactive",
            "divisions must be an integer from 1 to 1000000",
            "promoted must be an integer from 0 to 1",
            "chapters names NoSuchCh twice",
            "entrant_max_entries must be an integer from 0 to 1000000",
            "fill_entry_name must be true or false",
            "max_image_width must be an integer from 1 to 10000",
            "pdf_packing_slip must be true or false",
            "translated.name en_GB must not be blank",
            "translated.title is not a member of this record",
            "locked is not a member of this record",
            "season SeasonCC is no season of the account",
            "chapters NoSuchCh is no chapter of the account",
            "form NoSuchFo is no form of the account",
            "parent CategOld is no category of the account",
        ]
    );
    assert_eq!(
        wrong(&format!(r#"{NEW},"chapters":["ChapterB"],"form":"FormBBBB","parent":"CategOth"}}"#)),
        [
            "chapters ChapterB belongs to another season than the category",
            "form FormBBBB belongs to another season than the category",
            "parent CategOth belongs to another season than the category",
        ]
    );
    let instructions = r#"{"season":"SeasonAA","status":"active","translated":{"name":{"en_GB":"A"},"packing_slip_instructions":{"de_DE":"B"}}}"#;
    assert_eq!(wrong(instructions), ["pdf_packing_slip is required with packing_slip_instructions"]);
}

#[test]
fn an_update_changes_what_it_names_and_keeps_the_rest() {
    let mut program = program();
    let before = category("CategAAA", r#","chapters":["ChapterX"],"promoted":1,"shortcode":{"en_GB":"S"}"#);
    put(&mut program, before.clone(), false);
    assert_eq!(updated(&program, &before, "{}").unwrap(), before, "nothing changes, not even the time");
    let after = updated(&program, &before, r#"{"locked":true,"translated":{"shortcode":{"de_DE":"T"}}}"#).unwrap();
    let shortcode = kernel::text::Translated::from_pairs(&[(Locale::EnGb, "S"), (Locale::DeDe, "T")]);
    assert_eq!(after, Category { locked: true, shortcode: shortcode.unwrap(), updated: now(), ..before.clone() });
    let kept = updated(&program, &before, r#"{"chapters":["ChapterX","ChapterA"]}"#).unwrap();
    assert_eq!(kept.chapters, [slug("ChapterX"), slug("ChapterA")], "one that is gone can stay");
    for (body, member) in [
        (r#"{"season":"SeasonBB"}"#, "season is not"),
        (r#"{"form":"FormAAAA"}"#, "form is not"),
        (r#"{"promoted":1}"#, "promoted is not"),
        (r#"{"parent":"CategAAA"}"#, "parent must not be"),
        (r#"{"chapters":["ChapterY"]}"#, "chapters ChapterY is no"),
        (r#"{"translated":{"name":{"en_GB":""}}}"#, "translated.name en_GB must"),
    ] {
        let wrong = updated(&program, &before, body).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].starts_with(member), "{wrong:?}");
    }
}

#[test]
fn a_category_is_counted_in_the_chapters_that_it_names() {
    let program = program();
    assert!(item(&category("CategAAA", ""), &program, 7).ends_with(r#""chapter_count":0,"entry_count":7}"#));
    let limited = category("CategBBB", r#","chapters":["ChapterA","ChapterX"]"#);
    assert!(item(&limited, &program, 0).contains(r#""chapter_count":2"#));
    assert!(document(&limited, &program, &[]).contains("ChapterX"));
}

/// Something that is done to a tree of categories, each named by its place.
#[derive(Clone, Debug)]
enum Step {
    Create(Option<usize>, bool),
    Move(usize, Option<usize>),
    Delete(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || 0..12_usize;
    let other = || proptest::option::weighted(0.8, 0..12_usize);
    let step = prop_oneof![
        3 => (other(), proptest::bool::weighted(0.9)).prop_map(|(parent, season)| Step::Create(parent, season)),
        4 => (place(), other()).prop_map(|(category, parent)| Step::Move(category, parent)),
        1 => place().prop_map(Step::Delete),
    ];
    proptest::collection::vec(step, 0..60)
}

fn named(place: usize) -> Slug {
    slug(&format!("Categ{}AA", char::from(b'A' + u8::try_from(place).unwrap())))
}

/// The tree has no cycle, no parent in the trash, and no parent of another season.
fn is_whole(program: &Program) -> bool {
    let live: Vec<_> = program.categories.all_live().collect();
    live.iter().all(|category| {
        let mut at = *category;
        for _ in 0..=live.len() {
            match at.parent {
                None => return true,
                Some(parent) => match program.categories.live(parent) {
                    Some(parent) if parent.season == category.season => at = parent,
                    _ => return false,
                },
            }
        }
        false
    })
}

proptest! {
    /// Whatever is asked for, in whatever order, what is granted leaves the tree whole; and what would not is refused.
    #[test]
    fn the_tree_has_no_cycle(steps in steps()) {
        let mut program = program();
        let mut made = 0;
        for step in steps {
            match step {
                Step::Create(parent, is_active) if made < 12 => {
                    let season = if is_active { "SeasonAA" } else { "SeasonBB" };
                    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", named(parent)));
                    let body = format!(
                        r#"{{"season":"{season}","status":"active","translated":{{"name":{{"en_GB":"N"}}}},"parent":{parent}}}"#
                    );
                    let read = read_create(&parse_object(body.as_bytes()).unwrap(), &testing::context());
                    if let Ok(category) = create(&program, read, named(made), now()) {
                        put(&mut program, category, false);
                        made += 1;
                    }
                }
                Step::Create(..) => {}
                Step::Move(category, parent) => {
                    let Some(before) = program.categories.live(named(category)).cloned() else { continue };
                    let parent = parent.map(named);
                    let text = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
                    let granted = updated(&program, &before, &format!(r#"{{"parent":{text}}}"#));
                    let mut tried = self::program();
                    for record in program.categories.all() {
                        tried.categories.insert(record.value.slug, record.clone());
                    }
                    put(&mut tried, Category { parent, ..before }, false);
                    prop_assert_eq!(granted.is_ok(), is_whole(&tried));
                    if let Ok(category) = granted {
                        put(&mut program, category, false);
                    }
                }
                Step::Delete(category) => {
                    let Some(category) = program.categories.live(named(category)).cloned() else { continue };
                    let below = |program: &Program, parent| -> Vec<Slug> {
                        program.categories.all_live().filter(|child| child.parent == parent).map(|child| child.slug).collect()
                    };
                    let children = below(&program, Some(category.slug));
                    for child in moved_up(&program, &category, now()) {
                        put(&mut program, child, false);
                    }
                    put(&mut program, category.clone(), true);
                    prop_assert!(below(&program, Some(category.slug)).is_empty());
                    let above = below(&program, category.parent);
                    prop_assert!(children.iter().all(|child| above.contains(child)), "they are one level up");
                }
            }
            prop_assert!(is_whole(&program));
        }
    }
}
