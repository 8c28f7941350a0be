//! Every row of the specification's section 7 and of the contract's section 1, in both formats.

use std::net::{IpAddr, Ipv4Addr};

use plaudit::http::server::ClientAddress;
use plaudit::program::keys::Scope;
use plaudit::services::disks::Disk;

use crate::both_engines;
use crate::harness::check::{FORMATS, comparable_headers, error_names, message};
use crate::harness::fixture::account_a;
use crate::harness::{Answer, JSON, MAXIMUM_BODY, Server, XML};

mod keys;
mod limits;

/// A request; `reads` takes a key that may only read.
#[derive(Clone, Copy)]
struct Ask {
    method: &'static str,
    path: &'static str,
    body: Option<&'static str>,
    content_type: &'static str,
    reads: bool,
}

const fn ask(method: &'static str, path: &'static str, body: Option<&'static str>) -> Ask {
    Ask { method, path, body, content_type: "application/json", reads: false }
}

const fn reading(ask: Ask) -> Ask {
    Ask { reads: true, ..ask }
}

const CHAPTER: &str = "/chapter/ChapterN";
const NO_CHAPTER: &str = "/chapter/NoSuchCh";
const BAD_CHAPTER: &str = "/chapter/short";
const NOT_JSON: Ask = Ask { content_type: "text/plain", ..ask("PUT", CHAPTER, Some("{}")) };
const TOO_LARGE: &str = "too large";

/// The rows 7 to 14 of the contract, with the status of each and the kind of `errors` that it has.
const LATER_ROWS: &[(Ask, u16, bool)] = &[
    (ask("GET", "/nothing", None), 404, false),
    (ask("DELETE", "/chapter/ChapterN/more", None), 404, false),
    (ask("PATCH", "/order", None), 405, false),
    (ask("PATCH", CHAPTER, None), 405, false),
    (ask("DELETE", BAD_CHAPTER, None), 400, false),
    (ask("DELETE", "/chapter/ChapterNN", None), 400, false),
    (ask("DELETE", "/chapter/Chapter1", None), 400, false),
    (ask("DELETE", "/field/%C3%84bCdEfGh", None), 400, false),
    (ask("PUT", "/entry/1/update-chapter", Some(r#"{"chapter":"ChapterS"}"#)), 400, false),
    (ask("GET", "/order?colour=red", None), 400, true),
    (ask("GET", "/order?status=unpaid", None), 400, true),
    (ask("GET", "/season?season=all", None), 400, true),
    (ask("GET", "/form?archived=included", None), 400, true),
    (ask("GET", "/tax?deleted=only", None), 400, true),
    (ask("GET", "/round?trashed=included", None), 400, true),
    (ask("GET", "/score-set?mode=raffle", None), 400, true),
    (ask("GET", "/score-set/NoSuchSc", None), 404, false),
    (ask("GET", "/tax?per_page=101", None), 400, false),
    (ask("GET", "/season/short", None), 400, false),
    (ask("GET", "/season/NoSuchSe", None), 404, false),
    (ask("GET", "/form/NoSuchFo", None), 404, false),
    (ask("POST", "/form", Some("{}")), 405, false),
    (ask("GET", "/category/short", None), 400, false),
    (ask("GET", "/category/NoSuchCa", None), 404, false),
    (ask("GET", "/category?chapter=all", None), 400, true),
    (ask("GET", "/chapter?parent=CategPar", None), 400, true),
    (ask("GET", "/chapter/NoSuchCh", None), 404, false),
    (ask("PATCH", "/category", None), 405, false),
    (reading(ask("POST", "/category", Some("{}"))), 403, false),
    (reading(ask("POST", "/chapter", Some(""))), 403, false),
    (reading(ask("POST", "/category/CategChi/upload", Some("{"))), 403, false),
    (ask("POST", "/category", Some("")), 400, false),
    (ask("POST", "/category", Some(TOO_LARGE)), 413, false),
    (ask("POST", "/chapter", Some("[]")), 400, false),
    (ask("POST", "/chapter/ChapterN/upload", Some("")), 400, false),
    (ask("POST", "/chapter/ChapterN/upload", Some(TOO_LARGE)), 413, false),
    (ask("POST", "/chapter/NoSuchCh/upload", Some("{}")), 404, false),
    (ask("POST", "/chapter/ChapterN/upload", Some("{}")), 422, true),
    (ask("POST", "/category", Some("{}")), 422, true),
    (ask("POST", "/chapter", Some("{}")), 422, true),
    (ask("PUT", "/category/CategChi", Some(r#"{"season":"SeasonAc"}"#)), 422, true),
    (ask("DELETE", "/category/NoSuchCa", None), 404, false),
    (ask("GET", "/user?role=judge", None), 400, true),
    (ask("GET", "/user/not-an-address", None), 400, false),
    (ask("GET", "/user/nobody@example.org", None), 404, false),
    (reading(ask("POST", "/user", Some("{}"))), 403, false),
    (reading(ask("GET", "/user/UserEntr/auth-token", None)), 403, false),
    (ask("POST", "/user", Some("[]")), 400, false),
    (ask("POST", "/user", Some("{}")), 422, true),
    (ask("PUT", "/user/NoSuchUs", Some(r#"{"email":5}"#)), 404, false),
    (ask("POST", "/user/UserEntr/restore", None), 422, false),
    (ask("GET", "/order?page=0", None), 400, false),
    (ask("GET", "/order?per_page=0", None), 400, false),
    (ask("GET", "/order?per_page=101", None), 400, false),
    (ask("GET", "/order?dir=up", None), 400, false),
    (reading(ask("DELETE", CHAPTER, None)), 403, false),
    (reading(ask("PUT", CHAPTER, Some("{}"))), 403, false),
    (reading(ask("DELETE", "/field/FieldTxt", None)), 403, false),
    (reading(ask("PUT", "/entry/EntryOne/update-chapter", Some(r#"{"chapter":"ChapterS"}"#))), 403, false),
    (ask("PUT", CHAPTER, Some("")), 400, false),
    (ask("PUT", "/entry/EntryOne/update-chapter", Some("")), 400, false),
    (NOT_JSON, 400, false),
    (ask("PUT", CHAPTER, Some("{")), 400, false),
    (ask("PUT", CHAPTER, Some(r#"{"status":"active","status":"inactive"}"#)), 400, false),
    (ask("PUT", CHAPTER, Some("[]")), 400, false),
    (ask("PUT", CHAPTER, Some(TOO_LARGE)), 413, false),
    (ask("DELETE", NO_CHAPTER, None), 404, false),
    (ask("PUT", NO_CHAPTER, Some("{}")), 404, false),
    (ask("DELETE", "/field/NoSuchFi", None), 404, false),
    (ask("PUT", "/entry/NoSuchEn/update-chapter", Some(r#"{"chapter":"ChapterS"}"#)), 404, false),
    (ask("PUT", CHAPTER, Some(r#"{"status":"open"}"#)), 422, true),
    (ask("PUT", "/entry/EntryOne/update-chapter", Some("{}")), 422, true),
    (ask("PUT", "/entry/EntryOld/update-chapter", Some(r#"{"chapter":"ChapterP"}"#)), 422, false),
    (ask("DELETE", "/field/FieldRad", None), 422, false),
    (ask("GET", "/entry/1", None), 400, false),
    (ask("GET", "/entry?colour=red", None), 400, true),
    (ask("GET", "/entry?status=invited", None), 400, true),
    (ask("GET", "/entry?include=comments", None), 400, true),
    (ask("GET", "/entry?updated_at%5Bon%5D=soon", None), 400, true),
    (ask("GET", "/entry?dir=up", None), 400, false),
    (ask("GET", "/entry?cursor=AAAA", None), 400, false),
    (ask("GET", "/entry/summary?season=x", None), 400, true),
    (ask("PUT", "/entry/summary", Some("{}")), 405, false),
    (ask("PUT", "/entry/EntryOne/update-field/1", Some(r#"{"value":"x"}"#)), 400, false),
    (ask("PUT", "/entry/EntryOne/tag/%FF", None), 400, false),
    (ask("POST", "/entry", Some("")), 400, false),
    (ask("PUT", "/entry/EntryOne", Some("[]")), 400, false),
    (ask("POST", "/entry/EntryOne", Some("{}")), 405, false),
    (reading(ask("POST", "/entry", Some("{}"))), 403, false),
    (reading(ask("POST", "/entry/EntryOne/copy", None)), 403, false),
    (reading(ask("PUT", "/entry/EntryOne/tag/a", None)), 403, false),
    (ask("GET", "/entry/NoSuchEn", None), 404, false),
    (ask("PUT", "/entry/EntryOne/update-field/NoSuchFi", Some(r#"{"value":"x"}"#)), 404, false),
    (ask("POST", "/entry/NoSuchEn/restore", None), 404, false),
    (ask("POST", "/entry", Some("{}")), 422, true),
    (ask("PUT", "/entry/EntryOne", Some(r#"{"title":""}"#)), 422, true),
    (ask("PUT", "/entry/EntryOne/update-field/FieldTxt", Some(r#"{"value":1}"#)), 422, true),
    (ask("PUT", "/entry/EntryOne", Some(r#"{"status":"resubmitted"}"#)), 422, false),
    (ask("POST", "/entry/EntryOne/restore", None), 422, false),
    (ask("POST", "/entry/EntryOld/copy", None), 422, false),
    (ask("GET", "/attachment?status=submitted", None), 400, true),
    (ask("GET", "/contributor?moderation=maybe", None), 400, true),
    (ask("GET", "/attachment/short", None), 400, false),
    (ask("GET", "/file/Token1OfNothing", None), 400, false),
    (ask("PUT", "/contributor/Contribu/update-field/1", Some(r#"{"value":"x"}"#)), 400, false),
    (ask("POST", "/entry/EntryOne/attachment/1", Some("{}")), 400, false),
    (ask("POST", "/attachment", Some("{}")), 405, false),
    (ask("DELETE", "/file/TokenOfTheFirstFileOfAll", None), 405, false),
    (reading(ask("POST", "/contributor", Some("{}"))), 403, false),
    (reading(ask("DELETE", "/attachment/TokenOfTheFirstFileOfAll", None)), 403, false),
    (reading(ask("POST", "/entry/EntryOne/upload/FieldFil", Some("{}"))), 403, false),
    (reading(ask("POST", "/user/UserEntr/upload/FieldFil", Some("{}"))), 403, false),
    (ask("POST", "/contributor", Some("[]")), 400, false),
    (ask("POST", "/entry/EntryOne/attachment/TabAttac", Some("")), 400, false),
    (ask("POST", "/entry/EntryOne/upload/FieldFil", Some(TOO_LARGE)), 413, false),
    (ask("GET", "/attachment/NoSuchAttachment", None), 404, false),
    (ask("GET", "/contributor/NoSuchCo", None), 404, false),
    (ask("GET", "/file/NoSuchFileOfAll", None), 404, false),
    (ask("GET", "/file/NoSuchFileOfAllWithLettersBeyondTheSixtyFourThatATokenHasAtTheMost", None), 404, false),
    (ask("POST", "/entry/EntryOne/attachment/NoSuchTa", Some("{}")), 404, false),
    (ask("POST", "/user/UserEntr/upload/NoSuchFi", Some("{}")), 404, false),
    (ask("POST", "/contributor", Some("{}")), 422, true),
    (ask("PUT", "/attachment/TokenOfTheFirstFileOfAll", Some(r#"{"order":-1}"#)), 422, true),
    (ask("PUT", "/contributor/Contribu", Some(r#"{"fields":{"FieldTxt":"x"}}"#)), 422, true),
    (ask("POST", "/entry/EntryOne/upload/FieldTxt", Some(r#"{"filename":"a","data":""}"#)), 422, true),
    (ask("POST", "/entry/EntryOld/upload/FieldFil", Some(r#"{"filename":"a","data":""}"#)), 422, true),
    (ask("POST", "/contributor", Some(r#"{"entry":"EntryOld","tab":"TabContr"}"#)), 422, false),
    (ask("GET", "/review-task?decision=maybe", None), 400, true),
    (ask("GET", "/review-task/short", None), 400, false),
    (ask("PUT", "/review-task/NoSuchReviewTask", Some("{}")), 405, false),
    (reading(ask("POST", "/review-task", Some("{}"))), 403, false),
    (reading(ask("PUT", "/review-task/NoSuchReviewTask/decision", Some("{}"))), 403, false),
    (ask("POST", "/review-task", Some("[]")), 400, false),
    (ask("GET", "/review-task/NoSuchReviewTask", None), 404, false),
    (ask("PUT", "/review-task/NoSuchReviewTask/decision", Some("{}")), 404, false),
    (ask("POST", "/review-task", Some("{}")), 422, true),
];

/// Changes of the headers that make a request fail at the rows 3 to 6.
const EARLIER_ROWS: &[(&str, &str, u16)] = &[
    ("accept", "", 400),
    ("accept", "*/*", 400),
    ("accept", "application/json", 400),
    ("x-api-key", "", 401),
    ("x-api-key", "  ", 401),
    ("x-api-key", "plaudit_unknown", 403),
    ("host", "b.example.org", 403),
    ("x-api-language", "xx_XX", 400),
    ("x-api-language", "en_GB,fr_FR", 400),
];

/// The two keys of the requests.
struct Keys {
    writes: String,
    reads: String,
}

async fn keys(server: &Server) -> Keys {
    Keys { writes: server.key.clone(), reads: server.new_key("AccountA", Scope::Read).await }
}

async fn send(server: &Server, keys: &Keys, ask: Ask, format: &str, headers: &[(&str, &str)]) -> Answer {
    let large = format!("{{}}{}", " ".repeat(MAXIMUM_BODY));
    let body = if ask.body == Some(TOO_LARGE) { Some(large.as_str()) } else { ask.body };
    let key = if ask.reads { &keys.reads } else { &keys.writes };
    let mut all = vec![("accept", format), ("x-api-key", key.as_str())];
    if body.is_some() {
        all.push(("content-type", ask.content_type));
    }
    all.extend_from_slice(headers);
    server.send(server.request(ask.method, ask.path, &all, body)).await
}

both_engines! {
    async fn every_row_has_its_status_in_both_formats(server) {
        let keys = keys(&server).await;
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            for (ask, status, has_errors) in LATER_ROWS {
                let answer = send(&server, &keys, *ask, format, &[]).await;
                assert_eq!(answer.status, *status, "{} {}: {}", ask.method, ask.path, answer.text());
                assert_eq!(error_names(&answer, format).is_some(), *has_errors, "{} {}", ask.method, ask.path);
            }
            for (name, value, status) in EARLIER_ROWS {
                let answer = server.get_with("/order", &[("accept", format), (name, value)]).await;
                assert_eq!(answer.status, *status, "{name}: {value}: {}", answer.text());
                assert_eq!(error_names(&answer, if *name == "accept" { JSON } else { format }), None);
            }
        }
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn a_row_of_the_headers_wins_over_every_later_one(server) {
        let keys = keys(&server).await;
        for format in FORMATS {
            for (at, (name, value, status)) in EARLIER_ROWS.iter().enumerate() {
                let alone = server.get_with("/order", &[("accept", format), (name, value)]).await.expect(*status);
                for (ask, ..) in LATER_ROWS {
                    // Requests without a known key soon fill the window of their address.
                    server.clock.advance(60);
                    let both = send(&server, &keys, *ask, format, &[(name, value)]).await;
                    assert_eq!(both.body, alone.body, "{name}: {value} and {} {}", ask.method, ask.path);
                }
                for (other, later, _) in EARLIER_ROWS[at..].iter().filter(|(other, ..)| other != name) {
                    let headers = [("accept", format), (name, value), (other, later)];
                    let both = server.get_with("/order", &headers).await;
                    assert_eq!(both.body, alone.body, "{name}: {value} and {other}: {later}");
                }
            }
        }
    }

    async fn of_two_rows_that_apply_the_earlier_one_is_answered(server) {
        let keys = keys(&server).await;
        let not_json = |path| Ask { content_type: "text/plain", ..ask("PUT", path, Some("{}")) };
        // Each pair: a request that two rows or more apply to, and one that only the earlier of them applies to.
        let pairs = [
            (ask("GET", "/chapter/short/nothing", None), ask("GET", "/nothing", None)),
            (ask("PATCH", BAD_CHAPTER, None), ask("PATCH", CHAPTER, None)),
            (ask("PATCH", "/order?page=0", None), ask("PATCH", "/order", None)),
            (reading(ask("PATCH", CHAPTER, None)), ask("PATCH", CHAPTER, None)),
            (ask("PUT", "/nothing", Some("")), ask("GET", "/nothing", None)),
            (ask("PUT", "/chapter/short?page=0", Some("{}")), ask("DELETE", BAD_CHAPTER, None)),
            (reading(ask("DELETE", BAD_CHAPTER, None)), ask("DELETE", BAD_CHAPTER, None)),
            (ask("PUT", BAD_CHAPTER, Some("")), ask("DELETE", BAD_CHAPTER, None)),
            (ask("PUT", BAD_CHAPTER, Some(TOO_LARGE)), ask("DELETE", BAD_CHAPTER, None)),
            (reading(ask("GET", "/order?colour=red", None)), ask("GET", "/order?colour=red", None)),
            (reading(ask("PUT", CHAPTER, Some(""))), reading(ask("DELETE", CHAPTER, None))),
            (reading(ask("PUT", CHAPTER, Some("{"))), reading(ask("DELETE", CHAPTER, None))),
            (reading(not_json(CHAPTER)), reading(ask("DELETE", CHAPTER, None))),
            (reading(ask("PUT", CHAPTER, Some(TOO_LARGE))), reading(ask("DELETE", CHAPTER, None))),
            (reading(ask("DELETE", NO_CHAPTER, None)), reading(ask("DELETE", CHAPTER, None))),
            (ask("PUT", NO_CHAPTER, Some("")), ask("PUT", CHAPTER, Some(""))),
            (ask("PUT", NO_CHAPTER, Some("{")), ask("PUT", CHAPTER, Some("{"))),
            (not_json(NO_CHAPTER), not_json(CHAPTER)),
            (ask("PUT", NO_CHAPTER, Some(TOO_LARGE)), ask("PUT", CHAPTER, Some(TOO_LARGE))),
            (ask("PUT", NO_CHAPTER, Some(r#"{"status":"open"}"#)), ask("DELETE", NO_CHAPTER, None)),
            (ask("PUT", "/entry/NoSuchEn/update-chapter", Some("{}")), ask("DELETE", NO_CHAPTER, None)),
        ];
        for format in FORMATS {
            for (both, alone) in pairs {
                let expected = send(&server, &keys, alone, format, &[]).await;
                let answer = send(&server, &keys, both, format, &[]).await;
                let name = format!("{} {} {:?}", both.method, both.path, both.body);
                assert_eq!((answer.status, answer.text()), (expected.status, expected.text()), "{name}");
            }
            let both = ask("PUT", "/entry/EntryOld/update-chapter", Some(r#"{"chapter":"ChapterX"}"#));
            let answer = send(&server, &keys, both, format, &[]).await.expect(422);
            assert_eq!(error_names(&answer, format).unwrap(), ["chapter"], "the members come before the state");
        }
    }

    async fn an_idempotency_key_leaves_the_order_of_the_rows_as_it_is(server) {
        let keys = keys(&server).await;
        for (index, (asked, status, _)) in LATER_ROWS.iter().enumerate() {
            let key = format!("row-{index}");
            let answer = send(&server, &keys, *asked, JSON, &[("idempotency-key", &key)]).await;
            assert_eq!(answer.status, *status, "{} {}", asked.method, asked.path);
        }
        for (asked, status) in [
            (ask("PUT", "/nothing", Some(TOO_LARGE)), 404),
            (ask("PATCH", CHAPTER, Some(TOO_LARGE)), 405),
            (ask("PUT", BAD_CHAPTER, Some(TOO_LARGE)), 400),
            (reading(ask("PUT", CHAPTER, Some(TOO_LARGE))), 403),
        ] {
            let name = format!("{} {}", asked.method, asked.path);
            let answer = send(&server, &keys, asked, JSON, &[("idempotency-key", &name)]).await;
            assert_eq!(answer.status, status, "{} {}: {}", asked.method, asked.path, answer.text());
        }
    }

    async fn a_wrong_method_is_answered_with_the_methods_that_there_are(server) {
        for (path, expected) in [
            ("/order", vec!["GET"]),
            ("/account", vec!["GET"]),
            ("/season", vec!["GET"]),
            ("/form/FormEntr", vec!["GET"]),
            ("/chapter/ChapterN", vec!["PUT", "DELETE"]),
            ("/field/FieldTxt", vec!["DELETE"]),
            ("/entry/EntryOne/update-chapter", vec!["PUT"]),
        ] {
            for format in FORMATS {
                let headers = [("accept", format)];
                let answer = server.send(server.request("PATCH", path, &headers, None)).await.expect(405);
                let allowed: Vec<_> = answer.header("allow").unwrap().split(',').map(str::trim).collect();
                assert!(expected.iter().all(|method| allowed.contains(method)), "{path}: {allowed:?}");
                assert!(!allowed.contains(&"PATCH"), "{path}: {allowed:?}");
            }
        }
    }

    async fn an_accept_header_is_exactly_one_of_two_media_types(server) {
        for accept in ["Application/VND.Service.v2.3+JSON", "  application/vnd.service.v2.3+json  "] {
            assert_eq!(server.get_with("/order", &[("accept", accept)]).await.expect(200).json()["total"], 3);
        }
        let upper = XML.to_ascii_uppercase();
        server.get_with("/order", &[("accept", &upper)]).await.expect(200);
        let two = format!("{JSON}, {XML}");
        let parameter = format!("{JSON};q=1");
        for accept in ["", "*/*", "application/*", "application/vnd.service.v2.2+json", &two, &parameter] {
            let answer = server.get_with("/order", &[("accept", accept)]).await.expect(400);
            assert_eq!(answer.header("content-type"), Some(JSON), "{accept}");
        }
        let mut twice = server.request("GET", "/order", &[], None);
        twice.headers_mut().append("accept", XML.parse().unwrap());
        assert_eq!(server.send_anything(twice).await.status, 400);
    }

    async fn a_body_may_be_as_large_as_the_limit_and_no_larger(server) {
        let body = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
        for format in FORMATS {
            let headers = [("accept", format)];
            server.put_with(CHAPTER, &body(MAXIMUM_BODY), &headers).await.expect(200);
            server.put_with(CHAPTER, &body(MAXIMUM_BODY + 1), &headers).await.expect(413);
            let of_text = [("accept", format), ("content-type", "text/plain")];
            server.put_with(CHAPTER, &body(MAXIMUM_BODY + 1), &of_text).await.expect(400);
        }
    }

    async fn an_error_is_small_however_long_the_names_in_a_body_are(server) {
        let many: Vec<String> = (0..5_000).map(|number| format!("\"<{number}>\":1")).collect();
        for body in [format!(r#"{{"{}":1}}"#, "<&".repeat(30_000)), format!("{{{}}}", many.join(","))] {
            for format in FORMATS {
                let answer = server.put_with(CHAPTER, &body, &[("accept", format)]).await.expect(422);
                assert!(answer.body.len() <= 64 << 10, "{}", answer.body.len());
            }
        }
    }

    async fn a_body_must_be_json_of_its_content_type(server) {
        for body in ["", "nothing", "{\"status\":}", "{}{}", "\u{feff}{}", "null", "\"text\"", "{\"a\":1,\"a\":1}"] {
            for format in FORMATS {
                let answer = server.put_with(CHAPTER, body, &[("accept", format)]).await.expect(400);
                assert!(!message(&answer, format).is_empty());
            }
        }
        for content_type in ["", "text/plain", "application/xml", "application/jsonp", "text/json"] {
            server.put_with(CHAPTER, "{}", &[("content-type", content_type)]).await.expect(400);
        }
        server.put_with(CHAPTER, "{}", &[("content-type", "Application/JSON")]).await.expect(200);
    }

    async fn every_request_has_an_identifier_of_its_own(server) {
        let mut seen = std::collections::HashSet::new();
        for path in ["/order", "/nothing", "/order?page=0", "/order"] {
            for accept in [JSON, XML, ""] {
                let answer = server.get_with(path, &[("accept", accept)]).await;
                assert!(seen.insert(answer.header("x-request-id").unwrap().to_owned()));
            }
        }
        assert_eq!(seen.len(), 12);
    }

    async fn what_stands_outside_the_interface_needs_no_key(server) {
        for path in ["/healthz", "/readyz", "/openapi.json", "/docs"] {
            let request = server.request("GET", path, &[("accept", ""), ("x-api-key", "")], None);
            let answer = server.send_anything(request).await.expect(200);
            assert!(!answer.body.is_empty() && answer.header("x-request-id").is_some(), "{path}");
        }
    }

    async fn readyz_names_the_disks_that_are_full_until_there_is_room_again(server) {
        let told = async || server.send_anything(server.request("GET", "/readyz", &[], None)).await.expect(200);
        let well = "ready\ndatabase: answers\nstorage: answers\n";
        for (disk, full) in [
            (Disk::Database, "ready\ndatabase: its disk is full, writes are refused\nstorage: answers\n"),
            (Disk::Files, "ready\ndatabase: answers\nstorage: its disk is full, uploads are refused\n"),
        ] {
            server.app.full_disks.set(disk, true);
            assert_eq!(told().await.text(), full);
            server.app.probe_full_disks().await;
            assert_eq!(told().await.text(), well);
        }
    }
}
