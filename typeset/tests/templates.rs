//! What templates find, what they are refused, and what is said of their faults.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use serde_json::json;
use support::{MadeOf as _, fault, made, refused, request, sample, typesetter};
use typesetting::{Format, NAMES, Request};

#[test]
fn a_fault_has_a_place() {
    let fault = fault("A line\n  #unknown(1)");
    assert_eq!((fault.line, fault.column), (Some(2), Some(4)));
    assert!(fault.message.contains("unknown variable: unknown"), "{}", fault.message);
}

#[test]
fn a_fault_is_found_where_the_template_calls() {
    let found = fault("\n\n#plaudit.date(1)");
    assert_eq!((found.line, found.column), (Some(3), Some(2)), "{found:?}");
    let found = fault("#let f(x) = x + \"a\"\n#f(1)");
    assert_eq!((found.line, found.column), (Some(1), Some(13)), "{found:?}");
    let found = fault("#[");
    assert_eq!((found.line, found.column), (Some(1), Some(2)), "{found:?}");
}

#[test]
fn a_name_that_stands_for_nothing_is_none() {
    for name in NAMES.iter().filter(|name| **name != "pictures") {
        assert!(made(&format!("#assert({name} == none)")).is_ok(), "{name}");
    }
    assert!(made("#assert(pictures == (:))").is_ok());
}

#[test]
fn names_stand_for_what_the_request_says() {
    let template =
        "#assert(entry.title == \"First\"); #assert(order.total == 114.0); #assert(board.first().rank == none)";
    let mut request = request(template);
    let data = json!({ "entry": { "title": "First" }, "order": { "total": 114.00 }, "board": [{ "rank": null }] });
    request.data = data.as_object().unwrap().clone();
    assert!(typesetter().made_of(&request, Vec::new()).is_ok());
}

#[test]
fn a_text_is_no_markup() {
    let mut request = request("#entry.title #plaudit.paragraphs(entry.title)");
    request.data.insert("entry".to_owned(), json!({ "title": "#panic() $x *a* = @no <b> \\ // \"" }));
    for format in support::FORMATS {
        typesetter().made_of(&Request { format, ..request.clone() }, Vec::new()).unwrap();
    }
}

#[test]
fn no_other_file_is_read() {
    for (template, said) in [
        ("#read(\"secret.txt\")", "not found"),
        ("#read(\"/etc/passwd\")", "not found"),
        ("#image(\"/etc/passwd\")", "not found"),
        ("#read(\"../x\")", "root"),
        ("#include \"../../x.typ\"", "root"),
        ("#include \"/proc/self/environ\"", "not found"),
        ("#import \"@preview/example:0.1.0\"", "packages cannot be loaded"),
        ("#plugin(\"x.wasm\")", "unknown variable: plugin"),
        ("#std.plugin(bytes(()))", "does not contain `plugin`"),
        ("#read(\"https://example.org/\")", "not found"),
    ] {
        let fault = fault(template);
        assert!(fault.message.contains(said), "{template}: {}", fault.message);
        assert_eq!(fault.line, Some(1), "{template}");
    }
}

#[test]
fn a_loop_without_an_end_is_refused() {
    assert!(
        fault("#while true { }").message.contains("infinite")
            || fault("#while true { }").message.contains("always true")
    );
}

#[test]
fn a_template_has_files_of_its_own() {
    let template = "#import \"parts.typ\": greeting\n#greeting #csv(\"list.csv\").first().first()";
    let files = vec!["parts.typ".to_owned(), "list.csv".to_owned()];
    let request = Request { files, ..request(template) };
    let parts = vec![b"#let greeting = [Hello]".to_vec(), b"a,b".to_vec()];
    typesetter().made_of(&request, parts).unwrap();
    let wrong = Request { files: vec!["../up.typ".to_owned()], ..support::request("") };
    assert!(refused(typesetter().made_of(&wrong, vec![Vec::new()])).message.contains("no name of a file"));
}

#[test]
fn a_template_has_fonts_of_its_own() {
    let font = typst_assets::fonts().find(|font| ttf_name(font).contains("DejaVu")).unwrap().to_vec();
    let files = vec!["own.TTF".to_owned()];
    let request = Request { files, ..request("#set text(font: \"DejaVu Sans Mono\", fallback: false)\nText") };
    let mut typesetter = typesetter();
    let with = typesetter.made_of(&request, vec![font.clone()]).unwrap();
    assert_eq!(typesetter.made_of(&request, vec![font]).unwrap(), with);
    assert!(typesetter.made_of(&support::request("Text"), Vec::new()).is_ok());
}

fn ttf_name(font: &[u8]) -> String {
    typst::text::Font::new(typst::foundations::Bytes::new(font.to_vec()), 0).unwrap().info().family.clone()
}

#[test]
fn what_no_font_has_is_named_with_its_script() {
    for format in [Format::Pdf, Format::AccessiblePdf] {
        let request = Request { format, ..request("ก ข and 漢") };
        let fault = refused(typesetter().made_of(&request, Vec::new()));
        assert!(fault.message.starts_with("no font has the characters 漢 (Han), ก ข (Thai): "), "{}", fault.message);
    }
    assert!(made("Latin ĄŐ, Ελληνικά, Кириллица \u{200d}\u{ad}\u{2060}").is_ok());
}

#[test]
fn an_accessible_document_says_what_its_pictures_show() {
    let template = |alt: &str| format!("#image(pictures.at(\"Token\"){alt})");
    for (alt, is_made) in [("", false), (", alt: \"A colour\"", true)] {
        let pictures = vec!["Token".to_owned()];
        let request = Request { format: Format::AccessiblePdf, pictures, ..request(&template(alt)) };
        let made = typesetter().made_of(&request, vec![support::png(2, 2)]);
        assert_eq!(made.is_ok(), is_made, "{alt}");
        if let Err(fault) = made {
            assert_eq!(fault.line, Some(1), "{fault:?}");
        }
    }
}

#[test]
fn a_picture_that_cannot_be_shown_is_not_there() {
    let request = Request { pictures: vec!["Token".to_owned()], ..request("#assert(pictures == (:))") };
    typesetter().made_of(&request, vec![b"no picture".to_vec()]).unwrap();
}

#[test]
fn a_document_is_in_its_language_and_has_its_title() {
    let request = Request {
        language: "de".to_owned(),
        region: Some("DE".to_owned()),
        ..request("#context assert(text.lang == \"de\")")
    };
    let pdf = typesetter().made_of(&request, Vec::new()).unwrap();
    let pdf = String::from_utf8_lossy(&pdf);
    assert!(pdf.contains("/Lang") && pdf.contains("A document"), "no title");
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let mut request =
        request(include_str!("../../crates/plaudit/src/program/document_templates/shipped/entry_pack.typ"));
    request.data = sample();
    request.pictures = vec!["TokenOfTheLogoFileOfAllX".to_owned()];
    for format in support::FORMATS {
        let request = Request { format, ..request.clone() };
        let mut first = typesetter();
        let made = first.made_of(&request, vec![support::png(20, 10)]).unwrap();
        first.made_of(&support::request("Between"), Vec::new()).unwrap();
        assert!(first.made_of(&request, vec![support::png(20, 10)]).unwrap() == made, "{format:?}, again");
        assert!(
            typesetter().made_of(&request, vec![support::png(20, 10)]).unwrap() == made,
            "{format:?}, by another one"
        );
    }
}

#[test]
fn a_script_is_set_by_a_font_of_the_system_or_named() {
    let mut typesetter = plaudit_typeset::Typesetter::new(plaudit_typeset::fonts::Fonts::installed());
    for (language, region, script, text) in [
        ("ar", "EG", "Arabic", "جائزة الميناء"),
        ("he", "IL", "Hebrew", "פרס הנמל"),
        ("hi", "IN", "Devanagari", "बंदरगाह पुरस्कार"),
        ("bn", "BD", "Bengali", "বন্দর পুরস্কার"),
        ("th", "TH", "Thai", "รางวัลท่าเรือ"),
        ("hy", "AM", "Armenian", "Նավահանգստի մրցանակ"),
        ("el", "GR", "Greek", "Βραβείο του λιμανιού"),
        ("ru", "RU", "Cyrillic", "Премия гавани"),
        ("zh", "CN", "Han", "港口奖"),
        ("zh", "TW", "Han", "港口獎"),
        ("ja", "JP", "Hiragana", "みなとの"),
        ("ko", "KR", "Hangul", "항구 상"),
    ] {
        let (language, region) = (language.to_owned(), Some(region.to_owned()));
        let request = Request { language, region, format: Format::AccessiblePdf, ..request(text) };
        if let Err(fault) = typesetter.made_of(&request, Vec::new()) {
            assert!(fault.message.contains(&format!("({script})")), "{text}: {fault:?}");
        }
    }
}
