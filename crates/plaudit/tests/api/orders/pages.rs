//! The envelope of a page.

use std::collections::BTreeSet;

use super::model::{Query, random_orders, start};
use super::*;

/// The parameters of an address.
fn parameters(address: &str) -> BTreeSet<&str> {
    address.split_once('?').map_or_else(BTreeSet::new, |(_, query)| query.split('&').collect())
}

both_engines! {
    async fn the_envelope_tells_the_place_of_the_page(server) {
        let mut server = server;
        let orders = random_orders(60, 9);
        start(&mut server, &orders).await;
        let query = Query { season: "all", deleted: "included", order: "total", dir: "desc", ..Query::default() };
        let kept = "season=all&deleted=included&order=total&dir=desc";
        let address = |page: u64| format!("{BASE}/order?per_page=7&{kept}&page={page}");
        for number in 1..=9_u64 {
            let page = page(&server, &query.path(&format!("per_page=7&page={number}"))).await;
            assert_eq!(keys(&page), names(ENVELOPE));
            let (from, to) = (number * 7 - 6, (number * 7).min(60));
            for (name, value) in [
                ("current_page", number), ("last_page", 9), ("per_page", 7), ("from", from), ("to", to), ("total", 60),
            ] {
                assert_eq!(page[name], value, "{name} of page {number}");
            }
            assert_eq!(page["path"], format!("{BASE}/order"));
            for (name, linked) in [
                ("first_page_url", Some(1)), ("last_page_url", Some(9)),
                ("next_page_url", (number < 9).then_some(number + 1)), ("prev_page_url", number.checked_sub(1).filter(|page| *page > 0)),
            ] {
                let shown = page[name].as_str().unwrap();
                let Some(linked) = linked else { assert_eq!(shown, "", "{name} of page {number}"); continue };
                assert!(shown.starts_with(&format!("{BASE}/order?")), "{shown}");
                assert_eq!(parameters(shown), parameters(&address(linked)), "{name} of page {number}");
            }
        }
    }

    async fn beyond_the_last_page_there_is_nothing_and_the_links_are_relative(server) {
        for number in ["2", "3", "1000000", "9223372036854775807", "18446744073709551615"] {
            let page = page(&server, &format!("/order?page={number}")).await;
            assert_eq!(page["current_page"].to_string(), number);
            assert_eq!((&page["data"], &page["from"], &page["to"]), (&json!([]), &Value::Null, &Value::Null));
            assert_eq!((&page["total"], &page["last_page"]), (&json!(3), &json!(1)));
            assert_eq!(page["first_page_url"], "/order?page=1");
            assert_eq!(page["last_page_url"], "/order?page=1");
            assert_eq!(page["next_page_url"], "");
            assert_eq!(page["path"], format!("{BASE}/order"));
        }
        let page = page(&server, "/order?per_page=2&test=hide&page=5").await;
        assert_eq!(parameters(page["first_page_url"].as_str().unwrap()), parameters("?per_page=2&test=hide&page=1"));
        assert!(page["last_page_url"].as_str().unwrap().starts_with("/order?"));
    }

    async fn an_empty_list_has_one_page(server) {
        let page = page(&server, "/order?season=NoSuchSe").await;
        assert_eq!(keys(&page), names(ENVELOPE));
        for (name, value) in [
            ("current_page", json!(1)), ("data", json!([])), ("last_page", json!(1)), ("next_page_url", json!("")),
            ("prev_page_url", json!("")), ("per_page", json!(10)), ("from", Value::Null), ("to", Value::Null),
            ("total", json!(0)), ("first_page_url", json!(format!("{BASE}/order?season=NoSuchSe&page=1"))),
            ("last_page_url", json!(format!("{BASE}/order?season=NoSuchSe&page=1"))),
        ] {
            assert_eq!(page[name], value, "{name}");
        }
    }

    async fn a_list_without_a_count_tells_no_total(server) {
        let page = page(&server, "/order?count=none&per_page=2").await;
        assert_eq!(slugs(&page), ["OrderTst", "OrderOne"]);
        assert!(page.get("total").is_none() && page.get("last_page").is_none());
        assert_eq!((&page["from"], &page["to"]), (&json!(1), &json!(2)));
        let next = page["next_page_url"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let last = server.get(next).await.expect(200).json();
        assert_eq!(slugs(&last), ["OrderTwo"]);
        assert_eq!(last["next_page_url"], "");
        assert!(last.get("total").is_none());
    }

    async fn a_parameter_in_a_link_is_percent_encoded(server) {
        let page = page(&server, "/order?order=%22%3C%26%C3%A9+x&per_page=1").await;
        let next = page["next_page_url"].as_str().unwrap();
        assert!(next.is_ascii() && !next.contains(['"', '<', ' ']), "{next}");
        assert_eq!(slugs(&server.get(next.strip_prefix(BASE).unwrap()).await.expect(200).json()), ["OrderOne"]);
    }

    async fn a_cursor_belongs_to_its_sort(server) {
        let page = page(&server, "/order?cursor=&per_page=1&order=invoice_number").await;
        let cursor = page["next_cursor"].as_str().unwrap();
        for query in ["", "order=payment_method&", "order=total&dir=desc&", "season=all&order=season&"] {
            let answer = server.get(&format!("/order?{query}per_page=1&cursor={cursor}")).await;
            assert!([200, 400].contains(&answer.status), "{query}: {}", answer.text());
        }
        for index in 0..cursor.len() {
            let mut broken = cursor.to_owned();
            broken.replace_range(index..=index, if &cursor[index..=index] == "A" { "B" } else { "A" });
            let answer = server.get(&format!("/order?order=invoice_number&per_page=1&cursor={broken}")).await;
            assert!([200, 400].contains(&answer.status), "{broken}: {}", answer.text());
        }
    }
}
