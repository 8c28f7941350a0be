//! The functions of a file: where they stand, what they take, how long they are.

use super::paths::split;
use super::source::{Source, after_closing, is_name_byte};

/// A function with its parameters as written.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) is_public: bool,
    pub(super) is_async: bool,
    pub(super) parameters: Vec<String>,
    /// The position after its body; none where it has no body.
    pub(super) end: Option<usize>,
}

/// Every function of a file, nested ones and methods included.
pub(super) fn functions(source: &Source) -> Vec<Function> {
    source.words("fn").into_iter().filter_map(|start| function(&source.code, start)).collect()
}

fn function(code: &str, start: usize) -> Option<Function> {
    let rest = &code[start + "fn".len()..];
    let name_start = start + "fn".len() + (rest.len() - rest.trim_start().len());
    let name_length = code[name_start..].bytes().position(|byte| !is_name_byte(byte))?;
    if name_length == 0 {
        // The type of a function has no name.
        return None;
    }
    let open = parameter_list(code, name_start + name_length)?;
    let close = after_closing(code, open);
    let parameters = split(&code[open + 1..close - 1]).into_iter().map(str::to_owned).collect();
    let name = code[name_start..name_start + name_length].to_owned();
    let body = body(code, close);
    Some(Function {
        name,
        start,
        is_public: is_marked(&code[..start], "pub"),
        is_async: is_marked(&code[..start], "async"),
        parameters,
        end: body.map(|body| after_closing(code, body)),
    })
}

/// The bracket that opens the parameters, past the generic ones.
fn parameter_list(code: &str, from: usize) -> Option<usize> {
    let bytes = code.as_bytes();
    let mut depth = 0_usize;
    for index in from..bytes.len() {
        match bytes[index] {
            b'<' => depth += 1,
            b'>' if bytes[index - 1] != b'-' => depth = depth.saturating_sub(1),
            b'(' if depth == 0 => return Some(index),
            b'{' | b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The brace that opens the body; a semicolon outside brackets comes first where there is none.
fn body(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return Some(index),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether a keyword stands between the end of what comes before and the function.
fn is_marked(before: &str, keyword: &str) -> bool {
    let start = before.rfind([';', '{', '}', ']']).map_or(0, |end| end + 1);
    before[start..].split(|character: char| !character.is_alphanumeric()).any(|word| word == keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_with_their_parameters() {
        let text = "#[inline]\npub(crate) async fn find<T, F: Fn(u8) -> T>(db: &Db, f: F) -> [u8; 4] {\n  fn inner() {}\n}\n\
                    trait T { fn bare(&self); }\ntype F = fn(u8);";
        let source = Source::new("a.rs", text);
        let functions = functions(&source);
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["find", "inner", "bare"]);
        assert!(functions[0].is_public && functions[0].is_async);
        assert!(!functions[1].is_public && !functions[1].is_async);
        assert_eq!(functions[0].parameters, ["db: &Db", "f: F"]);
        assert_eq!(functions[0].end.map(|end| source.line(end)), Some(4));
        assert_eq!(functions[2].end, None);
    }
}
