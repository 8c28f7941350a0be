//! Strings in JSON.

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// Appends `text` as a JSON string, quotes included.
///
/// Beside what JSON demands, U+007F is escaped: a raw byte 0x7F marks a slot in a stored document, so it must
/// never come out of ordinary text.
pub fn write_json_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut written = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f {
            continue;
        }
        out.extend_from_slice(&bytes[written..index]);
        written = index + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEXADECIMAL[usize::from(byte >> 4)]);
                out.push(HEXADECIMAL[usize::from(byte & 0x0f)]);
            }
        }
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_json_string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_marker_of_a_slot_is_always_escaped() {
        assert_eq!(written("a\u{7f}b"), r#""a\u007fb""#);
    }

    #[test]
    fn short_escapes_are_used_where_json_has_them() {
        assert_eq!(written("\"\\\n\r\t\u{8}\u{c}\u{1}/é"), r#""\"\\\n\r\t\b\f\u0001/é""#);
    }

    proptest! {
        #[test]
        fn every_string_reads_back(text in any::<String>()) {
            let json = written(&text);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text.clone());
            prop_assert!(!json.as_bytes().contains(&0x7f));
            if !text.contains('\u{7f}') {
                prop_assert_eq!(json, serde_json::to_string(&text).unwrap());
            }
        }
    }
}
