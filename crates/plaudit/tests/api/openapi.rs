//! `/openapi.json` tells the truth about the queries of lists.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::both_engines;
use crate::harness::Server;
use crate::harness::check::FORMATS;

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

both_engines! {
    async fn a_list_takes_the_parameters_that_the_document_describes_and_no_others(server) {
        let documented = documented(&server).await;
        let all: BTreeSet<String> = documented.iter().flat_map(|(_, names)| names.clone()).collect();
        assert!(all.len() > 30, "{all:?}");
        let lists: Vec<_> = documented.into_iter().filter(|(_, names)| !names.is_empty()).collect();
        assert!(lists.len() >= 14);
        for (path, names) in lists {
            let refused = refused(&server, &path, &all).await;
            assert_eq!(refused, all.difference(&names).cloned().collect(), "{path}");
        }
    }

    async fn what_describes_no_query_parameters_ignores_them(server) {
        for (path, names) in documented(&server).await {
            let request = server.request("GET", &format!("{path}?nonsense=1"), &[], None);
            let status = server.open(request).await.status().as_u16();
            assert_eq!(status, if names.is_empty() { 200 } else { 400 }, "{path}");
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
