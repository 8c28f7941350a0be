use super::*;
use crate::program::testing::program;

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn access(roles: &[&str]) -> Access {
    let kinds = RoleType::CHOICES.iter().enumerate();
    let records: Vec<(String, String)> = kinds
        .map(|(number, (kind, _))| {
            (format!("RoleAAA{}", ["A", "B", "C", "D", "E", "F", "G", "H", "I"][number]), (*kind).to_owned())
        })
        .map(|(slug, kind)| (slug, format!(r#""name":{{"en_GB":"{kind}"}},"type":"{kind}""#)))
        .collect();
    let chapter = |managers: &str| format!(r#""season":"SeasonAA","name":{{"en_GB":"C"}},"managers":[{managers}]"#);
    let (own, other) = (chapter(r#""UserAAAA""#), chapter(r#""UserBBBB""#));
    let mut all: Vec<(&str, &str, &str)> =
        records.iter().map(|(slug, members)| ("role", slug.as_str(), members.as_str())).collect();
    all.push(("chapter", "ChapterA", &own));
    all.push(("chapter", "ChapterB", &other));
    let roles = roles.iter().map(|kind| {
        let number = RoleType::CHOICES.iter().position(|(name, _)| name == kind).unwrap();
        slug(&records[number].0)
    });
    Access::of(&program(&all), slug("UserAAAA"), &roles.collect::<Vec<_>>())
}

fn sights(access: &Access) -> [Option<Sight>; 3] {
    [("ChapterA", "UserBBBB"), ("ChapterB", "UserAAAA"), ("ChapterB", "UserBBBB")]
        .map(|(chapter, entrant)| access.entry(slug(chapter), slug(entrant)))
}

#[test]
fn what_is_seen_of_an_entry_is_what_any_of_the_roles_sees() {
    let (whole, applicant) = (Some(Sight::Whole), Some(Sight::Applicant));
    assert_eq!(sights(&Access::ACCOUNT), [whole; 3]);
    assert_eq!(sights(&access(&["program_manager"])), [whole; 3]);
    assert_eq!(sights(&access(&["auditor", "guest"])), [whole; 3]);
    assert_eq!(sights(&access(&["chapter_manager"])), [whole, None, None]);
    assert_eq!(sights(&access(&["entrant"])), [None, applicant, None]);
    assert_eq!(sights(&access(&["chapter_manager", "entrant"])), [whole, applicant, None]);
    assert_eq!(sights(&access(&["judge", "voter", "bookkeeper"])), [None; 3]);
}

#[test]
fn who_has_no_role_that_there_is_is_an_entrant() {
    let account = program(&[]);
    let nobody = Access::of(&account, slug("UserAAAA"), &[slug("RoleGone")]);
    assert_eq!(nobody, access(&["entrant"]));
    assert_eq!(sights(&nobody), [None, Some(Sight::Applicant), None]);
}

#[test]
fn an_operation_that_no_role_has_is_refused() {
    let may = |roles: &[&str], id: &str| {
        access(roles).may(operations::OPERATIONS.iter().find(|operation| operation.id == id))
    };
    assert!(may(&["program_manager"], "DeleteUserV23") && may(&["auditor"], "GetUserV23"));
    assert!(!may(&["auditor"], "PutUserV23") && !may(&["auditor"], "GetUserAuthTokenV23"));
    assert!(may(&["guest", "entrant"], "PutEntryV23") && !may(&["guest"], "PutEntryV23"));
    assert!(!may(&["program_manager"], "GetUnknownV23"), "what is not in the table is refused");
    assert!(Access::ACCOUNT.may(None));
}
