//! `/openapi.json` tells the truth about the queries of lists, and its examples can be sent and are answered.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::described::{DOCUMENT, assert_answer, assert_body};
use crate::harness::fixture::of_account_a;
use crate::harness::{JSON, Server, XML, tree};

/// The paths with GET and without a slug, each with the names of its query parameters.
async fn documented(server: &Server) -> Vec<(String, BTreeSet<String>)> {
    let request = server.request("GET", "/openapi.json", &[("accept", ""), ("x-api-key", "")], None);
    let document = server.send_anything(request).await.expect(200).json();
    let paths = document["paths"].as_object().unwrap().iter();
    let read = paths.filter(|(path, item)| !path.contains('{') && item["get"].is_object());
    let names = |item: &Value| {
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        let of_query = parameters.filter(|parameter| parameter["in"] == "query");
        of_query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    read.map(|(path, item)| (path.clone(), names(item))).collect()
}

/// Those of some parameters that a list does not take.
async fn refused(server: &Server, path: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut refused = BTreeSet::new();
    let names: Vec<String> = names.iter().map(|name| format!("{name}=")).collect();
    // An error repeats at most 32 names.
    for names in names.chunks(32) {
        let error = server.get(&format!("{path}?{}", names.join("&"))).await.expect(400).json();
        let unknown = error["errors"]["invalid_filter_names"].as_str().unwrap_or_default();
        refused.extend(unknown.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
    }
    refused
}

/// Every operation with its path and method.
fn operations() -> impl Iterator<Item = (&'static String, &'static String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
    })
}

fn referred(value: &'static Value) -> &'static Value {
    value["$ref"].as_str().map_or(value, |address| DOCUMENT.pointer(&address[1..]).unwrap())
}

/// The one example of a media type.
fn example(media: &'static Value) -> &'static Value {
    let examples = media["examples"].as_object().unwrap_or_else(|| panic!("no example: {media}"));
    referred(examples.values().next().unwrap())
}

/// The path and the body of an operation, by the example of it, with slugs of the account of the tests.
fn own(operation: &str) -> (&'static String, String) {
    let (path, _, operation) = operations().find(|(.., there)| there["operationId"] == operation).unwrap();
    let body = example(&operation["requestBody"]["content"]["application/json"])["value"].to_string();
    let (tab, field, user) = match path.split('/').nth(1).unwrap() {
        "contributor" => ("TabContr", "FieldCtr", "UserEntr"),
        "user" => ("TabGener", "FieldUsr", "UserEntr"),
        "chapter" => ("TabGener", "FieldTxt", "UserMana"),
        _ => ("TabGener", "FieldTxt", "UserEntr"),
    };
    let own = [
        ("SeasonAA", "SeasonAc"),
        ("ChapterA", "ChapterN"),
        ("Category", "CategPar"),
        ("FormAAAA", "FormEntr"),
        ("EntryAAA", "EntryTwo"),
        ("RoleAAAA", "RoleMana"),
        ("TabAAAAA", tab),
        ("FieldAAA", field),
        ("UserAAAA", user),
    ];
    let body = own.iter().fold(body, |body, (made, own)| body.replace(&format!("\"{made}\""), &format!("\"{own}\"")));
    (path, body)
}

both_engines! {
    async fn every_body_answer_and_error_has_an_example_that_its_schema_takes_in_each_format(_server) {
        for (path, method, operation) in operations() {
            let what = |status: &str| format!("{method} {path} {status}");
            if let Some(body) = operation.get("requestBody") {
                let media = &body["content"]["application/json"];
                assert_body(&media["schema"], &example(media)["value"], &|| what("body"));
            }
            for (status, response) in operation["responses"].as_object().unwrap() {
                for (format, media) in referred(response)["content"].as_object().into_iter().flatten() {
                    let is_stream = format == "text/event-stream" && media["example"].is_string();
                    assert!(is_stream || format == JSON || format == XML, "{}", what(status));
                }
                let content = &referred(response)["content"];
                if content.get(JSON).is_some() {
                    let in_json = &example(&content[JSON])["value"];
                    assert_answer(&content[JSON]["schema"], in_json, &|| what(status));
                    assert_eq!(in_json["errors"].is_object(), status == "422" || status == "400", "{}", what(status));
                    let about = example(&content[XML])["description"].as_str().unwrap();
                    let in_xml = about.strip_prefix("In XML:\n\n```xml\n").unwrap().strip_suffix("\n```").unwrap();
                    tree::assert_same(in_json.to_string().as_bytes(), in_xml.as_bytes());
                }
            }
        }
    }

    async fn the_example_of_a_body_is_taken_with_slugs_of_ones_own(server) {
        server.import(&of_account_a(
            r#"{"kind":"field","slug":"FieldUsr","resource":"users","type":"text","title":{"en_GB":"Motto"}}"#,
        ))
        .await;
        for kind in ["Entry", "Contributor", "User", "Chapter", "Category", "Field", "Webhook"] {
            let (path, body) = own(&format!("Post{kind}V23"));
            let made = server.post(path, &body).await.expect(201).json();
            let (path, body) = own(&format!("Put{kind}V23"));
            server.put(&path.replace("{slug}", made["slug"].as_str().unwrap()), &body).await.expect(200);
        }
    }

    async fn the_examples_of_a_lists_parameters_are_taken_together(server) {
        for (path, _, operation) in operations().filter(|(_, method, _)| *method == "get") {
            let parameters = operation["parameters"].as_array().unwrap();
            let of_query = parameters.iter().filter(|parameter| parameter["in"] == "query" && parameter["name"] != "cursor");
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let query: Vec<_> = of_query.map(|parameter| {
                let example = &parameter["example"];
                let items = example.as_array().map(|items| items.iter().map(text).collect::<Vec<_>>().join(","));
                format!("{}={}", parameter["name"].as_str().unwrap(), items.unwrap_or_else(|| text(example)))
            }).collect();
            if !query.is_empty() && !path.contains('{') {
                // The score set of the example is none of the account.
                let is_of_one = path == "/assignment/progress"
                    || path.starts_with("/leaderboard") && !path.ends_with("/publication");
                let status = if is_of_one { 404 } else { 200 };
                server.get(&format!("{path}?{}", query.join("&").replace(' ', "%20"))).await.expect(status);
            }
        }
    }

    async fn a_list_takes_the_parameters_that_the_document_describes_and_no_others(server) {
        let documented = documented(&server).await;
        let all: BTreeSet<String> = documented.iter().flat_map(|(_, names)| names.clone()).collect();
        assert!(all.len() > 30, "{all:?}");
        let lists: Vec<_> = documented.into_iter().filter(|(_, names)| names.contains("per_page")).collect();
        assert!(lists.len() >= 14);
        for (path, names) in lists {
            let refused = refused(&server, &path, &all).await;
            assert_eq!(refused, all.difference(&names).cloned().collect(), "{path}");
        }
    }

    async fn what_is_no_list_ignores_parameters_that_it_does_not_have(server) {
        for (path, names) in documented(&server).await {
            let request = |query: &str| server.request("GET", &format!("{path}?{query}"), &[], None);
            let status = server.open(request("nonsense=1")).await.status().as_u16();
            if names.contains("per_page") {
                assert_eq!(status, 400, "{path}");
            } else if status != 200 {
                // What it needs is told as it is without them.
                let [with, without] = [server.send_anything(request("nonsense=1")).await, server.send_anything(request("")).await];
                assert_eq!((with.status, with.text()), (without.status, without.text()), "{path}");
            }
        }
    }

    async fn a_query_of_too_many_parameters_is_refused_and_told_the_bound(server) {
        let query = |count: usize| (0..count).map(|number| format!("x{number}=1")).collect::<Vec<_>>().join("&");
        for format in FORMATS {
            let headers = [("accept", format)];
            let answer = server.get_with(&format!("/order?{}", query(257)), &headers).await.expect(400);
            assert!(answer.text().contains("more than 256 parameters"), "{}", answer.text());
            let answer = server.get_with(&format!("/order?{}", query(256)), &headers).await.expect(400);
            assert!(answer.text().contains("x31 and 224 more"), "{}", answer.text());
        }
        let error = server.get(&format!("/order?{}=1", "x".repeat(1000))).await.expect(400).json();
        assert_eq!(error["errors"]["invalid_filter_names"], format!("{}…", "x".repeat(64)));
    }
}
