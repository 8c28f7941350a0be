//! Scalars by the core schema of YAML 1.2.

use kernel::json::Json;
use kernel::text::excerpt;

/// A scalar without quotes: null, a boolean, a number, or a string.
pub(super) fn plain(text: &str) -> Result<Json<'static>, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Ok(Json::Null),
        "true" | "True" | "TRUE" => Ok(Json::Bool(true)),
        "false" | "False" | "FALSE" => Ok(Json::Bool(false)),
        _ => match number(text) {
            Some(number) => number.map(|number| Json::Number(number.into())),
            None => Ok(Json::String(text.to_owned().into())),
        },
    }
}

/// The text of a number as JSON has it; `None` for what is no number of the core schema.
fn number(text: &str) -> Option<Result<String, String>> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) =
            text.strip_prefix(prefix).filter(|digits| digits.chars().all(|digit| digit.is_digit(radix)))
        {
            return match (digits, i64::from_str_radix(digits, radix)) {
                ("", _) => None,
                (_, Ok(value)) => Some(Ok(value.to_string())),
                (_, Err(_)) => Some(Err(format!("the number `{}` is too large", excerpt(text)))),
            };
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Err(format!("`{text}` is no number that can be kept")));
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_digits = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    let is_number = are_digits(whole)
        && are_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent_digits.is_none_or(|digits| !digits.is_empty() && are_digits(digits));
    if !is_number {
        return None;
    }
    // JSON has no leading zeros, no plus before a number, and digits on both sides of a point.
    let whole = whole.trim_start_matches('0');
    let mut json = String::new();
    if text.starts_with('-') {
        json.push('-');
    }
    json.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        json.push('.');
        json.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        json.push('e');
        json.push_str(exponent);
    }
    Some(Ok(json))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use kernel::json::parse_value;

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("TRUE", "true"),
            ("false", "false"),
            ("no", "\"no\""),
            ("on", "\"on\""),
            ("Yes", "\"Yes\""),
            ("NO", "\"NO\""),
            ("nULL", "\"nULL\""),
            ("2026", "2026"),
            ("007", "7"),
            ("+12", "12"),
            ("-0", "-0"),
            ("0o14", "12"),
            ("0xfF", "255"),
            ("0x", "\"0x\""),
            ("1_000", "\"1_000\""),
            ("12:30", "\"12:30\""),
            ("2026-01-31", "\"2026-01-31\""),
            (".5", "0.5"),
            ("1.", "1"),
            ("-1.50e+3", "-1.50e+3"),
            ("1e5", "1e5"),
            ("1e", "\"1e\""),
            (".", "\".\""),
            ("-", "\"-\""),
            ("e5", "\"e5\""),
            ("1.2.3", "\"1.2.3\""),
        ] {
            assert_eq!(plain(text).unwrap().to_string(), json, "{text}");
        }
        for wrong in [".inf", "-.INF", ".nan", "0xffffffffffffffffff"] {
            assert!(plain(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_number_is_a_number_of_json(text in "[-+]?[0-9]{0,6}(\\.[0-9]{0,4})?([eE][-+]?[0-9]{1,2})?") {
            if let Some(Ok(json)) = number(&text) {
                prop_assert!(matches!(parse_value(json.as_bytes()), Ok(Json::Number(_))), "{} {}", text, json);
                let (written, read): (f64, f64) = (text.parse().unwrap(), json.parse().unwrap());
                prop_assert!((written - read).abs() <= f64::EPSILON * written.abs());
            }
        }
    }
}
