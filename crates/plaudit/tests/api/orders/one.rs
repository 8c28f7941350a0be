//! `GetOrderV23`, `PutOrderV23`, `DeleteOrderV23`, `GetOrderItemsV23` and `PostOrderPaymentV23`.

use serde_json::{Value, json};

use super::{ITEM_MEMBERS, MEMBERS, keys, names, slugs};
use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::of_account_a;

/// What an order shows of a line as it is billed (contract, section 6).
const BILLED: &str = "address category chapter city company country created_at currency description discount discount_code entry_name \
    entry_slug invoice_number ip_address member_number parent_category payment_method payment_status postcode price region season slug \
    state subtotal tax_term transaction_date transaction_provider transaction_reference transaction_status type user vat_number";

/// An order of 120 EUR for two entries.
const OPEN: &str = r#"{"kind":"order","slug":"OrderOpn","season":"SeasonAc","user":"UserEntr","currency":"EUR","note":"First","items":[{"name":"A","amount":100,"entry":"EntryOne"},{"name":"B","amount":20,"entry":"EntryTwo"}]}"#;

async fn prepared(server: &Server) {
    let lines = format!(
        "{OPEN}\n{}",
        r#"{"kind":"order","slug":"OrderPai","season":"SeasonAc","user":"UserEntr","currency":"EUR","items":[{"name":"C","amount":8}]}
{"kind":"payment","order":"OrderPai","provider":"bank","reference":"1","status":"success","amount":3,"date":"2026-01-05T10:00:00.000000Z"}"#
    );
    server.import(&of_account_a(&lines)).await;
    // The fixture pays for both entries with another order.
    server.put("/order/OrderOne", r#"{"payment_status":"awaiting_payment"}"#).await.expect(200);
}

fn payment(reference: &str, status: &str, amount: f64) -> String {
    json!({"provider": "bank", "reference": reference, "status": status, "amount": amount, "date": "2026-02-01T10:00:00Z"}).to_string()
}

/// The members that an answer finds fault with.
fn faults(answer: &Value) -> Vec<&str> {
    let mut names = keys(&answer["errors"]);
    names.sort_unstable();
    names
}

async fn order(server: &Server) -> Value {
    server.get("/order/OrderOpn").await.expect(200).json()
}

async fn entry_status(server: &Server) -> Value {
    server.get("/entry/EntryOne").await.expect(200).json()["payment_status"].clone()
}

both_engines! {
    async fn an_order_alone_shows_its_payments_as_well(server) {
        prepared(&server).await;
        let order = order(&server).await;
        let mut expected = names(MEMBERS);
        expected.extend(["invoice", "payments", "credits"]);
        assert_eq!(keys(&order), expected);
        assert_eq!(keys(&order["items_array"][0]), names(ITEM_MEMBERS));
        assert_eq!((&order["payments"], &order["credits"]), (&json!([]), &Value::Null));
        let paid = server.get("/order/OrderPai").await.expect(200).json();
        assert_eq!(paid["payments"], json!([{"provider": "bank", "reference": "1", "status": "success", "amount": 3.0,
            "date": "2026-01-05T10:00:00.000000Z"}]));
        for path in ["/order/NobodyAA", "/order/OrderNop"] {
            server.get(path).await.expect(404);
        }
        server.get("/order/short").await.expect(400);
    }

    async fn the_lines_of_an_order_are_read_in_pages(server) {
        prepared(&server).await;
        let page = server.get("/order/OrderOpn/items?per_page=1").await.expect(200).json();
        assert_eq!(keys(&page["data"][0]), names(BILLED));
        assert_eq!((&page["total"], &page["last_page"], &page["data"][0]["description"]), (&json!(2), &json!(2), &json!("")));
        let first = &page["data"][0];
        assert_eq!((&first["entry_slug"], &first["subtotal"], &first["category"]["slug"]), (&json!("EntryOne"), &json!(100.0), &json!("CategChi")));
        assert_eq!(first["parent_category"]["slug"], "CategPar");
        let second = server.get("/order/OrderOpn/items?per_page=1&page=2").await.expect(200).json();
        assert_eq!(second["data"][0]["entry_slug"], "EntryTwo");
        assert_ne!(second["data"][0]["slug"], first["slug"]);
        assert_eq!(server.get("/order/OrderOpn/items?dir=desc").await.json()["data"][1]["entry_slug"], "EntryOne");
        let beyond = server.get("/order/OrderOpn/items?page=9").await.expect(200).json();
        assert_eq!((&beyond["data"], &beyond["from"]), (&json!([]), &Value::Null));
        assert!(server.get("/order/OrderOpn/items?count=none").await.expect(200).json()["total"].is_null());
        let begun = server.get("/order/OrderOpn/items?cursor=&per_page=1").await.expect(200).json();
        assert_eq!((&begun["data"][0]["slug"], &begun["total"]), (&first["slug"], &json!(2)));
        let next = format!("/order/OrderOpn/items?per_page=1&cursor={}", begun["next_cursor"].as_str().unwrap());
        let end = server.get(&next).await.expect(200).json();
        assert_eq!((&end["data"][0]["slug"], &end["next_cursor"]), (&second["data"][0]["slug"], &Value::Null));
        let other = next.replace("OrderOpn", "OrderPai");
        server.get(&other).await.expect(400);
        for wrong in ["page=0", "per_page=101", "status=paid", "cursor=x", "cursor=&page=1"] {
            server.get(&format!("/order/OrderOpn/items?{wrong}")).await.expect(400);
        }
        server.get("/order/NobodyAA/items").await.expect(404);
    }

    async fn an_update_keeps_what_it_leaves_out(server) {
        prepared(&server).await;
        let body = r#"{"company":"Acme","address":"1 Road","city":"Ulm","state":"","postcode":"89073","country":"DE","note":"Second"}"#;
        let changed = server.put("/order/OrderOpn", body).await.expect(200).json();
        assert_eq!((&changed["company"], &changed["country"], &changed["total"]), (&json!("Acme"), &json!("DE"), &json!(120.0)));
        let changed = server.put("/order/OrderOpn", r#"{"city":"Bonn"}"#).await.expect(200).json();
        assert_eq!((&changed["company"], &changed["city"]), (&json!("Acme"), &json!("Bonn")));
        assert!(server.export("AccountA").await.contains(r#""note":"Second""#));
        let same = server.get("/order/OrderOpn").await;
        let tag = same.header("etag").unwrap().to_owned();
        let again = server.put("/order/OrderOpn", r#"{"city":"Bonn"}"#).await.expect(200);
        assert_eq!(again.header("etag"), Some(&*tag));
        let wrong = server.put("/order/OrderOpn", r#"{"company":1,"payment_status":"Paid","total":3,"note":"a"}"#).await.expect(422).json();
        assert_eq!(faults(&wrong), ["company", "payment_status", "total"]);
        server.put("/order/NobodyAA", r#"{"city":"Bonn"}"#).await.expect(404);
    }

    async fn what_a_manager_states_is_a_manual_payment_and_can_be_taken_back(server) {
        prepared(&server).await;
        assert_eq!(entry_status(&server).await, "Unpaid");
        server.post("/order/OrderOpn/payment", &payment("1", "success", 20.0)).await.expect(200);
        let paid = server.put("/order/OrderOpn", r#"{"payment_status":"paid"}"#).await.expect(200).json();
        assert_eq!((&paid["payment_status"], &paid["payments"][1]["provider"], &paid["payments"][1]["amount"]),
            (&json!("paid"), &json!("manual"), &json!(100.0)));
        assert_eq!(entry_status(&server).await, "Paid");
        let again = server.put("/order/OrderOpn", r#"{"payment_status":"paid"}"#).await.expect(200).json();
        assert_eq!(again, paid);
        let back = server.put("/order/OrderOpn", r#"{"payment_status":"awaiting_payment"}"#).await.expect(200).json();
        assert_eq!((&back["payment_status"], &back["payments"][2]["amount"]), (&json!("awaiting_payment"), &json!(-100.0)));
        assert_eq!(entry_status(&server).await, "Unpaid");
        server.post("/order/OrderOpn/payment", &payment("2", "success", 100.0)).await.expect(200);
        assert_eq!(order(&server).await["payment_status"], "paid");
        let refused = server.put("/order/OrderOpn", r#"{"payment_status":"awaiting_payment"}"#).await.expect(422).json();
        assert!(refused["errors"].is_null(), "{refused}");
        let exported = server.export("AccountA").await;
        server.import(&exported).await;
        assert_eq!(server.export("AccountA").await, exported);
    }

    async fn a_payment_is_recorded_once_for_each_provider_and_reference(server) {
        prepared(&server).await;
        let path = "/order/OrderOpn/payment";
        let pending = server.post(path, &payment("1", "pending", 120.0)).await.expect(200).json();
        assert_eq!((&pending["payment_status"], &pending["transaction_status"]), (&json!("awaiting_payment"), &json!("pending")));
        let same = server.post(path, &payment("1", "pending", 120.0)).await.expect(200).json();
        assert_eq!(same, pending);
        let wrong = server.post(path, &payment("1", "success", 119.0)).await.expect(422).json();
        assert_eq!(faults(&wrong), ["amount"]);
        let paid = server.post(path, &payment("1", "success", 120.0)).await.expect(200).json();
        assert_eq!((&paid["payment_status"], &paid["transaction_provider"], &paid["payments"].as_array().unwrap().len()),
            (&json!("paid"), &json!("bank"), &1));
        let wrong = server.post(path, &payment("1", "failed", 120.0)).await.expect(422).json();
        assert_eq!(faults(&wrong), ["reference"]);
        assert_eq!(entry_status(&server).await, "Paid");
        let wrong = server.post(path, r#"{"provider":"manual","reference":"x","status":"success","amount":0.001,"date":"now"}"#).await;
        assert_eq!(faults(&wrong.expect(422).json()), ["amount", "date", "provider"]);
        let wrong = server.post(path, r#"{"provider":"manual","reference":"x","status":"success","amount":-1,"date":"2026-02-01T10:00:00Z"}"#).await;
        assert_eq!(faults(&wrong.expect(422).json()), ["amount", "provider"]);
        assert_eq!(faults(&server.post(path, "{}").await.expect(422).json()), ["amount", "date", "provider", "reference", "status"]);
        server.post("/order/NobodyAA/payment", &payment("1", "success", 1.0)).await.expect(404);
    }

    async fn everything_that_is_wrong_with_a_payment_is_told_at_once(server) {
        prepared(&server).await;
        for (body, members) in [
            (json!({"provider": "manual", "reference": "1", "status": "success", "amount": -1, "date": "soon", "more": 1}),
                vec!["amount", "date", "more", "provider"]),
            (json!({"provider": "bank", "status": "done", "amount": 0}), vec!["amount", "date", "reference", "status"]),
        ] {
            let answer = server.post("/order/OrderOpn/payment", &body.to_string()).await.expect(422).json();
            assert_eq!(faults(&answer), members, "{body}");
        }
    }

    async fn an_order_takes_so_many_payments_and_stays_readable(server) {
        let paid: Vec<Value> = (0..999)
            .map(|at| json!({"provider": "bank", "reference": at.to_string(), "status": "failed", "amount": 1, "date": "2026-01-05T10:00:00Z"}))
            .collect();
        let order = json!({"kind": "order", "slug": "OrderOpn", "season": "SeasonAc", "user": "UserEntr", "currency": "EUR", "total": 5,
            "payments": paid});
        server.import(&of_account_a(&order.to_string())).await;
        server.put("/order/OrderOpn", r#"{"payment_status":"paid"}"#).await.expect(200);
        let refused = server.put("/order/OrderOpn", r#"{"payment_status":"awaiting_payment"}"#).await.expect(422).json();
        assert_eq!(faults(&refused), ["payment_status"]);
        let refused = server.post("/order/OrderOpn/payment", &payment("a", "success", 1.0)).await.expect(422).json();
        assert_eq!(faults(&refused), ["reference"]);
        assert_eq!(self::order(&server).await["payments"].as_array().unwrap().len(), 1000);
    }

    async fn what_a_file_does_not_say_its_payments_tell(server) {
        let order = |slug: &str, more: &str| {
            format!(r#"{{"kind":"order","slug":"{slug}","season":"SeasonAc","user":"UserEntr","currency":"EUR","total":5{more}}}"#)
        };
        let of = |amount: f64| format!(r#","payments":[{}]"#, payment("1", "success", amount));
        let credit = r#","credits":"OrderOne","payment_status":"awaiting_payment""#;
        let lines = [order("OrderFul", &of(5.0)), order("OrderPar", &of(4.0)), order("OrderCre", credit)];
        server.import(&of_account_a(&lines.join("
"))).await;
        for (slug, status) in [("OrderFul", "paid"), ("OrderPar", "awaiting_payment")] {
            assert_eq!(server.get(&format!("/order/{slug}")).await.expect(200).json()["payment_status"], status);
        }
        let credit = server.get("/order/OrderCre").await.expect(200).json();
        assert_eq!(credit["credits"]["slug"], "OrderOne");
        server.put("/order/OrderCre", r#"{"payment_status":"paid"}"#).await.expect(422);
        server.post("/order/OrderCre/payment", &payment("1", "success", 1.0)).await.expect(422);
        server.delete("/order/OrderCre").await.expect(422);
    }

    async fn an_order_goes_into_the_trash_while_nothing_was_paid(server) {
        prepared(&server).await;
        let refused = server.delete("/order/OrderPai").await.expect(422).json();
        assert!(refused["errors"].is_null(), "{refused}");
        server.delete("/order/OrderOpn").await.expect(204);
        server.get("/order/OrderOpn").await.expect(404);
        server.delete("/order/OrderOpn").await.expect(404);
        let trash = server.get("/order?deleted=only&season=all").await.expect(200).json();
        assert_eq!(slugs(&trash), ["OrderOpn", "OrderDel"]);
    }
}
