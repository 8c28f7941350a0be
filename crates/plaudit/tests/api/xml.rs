//! Every member of the JSON is in the XML, whatever the texts are.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::fixture::of_account_a;
use crate::harness::{JSON, Server, XML, tree};

/// Texts that end an element, a string or a statement somewhere.
const HOSTILE: &[&str] = &[
    "\u{0}\u{1}\u{8}\u{b}\u{1f}",
    "]]>",
    "<![CDATA[x]]><!-- x --><?x y?>",
    "</title><a b=\"c\">&amp;&#0;&x;</a>",
    "\u{7f}",
    "\u{7f}rsSeasonAc",
    "{\"\u{7f}t\":{\"en_GB\":\"x\"}}",
    "\u{7f}p",
    "\\u007fl/user/AbCdEfGh",
    "😀 👩\u{200d}👩\u{200d}👧 🇬🇧 e\u{301}",
    "\u{feff}\u{fffe}\u{ffff}\u{fdd0}\u{10ffff}",
    "quotes \" ' ` \\ \\\" / \\u0041",
    "line\r\nfeed\rtab\there\n",
    "  blanks  ",
    "",
    "\u{85}\u{2028}\u{2029}\u{a0}\u{200f}\u{202e}",
    "'; DROP TABLE orders; --",
    "$1 %s {0} \u{1b}[31m",
];

/// Cells of a table whose names are no names in XML.
const CELLS: &[&str] = &[
    "A1",
    "a b1",
    "1x1",
    "_x0041_1",
    "_x_1",
    "_x005F_1",
    ":1",
    "xsi:nil1",
    "xml1",
    "-1",
    ".1",
    "é1",
    "😀1",
    "\u{0}1",
    "\u{7f}1",
    "\"1",
    "<1",
    "&1",
    "]]>1",
    "\u{ffff}1",
    " 1",
    "\n1",
    "_x00e91",
    "\u{300}1",
];

/// A text as a name can have it.
fn line(text: &str) -> String {
    text.replace(char::is_control, "")
}

/// Both formats of an answer are one tree.
async fn same(server: &Server, method: &str, path: &str, body: Option<&str>) -> Value {
    let send = async |format, language| {
        let headers = [("accept", format), ("x-api-language", language)];
        server.send(server.request(method, path, &headers, body)).await.expect(200)
    };
    for language in ["all", "de_DE", ""] {
        let (json, xml) = (send(JSON, language).await, send(XML, language).await);
        tree::assert_same(&json.body, &xml.body);
    }
    send(JSON, "").await.json()
}

both_engines! {
    async fn hostile_texts_of_an_entry_are_the_same_in_both_formats(server) {
        for (index, text) in HOSTILE.iter().enumerate() {
            let line = line(text);
            let cells: serde_json::Map<_, _> = CELLS.iter().map(|cell| ((*cell).to_owned(), json!(text))).collect();
            let records = [
                json!({"kind": "field", "slug": "FieldHos", "season": "SeasonAc", "form": "FormEntr", "tab": "TabGener",
                    "resource": "entries", "type": "table", "order": 9, "title": {"en_GB": format!("H{line}")},
                    "label": {"en_GB": text, "de_DE": text}, "columns": [{"key": "A"}]}),
                json!({"kind": "user", "slug": "UserHost", "first_name": line, "last_name": format!("L{line}"),
                    "email": "host@example.org"}),
                json!({"kind": "chapter", "slug": "ChapterH", "season": "SeasonAc", "name": {"en_GB": format!("N{line}")},
                    "status": "active"}),
                json!({"kind": "entry", "slug": "EntryHos", "local_id": 800 + index, "title": line, "season": "SeasonAc",
                    "category": "CategPar", "chapter": "ChapterH", "form": "FormEntr", "entrant": "UserHost",
                    "status": "submitted", "comments": text, "user_comments": text, "review_status": line,
                    "grant_status": line, "tags": line, "entry_fields": {"FieldTxt": text, "FieldHos": cells}}),
            ];
            let lines: Vec<String> = records.iter().map(Value::to_string).collect();
            server.import(&of_account_a(&lines.join("\n"))).await;
            let path = "/entry/EntryHos/update-chapter";
            let entry = same(&server, "PUT", path, Some(r#"{"chapter":"ChapterH"}"#)).await;
            assert_eq!((&entry["title"], &entry["tags"]), (&json!(line), &json!(line)), "{text:?}");
            assert_eq!(entry["chapter"]["name"]["en_GB"], format!("N{line}"));
            assert_eq!(entry["entrant"]["last_name"], format!("L{line}"));
            let table = &entry["entry_fields"].as_array().unwrap().iter().find(|answer| answer["slug"] == "FieldHos").unwrap();
            assert_eq!(table["values"].as_object().unwrap().len(), CELLS.len(), "{text:?}");
            for cell in CELLS {
                assert_eq!(table["values"][cell], json!(text), "{cell:?}");
            }
        }
    }

    async fn hostile_texts_of_an_order_are_the_same_in_both_formats(server) {
        for text in HOSTILE {
            let line = line(text);
            let order = json!({"kind": "order", "slug": "OrderHos", "invoice_number": format!("H{line}"),
                "season": "SeasonAc", "user": "UserEntr", "currency": "GBP", "payment_status": "paid",
                "company": line, "address": text, "city": line, "region": line, "state": line, "postcode": line,
                "member_number": line, "vat_number": line, "comments": text, "ip_address": line,
                "discount_code": line, "payment_method": line, "tax_term": line, "e_invoice_status": line,
                "transaction_provider": line, "transaction_reference": line, "transaction_status": line,
                "items": [{"amount": 1, "description": text, "name": text, "item_type": line, "quantity": 2}]});
            server.import(&of_account_a(&order.to_string())).await;
            for path in ["/order", "/order?order=payment_method&per_page=2", "/order?order=invoice_number&dir=desc"] {
                let page = same(&server, "GET", path, None).await;
                if path == "/order" {
                    let shown = page["data"].as_array().unwrap().iter().find(|order| order["slug"] == "OrderHos").unwrap();
                    assert_eq!((&shown["company"], &shown["payment_method"]), (&json!(line), &json!(line)), "{text:?}");
                    assert_eq!(shown["items_array"][0]["name"], json!(text));
                }
            }
            for order in ["payment_method", "invoice_number"] {
                let mut cursor = Some(String::new());
                let mut seen = 0;
                while let Some(at) = cursor {
                    let path = format!("/order?order={order}&per_page=1&cursor={at}");
                    let page = server.get(&path).await.expect(200).json();
                    seen += page["data"].as_array().unwrap().len();
                    cursor = page["next_cursor"].as_str().map(str::to_owned);
                }
                assert_eq!(seen, 4, "{order} {text:?}");
            }
        }
    }

    async fn hostile_texts_in_a_body_come_back_as_they_were_and_names_have_no_control_characters(server) {
        for text in HOSTILE {
            let text = format!("x{text}");
            let body = json!({"translated": {"name": {"en_GB": text, "de_DE": text}, "image_heading": {"ar_AR": text}}});
            if text.chars().any(char::is_control) {
                server.put("/chapter/ChapterN", &body.to_string()).await.expect(422);
                continue;
            }
            server.put("/chapter/ChapterN", &body.to_string()).await.expect(200);
            let shown = same(&server, "PUT", "/chapter/ChapterN", Some("{}")).await;
            assert_eq!(shown["name"]["en_GB"], text);
        }
    }

    async fn hostile_member_names_in_a_body_are_reported_in_both_formats(server) {
        for name in CELLS.iter().chain(HOSTILE) {
            let body = json!({*name: 1, "translated": {"name": {*name: "x"}}}).to_string();
            let json = server.put("/chapter/ChapterN", &body).await.expect(422);
            let xml = server.put_with("/chapter/ChapterN", &body, &[("accept", XML)]).await.expect(422);
            tree::assert_same(&json.body, &xml.body);
            assert!(json.json()["errors"].as_object().unwrap().contains_key(*name), "{name:?}");
        }
    }

    async fn errors_are_the_same_tree_in_both_formats(server) {
        for (method, path, body) in [
            ("GET", "/order?a=1&b=2&status=x&test=%3Cx%3E&%3C%26=1&%00=%01", None),
            ("PUT", "/chapter/ChapterN", Some(r#"{"status":1,"managers":["a","b"],"<x>":2}"#)),
            ("PUT", "/chapter/ChapterN", Some("{\"\u{1}<&]]>")),
            ("GET", "/%3Cnothing%3E%00", None),
            ("DELETE", "/chapter/%3C%3E", None),
        ] {
            let send = async |format| server.send(server.request(method, path, &[("accept", format)], body)).await;
            let (json, xml) = (send(JSON).await, send(XML).await);
            assert_eq!(json.status, xml.status);
            tree::assert_same(&json.body, &xml.body);
        }
    }

    async fn empty_lists_nulls_and_empty_texts_are_told_apart(server) {
        let headers = [("accept", XML)];
        let answer = server.put_with("/entry/EntryTwo/update-chapter", r#"{"chapter":"ChapterS"}"#, &headers).await;
        let text = answer.expect(200).text().to_owned();
        for element in [
            "<entry_fields/>", "<attachments/>", "<contributors/>", "<submitted xsi:nil=\"true\"/>",
            "<division xsi:nil=\"true\"/>", "<comments></comments>", "<auto_score>0</auto_score>",
        ] {
            assert!(text.contains(element), "{element} in {text}");
        }
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
        let root = "<root xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">";
        assert!(text.starts_with(&format!("{head}{root}")) || text.starts_with(&format!("{head}\n{root}")), "{text}");
        let page = server.get_with("/order?season=NoSuchSe", &headers).await.expect(200);
        assert!(page.text().contains("<data/>") && page.text().contains("<from xsi:nil=\"true\"/>"), "{}", page.text());
    }
}
