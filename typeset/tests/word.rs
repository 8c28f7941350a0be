//! Documents of Word: what they show, and what they cannot.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use support::{MadeOf as _, check_word, jpeg, part, png, refused, request, text, typesetter};
use typesetting::{Fault, Format, Request};

fn word(template: &str) -> Result<Vec<u8>, Fault> {
    typesetter().made_of(&Request { format: Format::Word, ..request(template) }, Vec::new())
}

fn document(template: &str) -> String {
    let docx = word(template).unwrap();
    check_word(&docx);
    part(&docx, "word/document.xml")
}

#[test]
fn paragraphs_headings_and_emphasis_are_shown() {
    let document = document(
        "#title[Big]\n= One\n== Two\nText with *bold* and _italic_ and #underline[line] and `code`.\n\nMore #super[2].",
    );
    for said in [
        "\"Title\"",
        "\"Heading1\"",
        "\"Heading2\"",
        "<w:b/>",
        "<w:i/>",
        "<w:u w:val=\"single\"",
        "Courier New",
        "superscript",
    ] {
        assert!(document.contains(said), "{said} is not in {document}");
    }
    assert_eq!(text(&word("One\ntwo\n\nThree").unwrap()), "One two\nThree");
    assert_eq!(text(&word("Text#footnote[Note]").unwrap()), "Text1\n1Note");
    assert!(self::document("```\na\nb\n```").contains("<w:br w:type=\"textWrapping\""));
}

#[test]
fn blanks_between_words_stay() {
    assert_eq!(text(&word("a *b* c#text(red)[ d]e #h(2pt) f").unwrap()), "a b c de f");
}

#[test]
fn lists_are_shown_with_their_numbers() {
    let docx = word("- a\n  - b\n+ one\n+ two\n\nText\n\n#enum(start: 7)[seven]").unwrap();
    check_word(&docx);
    let document = part(&docx, "word/document.xml");
    assert_eq!(document.matches("<w:numPr>").count(), 5, "{document}");
    let numbers = part(&docx, "word/numbering.xml");
    assert!(numbers.contains("<w:start w:val=\"7\""), "{numbers}");
    let docx = word("#set enum(numbering: \"(a)\")\n+ one\n\n3. three\n4. four\n9. nine").unwrap();
    let numbers = part(&docx, "word/numbering.xml");
    assert_eq!(numbers.matches("<w:abstractNum ").count(), 5, "{numbers}");
    for said in ["lowerLetter", "w:val=\"(%1)\"", "<w:start w:val=\"3\"", "<w:start w:val=\"9\""] {
        assert!(numbers.contains(said), "{said} is not in {numbers}");
    }
    assert!(refused(word("#enum(numbering: number => [x], [a])")).message.contains("by a function"));
    let deep = (0..12).map(|depth| "  ".repeat(depth) + "- x\n").collect::<String>();
    assert!(refused(word(&deep)).message.contains("more than 9 deep"));
}

#[test]
fn tables_are_shown_with_what_spans() {
    let document = document(
        "#table(columns: (1fr, 2cm, auto), table.header[A][B][C], table.cell(rowspan: 2)[d], [e], [f], table.cell(colspan: 2)[g], [h])",
    );
    assert_eq!(document.matches("<w:tr>").count(), 4);
    for said in
        ["<w:gridSpan w:val=\"2\"", "<w:vMerge w:val=\"restart\"", "<w:vMerge w:val=\"continue\"", "w:w=\"1134\""]
    {
        assert!(document.contains(said), "{said} is not in {document}");
    }
    let nested = self::document("#table(columns: 1, table(columns: 1)[inner])");
    assert!(nested.contains("</w:tbl><w:p "), "a cell ends with a paragraph: {nested}");
}

#[test]
fn a_grid_is_a_table_without_lines() {
    let document = document("#grid(columns: 2, [a], grid.cell(align: right)[b], grid.hline())");
    assert!(document.contains("<w:tbl>") && !document.contains("w:val=\"single\""), "{document}");
    assert!(document.contains("<w:jc w:val=\"end\""), "{document}");
}

#[test]
fn size_colour_and_place_are_shown() {
    let document = document(
        "#set align(center)\n#text(size: 20pt, fill: rgb(\"#ff0000\"), weight: 700)[Big]\n\n#align(right)[Right]",
    );
    for said in ["<w:sz w:val=\"40\"", "FF0000", "<w:b/>", "<w:jc w:val=\"center\"", "<w:jc w:val=\"end\""] {
        assert!(document.contains(said), "{said} is not in {document}");
    }
}

#[test]
fn pages_are_those_of_the_template() {
    let docx = word("#set page(flipped: true, margin: (x: 1cm, rest: 2cm), header: [Above], footer: [Below])\nText\n#pagebreak()\nMore").unwrap();
    check_word(&docx);
    let document = part(&docx, "word/document.xml");
    for said in [
        "w:orient=\"landscape\"",
        "w:w=\"16838\" w:h=\"11906\"",
        "w:top=\"1134\"",
        "w:left=\"567\"",
        "<w:br w:type=\"page\"",
    ] {
        assert!(document.contains(said), "{said} is not in {document}");
    }
    assert!(part(&docx, "word/header1.xml").contains("Above"));
    assert!(part(&docx, "word/footer1.xml").contains("Below"));
    assert!(!document.contains("Above"));
    for numbered in [
        "#set page(numbering: \"1 / 1\")\nText",
        "#set page(footer: context [Page #counter(page).display() of #counter(page).final().first()])\nText",
    ] {
        let footer = part(&word(numbered).unwrap(), "word/footer1.xml");
        assert!(footer.contains("PAGE") && footer.contains("NUMPAGES") && !footer.contains("7281"), "{footer}");
    }
}

#[test]
fn pictures_have_their_kind_and_what_they_show() {
    let template =
        r#"#image(pictures.at("One"), alt: "A \"one\" & <two>") #image(pictures.at("Two"), width: 50%, alt: "Two")"#;
    let pictures = vec!["One".to_owned(), "Two".to_owned()];
    let request = Request { format: Format::Word, pictures, ..request(template) };
    let docx = typesetter().made_of(&request, vec![png(30, 20), jpeg(4000, 2000)]).unwrap();
    check_word(&docx);
    let document = part(&docx, "word/document.xml");
    assert!(
        document.contains("id=\"1\" name=\"Figure 1\" descr=\"A &quot;one&quot; &amp; &lt;two&gt;\""),
        "{document}"
    );
    let rels = part(&docx, "word/_rels/document.xml.rels");
    assert!(rels.contains("media/rIdPicture1.png") && rels.contains("media/rIdPicture2.jpeg"), "{rels}");
    assert!(document.contains("cx=\"285750\" cy=\"190500\""), "{document}");
}

#[test]
fn links_lead_where_they_say() {
    let docx = word("#link(\"https://example.org/?a=1&b=2\")[Link]").unwrap();
    check_word(&docx);
    assert!(part(&docx, "word/_rels/document.xml.rels").contains("https://example.org/?a=1&amp;b=2\""));
}

#[test]
fn what_word_cannot_show_is_a_fault_with_its_place() {
    for (template, said) in [
        ("A\n#rect(width: 1cm)", "rect"),
        ("A\n#circle(radius: 1cm)", "circle"),
        ("A\n$ x^2 $", "math"),
        ("A\n#html.frame[x]", "frame"),
        ("A\n#line(start: (0pt, 0pt), end: (1cm, 1cm))", "line"),
    ] {
        let fault = refused(word(template));
        assert!(fault.message.contains("Word cannot show") && fault.message.contains(said), "{template}: {fault:?}");
        assert_eq!(fault.line, Some(2), "{template}: {fault:?}");
    }
    assert!(refused(word("#set page(background: [x])\nA")).message.contains("Word cannot show a background"));
}

#[test]
fn a_character_that_xml_has_no_place_for_is_left_out() {
    let docx = word("#\"a\\u{1}b\\u{ffff}c\"").unwrap();
    check_word(&docx);
    assert_eq!(text(&docx), "abc");
}

#[test]
fn a_language_from_right_to_left_is_written_so() {
    let request = Request { format: Format::Word, language: "ar".to_owned(), region: None, ..request("مرحبا") };
    let docx = typesetter().made_of(&request, Vec::new()).unwrap();
    check_word(&docx);
    assert!(part(&docx, "word/document.xml").contains("<w:rtl/>"));
    let styles = part(&docx, "word/styles.xml");
    assert!(styles.contains("<w:bidi/>") && styles.contains("w:bidi=\"ar\""), "{styles}");
    assert!(part(&docx, "docProps/core.xml").contains("<dc:title>A document</dc:title>"));
}
