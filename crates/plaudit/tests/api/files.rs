//! `GetFileV23`, `PostEntryUploadV23`, `PostUserUploadV23`, downloads, and what is left of uploads that nobody recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use plaudit::records::files;
use plaudit::services::store::set_maintenance;
use serde_json::{Value, json};

use crate::harness::check::error_names;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, JSON, NOW, Server};
use crate::{both_engines, both_storages};

const LOGO: &str = "/entry/EntryOne/upload/FieldFil";
const GIF: &[u8] = b"GIF89a\x05\0\x07\0";

fn body(filename: &str, bytes: &[u8]) -> String {
    json!({"filename": filename, "data": STANDARD.encode(bytes)}).to_string()
}

/// A field for images of at most 20 bytes, one for files of users, and one that is asked in another category.
async fn more(server: &Server) {
    server.import(&of_account_a(r#"{"kind":"field","slug":"FieldImg","form":"FormEntr","tab":"TabGener","resource":"entries","type":"file","file_types":["gif","image/png"],"max_file_size":20,"title":{"en_GB":"Image"}}
{"kind":"field","slug":"FieldOth","form":"FormEntr","tab":"TabGener","resource":"entries","type":"file","categories":["CategPar"],"title":{"en_GB":"Of another category"}}
{"kind":"field","slug":"FieldUsr","resource":"users","type":"file","file_types":["pdf"],"title":{"en_GB":"Passport"}}
{"kind":"field","slug":"FieldUsT","resource":"users","type":"text","title":{"en_GB":"Motto"}}"#)).await;
}

async fn token_of(server: &Server, path: &str, body: &str) -> String {
    server.post(path, body).await.expect(201).json()["token"].as_str().unwrap().to_owned()
}

async fn downloaded(server: &Server, address: &str, headers: &[(&str, &str)]) -> Answer {
    server.send_anything(server.request("GET", address.strip_prefix(BASE).unwrap_or(address), headers, None)).await
}

async fn count(server: &Server, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    server.db.first(&sql, &[], |row| row.integer(0)).await.unwrap().unwrap()
}

both_storages! {
    async fn a_file_becomes_the_answer_to_a_field_of_an_entry(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.post(LOGO, &body("Logo.gif", GIF)).await.expect(201);
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        let link = format!("{BASE}/file/{token}");
        assert_eq!(answer.text(), json!({"filename": "Logo.gif", "token": token, "link": link}).to_string());
        assert_eq!(answer.header("location"), Some(link.as_str()));
        let logged =
            [format!("file {token} created"), "entry EntryOne updated entry_updated,field_value_updated".to_owned()];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let entry = server.get("/entry/EntryOne").await.expect(200).json();
        assert_eq!((&entry["files_count"], &entry["updated"]), (&json!(2), &json!(NOW)));
        let shown = entry["entry_fields"].as_array().unwrap().iter().find(|field| field["slug"] == "FieldFil").unwrap();
        assert_eq!(shown["token"], json!(token));
        let download = downloaded(&server, shown["download"].as_str().unwrap(), &[]).await.expect(200);
        assert_eq!((download.header("content-type"), download.body.as_slice()), (Some("image/gif"), GIF));
        server.get("/file/TokenOfTheLogoFileOfAllX").await.expect(200);
        server.put("/entry/EntryOne/update-field/FieldFil", r#"{"value":null}"#).await.expect(200);
        assert_eq!(server.get("/entry/EntryOne").await.json()["files_count"], 1);
    }

    async fn a_file_is_what_its_field_takes(server) {
        more(&server).await;
        let before = server.stored_files("AccountA");
        let path = |field: &str| format!("/entry/EntryOne/upload/{field}");
        for (field, bytes, name) in [
            ("FieldImg", b"%PDF-1.7".as_slice(), "data"),
            ("FieldImg", b"not a gif", "data"),
            ("FieldImg", b"GIF89a\x05\0\x07\0 and far too long", "data"),
            ("FieldImg", b"GIF lies about its type", "data"),
            ("FieldTxt", GIF, "entry_fields.FieldTxt"),
            ("FieldAtt", GIF, "entry_fields.FieldAtt"),
            ("FieldOth", GIF, "entry_fields.FieldOth"),
        ] {
            let answer = server.post(&path(field), &body("a.gif", bytes)).await.expect(422);
            assert_eq!(error_names(&answer, JSON).unwrap(), [name], "{field}");
        }
        let answer = server.post(&path("FieldImg"), &body("a/b.gif", b"%PDF-1.7")).await.expect(422);
        assert_eq!(error_names(&answer, JSON).unwrap(), ["filename"]);
        for (path, status) in [
            (path("NoSuchFi"), 404),
            (path("short"), 400),
            ("/entry/NoSuchEn/upload/FieldFil".to_owned(), 404),
            ("/entry/BEntryOn/upload/BFieldTx".to_owned(), 404),
        ] {
            server.post(&path, &body("a.gif", GIF)).await.expect(status);
        }
        server.post_with(LOGO, &body("a.gif", GIF), &[("if-match", "\"1.1.j\"")]).await.expect(412);
        assert_eq!(server.stored_files("AccountA"), before);
        assert_eq!(count(&server, "uploads").await, 0);
        token_of(&server, &path("FieldImg"), &body("named.pdf", GIF)).await;
        server.put("/category/CategChi", r#"{"locked":true}"#).await.expect(200);
        let answer = server.post(LOGO, &body("a.gif", GIF)).await.expect(422);
        assert_eq!(error_names(&answer, JSON), None, "the category is locked");
    }

    async fn a_file_becomes_the_answer_to_a_field_of_a_user(server) {
        more(&server).await;
        let path = "/user/UserEntr/upload/FieldUsr";
        let changes = server.changes("AccountA").await.len();
        let token = token_of(&server, path, &body("passport.bin", b"%PDF-1.7")).await;
        let logged = [format!("file {token} created"), "user UserEntr updated user_updated".to_owned()];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let user = server.get("/user/UserEntr").await.expect(200).json();
        assert_eq!((&user["user_fields"][0]["token"], &user["updated"]), (&json!(token), &json!(NOW)));
        let before = server.stored_files("AccountA");
        for (path, bytes, name) in [
            (path, GIF, "data"),
            ("/user/UserEntr/upload/FieldUsT", b"%PDF-1.7", "user_fields.FieldUsT"),
            ("/user/UserEntr/upload/FieldFil", b"%PDF-1.7", "user_fields.FieldFil"),
        ] {
            let answer = server.post(path, &body("a.pdf", bytes)).await.expect(422);
            assert_eq!(error_names(&answer, JSON).unwrap(), [name]);
        }
        for (path, status) in [
            ("/user/NoSuchUs/upload/FieldUsr", 404),
            ("/user/BUserEnt/upload/FieldUsr", 404),
            ("/user/UserEntr/upload/NoSuchFi", 404),
            ("/user/short/upload/FieldUsr", 400),
        ] {
            server.post(path, &body("a.pdf", b"%PDF-1.7")).await.expect(status);
        }
        assert_eq!(server.stored_files("AccountA"), before);
    }

    async fn a_download_is_whole_or_a_part_and_cannot_be_run(server) {
        let bytes: Vec<u8> = (0..90_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let token = token_of(&server, LOGO, &body("Bild \"Ä\" <1>.html", &bytes)).await;
        let address = server.get(&format!("/file/{token}")).await.json()["download_link"].as_str().unwrap().to_owned();
        let whole = downloaded(&server, &address, &[]).await.expect(200);
        assert!(whole.body == bytes);
        for (name, value) in [
            ("content-type", "application/octet-stream"),
            ("content-length", "90000"),
            ("accept-ranges", "bytes"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "sandbox"),
            ("content-disposition",
                "attachment; filename=\"Bild _ _ _ <1>.html\"; filename*=UTF-8''Bild%20%22%C3%84%22%20%3C1%3E.html"),
        ] {
            let value = value.replace("_ _ _", "___");
            assert_eq!(whole.header(name), Some(value.as_str()));
        }
        for (range, part) in [("bytes=0-0", 0..1), ("bytes=89990-", 89_990..90_000), ("bytes=-5", 89_995..90_000), ("bytes=5-70000", 5..70_001)] {
            let answer = downloaded(&server, &address, &[("range", range)]).await.expect(206);
            assert!(answer.body == bytes[part.clone()], "{range}");
            let told = format!("bytes {}-{}/90000", part.start, part.end - 1);
            assert_eq!(answer.header("content-range"), Some(told.as_str()));
        }
        let beyond = downloaded(&server, &address, &[("range", "bytes=90000-")]).await.expect(416);
        assert_eq!(beyond.header("content-range"), Some("bytes */90000"));
        for (range, condition) in [("bytes=0-1,3-4", ""), ("items=0-1", ""), ("bytes=0-1", "\"x\"")] {
            let answer = downloaded(&server, &address, &[("range", range), ("if-range", condition)]).await.expect(200);
            assert_eq!(answer.body.len(), bytes.len(), "{range}");
        }
        let head = server.send_anything(server.request("HEAD", address.strip_prefix(BASE).unwrap(), &[], None)).await;
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("90000"), 0));
        let part = [("range", "bytes=0-1")];
        let head = server.send_anything(server.request("HEAD", address.strip_prefix(BASE).unwrap(), &part, None)).await;
        assert_eq!((head.status, head.header("content-length")), (200, Some("90000")), "HEAD has no ranges");
        set_maintenance(&server.db, "eu", Some("Back soon")).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        assert_eq!(downloaded(&server, &address, &[]).await.expect(503).text(), r#"{"status":"Back soon"}"#);
        set_maintenance(&server.db, "eu", None).await.unwrap();
        server.app.refresh_maintenance().await.unwrap();
        let empty = token_of(&server, LOGO, &body("empty", b"")).await;
        let address = server.get(&format!("/file/{empty}")).await.json()["download_link"].as_str().unwrap().to_owned();
        assert_eq!(downloaded(&server, &address, &[]).await.expect(200).body, b"");
    }

    async fn what_nobody_recorded_is_removed_after_a_day(server) {
        let before = server.stored_files("AccountA");
        let account = server.account("AccountA").await;
        let token = server.ids.token();
        let state = (account, token.clone(), server.clock.now());
        server.db.write(account, state, |tx, (account, token, now)| {
            Box::pin(files::store::announce(tx, *account, token, *now))
        }).await.map_err(|error: db::DbError| error).unwrap();
        server.storage.put("AccountA", token.as_str(), Bytes::from_static(b"half")).await.unwrap();
        assert_eq!(swept(&server).await, 0, "it may be recorded yet");
        assert_eq!(server.stored_files("AccountA").len(), before.len() + 1);
        server.clock.advance(24 * 3600 + 1);
        let recorded = token_of(&server, LOGO, &body("a.gif", GIF)).await;
        assert_eq!(swept(&server).await, 1);
        let left = server.stored_files("AccountA");
        assert!(left.contains(&recorded) && left.len() == before.len() + 1, "{left:?}");
        assert_eq!((swept(&server).await, count(&server, "uploads").await), (0, 0));
    }
}

/// How many uploads a sweep removes.
async fn swept(server: &Server) -> usize {
    files::sweep(&server.app.db, &server.app.storage, server.app.clock.now()).await.unwrap()
}

both_engines! {
    async fn what_is_known_of_a_file_is_shown(server) {
        let token = token_of(&server, LOGO, &body("logo.txt", GIF)).await;
        let answer = server.get(&format!("/file/{token}")).await.expect(200);
        let mut file = answer.json();
        let names: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
        let members = ["download_link", "duration", "filename", "image_height", "image_width", "metadata", "mime", "size", "transcoding"];
        assert_eq!(names, members);
        assert!(file["download_link"].take().as_str().unwrap().starts_with(&format!("{BASE}/download/AccountA/{token}?")));
        let hash = "sha256";
        assert_eq!(file["metadata"][hash].take().as_str().unwrap().len(), 64);
        assert_eq!(file, json!({"download_link": null, "duration": null, "filename": "logo.txt", "image_height": 7,
            "image_width": 5, "metadata": {"sha256": null}, "mime": "image/gif", "size": 10, "transcoding": []}));
        let tag = answer.header("etag").unwrap();
        assert_eq!(server.get_with(&format!("/file/{token}"), &[("if-none-match", tag)]).await.status, 304);
        server.get("/file/short").await.expect(400);
        server.get("/file/NoSuchFileOfAll").await.expect(404);
        server.delete(&format!("/file/{token}")).await.expect(405);
        let text = server.get("/file/TokenOfTheFirstFileOfAll").await.expect(200).json();
        assert_eq!((&text["mime"], &text["image_width"], &text["metadata"]), (&json!("text/plain"), &Value::Null, &json!({})));
    }

    async fn a_download_address_is_good_for_its_file_and_time_alone(server) {
        let address = server.get("/file/TokenOfTheFirstFileOfAll").await.json()["download_link"].as_str().unwrap().to_owned();
        let address = address.strip_prefix(BASE).unwrap().to_owned();
        assert_eq!(downloaded(&server, &address, &[]).await.expect(200).body, b"hello");
        let (path, signature) = address.split_once("&signature=").unwrap();
        let turned = if signature.starts_with('A') { "B" } else { "A" };
        for wrong in [
            address.replace("AccountA", "AccountB"),
            address.replace("TokenOfTheFirstFileOfAll", "TokenOfTheLogoFileOfAllX"),
            address.replace("expires=1", "expires=2"),
            format!("{path}&signature={turned}{}", &signature[1..]),
            format!("{path}&signature="),
            path.to_owned(),
            "/download/AccountA/TokenOfTheFirstFileOfAll".to_owned(),
            format!("{}?{}", "/download/AccountA/..", address.split_once('?').unwrap().1),
            format!("{}?{}", "/download/AccountA/%2e%2e%2fplaudit.db", address.split_once('?').unwrap().1),
        ] {
            downloaded(&server, &wrong, &[]).await.expect(403);
        }
        server.clock.advance(16 * 60);
        downloaded(&server, &address, &[]).await.expect(403);
    }
}
