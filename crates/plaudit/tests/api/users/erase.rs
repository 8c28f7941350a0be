//! `PostUserEraseV23`: nothing of a person is left, and what others have a right to stands.

use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token};
use plaudit::log::forms::FORMS;
use plaudit::log::{Actor, Origin};
use plaudit::program::Context;
use plaudit::program::keys::Scope;
use plaudit::records::files;

use crate::both_engines;
use crate::harness::Server;

/// What the fixture has of its entrant.
const WORDS: [&str; 9] = [
    "O'Neil",
    "ase@example.org",
    "An abstract",
    "First <entry>",
    "A caption",
    "Author",
    "Nolan & Daughters",
    "notes.txt",
    "Paper",
];

/// Where in the database a word stands, by table.
async fn places(server: &Server, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for table in db::tables::TABLES {
        server
            .db
            .each(&format!("SELECT * FROM {table}"), &[], |row| {
                let mut column = 0;
                while let Ok(value) = row.value(column) {
                    let text = match &value {
                        db::Value::Text(text) => text.to_string(),
                        db::Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                        _ => String::new(),
                    };
                    if text.contains(word) {
                        found.push(format!("{table}, column {column}: {text}"));
                    }
                    column += 1;
                }
                Ok(())
            })
            .await
            .unwrap();
    }
    found
}

/// What `plaudit doctor` finds wrong with the records of an account.
async fn wrong(server: &Server) -> Vec<String> {
    let account = server.account("AccountA").await;
    let mut tx = server.db.snapshot().await.unwrap();
    let mut wrong = Vec::new();
    plaudit::records::users::store::each_wrong(&mut tx, account, |fault| wrong.push(fault)).await.unwrap();
    for kind in Kind::ALL {
        plaudit::records::store::each_wrong(&mut tx, account, (kind, i64::MAX), &FORMS, |fault| wrong.push(fault))
            .await
            .unwrap();
    }
    wrong
}

both_engines! {
    async fn nothing_of_a_person_who_was_erased_is_left_anywhere(server) {
        // An answer that is kept has words too.
        let headers = [("idempotency-key", "retitled"), ("content-type", "application/json")];
        let body = r#"{"title":"O'Neil again"}"#;
        let retitled = server.request("PUT", "/entry/EntryTwo/update-title", &headers, Some(body));
        server.send_anything(retitled).await.expect(200);
        let file = r#"{"filename":"passport.gif","data":"R0lGODlhBQAHAA=="}"#;
        let path = "/entry/EntryOne/upload/FieldFil";
        let replaced = server.post(path, file).await.expect(201).json()["token"].as_str().unwrap().to_owned();
        server.put("/entry/EntryOne", r#"{"entry_fields":{"FieldFil":null}}"#).await.expect(200);
        assert_ne!(server.app.storage.size("AccountA", &replaced).await.unwrap(), 0);
        let user = Slug::parse("UserEntr");
        let key = server.new_key_with("AccountA", Scope::Read, |key| (key.user, key.name) = (user, "O'Neil".to_owned()));
        let key = key.await;
        for word in WORDS {
            assert_ne!(places(&server, word).await, Vec::<String>::new(), "{word}");
        }
        let board = server.get("/entry?season=all&per_page=100").await.expect(200).json();
        assert!(server.post("/user/UserEntr/erase", "").await.expect(204).body.is_empty());
        for word in WORDS {
            assert_eq!(places(&server, word).await, Vec::<String>::new(), "{word}");
        }
        assert_eq!(wrong(&server).await, Vec::<String>::new());
        let headers_of_key = [("x-api-key", key.as_str())];
        server.send_anything(server.request("GET", "/entry", &headers_of_key, None)).await.expect(403);
        server.get("/user/UserEntr").await.expect(404);
        let restored = server.post("/user/UserEntr/restore", "").await.expect(422).json();
        assert_eq!(restored["message"], "The user was erased.");
        server.get("/user/ase@example.org").await.expect(404);
        let entry = server.get("/entry/EntryOne").await.expect(200).json();
        assert_eq!((entry["title"].as_str(), entry["entrant"]["name"].as_str()), (Some("Erased"), Some("Erased person")));
        assert_eq!((&entry["attachments"], &entry["contributors"]), (&serde_json::json!([]), &serde_json::json!([])));
        let after = server.get("/entry?season=all&per_page=100").await.expect(200).json();
        assert_eq!(after["total"], board["total"]);
        let order = server.get("/order/OrderOne").await.expect(200).json();
        assert_eq!((order["company"].as_str(), order["country"].as_str()), (Some(""), Some("GB")));
        assert_eq!((order["invoice_number"].as_str(), &order["payment_status"]), (Some("1"), &serde_json::json!("paid")));
        assert_eq!(server.app.storage.size("AccountA", "TokenOfTheFirstFileOfAll").await.unwrap(), 0);
        let again = server.request("PUT", "/entry/EntryTwo/update-title", &headers, Some(body));
        server.send_anything(again).await.expect(409);

        // What an answer had before is empty as well.
        assert_eq!(server.app.storage.size("AccountA", &replaced).await.unwrap(), 0);

        // The address is free again, and who is erased already is so once more.
        server.post("/user/UserEntr/erase", "").await.expect(204);
        let new = r#"{"first_name":"A","last_name":"B","email":"ase@example.org","password":"correct horse"}"#;
        server.post("/user", new).await.expect(201);
        server.post("/user/NoSuchUs/erase", "").await.expect(404);
    }

    async fn a_command_with_another_storage_leaves_files_to_the_service(server) {
        let account = server.account("AccountA").await;
        let token = Token::parse("TokenOfTheFirstFileOfAll").unwrap();
        let state = (account, token.clone());
        server.db.write(account, state, |tx, (account, token)| Box::pin(async move {
            let context = Context::any_language(Timestamp::from_seconds(0));
            let origin = Origin { actor: Actor::System, source: "system", at: Timestamp::from_seconds(0) };
            files::store::empty(tx, *account, &origin, (token, "Erased"), &context).await
        })).await.map_err(|error: db::DbError| error).unwrap();
        let storage = &server.app.storage;
        let bytes = storage.get_range("AccountA", token.as_str(), 0..1_000).await.unwrap();
        storage.delete("AccountA", token.as_str()).await.unwrap();
        assert_eq!(files::empty_erased(&server.db, storage).await.unwrap(), 1);
        storage.put("AccountA", token.as_str(), bytes).await.unwrap();
        assert_eq!(files::empty_erased(&server.db, storage).await.unwrap(), 0);
        assert_eq!(storage.size("AccountA", token.as_str()).await.unwrap(), 0);
    }
}
