use proptest::prelude::*;

use crate::program::testing;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::rules::body::{read_answer, read_create, read_update};
use crate::records::entries::rules::writing::*;
use crate::records::entries::{Eligibility, Payment};
use kernel::json::{parse_object, parse_value};

/// A program with a season that is active and one that is over, and a round that ends at noon of 1 March in Berlin.
fn program() -> Program {
    let season = r#""name":{"en_GB":"S"},"status":"active""#;
    let over = r#""name":{"en_GB":"S"},"status":"archived""#;
    let chapter =
        r#""season":"SeasonAA","name":{"en_GB":"C"},"status":"active","created":"2025-01-02T00:00:00.000000Z""#;
    let first = r#""season":"SeasonAA","name":{"en_GB":"C"},"status":"active","created":"2025-01-01T00:00:00.000000Z""#;
    let closed =
        r#""season":"SeasonAA","name":{"en_GB":"C"},"status":"inactive","created":"2024-01-01T00:00:00.000000Z""#;
    let form = r#""season":"SeasonAA","name":{"en_GB":"F"},"type":"entry""#;
    let category = |more: &str| format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"C"}}{more}"#);
    let field = |tab: &str, resource: &str, more: &str| {
        format!(r#""form":"FormAAAA","tab":"{tab}","resource":"{resource}","title":{{"en_GB":"F"}},{more}"#)
    };
    let entry_field = |more: &str| field("TabAAAAA", "entries", more);
    testing::program(&[
        ("season", "SeasonAA", season),
        ("season", "SeasonBB", over),
        ("chapter", "ChapterA", first),
        ("chapter", "ChapterB", chapter),
        ("chapter", "ChapterX", closed),
        ("chapter", "ChapterO", &chapter.replace("SeasonAA", "SeasonBB")),
        ("form", "FormAAAA", &format!(r#"{form},"minimum_auto_score":5"#)),
        ("form", "FormBBBB", form),
        ("form", "FormRepo", &form.replace(r#""entry""#, r#""report""#)),
        ("tab", "TabAAAAA", r#""form":"FormAAAA","type":"General","order":1"#),
        ("tab", "TabBBBBB", r#""form":"FormAAAA","type":"Contributors","order":2"#),
        ("category", "CategAAA", &category("")),
        ("category", "CategBBB", &category(r#","chapters":["ChapterB"]"#)),
        ("category", "CategDiv", &category(r#","divisions":3"#)),
        ("category", "CategLck", &category(r#","locked":true"#)),
        ("category", "CategMax", &category(r#","entrant_max_entries":2"#)),
        ("category", "CategOff", &category(r#","status":"inactive""#)),
        ("category", "CategFrm", &category("").replace("FormAAAA", "FormBBBB")),
        ("category", "CategOld", &category("").replace("SeasonAA", "SeasonBB")),
        ("category", "CategBar", r#""season":"SeasonAA","name":{"en_GB":"C"}"#),
        ("field", "FieldTxt", &entry_field(r#""type":"text","required":true,"maximum_words":2"#)),
        (
            "field",
            "FieldRad",
            &entry_field(
                r#""type":"radio","auto_scoring":5,"options":[{"value":"a","score":5},{"value":"b","score":1}]"#,
            ),
        ),
        (
            "field",
            "FieldCon",
            &entry_field(
                r#""type":"url","required":true,"conditional":{"field":"FieldRad","operator":"equals","value":"b"}"#,
            ),
        ),
        ("field", "FieldTab", &entry_field(r#""type":"table","columns":[{"key":"A"},{"key":"B"}]"#)),
        ("field", "FieldFil", &entry_field(r#""type":"file""#)),
        ("field", "FieldFor", &entry_field(r#""type":"formula""#)),
        ("field", "FieldDiv", &entry_field(r#""type":"numeric","required":true,"categories":["CategDiv"]"#)),
        ("field", "FieldCtr", &field("TabBBBBB", "contributors", r#""type":"text","required":true"#)),
        (
            "round",
            "RoundAAA",
            r#""season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"R"},"type":"entry","end_date":"2026-03-01 12:00:00""#,
        ),
    ])
}

const IN_TIME: &str = "2026-03-01T10:59:59.000000Z";
const TOO_LATE: &str = "2026-03-01T11:00:00.000000Z";

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn known() -> Facts {
    Facts { has_entrant: true, ..Facts::default() }
}

fn identity(now: &str) -> Identity {
    Identity { slug: slug("EntryAAA"), local_id: 7, now: time(now) }
}

/// What a body makes, with members beside those that must be there.
fn make_at(now: &str, facts: &Facts, more: &str) -> Result<Entry, Refusal> {
    let base = r#""category":"CategAAA","entrant":"UserAAAA","season":"SeasonAA","title":"T""#;
    let category =
        if more.contains(r#""category""#) { base.replace(r#""category":"CategAAA","#, "") } else { base.to_owned() };
    let text = format!("{{{category}{more}}}");
    let body = parse_object(text.as_bytes()).unwrap();
    create(&program(), read_create(&body), facts, identity(now))
}

fn make(more: &str) -> Result<Entry, Refusal> {
    make_at(IN_TIME, &known(), more)
}

fn change_at(now: &str, before: &Entry, facts: &Facts, body: &str) -> Result<Entry, Refusal> {
    let body = parse_object(body.as_bytes()).unwrap();
    update(&program(), before, read_update(&body), facts, &EntryChildren::default(), time(now))
}

fn change(before: &Entry, body: &str) -> Result<Entry, Refusal> {
    change_at(IN_TIME, before, &known(), body)
}

/// The members that something is wrong with, or `state`.
fn wrong<T: std::fmt::Debug>(result: Result<T, Refusal>) -> Vec<String> {
    match result.unwrap_err() {
        Refusal::Invalid(violations) => violations.iter().map(|(member, _)| member.to_owned()).collect(),
        Refusal::State(_) => vec!["state".to_owned()],
        refused => panic!("{refused:?}"),
    }
}

fn answers(text: &str) -> Answers {
    Answers::read(&parse_value(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_new_entry_is_in_progress_in_the_first_chapter_that_offers_its_category() {
    let entry = make("").unwrap();
    assert_eq!((entry.slug, entry.local_id, entry.title.as_str()), (slug("EntryAAA"), 7, "T"));
    assert_eq!((entry.chapter, entry.form), (slug("ChapterA"), slug("FormAAAA")));
    assert_eq!((entry.status, entry.submitted, entry.division), (Status::InProgress, None, None));
    assert_eq!((entry.created, entry.updated), (time(IN_TIME), time(IN_TIME)));
    assert_eq!(make(r#","category":"CategBBB""#).unwrap().chapter, slug("ChapterB"));
    assert_eq!(make(r#","category":"CategBar""#).unwrap().form, slug("FormAAAA"), "the first form of the season");
    assert_eq!(make(r#","category":"CategBar","form":"FormBBBB""#).unwrap().form, slug("FormBBBB"));
}

#[test]
fn everything_that_a_body_can_say_is_taken() {
    let body = r#","chapter":"ChapterB","form":"FormAAAA","status":"resubmission_required","moderation_status":"approved","entry_fields":{"FieldTxt":"one two","FieldTab":{"A1":"x","B1":""}},"custom_deadline":"2026-05-01 10:00","grant_status":"granted","grant_end_date":"2027-01-01""#;
    let entry = make(body).unwrap();
    assert_eq!((entry.status, entry.submitted), (Status::ResubmissionRequired, None));
    assert_eq!(entry.entry_fields, answers(r#"{"FieldTxt":"one two","FieldTab":{"A1":"x"}}"#));
    assert_eq!((entry.moderation_status, entry.custom_deadline.as_str()), (Moderation::Approved, "2026-05-01 10:00"));
    assert_eq!((entry.grant_status.as_deref(), entry.grant_end_date.is_some()), (Some("granted"), true));
}

#[test]
fn everything_that_is_wrong_with_a_new_entry_is_told_at_once() {
    let nothing = parse_object(b"{}").unwrap();
    let made = create(&program(), read_create(&nothing), &Facts::default(), identity(IN_TIME));
    assert_eq!(wrong(made), ["category", "entrant", "season", "title"]);
    let body = r#","chapter":"ChapterX","status":"resubmitted","color":1,"custom_deadline":"soon","entry_fields":{"FieldTxt":"one two three","FieldFil":"TokenTokenToken","FieldFor":1,"FieldDiv":1,"FieldCtr":"x","short":1}"#;
    assert_eq!(
        wrong(make_at(IN_TIME, &Facts::default(), body)),
        [
            "status",
            "custom_deadline",
            "color",
            "entrant",
            "chapter",
            "entry_fields.FieldTxt",
            "entry_fields.FieldFil",
            "entry_fields.FieldFor",
            "entry_fields.FieldDiv",
            "entry_fields.FieldCtr",
            "entry_fields.short"
        ]
    );
}

#[test]
fn category_form_chapter_and_season_of_a_new_entry_belong_together() {
    for (more, members) in [
        (r#","category":"CategLck""#, vec!["category"]),
        (r#","category":"CategOff""#, vec!["category"]),
        (r#","category":"CategZZZ""#, vec!["category"]),
        (r#","category":"CategOld""#, vec!["category", "form", "chapter"]),
        (r#","form":"FormBBBB""#, vec!["form"]),
        (r#","form":"FormRepo","category":"CategBar""#, vec!["form"]),
        (r#","form":"FormZZZZ""#, vec!["form"]),
        (r#","chapter":"ChapterO""#, vec!["chapter"]),
        (r#","chapter":"ChapterA","category":"CategBBB""#, vec!["chapter"]),
    ] {
        let mut found = wrong(make(more));
        found.dedup();
        if more.contains("CategOld") {
            assert!(found.contains(&"category".to_owned()), "{found:?}");
        } else {
            assert_eq!(found, members, "{more}");
        }
    }
    let over = parse_object(
        br#"{"category":"CategOld","entrant":"UserAAAA","season":"SeasonBB","title":"T","form":"FormAAAA"}"#,
    );
    let over = create(&program(), read_create(&over.unwrap()), &known(), identity(IN_TIME));
    assert!(wrong(over).contains(&"season".to_owned()));
}

#[test]
fn an_entrant_has_no_more_entries_in_a_category_than_it_takes() {
    let facts = |in_category| Facts { in_category, ..known() };
    let more = r#","category":"CategMax""#;
    assert!(make_at(IN_TIME, &facts(1), more).is_ok());
    assert_eq!(wrong(make_at(IN_TIME, &facts(2), more)), ["category"]);
    let entry = make("").unwrap();
    assert_eq!(wrong(change_at(IN_TIME, &entry, &facts(2), r#"{"category":"CategMax"}"#)), ["category"]);
    let there = change_at(IN_TIME, &entry, &facts(1), r#"{"category":"CategMax"}"#).unwrap();
    assert!(
        change_at(IN_TIME, &there, &facts(2), r#"{"category":"CategMax","title":"U"}"#).is_ok(),
        "it is there already"
    );
    assert_eq!(wrong(change_at(IN_TIME, &there, &facts(2), r#"{"entrant":"UserBBBB"}"#)), ["category"]);
    assert_eq!(wrong(copy(&program(), &there, &facts(2), identity(IN_TIME))), ["state"]);
}

#[test]
fn an_entry_is_submitted_in_time_and_with_every_required_answer() {
    let entry = make("").unwrap();
    let submit = r#"{"status":"submitted"}"#;
    assert_eq!(wrong(change(&entry, submit)), ["entry_fields.FieldTxt"]);
    assert_eq!(wrong(make(r#","status":"submitted""#)), ["entry_fields.FieldTxt"]);
    let with = r#"{"status":"submitted","entry_fields":{"FieldTxt":"x"}}"#;
    assert_eq!(wrong(change_at(TOO_LATE, &entry, &known(), with)), ["state"]);
    let submitted = change(&entry, with).unwrap();
    assert_eq!((submitted.status, submitted.submitted), (Status::Submitted, Some(time(IN_TIME))));
    let longer = with.replace('{', "{\"custom_deadline\":\"2026-03-01 12:01\",").replacen(
        "\"entry_fields\":{\"custom_deadline\":\"2026-03-01 12:01\",",
        "\"entry_fields\":{",
        1,
    );
    assert!(change_at(TOO_LATE, &entry, &known(), &longer).is_ok(), "{longer}");
    let made = make(r#","status":"submitted","entry_fields":{"FieldTxt":"x"}"#).unwrap();
    assert_eq!((made.status, made.submitted), (Status::Submitted, Some(time(IN_TIME))));
    let late = make_at(TOO_LATE, &known(), r#","status":"submitted","entry_fields":{"FieldTxt":"x"}"#);
    assert_eq!(wrong(late), ["state"]);
}

#[test]
fn a_required_field_that_is_not_shown_or_not_asked_needs_no_answer() {
    let submit = |answers: &str| {
        make(&format!(r#","status":"submitted","entry_fields":{{"FieldTxt":"x",{answers}}}"#)).map(|_| ())
    };
    assert_eq!(submit(r#""FieldRad":"a""#), Ok(()));
    assert_eq!(wrong(submit(r#""FieldRad":"b""#)), ["entry_fields.FieldCon"]);
    assert_eq!(submit(r#""FieldRad":"b","FieldCon":"https://example.org""#), Ok(()));
    let divided = make(r#","category":"CategDiv","status":"submitted","entry_fields":{"FieldTxt":"x"}"#);
    assert_eq!(wrong(divided), ["entry_fields.FieldDiv"]);
}

#[test]
fn a_required_field_of_a_contributor_needs_an_answer_as_well() {
    let entry = make(r#","entry_fields":{"FieldTxt":"x"}"#).unwrap();
    let contributor = |fields: &str| -> Contributor {
        testing::read("ContribA", &format!(r#""entry":"EntryAAA","tab":"TabBBBBB","fields":{fields}"#)).unwrap()
    };
    let submit = |fields: &str| {
        let entry_children = EntryChildren { contributors: vec![contributor(fields)], attachments: Vec::new() };
        let body = parse_object(br#"{"status":"submitted"}"#).unwrap();
        update(&program(), &entry, read_update(&body), &known(), &entry_children, time(IN_TIME)).map(|_| ())
    };
    assert_eq!(wrong(submit("{}")), ["contributors.ContribA.FieldCtr"]);
    assert_eq!(submit(r#"{"FieldCtr":"x"}"#), Ok(()));
}

#[test]
fn an_entry_takes_the_steps_that_there_are_and_no_other() {
    let entry = make(r#","status":"submitted","entry_fields":{"FieldTxt":"x"}"#).unwrap();
    let to = |entry: &Entry, status: &str| change_at(TOO_LATE, entry, &known(), &format!(r#"{{"status":"{status}"}}"#));
    assert_eq!(to(&entry, "submitted").unwrap(), entry, "it is there");
    assert_eq!(wrong(to(&entry, "resubmitted")), ["state"]);
    assert_eq!(wrong(to(&entry, "invited")), ["status"]);
    let reverted = to(&entry, "in_progress").unwrap();
    assert_eq!((reverted.status, reverted.submitted), (Status::InProgress, None));
    assert_eq!(wrong(to(&reverted, "submitted")), ["state"], "the round has ended");
    let back = to(&entry, "resubmission_required").unwrap();
    assert_eq!((back.status, back.submitted), (Status::ResubmissionRequired, Some(time(IN_TIME))));
    assert_eq!(wrong(to(&back, "in_progress")), ["state"]);
    let again = to(&back, "resubmitted").unwrap();
    assert_eq!((again.status, again.submitted), (Status::Resubmitted, Some(time(TOO_LATE))));
    let emptied = change(&back, r#"{"entry_fields":{"FieldTxt":""}}"#).unwrap();
    assert_eq!(wrong(to(&emptied, "resubmitted")), ["entry_fields.FieldTxt"]);
    let invited = Entry { status: Status::Invited, ..reverted };
    assert_eq!(to(&invited, "in_progress").unwrap().status, Status::InProgress);
    assert_eq!(wrong(to(&invited, "submitted")), ["state"]);
}

#[test]
fn a_score_is_that_of_the_answers_and_is_screened_from_the_first_submission_on() {
    let entry = make(r#","entry_fields":{"FieldTxt":"x","FieldRad":"a"}"#).unwrap();
    assert_eq!((entry.auto_score.as_str(), entry.eligibility_status), ("5", Eligibility::Unscreened));
    let submitted = change(&entry, r#"{"status":"submitted"}"#).unwrap();
    assert_eq!(submitted.eligibility_status, Eligibility::Eligible);
    let answer = r#"{"entry_fields":{"FieldRad":"b","FieldCon":"https://example.org"}}"#;
    let less = change(&submitted, answer).unwrap();
    assert_eq!((less.auto_score.as_str(), less.eligibility_status), ("1", Eligibility::Ineligible));
    let imported = Entry { auto_score: "12.50".to_owned(), ..entry };
    assert_eq!(change(&imported, r#"{"title":"U"}"#).unwrap().auto_score, "12.50", "nothing was answered");
}

#[test]
fn answers_are_merged_replaced_and_taken_back() {
    let entry = make(r#","entry_fields":{"FieldTxt":"x","FieldTab":{"A1":"1","B1":"2"}}"#).unwrap();
    let after = |body: &str| change(&entry, &format!(r#"{{"entry_fields":{body}}}"#)).unwrap().entry_fields;
    assert_eq!(
        after(r#"{"FieldTab":{"B1":"","A2":"3"}}"#),
        answers(r#"{"FieldTxt":"x","FieldTab":{"A1":"1","A2":"3"}}"#)
    );
    assert_eq!(after(r#"{"FieldTxt":null,"FieldTab":{"A1":"","B1":""}}"#), Answers::default());
    assert_eq!(after("{}"), entry.entry_fields);
    let one = parse_object(br#"{"value":"y","more":1}"#).unwrap();
    let given = read_answer(&one, slug("FieldTxt"));
    let changed = update(&program(), &entry, given, &known(), &EntryChildren::default(), time(IN_TIME)).unwrap();
    assert_eq!(changed.entry_fields.get(slug("FieldTxt")).and_then(|value| value.as_str()), Some("y"));
}

#[test]
fn an_entry_moves_where_category_form_season_and_chapter_agree() {
    let entry = make("").unwrap();
    for (body, member) in [
        (r#"{"category":"CategOld"}"#, "category"),
        (r#"{"category":"CategFrm"}"#, "category"),
        (r#"{"category":"CategLck"}"#, "category"),
        (r#"{"category":"CategOff"}"#, "category"),
        (r#"{"category":"CategBBB"}"#, "category"),
        (r#"{"chapter":"ChapterO"}"#, "chapter"),
        (r#"{"chapter":"ChapterX"}"#, "chapter"),
        (r#"{"category":"CategBBB","chapter":"ChapterX"}"#, "chapter"),
    ] {
        let mut found = wrong(change(&entry, body));
        found.dedup();
        assert_eq!(found, [member], "{body}");
    }
    let moved = change(&entry, r#"{"category":"CategBBB","chapter":"ChapterB"}"#).unwrap();
    assert_eq!((moved.category, moved.chapter), (slug("CategBBB"), slug("ChapterB")));
    let facts = Facts { divisions: BTreeMap::from([(1, 1), (2, 0)]), ..known() };
    let divided = change_at(IN_TIME, &entry, &facts, r#"{"category":"CategDiv"}"#).unwrap();
    assert_eq!(divided.division, Some(2));
    assert_eq!(change(&divided, r#"{"category":"CategDiv","title":"U"}"#).unwrap().division, Some(2));
    assert_eq!(change(&divided, r#"{"category":"CategAAA"}"#).unwrap().division, None);
}

#[test]
fn a_locked_category_keeps_what_an_entrant_gives() {
    let entry = Entry { category: slug("CategLck"), ..make(r#","entry_fields":{"FieldTxt":"x"}"#).unwrap() };
    for body in [
        r#"{"title":"U"}"#,
        r#"{"entry_fields":{"FieldTxt":"y"}}"#,
        r#"{"chapter":"ChapterB"}"#,
        r#"{"category":"CategAAA"}"#,
        r#"{"entrant":"UserBBBB"}"#,
        r#"{"status":"submitted"}"#,
    ] {
        assert_eq!(wrong(change(&entry, body)), ["state"], "{body}");
    }
    let body =
        r#"{"title":"T","moderation_status":"rejected","grant_status":"x","custom_deadline":"2027-01-01 00:00"}"#;
    assert_eq!(change(&entry, body).unwrap().moderation_status, Moderation::Rejected);
    assert_eq!(wrong(copy(&program(), &entry, &known(), identity(IN_TIME))), ["state"]);
}

#[test]
fn of_an_archived_season_title_moderation_and_grant_can_change_and_of_a_destroyed_one_nothing() {
    let entry = Entry { season: slug("SeasonBB"), category: slug("CategOld"), ..make("").unwrap() };
    let destroyed = Entry { season: slug("SeasonXX"), ..entry.clone() };
    for body in [
        r#"{"title":"U"}"#,
        r#"{"moderation_status":"approved"}"#,
        r#"{"grant_status":"granted","grant_end_date":"2027-01-01"}"#,
        "{}",
    ] {
        assert!(change(&entry, body).is_ok(), "{body}");
        assert_eq!(wrong(change(&destroyed, body)), ["state"], "{body}");
    }
    for body in [r#"{"title":"U","custom_deadline":"2027-01-01 00:00"}"#, r#"{"status":"submitted"}"#] {
        assert_eq!(wrong(change(&entry, body)), ["state"], "{body}");
    }
    assert_eq!(wrong(change(&entry, r#"{"title":""}"#)), ["title"], "wrong members come before the state");
    assert_eq!(wrong(copy(&program(), &entry, &known(), identity(IN_TIME))), ["state"]);
}

#[test]
fn a_copy_begins_anew_with_title_and_answers_and_without_files() {
    let made = make(r#","category":"CategDiv","entry_fields":{"FieldTxt":"x","FieldRad":"a"},"moderation_status":"approved","custom_deadline":"2027-01-01 00:00","grant_status":"g""#)
        .unwrap();
    let mut first = Entry { tags: "a".to_owned(), comments: "c".to_owned(), payment_status: Payment::Paid, ..made };
    first.entry_fields.set(slug("FieldFil"), Some(kernel::json::Json::String("TokenTokenToken".into())));
    let facts = Facts { divisions: BTreeMap::from([(1, 1)]), ..known() };
    let identity = Identity { slug: slug("EntryBBB"), local_id: 8, now: time(TOO_LATE) };
    let copied = copy(&program(), &first, &facts, identity).unwrap();
    let expected = Entry {
        title: "T".to_owned(),
        entry_fields: answers(r#"{"FieldTxt":"x","FieldRad":"a"}"#),
        auto_score: "5".to_owned(),
        division: Some(2),
        ..blank(
            &program(),
            identity,
            (first.title.clone(), first.entrant),
            [first.season, first.form, first.category, first.chapter],
        )
        .unwrap()
    };
    assert_eq!(copied, expected);
    let gone = Facts { has_entrant: false, ..facts };
    assert_eq!(wrong(copy(&program(), &first, &gone, identity)), ["state"]);
}

/// A body that may ask for anything.
fn bodies() -> impl Strategy<Value = String> {
    let member = |name: &'static str, values: &'static [&'static str]| prop_oneof![2 => Just(String::new()), 1 => (0..values.len()).prop_map(move |at| format!(r#""{name}":{},"#, values[at]))];
    let statuses =
        &[r#""submitted""#, r#""in_progress""#, r#""resubmission_required""#, r#""resubmitted""#, r#""invited""#];
    let answers = &[
        r#"{"FieldTxt":"x"}"#,
        r#"{"FieldTxt":""}"#,
        r#"{"FieldRad":"a"}"#,
        r#"{"FieldRad":"b"}"#,
        r#"{"FieldCon":"https://example.org"}"#,
        r#"{"FieldTab":{"A1":"1","B2":""}}"#,
        r#"{"FieldDiv":3}"#,
        r#"{"FieldFil":"TokenTokenToken"}"#,
    ];
    (
        member("status", statuses),
        member("entry_fields", answers),
        member("category", &[r#""CategAAA""#, r#""CategBBB""#, r#""CategDiv""#, r#""CategLck""#, r#""CategOld""#]),
        member("chapter", &[r#""ChapterA""#, r#""ChapterB""#, r#""ChapterX""#]),
        member("moderation_status", &[r#""approved""#, r#""rejected""#, r#""undecided""#]),
        member("custom_deadline", &[r#""2026-04-01 00:00""#, r#""-""#, r#""soon""#]),
    )
        .prop_map(|(status, answers, category, chapter, moderation, deadline)| {
            let members = [status, answers, category, chapter, moderation, deadline].concat();
            format!("{{{}}}", members.trim_end_matches(','))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_changes_leads_where_the_contract_does_not(
        changes in proptest::collection::vec((bodies(), 0..40_i64), 1..30),
    ) {
        let program = program();
        let begin = time("2026-02-27T00:00:00.000000Z").as_seconds();
        let mut entry = make_at("2026-02-27T00:00:00.000000Z", &known(), "").unwrap();
        for (body, hours) in changes {
            let now = Timestamp::from_seconds(begin + hours * 3_600);
            let body = parse_object(body.as_bytes()).unwrap();
            let after = update(&program, &entry, read_update(&body), &known(), &EntryChildren::default(), now);
            let Ok(after) = after else { continue };
            if after.status != entry.status {
                let taken = step(entry.status, after.status);
                prop_assert!(taken.is_some(), "{} to {}", entry.status, after.status);
                if taken.is_some_and(Step::hands_in) {
                    prop_assert!(after.entry_fields.get(slug("FieldTxt")).is_some());
                    prop_assert_eq!(after.submitted, Some(now));
                    prop_assert_ne!(after.eligibility_status, Eligibility::Unscreened);
                }
            }
            // What is shown is what would be computed from scratch.
            let asked = crate::records::entries::given::asked(&program, (after.form, after.category), &after.entry_fields);
            let score = crate::program::fields::auto_score(&program, asked);
            prop_assert_eq!(&after.auto_score, &score.to_string());
            match after.eligibility_status {
                Eligibility::Unscreened => {}
                Eligibility::Eligible => prop_assert!(score >= 5),
                Eligibility::Ineligible => prop_assert!(score < 5),
            }
            let category = program.categories.any(after.category).unwrap();
            prop_assert!(category.offers(after.chapter) && !category.locked && category.season == after.season);
            prop_assert_eq!(after.division.is_some(), category.divisions > 1);
            let was_handed_in =
                matches!(after.status, Status::Submitted | Status::ResubmissionRequired | Status::Resubmitted);
            prop_assert_eq!(after.submitted.is_some(), was_handed_in);
            entry = after;
        }
    }
}
