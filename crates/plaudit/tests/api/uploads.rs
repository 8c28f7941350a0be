//! `PostCategoryUploadV23` and `PostChapterUploadV23`: images, and what holds of every upload.

use axum::body::{Body, Bytes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plaudit::program::keys::Scope;
use serde_json::{Value, json};

use crate::both_storages;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::{Answer, BASE, JSON, MAXIMUM_BODY, MAXIMUM_UPLOAD, NOW, Server, XML};

const CATEGORY: &str = "/category/CategChi/upload";
const CHAPTER: &str = "/chapter/ChapterN/upload";

/// An image of this width that has so many bytes.
fn png(width: u32, length: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&7_u32.to_be_bytes());
    bytes.resize(length.max(bytes.len()), 0xff);
    bytes
}

fn body(filename: &str, bytes: &[u8]) -> String {
    json!({"filename": filename, "data": STANDARD.encode(bytes)}).to_string()
}

/// A request whose body comes in pieces, at the end of which it breaks off or not.
async fn streamed(server: &Server, path: &str, body: &[u8], breaks_off: bool) -> Answer {
    let mut request = server.request("POST", path, &[("content-type", "application/json")], None);
    let mut pieces: Vec<Result<Bytes, std::io::Error>> =
        body.chunks(1_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    if breaks_off {
        pieces.push(Err(std::io::Error::other("the client is gone")));
    }
    *request.body_mut() = Body::from_stream(futures_util::stream::iter(pieces));
    server.send(request).await
}

async fn images(server: &Server) -> Value {
    server.get("/category/CategChi").await.expect(200).json()["images"].clone()
}

both_storages! {
    async fn an_image_of_a_category_is_shown_and_can_be_downloaded(server) {
        let changes = server.changes("AccountA").await.len();
        let bytes = png(640, 3_000);
        let answer = server.post(CATEGORY, &body("Still Ä.png", &bytes)).await.expect(201);
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        let link = format!("{BASE}/file/{token}");
        assert_eq!(answer.text(), json!({"filename": "Still Ä.png", "token": token, "link": link}).to_string());
        assert_eq!(answer.header("location").unwrap(), link);
        let logged = [format!("file {token} created"), "category CategChi updated".to_owned()];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let category = server.get("/category/CategChi").await.expect(200).json();
        assert_eq!(category["updated"], NOW);
        let image = &category["images"][0];
        assert_eq!((&image["token"], &image["link"], &image["filename"]), (&json!(token), &json!(link), &json!("Still Ä.png")));
        let address = image["download"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let download = server.send_anything(server.request("GET", address, &[], None)).await.expect(200);
        assert_eq!((download.header("content-type"), &download.body), (Some("image/png"), &bytes));
        let xml = server.post_with(CATEGORY, &body("b.png", &png(1, 0)), &[("accept", XML)]).await.expect(201);
        assert!(xml.text().contains("<filename>b.png</filename>"), "{}", xml.text());
        let names: Vec<_> = images(&server).await.as_array().unwrap().iter().map(|image| image["filename"].clone()).collect();
        assert_eq!(names, ["Still Ä.png", "b.png"]);
        let exported = server.put("/category/CategChi", "{}").await.expect(200).json();
        assert_eq!(exported["images"], images(&server).await);
    }

    async fn an_image_of_a_chapter_takes_the_place_of_the_one_before(server) {
        let before = server.put("/chapter/ChapterN", "{}").await.expect(200).json();
        let mut tokens = Vec::new();
        for name in ["a.gif", "b.gif"] {
            let answer = server.post(CHAPTER, &body(name, b"GIF89a\x05\0\x07\0")).await.expect(201);
            tokens.push(answer.json()["token"].as_str().unwrap().to_owned());
        }
        let account = server.account("AccountA").await;
        let sql = "SELECT doc FROM setup_records WHERE account = $1 AND kind = 'chapter' AND slug = 'ChapterN'";
        let doc = server.db.first(sql, &[account.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
        assert!(doc.contains(&tokens[1]) && !doc.contains(&tokens[0]), "{doc}");
        let mut after = server.get("/chapter/ChapterN").await.expect(200).json();
        assert_eq!(after["updated"], NOW);
        after["updated"] = before["updated"].clone();
        assert_eq!(after, before, "the image is not among what is read");
    }

    async fn the_content_tells_the_type_of_an_image(server) {
        for (content, name) in [
            (b"\xff\xd8\xff\xe0\0\x04xx\xff\xc2\0\x11\x08\0\x10\x01\0\x03".as_slice(), "a.exe"),
            (b"GIF89a\x05\0\x07\0", "b"),
            (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0", "c.png"),
        ] {
            server.post(CATEGORY, &body(name, content)).await.expect(201);
        }
        let files = server.stored_files("AccountA");
        for content in [b"<svg/>".as_slice(), b"%PDF-1.7", b"", b"\x89PNG\r\n\x1a\n", b"MZ"] {
            for format in FORMATS {
                let answer = server.post_with(CATEGORY, &body("a.png", content), &[("accept", format)]).await.expect(422);
                assert_eq!(error_names(&answer, format).unwrap(), ["data"]);
            }
        }
        assert_eq!(server.stored_files("AccountA"), files, "nothing is left of what was refused");
    }

    async fn an_image_is_not_wider_than_its_record_says(server) {
        for (record, path) in [("/category/CategChi", CATEGORY), ("/chapter/ChapterN", CHAPTER)] {
            server.put(record, r#"{"max_image_width":640}"#).await.expect(200);
            server.post(path, &body("a.png", &png(641, 0))).await.expect(422);
            server.post(path, &body("a.png", &png(640, 0))).await.expect(201);
            server.put(record, r#"{"max_image_width":10}"#).await.expect(200);
            server.put(record, r#"{"max_image_width":null}"#).await.expect(200);
            server.post(path, &body("a.png", &png(20_000, 0))).await.expect(201);
        }
    }

    async fn everything_that_is_wrong_with_an_upload_is_told(server) {
        let files = server.stored_files("AccountA");
        let good = STANDARD.encode(png(5, 100));
        for (body, names) in [
            (json!({}), vec!["filename", "data"]),
            (json!({"filename": "", "data": "", "order": 1}), vec!["filename", "order", "data"]),
            (json!({"filename": "a.png", "data": null}), vec!["data"]),
            (json!({"filename": "a.png", "data": [good]}), vec!["data"]),
            (json!({"filename": "a.png", "data": format!("{good} ")}), vec!["data"]),
            (json!({"filename": "a.png", "data": good.trim_end_matches('=')}), vec!["data"]),
            (json!({"filename": "a.png", "data": format!("{}\n{}", &good[..8], &good[8..])}), vec!["data"]),
            (json!({"filename": "a.png", "data": "data:image/png;base64,AAAA"}), vec!["data"]),
            (json!({"filename": "../a.png", "data": good}), vec!["filename"]),
            (json!({"filename": "a\\b.png", "data": good}), vec!["filename"]),
            (json!({"filename": "a\u{0}.png", "data": good}), vec!["filename"]),
            (json!({"filename": "x".repeat(256), "data": good}), vec!["filename"]),
            (json!({"filename": 5, "data": good, "Data": good}), vec!["filename", "Data"]),
        ] {
            for path in [CATEGORY, CHAPTER] {
                let answer = server.post(path, &body.to_string()).await;
                assert_eq!(answer.status, 422, "{body}: {}", answer.text());
                let mut found = error_names(&answer, JSON).unwrap();
                let mut names = names.clone();
                found.sort();
                names.sort_unstable();
                assert_eq!(found, names, "{body}");
            }
        }
        assert_eq!(server.stored_files("AccountA"), files);
    }

    async fn an_upload_is_judged_in_the_order_of_every_request(server) {
        let files = server.stored_files("AccountA");
        let right = body("a.png", &png(5, 100));
        let reads = server.new_key("AccountA", Scope::Read).await;
        for format in FORMATS {
            let accept = ("accept", format);
            for (path, text, headers, status) in [
                ("/category/short/upload", right.as_str(), vec![], 400),
                (CATEGORY, right.as_str(), vec![("x-api-key", reads.as_str())], 403),
                ("/category/NoSuchCa/upload", "", vec![], 400),
                ("/category/NoSuchCa/upload", " \n", vec![], 400),
                ("/category/NoSuchCa/upload", right.as_str(), vec![("content-type", "text/plain")], 400),
                ("/category/NoSuchCa/upload", &right[..right.len() - 1], vec![], 400),
                ("/category/NoSuchCa/upload", "[]", vec![], 400),
                ("/category/NoSuchCa/upload", r#"{"data":"AAAA","data":"AAAA"}"#, vec![], 400),
                ("/category/NoSuchCa/upload", r#"{"filename":5}"#, vec![], 404),
                ("/category/BCategor/upload", right.as_str(), vec![], 404),
                ("/chapter/BChapter/upload", right.as_str(), vec![], 404),
                ("/chapter/CategChi/upload", right.as_str(), vec![], 404),
                (CATEGORY, r#"{"filename":5}"#, vec![("if-match", "\"1.1.j\"")], 422),
                (CATEGORY, right.as_str(), vec![("if-match", "\"1.1.j\"")], 412),
            ] {
                let mut headers = headers;
                headers.push(accept);
                let answer = server.post_with(path, text, &headers).await;
                assert_eq!(answer.status, status, "{path} {headers:?}: {}", answer.text());
            }
        }
        server.get(CATEGORY).await.expect(405);
        server.put(CATEGORY, &right).await.expect(405);
        server.post("/entry/EntryOne/upload", &right).await.expect(404);
        assert_eq!(server.stored_files("AccountA"), files);
    }

    async fn a_file_that_is_a_byte_too_large_is_413(server) {
        server.post(CATEGORY, &body("a.png", &png(5, MAXIMUM_UPLOAD))).await.expect(201);
        let files = server.stored_files("AccountA");
        for format in FORMATS {
            let large = body("a.png", &png(5, MAXIMUM_UPLOAD + 1));
            server.post_with(CATEGORY, &large, &[("accept", format)]).await.expect(413);
            let wrong = format!(r#"{{"data":"-{}"}}"#, "A".repeat(2 * MAXIMUM_UPLOAD));
            server.post_with(CATEGORY, &wrong, &[("accept", format)]).await.expect(413);
            let beside = json!({"filename": "x".repeat(MAXIMUM_BODY), "data": ""}).to_string();
            server.post_with(CATEGORY, &beside, &[("accept", format)]).await.expect(413);
        }
        let escaped = body("a.png", &vec![0xff; MAXIMUM_UPLOAD]).replace('/', "\\/");
        server.post(CATEGORY, &escaped).await.expect(422);
        assert_eq!(server.stored_files("AccountA"), files);
    }

    async fn an_upload_comes_in_pieces_and_leaves_nothing_when_it_breaks_off(server) {
        let right = body("a.png", &png(5, 50_000));
        let before = server.stored_files("AccountA");
        let answer = streamed(&server, CATEGORY, &right.as_bytes()[..30_000], true).await.expect(400);
        assert!(answer.text().contains("broke off"), "{}", answer.text());
        streamed(&server, CATEGORY, &right.as_bytes()[..30_000], false).await.expect(400);
        assert_eq!(server.stored_files("AccountA"), before);
        let answer = streamed(&server, CATEGORY, right.as_bytes(), false).await.expect(201);
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        assert_eq!(server.storage.size("AccountA", &token).await.unwrap(), 50_000);
        assert_eq!(server.stored_files("AccountA").len(), before.len() + 1);
    }

    async fn an_upload_with_an_idempotency_key_is_done_once(server) {
        let (right, other) = (body("a.png", &png(5, 50_000)), body("a.png", &png(5, 50_001)));
        let before = server.stored_files("AccountA").len();
        let headers = [("idempotency-key", "upload")];
        let first = server.post_with(CATEGORY, &right, &headers).await.expect(201);
        let second = server.post_with(CATEGORY, &right, &headers).await.expect(201);
        assert_eq!((first.text(), first.header("location")), (second.text(), second.header("location")));
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        let answer = server.post_with(CATEGORY, &other, &headers).await.expect(422);
        assert_eq!(error_names(&answer, JSON), None);
        assert_eq!(server.stored_files("AccountA").len(), before + 1);
        assert_eq!(images(&server).await.as_array().unwrap().len(), 1);
        let large = body("a.png", &png(5, 4 * MAXIMUM_UPLOAD));
        server.post_with(CATEGORY, &large, &[("idempotency-key", "large")]).await.expect(413);
        server.post_with(CATEGORY, "{}", &[("idempotency-key", "wrong")]).await.expect(422);
        assert_eq!(server.stored_files("AccountA").len(), before + 1);
    }

    async fn a_category_has_at_most_a_hundred_images(server) {
        for _ in 0..100 {
            server.post(CATEGORY, &body("a.png", &png(5, 0))).await.expect(201);
        }
        let files = server.stored_files("AccountA");
        let answer = server.post(CATEGORY, &body("a.png", &png(5, 0))).await.expect(422);
        assert_eq!(error_names(&answer, JSON), None, "a state has no errors map");
        assert_eq!(server.stored_files("AccountA"), files);
    }

    async fn an_image_whose_file_gets_another_name_is_shown_with_it(server) {
        let answer = server.post(CATEGORY, &body("a.png", &png(5, 0))).await.expect(201);
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        let tag = server.get("/category/CategChi").await.header("etag").unwrap().to_owned();
        let line = format!(r#"{{"kind":"file","token":"{token}","filename":"new.png"}}"#);
        server.import(&crate::harness::fixture::of_account_a(&line)).await;
        let shown = server.get_with("/category/CategChi", &[("if-none-match", &tag)]).await.expect(200).json();
        assert_eq!(shown["images"][0]["filename"], "new.png");
    }
}
