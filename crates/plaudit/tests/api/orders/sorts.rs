//! Every filter with every sort, against the definition of the list.

use super::model::{Query, SEASONS, random_orders, start};
use super::*;

const ORDERS: [&str; 7] = ["", "created_at", "invoice_number", "payment_method", "payment_status", "season", "total"];

both_engines! {
    async fn every_filter_and_sort_lists_what_it_defines(server) {
        let mut server = server;
        let orders = random_orders(60, 7);
        start(&mut server, &orders).await;
        for season in ["", "all", SEASONS[1].0, SEASONS[0].0] {
            for status in ["", "paid", "awaiting_payment"] {
                for (test, deleted) in
                    ["", "only", "hide"].into_iter().flat_map(|test| ["", "only", "included", "none"].map(|deleted| (test, deleted)))
                {
                    for (order, dir) in ORDERS.into_iter().flat_map(|order| ["asc", "desc"].map(|dir| (order, dir))) {
                        let query = Query { status, test, season, deleted, order, dir };
                        let page = page(&server, &query.path("per_page=100")).await;
                        let expected = query.expected(&orders);
                        assert_eq!(slugs(&page), expected, "{query:?}");
                        assert_eq!(page["total"], expected.len(), "{query:?}");
                    }
                }
            }
        }
    }

    async fn pages_and_cursors_walk_the_whole_list_once(server) {
        let mut server = server;
        let orders = random_orders(60, 8);
        start(&mut server, &orders).await;
        for (order, dir) in ORDERS.into_iter().flat_map(|order| ["", "asc", "desc"].map(|dir| (order, dir))) {
            for (season, deleted) in [("", ""), ("all", "included")] {
                let query = Query { season, deleted, order, dir, ..Query::default() };
                let expected = query.expected(&orders);
                let mut walked = Vec::new();
                let mut next = query.path("per_page=7");
                while !next.is_empty() {
                    let page = page(&server, next.strip_prefix(BASE).unwrap_or(&next)).await;
                    walked.extend(slugs(&page).into_iter().map(str::to_owned));
                    page["next_page_url"].as_str().unwrap().clone_into(&mut next);
                }
                assert_eq!(walked, expected, "{query:?} by page");
                let (mut walked, mut cursor) = (Vec::new(), Some(String::new()));
                while let Some(at) = cursor {
                    let page = page(&server, &query.path(&format!("per_page=7&cursor={at}"))).await;
                    walked.extend(slugs(&page).into_iter().map(str::to_owned));
                    assert_eq!(page["total"], expected.len());
                    cursor = page["next_cursor"].as_str().map(str::to_owned);
                }
                assert_eq!(walked, expected, "{query:?} by cursor");
            }
        }
    }

    async fn invoice_numbers_sort_by_their_value(server) {
        let mut lines = String::new();
        for (index, number) in ["1000", "200", "30", "INV-1"].into_iter().enumerate() {
            let slug = ["OrderNuA", "OrderNuB", "OrderNuC", "OrderNuD"][index];
            lines.push_str(&format!("{{\"kind\":\"order\",\"slug\":\"{slug}\",\"invoice_number\":\"{number}\",\
                \"season\":\"SeasonOl\",\"user\":\"UserEntr\",\"currency\":\"GBP\",\"total\":1.00}}\n"));
        }
        server.import(&of_account_a(lines.trim_end())).await;
        let page = page(&server, "/order?season=SeasonOl&order=invoice_number&dir=asc").await;
        assert_eq!(slugs(&page), ["OrderOld", "OrderNuC", "OrderNuB", "OrderNuA", "OrderNuD"]);
    }

    async fn totals_sort_by_their_amount_whatever_the_currency(server) {
        let sorted = page(&server, "/order?order=total&dir=desc").await;
        assert_eq!(slugs(&sorted), ["OrderTwo", "OrderOne", "OrderTst"]);
    }
}
