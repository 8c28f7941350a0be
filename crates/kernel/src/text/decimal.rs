//! Decimal text as an exact integer, and compared exactly.

use std::cmp::Ordering;

/// Why a text is not an exact decimal of the wanted precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// The text is not a number as JSON writes numbers.
    #[error("is not a decimal number")]
    Malformed,
    /// The number has digits below the wanted precision.
    #[error("has too many decimals")]
    TooManyDecimals,
    /// The number does not fit in 64 bits at the wanted precision.
    #[error("is too large")]
    TooLarge,
}

/// The number that `text` writes, times ten to the power of `decimals`, exactly.
///
/// `text` is a number in the grammar of JSON, so `.5`, `5.`, `+5` and `007` are malformed. An exponent is
/// followed exactly: `1e2` is 100. Zeros at the end of the fraction are no decimals: `12.500` is `12.5`.
pub fn parse_scaled(text: &str, decimals: u32) -> Result<i64, DecimalError> {
    let number = Number::split(text.as_bytes()).ok_or(DecimalError::Malformed)?;
    let digits = || number.whole.iter().chain(number.fraction).map(|digit| digit - b'0');
    let length = number.whole.len() + number.fraction.len();
    let Some(dropped) = digits().rev().position(|digit| digit != 0) else { return Ok(0) };

    // The value is the digits without the zeros dropped at their end, times ten to this power.
    let power = i64::from(decimals) + number.exponent + signed(dropped) - signed(number.fraction.len());
    if power < 0 {
        return Err(DecimalError::TooManyDecimals);
    }
    // Twenty zeros are beyond 64 bits already.
    let zeros = usize::try_from(power.min(20)).unwrap_or(20);
    let mut value: i64 = 0;
    for digit in digits().take(length - dropped).chain(std::iter::repeat_n(0, zeros)) {
        let digit = i64::from(digit);
        // Negative numbers are built downwards, so that the smallest number of all is reached too.
        value = value
            .checked_mul(10)
            .and_then(|value| if number.negative { value.checked_sub(digit) } else { value.checked_add(digit) })
            .ok_or(DecimalError::TooLarge)?;
    }
    Ok(value)
}

/// Whether the text is a number in the grammar of JSON.
pub(crate) fn is_number(text: &str) -> bool {
    Number::split(text.as_bytes()).is_some()
}

/// How two numbers in the grammar of JSON compare, exactly and whatever their size; nothing where one is no number.
pub fn compare_decimals(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (Number::split(left.as_bytes())?, Number::split(right.as_bytes())?);
    let sign = |number: &Number<'_>| match number.magnitude() {
        None => 0,
        Some(_) if number.negative => -1,
        Some(_) => 1,
    };
    let by_sign = sign(&left).cmp(&sign(&right));
    let by_magnitude = left.magnitude().cmp(&right.magnitude());
    Some(by_sign.then(if left.negative { by_magnitude.reverse() } else { by_magnitude }))
}

/// Appends `value / 10^decimals` with exactly that many decimals: `-5` with 2 decimals is `-0.05`.
pub(super) fn write_scaled(value: i64, decimals: u32, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    let divisor = 10_u64.pow(decimals);
    let magnitude = value.unsigned_abs();
    out.extend_from_slice(itoa::Buffer::new().format(magnitude / divisor).as_bytes());
    if decimals > 0 {
        out.push(b'.');
        let mut remainder = magnitude % divisor;
        let mut unit = divisor / 10;
        for _ in 0..decimals {
            // The quotient is below ten.
            out.push(b'0' + u8::try_from(remainder / unit).unwrap_or_default());
            remainder %= unit;
            unit = (unit / 10).max(1);
        }
    }
}

/// The same without zeros at the end: `12.50` is `12.5`.
pub(super) fn write_shortest(mut value: i64, mut decimals: u32, out: &mut Vec<u8>) {
    while decimals > 0 && value % 10 == 0 {
        value /= 10;
        decimals -= 1;
    }
    write_scaled(value, decimals, out);
}

/// The parts of a number in the grammar of JSON.
struct Number<'text> {
    negative: bool,
    whole: &'text [u8],
    fraction: &'text [u8],
    exponent: i64,
}

impl<'text> Number<'text> {
    fn split(text: &'text [u8]) -> Option<Self> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (whole, text) = leading_digits(text);
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
            return None;
        }
        let (fraction, text) = match text {
            [b'.', rest @ ..] => {
                let (fraction, rest) = leading_digits(rest);
                if fraction.is_empty() {
                    return None;
                }
                (fraction, rest)
            }
            _ => (&[][..], text),
        };
        let exponent = match text {
            [] => 0,
            [b'e' | b'E', b'-', digits @ ..] => -exponent_of(digits)?,
            [b'e' | b'E', digits @ ..] => exponent_of(digits.strip_prefix(b"+").unwrap_or(digits))?,
            _ => return None,
        };
        Some(Self { negative, whole, fraction, exponent })
    }

    /// The power of ten of the first digit that is not 0, and the digits from there without zeros at their end: of two
    /// magnitudes the larger one compares as larger. Nothing for 0.
    fn magnitude(&self) -> Option<(i64, Vec<u8>)> {
        let mut digits: Vec<u8> = self.whole.iter().chain(self.fraction).copied().collect();
        let first = digits.iter().position(|digit| *digit != b'0')?;
        let last = digits.iter().rposition(|digit| *digit != b'0')?;
        digits.truncate(last + 1);
        digits.drain(..first);
        Some((self.exponent.saturating_add(signed(self.whole.len())).saturating_sub(signed(first)), digits))
    }
}

fn leading_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// The value of the digits of an exponent, at most one that is far beyond every number of 64 bits.
fn exponent_of(digits: &[u8]) -> Option<i64> {
    const FAR: i64 = 1 << 60;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(std::str::from_utf8(digits).ok()?.parse().unwrap_or(FAR).min(FAR))
}

/// The length of a text as a signed number.
fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX / 8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_exact() {
        for (text, decimals, value) in [
            ("12.50", 2, 1250),
            ("12.5", 2, 1250),
            ("12.500", 2, 1250),
            ("-0.05", 2, -5),
            ("0", 2, 0),
            ("-0", 2, 0),
            ("0.000000", 2, 0),
            ("0e999999999999999999999", 2, 0),
            ("1e2", 2, 10_000),
            ("1250e-2", 2, 1250),
            ("1.25E+1", 2, 1250),
            ("1000000e-6", 0, 1),
            ("92233720368547758.07", 2, i64::MAX),
            ("-92233720368547758.08", 2, i64::MIN),
        ] {
            assert_eq!(parse_scaled(text, decimals), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_exact_is_an_error() {
        for text in ["", "-", ".5", "5.", "+5", "007", "1,5", "1e", "1e+", " 1", "1 ", "NaN", "0x10", "1.2.3", "१"] {
            assert_eq!(parse_scaled(text, 2), Err(DecimalError::Malformed), "{text}");
        }
        for text in ["0.001", "1e-3", "1e-99999999999999999999999999"] {
            assert_eq!(parse_scaled(text, 2), Err(DecimalError::TooManyDecimals), "{text}");
        }
        for text in ["92233720368547758.08", "-92233720368547758.09", "1e17", "1e99999999999999999999999999"] {
            assert_eq!(parse_scaled(text, 2), Err(DecimalError::TooLarge), "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (left, right, order) in [
            ("1", "1.0", Ordering::Equal),
            ("100", "1e2", Ordering::Equal),
            ("-0", "0.00e9", Ordering::Equal),
            ("0.1", "0.10000000000000000000000000000000001", Ordering::Less),
            ("9", "10", Ordering::Less),
            ("-9", "-10", Ordering::Greater),
            ("-1", "0", Ordering::Less),
            ("1e-400", "0", Ordering::Greater),
            ("1e99999999999999999999", "9e400", Ordering::Greater),
        ] {
            assert_eq!(compare_decimals(left, right), Some(order), "{left} {right}");
            assert_eq!(compare_decimals(right, left), Some(order.reverse()), "{right} {left}");
        }
        assert_eq!(compare_decimals("1", "one"), None);
    }

    proptest! {
        #[test]
        fn integers_are_compared_as_integers(left: i64, right: i64, zeros in 0_usize..4) {
            let text = format!("{right}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(compare_decimals(&left.to_string(), &text), Some(left.cmp(&right)));
            prop_assert_eq!(compare_decimals(&format!("{left}e-7"), &format!("{text}e-7")), Some(left.cmp(&right)));
        }

        #[test]
        fn what_is_written_reads_back(value: i64, decimals in 0_u32..=4) {
            let mut out = Vec::new();
            write_scaled(value, decimals, &mut out);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(parse_scaled(&text, decimals), Ok(value));
            prop_assert!(serde_json::from_str::<serde_json::Number>(&text).is_ok());
        }

        #[test]
        fn the_grammar_is_that_of_json(text in "-?[0-9]{0,3}(\\.[0-9]{0,3})?([eE][-+]?[0-9]{0,2})?") {
            let malformed = parse_scaled(&text, 2) == Err(DecimalError::Malformed);
            prop_assert_eq!(malformed, serde_json::from_str::<f64>(&text).is_err());
        }
    }
}
