//! Reads the JSON of an upload as it arrives: the text of `data` goes on, everything else is kept and parsed at the end.
//!
//! The scanner knows just enough JSON to find the string that is the member `data` of the outermost object. What it
//! keeps is the same text with the base64 characters of that string taken out, and the strict parser checks it: the one
//! is JSON exactly when the other is. A run of characters that is taken out between two that are not base64 leaves an
//! `A`, so that these do not come together.

use kernel::json::{BodyError, parse_object, parse_value};
use kernel::json::{Json, Object as JsonObject};

/// The member whose text goes on.
const DATA: &str = "data";

/// There is more beside the data than may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// What has been read of a body.
#[derive(Debug)]
pub(super) struct Scanner {
    kept: Vec<u8>,
    limit: usize,
    state: State,
    depth: usize,
    /// Whether the outermost value is an object.
    is_object: bool,
    /// Whether the next string on the first level is a name.
    is_name_next: bool,
    name_start: usize,
    is_data_next: bool,
    data: Option<Taken>,
}

/// What was taken out.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    /// Where the string begins in what is kept.
    at: usize,
    /// How many characters were taken out.
    characters: usize,
    /// Whether the string has characters that are not base64.
    is_wrong: bool,
    /// Whether characters were taken out since the last one that was kept.
    is_run: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Between strings.
    Between,
    /// In a string that is kept.
    Text { is_name: bool, is_escaped: bool },
    /// In the string of the data.
    Data,
    /// In an escape sequence of it, of which this was read.
    Escape(Vec<u8>),
}

/// A body that was read whole.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The members; the text of the data is gone.
    pub(super) members: JsonObject<'static>,
    /// Whether the data was a string, and whether it had only characters of base64; nothing where there was no string.
    pub(super) is_base64: Option<bool>,
}

impl Scanner {
    /// A scanner that keeps at most `limit` bytes beside the data.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
            state: State::Between,
            depth: 0,
            is_object: false,
            is_name_next: false,
            name_start: 0,
            is_data_next: false,
            data: None,
        }
    }

    /// Takes the next bytes; characters of the data are added to `text`.
    pub(super) fn take(&mut self, mut bytes: &[u8], text: &mut Vec<u8>) -> Result<(), TooMuch> {
        while let Some((byte, rest)) = bytes.split_first() {
            if self.state == State::Data {
                let run = bytes.iter().take_while(|byte| is_base64(**byte)).count();
                if run > 0 {
                    self.go_on(&bytes[..run], text);
                    bytes = &bytes[run..];
                    continue;
                }
            }
            if self.step(*byte, text) {
                bytes = rest;
            }
            if self.kept.len() > self.limit {
                return Err(TooMuch);
            }
        }
        Ok(())
    }

    /// How many bytes beside the data are kept.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Whether nothing but blanks came.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.trim_ascii().is_empty()
    }

    /// The members, when everything has come.
    pub(super) fn finish(mut self) -> Result<Scanned, BodyError> {
        if let State::Escape(read) = std::mem::replace(&mut self.state, State::Between) {
            self.keep(&read);
        }
        let members = parse_object(&self.kept).map_err(|error| self.located(error))?.into_owned();
        Ok(Scanned { members, is_base64: self.data.map(|data| !data.is_wrong) })
    }

    /// An error where it stands in the body.
    fn located(&self, error: BodyError) -> BodyError {
        let Some(data) = self.data else { return error };
        let before = String::from_utf8_lossy(&self.kept[..data.at]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let is_behind = error.line == line && error.column > column;
        BodyError { column: if is_behind { error.column + data.characters } else { error.column }, ..error }
    }

    /// Takes one byte; false where it has to be taken again in another state.
    fn step(&mut self, byte: u8, text: &mut Vec<u8>) -> bool {
        match std::mem::replace(&mut self.state, State::Between) {
            State::Between => {
                self.kept.push(byte);
                self.state = self.between(byte);
                true
            }
            State::Text { is_name, is_escaped } => {
                self.kept.push(byte);
                if byte == b'"' && !is_escaped {
                    if is_name {
                        let name = parse_value(&self.kept[self.name_start..]);
                        self.is_data_next = name.is_ok_and(|name| name == Json::String(DATA.into()));
                    }
                } else {
                    self.state = State::Text { is_name, is_escaped: byte == b'\\' && !is_escaped };
                }
                true
            }
            State::Data => {
                match byte {
                    b'"' => self.kept.push(byte),
                    b'\\' => self.state = State::Escape(vec![byte]),
                    _ => {
                        self.keep(&[byte]);
                        self.state = State::Data;
                    }
                }
                true
            }
            State::Escape(read) => self.escape(read, byte, text),
        }
    }

    fn between(&mut self, byte: u8) -> State {
        match byte {
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                if self.depth == 1 {
                    (self.is_object, self.is_name_next) = (byte == b'{', true);
                }
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if self.depth == 1 => self.is_name_next = true,
            b':' if self.depth == 1 => self.is_name_next = false,
            b'"' if self.depth == 1 && self.is_object && self.is_name_next => {
                self.name_start = self.kept.len() - 1;
                return State::Text { is_name: true, is_escaped: false };
            }
            b'"' if self.depth == 1 && self.is_data_next && self.data.is_none() => {
                self.data = Some(Taken { at: self.kept.len(), ..Taken::default() });
                return State::Data;
            }
            b'"' => return State::Text { is_name: false, is_escaped: false },
            _ => {}
        }
        State::Between
    }

    /// `\/` and `\u002b` are characters of base64 too, and some clients write them so.
    fn escape(&mut self, mut read: Vec<u8>, byte: u8, text: &mut Vec<u8>) -> bool {
        self.state = State::Data;
        let is_unicode = read.get(1) == Some(&b'u');
        if read.len() == 1 && byte == b'/' {
            self.go_on(b"/", text);
            // Two characters stood for one.
            self.count(1);
        } else if (read.len() == 1 && byte == b'u') || (is_unicode && byte.is_ascii_hexdigit()) {
            read.push(byte);
            if read.len() < 6 {
                self.state = State::Escape(read);
            } else {
                let digits = std::str::from_utf8(&read[2..]).unwrap_or_default();
                match u8::from_str_radix(digits, 16).ok().filter(|byte| is_base64(*byte)) {
                    Some(character) => {
                        self.go_on(&[character], text);
                        self.count(5);
                    }
                    None => self.keep(&read),
                }
            }
        } else if is_unicode {
            // It is no escape sequence; what follows is checked as it would be.
            self.keep(&read);
            return false;
        } else {
            read.push(byte);
            self.keep(&read);
        }
        true
    }

    fn go_on(&mut self, characters: &[u8], text: &mut Vec<u8>) {
        self.count(characters.len());
        if let Some(data) = &mut self.data {
            data.is_run = true;
        }
        text.extend_from_slice(characters);
    }

    fn count(&mut self, characters: usize) {
        if let Some(data) = &mut self.data {
            data.characters += characters;
        }
    }

    /// Keeps what is not base64.
    fn keep(&mut self, bytes: &[u8]) {
        if let Some(data) = &mut self.data {
            data.is_wrong = true;
            if std::mem::take(&mut data.is_run) {
                self.kept.push(b'A');
            }
        }
        self.kept.extend_from_slice(bytes);
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The members, what went on, and whether it was base64, of a body that came in pieces of this length.
    fn scanned(body: &[u8], piece: usize) -> Result<(String, String, Option<bool>), BodyError> {
        let mut scanner = Scanner::new(1 << 20);
        let mut text = Vec::new();
        for piece in body.chunks(piece) {
            scanner.take(piece, &mut text).unwrap();
        }
        let Scanned { members, is_base64 } = scanner.finish()?;
        Ok((Json::from(members).to_string(), String::from_utf8(text).unwrap(), is_base64))
    }

    #[test]
    fn the_data_goes_on_and_the_rest_is_kept() {
        for (body, members, text, is_base64) in [
            (r#"{"data":"AbC+/==","a":1}"#, r#"{"data":"","a":1}"#, "AbC+/==", Some(true)),
            (
                r#" { "a" : {"data":"x"}, "d\u0061ta" : "QQ==" } "#,
                r#"{"a":{"data":"x"},"data":""}"#,
                "QQ==",
                Some(true),
            ),
            (r#"{"data":"a\/\u002b\u002Bb"}"#, r#"{"data":""}"#, "a/++b", Some(true)),
            (r#"{"data":"a b\n\u00e9\"c"}"#, "{\"data\":\"A A\\né\\\"\"}", "abc", Some(false)),
            (r#"{"data":5}"#, r#"{"data":5}"#, "", None),
            (r#"{"data":["QQ=="]}"#, r#"{"data":["QQ=="]}"#, "", None),
            (r#"{"a":"data","b":"QQ=="}"#, r#"{"a":"data","b":"QQ=="}"#, "", None),
            (r#"{"filename":"data"}"#, r#"{"filename":"data"}"#, "", None),
            (r#"{"data":""}"#, r#"{"data":""}"#, "", Some(true)),
        ] {
            for piece in [1, 2, 3, 7, 100] {
                let expected = (members.to_owned(), text.to_owned(), is_base64);
                assert_eq!(scanned(body.as_bytes(), piece).unwrap(), expected, "{body} by {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_json_is_told_where_it_stands() {
        let reported = |body: &str| scanned(body.as_bytes(), 5).unwrap_err().to_string();
        assert_eq!(reported(r#"{"data":"AAAA","data":"BBBB"}"#), "line 1, column 16: the member `data` is given twice");
        assert_eq!(reported(r#"{"data":"AA\/A","x":}"#), "line 1, column 21: expected a value");
        assert_eq!(reported("{\n\"data\":\"AAAA\"\n,}"), "line 3, column 2: expected the name of a member in quotes");
        assert!(reported(r#"{"data":"AAAA"#).contains("the string has no end"));
        assert!(reported(r#"{"data":"AA\u00"}"#).contains("not an escape sequence"));
        assert!(reported(r#"{"data":"AA\xA"}"#).contains("not an escape sequence"));
        assert!(reported(r#"{"data":"\ud83dA\ude00"}"#).contains("half a character"));
        assert!(reported("{\"data\":\"A\nA\"}").contains("control character"));
        assert!(reported(r#"["data","AAAA"]"#).contains("expected an object"));
        assert!(scanned(b"{\"data\":\"A\xc3A\"}", 3).is_err());
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut scanner = Scanner::new(20);
        let mut text = Vec::new();
        scanner.take(br#"{"data":""#, &mut text).unwrap();
        scanner.take(&[b'A'; 5_000], &mut text).unwrap();
        assert_eq!(scanner.take(&[b' '; 50], &mut text), Err(TooMuch));
        assert_eq!(text.len(), 5_000);
    }

    proptest! {
        /// The strict parser decides, and what it says of the data is what went on.
        #[test]
        fn a_body_is_read_as_the_strict_parser_reads_it(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(":"), Just("\""), Just("\"data\""),
                    Just("\"data\":\""), Just("AbC"), Just("="), Just("\\"), Just("\\/"), Just("\\u0041"), Just("\\ud83d"),
                    Just(" "), Just("é"), Just("1"), Just("\"a\":1,"), Just("null"), Just("data"), Just("\\ude00"),
                ],
                0..14,
            ),
            piece in 1_usize..9,
        ) {
            let body = parts.concat();
            let scanned = scanned(body.as_bytes(), piece);
            match parse_object(body.as_bytes()) {
                Err(_) => prop_assert!(scanned.is_err(), "{body}"),
                Ok(object) => {
                    let (_, text, is_base64) = scanned.unwrap();
                    let whole = object.get("data").and_then(Json::as_str);
                    prop_assert_eq!(is_base64.is_some(), whole.is_some());
                    let is_right = whole.is_some_and(|whole| whole.bytes().all(super::is_base64));
                    prop_assert_eq!(is_base64 == Some(true), is_right);
                    if is_right {
                        prop_assert_eq!(Some(text.as_str()), whole);
                    }
                }
            }
        }
    }
}
