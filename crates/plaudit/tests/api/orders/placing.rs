//! `PostOrderQuoteV23`, `PostOrderV23` and `PostOrderRefundV23`, and the orders that entries make.

use serde_json::{Value, json};

use crate::access::{Person, prepare as prepare_people, user_of};
use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::account_a;

/// Prices of the categories: 40 and 70, and 25 for members; entering costs 5 once; a tax of 20 % and one of 19 % on top.
const PRICES: &str = r#"{"kind":"category","slug":"CategDea","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Film"},"status":"active"}
{"kind":"category","slug":"CategFre","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Free"},"status":"active"}
{"kind":"price","slug":"PriceStd","season":"SeasonAc","title":{"en_GB":"Posters"},"categories":["CategPar","CategChi"],"amounts":[{"currency":"EUR","amount":40},{"currency":"GBP","amount":36}]}
{"kind":"price","slug":"PriceMem","season":"SeasonAc","title":{"en_GB":"Posters of members"},"categories":["CategPar","CategChi"],"members":"only","amounts":[{"currency":"EUR","amount":25}]}
{"kind":"price","slug":"PriceDea","season":"SeasonAc","title":{"en_GB":"Film"},"categories":["CategDea"],"amounts":[{"currency":"EUR","amount":70}]}
{"kind":"tax","slug":"TaxVatDE","country":"DE","name":"USt","rate":19,"term":"USt"}
{"kind":"discount","slug":"DiscHalf","season":"SeasonAc","code":"HALF","percent":50,"limit_per_user":1}
{"kind":"discount","slug":"DiscAlls","season":"SeasonAc","code":"ALL","percent":100}
{"kind":"user","slug":"UserNewA","first_name":"Nia","last_name":"New","email":"nia@example.org"}
{"kind":"user","slug":"UserMemb","first_name":"Mo","last_name":"Member","email":"mo@example.org","member_number":"M 7","tax_exempt":true}
{"kind":"entry","slug":"EntryNia","local_id":20,"title":"<b>Nia</b>","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserNewA","entry_fields":{"FieldTxt":"x","FieldRad":"yes"},"custom_deadline":"2030-01-01 00:00"}
{"kind":"entry","slug":"EntryNib","local_id":21,"title":"Nia again","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserNewA","entry_fields":{"FieldTxt":"x","FieldRad":"yes"},"custom_deadline":"2030-01-01 00:00"}
{"kind":"entry","slug":"EntryMem","local_id":22,"title":"Mo","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserMemb","entry_fields":{"FieldTxt":"x","FieldRad":"yes"},"custom_deadline":"2030-01-01 00:00"}"#;

async fn prepared(server: &Server) {
    let seller = r#","features":["api"],"rate_limit":1000000,"currency":"EUR","seller":{"name":"Plaudit Awards","address":"1 Road\nUlm","vat_number":"DE123456789"},"processing_fee":{"rate":2.5,"fixed":1}"#;
    server.import(&format!("{}\n{PRICES}", account_a(seller))).await;
}

/// The members that an answer finds fault with.
fn faults(answer: &Value) -> Vec<&str> {
    let mut names = super::keys(&answer["errors"]);
    names.sort_unstable();
    names
}

async fn entry(server: &Server, slug: &str) -> Value {
    server.get(&format!("/entry/{slug}")).await.expect(200).json()
}

/// The orders of all kinds, each as its number, total, and payment status, by number.
async fn orders(server: &Server, query: &str) -> Vec<(String, f64, String)> {
    let page =
        server.get(&format!("/order?order=invoice_number&season=all&per_page=100{query}")).await.expect(200).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |order: &Value| {
        (text(&order["invoice_number"]), order["total"].as_f64().unwrap(), text(&order["payment_status"]))
    };
    page["data"].as_array().unwrap().iter().map(of).collect()
}

/// The order of a number.
async fn order_of(server: &Server, number: &str) -> Value {
    let page = server.get("/order?season=all&per_page=100&deleted=included").await.expect(200).json();
    let slug = page["data"].as_array().unwrap().iter().find(|order| order["invoice_number"] == number);
    let slug = slug.unwrap_or_else(|| panic!("{number}: {page}"))["slug"].as_str().unwrap().to_owned();
    server.get(&format!("/order/{slug}")).await.expect(200).json()
}

/// The numbers of the orders that the fixture has.
const BEFORE: usize = 4;

both_engines! {
    async fn a_quote_tells_the_whole_calculation_and_makes_nothing(server) {
        prepared(&server).await;
        let before = server.changes("AccountA").await;
        let body = r#"{"entries":["EntryNia","EntryNib"],"discount_code":"half","country":"DE"}"#;
        let quote = server.post("/order/quote", body).await.expect(200).json();
        // 2 x 40 less half, 2.5 % and 1 EUR as the fee, and 19 % of both on each line: 20.00 + 1.00, and 3.99.
        let sums = ["subtotal", "discounts", "processing_fee", "tax", "total"].map(|name| quote[name].clone());
        assert_eq!(sums, [80.0, 40.0, 2.0, 7.98, 49.98].map(Value::from));
        assert_eq!(quote["formatted"]["total"], "€49.98");
        let line = &quote["items"][0];
        assert_eq!((&line["entry"]["slug"], &line["price"]["slug"], &line["amount"]), (&json!("EntryNia"), &json!("PriceStd"), &json!(40.0)));
        assert_eq!((&line["total"], &line["formatted"]["tax"], &line["name"]), (&json!(24.99), &json!("€3.99"), &json!("<b>Nia</b>")));
        let tax = &quote["taxes"][0];
        assert_eq!((&tax["term"], &tax["rate"], &tax["base"], &tax["amount"], &tax["reverse_charge"]),
            (&json!("USt"), &json!(19), &json!(42.0), &json!(7.98), &json!(false)));
        assert_eq!(server.changes("AccountA").await, before);
        // Who names no country is taxed as one of the seller's country; who is exempt is not; members have prices of their own.
        let at_home = server.post("/order/quote", r#"{"entries":["EntryNia"]}"#).await.expect(200).json();
        assert_eq!(at_home["total"], 49.98);
        let member = server.post("/order/quote", r#"{"entries":["EntryMem"],"country":"DE"}"#).await.expect(200).json();
        assert_eq!((&member["subtotal"], &member["tax"]), (&json!(25.0), &json!(0.0)));
        for (wrong, members) in [
            ("{}", vec!["entries"]),
            (r#"{"entries":[]}"#, vec!["entries"]),
            (r#"{"entries":["NobodyAA"],"color":1,"country":"Ulm"}"#, vec!["color", "country", "entries"]),
            (r#"{"entries":["NobodyAA"]}"#, vec!["entries"]),
            (r#"{"entries":["EntryNia","EntryMem"]}"#, vec!["entries"]),
            (r#"{"entries":["EntryNia"],"discount_code":"NONE"}"#, vec!["discount_code"]),
            (r#"{"entries":["EntryNia"],"currency":"USD"}"#, vec!["currency"]),
        ] {
            assert_eq!(faults(&server.post("/order/quote", wrong).await.expect(422).json()), members, "{wrong}");
        }
    }

    async fn an_order_has_the_next_number_of_its_series(server) {
        prepared(&server).await;
        let made = server.post("/order", r#"{"entries":["EntryNia"],"company":"Acme","country":"GB","vat_number":"GB 1"}"#).await.expect(201);
        let order = made.json();
        assert_eq!(made.header("location").unwrap().rsplit('/').next(), order["slug"].as_str());
        assert_eq!((&order["invoice_number"], &order["currency"], &order["company"], &order["user"]["slug"]),
            (&json!("6"), &json!("EUR"), &json!("Acme"), &json!("UserNewA")));
        assert_eq!(server.get(&format!("/order/{}", order["slug"].as_str().unwrap())).await.expect(200).json(), order);
        assert!(order["items"].as_str().unwrap().contains("&lt;b&gt;Nia&lt;/b&gt; (EUR 40.00)"), "{order}");
        let again = server.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(422).json();
        assert_eq!(faults(&again), ["entries"]);
        let test = server.post("/order", r#"{"entries":["EntryNia"],"test":true}"#).await.expect(201).json();
        assert_eq!(test["invoice_number"], "TEST-1");
        let credit = server.post(&format!("/order/{}/refund", order["slug"].as_str().unwrap()), r#"{"amount":0.01,"reason":"A"}"#).await;
        assert_eq!(credit.expect(201).json()["invoice_number"], "CN-1");
        let other = server.post("/order", r#"{"entries":["EntryNib"]}"#).await.expect(201).json();
        assert_eq!(other["invoice_number"], "7");
        let sorted: Vec<String> = orders(&server, "").await.into_iter().map(|(number, ..)| number).collect();
        assert_eq!(sorted, ["1", "2", "3", "5", "6", "7", "CN-1", "TEST-1"]);
    }

    async fn everything_that_is_wrong_with_an_order_is_told_at_once(server) {
        prepared(&server).await;
        server.post("/order", r#"{"entries":["EntryNib"]}"#).await.expect(201);
        for (body, members) in [
            (json!({"entries": ["NobodyAA", "bad"], "more": 1}), vec!["entries", "more"]),
            (json!({"entries": ["EntryNia"], "discount_code": "NOPE", "more": 1}), vec!["discount_code", "more"]),
            (json!({"entries": ["EntryNia", "EntryMem"], "more": 1}), vec!["entries", "more"]),
            (json!({"entries": ["EntryNia", "NobodyAA"], "discount_code": "NOPE"}), vec!["discount_code", "entries"]),
        ] {
            for path in ["/order", "/order/quote"] {
                let answer = server.post(path, &body.to_string()).await.expect(422).json();
                assert_eq!(faults(&answer), members, "{path} {body}");
            }
        }
        let body = json!({"entries": ["EntryNib"], "discount_code": "NOPE", "more": 1});
        let answer = server.post("/order", &body.to_string()).await.expect(422).json();
        assert_eq!(faults(&answer), ["discount_code", "entries", "more"], "one live order");
    }

    async fn a_discount_is_used_as_often_as_it_can_be(server) {
        prepared(&server).await;
        server.post("/order", r#"{"entries":["EntryNia"],"discount_code":"HALF"}"#).await.expect(201);
        let again = server.post("/order", r#"{"entries":["EntryNib"],"discount_code":"half"}"#).await.expect(422).json();
        assert_eq!(faults(&again), ["discount_code"]);
        let of_another = server.post("/order", r#"{"entries":["EntryMem"],"discount_code":"half"}"#).await.expect(201).json();
        assert_eq!(of_another["discount"], 12.5);
        // An order of nothing is paid at once.
        let free = server.post("/order", r#"{"entries":["EntryNib"],"discount_code":"ALL"}"#).await.expect(201).json();
        assert_eq!((&free["total"], &free["payment_status"]), (&json!(0.0), &json!("paid")));
        assert_eq!(entry(&server, "EntryNib").await["payment_status"], "Paid");
    }

    async fn submitting_an_entry_makes_an_order_once(server) {
        prepared(&server).await;
        let submitted = server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200).json();
        assert_eq!(submitted["payment_status"], "Unpaid");
        assert_eq!(orders(&server, "").await[BEFORE..], [("6".to_owned(), 49.98, "awaiting_payment".to_owned())]);
        // A resubmission makes no second one.
        server.put("/entry/EntryNia", r#"{"status":"resubmission_required"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"resubmitted"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 1);
        let order = order_of(&server, "6").await;
        assert_eq!(order["items_array"][0]["entry"]["title"], "<b>Nia</b>");
        server.put(&format!("/order/{}", order["slug"].as_str().unwrap()), r#"{"payment_status":"paid"}"#).await.expect(200);
        assert_eq!(entry(&server, "EntryNia").await["payment_status"], "Paid");
        // A category without a price: nothing is due.
        let body = r#"{"title":"Free","category":"CategFre","entrant":"UserNewA","season":"SeasonAc","status":"submitted","entry_fields":{"FieldTxt":"x","FieldRad":"yes"},"custom_deadline":"2030-01-01 00:00"}"#;
        assert_eq!(server.post("/entry", body).await.expect(201).json()["payment_status"], "Paid");
        let body = body.replace("CategFre", "CategDea");
        let dear = server.post("/entry", &body).await.expect(201).json();
        assert_eq!(dear["payment_status"], "Unpaid");
        let order = order_of(&server, "7").await;
        assert_eq!((&order["subtotal"], &order["items_array"][0]["entry"]["slug"]), (&json!(70.0), &dear["slug"]));
        let unpayable = server.put("/entry/EntryMem", r#"{"category":"CategDea","status":"submitted"}"#).await.expect(200).json();
        assert_eq!(unpayable["payment_status"], "Unpaid");
    }

    async fn withdrawing_an_entry_puts_its_unpaid_order_into_the_trash(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE);
        assert_eq!(orders(&server, "&deleted=only").await.iter().filter(|(number, ..)| number == "6").count(), 1);
        // Its number stays.
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await[BEFORE].0, "7");
        server.delete("/entry/EntryNia").await.expect(204);
        assert_eq!(orders(&server, "").await.len(), BEFORE);
        server.post("/entry/EntryNia/restore", "").await.expect(204);
        assert_eq!(orders(&server, "").await[BEFORE].0, "8");
        // What was paid stays.
        let order = order_of(&server, "8").await;
        server.put(&format!("/order/{}", order["slug"].as_str().unwrap()), r#"{"payment_status":"paid"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        assert_eq!(entry(&server, "EntryNia").await["payment_status"], "Paid");
        assert_eq!(orders(&server, "").await.len(), BEFORE + 1);
    }

    async fn withdrawing_one_of_several_entries_credits_its_lines(server) {
        prepared(&server).await;
        let order = server.post("/order", r#"{"entries":["EntryNia","EntryNib"],"country":"FR"}"#).await.expect(201).json();
        assert_eq!(order["total"], 83.0);
        let path = format!("/order/{}", order["slug"].as_str().unwrap());
        for entry in ["EntryNia", "EntryNib"] {
            server.put(&format!("/entry/{entry}"), r#"{"status":"submitted"}"#).await.expect(200);
        }
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        let note = order_of(&server, "CN-1").await;
        assert_eq!((&note["total"], &note["credits"]["slug"]), (&json!(-41.5), &order["slug"]));
        assert_eq!(note["comments"], "The entry was withdrawn.");
        // The rest pays for the other one.
        let body = r#"{"provider":"bank","reference":"1","status":"success","amount":41.5,"date":"2026-02-01T10:00:00Z"}"#;
        assert_eq!(server.post(&format!("{path}/payment"), body).await.expect(200).json()["payment_status"], "paid");
        assert_eq!((entry(&server, "EntryNia").await["payment_status"].clone(), entry(&server, "EntryNib").await["payment_status"].clone()),
            (json!("Unpaid"), json!("Paid")));
        server.delete(&path).await.expect(422);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        assert_eq!(order_of(&server, "7").await["subtotal"], 40.0);
    }

    async fn moving_an_entry_orders_or_credits_the_difference(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        let first = order_of(&server, "6").await;
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let more = order_of(&server, "7").await;
        // 70 - 40, and 2.5 % and 19 % of that; the fixed fee is not charged again.
        assert_eq!((&more["subtotal"], &more["processing_fee"], &more["tax"], &more["total"]),
            (&json!(30.0), &json!(0.75), &json!(5.84), &json!(36.59)));
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
        let less = order_of(&server, "CN-1").await;
        assert_eq!((&less["total"], &less["credits"]["slug"]), (&json!(-36.59), &more["slug"]));
        server.put("/entry/EntryNia", r#"{"category":"CategFre"}"#).await.expect(200);
        let nothing = order_of(&server, "CN-2").await;
        assert_eq!(nothing["credits"]["slug"], first["slug"]);
        assert_eq!(nothing["total"], -48.79);
        server.put("/entry/EntryNia", r#"{"title":"Other"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 4);
        // What was ordered before it is submitted is not cheaper for that, and an order shows the new title of what moves.
        server.post("/order", r#"{"entries":["EntryNib"]}"#).await.expect(201);
        server.put("/entry/EntryNib", r#"{"category":"CategDea","title":"Moved","status":"submitted"}"#).await.expect(200);
        assert_eq!(order_of(&server, "9").await["subtotal"], 30.0);
        assert_eq!(order_of(&server, "8").await["items_array"][0]["entry"]["title"], "Moved");
    }

    async fn moving_back_from_a_place_without_a_price_is_billed_again(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        let first = order_of(&server, "6").await;
        for (category, number, total) in [("CategFre", "CN-1", -48.79), ("CategPar", "7", 48.79), ("CategFre", "CN-2", -48.79), ("CategChi", "8", 48.79)] {
            server.put("/entry/EntryNia", &json!({"category": category}).to_string()).await.expect(200);
            assert_eq!(order_of(&server, number).await["total"], total, "{category}");
        }
        // The fixed fee of the first order pays for that alone.
        let body = json!({"provider": "bank", "reference": "1", "status": "success", "amount": 1.19, "date": "2026-02-01T10:00:00Z"});
        server.post(&format!("/order/{}/payment", first["slug"].as_str().unwrap()), &body.to_string()).await.expect(200);
        let unpaid = server.get("/order?status=awaiting_payment&season=all").await.json();
        assert!(unpaid["data"].as_array().unwrap().iter().any(|order| order["invoice_number"] == "8"));
    }

    async fn an_entry_is_not_moved_to_where_its_order_cannot_be_paid(server) {
        prepared(&server).await;
        server.post("/order", r#"{"entries":["EntryNia"],"currency":"GBP"}"#).await.expect(201);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        let refused = server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(422);
        assert!(refused.text().contains("PriceDea cannot be paid in GBP"), "{}", refused.text());
        assert_eq!(entry(&server, "EntryNia").await["category"]["slug"], "CategChi");
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
    }

    async fn the_price_of_a_tag_keeps_no_entry_from_moving(server) {
        prepared(&server).await;
        let more = r#"{"kind":"category","slug":"CategMid","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Radio"},"status":"active"}
{"kind":"price","slug":"PriceMid","season":"SeasonAc","title":{"en_GB":"Radio"},"categories":["CategMid"],"amounts":[{"currency":"GBP","amount":50}]}
{"kind":"price","slug":"PriceTag","season":"SeasonAc","title":{"en_GB":"Late"},"type":"tag","tag":"late","amounts":[{"currency":"EUR","amount":5}]}"#;
        let account = account_a(r#","features":["api"],"rate_limit":1000000,"currency":"EUR""#);
        server.post("/order", r#"{"entries":["EntryNia"],"currency":"GBP"}"#).await.expect(201);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        server.import(&format!("{account}\n{more}")).await;
        server.put("/entry/EntryNia/tag/late", "").await.expect(201);
        server.put("/entry/EntryNia", r#"{"category":"CategMid"}"#).await.expect(200);
        assert_eq!(order_of(&server, "7").await["subtotal"], 14.0);
    }

    async fn a_difference_that_is_given_up_is_not_credited(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let more = order_of(&server, "7").await;
        server.delete(&format!("/order/{}", more["slug"].as_str().unwrap())).await.expect(204);
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 1, "nothing is due, and nothing is given back");
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let more = order_of(&server, "8").await;
        assert_eq!(more["subtotal"], 30.0);
        let refund = json!({"amount": more["total"], "reason": "A gift"}).to_string();
        server.post(&format!("/order/{}/refund", more["slug"].as_str().unwrap()), &refund).await.expect(201);
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 3);
        // From 70 to 55 a part of the difference is credited, and from there to 40 what is left of it.
        let between = r#"{"kind":"category","slug":"CategMid","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Radio"},"status":"active"}
{"kind":"price","slug":"PriceMid","season":"SeasonAc","title":{"en_GB":"Radio"},"categories":["CategMid"],"amounts":[{"currency":"EUR","amount":55}]}"#;
        let seller = r#","features":["api"],"rate_limit":1000000,"currency":"EUR","processing_fee":{"rate":2.5,"fixed":1}"#;
        server.import(&format!("{}\n{between}", account_a(seller))).await;
        let mut credited = Vec::new();
        for (category, note) in [("CategDea", None), ("CategMid", Some("CN-2")), ("CategPar", Some("CN-3")), ("CategMid", None), ("CategPar", Some("CN-4"))] {
            server.put("/entry/EntryNia", &json!({"category": category}).to_string()).await.expect(200);
            if let Some(note) = note {
                credited.push(order_of(&server, note).await["subtotal"].clone());
            }
        }
        assert_eq!(credited, [-15.0, -15.0, -15.0].map(Value::from));
    }

    async fn a_gift_on_a_difference_goes_with_it(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let refund = |order: Value| {
            let path = format!("/order/{}/refund", order["slug"].as_str().unwrap());
            let server = &server;
            async move { server.post(&path, r#"{"amount":10,"reason":"A gift"}"#).await.expect(201) }
        };
        refund(order_of(&server, "7").await).await;
        refund(order_of(&server, "6").await).await;
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
        // 36.59 less the gift of 10; the first order, and the gift on it, stay.
        assert_eq!((order_of(&server, "CN-3").await["total"].clone(), orders(&server, "").await.len()), (json!(-26.59), BEFORE + 5));
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        assert_eq!(order_of(&server, "8").await["total"], 36.59);
        server.put("/entry/EntryNia", r#"{"category":"CategFre"}"#).await.expect(200);
        assert_eq!((order_of(&server, "CN-4").await["total"].clone(), order_of(&server, "CN-5").await["total"].clone()),
            (json!(-36.59), json!(-39.98)), "what is left of the first order");
    }

    async fn a_gift_that_leaves_nothing_of_a_difference_ends_it(server) {
        prepared(&server).await;
        let between = r#"{"kind":"category","slug":"CategMid","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Radio"},"status":"active"}
{"kind":"price","slug":"PriceMid","season":"SeasonAc","title":{"en_GB":"Radio"},"categories":["CategMid"],"amounts":[{"currency":"EUR","amount":55}]}"#;
        let account = account_a(r#","features":["api"],"rate_limit":1000000,"currency":"EUR""#);
        server.import(&format!("{account}\n{between}")).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let more = order_of(&server, "7").await["slug"].as_str().unwrap().to_owned();
        server.post(&format!("/order/{more}/refund"), r#"{"amount":25,"reason":"A gift"}"#).await.expect(201);
        server.put("/entry/EntryNia", r#"{"category":"CategMid"}"#).await.expect(200);
        let rest = order_of(&server, "CN-2").await;
        assert_eq!(rest["credits"]["slug"], more);
        // The first order stands for 40 as before.
        let before = orders(&server, "").await.len();
        server.put("/entry/EntryNia", r#"{"category":"CategPar"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), before);
        server.put("/entry/EntryNia", r#"{"category":"CategMid"}"#).await.expect(200);
        assert_eq!(order_of(&server, "8").await["subtotal"], 15.0);
    }

    async fn handing_in_again_bills_the_difference_that_went_into_the_trash(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        let first = order_of(&server, "6").await["slug"].as_str().unwrap().to_owned();
        server.put(&format!("/order/{first}"), r#"{"payment_status":"paid"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 2);
        for number in ["8", "9"] {
            server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
            assert_eq!(orders(&server, "").await.len(), BEFORE + 1);
            server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
            assert_eq!(order_of(&server, number).await["subtotal"], 30.0);
        }
        let last = order_of(&server, "9").await["slug"].as_str().unwrap().to_owned();
        server.put(&format!("/order/{last}"), r#"{"payment_status":"paid"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), BEFORE + 2, "what was billed is not billed again");
        // Nor is what was paid and given back.
        server.post(&format!("/order/{last}/refund"), r#"{"amount":36.59,"reason":"A gift"}"#).await.expect(201);
        let with_the_gift = orders(&server, "").await.len();
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        assert_eq!(orders(&server, "").await.len(), with_the_gift);
    }

    async fn a_difference_of_which_a_part_was_credited_is_billed_again_too(server) {
        prepared(&server).await;
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        let first = order_of(&server, "6").await["slug"].as_str().unwrap().to_owned();
        server.put(&format!("/order/{first}"), r#"{"payment_status":"paid"}"#).await.expect(200);
        server.put("/entry/EntryNia", r#"{"category":"CategDea"}"#).await.expect(200);
        let more = order_of(&server, "7").await["slug"].as_str().unwrap().to_owned();
        server.post(&format!("/order/{more}/refund"), r#"{"amount":6.59,"reason":"A gift"}"#).await.expect(201);
        server.put("/entry/EntryNia", r#"{"status":"in_progress"}"#).await.expect(200);
        assert_eq!(order_of(&server, "CN-2").await["total"], -30.0);
        server.put("/entry/EntryNia", r#"{"status":"submitted"}"#).await.expect(200);
        assert_eq!(order_of(&server, "8").await["total"], 36.59);
    }

    async fn the_fee_for_entering_is_charged_again_once_it_was_credited(server) {
        prepared(&server).await;
        let fee = r#"{"kind":"price","slug":"PriceFee","season":"SeasonAc","type":"entrant","title":{"en_GB":"Entering"},"amounts":[{"currency":"EUR","amount":5}]}"#;
        let seller = r#","features":["api"],"rate_limit":1000000,"currency":"EUR""#;
        server.import(&format!("{}\n{fee}", account_a(seller))).await;
        let first = server.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(201).json();
        assert_eq!(first["subtotal"], 45.0);
        let second = async || server.post("/order/quote", r#"{"entries":["EntryNib"]}"#).await.expect(200).json()["subtotal"].clone();
        assert_eq!(second().await, 40.0);
        let path = format!("/order/{}", first["slug"].as_str().unwrap());
        let lines = server.get(&format!("{path}/items")).await.expect(200).json();
        let line = lines["data"].as_array().unwrap().iter().find(|line| line["type"] == "Entrant").unwrap();
        server.post(&format!("{path}/refund"), &json!({"items": [line["slug"]], "reason": "A"}).to_string()).await.expect(201);
        assert_eq!(second().await, 45.0);
    }

    async fn an_invoice_becomes_available_with_the_address_that_it_lacked(server) {
        prepared(&server).await;
        let order = server.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(201).json();
        assert_eq!(order["e_invoice_status"], "incomplete");
        let path = format!("/order/{}", order["slug"].as_str().unwrap());
        let after = server.put(&path, r#"{"country":"DE","address":"1 Way","city":"Ulm"}"#).await.expect(200).json();
        assert_eq!(after["e_invoice_status"], "available");
        assert_eq!(server.put(&path, r#"{"country":"Ulm"}"#).await.expect(200).json()["e_invoice_status"], "incomplete");
    }

    async fn entries_follow_the_orders_of_a_file_unless_it_says_otherwise(server) {
        prepared(&server).await;
        let account = account_a(r#","features":["api"],"rate_limit":1000000"#);
        let order = |status: &str| {
            format!(
                r#"{account}
{{"kind":"order","slug":"OrderFil","season":"SeasonAc","user":"UserNewA","currency":"EUR","payment_status":"{status}","items":[{{"name":"A","type":"Entry","entry":"EntryNia","amount":40}},{{"name":"B","type":"Entry","entry":"EntryNew","amount":40}},{{"name":"C","type":"Entry","entry":"EntryPay","amount":40}}]}}"#
            )
        };
        let entries: Vec<String> = [("EntryNew", ""), ("EntryPay", r#","payment_status":"Unpaid""#)]
            .iter()
            .zip(30..)
            .map(|((slug, status), number)| {
                format!(
                    r#"{{"kind":"entry","slug":"{slug}","local_id":{number},"title":"E","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserNewA"{status}}}"#
                )
            })
            .collect();
        let statuses = async || {
            let mut found = Vec::new();
            for slug in ["EntryNia", "EntryNew", "EntryPay"] {
                found.push(entry(&server, slug).await["payment_status"].as_str().unwrap().to_owned());
            }
            found
        };
        server.import(&format!("{}\n{}", order("paid"), entries.join("\n"))).await;
        assert_eq!(statuses().await, ["Paid", "Paid", "Unpaid"]);
        let changes = server.changes("AccountA").await;
        server.import(&format!("{}\n{}", order("paid"), entries[0])).await;
        assert_eq!(server.changes("AccountA").await, changes, "the same file changes nothing");
        server.import(&order("awaiting_payment")).await;
        assert_eq!(statuses().await, ["Unpaid", "Unpaid", "Unpaid"]);
        server.import(&order("paid")).await;
        assert_eq!(statuses().await, ["Paid", "Paid", "Paid"]);
    }

    async fn what_a_file_does_not_number_follows_what_it_does(server) {
        prepared(&server).await;
        let account = account_a(r#","features":["api"],"rate_limit":1000000"#);
        let test = |slug: &str, number: &str| {
            format!(
                r#"{{"kind":"order","slug":"{slug}","season":"SeasonAc","user":"UserNewA","currency":"EUR","payment_status":"paid","test":true{number}}}"#
            )
        };
        let lines = [account, test("OrderTsA", ""), test("OrderTsB", r#","invoice_number":"TEST-1""#), test("OrderTsC", "")];
        server.import(&lines.join("\n")).await;
        let mut numbers: Vec<String> = orders(&server, "&test=only").await.into_iter().map(|(number, ..)| number).collect();
        numbers.retain(|number| number.starts_with("TEST-"));
        assert_eq!(numbers, ["TEST-1", "TEST-2", "TEST-3"]);
    }

    async fn an_entry_that_is_trashed_before_it_is_submitted_takes_its_order_along(server) {
        prepared(&server).await;
        server.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(201);
        server.delete("/entry/EntryNia").await.expect(204);
        assert_eq!(orders(&server, "").await.len(), BEFORE);
    }

    async fn a_refund_of_everything_leaves_nothing(server) {
        prepared(&server).await;
        let order = server.post("/order", r#"{"entries":["EntryNia","EntryNib"],"country":"DE"}"#).await.expect(201).json();
        let path = format!("/order/{}", order["slug"].as_str().unwrap());
        server.put(&path, r#"{"payment_status":"paid"}"#).await.expect(200);
        let lines = server.get(&format!("{path}/items")).await.expect(200).json();
        let line = lines["data"][0]["slug"].as_str().unwrap();
        for (wrong, members) in [
            ("{}", vec!["amount", "reason"]),
            (r#"{"amount":0,"reason":"A"}"#, vec!["amount"]),
            (r#"{"amount":1,"items":["NobodyAA"],"reason":""}"#, vec!["amount", "items", "reason"]),
            (r#"{"amount":10000,"reason":"A"}"#, vec!["amount"]),
            (r#"{"amount":10000,"reason":"","more":1}"#, vec!["amount", "more", "reason"]),
        ] {
            let answer = server.post(&format!("{path}/refund"), wrong).await.expect(422).json();
            assert_eq!(faults(&answer), members, "{wrong}");
        }
        let first = server.post(&format!("{path}/refund"), &json!({"items": [line], "reason": "Too late"}).to_string()).await.expect(201).json();
        assert_eq!((&first["subtotal"], &first["comments"]), (&json!(-40.0), &json!("Too late")));
        assert_eq!((entry(&server, "EntryNia").await["payment_status"].clone(), entry(&server, "EntryNib").await["payment_status"].clone()),
            (json!("Unpaid"), json!("Paid")));
        server.post(&format!("{path}/refund"), &json!({"items": [line], "reason": "Again"}).to_string()).await.expect(422);
        let left = order["total"].as_f64().unwrap() + first["total"].as_f64().unwrap();
        let rest = server.post(&format!("{path}/refund"), &format!(r#"{{"amount":{left:.2},"reason":"All"}}"#)).await.expect(201).json();
        assert_eq!((&rest["subtotal"], rest["payment_status"].as_str()), (&json!(-40.0), Some("paid")));
        assert_eq!(entry(&server, "EntryNib").await["payment_status"], "Unpaid");
        let note = format!("/order/{}", rest["slug"].as_str().unwrap());
        for (method, body) in [("refund", r#"{"amount":1,"reason":"A"}"#), ("payment", r#"{"provider":"b","reference":"1","status":"success","amount":1,"date":"2026-02-01T10:00:00Z"}"#)] {
            server.post(&format!("{note}/{method}"), body).await.expect(422);
        }
        server.delete(&note).await.expect(422);
        // What was credited can be ordered again, and an export is imported as it is.
        server.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(201);
        let export = server.export("AccountA").await;
        assert!(export.contains(r#""credited":"#));
        server.import(&export).await;
        assert_eq!(server.export("AccountA").await, export);
    }

    async fn entrants_order_for_their_own_entries(server) {
        prepared(&server).await;
        prepare_people(&server).await;
        let entrant = user_of("entrant");
        let account = account_a(r#","features":["api"],"rate_limit":1000000,"currency":"EUR""#);
        let lines = format!(
            r#"{account}
{{"kind":"entry","slug":"EntryOwn","local_id":70,"title":"Own","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"{entrant}"}}"#
        );
        server.import(&lines).await;
        let person = Person::of(&server, &entrant).await;
        assert_eq!(person.post("/order/quote", r#"{"entries":["EntryOwn"]}"#).await.expect(200).json()["subtotal"], 40.0);
        assert_eq!(faults(&person.post("/order", r#"{"entries":["EntryNia"]}"#).await.expect(422).json()), ["entries"]);
        assert_eq!(faults(&person.post("/order", r#"{"entries":["EntryOwn"],"test":true}"#).await.expect(422).json()), ["test"]);
        let order = person.post("/order", r#"{"entries":["EntryOwn"]}"#).await.expect(201).json();
        let path = format!("/order/{}", order["slug"].as_str().unwrap());
        person.get(&path).await.expect(200);
        person.post(&format!("{path}/refund"), r#"{"amount":1,"reason":"A"}"#).await.expect(403);
        let books = Person::of(&server, &user_of("bookkeeper")).await;
        books.post(&format!("{path}/refund"), r#"{"amount":1,"reason":"A"}"#).await.expect(201);
        Person::of(&server, &user_of("judge")).await.post("/order", r#"{"entries":["EntryOwn"]}"#).await.expect(403);
    }
}
