//! `PostEntryAttachmentV23`, `GetAttachmentV23`, `PutAttachmentV23`, `DeleteAttachmentV23` and
//! `PutAttachmentUpdateFieldV23`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, MAXIMUM_UPLOAD, NOW, Server};
use crate::{both_engines, both_storages};

const PATH: &str = "/entry/EntryTwo/attachment/TabAttac";
const TOKEN: &str = "TokenOfTheFirstFileOfAll";

fn body(filename: &str, bytes: &[u8], order: i64) -> Value {
    json!({"filename": filename, "data": STANDARD.encode(bytes), "order": order})
}

async fn attach(server: &Server, body: &Value) -> String {
    server.post(PATH, &body.to_string()).await.expect(201).json()["token"].as_str().unwrap().to_owned()
}

/// Another tab for attachments with a field, a field of every entry, and a tab of another form.
async fn more(server: &Server) {
    server.import(&of_account_a(r#"{"kind":"tab","slug":"TabAttaX","form":"FormEntr","type":"Attachments","order":4}
{"kind":"field","slug":"FieldAtX","form":"FormEntr","tab":"TabAttaX","resource":"attachments","type":"numeric","title":{"en_GB":"Pages"}}
{"kind":"field","slug":"FieldAtC","form":"FormEntr","tab":"TabAttac","resource":"attachments","type":"text","categories":["CategPar"],"title":{"en_GB":"Of another category"}}
{"kind":"form","slug":"FormOthe","season":"SeasonAc","name":{"en_GB":"Another"},"type":"entry"}
{"kind":"tab","slug":"TabOther","form":"FormOthe","type":"Attachments","order":1}"#)).await;
}

both_storages! {
    async fn a_file_is_attached_shown_with_its_entry_and_downloaded(server) {
        let mut upload = body("Plan Ä.txt", b"a plan", 7);
        upload["attachment_fields"] = json!({"FieldAtt": "A plan"});
        let changes = server.changes("AccountA").await.len();
        let answer = server.post(PATH, &upload.to_string()).await.expect(201);
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        let link = format!("{BASE}/attachment/{token}");
        assert_eq!(answer.text(), json!({"filename": "Plan Ä.txt", "token": token, "link": link}).to_string());
        assert_eq!(answer.header("location"), Some(link.as_str()));
        let logged = [
            format!("file {token} created"),
            format!("attachment {token} created"),
            "entry EntryTwo updated entry_updated".to_owned(),
        ];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let entry = server.get("/entry/EntryTwo").await.expect(200).json();
        assert_eq!((&entry["files_count"], &entry["updated"]), (&json!(1), &json!(NOW)));
        let embedded = &entry["attachments"][0];
        assert_eq!((&embedded["token"], &embedded["file"]["filename"]), (&json!(token), &json!("Plan Ä.txt")));
        let shown = server.get(&format!("/attachment/{token}")).await.expect(200).json();
        let names: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["entry", "attachment_fields", "created", "file", "order", "tab", "token", "updated"]);
        assert_eq!(shown["entry"], json!({"slug": "EntryTwo", "link": format!("{BASE}/entry/EntryTwo"), "title": "Second"}));
        assert_eq!((&shown["order"], &shown["tab"]), (&json!(7), &embedded["tab"]));
        assert_eq!(shown["attachment_fields"], embedded["attachment_fields"]);
        assert_eq!(shown["attachment_fields"][0]["value"], "A plan");
        let address = shown["file"]["download"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let download = server.send_anything(server.request("GET", address, &[], None)).await.expect(200);
        assert_eq!((download.header("content-type"), download.body.as_slice()), (Some("text/plain"), &b"a plan"[..]));
        assert_eq!(server.shown_entry("AccountA", "EntryTwo").await["attachments"][0]["token"], json!(token));
    }

    async fn an_attachment_that_is_refused_leaves_nothing(server) {
        more(&server).await;
        let files = server.stored_files("AccountA");
        let right = body("a.txt", b"a", 1);
        let with = |member: &str, value: Value| {
            let mut body = right.clone();
            body[member] = value;
            body
        };
        for (path, body, names) in [
            (PATH, json!({}), vec!["filename", "data", "order"]),
            (PATH, with("order", json!(-1)), vec!["order"]),
            (PATH, with("order", json!("1")), vec!["order"]),
            (PATH, with("colour", json!(1)), vec!["colour"]),
            (PATH, with("data", json!("?")), vec!["data"]),
            (PATH, with("filename", json!("a/b")), vec!["filename"]),
            (PATH, with("filename", json!("a.png")), vec!["data"]),
            (PATH, with("attachment_fields", json!([])), vec!["attachment_fields"]),
            (PATH, with("attachment_fields", json!({"NoSuchFi": 1, "FieldAtt": 1, "FieldTxt": "x", "FieldAtX": 1})),
                vec!["attachment_fields.NoSuchFi", "attachment_fields.FieldAtt", "attachment_fields.FieldTxt",
                    "attachment_fields.FieldAtX"]),
            (PATH, with("attachment_fields", json!({"FieldAtC": "x"})), vec!["attachment_fields.FieldAtC"]),
            ("/entry/EntryTwo/attachment/TabGener", right.clone(), vec!["tab"]),
            ("/entry/EntryTwo/attachment/TabOther", right.clone(), vec!["tab"]),
        ] {
            for format in FORMATS {
                let answer = server.post_with(path, &body.to_string(), &[("accept", format)]).await.expect(422);
                let mut found = error_names(&answer, format).unwrap();
                let mut names = names.clone();
                found.sort();
                names.sort_unstable();
                assert_eq!(found, names, "{body}");
            }
        }
        for path in ["/entry/NoSuchEn/attachment/TabAttac", "/entry/EntryTwo/attachment/NoSuchTa", "/entry/BEntryOn/attachment/BTabGene"] {
            server.post(path, &right.to_string()).await.expect(404);
        }
        for path in ["/entry/short/attachment/TabAttac", "/entry/EntryTwo/attachment/short"] {
            server.post(path, &right.to_string()).await.expect(400);
        }
        let large = body("a.txt", &vec![b'a'; MAXIMUM_UPLOAD + 1], 1);
        server.post(PATH, &large.to_string()).await.expect(413);
        let answer = server.post("/entry/EntryOld/attachment/TabAttac", &right.to_string()).await.expect(422);
        assert_eq!(error_names(&answer, JSON), None, "the season is over");
        server.post_with(PATH, &right.to_string(), &[("if-match", "\"1.1.j\"")]).await.expect(412);
        assert_eq!(server.stored_files("AccountA"), files);
        assert_eq!(server.get("/entry/EntryTwo").await.json()["attachments"], json!([]));
        let left = server.db.first("SELECT count(*) FROM uploads", &[], |row| row.integer(0)).await.unwrap();
        assert_eq!(left, Some(0));
    }
}

both_engines! {
    async fn an_attachment_is_changed_and_its_entry_shows_it(server) {
        more(&server).await;
        let tokens = [attach(&server, &body("a.txt", b"a", 2)).await, attach(&server, &body("b.txt", b"b", 1)).await];
        let order = async || -> Vec<String> {
            let entry = server.get("/entry/EntryTwo").await.expect(200).json();
            entry["attachments"].as_array().unwrap().iter().map(|one| one["token"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(order().await, [tokens[1].clone(), tokens[0].clone()]);
        let path = format!("/attachment/{}", tokens[0]);
        let changed = server.put(&path, r#"{"order":0,"attachment_fields":{"FieldAtt":"First"}}"#).await.expect(200);
        assert_eq!(changed.text(), server.get(&path).await.text());
        assert_eq!(order().await, tokens);
        let moved = server.put(&path, r#"{"tab":"TabAttaX","attachment_fields":{"FieldAtX":12}}"#).await.expect(200).json();
        assert_eq!(moved["tab"]["slug"], "TabAttaX");
        let values: Vec<_> = moved["attachment_fields"].as_array().unwrap().iter().map(|field| &field["value"]).collect();
        assert_eq!(values, ["First", "12"], "the answers of the tab before stay");
        let before = server.get(&path).await;
        let same = server.put(&path, r#"{"tab":"TabAttaX"}"#).await.expect(200);
        assert_eq!(same.text(), before.text());
        assert_eq!(same.header("etag"), before.header("etag"), "what changes nothing is no change");
        for (wrong, names) in [
            (r#"{"token":"x","file":1}"#, vec!["token", "file"]),
            (r#"{"tab":"TabContr","order":1.5}"#, vec!["tab", "order"]),
            (r#"{"attachment_fields":{"FieldAtt":"not on the tab"}}"#, vec!["attachment_fields.FieldAtt"]),
        ] {
            let answer = server.put(&path, wrong).await.expect(422);
            let mut found = error_names(&answer, JSON).unwrap();
            let mut names = names.clone();
            found.sort();
            names.sort_unstable();
            assert_eq!(found, names);
        }
        let tag = before.header("etag").unwrap();
        server.put_with(&path, r#"{"order":5}"#, &[("if-match", tag)]).await.expect(200);
        server.put_with(&path, r#"{"order":6}"#, &[("if-match", tag)]).await.expect(412);
    }

    async fn one_answer_of_an_attachment_is_changed_at_once(server) {
        more(&server).await;
        let path = format!("/attachment/{TOKEN}/update-field/FieldAtt");
        let changes = server.changes("AccountA").await.len();
        let answer = server.put(&path, r#"{"value":"Another","passed":"over"}"#).await.expect(201);
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/attachment/{TOKEN}"));
        assert_eq!(answer.json()["attachment_fields"][0]["value"], "Another");
        assert_eq!(answer.text(), server.get(&format!("/attachment/{TOKEN}")).await.text());
        let logged = [format!("attachment {TOKEN} updated"), "entry EntryOne updated entry_updated".to_owned()];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let entry = server.get("/entry/EntryOne").await.json();
        assert_eq!(entry["attachments"][0]["attachment_fields"][0]["value"], "Another");
        assert_eq!(server.put(&path, r#"{"value":null}"#).await.expect(201).json()["attachment_fields"], json!([]));
        for (field, body, status) in [
            ("FieldAtt", "{}", 422),
            ("FieldAtX", r#"{"value":1}"#, 422),
            ("FieldTxt", r#"{"value":"x"}"#, 422),
            ("NoSuchFi", r#"{"value":"x"}"#, 404),
            ("BFieldTx", r#"{"value":"x"}"#, 404),
            ("short", r#"{"value":"x"}"#, 400),
        ] {
            server.put(&format!("/attachment/{TOKEN}/update-field/{field}"), body).await.expect(status);
        }
        server.put("/attachment/short/update-field/FieldAtt", r#"{"value":"x"}"#).await.expect(400);
        server.put("/attachment/NoSuchAttachment/update-field/FieldAtt", "{}").await.expect(404);
    }

    async fn an_attachment_in_the_trash_is_gone_and_its_file_stays(server) {
        let entry = server.get("/entry/EntryOne").await.json();
        let file = entry["attachments"][0]["file"]["download"].as_str().unwrap().strip_prefix(BASE).unwrap().to_owned();
        server.delete_with(&format!("/attachment/{TOKEN}"), &[("if-match", "\"1.1.j\"")]).await.expect(412);
        server.delete(&format!("/attachment/{TOKEN}")).await.expect(204);
        for (method, path) in [("GET", ""), ("DELETE", ""), ("PUT", ""), ("PUT", "/update-field/FieldAtt")] {
            let body = (method == "PUT").then_some(r#"{"value":1}"#);
            server.send(server.request(method, &format!("/attachment/{TOKEN}{path}"), &[], body)).await.expect(404);
        }
        let entry = server.get("/entry/EntryOne").await.json();
        assert_eq!((&entry["attachments"], &entry["files_count"]), (&json!([]), &json!(1)));
        server.get(&format!("/file/{TOKEN}")).await.expect(200);
        server.send_anything(server.request("GET", &file, &[], None)).await.expect(200);
        assert_eq!(server.get("/attachment").await.json()["total"], 0);
    }

    async fn nothing_is_attached_to_what_cannot_change(server) {
        server.put("/category/CategChi", r#"{"locked":true}"#).await.expect(200);
        for (method, path, body) in [
            ("POST", PATH.to_owned(), Some(body("a.txt", b"a", 1).to_string())),
            ("PUT", format!("/attachment/{TOKEN}"), Some(r#"{"order":9}"#.to_owned())),
            ("PUT", format!("/attachment/{TOKEN}/update-field/FieldAtt"), Some(r#"{"value":"x"}"#.to_owned())),
            ("DELETE", format!("/attachment/{TOKEN}"), None),
        ] {
            let answer = server.send(server.request(method, &path, &[], body.as_deref())).await.expect(422);
            assert_eq!(error_names(&answer, JSON), None, "{method} {path}");
        }
    }
}
