use proptest::prelude::*;

use crate::records::entries::document::*;
use crate::records::entries::{Eligibility, Entry, Moderation, Payment, Status};
use crate::records::store::is_in_trash;
use kernel::document::{MARKER, whole};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, Timestamp, Token};

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn answers(text: &str) -> Answers {
    let mut object = JsonObject::new();
    object.set("FieldAAA", Json::String(text.into()));
    object.set("FieldBBB", Json::Number("1.50".into()));
    Answers::read(&Json::Object(object)).unwrap()
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

pub(in crate::records::entries) fn entry(text: &str, optional: bool) -> Entry {
    let text = || text.to_owned();
    Entry {
        slug: slug("EntryAAA"),
        local_id: 7,
        title: text(),
        status: Status::Submitted,
        created: time(1),
        submitted: optional.then(|| time(2)),
        updated: time(3),
        entrant: slug("UserAAAA"),
        entry_fields: answers(&text()),
        auto_score: "12.50".to_owned(),
        category: slug("CategAAA"),
        chapter: slug("ChapteAA"),
        form: slug("FormAAAA"),
        season: slug("SeasonAA"),
        comments: text(),
        user_comments: text(),
        custom_deadline: "-".to_owned(),
        division: optional.then_some(2),
        eligibility_status: Eligibility::Unscreened,
        moderation_status: Moderation::Undecided,
        payment_status: Payment::Paid,
        plagiarism_scan_status: "unscanned".to_owned(),
        review_status: text(),
        grant_status: optional.then(text),
        grant_end_date: optional.then(|| time(86_400).date()),
        tags: text(),
        archived: false,
    }
}

pub(in crate::records::entries) fn around(text: &str) -> RelatedData {
    let contributor = Contributor {
        slug: slug("ContriAA"),
        entry: slug("EntryAAA"),
        tab: slug("TabAAAAA"),
        fields: answers(text),
        created: time(1),
        updated: time(1),
    };
    let attachment = Attachment {
        token: Token::parse("TokenAAAAAAA").unwrap(),
        entry: slug("EntryAAA"),
        tab: slug("TabBBBBB"),
        order: 1,
        attachment_fields: answers(text),
        created: time(1),
        updated: time(1),
    };
    RelatedData {
        contributors: vec![contributor],
        attachments: vec![(attachment, text.to_owned())],
        counts: Counts { contributors: 1, files: 1 },
    }
}

/// The order of the specification, section 2.2.
const MEMBERS: [&str; 31] = [
    "slug",
    "local_id",
    "title",
    "status",
    "created",
    "submitted",
    "updated",
    "entrant",
    "entry_fields",
    "attachments",
    "contributors",
    "contributor_count",
    "files_count",
    "auto_score",
    "category",
    "parent_category",
    "chapter",
    "form",
    "season",
    "comments",
    "user_comments",
    "custom_deadline",
    "division",
    "eligibility_status",
    "moderation_status",
    "payment_status",
    "plagiarism_scan_status",
    "review_status",
    "grant_status",
    "grant_end_date",
    "tags",
];

#[test]
fn the_whole_document_has_the_members_of_the_specification_in_their_order() {
    let (entry, around) = (entry("Words", true), around("Words"));
    let whole = whole(&entry.document(around.counts, false), &detail(&entry.entry_fields, &around));
    let Json::Object(object) = parse_value(whole.as_bytes()).unwrap() else { panic!("{whole}") };
    let names: Vec<_> = object.iter().map(|(name, _)| name).collect();
    assert_eq!(names, MEMBERS);
}

#[test]
fn the_documents_are_as_the_slots_say() {
    let (entry, around) = (entry("W", false), around("W"));
    let shown = |text: String| text.replace(MARKER, "~");
    assert_eq!(
        shown(entry.document(around.counts, false)),
        concat!(
            r#"{"slug":"EntryAAA","local_id":7,"title":"W","status":"submitted","created":"1970-01-01T00:00:01.000000Z","#,
            r#""submitted":null,"updated":"1970-01-01T00:00:03.000000Z","entrant":"~eUserAAAA","~p":0,"#,
            r#""contributor_count":1,"files_count":1,"auto_score":12.50,"category":"~rcCategAAA","parent_category":"~cCategAAA","#,
            r#""chapter":"~rhChapteAA","form":"~rfFormAAAA","season":"~rsSeasonAA","comments":"W","user_comments":"W","#,
            r#""custom_deadline":"-","division":null,"eligibility_status":"","moderation_status":"undecided","#,
            r#""payment_status":"Paid","plagiarism_scan_status":"unscanned","review_status":"W","grant_status":null,"#,
            r#""grant_end_date":null,"tags":"W"}"#,
        )
    );
    let answers = r#"{"~a32":{"FieldAAA":"W","FieldBBB":1.50}}"#;
    assert_eq!(
        shown(detail(&entry.entry_fields, &around)),
        [
            r#"{"entry_fields":"#,
            answers,
            r#","attachments":[{"token":"TokenAAAAAAA","link":"~l/attachment/TokenAAAAAAA","#,
            r#""file":{"token":"TokenAAAAAAA","link":"~l/file/TokenAAAAAAA","filename":"W","download":"~dTokenAAAAAAA"},"#,
            r#""attachment_fields":"#,
            answers,
            r#","tab":"~rtTabBBBBB"}],"contributors":[{"slug":"ContriAA","tab":"~rtTabAAAAA","contributor_fields":"#,
            answers,
            "}]}",
        ]
        .concat()
    );
}

#[test]
fn a_document_that_is_none_of_an_entry_is_refused() {
    let entry = entry("W", true);
    let doc = entry.document(around("W").counts, false);
    assert!(Entry::of_document(&doc.replace("rhChapteAA", "rhChapter")).is_err());
    assert!(Entry::of_document(&doc.replace("\u{7f}rhChapteAA", "ChapteAA")).is_err());
    assert!(Entry::of_document(&doc.replace("\u{7f}eUserAAAA", "\u{7f}ruUserAAAA")).is_err());
    assert!(Entry::of_document("{}").is_err());
    assert_eq!(answers_of("{}"), None);
}

proptest! {
    #[test]
    fn what_is_stored_reads_back_byte_for_byte(
        text in any::<String>(),
        optional in any::<bool>(),
        (archived, deleted) in any::<(bool, bool)>(),
    ) {
        let (entry, around) = (Entry { archived, ..entry(&text, optional) }, around(&text));
        let doc = entry.document(around.counts, deleted);
        let detail = detail(&entry.entry_fields, &around);
        let counts: Counts = serde_json::from_str(&doc).unwrap();
        prop_assert_eq!(counts, around.counts);
        let head = Entry::of_document(&doc).unwrap();
        prop_assert_eq!(is_in_trash(&doc), deleted);
        prop_assert_eq!(head.document(counts, deleted), doc.clone());
        let entry_fields = answers_of(&detail).unwrap();
        prop_assert_eq!(Entry { entry_fields, ..head }, entry);
    }

    #[test]
    fn other_answers_leave_the_rest_of_the_document_alone(text in any::<String>(), other in any::<String>()) {
        let (entry, around) = (entry(&text, true), around(&text));
        let stored = detail(&entry.entry_fields, &around);
        for given in [answers(&other), Answers::default()] {
            prop_assert_eq!(with_answers(&stored, &given), Some(detail(&given, &around)));
        }
    }
}

#[test]
fn a_detail_has_the_members_that_are_included() {
    for text in ["], \"attachments\":[ ],\"contributors\":[", "plain", "\\\"]}"] {
        let around = around(text);
        let all = detail(&answers(text), &around);
        let value = |text: &str| {
            serde_json::from_str::<serde_json::Value>(text).unwrap_or_else(|error| panic!("{error} in {text}"))
        };
        for chosen in 0..8 {
            let chosen =
                crate::records::entries::document::MEMBERS.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
            let members: Vec<&str> = chosen.map(|(_, member)| *member).collect();
            let shown = included(&all, &members);
            let mut expected = value(&all);
            expected.as_object_mut().unwrap().retain(|member, _| members.contains(&member.as_str()));
            match shown {
                None => assert!(members.is_empty()),
                Some(shown) => assert_eq!(value(&shown), expected, "{members:?}"),
            }
        }
        let bare = RelatedData { contributors: Vec::new(), attachments: Vec::new(), ..around };
        let all = detail(&Answers::default(), &bare);
        assert_eq!(included(&all, &["attachments"]).unwrap(), r#"{"attachments":[]}"#);
        assert_eq!(
            included(&all, &["attachments", "contributors"]).unwrap(),
            r#"{"attachments":[],"contributors":[]}"#
        );
    }
}
