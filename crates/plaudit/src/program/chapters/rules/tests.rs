use proptest::prelude::*;

use super::*;
use crate::program::chapters::Status;
use crate::program::testing;
use kernel::json::parse_object;
use kernel::text::Locale;

const ROLES: [(&str, &str); 4] =
    [("RoleChap", "chapter_manager"), ("RoleProg", "program_manager"), ("RoleJudg", "judge"), ("RoleEntr", "entrant")];

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn program() -> Program {
    let mut records: Vec<(&str, &str, String)> = ROLES
        .iter()
        .map(|(slug, kind)| ("role", *slug, format!(r#""name":{{"en_GB":"R"}},"type":"{kind}""#)))
        .collect();
    records.push(("season", "SeasonAA", r#""name":{"en_GB":"2026"},"status":"active""#.to_owned()));
    let records: Vec<_> = records.iter().map(|(kind, slug, members)| (*kind, *slug, members.as_str())).collect();
    testing::program(&records)
}

fn candidate(user: &str, roles: &[&str]) -> Candidate {
    Candidate { slug: slug(user), roles: roles.iter().map(|role| slug(role)).collect() }
}

fn reported(violations: &Violations) -> Vec<String> {
    violations.iter().map(|(member, message)| format!("{member} {message}")).collect()
}

fn created(body: &str, found: &[Candidate]) -> Result<Chapter, Vec<String>> {
    let read = Changes::read(&parse_object(body.as_bytes()).unwrap(), true, &testing::context());
    create(&program(), read, found, slug("ChapterN"), Timestamp::from_seconds(9)).map_err(|told_of| reported(&told_of))
}

#[test]
fn a_chapter_is_made_of_what_its_body_says() {
    let found = [candidate("UserAAAA", &["RoleEntr", "RoleChap"])];
    let body = r#"{"season":"SeasonAA","status":"inactive","translated":{"name":{"en_GB":"North","de_DE":"Nord"},"image_heading":{"de_DE":"Bild"}},"max_image_width":640,"managers":["UserAAAA"]}"#;
    let chapter = created(body, &found).unwrap();
    assert_eq!((chapter.slug, chapter.season, chapter.status), (slug("ChapterN"), slug("SeasonAA"), Status::Inactive));
    assert_eq!((chapter.name.in_locale(Locale::DeDe), chapter.max_image_width), ("Nord", Some(640)));
    assert_eq!(
        (chapter.managers.len(), chapter.created, chapter.updated),
        (1, chapter.updated, Timestamp::from_seconds(9))
    );
    testing::reads_back(&chapter);
    let plain = r#"{"season":"SeasonAA","status":"active","translated":{"name":{"en_GB":"N"}},"max_image_width":null}"#;
    assert_eq!(created(plain, &[]).unwrap().max_image_width, None);
}

#[test]
fn everything_that_is_wrong_with_a_new_chapter_is_told() {
    assert_eq!(created("{}", &[]).unwrap_err(), ["season is required", "status is required", "translated is required"]);
    let body = r#"{"season":"SeasonBB","status":"open","translated":{"name":{"de_DE":"Nord"},"description":{}},"max_image_width":0,"managers":["UserAAAA","UserBBBB","UserBBBB"],"slug":"ChapterN"}"#;
    let found = [candidate("UserAAAA", &["RoleJudg"])];
    assert_eq!(
        created(body, &found).unwrap_err(),
        [
            "status must be one of active, inactive",
            "max_image_width must be an integer from 1 to 10000",
            "managers names UserBBBB twice",
            "translated.name en_GB is required",
            "translated.description is not a member of this record",
            "slug is not a member of this record",
            "season SeasonBB is no season of the account",
            "managers UserAAAA does not hold the role of a chapter manager",
            "managers UserBBBB is no user of the account",
        ]
    );
    assert_eq!(
        created(r#"{"season":"SeasonAA","status":"active","translated":{}}"#, &[]).unwrap_err(),
        ["translated.name is required"]
    );
}

#[test]
fn a_role_in_the_trash_is_no_role() {
    let mut program = program();
    assert!(may_manage(&program, &[slug("RoleChap")]) && may_manage(&program, &[slug("RoleProg")]));
    assert!(!may_manage(&program, &[slug("RoleJudg"), slug("NoSuchRo")]) && !may_manage(&program, &[]));
    let mut role = program.roles.live_record(slug("RoleChap")).unwrap().clone();
    role.deleted = true;
    program.roles.insert(role.value.slug, role);
    assert!(!may_manage(&program, &[slug("RoleChap")]));
}

proptest! {
    /// Whoever is named and whatever roles they hold: a chapter is changed only when every manager may manage it, and
    /// then has exactly those who were named, in their order.
    #[test]
    fn a_chapters_managers_hold_the_role(
        users in proptest::collection::vec((any::<bool>(), proptest::collection::vec(0..4_usize, 0..3)), 4),
        named in proptest::collection::vec(0..4_usize, 0..4),
    ) {
        let program = program();
        let name = |user: usize| format!("UserAAA{}", ["A", "B", "C", "D"][user]);
        let found: Vec<Candidate> = users
            .iter()
            .enumerate()
            .filter(|(_, (is_there, _))| *is_there)
            .map(|(user, (_, roles))| candidate(&name(user), &roles.iter().map(|role| ROLES[*role].0).collect::<Vec<_>>()))
            .collect();
        let chapter: Chapter = testing::read("ChapterN", r#""season":"SeasonAA","name":{"en_GB":"N"}"#).unwrap();
        let slugs: Vec<String> = named.iter().map(|user| format!("\"{}\"", name(*user))).collect();
        let body = format!(r#"{{"managers":[{}]}}"#, slugs.join(","));
        let read = Changes::read(&parse_object(body.as_bytes()).unwrap(), false, &testing::context());
        let changed = update(&program, &chapter, read, &found, Timestamp::from_seconds(9));
        let may = |user: &usize| users[*user].0 && users[*user].1.iter().any(|role| *role < 2);
        let is_unique = named.iter().enumerate().all(|(index, user)| !named[..index].contains(user));
        prop_assert_eq!(changed.is_ok(), is_unique && named.iter().all(may));
        if let Ok(changed) = changed {
            let shown: Vec<String> = changed.managers.iter().map(Slug::to_string).collect();
            prop_assert_eq!(shown, named.iter().map(|user| name(*user)).collect::<Vec<_>>());
        }
    }
}
