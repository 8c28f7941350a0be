//! How people and places on the web are reached: e-mail addresses, telephone numbers, web addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The most bytes of an e-mail address (RFC 5321, section 4.5.3.1.3, with its angle brackets).
pub const EMAIL_LENGTH: usize = 254;
/// The most bytes of the part before the `@` (RFC 5321, section 4.5.3.1.1).
const LOCAL_PART_LENGTH: usize = 64;
/// The most bytes of the name of a host (RFC 1035, section 2.3.4, as text).
const HOST_LENGTH: usize = 253;
/// The most bytes of a label of such a name.
const LABEL_LENGTH: usize = 63;
/// The most bytes of a web address; beyond it browsers and servers disagree.
const WEB_ADDRESS_LENGTH: usize = 2_048;

/// Whether a text is an e-mail address that can be written to from anywhere: the dot-atom form of RFC 5322, with the
/// letters of all scripts (RFC 6531), at a name with a dot in it. Quoted local parts, comments and numeric hosts, which
/// nobody has, are not taken.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |part: &str| !part.is_empty() && part.chars().all(|c| is_letter_or(c, "!#$%&'*+-/=?^_`{|}~"));
    text.len() <= EMAIL_LENGTH
        && local.len() <= LOCAL_PART_LENGTH
        && local.split('.').all(is_atom)
        && is_domain(domain)
        && domain.contains('.')
        && !domain.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a text is a telephone number as in E.164: a plus sign and 7 to 15 digits, the first of which is not 0.
pub fn is_phone(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (7..=15).contains(&digits.len()) && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is an absolute web address that begins with `https://`: a host, perhaps a port, and what follows as
/// RFC 3986 and, for the letters of all scripts, RFC 3987 have it. A name or password in front of the host is refused,
/// because it makes an address look like that of another host.
pub fn is_web_address(text: &str) -> bool {
    let Some(rest) = text.get(..8).filter(|scheme| scheme.eq_ignore_ascii_case("https://")).map(|_| &text[8..]) else {
        return false;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    text.len() <= WEB_ADDRESS_LENGTH && is_host_with_port(authority) && has_address_characters(path)
}

fn is_host_with_port(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        // The colons inside the brackets of a numeric address are its own.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|number| number != 0)
    };
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None if host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => host.parse::<Ipv4Addr>().is_ok(),
        None => is_domain(host),
    };
    is_host && port.is_none_or(is_port)
}

/// Whether a text is the name of a host: labels of letters, digits and hyphens between dots. Letters of all scripts are
/// taken as they are written, before they are encoded (RFC 5890).
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_LENGTH).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| is_letter_or(c, "-"))
    };
    text.len() <= HOST_LENGTH && text.split('.').all(is_label)
}

/// Whether all characters may stand behind the host, percent signs only before two hexadecimal digits.
fn has_address_characters(path: &str) -> bool {
    let is_encoded = |after: &str| after.len() >= 2 && after.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    path.chars().all(|c| is_letter_or(c, "-._~:/?#[]@!$&'()*+,;=%")) && path.split('%').skip(1).all(is_encoded)
}

/// Whether a character is a letter or digit of ASCII, one of these, or one of another script that shows.
fn is_letter_or(c: char, others: &str) -> bool {
    c.is_ascii_alphanumeric() || others.contains(c) || (!c.is_ascii() && is_visible(c))
}

/// Whether a character shows: no blank, no control character, none of those that only change how others are shown.
fn is_visible(c: char) -> bool {
    let is_format = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let is_no_text = matches!(c, '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..);
    !c.is_whitespace() && !c.is_control() && !is_format && !is_no_text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_email_address_is_a_dot_atom_at_a_name_with_a_dot() {
        for right in [
            "a@b.co",
            "first.last+tag@example.org",
            "o'neil_&~!#$%*/=?^`{|}-@xn--bcher-kva.example",
            "åse@bücher.example",
            "1@1a.example",
        ] {
            assert!(is_email(right), "{right}");
        }
        let long = format!("{}@example.org", "x".repeat(65));
        let longer = format!("a@{}.org", vec!["x".repeat(60); 5].join("."));
        for wrong in [
            "",
            "@",
            "a@",
            "@b.co",
            "a@b",
            "a b@c.de",
            "a@b@c.de",
            ".a@b.co",
            "a.@b.co",
            "a..b@c.de",
            "\"a b\"@c.de",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "a@b..co",
            "a@-b.co",
            "a@b-.co",
            "a@b.co.",
            "a@b_c.de",
            "a@b.co\n",
            "a\u{200b}@b.co",
            "a@b.co, c@d.ef",
            "Ann <a@b.co>",
            &long,
            &longer,
        ] {
            assert!(!is_email(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_telephone_number_is_a_plus_sign_and_digits() {
        for right in ["+441632960123", "+2904123", "+123456789012345"] {
            assert!(is_phone(right), "{right}");
        }
        for wrong in
            ["", "+", "441632960123", "+041632960123", "+123456", "+1234567890123456", "+44 1632 960123", "+٤٤١٦٣٢٩٦"]
        {
            assert!(!is_phone(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_web_address_begins_with_https_and_has_a_host() {
        for right in [
            "https://example.org",
            "HTTPS://example.org:8443/a/b?c=d&e=%C3%A4#f",
            "https://127.0.0.1/",
            "https://[2001:db8::1]:443/x",
            "https://bücher.example/straße?q=ü",
            "https://localhost?x",
        ] {
            assert!(is_web_address(right), "{right}");
        }
        let long = format!("https://example.org/{}", "x".repeat(WEB_ADDRESS_LENGTH));
        for wrong in [
            "",
            "https://",
            "https:///a",
            "http://example.org",
            "ftp://example.org",
            "example.org",
            "javascript:alert(1)",
            "https://a b.org",
            "https://example.org/a b",
            "https://example.org/\"",
            "https://example.org/<b>",
            "https://example.org/%zz",
            "https://example.org/%4",
            "https://example.org:0/",
            "https://example.org:65536/",
            "https://example.org:/",
            "https://user@example.org/",
            "https://user:word@example.org/",
            "https://[::1/",
            "https://1.2.3/",
            "https://a..b/",
            "https://exa\u{202e}mple.org/",
            " https://example.org",
            "https://example.org\n",
            &long,
        ] {
            assert!(!is_web_address(wrong), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_them_fail(text in any::<String>(), tail in any::<String>()) {
            for text in [text.clone(), format!("https://{text}"), format!("{text}@{tail}"), format!("+{tail}")] {
                for is in [is_email, is_phone, is_web_address] {
                    if is(&text) {
                        prop_assert!(!text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"\\".contains(c)));
                    }
                }
            }
        }

        #[test]
        fn addresses_made_of_right_parts_are_right(
            local in "[a-z0-9]{1,8}(\\.[a-z0-9+_-]{1,8}){0,2}",
            host in "[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\\.[a-z]{2,6}){1,2}",
            path in "(/[a-z0-9._~-]{0,6}){0,4}(\\?[a-z]=(%[0-9A-F]{2}|[a-z]){0,3})?",
            port in 1_u16..,
        ) {
            let email = format!("{local}@{host}");
            prop_assert!(is_email(&email), "{email}");
            let address = format!("https://{host}:{port}{path}");
            prop_assert!(is_web_address(&address), "{address}");
            prop_assert!(!is_web_address(&address.replacen("https", "http", 1)));
        }
    }
}
