use proptest::prelude::*;

use crate::lists::page::*;
use kernel::document;
use kernel::text::{Slug, Timestamp};

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(&["paid", "awaiting_payment"]), "Whether they are paid"),
    Filter::season("The season"),
    Filter::new("category", FilterKind::Slug, "The category"),
    Filter::new("condition", FilterKind::SlugOr(&["only", "none"]), "The condition"),
    Filter::new("title", FilterKind::Text { max: 5 }, "A part of the title"),
    Filter::new("language", FilterKind::Locale, "The language"),
    Filter::new("include", FilterKind::ManyOf(&["attachments", "contributors"]), "What is shown as well"),
    Filter::new("updated_at", FilterKind::Date, "The last change"),
    Filter::deleted(),
];
pub(super) const SPEC: ListSpec =
    ListSpec { orders_by_field: true, ..ListSpec::new(FILTERS, &["created_at", "total"]) };
pub(super) const FEED: ListSpec = ListSpec::walked(
    &[
        Filter::new("slug", FilterKind::Text { max: 8 }, "The slug"),
        Filter::new("wait", FilterKind::Number { min: 1, max: 30 }, "How long"),
    ],
    1_000,
);
const SCORES: ListSpec = ListSpec::new(&[Filter::new("score_set", FilterKind::Slug, "The score set")], &[]);

fn parsed(query: &str) -> ListQuery {
    ListQuery::parse(Some(query), &SPEC).unwrap()
}

fn refused(query: &str) -> ListQueryError {
    ListQuery::parse(Some(query), &SPEC).unwrap_err()
}

fn errors(error: &ListQueryError) -> String {
    let text = document::object(|object| error.write(object));
    text.strip_prefix("{\"errors\":").map_or_else(String::new, |errors| errors[..errors.len() - 1].to_owned())
}

fn names(error: &ListQueryError) -> Option<String> {
    Some(error.names.texts.join(",")).filter(|names| !names.is_empty())
}

fn range(query: &str) -> (Option<String>, Option<String>) {
    let range = parsed(query).range("updated_at").unwrap();
    (range.from.map(|time| time.to_string()), range.until.map(|time| time.to_string()))
}

#[test]
fn without_parameters_the_defaults_hold() {
    let query = ListQuery::parse(None, &SPEC).unwrap();
    assert_eq!(query, parsed(""));
    assert_eq!((query.page, query.per_page, query.rows_before()), (1, 10, 0));
    assert_eq!((query.order, query.direction), (Order::Named("updated"), Direction::Descending));
    assert_eq!((query.cursor, query.counted), (None, true));
}

#[test]
fn every_kind_of_filter_is_read() {
    let query = parsed(
        "status=paid&season=all&category=AbCdEfGh&condition=only&title=a+%C3%A9&language=cy_GB&include=contributors,contributors",
    );
    assert_eq!(query.word("status"), Some("paid"));
    assert!(query.is_all("season"));
    assert_eq!(query.slug("category"), Slug::parse("AbCdEfGh"));
    assert_eq!(query.word("condition"), Some("only"));
    assert_eq!(query.filter("title"), Some(&FilterValue::Text("a é".to_owned())));
    assert_eq!(query.word("language"), Some("cy_GB"));
    assert_eq!(query.words("include"), ["contributors"]);
    assert_eq!(query.word("season"), Some("all"));
    assert_eq!(parsed("").words("include"), [""; 0]);
}

#[test]
fn pages_and_sorts_are_read() {
    let query = parsed("page=3&per_page=100&order=total&dir=asc&count=none");
    assert_eq!((query.page, query.per_page, query.rows_before()), (3, 100, 200));
    assert_eq!((query.order, query.direction), (Order::Named("total"), Direction::Ascending));
    assert!(!query.counted);
    assert_eq!(parsed("order=AbCdEfGh").order, Order::Field(Slug::parse("AbCdEfGh").unwrap()));
    assert_eq!(parsed("order=total").direction, Direction::Ascending);
    assert_eq!(parsed("order=AbCdEfGh").direction, Direction::Ascending);
    assert_eq!(parsed("dir=desc&order=total").direction, Direction::Descending);
    assert_eq!(parsed("order=unknown").direction, Direction::Descending);
    assert_eq!(parsed("order=unknown&dir=asc").order, Order::Named("updated"));
    assert_eq!(
        ListQuery::parse(Some("order=AbCdEfGh&score_set=AbCdEfGh"), &SCORES).unwrap().order,
        Order::Named("updated")
    );
    assert_eq!(parsed("page=18446744073709551615&per_page=100").rows_before(), i64::MAX.unsigned_abs());
}

#[test]
fn what_is_walked_alone_has_a_cursor_whatever_its_filters_and_no_pages() {
    let parsed = |query: &str| ListQuery::parse(Some(query), &FEED);
    let begin = parsed("per_page=1000&wait=30").unwrap();
    assert_eq!((begin.per_page, begin.number("wait")), (1_000, Some(30)));
    assert!(begin.cursor.as_ref().is_some_and(Cursor::is_start));
    let next = begin.cursor_behind(vec![7], 0);
    let later = parsed(&format!("cursor={next}&slug=x")).unwrap();
    assert_eq!((later.cursor.as_ref().unwrap().position.as_slice(), later.text("slug")), (&[7][..], Some("x")));
    for query in ["page=1", "order=updated", "dir=asc", "count=none", "wait=0", "wait=31", "wait=+1", "per_page=1001"] {
        assert!(parsed(query).is_err(), "{query}");
    }
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let error = refused("page=0&per_page=101&dir=up&foo=1&status=open&status[]=paid&foo=2&season=x");
    assert_eq!(names(&error).as_deref(), Some("foo,status[]"));
    assert_eq!(error.values[0], ("status".into(), "must be one of: paid, awaiting_payment".into()));
    assert_eq!(error.parameters.texts.len(), 3);
    assert_eq!(
        errors(&error),
        "{\"invalid_filter_names\":\"foo,status[]\",\"invalid_filter_values\":{\"status\":\"must be one of: paid, \
         awaiting_payment\",\"season\":\"must be a slug of 8 letters, or all\"}}"
    );
    assert_eq!(
        error.to_string(),
        "The query is not valid: page must be a whole number from 1; per_page must be a whole number from 1 to 100; \
         dir must be asc or desc; unknown filters: foo,status[]; status must be one of: paid, awaiting_payment; \
         season must be a slug of 8 letters, or all."
    );
}

#[test]
fn pages_out_of_range_are_refused_without_a_map_of_errors() {
    for query in ["page=0", "page=-1", "page=", "page=1.0", "page=+1", "per_page=0", "per_page=101"] {
        let error = refused(query);
        assert_eq!((error.parameters.texts.len(), names(&error)), (1, None), "{query}");
        assert_eq!(errors(&error), "");
    }
    assert_eq!(
        errors(&refused("status=%ff")),
        r#"{"invalid_filter_values":{"status":"must be one of: paid, awaiting_payment"}}"#
    );
    for query in ["dir=", "dir=ASC", "count=all", "cursor=%21", "cursor=AAAA", "page=1&cursor=", "a=%zz"] {
        assert_eq!(refused(query).parameters.texts.len(), 1, "{query}");
    }
}

#[test]
fn a_parameter_that_comes_twice_is_refused() {
    assert_eq!(refused("page=1&page=1").to_string(), "The query is not valid: page is given more than once.");
    assert_eq!(
        errors(&refused("status=paid&status=paid")),
        r#"{"invalid_filter_values":{"status":"is given more than once; it must be one of: paid, awaiting_payment"}}"#
    );
    let twice = refused("updated_at[on]=2026-01-31&updated_at%5Bon%5D=2026-01-31");
    assert!(twice.values[0].1.contains("each once"));
}

#[test]
fn a_query_of_more_than_256_parameters_is_refused_and_none_of_them_is_read() {
    let query = |count: usize| vec!["x=1"; count].join("&&");
    let error = refused(&query(257));
    assert_eq!(error.to_string(), "The query is not valid: it has more than 256 parameters.");
    assert_eq!((errors(&error), error.parameters.texts.len()), (String::new(), 1));
    assert_eq!(names(&refused(&query(256))).as_deref(), Some("x"));
    assert!(ListQuery::parse(Some(&"&".repeat(1 << 20)), &SPEC).is_ok());
}

#[test]
fn an_error_repeats_so_many_unknown_names_and_the_beginning_of_each() {
    let listed = |count: usize| (0..count).map(|number| format!("x{number}=1")).collect::<Vec<_>>().join("&");
    let error = refused(&format!("{}&x1=1&x39=1", listed(40)));
    let reported = names(&error).unwrap();
    assert_eq!((reported.split(',').count(), reported.ends_with(",x31")), (32, true));
    assert!(error.to_string().ends_with(",x31 and 8 more."), "{error}");
    assert!(!refused(&listed(32)).to_string().contains("more"));
    assert_eq!(names(&refused(&format!("{}=1", "é".repeat(1000)))), Some(format!("{}…", "é".repeat(64))));
}

#[test]
fn an_error_repeats_so_many_complaints_about_other_parameters() {
    let broken: Vec<String> = (0..40).map(|number| format!("a{number}=%zz")).collect();
    let error = refused(&broken.join("&"));
    assert_eq!(error.parameters.texts.len(), 32);
    assert!(error.to_string().ends_with(" is not percent-encoded UTF-8 and 8 more."), "{error}");
    assert_eq!(refused(&["page=1"; 200].join("&")).parameters.texts, ["page is given more than once"]);
}

#[test]
fn the_error_of_the_longest_query_is_short() {
    let part = |number: usize| format!("{number}{}=%zz&{number}{}=1", "x".repeat(4000), "y".repeat(4000));
    let error = refused(&(0..128).map(part).collect::<Vec<_>>().join("&"));
    assert!(error.to_string().len() < 10_000 && errors(&error).len() < 5_000);
}

#[test]
fn values_outside_their_kind_are_refused() {
    for query in [
        "status=",
        "status",
        "status=Paid",
        "season=ALL",
        "category=all",
        "title=",
        "title=123456",
        "title=a%00",
        "language=en",
        "include=",
        "include=attachments,other",
        "condition=all",
        "updated_at=2026-01-31",
        "updated_at[on]=2026-02-30",
        "updated_at[on]=2026-01-31T00:00:00Z",
        "updated_at[before]=soon",
        "updated_at[between]=2026-01-31",
        "updated_at[between]=2026-02-01,2026-01-31",
    ] {
        assert_eq!(refused(query).values.len(), 1, "{query}");
    }
    for query in ["updated_at[since]=2026-01-31", "status[on]=2026-01-31", "updated_at[on", "Status=paid"] {
        assert!(names(&refused(query)).is_some(), "{query}");
    }
}

#[test]
fn a_date_is_its_whole_day() {
    let day = |text: &str| Some(text.to_owned());
    let (start, end) = (day("2026-01-31T00:00:00.000000Z"), day("2026-02-01T00:00:00.000000Z"));
    assert_eq!(range("updated_at[before]=2026-01-31"), (None, start.clone()));
    assert_eq!(range("updated_at[after]=2026-01-31"), (end.clone(), None));
    assert_eq!(range("updated_at[on]=2026-01-31"), (start.clone(), end.clone()));
    assert_eq!(range("updated_at%5Bbetween%5D=2026-01-31,2026-01-31"), (start, end));
    assert_eq!(
        range("updated_at[between]=2026-01-31T08:00:00Z,2026-01-31T10:00:00%2B01:00"),
        (day("2026-01-31T08:00:00.000000Z"), day("2026-01-31T09:00:00.000001Z"))
    );
}

#[test]
fn several_brackets_all_hold() {
    let query =
        parsed("updated_at[after]=2026-01-01&updated_at[before]=2026-02-01&updated_at[between]=2025-01-01,2026-01-20");
    let range = query.range("updated_at").unwrap();
    let holds = |text: &str| {
        let time = Timestamp::parse(text).unwrap();
        range.from.unwrap() <= time && time < range.until.unwrap()
    };
    assert!(holds("2026-01-02T00:00:00.000000Z") && holds("2026-01-20T23:59:59.999999Z"));
    assert!(!holds("2026-01-01T23:59:59.000000Z") && !holds("2026-01-21T00:00:00.000000Z"));
}

#[test]
fn what_has_no_pages_passes_over_other_parameters() {
    const SUMMARY: ListSpec = ListSpec::of_filters(&[Filter::season("The season")]);
    assert!(ListQuery::parse(Some("season=all"), &SUMMARY).is_ok());
    let error = ListQuery::parse(Some("page=1&order=x&season=x&cursor="), &SUMMARY).unwrap_err();
    assert_eq!((names(&error), error.values.len()), (None, 1));
    assert!(ListQuery::parse(Some("page=1&order=x&season=all&cursor=&colour=red"), &SUMMARY).is_ok());
}

fn envelope(query: &ListQuery, rows: u64, total: Option<u64>, next_position: Option<&[u8]>) -> String {
    let envelope = PageEnvelope {
        base: "https://api.test",
        path: "/order",
        query,
        rows,
        total,
        has_more: next_position.is_some(),
        next_position,
    };
    format!("{},\"data\":[],{}", PageEnvelope::before(query), &envelope.after()[1..])
}

#[test]
fn the_envelope_has_the_members_of_the_specification_in_its_order() {
    assert_eq!(
        envelope(&parsed("status=paid&page=2&per_page=10&title=a+b"), 10, Some(25), None),
        "{\"current_page\":2,\"data\":[],\
         \"first_page_url\":\"https://api.test/order?status=paid&per_page=10&title=a%20b&page=1\",\
         \"last_page\":3,\
         \"last_page_url\":\"https://api.test/order?status=paid&per_page=10&title=a%20b&page=3\",\
         \"next_page_url\":\"https://api.test/order?status=paid&per_page=10&title=a%20b&page=3\",\
         \"prev_page_url\":\"https://api.test/order?status=paid&per_page=10&title=a%20b&page=1\",\
         \"path\":\"https://api.test/order\",\"per_page\":10,\"from\":11,\"to\":20,\"total\":25}"
    );
}

#[test]
fn an_empty_list_has_one_page() {
    assert_eq!(
        envelope(&parsed(""), 0, Some(0), None),
        "{\"current_page\":1,\"data\":[],\"first_page_url\":\"https://api.test/order?page=1\",\"last_page\":1,\
         \"last_page_url\":\"https://api.test/order?page=1\",\"next_page_url\":\"\",\"prev_page_url\":\"\",\
         \"path\":\"https://api.test/order\",\"per_page\":10,\"from\":null,\"to\":null,\"total\":0}"
    );
}

#[test]
fn beyond_the_last_page_the_ends_are_relative() {
    assert_eq!(
        envelope(&parsed("page=9&status=paid"), 0, Some(25), None),
        "{\"current_page\":9,\"data\":[],\"first_page_url\":\"/order?status=paid&page=1\",\"last_page\":3,\
         \"last_page_url\":\"/order?status=paid&page=3\",\"next_page_url\":\"\",\
         \"prev_page_url\":\"https://api.test/order?status=paid&page=3\",\"path\":\"https://api.test/order\",\
         \"per_page\":10,\"from\":null,\"to\":null,\"total\":25}"
    );
}

#[test]
fn without_a_count_what_needs_one_is_left_out() {
    assert_eq!(
        envelope(&parsed("count=none&page=2"), 10, None, Some(b"more")),
        "{\"current_page\":2,\"data\":[],\"first_page_url\":\"https://api.test/order?count=none&page=1\",\
         \"next_page_url\":\"https://api.test/order?count=none&page=3\",\
         \"prev_page_url\":\"https://api.test/order?count=none&page=1\",\"path\":\"https://api.test/order\",\
         \"per_page\":10,\"from\":11,\"to\":20}"
    );
    let beyond = envelope(&parsed("count=none&page=5"), 0, None, None);
    assert!(beyond.contains("\"first_page_url\":\"/order?count=none&page=1\",\"next_page_url\":\"\""), "{beyond}");
}

#[test]
fn a_cursor_is_of_one_list_its_filters_and_its_sort_and_is_whole() {
    let walk = "status=paid&order=created_at&dir=asc";
    let cursor = parsed(&format!("{walk}&cursor=")).cursor_behind(b"tenth".to_vec(), 10);
    let is_taken = |query: &str| ListQuery::parse(Some(&format!("{query}&cursor={cursor}")), &SPEC).is_ok();
    let explicit = "order=created_at&status=paid&per_page=3&count=none&include=attachments";
    for same in [walk, "dir=asc&order=created_at&status=paid", explicit] {
        assert!(is_taken(same), "{same}");
    }
    for other in
        ["order=created_at&dir=asc", "status=paid&order=created_at&dir=desc", "status=paid&order=total&dir=asc", ""]
    {
        assert!(!is_taken(other), "{other}");
    }
    for index in 0..cursor.len() {
        let mut altered = cursor.clone().into_bytes();
        altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        assert!(ListQuery::parse(Some(&format!("{walk}&cursor={altered}")), &SPEC).is_err(), "{altered}");
    }
}

#[test]
fn a_walk_by_cursor_tells_its_place() {
    let first: serde_json::Value =
        serde_json::from_str(&envelope(&parsed("cursor="), 10, Some(12), Some(b"tenth"))).unwrap();
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(first["next_page_url"], format!("https://api.test/order?cursor={cursor}"));
    assert_eq!((&first["from"], &first["to"]), (&1.into(), &10.into()));

    let query = parsed(&format!("cursor={cursor}"));
    assert_eq!(query.cursor, Some(Cursor { rows_before: 10, position: b"tenth".to_vec() }));
    let second = envelope(&query, 2, Some(12), None);
    assert!(second.starts_with("{\"current_page\":2,"), "{second}");
    assert!(second.contains("\"next_page_url\":\"\",\"prev_page_url\":\"https://api.test/order?page=1\""), "{second}");
    assert!(second.ends_with("\"from\":11,\"to\":12,\"total\":12,\"next_cursor\":null}"), "{second}");
}

proptest! {
    #[test]
    fn any_query_is_judged(query in any::<String>()) {
        let _ = ListQuery::parse(Some(&query), &SPEC);
    }

    #[test]
    fn likely_queries_are_judged(query in "((page|per_page|dir|status|updated_at\\[on\\]|cursor|x)(=|%|&)(1|0|paid|asc|2026-01-31|%zz|)&?){0,5}") {
        if let Err(error) = ListQuery::parse(Some(&query), &SPEC) {
            prop_assert!(!error.is_empty());
            let text = errors(&error);
            prop_assert!(text.is_empty() || serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }

    #[test]
    fn cursors_round_trip(rows_before in 0_u64..=i64::MAX.unsigned_abs(), position in proptest::collection::vec(any::<u8>(), 1..100)) {
        let cursor = parsed("cursor=").cursor_behind(position.clone(), rows_before);
        prop_assert_eq!(parsed(&format!("cursor={cursor}")).cursor, Some(Cursor { rows_before, position }));
    }

    #[test]
    fn any_cursor_is_judged(text in any::<String>()) {
        let mut query = String::from("?");
        parameters::append(&mut query, "cursor", &text);
        prop_assert_eq!(ListQuery::parse(Some(&query[1..]), &SPEC).is_ok(), text.is_empty());
    }

    #[test]
    fn the_pages_of_a_list_link_to_each_other(total in 0_u64..1000, per_page in 1_u32..=100, page in 1_u64..50) {
        let query = parsed(&format!("per_page={per_page}&page={page}"));
        let rows = total.saturating_sub(query.rows_before()).min(per_page.into());
        let shown: serde_json::Value = serde_json::from_str(&envelope(&query, rows, Some(total), None)).unwrap();
        let last = shown["last_page"].as_u64().unwrap();
        let link = |name: &str| shown[name].as_str().unwrap().rsplit_once("page=").map_or(0, |(_, page)| page.parse().unwrap());
        prop_assert_eq!(link("next_page_url"), if page < last { page + 1 } else { 0 });
        prop_assert_eq!(link("prev_page_url"), if page == 1 { 0 } else { last.min(page - 1) });
        prop_assert_eq!(shown["from"].is_null(), rows == 0);
        prop_assert_eq!(shown["last_page_url"].as_str().unwrap().starts_with('/'), page > last);
    }
}
