//! Amounts of money as people of a language read them, by the patterns of the Unicode CLDR.
//!
//! - CLDR writes some currencies with fewer decimals than ISO 4217 gives them, which would round amounts. So what stands around a
//!   number is taken from its pattern, and the number has all the decimals of its currency.
//! - What ICU4X writes is looked at once for each language and currency; amounts are written by what was seen.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use icu_decimal::options::DecimalFormatterOptions;
use icu_experimental::dimension::currency::formatter::CurrencyFormatter;
use icu_experimental::dimension::currency::options::CurrencyFormatterOptions;
use icu_locale_core::Locale as CldrLocale;
use parking_lot::RwLock;

use kernel::text::{Currency, Locale, Money};

/// How amounts of a currency are written in a language; nothing where ICU4X does not know how.
type Known = HashMap<(Locale, Currency), Option<Arc<MoneyFormat>>>;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// How amounts of a currency are written in a language.
#[derive(Debug)]
pub(super) struct MoneyFormat {
    currency: Currency,
    /// What stands before and behind the number of an amount that is not below nothing, and of one that is.
    around: [[String; 2]; 2],
    /// The digit 0, which the others follow.
    zero: char,
    decimal_separator: String,
    group_separator: String,
    /// How many digits the last group has, and the groups before it.
    groups: (usize, usize),
    /// From how many digits on there are groups.
    grouped_from: usize,
}

impl MoneyFormat {
    pub(super) fn of(locale: Locale, currency: Currency) -> Option<Arc<Self>> {
        if let Some(known) = KNOWN.read().get(&(locale, currency)) {
            return known.clone();
        }
        let made = Self::new(locale, currency).map(Arc::new);
        KNOWN.write().insert((locale, currency), made.clone());
        made
    }

    fn new(locale: Locale, currency: Currency) -> Option<Self> {
        let locale = language(locale)?;
        let code = currency.code().to_ascii_lowercase().parse().ok()?;
        let pattern = CurrencyFormatter::try_new_symbol((&locale).into(), code, CurrencyFormatterOptions::default());
        let pattern = pattern.ok()?;
        let around = |sample: i8| around_number(&pattern.format_fixed_decimal(&Decimal::from(sample)).to_string());
        let number = DecimalFormatter::try_new((&locale).into(), DecimalFormatterOptions::default()).ok()?;
        let written = |sample: &str| Some(number.format(&sample.parse().ok()?).to_string());
        let zero = written("0")?.chars().next()?;
        let [_, decimal, _] = split(&written("0.0")?).try_into().ok()?;
        // The groups of a long number: digits and separators in turn.
        let long = split(&written("1234567890123")?);
        let [.., before, separator, last] = long.as_slice() else { return None };
        let length = |digits: &str| digits.chars().count();
        let is_grouped = |sample| written(sample).is_some_and(|written| written.contains(separator));
        let grouped_from = length(last) + if is_grouped("1234") { 1 } else { 2 };
        Some(Self {
            currency,
            around: [around(1)?, around(-1)?],
            zero,
            decimal_separator: decimal,
            group_separator: separator.clone(),
            groups: (length(last), length(before)),
            grouped_from,
        })
    }

    pub(super) fn is_of(&self, currency: Currency) -> bool {
        self.currency == currency
    }

    /// Writes an amount of the currency.
    pub(super) fn write(&self, out: &mut Vec<u8>, amount: Money) {
        let [before, behind] = &self.around[usize::from(amount.is_negative())];
        out.extend_from_slice(before.as_bytes());
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(amount.minor().unsigned_abs()).as_bytes();
        let decimals = self.currency.decimals() as usize;
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
        let (last, others) = self.groups;
        for (at, digit) in whole.iter().enumerate() {
            let left = whole.len() - at;
            let is_boundary = left >= last && (left - last).is_multiple_of(others);
            if at > 0 && is_boundary && whole.len() >= self.grouped_from {
                out.extend_from_slice(self.group_separator.as_bytes());
            }
            self.write_digit(out, *digit);
        }
        if whole.is_empty() {
            self.write_digit(out, b'0');
        }
        if decimals > 0 {
            out.extend_from_slice(self.decimal_separator.as_bytes());
            for digit in std::iter::repeat_n(&b'0', decimals - fraction.len()).chain(fraction) {
                self.write_digit(out, *digit);
            }
        }
        out.extend_from_slice(behind.as_bytes());
    }

    fn write_digit(&self, out: &mut Vec<u8>, digit: u8) {
        if self.zero == '0' {
            out.push(digit);
        } else if let Some(digit) = char::from_u32(u32::from(self.zero) + u32::from(digit - b'0')) {
            out.extend_from_slice(digit.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// The language by the name that CLDR has for it: Latin America is a region by number.
fn language(locale: Locale) -> Option<CldrLocale> {
    let name = if locale == Locale::EsLa { "es-419".to_owned() } else { locale.code().replace('_', "-") };
    name.parse().ok()
}

fn around_number(text: &str) -> Option<[String; 2]> {
    let (begin, _) = text.char_indices().find(|(_, character)| character.is_numeric())?;
    let (last, digit) = text.char_indices().rfind(|(_, character)| character.is_numeric())?;
    Some([text[..begin].to_owned(), text[last + digit.len_utf8()..].to_owned()])
}

/// The runs of digits and of what separates them.
fn split(number: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for character in number.chars() {
        match runs.last_mut() {
            Some(run) if run.ends_with(char::is_numeric) == character.is_numeric() => run.push(character),
            _ => runs.push(character.to_string()),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(locale: Locale, amount: Money) -> String {
        let mut out = Vec::new();
        MoneyFormat::of(locale, amount.currency()).unwrap().write(&mut out, amount);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn amounts_are_written_as_people_of_the_language_read_them() {
        for (locale, amount, code, expected) in [
            (Locale::EnGb, "1250.5", "GBP", "£1,250.50"),
            (Locale::EnGb, "-0.05", "EUR", "-€0.05"),
            (Locale::DeDe, "1250.5", "EUR", "1.250,50\u{a0}€"),
            (Locale::DeDe, "-1250.5", "EUR", "-1.250,50\u{a0}€"),
            (Locale::FrFr, "1250.5", "EUR", "1\u{202f}250,50\u{a0}€"),
            (Locale::JaJp, "1250", "JPY", "￥1,250"),
            (Locale::EnGb, "1.2345", "CLF", "CLF\u{a0}1.2345"),
            (Locale::BnIn, "1234567", "INR", "₹12,34,567.00"),
            (Locale::EsLa, "12500.08", "EUR", "€12,500.08"),
        ] {
            assert_eq!(written(locale, Money::parse(amount, Currency::parse(code).unwrap()).unwrap()), expected);
        }
    }

    #[test]
    fn numbers_are_those_of_icu_and_never_rounded() {
        let magnitudes = [0, 1, 5, 10, 99, 100, 1_000, 9_999, 12_345, 100_000, 1_234_567, 123_456_789, i64::MAX];
        for locale in Locale::ALL {
            let cldr = language(locale).unwrap();
            let number = DecimalFormatter::try_new((&cldr).into(), DecimalFormatterOptions::default()).unwrap();
            for code in ["EUR", "JPY", "BHD", "CLF", "AFN", "LBP", "RSD"] {
                let currency = Currency::parse(code).unwrap();
                let format = MoneyFormat::of(locale, currency).unwrap();
                for minor in magnitudes.into_iter().flat_map(|minor| [minor, -minor]) {
                    let amount = Money::new(minor, currency);
                    let [before, behind] = &format.around[usize::from(minor < 0)];
                    let whole: Decimal = amount.to_decimal().trim_start_matches('-').parse().unwrap();
                    let expected = format!("{before}{}{behind}", number.format(&whole));
                    assert_eq!(written(locale, amount), expected, "{amount} in {}", locale.code());
                }
            }
        }
    }
}
