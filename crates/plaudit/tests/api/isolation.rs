//! Another account's records, those in the trash and those that never were are told apart by nobody.

use crate::both_engines;
use crate::harness::check::{FORMATS, comparable_headers};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, Server};

/// What an answer tells, with the slug that was asked for blotted out.
fn told(answer: &Answer, slug: &str) -> (u16, Vec<(String, String)>, String) {
    let blot = |text: &str| text.replace(slug, "........");
    let headers = comparable_headers(answer).into_iter();
    // The tag of a list depends on the query, in which the slug stands.
    let headers = headers.filter(|(name, _)| name != "etag").map(|(name, value)| (name, blot(&value))).collect();
    (answer.status, headers, blot(answer.text()))
}

/// Trashed records of the first account.
pub const TRASHED: &str = r#"{"kind":"entry","slug":"EntryDel","local_id":90,"title":"Gone","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr","deleted":true}
{"kind":"user","slug":"UserGone","first_name":"G","last_name":"One","email":"gone@example.org","deleted":true}"#;

async fn trash(server: &Server) {
    server.import(&of_account_a(TRASHED)).await;
    server.delete("/chapter/ChapterS").await.expect(204);
    server.delete("/field/FieldTxt").await.expect(204);
}

async fn are_told_alike(server: &Server, status: u16, ask: impl AsyncFn(&str, &str) -> Answer, slugs: &[&str]) {
    for format in FORMATS {
        let mut answers = Vec::new();
        for slug in slugs {
            answers.push(told(&ask(slug, format).await, slug));
        }
        assert_eq!(answers[0].0, status, "{}", answers[0].2);
        for (answer, slug) in answers.iter().zip(slugs) {
            assert_eq!(answer, &answers[0], "{slug}");
        }
    }
    let changes = server.changes("AccountB").await;
    let is_expected = |change: &String| change.contains(" imported") || change.starts_with("api_key ");
    assert!(changes.iter().all(is_expected), "{changes:?}");
}

both_engines! {
    async fn a_chapter_of_another_account_is_an_unknown_chapter(server) {
        trash(&server).await;
        let slugs = ["NoSuchCh", "BChapter", "ChapterS", "FieldRad", "BFieldTx"];
        for body in ["{}", r#"{"status":"inactive"}"#, r#"{"status":5,"managers":["NoSuchUs"]}"#] {
            are_told_alike(&server, 404, async |slug: &str, format: &str| {
                let headers = [("accept", format), ("if-match", "*")];
                server.put_with(&format!("/chapter/{slug}"), body, &headers).await
            }, &slugs).await;
        }
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.delete_with(&format!("/chapter/{slug}"), &[("accept", format)]).await
        }, &slugs).await;
    }

    async fn a_category_of_another_account_is_an_unknown_category(server) {
        trash(&server).await;
        server.delete("/category/CategPar").await.expect(204);
        let slugs = ["NoSuchCa", "BCategor", "CategPar", "ChapterN"];
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.get_with(&format!("/category/{slug}"), &[("accept", format)]).await
        }, &slugs).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.put_with(&format!("/category/{slug}"), r#"{"divisions":0}"#, &[("accept", format)]).await
        }, &slugs).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.delete_with(&format!("/category/{slug}"), &[("accept", format), ("if-match", "*")]).await
        }, &slugs).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            let body = r#"{"filename":"a.gif","data":"R0lGODlhBQAHAA=="}"#;
            server.post_with(&format!("/category/{slug}/upload"), body, &[("accept", format)]).await
        }, &slugs).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.get_with(&format!("/chapter/{slug}"), &[("accept", format)]).await
        }, &["NoSuchCh", "BChapter", "ChapterS", "CategChi"]).await;
        for member in ["parent", "chapters", "form", "season"] {
            let own = ["CategPar", "ChapterS", "NoSuchFo", "NoSuchSe"];
            let slugs = ["NoSuchSl", "BCategor", "BChapter", "BFormEnt", "BSeasonA"].into_iter().chain(own).collect::<Vec<_>>();
            are_told_alike(&server, 422, async |slug: &str, format: &str| {
                let value = if member == "chapters" { format!(r#"["{slug}"]"#) } else { format!(r#""{slug}""#) };
                let body = format!(r#"{{"status":"active","translated":{{"name":{{"en_GB":"A"}}}},"{member}":{value}}}"#);
                server.post_with("/category", &body, &[("accept", format)]).await
            }, &slugs).await;
        }
        for filter in ["chapter", "form", "parent", "season"] {
            are_told_alike(&server, 200, async |slug: &str, format: &str| {
                server.get_with(&format!("/category?{filter}={slug}&deleted=included"), &[("accept", format)]).await
            }, &["NoSuchSl", "BChapter", "BFormEnt", "BCategor", "BSeasonA"]).await;
        }
    }

    async fn a_field_of_another_account_is_an_unknown_field(server) {
        trash(&server).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.delete_with(&format!("/field/{slug}"), &[("accept", format)]).await
        }, &["NoSuchFi", "BFieldTx", "FieldTxt", "ChapterN"]).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.get_with(&format!("/field/{slug}"), &[("accept", format)]).await
        }, &["NoSuchFi", "BFieldTx", "FieldTxt", "ChapterN"]).await;
        for body in ["{}", r#"{"order":9}"#, r#"{"order":"x","no_such_member":1}"#] {
            are_told_alike(&server, 404, async |slug: &str, format: &str| {
                server.put_with(&format!("/field/{slug}"), body, &[("accept", format)]).await
            }, &["NoSuchFi", "BFieldTx", "FieldTxt", "ChapterN"]).await;
        }
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.post_with(&format!("/field/{slug}/restore"), "", &[("accept", format)]).await
        }, &["NoSuchFi", "BFieldTx", "ChapterN"]).await;
        for filter in ["form", "tab", "category", "conditional", "season"] {
            are_told_alike(&server, 200, async |slug: &str, format: &str| {
                let path = format!("/field?{filter}={slug}&deleted=included");
                server.get_with(&path, &[("accept", format)]).await
            }, &["NoSuchSl", "BFormEnt", "BTabGene", "BCategor", "BFieldTx", "BSeasonA"]).await;
        }
    }

    async fn an_entry_of_another_account_is_an_unknown_entry(server) {
        trash(&server).await;
        for body in [r#"{"chapter":"ChapterN"}"#, r#"{"chapter":"BChapter"}"#, "{}"] {
            are_told_alike(&server, 404, async |slug: &str, format: &str| {
                server.put_with(&format!("/entry/{slug}/update-chapter"), body, &[("accept", format)]).await
            }, &["NoSuchEn", "BEntryOn", "EntryDel", "ChapterN"]).await;
        }
    }

    async fn a_body_that_names_records_of_another_account_names_unknown_ones(server) {
        trash(&server).await;
        are_told_alike(&server, 422, async |slug: &str, format: &str| {
            let body = format!(r#"{{"chapter":"{slug}"}}"#);
            server.put_with("/entry/EntryOne/update-chapter", &body, &[("accept", format)]).await
        }, &["NoSuchCh", "BChapter", "ChapterS"]).await;
        are_told_alike(&server, 422, async |slug: &str, format: &str| {
            let body = format!(r#"{{"managers":["{slug}"]}}"#);
            server.put_with("/chapter/ChapterN", &body, &[("accept", format)]).await
        }, &["NoSuchUs", "BUserEnt", "UserGone"]).await;
        for (member, slugs) in [
            (r#""tab":"SLUG""#, ["NoSuchTb", "BTabGene"]),
            (r#""tab":"TabGener","categories":["SLUG"]"#, ["NoSuchCa", "BCategor"]),
            (r#""tab":"TabGener","conditional":{"field":"SLUG","operator":"answered"}"#, ["FieldTxt", "BFieldTx"]),
        ] {
            are_told_alike(&server, 422, async |slug: &str, format: &str| {
                let title = r#""translated":{"title":{"en_GB":"Why"}}"#;
                let body = format!(r#"{{"type":"text",{title},{}}}"#, member.replace("SLUG", slug));
                server.post_with("/field", &body, &[("accept", format)]).await
            }, &slugs).await;
        }
    }

    async fn an_entry_of_another_account_cannot_be_read_changed_or_named(server) {
        trash(&server).await;
        let slugs = ["NoSuchEn", "BEntryOn", "EntryDel", "ChapterN"];
        for (method, path, body) in [
            ("GET", "/entry/SLUG", None),
            ("PUT", "/entry/SLUG", Some("{}")),
            ("PUT", "/entry/SLUG", Some(r#"{"title":"","status":"invited","no such member":1}"#)),
            ("DELETE", "/entry/SLUG", None),
            ("POST", "/entry/SLUG/copy", None),
            ("PUT", "/entry/SLUG/tag/a", None),
            ("DELETE", "/entry/SLUG/tag/a", None),
            ("PUT", "/entry/SLUG/update-title", Some("{}")),
            ("PUT", "/entry/SLUG/update-category", Some(r#"{"category":"BCategor"}"#)),
            ("PUT", "/entry/SLUG/update-field/FieldRad", Some("{}")),
        ] {
            are_told_alike(&server, 404, async |slug: &str, format: &str| {
                let headers = [("accept", format), ("if-match", "*")];
                server.send(server.request(method, &path.replace("SLUG", slug), &headers, body)).await
            }, &slugs).await;
        }
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            server.post_with(&format!("/entry/{slug}/restore"), "", &[("accept", format)]).await
        }, &["NoSuchEn", "BEntryOn"]).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            let path = format!("/entry/EntryOne/update-field/{slug}");
            server.put_with(&path, r#"{"value":"x"}"#, &[("accept", format)]).await
        }, &["NoSuchFi", "BFieldTx", "FieldTxt"]).await;
    }

    async fn a_filter_of_entries_by_what_is_of_another_account_is_one_by_what_is_unknown(server) {
        trash(&server).await;
        for (filter, slugs) in [
            ("entrant", ["NoSuchUs", "BUserEnt"]),
            ("category", ["NoSuchCa", "BCategor"]),
            ("chapter", ["NoSuchCh", "BChapter"]),
            ("form", ["NoSuchFo", "BFormEnt"]),
            ("season", ["NoSuchSe", "BSeasonA"]),
            ("price", ["NoSuchPr", "BPriceSt"]),
        ] {
            are_told_alike(&server, 200, async |slug: &str, format: &str| {
                let path = format!("/entry?{filter}={slug}&deleted=included&archived=all");
                server.get_with(&path, &[("accept", format)]).await
            }, &slugs).await;
        }
        are_told_alike(&server, 200, async |slug: &str, format: &str| {
            server.get_with(&format!("/entry/summary?season={slug}"), &[("accept", format)]).await
        }, &["NoSuchSe", "BSeasonA"]).await;
    }

    async fn a_list_shows_the_entries_of_its_account_alone(server) {
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        let all = "season=all&deleted=included&archived=all";
        for query in ["", "&order=category", "&title=e", "&tag=red", "&include=entry_fields"] {
            let page = server.get_with(&format!("/entry?{all}{query}"), &[("x-api-key", &key)]).await.expect(200).json();
            let mut slugs = page["data"].as_array().unwrap().iter().map(|entry| &entry["slug"]);
            assert!(slugs.all(|slug| slug == "BEntryOn"), "{query}: {page}");
            let page = server.get(&format!("/entry?{all}{query}")).await.expect(200);
            assert!(!page.text().contains("BEntryOn"), "{query}");
        }
        let page = server.get("/entry?cursor=&per_page=1").await.expect(200).json();
        let path = format!("/entry?per_page=1&cursor={}", page["next_cursor"].as_str().unwrap());
        let answer = server.get_with(&path, &[("x-api-key", &key)]).await;
        assert!(!answer.text().contains("UserEntr") && answer.status < 500, "{}", answer.text());
        let total = server.get_with("/entry/summary?season=all", &[("x-api-key", &key)]).await.expect(200).json();
        assert_eq!(total["total"], 1);
    }

    async fn what_belongs_to_an_entry_of_another_account_is_unknown(server) {
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::ReadWrite).await;
        server.import(crate::harness::fixture::ACCOUNT_B).await;
        let (token, slug) = ("TokenOfTheFirstFileOfAll", "Contribu");
        let foreign = |method: &'static str, path: String, body: Option<&'static str>| {
            let headers = [("x-api-key", key.as_str())];
            server.request(method, &path, &headers, body)
        };
        for (of, name, other) in [
            ("attachment", token, "TokenOfNothingAtAllThere"),
            ("file", token, "TokenOfNothingAtAllThere"),
            ("contributor", slug, "NoSuchCo"),
        ] {
            let there = server.send(foreign("GET", format!("/{of}/{name}"), None)).await;
            let nowhere = server.send(foreign("GET", format!("/{of}/{other}"), None)).await;
            assert_eq!((there.status, told(&there, name)), (404, told(&nowhere, other)));
        }
        for (method, path) in [
            ("PUT", format!("/attachment/{token}")),
            ("PUT", format!("/attachment/{token}/update-field/BFieldTx")),
            ("DELETE", format!("/attachment/{token}")),
            ("PUT", format!("/contributor/{slug}")),
            ("PUT", format!("/contributor/{slug}/update-field/BFieldTx")),
            ("DELETE", format!("/contributor/{slug}")),
            ("POST", "/entry/EntryOne/attachment/BTabGene".to_owned()),
            ("POST", "/entry/EntryOne/upload/BFieldTx".to_owned()),
            ("POST", "/user/UserEntr/upload/BFieldTx".to_owned()),
        ] {
            server.send(foreign(method, path, (method != "DELETE").then_some("{}"))).await.expect(404);
        }
        for list in ["/attachment?season=all", "/contributor?season=all", "/contributor?season=all&entry=EntryOne"] {
            assert_eq!(server.send(foreign("GET", list.to_owned(), None)).await.expect(200).json()["total"], 0);
        }
        trash(&server).await;
        are_told_alike(&server, 422, async |slug: &str, format: &str| {
            let body = format!(r#"{{"entry":"{slug}","tab":"TabContr"}}"#);
            server.post_with("/contributor", &body, &[("accept", format)]).await
        }, &["NoSuchEn", "BEntryOn", "EntryDel"]).await;
        are_told_alike(&server, 422, async |slug: &str, format: &str| {
            let body = format!(r#"{{"entry":"EntryOne","tab":"{slug}"}}"#);
            server.post_with("/contributor", &body, &[("accept", format)]).await
        }, &["NoSuchTa", "BTabGene"]).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            let body = r#"{"filename":"a","data":"","order":1}"#;
            server.post_with(&format!("/entry/EntryOne/attachment/{slug}"), body, &[("accept", format)]).await
        }, &["NoSuchTa", "BTabGene"]).await;
        are_told_alike(&server, 404, async |slug: &str, format: &str| {
            let body = r#"{"filename":"a","data":""}"#;
            server.post_with(&format!("/entry/{slug}/upload/FieldFil"), body, &[("accept", format)]).await
        }, &["NoSuchEn", "BEntryOn", "EntryDel"]).await;
        for filter in ["entry", "tab", "category", "chapter", "season"] {
            are_told_alike(&server, 200, async |slug: &str, format: &str| {
                server.get_with(&format!("/attachment?{filter}={slug}"), &[("accept", format)]).await
            }, &["NoSuchSl", "BEntryOn", "BTabGene", "BCategor", "BChapter", "BSeasonA"]).await;
        }
    }

    async fn what_a_new_entry_names_of_another_account_is_unknown(server) {
        trash(&server).await;
        for (member, slugs) in [
            ("category", &["NoSuchCa", "BCategor"][..]),
            ("entrant", &["NoSuchUs", "BUserEnt", "UserGone"]),
            ("season", &["NoSuchSe", "BSeasonA"]),
            ("chapter", &["NoSuchCh", "BChapter", "ChapterS"]),
            ("form", &["NoSuchFo", "BFormEnt"]),
        ] {
            are_told_alike(&server, 422, async |slug: &str, format: &str| {
                let mut body = serde_json::json!({
                    "category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New"
                });
                body[member] = slug.into();
                server.post_with("/entry", &body.to_string(), &[("accept", format)]).await
            }, slugs).await;
        }
        are_told_alike(&server, 422, async |slug: &str, format: &str| {
            let body = format!(r#"{{"entry_fields":{{"{slug}":"x"}}}}"#);
            server.put_with("/entry/EntryOne", &body, &[("accept", format)]).await
        }, &["NoSuchFi", "BFieldTx", "FieldTxt"]).await;
    }

    async fn a_list_shows_the_orders_of_its_account_alone(server) {
        are_told_alike(&server, 200, async |slug: &str, format: &str| {
            server.get_with(&format!("/order?season={slug}&deleted=included"), &[("accept", format)]).await
        }, &["NoSuchSe", "BSeasonA"]).await;
        let slugs = |answer: Answer| -> Vec<String> {
            let page = answer.expect(200).json();
            page["data"].as_array().unwrap().iter().map(|order| order["slug"].as_str().unwrap().to_owned()).collect()
        };
        let all = "/order?season=all&deleted=included";
        let first = slugs(server.get(all).await);
        assert!(first.len() == 5 && !first.contains(&"BOrderOn".to_owned()), "{first:?}");
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        assert_eq!(slugs(server.get_with(all, &[("x-api-key", &key)]).await), ["BOrderOn"]);
    }

    async fn a_cursor_of_another_account_shows_nothing_of_it(server) {
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        let page = server.get("/order?cursor=&per_page=1").await.expect(200).json();
        let cursor = page["next_cursor"].as_str().unwrap();
        let path = format!("/order?per_page=1&cursor={cursor}");
        let answer = server.get_with(&path, &[("x-api-key", &key)]).await;
        assert!(!answer.text().contains("UserEntr") && answer.status < 500, "{}", answer.text());
    }

    async fn the_same_slug_in_two_accounts_is_two_records(server) {
        let line = |name: &str| {
            format!(r#"{{"kind":"account","slug":"AccountZ","name":"Z","default_language":"en_GB","languages":["en_GB"],"rate_limit":1000}}
{{"kind":"season","slug":"SeasonAc","name":{{"en_GB":"Z"}},"status":"active"}}
{{"kind":"chapter","slug":"ChapterN","season":"SeasonAc","name":{{"en_GB":"{name}"}},"status":"active"}}"#)
        };
        server.import(&line("Of Z")).await;
        let key = server.new_key("AccountZ", plaudit::program::keys::Scope::ReadWrite).await;
        server.put_with("/chapter/ChapterN", r#"{"status":"inactive"}"#, &[("x-api-key", &key)]).await.expect(200);
        let shown = server.put("/chapter/ChapterN", "{}").await.expect(200).json();
        assert_eq!((shown["name"]["en_GB"].as_str(), shown["status"].as_str()), (Some("North"), Some("Active")));
        server.delete("/chapter/ChapterN").await.expect(204);
        let shown = server.put_with("/chapter/ChapterN", "{}", &[("x-api-key", &key)]).await.expect(200).json();
        assert_eq!(shown["name"]["en_GB"], "Of Z");
    }
}
