//! A person in several accounts: what each may do, and what it learns of the others.

use std::sync::Arc;

use plaudit::program::keys::Scope;
use serde_json::{Value, json};

use super::{names, new_user, password, wrong};
use crate::both_engines;
use crate::harness::check::{FORMATS, comparable_headers};
use crate::harness::{Answer, JSON};

fn berta(more: &Value) -> String {
    let mut body =
        json!({"first_name": "B.", "last_name": "Brown", "email": "BERTA@example.org", "password": "12345678"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.to_string()
}

/// What an answer tells.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = comparable_headers(answer).into_iter().filter(|(name, _)| name != "etag" && name != "location");
    (answer.status, headers.collect(), answer.text().to_owned())
}

both_engines! {
    async fn a_person_of_another_account_is_added_with_a_message_and_without_an_address(server) {
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        let of_b = [("x-api-key", b.as_str())];
        server.put_with("/user/BUserEnt", r#"{"password":"of account b","mobile":"+4930123456"}"#, &of_b).await.expect(200);
        let before = server.get_with("/user/BUserEnt", &of_b).await.expect(200).text().to_owned();
        let changes = server.changes("AccountB").await;

        let answer = server.post("/user", &berta(&json!({"mobile": "+441632960001"}))).await.expect(201);
        assert_eq!(answer.json(), json!({"message": "The person exists already and was added to the account."}));
        assert_eq!(answer.header("location"), None);
        let shown = server.get("/user/berta@example.org").await.expect(200).json();
        assert_eq!((&shown["name"], &shown["email"], &shown["mobile"]), (&json!("B. Brown"), &json!("BERTA@example.org"), &json!("")));
        assert_eq!((&shown["confirmation"], &shown["created_by"]), (&json!("Invited"), &json!("api")));
        assert_ne!(shown["slug"], "BUserEnt");
        let slug = shown["slug"].as_str().unwrap();
        assert_eq!(server.changes("AccountA").await.last().unwrap(), &format!("user {slug} created membership_registered"));

        let hash = plaudit::records::users::PasswordHash::parse(&password(&server, "AccountA", slug).await).unwrap();
        assert!(hash.matches("of account b"), "the person keeps the password");
        assert_eq!(server.get_with("/user/BUserEnt", &of_b).await.expect(200).text(), before);
        assert_eq!(server.changes("AccountB").await, changes, "the other account is told nothing");
        for account in ["AccountA", "AccountB"] {
            assert_eq!(wrong(&server, account).await, Vec::<String>::new());
        }
        let xml = server.post_with("/user", r#"{"first_name":"N","last_name":"M","mobile":"+4930123456","password":"12345678"}"#, &[("accept", crate::harness::XML)]).await;
        assert_eq!(names(&xml.expect(422), crate::harness::XML), ["mobile"], "by now a user of this account");
    }

    async fn a_person_is_added_by_the_mobile_number_alone_too(server) {
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        server.put_with("/user/BUserEnt", r#"{"mobile":"+4930123456"}"#, &[("x-api-key", &b)]).await.expect(200);
        let body = |email: Value| json!({"first_name": "B.", "last_name": "Brown", "email": email, "mobile": "+4930123456", "password": "12345678"}).to_string();
        let taken = server.post("/user", &body(json!("new@example.org"))).await.expect(422);
        assert_eq!(names(&taken, JSON), ["mobile"], "another address is no proof of being that person");
        server.get("/user/new@example.org").await.expect(404);
        let answer = server.post("/user", &body(Value::Null)).await.expect(201);
        assert!(answer.json()["slug"].is_null() && answer.json()["message"].is_string());
        let shown = server.get("/user?order=created_at&dir=desc").await.expect(200).json()["data"][0].clone();
        assert_eq!((&shown["mobile"], &shown["email"]), (&json!("+4930123456"), &Value::Null));
        server.get("/user/berta@example.org").await.expect(404);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn no_account_changes_by_what_a_shared_person_signs_in(server) {
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        let of_b = [("x-api-key", b.as_str())];
        server.put_with("/user/BUserEnt", r#"{"mobile":"+4930123456"}"#, &of_b).await.expect(200);
        server.post("/user", &berta(&json!({}))).await.expect(201);
        let slug = server.get("/user/berta@example.org").await.json()["slug"].as_str().unwrap().to_owned();
        let path = format!("/user/{slug}");
        for format in FORMATS {
            for body in [
                r#"{"email":"mine@example.org"}"#,
                r#"{"password":"12345678"}"#,
                r#"{"mobile":"+441632960001"}"#,
                r#"{"mobile":"+441632960001","email":null}"#,
            ] {
                for (path, headers) in [(path.as_str(), vec![("accept", format)]), ("/user/BUserEnt", vec![("accept", format), of_b[0]])] {
                    let answer = server.put_with(path, body, &headers).await.expect(422);
                    assert_eq!(names(&answer, format), Vec::<String>::new(), "{body}: the members are right");
                }
            }
        }
        // A number that reaches the same person is told of like one that reaches anybody else.
        let own = server.put(&path, r#"{"mobile":"+4930123456"}"#).await.expect(422);
        server.put("/user/UserMana", r#"{"mobile":"+441632960009"}"#).await.expect(200);
        let others = server.put(&path, r#"{"mobile":"+441632960009"}"#).await.expect(422);
        assert_eq!(told(&own), told(&others));
        let shown = server.put(&path, r#"{"first_name":"Bertha","email":"Berta@example.org"}"#).await.expect(200).json();
        assert_eq!((&shown["name"], &shown["email"]), (&json!("Bertha Brown"), &json!("Berta@example.org")));
        assert_eq!(server.get_with("/user/BUserEnt", &of_b).await.json()["first_name"], "Berta");
        // In the trash the person is there still.
        server.delete(&path).await.expect(204);
        server.put_with("/user/BUserEnt", r#"{"password":"12345678"}"#, &of_b).await.expect(422);
        assert_eq!(password(&server, "AccountB", "BUserEnt").await, "");
    }

    async fn what_is_told_of_somebody_depends_on_no_account(server) {
        let other = server.new_key("AccountB", Scope::ReadWrite).await;
        server.import(r#"{"kind":"account","slug":"AccountC","name":"C","default_language":"en_GB","languages":["en_GB"],"features":["api"],"suspended":true}
{"kind":"user","slug":"CUserOne","first_name":"C","last_name":"One","email":"one@c.example","mobile":"+4930000001"}
{"kind":"user","slug":"CUserTwo","first_name":"C","last_name":"Two","email":"two@c.example","deleted":true}"#).await;
        let body = |email: &str| json!({"first_name": "X", "last_name": "Y", "email": email, "password": "12345678"}).to_string();
        let mut answers = Vec::new();
        for email in ["one@c.example", "two@c.example", "berta@example.org"] {
            answers.push(told(&server.post("/user", &body(email)).await.expect(201)));
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        let mut refused: Vec<(u16, Vec<_>, String)> = Vec::new();
        for email in ["ase@example.org", "one@c.example", "two@c.example"] {
            let body = json!({"email": email}).to_string();
            refused.push(told(&server.put_with("/user/BUserEnt", &body, &[("x-api-key", &other)]).await));
        }
        assert!(refused.iter().all(|answer| *answer == refused[0] && answer.0 == 422), "{refused:?}");
    }

    async fn two_accounts_that_add_one_person_at_once_have_one_person(server) {
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        let server = Arc::new(server);
        let mut tasks = Vec::new();
        for number in 0..60 {
            let (server, b) = (Arc::clone(&server), b.clone());
            tasks.push(tokio::spawn(async move {
                let person = number / 4;
                let mut body = json!({"first_name": "F", "last_name": "L", "password": "12345678"});
                if number % 4 < 2 {
                    body["email"] = json!(format!("person{person}@example.org"));
                } else {
                    body["mobile"] = json!(format!("+44163296{person:04}"));
                    body["email"] = json!(format!("person{person}@example.org"));
                }
                let headers: &[(&str, &str)] = if number % 2 == 0 { &[] } else { &[("x-api-key", &b)] };
                server.post_with("/user", &body.to_string(), headers).await.status
            }));
        }
        let mut statuses = Vec::new();
        for task in tasks {
            statuses.push(task.await.unwrap());
        }
        assert!(statuses.iter().all(|status| [201, 422].contains(status)), "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 30, "each account has each person once");
        for account in ["AccountA", "AccountB"] {
            assert_eq!(wrong(&server, account).await, Vec::<String>::new());
        }
        let sql = "SELECT count(*) FROM people p WHERE p.password <> ''";
        let people = server.db.first(sql, &[], |row| row.integer(0)).await.unwrap().unwrap();
        assert_eq!(people, 15);
    }

    async fn accounts_that_take_one_address_at_once_are_told_apart(server) {
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        let server = Arc::new(server);
        for round in 0..10 {
            let body = Arc::new(json!({"email": format!("wanted{round}@example.org")}).to_string());
            let put = |path: &'static str, key: String| {
                let (server, body) = (Arc::clone(&server), Arc::clone(&body));
                tokio::spawn(async move { server.put_with(path, &body, &[("x-api-key", &key)]).await.status })
            };
            let (one, other) = (put("/user/UserMana", server.key.clone()), put("/user/BUserEnt", b.clone()));
            let mut statuses = [one.await.unwrap(), other.await.unwrap()];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 422]);
        }
        for account in ["AccountA", "AccountB"] {
            assert_eq!(wrong(&server, account).await, Vec::<String>::new());
        }
    }

    async fn nobody_joins_while_the_person_is_changed(server) {
        // Either the person is shared before the change, which is refused then, or the address is nobody's by then.
        let b = server.new_key("AccountB", Scope::ReadWrite).await;
        let server = Arc::new(server);
        for round in 0..10 {
            let old = format!("old{round}@example.org");
            let slug = new_user(&server, &old).await;
            let (first, second) = (Arc::clone(&server), Arc::clone(&server));
            let key = b.clone();
            let change = tokio::spawn(async move {
                first.put(&format!("/user/{slug}"), &json!({"email": format!("new{round}@example.org")}).to_string()).await.status
            });
            let join = tokio::spawn(async move {
                let body = json!({"first_name": "F", "last_name": "L", "email": old, "password": "12345678"});
                second.post_with("/user", &body.to_string(), &[("x-api-key", &key)]).await.expect(201).json()["message"].is_string()
            });
            let (changed, joined) = (change.await.unwrap(), join.await.unwrap());
            assert!(matches!((changed, joined), (200, false) | (422, true)), "{changed} {joined}");
        }
        for account in ["AccountA", "AccountB"] {
            assert_eq!(wrong(&server, account).await, Vec::<String>::new());
        }
    }
}
