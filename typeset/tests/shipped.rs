//! The templates that are shipped: each is made in every format, in every language, with all that it can find and with nothing.
#![allow(clippy::panic, reason = "helpers of tests")]

mod support;

use serde_json::{Map, Value};
use support::{FORMATS, MadeOf as _, request, sample, typesetter};
use typesetting::{Format, Request};

const TEMPLATES: [(&str, &str); 5] = [
    ("certificate", include_str!("../../crates/plaudit/src/program/document_templates/shipped/certificate.typ")),
    ("entry_pack", include_str!("../../crates/plaudit/src/program/document_templates/shipped/entry_pack.typ")),
    ("invoice", include_str!("../../crates/plaudit/src/program/document_templates/shipped/invoice.typ")),
    ("judge_sheet", include_str!("../../crates/plaudit/src/program/document_templates/shipped/judge_sheet.typ")),
    ("booklet", include_str!("../../crates/plaudit/src/program/document_templates/shipped/booklet.typ")),
];

/// The tokens of the sample that are pictures.
const PICTURES: [&str; 2] = ["TokenOfTheLogoFileOfAllX", "TokenOfTheSecondFileOfAl"];

fn check(name: &str, request: &Request, parts: &[Vec<u8>]) {
    let made = typesetter().made_of(request, parts.to_vec());
    let made = made.unwrap_or_else(|fault| panic!("{name}, {:?}, {}: {fault:?}", request.format, request.language));
    match request.format {
        Format::Word => support::check_word(&made),
        Format::Pdf => assert!(made.starts_with(b"%PDF-")),
        Format::AccessiblePdf => assert!(String::from_utf8_lossy(&made).contains("pdfuaid:part")),
    }
}

#[test]
fn each_is_made_in_every_format_and_language() {
    for (name, template) in TEMPLATES {
        for format in FORMATS {
            for language in ["en", "de", "fr", "es", "nl"] {
                let pictures = PICTURES.map(str::to_owned).to_vec();
                let request =
                    Request { data: sample(), format, language: language.to_owned(), pictures, ..request(template) };
                check(name, &request, &[support::png(300, 200), support::jpeg(2000, 1000)]);
            }
        }
    }
}

#[test]
fn each_is_made_without_anything() {
    for (name, template) in TEMPLATES {
        for format in FORMATS {
            check(name, &Request { format, ..request(template) }, &[]);
        }
    }
}

#[test]
fn each_is_made_where_any_member_is_missing() {
    for (name, template) in TEMPLATES {
        for data in thinned(&sample()) {
            check(name, &Request { data, ..request(template) }, &[]);
        }
    }
}

/// The sample without each of its names, and with each member of them empty in its turn.
fn thinned(sample: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = Vec::new();
    for (name, value) in sample {
        let mut without = sample.clone();
        without.remove(name);
        all.push(without);
        for (member, old) in value.as_object().into_iter().flatten() {
            let empty = match old {
                Value::String(_) => Value::from(""),
                Value::Array(_) => Value::Array(Vec::new()),
                _ => Value::Null,
            };
            for new in [empty, Value::Null] {
                let mut changed = sample.clone();
                changed[name][member] = new;
                all.push(changed);
            }
        }
    }
    all
}

#[test]
fn an_invoice_says_what_it_must() {
    let invoice = TEMPLATES[2].1;
    let word = Request { data: sample(), format: Format::Word, ..request(invoice) };
    let text = support::text(&typesetter().made_of(&word, Vec::new()).unwrap());
    for said in [
        "Invoice",
        "2 June 2025",
        "The Harbour Awards Ltd",
        "GB987654321",
        "Nolan & Daughters",
        "GB123456789",
        "Standard – Entry fee",
        "First <entry> & \"more\"",
        "£50.00",
        "£100.00",
        "VAT (20 %)",
        "£19.00",
        "£114.00",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    let mut credit = word.clone();
    credit.data["order"]["credits"] = serde_json::json!({ "slug": "OrderOne", "link": "" });
    credit.data["order"]["invoice_number"] = "CN-1".into();
    let text = support::text(&typesetter().made_of(&credit, Vec::new()).unwrap());
    for said in ["Credit note", "CN-1", "For the invoice", "OrderOne"] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
}

#[test]
fn an_entry_pack_has_every_answer_and_file() {
    let pictures = PICTURES.map(str::to_owned).to_vec();
    let word = Request { data: sample(), format: Format::Word, pictures, ..request(TEMPLATES[1].1) };
    let docx = typesetter().made_of(&word, vec![support::png(300, 200), support::jpeg(2000, 1000)]).unwrap();
    let text = support::text(&docx);
    for said in [
        "Abstract",
        "*No markup* is #read here.",
        "Hire of the press",
        "340",
        "Published",
        "yes",
        "notes.txt",
        "Per Lindqvist",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    let document = support::part(&docx, "word/document.xml");
    assert!(document.contains("descr=\"Logo\"") && document.contains("descr=\"press.jpg\""));
    assert_eq!(document.matches("<w:drawing>").count(), 2);
}
