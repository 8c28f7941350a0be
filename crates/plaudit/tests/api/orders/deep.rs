//! Pages far from the beginning, where known places of the sort order are used, also after these have moved.

use super::model::{Order, Query, import, random_orders, start};
use super::*;
use crate::harness::random::Random;

const QUERIES: [Query; 7] = {
    const ALL: Query = Query { status: "", test: "", season: "all", deleted: "included", order: "", dir: "" };
    const ACTIVE: Query = Query { season: "", deleted: "", ..ALL };
    [
        ACTIVE,
        Query { dir: "asc", ..ALL },
        Query { order: "created_at", ..ALL },
        Query { order: "total", dir: "desc", ..ALL },
        Query { order: "invoice_number", test: "hide", ..ACTIVE },
        Query { order: "payment_status", dir: "desc", ..ALL },
        Query { order: "season", status: "paid", ..ALL },
    ]
};

/// Compares every `step`th page of one order each.
async fn compare(server: &Server, orders: &[Order], step: usize) {
    for query in QUERIES {
        let expected = query.expected(orders);
        assert!(expected.len() > 128, "{query:?}: {}", expected.len());
        for (index, slug) in expected.iter().enumerate().rev().step_by(step) {
            let page = page(server, &query.path(&format!("per_page=1&page={}", index + 1))).await;
            assert_eq!(slugs(&page), [*slug], "{query:?}, page {}", index + 1);
            assert_eq!(page["total"], expected.len(), "{query:?}");
        }
        let beyond = page(server, &query.path(&format!("per_page=1&page={}", expected.len() + 1))).await;
        assert_eq!(slugs(&beyond), Vec::<&str>::new());
    }
}

both_engines! {
    async fn deep_pages_are_those_of_the_definition_also_after_changes(server) {
        let mut server = server;
        let mut orders = random_orders(400, 11);
        start(&mut server, &orders).await;
        compare(&server, &orders, 5).await;
        let mut random = Random(12);
        for round in 0..6 {
            let from = orders.len();
            for number in 0..20 {
                orders.push(Order::random((from + number) as u64, &mut random));
            }
            let mut changed: Vec<Order> = orders[from..].to_vec();
            for _ in 0..25 {
                let index = random.below(from);
                orders[index].change(&mut random);
                changed.push(orders[index].clone());
            }
            // An import names a record once.
            changed.sort_by(|one, other| one.slug.cmp(&other.slug));
            changed.dedup_by(|one, other| one.slug == other.slug);
            for order in &mut changed {
                *order = orders.iter().find(|held| held.slug == order.slug).unwrap().clone();
            }
            import(&server, &changed).await;
            compare(&server, &orders, 23 + round).await;
        }
        let server = server.restart().await;
        compare(&server, &orders, 29).await;
    }

    async fn pages_stay_whole_while_orders_change(server) {
        let mut server = server;
        let orders = random_orders(300, 13);
        start(&mut server, &orders).await;
        let writes = async {
            let mut random = Random(14);
            let mut orders = orders.clone();
            for _ in 0..15 {
                for order in &mut orders[..20] {
                    order.change(&mut random);
                }
                import(&server, &orders[..20]).await;
            }
        };
        let reads = async {
            for number in 0..300_usize {
                let query = QUERIES[number % QUERIES.len()];
                let page = page(&server, &query.path(&format!("per_page=10&page={}", 1 + number % 15))).await;
                let shown = slugs(&page).len() as u64;
                let total = page["total"].as_u64().unwrap();
                let before = 10 * (number as u64 % 15);
                assert_eq!(shown, total.saturating_sub(before).min(10), "{query:?}: the count and the page are of one time");
            }
        };
        futures_util::future::join(writes, reads).await;
    }
}
