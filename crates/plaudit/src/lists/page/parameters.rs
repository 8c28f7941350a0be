//! The raw query as names and values, and back.

use std::fmt::Write;

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
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high * 16 + low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Appends `name=value`, percent-encoded, after a `?` or `&`.
pub(super) fn append(address: &mut String, name: &str, value: &str) {
    address.push(if address.contains('?') { '&' } else { '?' });
    encode(name, address);
    address.push('=');
    encode(value, address);
}

/// Everything but unreserved characters is encoded; `,` and `:` stay, since lists and times are read by people.
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~,:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
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
