//! `Idempotency-Key`: the first answer again, byte for byte, for a day.

use axum::body::{Body, Bytes};
use kernel::text::{Slug, Timestamp};
use plaudit::http::idempotency::{LONGEST, store};
use plaudit::program::keys::{ApiKey, Scope, new_secret};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, Server, XML};

const CHAPTER: &str = "/chapter/ChapterN";
const INACTIVE: &str = r#"{"status":"inactive"}"#;
const ACTIVE: &str = r#"{"status":"active"}"#;

async fn put(server: &Server, body: &str, name: &str) -> Answer {
    server.put_with(CHAPTER, body, &[("idempotency-key", name)]).await
}

/// Gives a chapter a description of so many characters, which its answers show.
async fn describe(server: &Server, length: usize) {
    let line = format!(
        r#"{{"kind":"chapter","slug":"ChapterN","season":"SeasonAc","name":{{"en_GB":"N"}},"description":{{"en_GB":"{}"}}}}"#,
        "x".repeat(length)
    );
    server.import(&of_account_a(&line)).await;
}

/// What the answer itself is, besides what the layers around it add.
fn recorded(answer: &Answer) -> (u16, Option<String>, Option<String>, Vec<u8>) {
    let header = |name| answer.header(name).map(str::to_owned);
    (answer.status, header("etag"), header("content-type"), answer.body.clone())
}

both_engines! {
    async fn a_repeated_request_is_answered_alike_and_done_once(server) {
        let first = put(&server, INACTIVE, "one").await.expect(200);
        assert_eq!(first.header("idempotency-replayed"), None);
        put(&server, ACTIVE, "two").await.expect(200);
        let changes = server.changes("AccountA").await;
        for _ in 0..3 {
            server.clock.advance(60);
            let again = put(&server, INACTIVE, "one").await;
            assert_eq!(recorded(&again), recorded(&first));
            assert_eq!(again.header("idempotency-replayed"), Some("true"));
        }
        assert_eq!(server.changes("AccountA").await, changes);
        assert_eq!(server.put(CHAPTER, "{}").await.json()["status"], "Active");
    }

    async fn the_first_answer_outlives_a_restart(server) {
        let headers = [("idempotency-key", "one"), ("accept", XML)];
        let body = r#"{"chapter":"ChapterS"}"#;
        let first = server.put_with("/entry/EntryOne/update-chapter", body, &headers).await.expect(200);
        let deleted = server.delete_with("/field/FieldTxt", &[("idempotency-key", "two")]).await.expect(204);
        let server = server.restart().await;
        server.clock.advance(3600);
        let again = server.put_with("/entry/EntryOne/update-chapter", body, &headers).await;
        assert_eq!(recorded(&again), recorded(&first), "signed addresses included");
        let again = server.delete_with("/field/FieldTxt", &[("idempotency-key", "two")]).await;
        assert_eq!(recorded(&again), recorded(&deleted));
    }

    async fn the_same_key_with_another_request_is_refused(server) {
        put(&server, INACTIVE, "one").await.expect(200);
        let changes = server.changes("AccountA").await;
        let name = ("idempotency-key", "one");
        for format in FORMATS {
            let headers = [name, ("accept", format)];
            let answer = server.put_with(CHAPTER, ACTIVE, &headers).await.expect(422);
            assert_eq!(error_names(&answer, format), None);
            server.put_with("/chapter/ChapterS", INACTIVE, &headers).await.expect(422);
            server.delete_with(CHAPTER, &headers).await.expect(422);
            server.delete_with("/field/FieldTxt", &headers).await.expect(422);
        }
        assert_eq!(server.changes("AccountA").await, changes);
        put(&server, INACTIVE, "one").await.expect(200);
    }

    async fn an_error_is_replayed_as_well(server) {
        let path = "/chapter/ChapterY";
        let headers = [("idempotency-key", "one")];
        let first = server.put_with(path, ACTIVE, &headers).await.expect(404);
        let invalid = put(&server, r#"{"status":5}"#, "two").await.expect(422);
        let state = server.delete_with("/field/FieldRad", &[("idempotency-key", "three")]).await.expect(422);
        server.import(&of_account_a(
            r#"{"kind":"chapter","slug":"ChapterY","season":"SeasonAc","name":{"en_GB":"Y"},"status":"active"}"#,
        ))
        .await;
        server.delete("/field/FieldCon").await.expect(204);
        assert_eq!(recorded(&server.put_with(path, ACTIVE, &headers).await), recorded(&first));
        assert_eq!(recorded(&put(&server, r#"{"status":5}"#, "two").await), recorded(&invalid));
        let again = server.delete_with("/field/FieldRad", &[("idempotency-key", "three")]).await;
        assert_eq!(recorded(&again), recorded(&state));
        server.put(path, ACTIVE).await.expect(200);
    }

    async fn an_answer_is_kept_for_a_day(server) {
        let first = put(&server, INACTIVE, "one").await.expect(200);
        put(&server, ACTIVE, "two").await.expect(200);
        server.clock.advance(24 * 3600 - 1);
        assert_eq!(recorded(&put(&server, INACTIVE, "one").await), recorded(&first));
        server.clock.advance(2);
        let anew = put(&server, INACTIVE, "one").await.expect(200);
        assert_ne!(recorded(&anew), recorded(&first));
        assert_eq!(anew.header("idempotency-replayed"), None);
        put(&server, ACTIVE, "two").await.expect(200);
    }

    async fn every_api_key_has_names_of_its_own(server) {
        put(&server, INACTIVE, "one").await.expect(200);
        let other = server.new_key("AccountA", Scope::ReadWrite).await;
        let headers = [("idempotency-key", "one"), ("x-api-key", other.as_str())];
        let answer = server.put_with(CHAPTER, ACTIVE, &headers).await.expect(200);
        assert_eq!(answer.json()["status"], "Active");
        let of_b = server.new_key("AccountB", Scope::ReadWrite).await;
        let headers = [("idempotency-key", "one"), ("x-api-key", of_b.as_str())];
        server.put_with("/chapter/BChapter", "{}", &headers).await.expect(200);
    }

    async fn a_key_whose_request_is_running_is_refused_until_it_is_done(server) {
        let (slug, secret) = (server.ids.slug(), new_secret(&server.ids));
        let key = ApiKey {
            slug,
            name: "n".to_owned(),
            scope: Scope::ReadWrite,
            user: None,
            expires: None,
            revoked: None,
            rotated: None,
            notify: Vec::new(),
            created: server.clock.now(),
        };
        server.save_key("AccountA", &key, &secret).await;
        let name = (server.account("AccountA").await, slug, "one".to_owned());
        let running = server.app.running.begin(&name).unwrap();
        for format in FORMATS {
            let headers = [("idempotency-key", "one"), ("x-api-key", secret.as_str()), ("accept", format)];
            server.put_with(CHAPTER, INACTIVE, &headers).await.expect(409);
        }
        drop(running);
        let headers = [("idempotency-key", "one"), ("x-api-key", secret.as_str())];
        let first = server.put_with(CHAPTER, INACTIVE, &headers).await.expect(200);
        let _retry = server.app.running.begin(&name).unwrap();
        let again = server.put_with(CHAPTER, INACTIVE, &headers).await;
        assert_eq!(recorded(&again), recorded(&first), "what runs is a retry");
    }

    async fn requests_at_the_same_time_are_done_once(server) {
        let before = server.changes("AccountA").await.len();
        let all = futures_util::future::join_all((0..20).map(|_| put(&server, INACTIVE, "one"))).await;
        assert!(all.iter().all(|answer| [200, 409].contains(&answer.status)));
        let done: Vec<_> = all.iter().filter(|answer| answer.status == 200).collect();
        assert!(!done.is_empty() && done.iter().all(|answer| recorded(answer) == recorded(done[0])));
        assert_eq!(server.changes("AccountA").await.len(), before + 1);
    }

    async fn a_malformed_name_is_refused(server) {
        for name in ["x".repeat(256), "\u{e4}".to_owned()] {
            put(&server, "{}", &name).await.expect(400);
        }
        put(&server, "{}", &"x".repeat(255)).await.expect(200);
    }

    async fn a_name_that_stands_twice_is_refused(server) {
        let mut request = server.request("PUT", CHAPTER, &[("idempotency-key", "one")], Some(INACTIVE));
        request.headers_mut().append("idempotency-key", "two".parse().unwrap());
        server.send(request).await.expect(400);
    }

    async fn what_is_wrong_before_the_body_is_told_without_reading_it(server) {
        let reader = server.new_key("AccountA", Scope::Read).await;
        let upload = "/category/CategChi/upload";
        for (method, path, key, status) in [
            ("POST", upload, &reader, 403),
            ("POST", "/nothing/CategChi/upload", &server.key, 404),
            ("POST", "/category/12345678/upload", &server.key, 400),
            ("PUT", upload, &server.key, 405),
            ("PUT", CHAPTER, &reader, 403),
        ] {
            let headers = [("idempotency-key", "one"), ("x-api-key", key.as_str()), ("content-type", "application/json")];
            let mut request = server.request(method, path, &headers, None);
            let unread = futures_util::stream::poll_fn(|_| -> std::task::Poll<Option<std::io::Result<Bytes>>> {
                panic!("the body was read")
            });
            *request.body_mut() = Body::from_stream(unread);
            assert_eq!(server.open(request).await.status(), status, "{method} {path}");
        }
        server.post_with(upload, "", &[("idempotency-key", "one")]).await.expect(400);
    }

    async fn a_retry_finds_its_answer_after_a_restart_under_another_address(server) {
        let first = put(&server, INACTIVE, "one").await.expect(200);
        let server = server.restart_at("https://elsewhere.example.org").await;
        assert_eq!(recorded(&put(&server, INACTIVE, "one").await), recorded(&first));
    }

    async fn of_a_long_answer_only_the_fact_is_kept(server) {
        describe(&server, LONGEST).await;
        for format in FORMATS {
            let headers = [("idempotency-key", format), ("accept", format)];
            let status = if format == XML { ACTIVE } else { INACTIVE };
            let first = server.put_with(CHAPTER, status, &headers).await.expect(200);
            assert!(first.body.len() > LONGEST);
            let changes = server.changes("AccountA").await;
            for _ in 0..2 {
                let again = server.put_with(CHAPTER, status, &headers).await.expect(409);
                assert_eq!(again.header("location"), Some(format!("{BASE}{CHAPTER}").as_str()));
                assert_eq!(error_names(&again, format), None);
            }
            assert_eq!(server.changes("AccountA").await, changes);
        }
    }

    async fn an_account_keeps_answers_within_its_quota(server) {
        describe(&server, 30_000).await;
        let mut statuses = Vec::new();
        for number in 0..6 {
            let name = number.to_string();
            put(&server, INACTIVE, &name).await.expect(200);
            statuses.push(put(&server, INACTIVE, &name).await.status);
        }
        assert_eq!(statuses, [200, 200, 200, 409, 409, 409]);
        let usage = store::usage(&server.db).await.unwrap();
        assert!(usage.answers == 6 && (90_000..=100_000).contains(&usage.bytes), "{usage:?}");
        assert_eq!(usage.fullest, Some((Slug::parse("AccountA").unwrap(), usage.bytes)));
        for _ in 0..2 {
            put(&server, r#"{"status":5}"#, "wrong").await.expect(422);
            server.delete_with("/field/FieldTxt", &[("idempotency-key", "none")]).await.expect(204);
        }
        server.clock.advance(25 * 3600);
        let oldest = Timestamp::from_seconds(server.clock.now().as_seconds() - 24 * 3600);
        store::forget(&server.db, oldest).await.unwrap();
        let usage = store::usage(&server.db).await.unwrap();
        assert_eq!((usage.answers, usage.bytes, usage.fullest), (0, 0, None));
        put(&server, INACTIVE, "again").await.expect(200);
        put(&server, INACTIVE, "again").await.expect(200);
    }

    async fn reads_take_no_notice_of_the_header(server) {
        let headers = [("idempotency-key", "one")];
        assert_eq!(server.get_with("/order", &headers).await.expect(200).json()["total"], 3);
        server.import(&of_account_a(
            r#"{"kind":"order","slug":"OrderNew","invoice_number":"99","season":"SeasonAc","user":"UserEntr","currency":"GBP","payment_status":"paid","total":1.00}"#,
        ))
        .await;
        assert_eq!(server.get_with("/order", &headers).await.expect(200).json()["total"], 4);
    }
}
