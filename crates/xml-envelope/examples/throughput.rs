//! Measures the transcoder on a document like an order, against a copy of the same bytes.
//!
//! Run with `cargo run --release -p xml-envelope --example throughput`.

use std::hint::black_box;
use std::time::Instant;

use xml_envelope::{NoSlots, Slots};

const ROUNDS: u32 = 300;
const REPEATS: u32 = 50;

/// An order: sixty members, one string of HTML.
const ORDER: &str = concat!(
    r#"{"slug":"KqWbNaZt","invoice_number":"INV-2024-000123","created_at":"2024-05-17T09:14:33Z","#,
    r#""transaction_date":"2024-05-17T09:15:02Z","season":{"slug":"SeAsOnAb","link":"https://api.example.org/season/SeAsOnAb","#,
    r#""name":{"en_GB":"Spring 2024"}},"user":{"slug":"UsErAbCd","link":"https://api.example.org/user/UsErAbCd","#,
    r#""name":"Ada Lovelace","first_name":"Ada","last_name":"Lovelace","email":"ada@example.org"},"#,
    r#""company":"Analytical Engines","address":"12 St James's Square","city":"London","region":"","state":"","#,
    r#""postcode":"SW1Y 4JH","country":"GB","member_number":"","vat_number":"GB123456789","comments":"","#,
    r#""ip_address":"192.0.2.44","currency":"GBP","discount_code":"EARLY","discount":10.00,"subtotal":140.00,"tax":26.00,"#,
    r#""tax_rate":20,"processing_fee":0.00,"processing_fee_rate":0,"total":156.00,"tax_term":"VAT","#,
    r#""tax_rate_details":{"slug":"TaXaBcDe","link":null,"name":"VAT","term":"VAT","rate":20,"country":"GB","region":null},"#,
    r#""payment_method":"card","payment_status":"paid","e_invoice_status":"none","transaction_provider":"stripe","#,
    r#""transaction_reference":"ch_3MmlLrLkdIwHu7ix0snN0B15","transaction_status":"succeeded","#,
    r#""items":"<ul class=\"items\"><li><strong>Entry</strong> &amp; fee: A Bridge of Glass</li>\n<li>Late fee</li></ul>","#,
    r#""items_array":[{"amount":"£140.00","description":"Entry fee","discount":"£10.00","entry":{"slug":"EnTrYaBc","#,
    r#""link":"https://api.example.org/entry/EnTrYaBc","title":"A Bridge of Glass"},"item_type":"Entry","#,
    r#""name":"Entry fee","price":{"slug":"PrIcEaBc","link":null,"title":{"en_GB":"Standard"}},"quantity":1}]}"#,
);

/// The same with slots where the stored document has them.
const STORED: &[(&str, &str)] = &[
    (
        r#"{"slug":"SeAsOnAb","link":"https://api.example.org/season/SeAsOnAb","name":{"en_GB":"Spring 2024"}}"#,
        "\"\u{7f}rsSeAsOnAb\"",
    ),
    (r#""https://api.example.org/user/UsErAbCd""#, "\"\u{7f}l/user/UsErAbCd\""),
    (r#""https://api.example.org/entry/EnTrYaBc""#, "\"\u{7f}l/entry/EnTrYaBc\""),
    (r#"{"slug":"PrIcEaBc","link":null,"title":{"en_GB":"Standard"}}"#, "{\"\u{7f}t20\":{\"en_GB\":\"Standard\"}}"),
];

struct Fill;

impl Slots for Fill {
    fn value(&self, out: &mut Vec<u8>, name: &str, slot: &str) {
        for part in ["<", name, ">https://api.example.org", slot, "</", name, ">"] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    fn object(&self, out: &mut Vec<u8>, name: &str, key: &str, json: &str) {
        black_box(key);
        xml_envelope::member(out, name, json, &NoSlots);
    }

    fn members(&self, _out: &mut Vec<u8>, _key: &str, _json: &str) {}
}

/// The best time of a call in nanoseconds.
#[allow(clippy::disallowed_methods)] // A measurement needs the real time.
fn best(mut call: impl FnMut(&mut Vec<u8>)) -> f64 {
    let mut out = Vec::with_capacity(16 * 1024);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..REPEATS {
            out.clear();
            call(&mut out);
            black_box(&out);
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(REPEATS));
    }
    best
}

#[allow(clippy::cast_precision_loss)]
fn report(what: &str, json: &str, nanoseconds: f64, size: usize) {
    let members = json.matches("\":").count();
    println!(
        "{what:28} {nanoseconds:8.0} ns  {:6.3} ns/byte  {:6.1} ns/member  ({} bytes in, {size} out, {members} members)",
        nanoseconds / json.len() as f64,
        nanoseconds / members as f64,
        json.len(),
    );
}

fn main() {
    let stored = STORED.iter().fold(ORDER.to_owned(), |json, (shown, slot)| json.replace(shown, slot));
    let markup = format!("{{\"items\":\"{}\"}}", r#"<li class=\"item\"><b>Entry<\/b> &amp; fee<\/li>\n"#.repeat(30));
    let prose = format!("{{\"text\":\"{}\"}}", "It was the best of times, it was the worst of times. ".repeat(30));
    let size = |json: &str| {
        let mut out = Vec::new();
        xml_envelope::member(&mut out, "order", json, &NoSlots);
        out.len()
    };
    report("copy", ORDER, best(|out| out.extend_from_slice(black_box(ORDER).as_bytes())), ORDER.len());
    for (what, json) in [("order", ORDER), ("markup", &markup), ("prose", &prose)] {
        let time = best(|out| xml_envelope::member(out, "order", black_box(json), &NoSlots));
        report(what, json, time, size(json));
    }
    let time = best(|out| xml_envelope::member(out, "order", black_box(&stored), &Fill));
    report("order with slots", &stored, time, size(&stored));
    let page = format!("[{}]", vec![ORDER; 100].join(","));
    let time = best(|out| xml_envelope::member(out, "data", black_box(&page), &NoSlots));
    report("page of 100 orders", &page, time, size(&page));
}
