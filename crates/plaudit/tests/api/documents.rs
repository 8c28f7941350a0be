//! `GetDocumentCollectionV23`, `GetDocumentV23` and `DeleteDocumentV23`.

use serde_json::{Value, json};

use crate::access::{Person, prepare, user_of};
use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, Server, tree};

const FILE: &str = "TokenOfTheLogoFileOfAllX";

/// A document that was made at this minute, with members of its own.
fn line(slug: &str, minute: u8, members: &str) -> String {
    let time = format!("2026-02-01T10:{minute:02}:00.000000Z");
    format!(
        r#"{{"kind":"document","slug":"{slug}","file":"{FILE}","created_at":"{time}","updated":"{time}",{members}}}"#
    )
}

async fn documents(server: &Server) {
    let entrant = user_of("entrant");
    let own = format!(
        r#"{{"kind":"entry","slug":"EntryOwn","local_id":70,"title":"Own","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"{entrant}"}}"#
    );
    let lines = [
        own,
        line(
            "DocuShar",
            1,
            &format!(
                r#""name":{{"en_GB":"beta","de_DE":"Urkunde"}},"file_type":"PDF","filename":"b.pdf","entry":"EntryOwn","recipient":"{entrant}","shared_with_user":true"#
            ),
        ),
        line(
            "DocuHidd",
            2,
            &format!(
                r#""name":{{"en_GB":"Alpha"}},"file_type":"Word","filename":"C.docx","entry":"EntryOwn","recipient":"{entrant}""#
            ),
        ),
        line(
            "DocuUser",
            3,
            &format!(
                r#""name":{{"en_GB":"gamma"}},"description":{{"en_GB":"Thanks"}},"file_type":"PDF","filename":"a.pdf","user":"{entrant}","shared_with_user":true"#
            ),
        ),
        line(
            "DocuOthe",
            4,
            r#""name":{"en_GB":"delta"},"file_type":"PDF","filename":"d.pdf","user":"UserOthe","shared_with_user":true"#,
        ),
        line("DocuGone", 5, r#""name":{"en_GB":"epsilon"},"file_type":"PDF","filename":"e.pdf","deleted":true"#),
    ];
    server.import(&of_account_a(&lines.join("\n"))).await;
}

fn slugs(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect()
}

both_engines! {
    async fn a_document_is_shown_with_its_entry_its_user_and_its_file(server) {
        prepare(&server).await;
        documents(&server).await;
        let entrant = user_of("entrant");
        let shown = server.get("/document/DocuShar").await.expect(200).json();
        let download = shown["file"]["download"].as_str().unwrap().to_owned();
        assert_eq!(shown, json!({
            "allocation": null,
            "created_at": "2026-02-01T10:01:00.000000Z",
            "description": {"en_GB": ""},
            "entry": {"slug": "EntryOwn", "link": format!("{BASE}/entry/EntryOwn"), "title": "Own"},
            "file": {"token": FILE, "link": format!("{BASE}/file/{FILE}"), "name": "b.pdf", "download": download},
            "file_type": "PDF",
            "name": {"en_GB": "beta"},
            "shared_with_user": true,
            "slug": "DocuShar",
            "user": null,
        }));
        let shown = server.get("/document/DocuUser").await.expect(200).json();
        assert_eq!((&shown["entry"], &shown["user"]), (&Value::Null,
            &json!({"slug": entrant, "link": format!("{BASE}/user/{entrant}"), "name": "F L"})));
        let [first, second] = FORMATS.map(|format| [("accept", format)]);
        let (first, second) = (server.get_with("/document", &first).await, server.get_with("/document", &second).await);
        tree::assert_same(&first.expect(200).body, &second.expect(200).body);
        for missing in ["DocuGone", "NobodyAA"] {
            server.get(&format!("/document/{missing}")).await.expect(404);
        }
        // What it shows of others is what its entity tag is of.
        let tag = server.get("/document/DocuShar").await.header("etag").unwrap().to_owned();
        server.put("/entry/EntryOwn", r#"{"title":"Renamed"}"#).await.expect(200);
        let again = server.get_with("/document/DocuShar", &[("if-none-match", &tag)]).await.expect(200).json();
        assert_eq!(again["entry"]["title"], "Renamed");
    }

    async fn documents_are_listed_by_every_filter_and_sort(server) {
        prepare(&server).await;
        documents(&server).await;
        let entrant = user_of("entrant");
        for (query, expected) in [
            (String::new(), vec!["DocuOthe", "DocuUser", "DocuHidd", "DocuShar"]),
            (format!("entrant={entrant}"), vec!["DocuUser", "DocuHidd", "DocuShar"]),
            ("deleted=only".to_owned(), vec!["DocuGone"]),
            ("trashed=only".to_owned(), vec!["DocuGone"]),
            ("deleted=included".to_owned(), vec!["DocuGone", "DocuOthe", "DocuUser", "DocuHidd", "DocuShar"]),
            ("order=created_at&dir=asc".to_owned(), vec!["DocuShar", "DocuHidd", "DocuUser", "DocuOthe"]),
            ("order=updated_at&dir=asc".to_owned(), vec!["DocuShar", "DocuHidd", "DocuUser", "DocuOthe"]),
            ("order=file&dir=asc".to_owned(), vec!["DocuUser", "DocuShar", "DocuHidd", "DocuOthe"]),
            ("order=name&dir=asc".to_owned(), vec!["DocuHidd", "DocuShar", "DocuOthe", "DocuUser"]),
            ("order=file_type&dir=desc&per_page=1".to_owned(), vec!["DocuHidd"]),
            ("order=shared_with_user&dir=asc&per_page=1".to_owned(), vec!["DocuHidd"]),
        ] {
            let page = server.get(&format!("/document?{query}")).await.expect(200).json();
            assert_eq!(slugs(&page), expected, "{query}");
        }
        let faults = server.get("/document?entrant=x&order=size&colour=red").await.expect(400);
        assert!(faults.text().contains("entrant"), "{}", faults.text());
    }

    async fn persons_see_the_documents_that_are_theirs(server) {
        prepare(&server).await;
        documents(&server).await;
        let entrant = Person::of(&server, &user_of("entrant")).await;
        assert_eq!(entrant.list("/document").await, ["DocuShar", "DocuUser"]);
        entrant.get("/document/DocuShar").await.expect(200);
        entrant.get(&format!("/file/{FILE}")).await.expect(200);
        for hidden in ["DocuHidd", "DocuOthe"] {
            entrant.get(&format!("/document/{hidden}")).await.expect(404);
        }
        entrant.ask("DELETE", "/document/DocuShar", None, &[]).await.expect(403);
        let manager = Person::of(&server, "UserMana").await;
        let of_chapter = manager.list("/document").await;
        assert!(of_chapter.iter().all(|slug| slug == "DocuShar" || slug == "DocuHidd"), "{of_chapter:?}");
        manager.get("/document/DocuOthe").await.expect(404);
        manager.ask("DELETE", "/document/DocuOthe", None, &[]).await.expect(404);
        let auditor = Person::of(&server, &user_of("auditor")).await;
        assert_eq!(auditor.list("/document").await.len(), 4);
        auditor.ask("DELETE", "/document/DocuOthe", None, &[]).await.expect(403);
        Person::of(&server, &user_of("judge")).await.get("/document").await.expect(403);
    }

    async fn managers_of_chapters_delete_what_they_saw(server) {
        prepare(&server).await;
        documents(&server).await;
        let manager = Person::of(&server, "UserMana").await;
        let tag = manager.get("/document/DocuHidd").await.expect(200).header("etag").unwrap().to_owned();
        server.put("/entry/EntryOwn", r#"{"title":"Renamed"}"#).await.expect(200);
        manager.ask("DELETE", "/document/DocuHidd", None, &[("if-match", &tag)]).await.expect(412);
        let tag = manager.get("/document/DocuHidd").await.expect(200).header("etag").unwrap().to_owned();
        manager.ask("DELETE", "/document/DocuHidd", None, &[("if-match", &tag)]).await.expect(204);
        assert!(manager.list("/document?deleted=only").await.contains(&"DocuHidd".to_owned()));
    }

    async fn a_document_keeps_a_language_that_the_account_has_given_up(server) {
        let french = line("DocuFren", 1, r#""name":{"en_GB":"Certificate","fr_FR":"Certificat"},"file_type":"PDF","filename":"a.pdf","entry":"EntryOne""#);
        server.import(&of_account_a(&french)).await;
        assert_eq!(server.get("/document").await.expect(200).json()["data"][0]["name"], json!({"en_GB": "Certificate"}));
        server.get("/document/DocuFren").await.expect(200);
        let export = server.export("AccountA").await;
        assert!(export.contains("Certificat\""));
        server.import(&export).await;
        assert_eq!(server.export("AccountA").await, export);
        server.delete("/document/DocuFren").await.expect(204);
    }

    async fn a_document_goes_into_the_trash_and_is_told_of(server) {
        prepare(&server).await;
        documents(&server).await;
        let changes = server.changes("AccountA").await.len();
        server.delete("/document/DocuUser").await.expect(204);
        server.delete("/document/DocuUser").await.expect(404);
        assert_eq!(server.changes("AccountA").await[changes..], ["document DocuUser trashed document_deleted"]);
        let page = server.get("/document?trashed=only").await.expect(200).json();
        assert_eq!(slugs(&page), ["DocuGone", "DocuUser"]);
        let entrant = Person::of(&server, &user_of("entrant")).await;
        assert_eq!(entrant.list("/document?deleted=included").await, ["DocuShar"]);
        let export = server.export("AccountA").await;
        server.import(&export).await;
        assert_eq!(server.export("AccountA").await, export);
    }
}
