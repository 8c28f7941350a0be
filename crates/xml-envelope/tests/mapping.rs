//! The mapping by example: each kind of value, names, text, slots.

#![allow(clippy::expect_used)]

use xml_envelope::{NoSlots, Slots, begin, end, member, members, text};

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"before".to_vec();
    write(&mut out);
    let xml = String::from_utf8(out).expect("the output is UTF-8");
    xml.strip_prefix("before").expect("only appends").to_owned()
}

fn as_member(json: &str) -> String {
    written(|out| member(out, "a", json, &NoSlots))
}

#[track_caller]
fn check_name(plain: &str, escaped: &str) {
    let object = serde_json::json!({ plain: 1 }).to_string();
    let element = format!("<{escaped}>1</{escaped}>");
    assert_eq!(written(|out| members(out, &object, &NoSlots)), element, "in {object}");
    assert_eq!(written(|out| member(out, plain, "1", &NoSlots)), element, "member({plain:?})");
}

#[test]
fn the_envelope_is_the_documented_one() {
    let document = written(|out| {
        begin(out);
        end(out);
    });
    assert_eq!(
        document,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><root xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"></root>"
    );
}

#[test]
fn every_kind_of_value_has_its_form() {
    for (json, xml) in [
        ("12.50", "<a>12.50</a>"),
        ("-1e+7", "<a>-1e+7</a>"),
        ("true", "<a>true</a>"),
        ("false", "<a>false</a>"),
        ("null", "<a xsi:nil=\"true\"/>"),
        ("\"\"", "<a></a>"),
        ("\"text\"", "<a>text</a>"),
        ("{}", "<a></a>"),
        (r#"{"b":1,"c":{"d":null}}"#, "<a><b>1</b><c><d xsi:nil=\"true\"/></c></a>"),
        ("[]", "<a/>"),
        ("[1]", "<a>1</a>"),
        (r#"["x",null,{"b":[]}]"#, "<a>x</a><a xsi:nil=\"true\"/><a><b/></a>"),
        ("[[1,2],[],[[3]]]", "<a><a>1</a><a>2</a></a><a/><a><a><a>3</a></a></a>"),
        (" { \"b\" :\n[ 1 ,\t[ ] , [ 2 ] ] , \"c\" : { } } ", "<a><b>1</b><b/><b><b>2</b></b><c></c></a>"),
    ] {
        assert_eq!(as_member(json), xml, "{json}");
    }
}

#[test]
fn names_that_xml_accepts_stand() {
    for plain in [
        "a",
        "_",
        "A-1.b_c",
        "tax_rate",
        "en_GB",
        "a_x",
        "_xy",
        "x_x0",
        "transaction_reference_that_is_long_indeed",
        "été",
        "Ünïcode",
        "имя",
        "日本",
        "a·b",
    ] {
        check_name(plain, plain);
    }
}

#[test]
fn other_names_are_escaped_so_that_they_can_be_decoded() {
    for (plain, escaped) in [
        ("", "_x_"),
        ("_x_", "_x005F_x_"),
        ("1st", "_x0031_st"),
        ("-", "_x002D_"),
        ("a b", "a_x0020_b"),
        ("a:b", "a_x003A_b"),
        ("a\"/><b", "a_x0022__x002F__x003E__x003C_b"),
        ("_x0041_", "_x005F_x0041_"),
        ("_x00e9_", "_x005F_x00e9_"),
        ("_x0041", "_x0041"),
        ("_x0041:", "_x005F_x0041_x003A_"),
        ("_x005F_x0041_", "_x005F_x005F_x005F_x0041_"),
        ("a×b÷c", "a_x00D7_b_x00F7_c"),
        ("😀", "_xD83D__xDE00_"),
        ("\u{7f}\u{0}", "_x007F__x0000_"),
        ("\u{ffff}\\", "_xFFFF__x005C_"),
    ] {
        check_name(plain, escaped);
    }
    let lone = written(|out| members(out, r#"{"\ud800x":1}"#, &NoSlots));
    assert_eq!(lone, "<_xD800_x>1</_xD800_x>");
}

#[test]
fn text_is_escaped_and_forbidden_characters_are_replaced() {
    for (json, xml) in [
        (r#""<a href=\"x\">&amp;<\/a>""#, r#"&lt;a href="x"&gt;&amp;amp;&lt;/a&gt;"#),
        (r#""\u003c\u0026\u003E\u0022'""#, "&lt;&amp;&gt;\"'"),
        (r#""a\r\n\tb\u000d""#, "a&#13;\n\tb&#13;"),
        (r#""\u0000\b\f\u001f\u007f""#, "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{7f}"),
        (r#""\ufffe\uFFFF\ufffd""#, "\u{fffd}\u{fffd}\u{fffd}"),
        ("\"\u{fffe}a\u{ffff}\u{fffd}！\"", "\u{fffd}a\u{fffd}\u{fffd}！"),
        (r#""\ud83d\ude00\ud83d\ud83d\ude00\ude00\ud83dx\ud83d\n""#, "😀\u{fffd}😀\u{fffd}\u{fffd}x\u{fffd}\n"),
        (r#""\\u0041\\""#, "\\u0041\\"),
        ("\"£10 ]]> €\"", "£10 ]]&gt; €"),
    ] {
        assert_eq!(as_member(json), format!("<a>{xml}</a>"), "{json}");
        let plain: Result<String, _> = serde_json::from_str(json);
        if let Ok(plain) = plain {
            assert_eq!(written(|out| text(out, &plain)), xml, "{plain:?}");
        }
    }
}

#[test]
fn every_special_character_is_found_at_every_offset() {
    for special in ["\"", "\\", "&", "<", ">", "\r", "\u{1}", "\u{ffff}", "！", "\n", "😀"] {
        for before in 0..200 {
            let plain =
                format!("{}{special}{}", "é".repeat(before / 2) + &"x".repeat(before % 2), "y".repeat(200 - before));
            let expected = match special {
                "&" => plain.replace('&', "&amp;"),
                "<" => plain.replace('<', "&lt;"),
                ">" => plain.replace('>', "&gt;"),
                "\r" => plain.replace('\r', "&#13;"),
                "\u{1}" | "\u{ffff}" => plain.replace(special, "\u{fffd}"),
                _ => plain.clone(),
            };
            assert_eq!(written(|out| text(out, &plain)), expected);
            let json = serde_json::to_string(&plain).expect("a string is JSON");
            assert_eq!(as_member(&json), format!("<a>{expected}</a>"));
        }
    }
}

#[test]
fn names_of_every_length_stand() {
    for length in 1..200 {
        let plain = "n_1".repeat(70)[..length].to_owned();
        check_name(&plain, &plain);
        let json = format!(r#"{{"{plain}":[{{}},"v",[]],"b":null}}"#);
        let xml = format!("<{plain}></{plain}><{plain}>v</{plain}><{plain}/><b xsi:nil=\"true\"/>");
        assert_eq!(written(|out| members(out, &json, &NoSlots)), xml);
    }
}

#[test]
fn what_an_underscore_escapes_is_found_at_every_offset() {
    for before in 0..140 {
        let before = "n".repeat(before);
        check_name(&format!("{before}_x0041_"), &format!("{before}_x005F_x0041_"));
        check_name(&format!("a{before}x_x"), &format!("a{before}x_x"));
        check_name(&format!("a{before}X"), &format!("a{before}X"));
    }
}

#[test]
fn names_and_values_of_every_length_stand_side_by_side() {
    let behind = "z".repeat(40);
    for name in (1..=34).map(|length| "n".repeat(length)) {
        for length in 0..=34 {
            let (text, number) = ("t".repeat(length), "1".repeat(length + 1));
            let json = format!(r#"{{"{name}":"{text}","{name}":{number},"z":"{behind}"}}"#);
            let xml = format!("<{name}>{text}</{name}><{name}>{number}</{name}><z>{behind}</z>");
            assert_eq!(written(|out| members(out, &json, &NoSlots)), xml);
        }
    }
}

#[test]
fn text_that_is_cut_off_anywhere_does_no_harm() {
    let long = "é".repeat(70);
    let json = format!(
        r#"{{"a":"␡l/{long}","b_x0041_":"\u00e9\\{long}<","␡p":{{"c":["{long}",1.5,null]}},"d":{{"␡t":{{"e":"\"{long}"}}}}}}"#
    );
    let json = json.replace('␡', "\u{7f}");
    for end in (0..=json.len()).filter(|end| json.is_char_boundary(*end)) {
        let cut = &json[..end];
        written(|out| member(out, "a", cut, &NoSlots));
        written(|out| members(out, cut, &Record));
        // The value of the first member is a slot.
        written(|out| member(out, "a", cut.trim_start_matches("{\"a\":"), &Record));
    }
}

#[test]
fn deep_values_do_not_exhaust_the_stack() {
    let depth = 128;
    let lists = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(as_member(&lists), format!("{}1{}", "<a>".repeat(depth), "</a>".repeat(depth)));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert_eq!(as_member(&objects), format!("{}1{}", "<a>".repeat(depth + 1), "</a>".repeat(depth + 1)));
}

/// Writes what it is asked for.
struct Record;

impl Slots for Record {
    fn value(&self, out: &mut Vec<u8>, name: &str, slot: &str) {
        out.extend_from_slice(format!("[value {name} {slot}]").as_bytes());
    }

    fn object(&self, out: &mut Vec<u8>, name: &str, key: &str, json: &str) {
        out.extend_from_slice(format!("[object {name} {key} {json}]").as_bytes());
    }

    fn members(&self, out: &mut Vec<u8>, key: &str, json: &str) {
        out.extend_from_slice(format!("[members {key} {json}]").as_bytes());
    }
}

#[test]
fn slots_are_filled_where_they_stand() {
    for (json, xml) in [
        (r#"{"b":"␡l/user/Ab","c":1}"#, "<a>[value b l/user/Ab]<c>1</c></a>"),
        (r#"{"b b":["␡d1","␡d2"]}"#, "<a>[value b_x0020_b d1][value b_x0020_b d2]</a>"),
        (r#"{"t":{"␡t19":{"en":"a}\"]","fr":[]}},"c":1}"#, r#"<a>[object t t19 {"en":"a}\"]","fr":[]}]<c>1</c></a>"#),
        (r#"{"t":{ "␡t" : [1, {}] , "more":[{}],"n":null } ,"c":1}"#, "<a>[object t t [1, {}]]<c>1</c></a>"),
        (r#"{"b":1,"␡p":0,"c":2}"#, "<a><b>1</b>[members p 0]<c>2</c></a>"),
        (r#"{"b":1,"␡p":{"x":"y"}}"#, r#"<a><b>1</b>[members p {"x":"y"}]</a>"#),
        (r#"{"b":"\u007f","\u007fp":1,"c":"x␡"}"#, "<a><b>␡</b><_x007F_p>1</_x007F_p><c>x␡</c></a>"),
        (r#"{"␡t":{}}"#, "[object a t {}]"),
        (r#""␡r""#, "[value a r]"),
    ] {
        let (json, xml) = (json.replace('␡', "\u{7f}"), xml.replace('␡', "\u{7f}"));
        assert_eq!(written(|out| member(out, "a", &json, &Record)), xml, "{json:?}");
    }
    let spliced = written(|out| members(out, "{\"\u{7f}p\":0,\"b\":1}", &Record));
    assert_eq!(spliced, "[members p 0]<b>1</b>");
    let plain = written(|out| members(out, "{\"\u{7f}p\":\"\u{7f}x\"}", &NoSlots));
    assert_eq!(plain, "<_x007F_p>\u{7f}x</_x007F_p>");
}
