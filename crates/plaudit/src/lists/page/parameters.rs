//! The raw query as names and values, and back.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is written as an escape sequence.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',').remove(b':');

/// A part of the query that is not percent-encoded UTF-8, as it stood there.
pub(super) struct Undecodable<'query>(pub(super) &'query str);

/// The parameters of a query in order, as they stand there; an empty part is none.
pub(super) fn parts(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|part| !part.is_empty())
}

/// The names and values of a query in order; a parameter without `=` has the empty value.
pub(super) fn split(query: &str) -> impl Iterator<Item = Result<(String, String), Undecodable<'_>>> {
    parts(query).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        decode(name).zip(decode(value)).ok_or(Undecodable(part))
    })
}

/// The text behind percent-encoding, `+` being a blank as in forms.
fn decode(text: &str) -> Option<String> {
    // The library leaves a percent sign alone that begins no escape sequence.
    let is_escape = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    let decoded = |text: String| percent_decode_str(&text).decode_utf8().ok().map(Cow::into_owned);
    text.split('%').skip(1).all(is_escape).then(|| decoded(text.replace('+', " ")))?
}

/// Appends `name=value`, percent-encoded, after a `?` or `&`.
pub(super) fn append(address: &mut String, name: &str, value: &str) {
    address.push(if address.contains('?') { '&' } else { '?' });
    address.extend(utf8_percent_encode(name, ESCAPED));
    address.push('=');
    address.extend(utf8_percent_encode(value, ESCAPED));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(query: &str) -> Option<Vec<(String, String)>> {
        split(query).map(Result::ok).collect()
    }

    #[test]
    fn a_query_is_split_and_decoded() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            pairs("a=1&&b=x+y%20z&c&d=&=e&f=1=2&g%5bh%5D=%C3%a9"),
            Some(vec![
                pair("a", "1"),
                pair("b", "x y z"),
                pair("c", ""),
                pair("d", ""),
                pair("", "e"),
                pair("f", "1=2"),
                pair("g[h]", "é"),
            ])
        );
        assert_eq!(pairs(""), Some(vec![]));
        for broken in ["a=%", "a=%4", "a=%zz", "%ff=1", "a=%C3", "a=%+1"] {
            assert_eq!(pairs(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn what_is_appended_reads_back(parameters in proptest::collection::vec(any::<(String, String)>(), 1..5)) {
            let mut address = String::from("/order");
            for (name, value) in &parameters {
                append(&mut address, name, value);
            }
            prop_assert!(address.is_ascii());
            prop_assert_eq!(pairs(address.strip_prefix("/order?").unwrap()), Some(parameters));
        }
    }
}
