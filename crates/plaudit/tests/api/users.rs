//! `GetUserCollectionV23`, `PostUserV23`, `GetUserV23`, `PutUserV23`, `DeleteUserV23`, `PostUserRestoreV23`.
//!
//! A file for each of: the list, people in several accounts, links, names in other records.

mod erase;
mod links;
mod list;
mod people;
mod renewal;

use kernel::kind::Kind;
use plaudit::log::forms::FORMS;
use plaudit::program::fields::Lengths;
use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, NOW, Server, XML, tree};

/// Fields about users, and roles.
const SETUP: &str = r#"{"kind":"field","slug":"FieldUse","type":"text","resource":"users","title":{"en_GB":"Nickname"},"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"field","slug":"FieldUsT","type":"table","resource":"users","title":{"en_GB":"Jobs"},"columns":[{"key":"A"},{"key":"B"}],"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"field","slug":"FieldUsF","type":"file","resource":"users","title":{"en_GB":"Photo"},"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"field","slug":"FieldUsN","type":"numeric","resource":"users","title":{"en_GB":"Age"},"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"field","slug":"FieldGon","type":"text","resource":"users","title":{"en_GB":"Gone"},"deleted":true,"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"role","slug":"RoleEntr","name":{"en_GB":"Entrant"},"type":"entrant","created":"2025-01-02T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"role","slug":"RoleJudg","name":{"en_GB":"Judge","de_DE":"Jury"},"type":"judge","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"role","slug":"RoleGone","name":{"en_GB":"Gone"},"type":"entrant","deleted":true,"created":"2024-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}"#;

const NEW: &str =
    r#"{"first_name":"Grace","last_name":"Hopper","email":"Grace@Example.org","password":"correct horse"}"#;

/// Adds a user and gives the slug.
async fn create(server: &Server, body: &Value) -> String {
    let answer = server.post("/user", &body.to_string()).await.expect(201);
    let slug = answer.json()["slug"].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), Some(format!("{BASE}/user/{slug}").as_str()));
    slug
}

async fn new_user(server: &Server, email: &str) -> String {
    let body = json!({"first_name": "A", "last_name": "B", "email": email, "password": "12345678"});
    create(server, &body).await
}

/// The stored hash of the password of a user.
async fn password(server: &Server, account: &str, slug: &str) -> String {
    let account = server.account(account).await;
    let sql =
        "SELECT p.password FROM users u, people p WHERE u.account = $1 AND u.slug = $2 AND p.global_id = u.person";
    let values = [account.into(), slug.into()];
    server.db.first(sql, &values, |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap()
}

/// What `plaudit doctor` finds wrong with the users of an account.
async fn wrong(server: &Server, account: &str) -> Vec<String> {
    let account = server.account(account).await;
    let mut tx = server.db.snapshot().await.unwrap();
    let mut wrong = Vec::new();
    plaudit::records::users::store::each_wrong(&mut tx, account, |fault| wrong.push(fault)).await.unwrap();
    let kind = (Kind::User, i64::MAX);
    plaudit::records::store::each_wrong(&mut tx, account, kind, &FORMS, |fault| wrong.push(fault)).await.unwrap();
    wrong
}

fn names(answer: &crate::harness::Answer, format: &str) -> Vec<String> {
    let mut names = error_names(answer, format).unwrap_or_default();
    names.sort();
    names
}

both_engines! {
    async fn who_manages_a_chapter_keeps_the_role_until_another_manages_it(server) {
        let refused = |answer: &crate::harness::Answer| answer.json()["errors"]["roles"].clone();
        let answer = server.put("/user/UserMana", r#"{"roles":[]}"#).await.expect(422);
        assert_eq!(refused(&answer), json!(["must include that of a chapter manager, because the user manages ChapterN"]));
        server.put("/user/UserMana", r#"{"first_name":"Maria"}"#).await.expect(200);
        server.import(&of_account_a("")).await;
        // Who is in the trash manages nothing, and comes back with the role that was there.
        server.delete("/user/UserMana").await.expect(204);
        server.import(&of_account_a("")).await;
        server.post("/user/UserMana/restore", "").await.expect(204);
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        server.put("/user/UserMana", r#"{"roles":[]}"#).await.expect(200);
        server.import(&of_account_a("")).await;
    }

    async fn a_manager_whose_role_went_while_in_the_trash_does_not_come_back_without_it(server) {
        server.delete("/user/UserMana").await.expect(204);
        server.import(&of_account_a(r#"{"kind":"role","slug":"RoleMana","name":{"en_GB":"Judge"},"type":"judge"}"#)).await;
        let answer = server.post("/user/UserMana/restore", "").await.expect(422).json();
        assert_eq!(answer["message"], "The user manages ChapterN without the role of a chapter manager.");
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        server.post("/user/UserMana/restore", "").await.expect(204);
    }

    async fn a_new_user_is_answered_with_every_member_in_order(server) {
        server.import(&of_account_a(SETUP)).await;
        let answer = server.post("/user", NEW).await.expect(201);
        let slug = answer.json()["slug"].as_str().unwrap().to_owned();
        let expected = json!({
            "analytics_cookies": false, "broadcast_emails": false, "marketing_cookies": false,
            "necessary_cookies": true, "notification_emails": true, "notification_sms": false,
            "comments": "", "confirmation": "Invited", "confirmed_at": null, "created_at": NOW, "created_by": "api",
            "email": "Grace@Example.org", "first_name": "Grace",
            "language": {"code": "en_GB", "language": "English (United Kingdom)"}, "last_name": "Hopper", "mobile": "",
            "name": "Grace Hopper",
            "roles": [{"slug": "RoleEntr", "link": format!("{BASE}/role/RoleEntr"), "name": {"en_GB": "Entrant"}}],
            "slug": slug, "updated": NOW, "preferences": {}, "social_sharing": {}, "user_fields": [],
            "member_number": "", "tax_exempt": false
        });
        assert_eq!(answer.text(), expected.to_string());
        assert_eq!(answer.header("location"), Some(format!("{BASE}/user/{slug}").as_str()));
        for path in [format!("/user/{slug}"), "/user/grace@example.org".to_owned(), "/user/GRACE%40example.org".to_owned()] {
            let read = server.get(&path).await.expect(200);
            assert_eq!(read.text(), answer.text(), "{path}");
            let xml = server.get_with(&path, &[("accept", XML)]).await.expect(200);
            tree::assert_same(&read.body, &xml.body);
        }
        let changes = server.changes("AccountA").await;
        assert_eq!(changes.last().unwrap(), &format!("user {slug} created membership_registered,role_granted"));
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn a_new_user_has_what_the_body_says(server) {
        server.import(&of_account_a(SETUP)).await;
        let body = json!({
            "first_name": "Ada", "last_name": "King", "mobile": "+441632960001", "email": null, "password": "12345678",
            "roles": ["RoleJudg", "RoleMana"], "language": "de_DE", "preferences": {"theme": "dark", "n": 1.50},
            "social_sharing": {"x": true}, "analytics_cookies": true, "notification_sms": true,
            "user_fields": {"FieldUse": "Countess", "FieldUsT": {"A1": "Mathematician", "B1": ""}, "FieldUsN": 36},
            "whatever": "is passed over", "confirmation": "Confirmed",
        });
        let slug = create(&server, &body).await;
        let shown = server.get_with(&format!("/user/{slug}"), &[("x-api-language", "de_DE")]).await.expect(200).json();
        assert_eq!(shown["email"], Value::Null);
        assert_eq!((&shown["mobile"], &shown["name"]), (&json!("+441632960001"), &json!("Ada King")));
        assert_eq!(shown["roles"][0]["name"], json!({"de_DE": "Jury"}));
        assert_eq!(shown["roles"][1]["slug"], "RoleMana");
        assert_eq!(shown["language"], json!({"code": "de_DE", "language": "German"}));
        assert_eq!(shown["preferences"].to_string(), r#"{"theme":"dark","n":1.5}"#);
        assert_eq!((&shown["analytics_cookies"], &shown["notification_sms"]), (&json!(true), &json!(true)));
        assert_eq!(shown["confirmation"], "Invited");
        let answers: Vec<_> = shown["user_fields"].as_array().unwrap().iter().map(|answer| &answer["slug"]).collect();
        assert_eq!(answers.len(), 3, "{shown}");
        assert_eq!(server.changes("AccountA").await.last().unwrap(), &format!("user {slug} created membership_registered,role_granted,role_granted"));
    }

    async fn a_password_is_kept_as_a_hash_alone(server) {
        let slug = create(&server, &serde_json::from_str(NEW).unwrap()).await;
        let first = password(&server, "AccountA", &slug).await;
        let hash = plaudit::records::users::PasswordHash::parse(&first).unwrap();
        assert!(hash.matches("correct horse") && !hash.matches("correct horses"));
        let before = server.changes("AccountA").await.len();
        server.clock.advance(60);
        let shown = server.put(&format!("/user/{slug}"), r#"{"password":"battery staple"}"#).await.expect(200).json();
        assert_eq!(shown["updated"], "2026-01-31T12:01:00.000000Z");
        let hash = plaudit::records::users::PasswordHash::parse(&password(&server, "AccountA", &slug).await).unwrap();
        assert!(hash.matches("battery staple"));
        let changes = server.changes("AccountA").await;
        assert_eq!(changes[before..], [format!("user {slug} updated user_updated")]);
        for table in ["changes", "users", "idempotent_answers"] {
            let column = if table == "idempotent_answers" { "headers" } else { "doc" };
            let mut texts = String::new();
            let sql = format!("SELECT {column} FROM {table}");
            server.db.each(&sql, &[], |row| { texts.push_str(row.text(0)?); Ok(()) }).await.unwrap();
            assert!(!texts.contains("argon2") && !texts.contains("battery") && !texts.contains("correct horse"));
        }
    }

    async fn errors_of_a_new_user_name_every_member_in_both_formats(server) {
        server.import(&of_account_a(SETUP)).await;
        let body = json!({
            "first_name": " ", "email": "nobody", "mobile": "01632", "password": "short", "language": "fr_FR",
            "roles": ["RoleGone", "BRoleAAA", "RoleJudg", "RoleJudg"], "preferences": [], "social_sharing": 1,
            "notification_sms": "yes",
            "user_fields": {"FieldUse": 5, "FieldUsF": "TokenOfTheLogoFileOfAllX", "FieldTxt": "x", "FieldGon": "x", "short": 1, "FieldUsN": "1"},
        });
        for format in FORMATS {
            let answer = server.post_with("/user", &body.to_string(), &[("accept", format)]).await.expect(422);
            assert_eq!(names(&answer, format), [
                "email", "first_name", "language", "last_name", "mobile", "notification_sms", "password", "preferences",
                "roles", "social_sharing", "user_fields.FieldGon", "user_fields.FieldTxt", "user_fields.FieldUsF",
                "user_fields.FieldUsN", "user_fields.FieldUse", "user_fields.short",
            ]);
            for (name, body) in [
                ("email", json!({"first_name": "A", "last_name": "B", "password": "12345678"})),
                ("email", json!({"first_name": "A", "last_name": "B", "password": "12345678", "email": null, "mobile": ""})),
                ("email", json!({"first_name": "A", "last_name": "B", "password": "12345678", "email": ""})),
                ("password", json!({"first_name": "A", "last_name": "B", "email": "a@b.org"})),
                ("password", json!({"first_name": "A", "last_name": "B", "email": "a@b.org", "password": "x".repeat(1025)})),
                ("first_name", json!({"first_name": "x".repeat(256), "last_name": "B", "email": "a@b.org", "password": "12345678"})),
                ("user_fields", json!({"first_name": "A", "last_name": "B", "email": "a@b.org", "password": "12345678", "user_fields": []})),
                ("roles", json!({"first_name": "A", "last_name": "B", "email": "a@b.org", "password": "12345678", "roles": [{"slug": "RoleJudg"}]})),
                ("email", json!({"first_name": "A", "last_name": "B", "email": "MARA@example.org", "password": "12345678"})),
            ] {
                let answer = server.post_with("/user", &body.to_string(), &[("accept", format)]).await.expect(422);
                assert_eq!(names(&answer, format), [name], "{body}");
            }
            server.post_with("/user", "", &[("accept", format)]).await.expect(400);
            server.post_with("/user", "[]", &[("accept", format), ("content-type", "application/json")]).await.expect(400);
            let key = server.new_key("AccountA", plaudit::program::keys::Scope::Read).await;
            server.post_with("/user", NEW, &[("accept", format), ("x-api-key", &key)]).await.expect(403);
        }
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn errors_of_a_path_are_400_for_what_is_no_slug_and_no_address(server) {
        for format in FORMATS {
            let headers = [("accept", format)];
            for wrong in ["short", "toolongslug", "Chapter1", "a@", "@b", "a%20b@c.org", "a@b@c", "%ff", "%00@b.org", "a@b%0a"] {
                server.get_with(&format!("/user/{wrong}"), &headers).await.expect(400);
                server.put_with(&format!("/user/{wrong}"), "{}", &headers).await.expect(400);
                server.delete_with(&format!("/user/{wrong}"), &headers).await.expect(400);
            }
            server.put_with("/user/mara@example.org", "{}", &headers).await.expect(400);
            server.post_with("/user/short/restore", "", &headers).await.expect(400);
            for unknown in ["NoSuchUs", "nobody@example.org", "BUserEnt", "berta@example.org", "ChapterN"] {
                server.get_with(&format!("/user/{unknown}"), &headers).await.expect(404);
            }
            server.put_with("/user/BUserEnt", r#"{"first_name":5}"#, &headers).await.expect(404);
            server.delete_with("/user/BUserEnt", &headers).await.expect(404);
            server.post_with("/user/BUserEnt/restore", "", &headers).await.expect(404);
        }
    }

    async fn an_update_changes_what_it_names_and_nothing_else(server) {
        server.import(&of_account_a(SETUP)).await;
        let slug = create(&server, &json!({
            "first_name": "Ada", "last_name": "King", "email": "ada@example.org", "mobile": "+441632960001",
            "password": "12345678", "preferences": {"a": 1}, "user_fields": {"FieldUse": "x", "FieldUsT": {"A1": "1", "B1": "2"}},
        })).await;
        let path = format!("/user/{slug}");
        let before = server.get(&path).await.expect(200).json();
        let changes = server.changes("AccountA").await.len();
        server.clock.advance(60);
        for same in ["{}", r#"{"first_name":"Ada","email":"ada@example.org","user_fields":{}}"#] {
            assert_eq!(server.put(&path, same).await.expect(200).json(), before);
        }
        assert_eq!(server.changes("AccountA").await.len(), changes);
        let answer = server.put(&path, r#"{"marketing_cookies":true,"social_sharing":{"y":[]}}"#).await.expect(200);
        let mut expected = before.clone();
        expected["marketing_cookies"] = json!(true);
        expected["social_sharing"] = json!({"y": []});
        expected["updated"] = json!("2026-01-31T12:01:00.000000Z");
        assert_eq!(answer.text(), expected.to_string());
        assert_eq!(server.get(&path).await.expect(200).text(), answer.text());
        let body = json!({"roles": ["RoleJudg", "RoleEntr"], "user_fields": {"FieldUse": null, "FieldUsT": {"A1": "", "A2": "3"}}});
        let shown = server.put(&path, &body.to_string()).await.expect(200).json();
        assert_eq!(shown["user_fields"][0]["values"], json!({"B1": "2", "A2": "3"}));
        assert_eq!(shown["user_fields"].as_array().unwrap().len(), 1);
        assert_eq!(shown["roles"].as_array().unwrap().iter().map(|role| role["slug"].as_str().unwrap()).collect::<Vec<_>>(), ["RoleJudg", "RoleEntr"]);
        let shown = server.put(&path, r#"{"roles":[],"mobile":null,"preferences":{}}"#).await.expect(200).json();
        assert_eq!((&shown["roles"], &shown["mobile"], &shown["preferences"]), (&json!([]), &json!(""), &json!({})));
        assert_eq!(server.changes("AccountA").await[changes..], [
            format!("user {slug} updated user_updated"),
            format!("user {slug} updated user_updated,role_granted"),
            format!("user {slug} updated user_updated"),
        ]);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn answers_of_a_user_have_the_bounds_of_answers_however_often_they_are_given(server) {
        server.import(&of_account_a(SETUP)).await;
        let server = server.restart_with(|settings| settings.lengths = Lengths { answer: 1_000, entry: 1_500 }).await;
        let cell = |cell: &str| json!({"user_fields": {"FieldUsT": {cell: "x".repeat(600)}}}).to_string();
        server.put("/user/UserMana", &cell("A1")).await.expect(200);
        let answer = server.put("/user/UserMana", &cell("A2")).await.expect(422);
        assert_eq!(names(&answer, JSON), ["user_fields.FieldUsT"]);
        let text = json!({"user_fields": {"FieldUse": "x".repeat(900)}}).to_string();
        assert_eq!(names(&server.put("/user/UserMana", &text).await.expect(422), JSON), ["user_fields"]);
        let unknown = json!({"user_fields": {"x".repeat(1_000): 1}}).to_string();
        let told = names(&server.put("/user/UserMana", &unknown).await.expect(422), JSON);
        assert!(told.len() == 1 && told[0].len() < 100, "{told:?}");
        server.put("/user/UserMana", r#"{"user_fields":{"FieldUsF":""}}"#).await.expect(200);
    }

    async fn a_chapter_keeps_a_manager_who_is_in_the_trash_and_takes_no_other(server) {
        server.delete("/user/UserMana").await.expect(204);
        server.put("/chapter/ChapterN", r#"{"managers":["UserMana"]}"#).await.expect(200);
        let answer = server.put("/chapter/ChapterS", r#"{"managers":["UserMana"]}"#).await.expect(422);
        assert_eq!(names(&answer, JSON), ["managers"]);
    }

    async fn errors_of_an_update_name_every_member_and_change_nothing(server) {
        let before = server.get("/user/UserMana").await.expect(200).json();
        let body = json!({
            "first_name": "", "last_name": 5, "email": "x", "mobile": "1", "password": null, "roles": ["NoSuchRo"],
            "language": "fr_FR", "necessary_cookies": 1, "user_fields": {"NoSuchFi": 1},
        });
        for format in FORMATS {
            let answer = server.put_with("/user/UserMana", &body.to_string(), &[("accept", format)]).await.expect(422);
            assert_eq!(names(&answer, format), [
                "email", "first_name", "language", "last_name", "mobile", "necessary_cookies", "password", "roles",
                "user_fields.NoSuchFi",
            ]);
            let answer = server.put_with("/user/UserMana", r#"{"email":null}"#, &[("accept", format)]).await.expect(422);
            assert_eq!(names(&answer, format), ["email"]);
            for taken in ["ase@example.org", "ASE@EXAMPLE.ORG", "berta@example.org"] {
                let body = json!({"email": taken}).to_string();
                let answer = server.put_with("/user/UserMana", &body, &[("accept", format)]).await.expect(422);
                assert_eq!(names(&answer, format), ["email"]);
            }
        }
        assert_eq!(server.get("/user/UserMana").await.expect(200).json(), before);
        let here = server.put("/user/UserMana", r#"{"email":"ase@example.org"}"#).await.text().to_owned();
        let elsewhere = server.put("/user/UserMana", r#"{"email":"berta@example.org"}"#).await.text().to_owned();
        assert_eq!(here, elsewhere, "whose it is is not told");
    }

    async fn an_address_that_is_given_up_can_be_given_again(server) {
        let slug = new_user(&server, "first@example.org").await;
        let path = format!("/user/{slug}");
        server.put(&path, r#"{"email":"second@example.org"}"#).await.expect(200);
        server.get("/user/first@example.org").await.expect(404);
        let other = new_user(&server, "first@example.org").await;
        assert_ne!(slug, other);
        server.put(&path, r#"{"email":"first@example.org"}"#).await.expect(422);
        server.put(&path, r#"{"email":"Second@Example.org"}"#).await.expect(200);
        assert_eq!(server.get("/user/second@example.org").await.expect(200).json()["email"], "Second@Example.org");
        server.put(&path, r#"{"mobile":"+441632960007","email":null}"#).await.expect(200);
        server.put(&format!("/user/{other}"), r#"{"mobile":"+441632960007"}"#).await.expect(422);
        server.put(&format!("/user/{other}"), r#"{"email":"second@example.org"}"#).await.expect(200);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn a_trashed_user_is_gone_and_comes_back_as_it_was(server) {
        let before = server.get("/user/UserMana").await.expect(200).text().to_owned();
        let changes = server.changes("AccountA").await.len();
        server.post("/user/UserMana/restore", "").await.expect(422);
        assert!(server.delete("/user/UserMana").await.expect(204).body.is_empty());
        for format in FORMATS {
            for path in ["/user/UserMana", "/user/mara@example.org"] {
                server.get_with(path, &[("accept", format)]).await.expect(404);
            }
            server.put_with("/user/UserMana", "{}", &[("accept", format)]).await.expect(404);
            server.delete_with("/user/UserMana", &[("accept", format)]).await.expect(404);
        }
        let body = json!({"first_name": "M", "last_name": "N", "email": "mara@example.org", "password": "12345678"});
        assert_eq!(names(&server.post("/user", &body.to_string()).await.expect(422), JSON), ["email"]);
        assert_eq!(server.get("/user?deleted=only").await.expect(200).json()["data"][0]["slug"], "UserMana");
        server.post("/user/UserMana/restore", "").await.expect(204);
        assert_eq!(server.get("/user/UserMana").await.expect(200).text(), before);
        server.post("/user/UserMana/restore", "").await.expect(422);
        assert_eq!(server.changes("AccountA").await[changes..], ["user UserMana trashed", "user UserMana restored"]);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn if_match_lets_through_what_it_names_and_nothing_else(server) {
        let tag = server.get("/user/UserMana").await.header("etag").unwrap().to_owned();
        let body = r#"{"first_name":"Maria"}"#;
        server.put_with("/user/UserMana", body, &[("if-match", &tag)]).await.expect(200);
        for format in FORMATS {
            let headers = [("accept", format), ("if-match", tag.as_str())];
            server.put_with("/user/UserMana", r#"{"first_name":"M"}"#, &headers).await.expect(412);
            server.delete_with("/user/UserMana", &headers).await.expect(412);
            server.put_with("/user/UserMana", r#"{"password":"12345678"}"#, &headers).await.expect(412);
        }
        assert_eq!(password(&server, "AccountA", "UserMana").await, "");
        let answer = server.get_with("/user/UserMana", &[("if-none-match", server.get("/user/UserMana").await.header("etag").unwrap())]).await;
        assert_eq!(answer.status, 304);
    }

    async fn an_idempotent_retry_adds_nobody_twice(server) {
        let headers = [("idempotency-key", "one")];
        let first = server.post_with("/user", NEW, &headers).await.expect(201);
        let second = server.post_with("/user", NEW, &headers).await.expect(201);
        assert_eq!((&first.body, first.header("location")), (&second.body, second.header("location")));
        server.post_with("/user", NEW, &[("idempotency-key", "two")]).await.expect(422);
    }
}
