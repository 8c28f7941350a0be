//! `GetOrderCollectionV23`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, JSON, Server, XML, tree};

mod deep;
mod model;
mod one;
mod pages;
mod placing;
mod sorts;

/// The page at a path.
async fn page(server: &Server, path: &str) -> Value {
    let answer = server.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

fn slugs(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|order| order["slug"].as_str().unwrap()).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The members of section 2.7, in their order.
const MEMBERS: &str = "slug invoice_number created_at transaction_date season user company address city region state \
    postcode country member_number vat_number comments ip_address currency discount_code discount subtotal tax tax_rate \
    processing_fee processing_fee_rate total tax_term tax_rate_details payment_method payment_status e_invoice_status \
    transaction_provider transaction_reference transaction_status items items_array";

const ITEM_MEMBERS: &str = "amount description discount entry item_type name price quantity";

/// The members of section 4.5, in their order.
const ENVELOPE: &str = "current_page data first_page_url last_page last_page_url next_page_url prev_page_url path \
    per_page from to total";

fn names(members: &'static str) -> Vec<&'static str> {
    members.split_whitespace().collect()
}

both_engines! {
    async fn an_order_shows_every_member_in_order(server) {
        let page = page(&server, "/order").await;
        assert_eq!(keys(&page), names(ENVELOPE));
        assert_eq!(slugs(&page), ["OrderTst", "OrderOne", "OrderTwo"]);
        let order = &page["data"][1];
        assert_eq!(keys(order), names(MEMBERS));
        assert_eq!(order["season"].to_string(), json!({
            "slug": "SeasonAc", "link": format!("{BASE}/season/SeasonAc"), "name": {"en_GB": "Season 2026"}
        }).to_string());
        assert_eq!(order["user"].to_string(), json!({
            "slug": "UserEntr", "link": format!("{BASE}/user/UserEntr"), "name": "Åse O'Neil <&>",
            "first_name": "Åse", "last_name": "O'Neil <&>", "email": "ase@example.org"
        }).to_string());
        assert_eq!(keys(&order["tax_rate_details"]), ["slug", "link", "name", "term", "rate", "country", "region"]);
        for (name, value) in [
            ("slug", json!("TaxVatGB")), ("link", json!(format!("{BASE}/tax/TaxVatGB"))), ("name", json!("VAT")),
            ("term", json!("VAT")), ("country", json!("GB")), ("region", Value::Null),
        ] {
            assert_eq!(order["tax_rate_details"][name], value, "{name}");
        }
        for (name, value) in [
            ("invoice_number", json!("1")), ("created_at", json!("2025-06-02T10:00:00.000000Z")),
            ("transaction_date", json!("2025-06-02T11:00:00.000000Z")), ("company", json!("Nolan & Daughters")),
            ("country", json!("GB")), ("city", json!("")), ("currency", json!("GBP")), ("tax_term", json!("VAT")),
            ("payment_method", json!("card")), ("payment_status", json!("paid")), ("discount_code", json!("")),
            ("transaction_reference", json!("")),
        ] {
            assert_eq!(order[name], value, "{name}");
        }
    }

    async fn the_items_of_an_order_show_every_member_in_order(server) {
        let page = page(&server, "/order").await;
        let order = &page["data"][1];
        let items = order["items_array"].as_array().unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(keys(&items[0]), names(ITEM_MEMBERS));
        assert_eq!(items[0].to_string(), json!({
            "amount": "£50.00",
            "description": "Entry fee",
            "discount": "£5.00",
            "entry": {"slug": "EntryOne", "link": format!("{BASE}/entry/EntryOne"), "title": "First <entry> & \"more\""},
            "item_type": "Entry",
            "name": "Standard",
            "price": {"slug": "PriceStd", "link": format!("{BASE}/price/PriceStd"), "title": {"en_GB": "Standard"}},
            "quantity": 1
        }).to_string());
        let html = order["items"].as_str().unwrap();
        assert!(html.starts_with("<ul>") && html.ends_with("</ul>") && html.matches("<li>").count() == 2, "{html}");
    }

    async fn money_is_exact_and_has_the_decimals_of_its_currency(server) {
        let answer = server.get("/order").await.expect(200);
        for member in [
            "\"discount\":5.00,", "\"subtotal\":100.00,", "\"tax\":19.00,", "\"total\":114.00,",
            "\"subtotal\":9000,", "\"total\":9000,", "\"amount\":\"JP¥9,000\"", "\"total\":10.00,",
        ] {
            assert!(answer.text().contains(member), "{member} in {}", answer.text());
        }
        server.import(&of_account_a(
            r#"{"kind":"order","slug":"OrderBig","invoice_number":"50","season":"SeasonAc","user":"UserEntr","currency":"GBP","items":[{"amount":0.10,"quantity":1,"name":"a"},{"amount":0.20,"quantity":1,"name":"b"},{"amount":90071992547409.93,"quantity":1,"name":"c"}]}
{"kind":"order","slug":"OrderBhd","invoice_number":"51","season":"SeasonAc","user":"UserEntr","currency":"BHD","items":[{"amount":1.005,"quantity":1,"name":"a"}]}"#,
        ))
        .await;
        let answer = server.get("/order").await.expect(200);
        for member in ["\"subtotal\":90071992547410.23,", "\"total\":90071992547410.23,", "\"total\":1.005,"] {
            assert!(answer.text().contains(member), "{member} in {}", answer.text());
        }
    }

    async fn the_xml_of_an_order_is_the_same_however_often_it_is_shown_and_follows_the_program(server) {
        // Other spellings of one page, so that it is made anew each time.
        let pages = ["/order", "/order?page=1", "/order?per_page=10", "/order?page=1&per_page=10"];
        let languages = ["en_GB", "de_DE"];
        for season in ["Season 2026", "Renamed"] {
            let lines = json!({"kind": "season", "slug": "SeasonAc", "status": "active", "name": {"en_GB": season, "de_DE": "Saison"}});
            server.import(&of_account_a(&lines.to_string())).await;
            for (page, language) in pages.iter().flat_map(|page| languages.map(|language| (page, language))) {
                let headers = [("x-api-language", language)];
                let json = server.get_with(page, &headers).await.expect(200);
                let xml = server.get_with(page, &[headers[0], ("accept", XML)]).await.expect(200);
                tree::assert_same(&json.body, &xml.body);
                let shown = if language == "en_GB" { season } else { "Saison" };
                assert!(xml.text().contains(&format!("<{language}>{shown}</{language}>")), "{page} {language} {season}");
            }
        }
    }

    async fn the_xml_of_a_page_is_the_tree_of_its_json(server) {
        for path in ["/order", "/order?per_page=1", "/order?page=9", "/order?status=paid&test=hide&deleted=only",
            "/order?cursor=&per_page=2", "/order?count=none", "/order?season=NoSuchSe"] {
            let (json, xml) = (server.get(path).await.expect(200), server.get_with(path, &[("accept", XML)]).await);
            tree::assert_same(&json.body, &xml.expect(200).body);
        }
    }

    async fn the_filters_pick_what_they_name(server) {
        for (query, expected) in [
            ("", vec!["OrderTst", "OrderOne", "OrderTwo"]),
            ("status=paid", vec!["OrderTst", "OrderOne"]),
            ("status=awaiting_payment", vec!["OrderTwo"]),
            ("test=only", vec!["OrderTst"]),
            ("test=hide", vec!["OrderOne", "OrderTwo"]),
            ("season=SeasonAc", vec!["OrderTst", "OrderOne", "OrderTwo"]),
            ("season=SeasonOl", vec!["OrderOld"]),
            ("season=all", vec!["OrderTst", "OrderOne", "OrderTwo", "OrderOld"]),
            ("deleted=none", vec!["OrderTst", "OrderOne", "OrderTwo"]),
            ("deleted=only", vec!["OrderDel"]),
            ("deleted=included", vec!["OrderDel", "OrderTst", "OrderOne", "OrderTwo"]),
            ("status=paid&test=hide&season=all&deleted=included", vec!["OrderDel", "OrderOne", "OrderOld"]),
            ("season=NoSuchSe", vec![]),
        ] {
            let page = page(&server, &format!("/order?{query}")).await;
            assert_eq!(slugs(&page), expected, "{query}");
            assert_eq!(page["total"], expected.len(), "{query}");
        }
    }

    async fn a_filter_that_is_unknown_or_has_a_wrong_value_is_named(server) {
        for format in FORMATS {
            let path = "/order?colour=red&status=unpaid&test=maybe&shape=round&season=x&deleted=all&page=0";
            let answer = server.get_with(path, &[("accept", format)]).await.expect(400);
            assert_eq!(error_names(&answer, format).unwrap(), ["invalid_filter_names", "invalid_filter_values"]);
        }
        let get = async |query: &str| server.get(&format!("/order?{query}")).await.expect(400).json();
        assert_eq!(get("colour=red&shape=round").await["errors"], json!({"invalid_filter_names": "colour,shape"}));
        for (query, name, allowed) in [
            ("status=unpaid", "status", vec!["paid", "awaiting_payment"]),
            ("status=", "status", vec!["paid", "awaiting_payment"]),
            ("test=none", "test", vec!["only", "hide"]),
            ("season=short", "season", vec!["all"]),
            ("deleted=all", "deleted", vec!["only", "included", "none"]),
        ] {
            let errors = get(query).await["errors"].clone();
            assert_eq!(keys(&errors), ["invalid_filter_values"], "{query}");
            assert_eq!(keys(&errors["invalid_filter_values"]), [name], "{query}");
            let text = errors["invalid_filter_values"][name].as_str().unwrap();
            assert!(allowed.iter().all(|word| text.contains(word)), "{text}");
        }
        let both = get("colour=red&status=unpaid").await["errors"].clone();
        assert_eq!(keys(&both), ["invalid_filter_names", "invalid_filter_values"]);
    }

    async fn a_page_parameter_out_of_range_is_refused(server) {
        for query in [
            "page=0", "page=-1", "page=abc", "page=", "page=1.5", "page=%2B1",
            "per_page=0", "per_page=101", "per_page=-1", "per_page=abc", "per_page=", "per_page=99999999999999999999",
            "dir=up", "dir=ASC", "dir=", "count=all", "cursor=%25", "cursor=abc", "page=1&page=2", "%ff=1",
        ] {
            for format in FORMATS {
                let answer = server.get_with(&format!("/order?{query}"), &[("accept", format)]).await;
                assert_eq!(answer.status, 400, "{query}: {}", answer.text());
            }
        }
        for query in ["page=1", "page=99999999999999999999999", "per_page=1", "per_page=100", "dir=asc", "dir=desc", "count=none", "cursor="] {
            server.get(&format!("/order?{query}")).await.expect(200);
        }
    }

    async fn an_unknown_order_is_the_default_one(server) {
        let default = page(&server, "/order").await;
        for order in ["colour", "", "updated", "Total", "slug"] {
            assert_eq!(slugs(&page(&server, &format!("/order?order={order}")).await), slugs(&default), "{order}");
        }
    }

    async fn an_unchanged_page_is_not_sent_again(server) {
        for format in FORMATS {
            let get = async |tag: &str| {
                server.get_with("/order", &[("accept", format), ("if-none-match", tag)]).await
            };
            let tag = get("").await.expect(200).header("etag").unwrap().to_owned();
            for sent in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
                let answer = get(&sent).await.expect(304);
                assert!(answer.body.is_empty(), "{sent}");
                assert_eq!(answer.header("etag"), Some(tag.as_str()));
            }
            get("\"other\"").await.expect(200);
        }
    }

    async fn a_page_that_changed_is_sent_again(server) {
        let tag = |answer: &Answer| answer.header("etag").unwrap().to_owned();
        let first = tag(&server.get("/order").await);
        server.import(&of_account_a(
            r#"{"kind":"order","slug":"OrderTwo","invoice_number":"2","season":"SeasonAc","user":"UserEntr","currency":"JPY","payment_status":"paid","total":9001,"created_at":"2025-06-03T10:00:00.000000Z","updated":"2025-06-03T10:00:00.000000Z"}"#,
        ))
        .await;
        let changed = server.get_with("/order", &[("if-none-match", &first)]).await.expect(200);
        assert!(changed.text().contains("9001"));
        let second = tag(&changed);
        server.import(&of_account_a(
            r#"{"kind":"season","slug":"SeasonAc","name":{"en_GB":"Season of light"},"status":"active"}"#,
        ))
        .await;
        let renamed = server.get_with("/order", &[("if-none-match", &second)]).await.expect(200);
        assert!(renamed.text().contains("Season of light"));
    }

    async fn an_order_shows_the_names_that_its_records_have_now(server) {
        server.get("/order").await.expect(200);
        server.import(&of_account_a(
            r#"{"kind":"user","slug":"UserEntr","first_name":"Asa","last_name":"Neil","email":"asa@example.org"}
{"kind":"price","slug":"PriceStd","season":"SeasonAc","title":{"en_GB":"Plain"},"amounts":[{"currency":"GBP","amount":50.00}]}"#,
        ))
        .await;
        let page = page(&server, "/order").await;
        assert_eq!(page["data"][1]["user"]["name"], "Asa Neil");
        assert_eq!(page["data"][1]["items_array"][0]["price"]["title"]["en_GB"], "Plain");
    }

    async fn an_account_without_an_active_season_has_an_empty_list(server) {
        server.import(
            r#"{"kind":"account","slug":"AccountE","name":"E","default_language":"en_GB","languages":["en_GB"]}"#,
        ).await;
        let key = server.new_key("AccountE", plaudit::program::keys::Scope::Read).await;
        for path in ["/order", "/order?season=all"] {
            let answer = server.get_with(path, &[("x-api-key", &key)]).await.expect(200);
            assert_eq!((&answer.json()["total"], &answer.json()["last_page"]), (&json!(0), &json!(1)));
        }
        assert_eq!(server.get("/order").await.header("content-type"), Some(JSON));
    }
}
