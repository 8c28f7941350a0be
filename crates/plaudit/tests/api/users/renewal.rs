//! A person's new name is shown by all of the person's records, of which none is written for it.

use std::collections::BTreeMap;

use plaudit::program::keys::Scope;
use serde_json::{Value, json};

use super::{password, wrong};
use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::{ACCOUNT_A, of_account_a};
use crate::harness::random::Random;
use crate::harness::{BASE, Server};

/// Every stored document that shows a user, by its table and slug.
async fn documents(server: &Server) -> BTreeMap<(String, String), String> {
    let account = server.account("AccountA").await;
    let mut found = BTreeMap::new();
    for (table, sql) in [
        ("entry", "SELECT slug, doc || detail FROM entries WHERE account = $1"),
        ("order", "SELECT slug, doc FROM orders WHERE account = $1"),
        ("chapter", "SELECT slug, doc FROM setup_records WHERE account = $1 AND kind = 'chapter'"),
    ] {
        let row = |row: &db::Row<'_>| {
            found.insert((table.to_owned(), row.text(0)?.to_owned()), row.text(1)?.to_owned());
            Ok(())
        };
        server.db.each(sql, &[account.into()], row).await.unwrap();
    }
    found
}

/// The account as it would be if it were made from scratch: its export, imported into an empty database.
async fn from_scratch(server: &Server) -> Server {
    let mut text = Vec::new();
    let slug = kernel::text::Slug::parse("AccountA").unwrap();
    plaudit::transfer::export(&server.db, &server.storage, slug, |_| true, &mut text).await.unwrap();
    let fresh = Server::empty(server.db.engine()).await;
    fresh.import(std::str::from_utf8(&text).unwrap()).await;
    fresh
}

/// More records of the first account that show users.
fn records() -> String {
    let mut lines = String::from(
        r#"{"kind":"user","slug":"UserThir","first_name":"Third","last_name":"","email":"third@example.org","roles":["RoleMana"]}
{"kind":"chapter","slug":"ChapterG","season":"SeasonOl","name":{"en_GB":"Gone"},"status":"active","managers":["UserThir","UserMana"],"deleted":true}
{"kind":"chapter","slug":"ChapterT","season":"SeasonAc","name":{"en_GB":"Two"},"status":"active","managers":["UserThir","UserMana"]}"#,
    );
    for number in 0..40_u8 {
        let letter = char::from(b'a' + number % 20);
        let user = ["UserEntr", "UserThir", "UserMana"][usize::from(number) % 3];
        let (name, deleted) = (if number < 20 { "Aa" } else { "Bb" }, number % 7 == 0);
        lines.push_str(&format!(
            "\n{{\"kind\":\"entry\",\"slug\":\"Entri{name}{letter}\",\"title\":\"\\\"user\\\":{{ {number}\",\"season\":\"SeasonAc\",\"category\":\"CategChi\",\"chapter\":\"ChapterN\",\"form\":\"FormEntr\",\"entrant\":\"{user}\",\"deleted\":{deleted}}}\
             \n{{\"kind\":\"order\",\"slug\":\"Order{name}{letter}\",\"invoice_number\":\"I\\\",\\\"user\\\":{{{number}\",\"season\":\"SeasonAc\",\"user\":\"{user}\",\"currency\":\"GBP\",\"deleted\":{deleted},\"total\":{number}.00}}"
        ));
    }
    of_account_a(&lines)
}

both_engines! {
    async fn a_new_name_is_shown_by_every_record_at_once(server) {
        let owned = ACCOUNT_A.lines().next().unwrap().replace(r#""hosts""#, r#""owner":"UserMana","hosts""#);
        server.import(&owned).await;
        let paths = ["/entry/EntryOne", "/entry", "/entry?include=entry_fields&per_page=100", "/order?season=all&deleted=included"];
        let read = async |path: &str, format: &str, known: &str| {
            server.get_with(path, &[("accept", format), ("if-none-match", known)]).await
        };
        let tags = async |paths: &[&'static str]| {
            let mut tags = Vec::new();
            for path in paths {
                for format in FORMATS {
                    let answer = read(path, format, "\"none\"").await.expect(200);
                    let tag = answer.header("etag").unwrap().to_owned();
                    read(path, format, &tag).await.expect(304);
                    tags.push((*path, format, tag));
                }
            }
            tags
        };
        let before = tags(&paths).await;
        let (changes, version) = (server.changes("AccountA").await.len(), server.version("AccountA").await);
        server.clock.advance(60);
        server.put("/user/UserEntr", r#"{"first_name":"Aase","email":"aase@example.org"}"#).await.expect(200);
        for (path, format, tag) in &before {
            let answer = read(path, format, tag).await.expect(200);
            assert_ne!(answer.header("etag"), Some(tag.as_str()), "{path}");
            assert!(answer.text().contains("aase@example.org") && !answer.text().contains("Åse"), "{path}");
        }
        let entry = server.get("/entry/EntryOne").await.expect(200).json();
        assert_eq!((&entry["entrant"]["name"], &entry["entrant"]["email"]), (&json!("Aase O'Neil <&>"), &json!("aase@example.org")));
        assert_eq!(entry["updated"], "2025-06-03T10:00:00.000000Z", "the entry did not change");
        let orders = server.get("/order?season=all&deleted=included").await.expect(200).json();
        for order in orders["data"].as_array().unwrap() {
            assert_eq!(order["user"], json!({
                "slug": "UserEntr", "link": format!("{BASE}/user/UserEntr"), "name": "Aase O'Neil <&>", "first_name": "Aase",
                "last_name": "O'Neil <&>", "email": "aase@example.org",
            }));
        }
        let before = tags(&["/chapter", "/chapter?season=all&deleted=included", "/chapter/ChapterN"]).await;
        server.put("/user/UserMana", r#"{"last_name":"Hill"}"#).await.expect(200);
        for (path, format, tag) in &before {
            let answer = read(path, format, tag).await.expect(200);
            assert_ne!(answer.header("etag"), Some(tag.as_str()), "{path}");
            assert!(answer.text().contains("Hill") && !answer.text().contains("Nolan"), "{path}");
        }
        let read = server.get("/chapter/ChapterN").await.expect(200);
        let written = server.put("/chapter/ChapterN", "{}").await.expect(200);
        assert_eq!((written.header("etag"), written.text()), (read.header("etag"), read.text()));
        let chapter = read.json();
        assert_eq!(chapter["managers"][0], json!({
            "slug": "UserMana", "link": format!("{BASE}/user/UserMana"), "first_name": "Mara", "last_name": "Hill"
        }));
        assert_eq!(chapter["updated"], "2025-01-02T00:00:00.000000Z", "the chapter did not change");
        assert_eq!(server.get("/account").await.expect(200).json()["owner"]["name"], "Mara Hill");
        let told = server.changes("AccountA").await.split_off(changes);
        assert_eq!(told, ["user UserEntr updated user_updated", "user UserMana updated user_updated"]);
        assert_eq!(server.version("AccountA").await, version);
    }

    async fn a_write_is_answered_with_the_tag_of_a_read_and_a_new_name_fails_no_precondition(server) {
        for format in FORMATS {
            let of = [("accept", format)];
            let read = server.get_with("/entry/EntryOne", &of).await.expect(200);
            let same = server.put_with("/entry/EntryOne", "{}", &of).await.expect(200);
            assert_eq!((same.header("etag"), same.text()), (read.header("etag"), read.text()));
            let first = if format == FORMATS[0] { "Other" } else { "Another" };
            server.put("/user/UserEntr", &json!({"first_name": first}).to_string()).await.expect(200);
            let tag = read.header("etag").unwrap();
            for (path, body) in [
                ("/entry/EntryOne", json!({"title": format!("By {first}")})),
                ("/entry/EntryOne", json!({"entrant": if format == FORMATS[0] { "UserMana" } else { "UserEntr" }})),
                ("/entry/EntryOne/update-field/FieldTxt", json!({"value": first})),
            ] {
                let now = server.get_with("/entry/EntryOne", &of).await.expect(200);
                let tag = if path.ends_with("EntryOne") && body["title"].is_string() { tag } else { now.header("etag").unwrap() };
                let written = server.put_with(path, &body.to_string(), &[("accept", format), ("if-match", tag)]).await.expect(200);
                let read = server.get_with("/entry/EntryOne", &of).await.expect(200);
                assert_eq!((written.header("etag"), written.text()), (read.header("etag"), read.text()), "{path}");
            }
        }
        let made = server.post("/entry", r#"{"title":"New","season":"SeasonAc","category":"CategChi","entrant":"UserMana"}"#).await.expect(201);
        let path = format!("/entry/{}", made.json()["slug"].as_str().unwrap());
        let read = server.get(&path).await.expect(200);
        assert_eq!((made.header("etag"), made.text()), (read.header("etag"), read.text()));
        assert_eq!(made.json()["entrant"]["name"], "Mara Nolan");
    }

    async fn lists_by_applicant_follow_a_new_name(server) {
        server.put("/entry/EntryTwo", r#"{"entrant":"UserMana"}"#).await.expect(200);
        let sorted = async || {
            let page = server.get("/entry?order=applicant").await.expect(200).json();
            let entries = page["data"].as_array().unwrap().iter();
            entries.map(|entry| entry["entrant"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (user, first) in [("UserMana", "A"), ("UserEntr", "0"), ("UserMana", "-"), ("UserEntr", "Z")] {
            server.put(&format!("/user/{user}"), &json!({"first_name": first}).to_string()).await.expect(200);
            let names = sorted().await;
            assert!(names.len() > 1 && names.is_sorted() && names.iter().any(|name| name.starts_with(first)), "{names:?}");
        }
    }

    async fn what_no_record_shows_renews_none(server) {
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        let (changes, version) = (server.changes("AccountA").await.len(), server.version("AccountA").await);
        server.put("/user/UserMana", r#"{"roles":[],"preferences":{"a":1},"password":"12345678"}"#).await.expect(200);
        server.delete("/user/UserMana").await.expect(204);
        server.post("/user/UserMana/restore", "").await.expect(204);
        assert_eq!(server.changes("AccountA").await.len(), changes + 3);
        assert_eq!(server.version("AccountA").await, version);
    }

    async fn what_is_shown_is_what_would_be_computed_from_scratch(server) {
        server.import(&records()).await;
        let mut random = Random(11);
        let users = ["UserEntr", "UserThir", "UserMana"];
        for number in 0..60 {
            let user = random.pick(&users);
            let body = match random.below(5) {
                0 => json!({"first_name": format!("First \"{number}\" é }}")}),
                1 => json!({"last_name": format!("Last {number} \\ ä")}),
                2 => json!({"email": format!("mail{number}@example.org")}),
                3 => json!({"mobile": format!("+4416329{number:04}")}),
                _ => json!({"first_name": "Same", "last_name": "Again", "roles": ["RoleMana"]}),
            };
            match random.below(6) {
                0 => drop(server.delete(&format!("/user/{user}")).await),
                1 => drop(server.post(&format!("/user/{user}/restore"), "").await),
                2 => drop(server.put("/chapter/ChapterS", &json!({"managers": [user]}).to_string()).await),
                _ => {
                    let answer = server.put(&format!("/user/{user}"), &body.to_string()).await;
                    assert!([200, 404].contains(&answer.status), "{}", answer.text());
                }
            }
        }
        let fresh = from_scratch(&server).await;
        let (shown, computed) = (documents(&server).await, documents(&fresh).await);
        assert!(shown.len() > 80);
        for (record, doc) in &shown {
            assert_eq!(Some(doc), computed.get(record), "{record:?}");
        }
        for server in [&server, &fresh] {
            assert_eq!(wrong(server, "AccountA").await, Vec::<String>::new());
        }
        let key = fresh.new_key("AccountA", Scope::ReadWrite).await;
        let users = server.get("/user?trashed=all&per_page=100").await.expect(200).json();
        let name = |slug: &Value| users["data"].as_array().unwrap().iter().find(|user| user["slug"] == *slug).unwrap()["name"].clone();
        for path in ["/entry?season=all&deleted=included&order=applicant", "/order?season=all&deleted=included&order=total"] {
            let shown = server.get(&format!("{path}&per_page=100")).await.expect(200).json();
            let computed = fresh.get_with(&format!("{path}&per_page=100"), &[("x-api-key", &key)]).await.expect(200).json();
            assert_eq!(shown["data"], computed["data"], "{path}");
            for record in shown["data"].as_array().unwrap() {
                let person = record.get("entrant").unwrap_or(&record["user"]);
                assert_eq!(person["name"], name(&person["slug"]), "{path}");
            }
        }
    }

    async fn an_export_with_passwords_and_joined_seasons_comes_back_as_the_same_bytes(server) {
        let body = json!({"first_name": "Ada", "last_name": "King", "email": "Ada@example.org", "password": "12345678"});
        server.post("/user", &body.to_string()).await.expect(201);
        server.put("/user/UserMana", r#"{"password":"87654321","mobile":"+441632960001"}"#).await.expect(200);
        let fresh = from_scratch(&server).await;
        let slug = kernel::text::Slug::parse("AccountA").unwrap();
        let mut texts = Vec::new();
        for server in [&server, &fresh] {
            let mut text = Vec::new();
            plaudit::transfer::export(&server.db, &server.storage, slug, |_| true, &mut text).await.unwrap();
            texts.push(String::from_utf8(text).unwrap());
        }
        assert_eq!(texts[0], texts[1]);
        assert_eq!(texts[0].matches(r#""password":"$argon2id$v=19$m=19456,t=2,p=1$"#).count(), 2);
        assert!(texts[0].contains(r#""season_joined":"SeasonAc""#));
        assert_eq!(password(&server, "AccountA", "UserMana").await, password(&fresh, "AccountA", "UserMana").await);
        let before = fresh.changes("AccountA").await.len();
        fresh.import(&texts[0]).await;
        assert_eq!(fresh.changes("AccountA").await.len(), before, "what is there already is not written again");
        let wrong = texts[0].replace("$argon2id$", "$argon2i$");
        let faults = fresh.try_import(&wrong).await;
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.contains("password: must be the hash of a password")), "{faults:?}");
    }
}
