//! Replaces a member of a document without taking the rest of it apart.

/// The document with another value of one of its own members, or nothing where it has no such member. `value` is JSON
/// text as it stands, made by the writer of documents.
#[must_use]
pub fn with_member(document: &str, name: &str, value: &str) -> Option<String> {
    let bytes = document.as_bytes();
    let mut at = 1;
    loop {
        let name_end = string_end(bytes, at)?;
        let start = name_end + 1;
        let end = value_end(bytes, start)?;
        if document.get(at + 1..name_end - 1)? == name {
            return Some([document.get(..start)?, value, document.get(end..)?].concat());
        }
        if *bytes.get(end)? != b',' {
            return None;
        }
        at = end + 1;
    }
}

/// Where the string that begins here ends, past its closing quotation mark.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Where the value that begins here ends.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' | b',' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_replaced_and_nothing_else_is() {
        let document = r#"{"a":"\"user\":{","b":[{"user":1},"]"],"user":{"x":{"y":"}"}},"c":-1.5}"#;
        assert_eq!(
            with_member(document, "user", r#"{"z":1}"#).as_deref(),
            Some(r#"{"a":"\"user\":{","b":[{"user":1},"]"],"user":{"z":1},"c":-1.5}"#)
        );
        assert_eq!(
            with_member(document, "c", "true").as_deref(),
            Some(r#"{"a":"\"user\":{","b":[{"user":1},"]"],"user":{"x":{"y":"}"}},"c":true}"#)
        );
        assert_eq!(with_member(document, "d", "1"), None);
        assert_eq!(with_member("{}", "a", "1"), None);
        assert_eq!(with_member(r#"{"a":1}"#, "a", "2").as_deref(), Some(r#"{"a":2}"#));
    }
}
