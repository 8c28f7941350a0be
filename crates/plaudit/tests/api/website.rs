//! The pages for people: `/` and the reference.

use serde_json::Value;

use crate::both_engines;

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

both_engines! {
    async fn a_browser_meets_a_page_at_the_root_and_a_client_an_answer_of_the_interface(server) {
        let page = server.send_anything(server.request("GET", "/", &[("accept", HTML), ("x-api-key", "")], None)).await.expect(200);
        assert!(page.header("content-type").unwrap().starts_with("text/html"));
        assert!(page.text().contains("In service") && page.text().contains("href=\"docs\""));
        for accept in ["application/vnd.service.v2.3+json", "*/*", ""] {
            let status = if accept.contains("v2.3") { 404 } else { 400 };
            server.send(server.request("GET", "/", &[("accept", accept)], None)).await.expect(status);
        }
        server.send(server.request("POST", "/", &[], None)).await.expect(404);
    }

    async fn every_operation_has_a_page_to_which_the_index_leads(server) {
        let get = async |path: &str| server.send_anything(server.request("GET", path, &[("x-api-key", "")], None)).await;
        let document: Value = serde_json::from_str(get("/openapi.json").await.expect(200).text()).unwrap();
        let index = get("/docs").await.expect(200).text().to_owned();
        let mut pages = 0;
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap();
                assert!(index.contains(&format!("href=\"docs/{id}\"")), "the index does not lead to {id}");
                let page = get(&format!("/docs/{id}")).await.expect(200).text().to_owned();
                for part in ["data-method=\"", "id=\"key\"", path, &method.to_uppercase()] {
                    assert!(page.contains(part), "the page of {id} has no {part}");
                }
                pages += 1;
            }
        }
        assert!(pages > 100);
        let events = get("/docs/events").await.expect(200).text().to_owned();
        for name in document["webhooks"].as_object().unwrap().keys() {
            assert!(events.contains(&format!("id=\"{name}\"")), "{name} is not told");
        }
    }

    async fn an_operation_is_told_with_its_members_its_examples_and_what_it_refuses(server) {
        let page = server.send_anything(server.request("GET", "/docs/PutEntryV23", &[], None)).await.expect(200).text().to_owned();
        for part in [
            "<code>entrant.slug</code>",
            "<code>grant_end_date</code>",
            "string or null",
            "One of <code>undecided</code>",
            "&quot;title&quot;: ",
            "&lt;?xml version",
            "<code>Idempotency-Key</code>",
            ">412</span>",
        ] {
            assert!(page.contains(part), "{part} is not told");
        }
    }

    async fn a_page_loads_nothing_from_elsewhere(server) {
        let get = async |path: &str| server.send_anything(server.request("GET", path, &[], None)).await;
        for path in ["/docs", "/docs/GetEntryV23", "/docs/events"] {
            let page = get(path).await.expect(200);
            assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
            let addresses = page.text().matches("src=\"http").count() + page.text().matches("href=\"http").count();
            assert_eq!(addresses, 0, "{path}");
        }
        for (path, media_type) in [("/docs/website.css", "text/css"), ("/docs/website.js", "text/javascript"), ("/favicon.svg", "image/svg+xml"), ("/favicon.ico", "image/svg+xml")] {
            assert_eq!(get(path).await.expect(200).header("content-type"), Some(media_type));
        }
        let missing = get("/docs/nothing").await.expect(404);
        assert!(missing.text().contains("There is no such page"));
    }
}
