//! Amounts of money as people of a language read them, by the patterns of the Unicode CLDR.
//!
//! CLDR writes some currencies with fewer decimals than ISO 4217 gives them, which would round amounts. So what stands around a
//! number is taken from its pattern, and the number has all the decimals of its currency.

use std::io::Write as _;

use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use icu_decimal::options::DecimalFormatterOptions;
use icu_experimental::dimension::currency::formatter::CurrencyFormatter;
use icu_experimental::dimension::currency::options::CurrencyFormatterOptions;
use icu_locale_core::Locale as CldrLocale;

use kernel::text::{Currency, Locale, Money};

/// How amounts of a currency are written in a language.
pub(super) struct MoneyFormat {
    currency: Currency,
    number: DecimalFormatter,
    /// What stands before and behind the number of an amount that is not below nothing, and of one that is.
    around: [[String; 2]; 2],
}

impl MoneyFormat {
    pub(super) fn new(locale: Locale, currency: Currency) -> Option<Self> {
        let locale: CldrLocale = locale.code().replace('_', "-").parse().ok()?;
        let code = currency.code().to_ascii_lowercase().parse().ok()?;
        let pattern =
            CurrencyFormatter::try_new_symbol((&locale).into(), code, CurrencyFormatterOptions::default()).ok()?;
        let number = DecimalFormatter::try_new((&locale).into(), DecimalFormatterOptions::default()).ok()?;
        let around = |sample: i8| around_number(&pattern.format_fixed_decimal(&Decimal::from(sample)).to_string());
        Some(Self { currency, number, around: [around(1)?, around(-1)?] })
    }

    pub(super) fn is_of(&self, currency: Currency) -> bool {
        self.currency == currency
    }

    /// Writes an amount of the currency.
    pub(super) fn write(&self, out: &mut Vec<u8>, amount: Money) {
        let mut number = Decimal::from(amount.minor().unsigned_abs());
        number.multiply_pow10(-i16::try_from(self.currency.decimals()).unwrap_or_default());
        let [before, behind] = &self.around[usize::from(amount.is_negative())];
        let _ = write!(out, "{before}{}{behind}", self.number.format(&number));
    }
}

fn around_number(text: &str) -> Option<[String; 2]> {
    let (begin, _) = text.char_indices().find(|(_, character)| character.is_numeric())?;
    let (last, digit) = text.char_indices().rfind(|(_, character)| character.is_numeric())?;
    Some([text[..begin].to_owned(), text[last + digit.len_utf8()..].to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(locale: Locale, amount: &str, code: &str) -> String {
        let currency = Currency::parse(code).unwrap();
        let format = MoneyFormat::new(locale, currency).unwrap();
        let mut out = Vec::new();
        format.write(&mut out, Money::parse(amount, currency).unwrap());
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
        ] {
            assert_eq!(written(locale, amount, code), expected);
        }
    }

    #[test]
    fn no_amount_is_rounded_in_any_language() {
        for locale in Locale::ALL {
            for code in ["EUR", "JPY", "BHD", "CLF", "AFN", "LBP", "RSD"] {
                let decimals = Currency::parse(code).unwrap().decimals();
                let text = written(locale, "9223372", code);
                let digits = text.chars().filter(|character| character.is_numeric()).count();
                assert_eq!(digits, 7 + decimals as usize, "{text} in {}", locale.code());
            }
        }
    }
}
